"""One question for every name of CUDA's that a program or its build spells: what stands in its place on ROCm?

    counterpart("link", "cublas").hip          # hipblas
    counterpart("cmake", "NCCL::NCCL").hip     # roc::rccl
    counterpart("package", "CUDNN").hip        # miopen
    counterpart("header", "cuda/std/array")    # a row with an empty hip: none
    counterpart("link", "m")                   # None: not CUDA's

A row is a `Symbol`: an empty `hip` says that nothing was found to take its place, `note` what to do then, and
`declared_in` from which ROCm release on. `dropped` names are left out on ROCm. The rows are those of
`facts/libraries/`; nobody keeps a list beside them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Literal

from rocport.facts.symbols import Symbol, libraries, load

Kind = Literal["symbol", "header", "link", "namespace", "cmake", "package"]

_STATIC = re.compile(r"(?:_static)?(?:\.(?:so[\d.]*|a|lib|dll))?$")
_OF_ROCM = re.compile(r"(?:hip|roc|rccl|amd)\w*$|hsa-runtime64$|MIOpen$")


def counterpart(kind: Kind, name: str) -> Symbol | None:
    """The row of a name as spelled; None where it is not CUDA's, or spelled the same in HIP.

    A link name may carry `_static` or a suffix (`cublas_static`, `cublas.so.12`). A CMake target that no library lists
    is found by its last part (`cudnn::cudnn`, `CUDA::nccl`), since projects write find modules of their own; packages
    are found in any case.
    """
    if kind == "symbol":
        return load().identifiers.get(name.encode())
    if kind == "header":
        return load().header(name)
    if kind == "namespace":
        return load().namespaces.get(name)
    if kind == "link":
        names = load().link_names
        return names.get(name) or names.get(_STATIC.sub("", name))
    if kind == "package":
        return _packages().get(name.lower())
    return _cmake_target(name)


def cmake_target_of(link_name: str) -> Symbol | None:
    """What a CMake command that names a library itself (`target_link_libraries(x cublas)`) links on ROCm."""
    linked = counterpart("link", link_name)
    if linked is None or not linked.hip:
        return replace(linked, kind="cmake") if linked else None
    name = _STATIC.sub("", link_name).lower()
    rows = [row for row in _targets().values() if row.library == linked.library]
    own = [row for row in rows if row.cuda.rpartition("::")[2].lower() == name]
    hips = {row.hip for row in rows if row.hip}
    row = own[0] if own else next((row for row in rows if row.hip), None) if len(hips) == 1 else None
    return replace(linked, kind="cmake", hip=row.hip if row else "", note=linked.note)


@cache
def rocm_package(target: str) -> str:
    """The package whose `find_package` makes a CMake target of ROCm; empty where none is known."""
    return next((library.find[target] for library in libraries().values() if target in library.find), "")


@cache
def link_names() -> tuple[str, ...]:
    """Every link name of CUDA's libraries, the longer ones first, as an alternative of a pattern needs them."""
    return tuple(sorted(load().link_names, key=lambda name: (-len(name), name)))


@cache
def link_triggers(prefix: str = "") -> frozenset[bytes]:
    """Every link name as the text a rule looks for; a plain `cuda` is a word like any other, `-lcuda` is not."""
    names = {name for library in libraries().values() for name in library.link}
    return frozenset(f"{prefix}{name}".encode() for name in names if prefix or name != "cuda") | {b"-lcuda"}


@cache
def package_triggers() -> frozenset[bytes]:
    """Every package of CMake's as it is usually spelled: `CUDNN`, `cuDNN`, `cudnn`."""
    names = {name for library in libraries().values() for name in library.packages}
    return frozenset(spelled.encode() for name in names for spelled in (name, name.upper(), name.lower()))


def serves_link(name: str) -> bool:
    """True for a library of CUDA's, and for one of ROCm's own."""
    return counterpart("link", name) is not None or _OF_ROCM.match(name) is not None


@cache
def is_gpu_header(name: str) -> bool:
    """True for a header of CUDA's, of HIP or of a ROCm library, as spelled in an include."""
    return counterpart("header", name) is not None or name.startswith(_rocm_headers())


@cache
def _rocm_headers() -> tuple[str, ...]:
    return tuple(begin for library in libraries().values() for begin in library.begins)


def _cmake_target(name: str) -> Symbol | None:
    row = _targets().get(name)
    if row is not None:
        return row
    scope, separator, last = name.rpartition("::")
    if not separator or not scope:
        return None
    known = {link.lower(): link for link in load().link_names}
    link = known.get(_STATIC.sub("", last).lower())
    return replace(found, cuda=name) if link and (found := cmake_target_of(link)) else None


@cache
def _targets() -> dict[str, Symbol]:
    return {
        target: Symbol(target, hip, "cmake", library.name, "", "", _note(target), "library.toml")
        for library in libraries().values()
        for target, hip in library.cmake.items()
    }


@cache
def _packages() -> dict[str, Symbol]:
    return {
        package.lower(): Symbol(package, hip, "package", library.name, "", "", "", "library.toml")
        for library in libraries().values()
        for package, hip in library.packages.items()
    }


def _note(target: str) -> str:
    row = counterpart("link", target.rpartition("::")[2])
    return row.note if row else ""

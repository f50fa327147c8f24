"""Find a HIP compiler: an installed ROCm, the rocm-sdk wheels, the distribution's clang and headers, our SDK folder."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocport.toolchain import sdk
from rocport.toolchain.compiler import (
    Kind,
    Toolchain,
    ToolchainError,
    compiler_version,
    find_device_libs,
    hip_version,
    run,
    supported_cpus,
)

OLDEST_HIP_MAJOR = 6
"""Ports use the HIP 6 spelling of the API; Debian 12's own headers are 5.2 and know no gfx942."""
_CLANG_NAMES = ("amdclang++", "clang++")
_WHEELS = ("_rocm_sdk_devel", "_rocm_sdk_core")


@dataclass(frozen=True)
class _Machine:
    """What discovery reads; tests replace it with a folder layout."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    prefix: Path = Path("/")

    def which(self, name: str) -> Path | None:
        found = shutil.which(name, path=self.environ.get("PATH", os.defpath))
        return Path(found) if found else None


def find(
    prefer: Kind | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    prefix: Path = Path("/"),
) -> Toolchain:
    """The first usable HIP compiler, in this order: installed ROCm, rocm-sdk wheels, distribution, our SDK.

    `prefer` looks at one kind only. `environ` and `prefix` stand for the environment and the root of the file system.
    Raises ToolchainError naming every place looked at and what was missing.
    """
    machine = _Machine(os.environ if environ is None else environ, prefix)
    looked: list[str] = []
    searches = {"rocm": _rocm, "wheels": _wheels, "distribution": _distribution, "sdk": _sdk}
    for kind, search in searches.items():
        if prefer not in (None, kind):
            continue
        for toolchain in search(machine, looked):
            return toolchain
    places = "\n".join(f"  {line}" for line in looked)
    raise ToolchainError(
        f"no usable HIP compiler found. Looked at:\n{places}\n"
        "Next: `rocport sdk install` (no root or GPU needed), or install ROCm and set ROCM_PATH."
    )


def _rocm(machine: _Machine, looked: list[str]) -> Iterator[Toolchain]:
    """ROCM_PATH and its relatives, /opt/rocm in its layouts of all releases, and what hipconfig says."""
    roots: dict[Path, str] = {}
    for variable in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        if value := machine.environ.get(variable):
            roots.setdefault(Path(value).expanduser(), variable)
        else:
            looked.append(f"{variable}: not set")
    opt = machine.prefix / "opt"
    for pattern in ("rocm", "rocm/core", "rocm/core-*", "rocm-*"):
        for root in sorted(opt.glob(pattern), key=_version_key, reverse=True):
            roots.setdefault(root, "installed")
    if not any(opt.glob("rocm*")):
        looked.append(f"{opt}/rocm: no such folder")
    hipconfig = machine.which("hipconfig")
    if hipconfig is None:
        looked.append("hipconfig: not on PATH")
    elif text := run([hipconfig, "--rocmpath"]).strip():
        roots.setdefault(Path(text.splitlines()[0]), "hipconfig")
    for root, why in roots.items():
        yield from _assemble("rocm", f"{root} ({why})", [root], looked)


def _wheels(machine: _Machine, looked: list[str]) -> Iterator[Toolchain]:
    """The rocm-sdk wheels of this Python, and those whose `rocm-sdk` is on PATH."""
    roots: list[Path] = []
    for name in _WHEELS:
        spec = importlib.util.find_spec(name)
        roots += [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    program = machine.which("rocm-sdk")
    if program is not None and (text := run([program, "path", "--root"]).strip()):
        root = Path(text.splitlines()[-1])
        roots += [root, *(root.with_name(name) for name in _WHEELS if root.name in _WHEELS)]
    roots = list(dict.fromkeys(root for root in roots if root.is_dir()))
    if not roots:
        looked.append("rocm-sdk wheels: not installed in this Python, and no rocm-sdk on PATH")
        return
    yield from _assemble("wheels", "rocm-sdk wheels " + ", ".join(map(str, roots)), roots, looked)


def _distribution(machine: _Machine, looked: list[str]) -> Iterator[Toolchain]:
    """The distribution's clang, with HIP headers in /usr/include and device libraries where distributions put them."""
    usr = machine.prefix / "usr"
    version = hip_version(usr / "include")
    if version is None:
        looked.append(f"distribution: no {usr}/include/hip/hip_version.h")
        return
    if version.major < OLDEST_HIP_MAJOR:
        looked.append(f"distribution: the HIP headers in {usr}/include are {version}, older than {OLDEST_HIP_MAJOR}.0")
        return
    names = [*(f"clang++-{major}" for major in range(30, 16, -1)), "clang++"]
    compilers = [found for name in names if (found := machine.which(name))]
    for library in ("lib64", "lib"):
        compilers = [*(usr / library / "rocm" / "llvm" / "bin").glob("clang++"), *compilers]
    if not compilers:
        looked.append("distribution: no clang++ on PATH")
    for compiler in compilers:
        _, major = compiler_version(compiler)
        places = [usr, usr / "share", usr / "lib64", usr / "lib"]
        places += [compiler.resolve().parent.parent / "lib" / "clang" / str(major)]
        places += [*sorted((usr / "lib").glob("llvm-*/lib/clang/*"), key=_version_key, reverse=True)]
        places += [*(usr / "lib64" / "rocm" / "llvm" / "lib" / "clang").glob("*")]
        places += [*(usr / "lib" / "rocm" / "llvm" / "lib" / "clang").glob("*")]
        places += [place / "lib" for place in places]
        libs = [found for place in places if (found := find_device_libs([place], major))]
        if not libs:
            looked.append(f"distribution: {compiler} found, but no device libraries (amdgcn/bitcode) it can read")
            continue
        toolchain = _toolchain("distribution", compiler, usr, usr / "include", libs[0], looked)
        if toolchain is not None:
            yield toolchain


def _sdk(machine: _Machine, looked: list[str]) -> Iterator[Toolchain]:
    """Our own folder, installed by `rocport sdk install`."""
    folder = sdk.sdk_path(machine.environ)
    if not folder.is_dir():
        looked.append(f"rocport SDK: {folder} is not installed")
        return
    yield from _assemble("sdk", f"rocport SDK {folder}", [folder], looked)


def _assemble(kind: Kind, label: str, roots: Sequence[Path], looked: list[str]) -> Iterator[Toolchain]:
    """A toolchain whose parts lie below one root, or below several that belong together (the wheels)."""
    missing = []
    compilers = [
        path
        for root in roots
        for name in _CLANG_NAMES
        for path in (root / "lib/llvm/bin" / name, root / "llvm/bin" / name)
        if path.exists()
    ]
    includes = [root for root in roots if (root / "include/hip/hip_runtime.h").exists()]
    libs = find_device_libs(roots)
    if not compilers:
        missing.append("no lib/llvm/bin/amdclang++ or clang++")
    if not includes:
        missing.append("no include/hip/hip_runtime.h" + (" (run `rocm-sdk init`)" if kind == "wheels" else ""))
    if libs is None:
        missing.append("no amdgcn/bitcode/ocml.bc")
    if missing or libs is None:
        looked.append(f"{label}: {', '.join(missing)}")
        return
    toolchain = _toolchain(kind, compilers[0], includes[0], includes[0] / "include", libs, looked)
    if toolchain is not None:
        yield toolchain


def _toolchain(
    kind: Kind, compiler: Path, root: Path, include: Path, device_libs: Path, looked: list[str]
) -> Toolchain | None:
    """Ask the compiler what it is; None, with a line in `looked`, when it cannot be used."""
    text, major = compiler_version(compiler)
    if not major:
        looked.append(f"{compiler}: does not run, or is not clang")
        return None
    if not supported_cpus(compiler):
        looked.append(f"{compiler}: was built without the AMDGPU target")
        return None
    return Toolchain(
        kind=kind,
        compiler=compiler,
        compiler_version=text,
        clang_major=major,
        hip_version=hip_version(include),
        rocm_version=_rocm_version(root),
        root=root,
        include=include,
        device_libs=device_libs,
    )


def _rocm_version(root: Path) -> str:
    """The ROCm release a root says it is: `.info/version`, or our own manifest."""
    manifest = sdk.read_manifest(root)
    if manifest is not None:
        return str(manifest.get("rocm", ""))
    try:
        return (root / ".info" / "version").read_text().strip()
    except OSError:
        return ""


def _version_key(path: Path) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", path.name))

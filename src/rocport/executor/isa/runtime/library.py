# SPDX-License-Identifier: Apache-2.0
"""Builds the HIP runtime library and the math libraries with the HIP compiler's clang, into the cache, once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rocport.executor.blas import blas_library
from rocport.executor.isa.runtime.declarations import LibraryError, preprocessed, read_declarations, run_compiler
from rocport.executor.isa.runtime.derived import derived, source_file
from rocport.facts.targets import all_targets
from rocport.model import cache_folder
from rocport.model.locks import locked
from rocport.syntax import elf
from rocport.toolchain import Toolchain

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[3]
"""The folder that holds the rocport package."""
ISA = HERE.parent
ERROR_TABLE = HERE.parents[1] / "lib"
HEADERS = HERE.parents[1] / "include"
_SHARED = (*sorted(ERROR_TABLE.glob("*.inc")), ERROR_TABLE / "trace.h")
"""What the source-level executor's runtime reads too."""


_BEHIND = "rpx_"
"""What the names of recorded functions begin with, behind their recorders."""
_SCALARS = frozenset({"alpha", "beta"})
_EDITED = "rocport's own sources were edited while the ISA runtime was built from them; run again"
_KILLED_S = 24 * 3600
"""A build that began earlier and has left its folder was killed."""


@dataclass(frozen=True)
class _Library:
    """One shared library: its sources, the headers it answers for, and what a function that is not served returns."""

    name: str
    version: str
    """The number of the shared object's name in ROCm 6.4: libamdhip64.so.6."""
    headers: tuple[str, ...]
    status: str
    """The C type that every function which can refuse returns."""
    refusal: int
    sources: tuple[str, ...] = ()
    """None: `libraries/NAME.cpp`."""
    own_headers: bool = True
    """The source is the executor's own header, whose functions become the library's symbols."""
    aliases: tuple[str, ...] = ()
    """Other names of the same library."""
    recorded: bool = False
    """A captured stream records its calls, which the graph then makes."""
    blas: bool = False
    """What it lacks over batches and with 64-bit sizes is made of the plain functions (derived.py)."""
    behind: tuple[str, ...] = ()
    """Libraries, listed before, that do what it has other names for."""


LIBRARIES = (
    _Library(
        "amdhip64",
        "6",
        ("hip/hip_runtime_api.h", "hip/hip_ext.h", "hip/hip_gl_interop.h", "hip/hiprtc.h"),
        "hipError_t",
        801,
        ("device", "memory", "stream", "graph", "code_object", "module", "launch", "hostcall", "rtc"),
        False,
        ("hiprtc",),
    ),
    _Library("hipblas", "2", ("hipblas/hipblas.h",), "hipblasStatus_t", 7, recorded=True, blas=True),
    _Library("rocblas", "4", ("rocblas/rocblas.h",), "rocblas_status", 2, recorded=True, blas=True),
    _Library("hipsparse", "1", ("hipsparse/hipsparse.h",), "hipsparseStatus_t", 10),
    _Library("hipsolver", "0", ("hipsolver/hipsolver.h",), "hipsolverStatus_t", 7, recorded=True),
    _Library("hipfft", "0", ("hipfft/hipfft.h", "hipfft/hipfftXt.h"), "hipfftResult", 16, recorded=True),
    _Library("hiprand", "1", ("hiprand/hiprand.h",), "hiprandStatus_t", 1000, recorded=True),
    _Library("rccl", "1", ("rccl/rccl.h",), "ncclResult_t", 5, (), False),
    _Library("hipblaslt", "0", ("hipblaslt/hipblaslt.h",), "hipblasStatus_t", 7, (), False),
    _Library("MIOpen", "1", ("miopen/miopen.h",), "miopenStatus_t", 6, (), False),
    _Library("rocrand", "1", ("rocrand/rocrand.h",), "rocrand_status", 108, (), False, behind=("hiprand",)),
    _Library("rocfft", "0", ("rocfft/rocfft.h",), "rocfft_status", 1, (), False, behind=("hipfft",)),
    _Library(
        "rocsolver", "0", ("rocsolver/rocsolver.h",), "rocblas_status", 2, (), False, behind=("hipsolver", "rocblas")
    ),
    _Library("rocsparse", "1", ("rocsparse/rocsparse.h",), "rocsparse_status", 2, (), False, behind=("hipsparse",)),
)


def build_libraries(toolchain: Toolchain) -> Path:
    """The folder with all libraries, built where the cache lacks them.

    Builds of the same sources wait for each other, others do not.

    Raises:
        LibraryError: one does not compile, or rocport's sources were edited meanwhile.
    """
    folder, defines = _place(toolchain)
    if (folder / "done").is_file():
        return folder
    lock = folder.with_suffix(".lock")

    def busy() -> None:
        print(f"rocport: waiting for another build of the ISA runtime ({lock})", file=sys.stderr, flush=True)

    with locked(lock, busy):  # a build in parallel asks once a unit
        try:
            if not (folder / "done").is_file():
                _sweep(folder.parent)
                _build_all(folder, toolchain, defines)
        finally:
            lock.unlink(missing_ok=True)  # who waits for it finds the libraries, or builds them in a folder of its own
    return folder


def _place(toolchain: Toolchain) -> tuple[Path, dict[str, str]]:
    """The libraries' folder, by what they are made of, and the definitions that their sources ask for."""
    defines = {
        "RPX_BLAS_LIBRARY": blas_library(),
        "ROCPORT_PYTHON": sys.executable,
        "ROCPORT_SOURCE": str(SOURCE),
        "ROCPORT_ISA_CACHE": str(cache_folder() / "isa" / "programs"),
        "ROCPORT_ISA_VERSION": _digest(_isa_sources()),
    }
    described = json.dumps([defines, str(toolchain.compiler), str(toolchain.include), toolchain.compiler_version])
    parts = [
        *sorted(HERE.rglob("*.cpp")),
        *sorted(HERE.rglob("*.h")),
        HERE / "library.py",
        HERE / "declarations.py",
        HERE / "derived.py",
        *_SHARED,
        *sorted(HEADERS.rglob("*")),
    ]
    return cache_folder() / "isa" / "lib" / _digest(parts, described), defines


def _sweep(shelf: Path) -> None:
    """Removes what killed builds left."""
    before = time.time() - _KILLED_S
    for left in (*shelf.glob("tmp*"), *shelf.glob("*.lock")):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < before:
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()


def _build_all(folder: Path, toolchain: Toolchain, defines: dict[str, str]) -> None:
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        (scratch / "targets.inc").write_text(_targets())
        spelled = [f'-D{name}="{value}"' for name, value in defines.items()]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # one for all: most libraries have a single source
            texts = list(pool.map(lambda library: preprocessed(toolchain, library.headers, library.name), LIBRARIES))
            parts = [
                [pool.submit(part) for part in _parts(library, toolchain, scratch, spelled, text)]
                for library, text in zip(LIBRARIES, texts, strict=True)
            ]
            for library, text, jobs in zip(LIBRARIES, texts, parts, strict=True):
                _link(library, toolchain, scratch, [job.result() for job in jobs], text)
        if _place(toolchain)[0] != folder:
            raise LibraryError(_EDITED)
        (scratch / "done").write_text("")
        try:
            scratch.rename(folder)
        except OSError:
            if not (folder / "done").is_file():  # else one that waited for a build that failed was first
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _isa_sources() -> list[Path]:
    """What decides how a kernel is translated."""
    return sorted(path for path in ISA.rglob("*") if path.suffix in (".py", ".h", ".cpp") and HERE not in path.parents)


def _digest(files: Iterable[Path], extra: str = "") -> str:
    seen = hashlib.sha256(extra.encode())
    for path in files:
        if path.is_file():
            seen.update(path.name.encode() + b"\0" + path.read_bytes())
    return seen.hexdigest()[:20]


def _targets() -> str:
    return "".join(
        f'{{"{t.name}", "{t.family}", {t.wavefront}, {t.lds_bytes}, {t.max_workgroup}}},\n'
        for t in all_targets()
        if "generic" not in t.name
    )


def _plain(toolchain: Toolchain) -> list[str]:
    return [str(toolchain.compiler), "-std=c++17", "-O2", "-fPIC", "-pthread", f"-I{ERROR_TABLE}", f"-I{HERE}"]


def _renamed(library: _Library, folder: Path, text: str) -> list[str]:
    """Flags that give a library's own functions names behind which `_recorders` stand."""
    if not library.recorded:
        return []
    names = [one.name for one in read_declarations(text, (library.status,))]
    header = "".join(f"#define {name} {_BEHIND}{name}\n" for name in names)
    (folder / f"renamed_{library.name}.h").write_text(header)
    return [
        "-include",
        f"renamed_{library.name}.h",
        f"-DRPX_RENAMED=0x{hashlib.sha256(header.encode()).hexdigest()[:8]}",
    ]


def _recorders(library: _Library, text: str, served: Collection[str]) -> str:
    """A function before each that is served: what it may record is the call with all its arguments.

    Scalars that the host holds are read when the call is made, as the libraries do.
    """
    lines = [*(f"#include <{header}>" for header in library.headers), '#include "replay.h"', 'extern "C" {']
    for one in read_declarations(text, (library.status,)):
        behind = _BEHIND + one.name
        if behind not in served:
            continue
        scalars = {name for _, name in one.parameters if name in _SCALARS}
        passed = ", ".join(f"kept_{name}.get()" if name in scalars else name for _, name in one.parameters)
        keeps = "".join(f"  const auto kept_{name} = rt::kept({name});\n" for name in sorted(scalars))
        lines.append(
            f"{one.status} {behind}({one.typed});\n{one.status} {one.name}({one.typed}) {{\n{keeps}"
            f"  const rt::Replay replay([=] {{ return static_cast<int>({behind}({passed})); }});\n"
            f"  return {behind}({one.passed});\n}}"
        )
    return "\n".join([*lines, "}", ""])


def _parts(
    library: _Library, toolchain: Toolchain, folder: Path, defines: Sequence[str], text: str
) -> Iterator[Callable[[], Path]]:
    """Makers of a library's object files."""
    flags = _plain(toolchain)
    if library.own_headers:
        flags += ["-w", f"-I{HEADERS}", *_renamed(library, folder, text)]
    else:
        flags += ["-Wall", "-Wextra", "-D__HIP_PLATFORM_AMD__=1", "-isystem", str(toolchain.include)]
        flags += ["-idirafter", str(HEADERS)]  # what is ours alone: rpx
    for source in [HERE / f"{name}.cpp" for name in library.sources] or [HERE / "libraries" / f"{library.name}.cpp"]:
        yield partial(_object, source, [*flags, *_own(defines, source)], folder, toolchain)


def _link(library: _Library, toolchain: Toolchain, folder: Path, objects: Sequence[Path], text: str) -> None:
    soname = f"lib{library.name}.so.{library.version}"
    link = [
        str(toolchain.compiler), "-shared", "-fPIC", "-fuse-ld=lld", f"-Wl,-soname,{soname}", "-pthread",
        *map(str, objects), "-ldl", "-o", str(folder / soname),
    ]  # fmt: skip
    if library is not LIBRARIES[0]:
        others = [f"-l{name}" for name in library.behind]
        link += [f"-L{folder}", *others, "-lamdhip64", "-Wl,-rpath,$ORIGIN"]
    run_compiler(link, library.name)
    served = exported(folder / soname)
    declared = _declared(library, text)
    written = {}
    if library.recorded:
        written[f"recorded_{library.name}.cpp"] = _recorders(library, text, served)
        served = frozenset(name.removeprefix(_BEHIND) for name in served)
    if library.blas:
        made = derived(read_declarations(text, (library.status,)), served, library.refusal)
        written[f"derived_{library.name}.cpp"] = source_file(library.headers, made)
        served |= frozenset(made)
    # `_spt` is the per-thread default stream, the same as the other where work is done when it is issued; `_v2` takes
    # hipBLAS's complex types under another name.
    aliases = {
        name: base for name in declared for base in [re.sub("_spt$|_v2", "", name)]
        if name not in served and base != name and base in served
    }  # fmt: skip
    elsewhere = {name for other in library.behind for name in exported(folder / f"lib{other}.so")}
    lacking = [name for name in declared if name not in served | elsewhere and name not in aliases]
    written[f"unserved_{library.name}.cpp"] = _stubs(library, lacking)
    symbols = [f"-Wl,--defsym={name}={base}" for name, base in aliases.items()]
    # Each hands its arguments on: what an optimizer takes longest for gains nothing here.
    flags = [*_plain(toolchain), "-O0", "-w", "-D__HIP_PLATFORM_AMD__=1", "-isystem", str(toolchain.include)]
    for name, content in written.items():
        source = folder / name
        source.write_text(content)
        symbols.append(str(_object(source, flags, folder, toolchain)))
    run_compiler([*link, *symbols], library.name)
    for name in (library.name, *library.aliases):
        for spelling in (f"lib{name}.so", f"lib{name}.so.{library.version}"):
            if spelling != soname:
                (folder / spelling).symlink_to(soname)


def _own(defines: Sequence[str], source: Path) -> list[str]:
    """The definitions that a source asks for: what it does not ask for must not compile it again."""
    prefix = "-DRPX_" if source.parent != HERE else "-DROCPORT_" if source.stem == "launch" else "none"
    return [define for define in defines if define.startswith(prefix)]


def _object(source: Path, flags: Sequence[str], folder: Path, toolchain: Toolchain) -> Path:
    """The object file of one source, kept by what it is made of: a change of one part compiles that part."""
    headers = [*sorted(HERE.glob("*.h")), ISA / "native" / "engine.h", *_SHARED]
    if source.parent != HERE:
        headers += [*sorted(source.parent.glob("*.h")), *sorted(HEADERS.rglob("*"))]
    # Where rocport lies does not change what is compiled: its copies share the objects.
    places = [flag.replace(str(SOURCE), "") if flag.startswith("-I") else flag for flag in flags]
    described = json.dumps([*places, toolchain.compiler_version, _targets()])
    made_of = _digest([source, *headers], described)
    target = cache_folder() / "isa" / "obj" / f"{source.stem}-{made_of}.o"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = folder / target.name
        run_compiler([*flags, f"-I{folder}", "-c", str(source), "-o", str(unfinished)], source.name)
        if _digest([source, *headers], described) != made_of:
            raise LibraryError(_EDITED)
        shutil.move(unfinished, target)
    return target


def _stubs(library: _Library, names: Sequence[str]) -> str:
    """Functions that say their name and refuse; the arguments are not looked at, which the C ABI allows."""
    lines = ["namespace rt { int unserved(const char *what); }", 'extern "C" {']
    lines += [f'int {name}() {{ rt::unserved("{name}"); return {library.refusal}; }}' for name in names]
    return "\n".join([*lines, "}", ""])


def _declared(library: _Library, text: str) -> list[str]:
    """Every function of the library's headers that returns its status type, in order."""
    return [one.name for one in read_declarations(text, (library.status, "hiprtcResult"))]


def exported(library: Path) -> frozenset[str]:
    """Names of the functions that a shared object (ELF64, little-endian) defines for others."""
    data = library.read_bytes()
    every = elf.sections(data)
    return frozenset(
        symbol.name
        for table in every
        if table.kind == elf.SHT_DYNSYM
        for symbol in elf.symbols(data, every, table)
        if symbol.section and symbol.kind == elf.STT_FUNC
    )

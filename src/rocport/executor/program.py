# SPDX-License-Identifier: Apache-2.0
"""What a program is built from: its translation units and their flags, read from its Makefile or from the folder."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocport.executor.limits import Limits
from rocport.executor.process import run_process
from rocport.facts.lookup import serves_link
from rocport.model import HANGING_S
from rocport.project.executables import executables
from rocport.project.languages import KERNEL_SOURCES, SOURCES, suffix_of
from rocport.project.make import commands, makefile_of, placed_commands
from rocport.project.unit import Unit, c_or
from rocport.sandbox import why_not
from rocport.syntax.includes import spelled_includes

_LEVELS_UP = 5
_MOST_FOLDERS = 4000
_STAND_IN = "rocport-hipcc"
TORCH_PRELUDE = "rpx_torch/prelude.h"
"""What every unit of a PyTorch extension reads first; it includes HIP's runtime header."""

# Flags that take a value in the next word.
_PAIRED = frozenset(
    [
        *("-I", "-D", "-U", "-isystem", "-iquote", "-include", "-L", "-l", "-o", "-x", "-MF", "-MT", "-MQ"),
        *("-Xclang", "-mllvm", "-Xcompiler", "-Xlinker", "-Xptxas", "-arch", "-gencode", "-ccbin", "-rpath"),
        *("--offload-arch", "-target"),
    ]
)
_FOLDER_FLAGS = ("-I", "-isystem", "-iquote")
# All that is taken from a Makefile: it could name plugins, other tools and files to write.
_KEPT = re.compile(
    r"-[DU][A-Za-z_]\w*(?:=.*)?|-std=[\w+]+|-(?:fopenmp|pthread|fpermissive|fsigned-char|funsigned-char|fcommon)"
    r"|-f(?:no-)?(?:fast-math|strict-aliasing)|-ffp-contract=[\w-]+"
    r"|-fgpu-(?:rdc|flush-denormals-to-zero|approx-transcendentals|default-stream=[\w-]+)"
    r"|-fno-hip-fp32-correctly-rounded-divide-sqrt",
    re.S,
)
_OF_DEVICES = ("-fgpu-", "-fno-hip-", "-ffast-math", "-fno-fast-math", "-ffp-contract=")


def for_hosts(flags: Iterable[str]) -> list[str]:
    """The flags for source that runs on this processor: those about device code and the language's version left out."""
    return [flag for flag in flags if not flag.startswith(("-std=", *_OF_DEVICES))]


_LIBRARY = re.compile(r"-l[\w.+-]+")


class ProgramError(Exception):
    """The folder or file is not a program the executor can build; the message names the place and the reason."""


@dataclass(frozen=True)
class Program:
    """A program: units to compile and link, and how its own Makefile runs it."""

    name: str
    folder: Path
    units: tuple[Unit, ...]
    link: tuple[str, ...] = ()
    runs: tuple[tuple[str, ...], ...] = ()
    """Argument lists of the Makefile's `run` target; one empty list when there is none."""


def load_program(path: Path, confined: bool = True) -> Program:
    """A program from one source file, or from a folder with a Makefile or with sources.

    A Makefile is asked by `make -n`, which runs its `$(shell ...)`: confined, unless told otherwise.

    Raises:
        ProgramError: nothing to build was found.
    """
    if path.is_file():
        if suffix_of(path.name) not in SOURCES:
            raise ProgramError(f"{path}: not a HIP, CUDA or C++ source file")
        for built in _from_cmake(path.resolve().parent):
            if any(unit.source == path.resolve() for unit in built.units):
                return replace(built, name=path.stem)
        flags = (f"-I{path.resolve().parent}",)
        return Program(path.stem, path.resolve().parent, (Unit(str(path.resolve()), flags=flags),), (), ((),))
    if not path.is_dir():
        raise ProgramError(f"{path}: no such file or folder")
    folder = path.resolve()
    makefile = makefile_of(folder)
    program = _from_makefile(folder, makefile, confined) if makefile else None
    if program is not None:
        return program
    for built in _from_cmake(folder):
        return built
    sources = sorted(entry for entry in folder.iterdir() if suffix_of(entry.name) in SOURCES and entry.is_file())
    sources = [s for s in sources if not _included_by_others(s, sources)]
    if not sources:
        raise ProgramError(f"{path}: no Makefile that compiles something, and no source files")
    units = tuple(Unit(str(source), c_or(source, "hip"), (f"-I{folder}",)) for source in sources)
    return Program(folder.name, folder, units, (), ((),))


def _from_cmake(folder: Path) -> list[Program]:
    """The executables of the folder's CMakeLists.txt whose sources are all there."""
    try:
        found = executables((folder / "CMakeLists.txt").read_bytes(), folder)
    except OSError:
        return []
    return [Program(name, folder, units, openmp(units), ((),)) for name, units in found.items()]


def openmp(units: Sequence[Unit]) -> tuple[str, ...]:
    """What a program links whose units use OpenMP."""
    return ("-fopenmp",) if any("-fopenmp" in unit.flags for unit in units) else ()


def _included_by_others(source: Path, sources: list[Path]) -> bool:
    return any(
        name.rpartition("/")[2] == source.name
        for other in sources
        if other != source
        for name, _ in spelled_includes(other.read_bytes())
    )


def _from_makefile(folder: Path, makefile: Path, confined: bool) -> Program | None:
    """Asks `make -n` for the commands. It executes `$(shell ...)`, recipe lines with `+` or `$(MAKE)` and rules that
    remake an included makefile, and nothing else; where confined, they write nothing of the tree."""
    build, run = _asked(folder, makefile, confined, (), ("run",))
    if not build and not run:
        return None
    return _from_commands(folder, build if _STAND_IN in build or "hipcc" in build else run, run)


def makefile_units(folder: Path, seconds: float = HANGING_S) -> list[Unit]:
    """The units that the folder's Makefile compiles, there and in the folders that it enters, each with its flags.

    Asked by `make -n`, confined; empty where there is no Makefile, no make, or no way to confine it.

    Raises:
        ProgramError: make did not answer within `seconds`, or names places that cannot be (`cd a\\0b`).
    """
    makefile = makefile_of(folder)
    if makefile is None or why_not():
        return []
    (build,) = _asked(folder.resolve(), makefile.resolve(), True, (), seconds=seconds)
    try:
        return [
            _unit_of(source, flags, compiler)
            for compiler, flags, sources, _, _ in _compilations(build, folder.resolve())
            for source in sources
        ]
    except (ValueError, OSError, RuntimeError) as error:
        raise ProgramError(f"{makefile}: the commands that make -n prints cannot be read: {error}") from error


def _asked(
    folder: Path, makefile: Path, confined: bool, *targets: tuple[str, ...], seconds: float = HANGING_S
) -> list[str]:
    """What `make -n` prints for each list of targets; empty without make. Raises ProgramError where it hangs."""
    make = shutil.which("make") or shutil.which("gmake")
    if make is None:
        return ["" for _ in targets]
    with tempfile.TemporaryDirectory() as scratch:
        compiler = Path(scratch) / "bin" / "hipcc"
        compiler.parent.mkdir()
        compiler.write_text("#!/bin/sh\nexit 0\n")
        compiler.chmod(0o755)
        env = {
            **os.environ,
            "PATH": f"{compiler.parent}:{os.environ.get('PATH', '')}",
            "LC_ALL": "C",
            "ROCM_PATH": scratch,
            "HIP_PATH": scratch,
        }
        env.pop("MAKEFLAGS", None)
        variables = [f"HIPCC={_STAND_IN}"]
        text = makefile.read_text(errors="replace")
        if re.search(r"^\s*(?:CC|CXX|NVCC|COMPILER)\s*[:?]?=\s*\S*(?:hipcc|nvcc)", text, re.MULTILINE):
            variables += [
                f"{name}={_STAND_IN}"
                for name in ("CC", "CXX", "NVCC")
                if re.search(rf"^\s*{name}\s*[:?]?=\s*\S*(?:hipcc|nvcc)", text, re.MULTILINE)
            ]
        command = [make, "-n", "-B", "-k", "-w", "-C", str(folder), "-f", str(makefile), *variables]
        limits = Limits(seconds=seconds, confined=confined)
        printed = []
        for words in targets:
            done = run_process([*command, *words], Path(scratch), env, limits)
            if done.timed_out:
                raise ProgramError(f"{makefile}: make -n did not end within {seconds:.0f} s")
            printed.append(done.stdout)
        return printed


def _compilations(text: str, folder: Path) -> Iterator[tuple[str, list[str], list[Path], bool, list[str]]]:
    """Of each compiler command that `make -n` prints: the compiler's name, flags, sources, does it only compile,
    libraries."""
    for words, where in placed_commands(text, folder):
        if _is_compiler(words[0]):
            yield Path(words[0]).name.partition("-")[0], *_parse(words[1:], where)


def _unit_of(source: Path, flags: Sequence[str], compiler: str) -> Unit:
    """A unit as the compiler of that name takes it: a C compiler takes .c for C, GCC and MPI's drivers have no HIP."""
    host = compiler in ("cc", "gcc", "c++", "g++", "mpicc", "mpicxx", "mpic++")
    language = "c++" if host and suffix_of(source.name) not in KERNEL_SOURCES else "hip"
    return Unit(
        str(source),
        c_or(source, language) if compiler in ("cc", "gcc", "clang", "mpicc") else language,
        tuple(flags),
    )


def _is_compiler(word: str) -> bool:
    return bool(
        re.fullmatch(
            r"(?:rocport-hipcc|hipcc|nvcc|g\+\+|gcc|cc|c\+\+|clang|clang\+\+|mpicxx|mpic\+\+|mpicc|amdclang\+\+)(?:-\d+)?",
            Path(word).name,
        )
    )


def _from_commands(folder: Path, build: str, run: str) -> Program | None:
    units: dict[str, Unit] = {}
    link: list[str] = []
    for compiler, flags, sources, compiling, libraries in _compilations(build, folder):
        for source in sources:
            units[str(source)] = _unit_of(source, flags, compiler)
        if not compiling:
            link = libraries
    if not units:
        return None
    missing = [unit.source for unit in units.values() if not unit.source.is_file()]
    if missing:
        raise ProgramError(f"{missing[0]}: named by the Makefile, but not there")
    runs = []
    for words in commands(run):
        while words and (words[0].startswith("-") or "=" in words[0].split("/")[0]):
            words = words[1:]
        if words and words[0] in ("mpirun", "srun"):
            continue
        if words and (words[0].startswith("./") or words[0].startswith("bin/")) and not _is_compiler(words[0]):
            runs.append(tuple(word for word in words[1:] if not word.startswith(">")))
    return Program(folder.name, folder, tuple(units.values()), tuple(link), tuple(runs) or ((),))


def _parse(words: list[str], where: Path) -> tuple[list[str], list[Path], bool, list[str]]:
    flags: list[str] = []
    sources: list[Path] = []
    libraries: list[str] = []
    compiling = False
    index = 0
    while index < len(words):
        word = words[index]
        value = words[index + 1] if word in _PAIRED and index + 1 < len(words) else None
        index += 2 if value is not None else 1
        folder = next((flag for flag in _FOLDER_FLAGS if word.startswith(flag)), None)
        if word == "-c":
            compiling = True
        elif word == "-o":
            continue
        elif folder is not None:
            place = _absolute(value or word[len(folder) :], where)
            flags += [folder + place] if folder == "-I" else [folder, place]
        elif word == "-include":
            if value and (forced := (where / value).resolve()).is_relative_to(where.resolve()) and forced.is_file():
                flags += [word, str(forced)]
        elif word in ("-D", "-U") and value and _KEPT.fullmatch(word + value):
            flags.append(word + value)
        elif _KEPT.fullmatch(word):
            flags.append(word)
        elif _LIBRARY.fullmatch(word) and not serves_link(word.removeprefix("-l")):
            libraries.append(word)
        elif not word.startswith("-") and value is None:
            path = Path(word)
            if suffix_of(path.name) in SOURCES:
                sources.append((where / path).resolve())
    if "-fopenmp" in flags or "-fopenmp" in words:
        libraries.append("-fopenmp")
    return flags, sources, compiling, libraries


def _absolute(path: str, where: Path) -> str:
    return path if path.startswith("/") else str((where / path).resolve())


def with_flags(program: Program, *flags: str) -> Program:
    """The same program with more flags on every unit."""
    return replace(program, units=tuple(replace(unit, flags=(*unit.flags, *flags)) for unit in program.units))


def find_header(name: str, start: Path) -> Path | None:
    """The folder to add with `-I` so that `#include "name"` is found: looked for around `start`, nearest first.

    The tree is searched upwards until its root (a `.git`, or four levels), and only so many folders of it. Of several
    headers of that name, the one with the shortest way wins.
    """
    tail = Path(name)
    if tail.is_absolute() or not tail.name or ".." in tail.parts:
        return None
    root = start.resolve()
    seen: set[Path] = set()
    visited = 0
    for _ in range(_LEVELS_UP):
        if root in (Path.home(), Path(tempfile.gettempdir()), Path(root.anchor)):
            return None
        found: list[Path] = []
        for folder, folders, files in os.walk(root, followlinks=False):
            here = Path(folder)
            folders[:] = sorted(f for f in folders if not f.startswith(".") and here / f not in seen)
            visited += 1
            if visited > _MOST_FOLDERS:
                break
            if tail.name in files and (here / tail.name).parts[-len(tail.parts) :] == tail.parts:
                found.append(here.parents[len(tail.parts) - 2] if len(tail.parts) > 1 else here)
        if found:
            return min(found, key=lambda path: (len(path.parts), str(path)))
        if visited > _MOST_FOLDERS or (root / ".git").exists():
            return None
        seen.add(root)
        root = root.parent
    return None

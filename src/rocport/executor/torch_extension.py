# SPDX-License-Identifier: Apache-2.0
"""PyTorch extensions on the CPU executor: the extension of a ported repository is built into a Python interpreter, in
which the repository's own Python code and tests call its kernels on the executor's device, at wavefront width 32 or 64.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocport.executor.base import BuildError, BuildOptions, Executor, RunOptions, RunResult
from rocport.executor.compiler import HERE, executor_cache
from rocport.executor.cpu import CpuExecutor
from rocport.executor.limits import Limits
from rocport.executor.process import run_process
from rocport.executor.program import TORCH_PRELUDE, Program, ProgramError
from rocport.model import HANGING_S
from rocport.model.locks import locked
from rocport.project.languages import HEADERS, KERNEL_SOURCES, SOURCES, suffix_of
from rocport.project.unit import Unit

INCLUDE_TORCH = HERE / "include_torch"
CHILD = HERE / "torch_child"
_PLACEHOLDER = "rocport: built into the program\n"
# What a unit may be made from.
_READ = frozenset((*SOURCES, *HEADERS))


@dataclass(frozen=True)
class Environment:
    """The Python that PyTorch is installed in."""

    python: str
    include: tuple[str, ...]
    """Folders of Python's and PyTorch's headers."""
    libraries: str
    """Folder of libtorch."""
    link: tuple[str, ...]
    """What an executable that is a Python interpreter links."""


@dataclass(frozen=True)
class Extension:
    """One extension module as setup.py declares it; `sources` are absolute."""

    name: str
    sources: tuple[Path, ...]
    flags: tuple[str, ...]

    @property
    def has_kernels(self) -> bool:
        return any(suffix_of(source.name) in KERNEL_SOURCES for source in self.sources)


_QUESTION = """
import json, sys, sysconfig, torch
from torch.utils import cpp_extension
config = sysconfig.get_config_vars()
library = config["LDLIBRARY"]
shared = bool(config.get("Py_ENABLE_SHARED"))
link = ["-L" + config["LIBDIR"], "-Wl,-rpath," + config["LIBDIR"], "-lpython" + config["LDVERSION"]] if shared else [
    "-Wl,--whole-archive", config["LIBPL"] + "/" + config["LIBRARY"], "-Wl,--no-whole-archive"]
print(json.dumps({
    "include": [*cpp_extension.include_paths(), sysconfig.get_paths()["include"]],
    "libraries": cpp_extension.library_paths()[0],
    "link": [*link, *config.get("LIBS", "").split(), *config.get("SYSLIBS", "").split()],
}))
"""


def read_environment(python: str = sys.executable) -> Environment:
    """Asks an interpreter for PyTorch's and its own headers and libraries.

    Raises:
        ProgramError: it cannot be run, or has no PyTorch.
    """
    try:
        done = subprocess.run([python, "-c", _QUESTION], capture_output=True, text=True, timeout=HANGING_S, check=False)
    except OSError as error:
        raise ProgramError(f"{python}: cannot be run: {error.strerror}; name a Python with --python") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise ProgramError(
            f"{python}: PyTorch cannot be imported there ({last}); a CPU build is enough: pip install torch, or name "
            "another Python with --python"
        )
    answer = json.loads(done.stdout.splitlines()[-1])
    return Environment(python, tuple(answer["include"]), answer["libraries"], tuple(answer["link"]))


@dataclass(frozen=True)
class Declared:
    """What a setup.py declares, for this executor."""

    extensions: tuple[Extension, ...]
    notes: tuple[str, ...]
    """Extensions left out, with the reason."""
    roots: Mapping[str, str]
    """Package -> its folder, as setup()'s package_dir says it."""


def read_extensions(folder: Path, environment: Environment, confined: bool = True) -> Declared:
    """The extensions of a repository's setup.py, as it declares them on a ROCm build of PyTorch: it is run for that,
    and writes nothing outside a temporary folder where it is confined.

    An extension without kernels whose sources another one holds too (the CPU twin of a CUDA extension) is left out:
    both would register the same operators.

    Raises:
        ProgramError: there is no setup.py, it fails, or it declares no extension.
    """
    folder = folder.resolve()
    if not (folder / "setup.py").is_file():
        raise ProgramError(f"{folder}: no setup.py; extensions of other build systems are not read")
    with tempfile.TemporaryDirectory(prefix="rocport-") as scratch:
        done = run_process(
            [environment.python, str(CHILD / "read_setup.py"), str(folder)], Path(scratch),
            {**os.environ, "PYTHONPATH": str(CHILD), "PYTHONDONTWRITEBYTECODE": "1"},
            Limits(seconds=HANGING_S, confined=confined),
        )  # fmt: skip
    last = (done.stdout.strip().splitlines() or [""])[-1]
    try:
        answer = json.loads(last)
        declared: list[dict[str, Any]] = answer["extensions"]
    except (ValueError, KeyError, TypeError):
        why = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ProgramError(f"{folder / 'setup.py'}: does not come to its setup() on a ROCm build: {why}") from None
    found = [_extension(folder, entry) for entry in declared]
    kept: list[Extension] = []
    notes: list[str] = []
    for extension in found:
        twin = next(
            (
                other
                for other in (*(one for one in found if one.has_kernels), *kept)
                if other is not extension and set(extension.sources) <= set(other.sources)
            ),
            None,
        )
        if twin is not None and not extension.has_kernels:
            notes.append(f"{extension.name}: left out, {twin.name} holds all of its sources")
        else:
            kept.append(extension)
    if not any(extension.has_kernels for extension in kept):
        raise ProgramError(f"{folder / 'setup.py'}: declares no extension with HIP or CUDA sources")
    return Declared(tuple(kept), tuple(notes), answer["package_dir"])


def _extension(folder: Path, entry: dict[str, Any]) -> Extension:
    sources = tuple((folder / source).resolve() for source in entry["sources"])
    missing = [source for source in sources if not source.is_file()]
    if missing:
        raise ProgramError(f"{missing[0]}: a source of {entry['name']}, but not there")
    flags = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in entry["define_macros"]]
    flags += [f"-I{(folder / include).resolve()}" for include in entry["include_dirs"]]
    given = [flag for flags in entry["flags"].values() for flag in flags]
    flags += [flag for flag in given if flag.startswith(("-D", "-I"))]
    # The prelude says so itself, once PyTorch's own headers are read.
    flags = [flag for flag in flags if not flag.startswith(("-D__HIP", "-DUSE_ROCM", "-DUSE_CUDA"))]
    return Extension(entry["name"], sources, tuple(dict.fromkeys(flags)))


def stage(
    folder: Path,
    extensions: Sequence[Extension],
    roots: Mapping[str, str],
    work: Path,
    libraries: Mapping[str, Path],
) -> None:
    """Copies a repository to `work`. Libraries without kernels go to their places; where one with kernels would lie
    there is a placeholder: packages that load their operators with `torch.ops.load_library` look for the file first."""
    skipped = shutil.ignore_patterns(".git", "build", "__pycache__", "*.so", ".venv")
    shutil.copytree(folder, work, symlinks=True, ignore=skipped, dirs_exist_ok=True)
    for extension in extensions:
        package, _, name = extension.name.rpartition(".")
        top = package.partition(".")[0]
        base = work / (roots[top] if top in roots else roots.get("", ""))
        rest = package.partition(".")[2] if top in roots else package
        place = base / rest.replace(".", "/") / f"{name}.so"
        place.parent.mkdir(parents=True, exist_ok=True)
        if extension.name in libraries:
            shutil.copyfile(libraries[extension.name], place)
        else:
            place.write_text(_PLACEHOLDER)


def interpreter_program(extensions: Sequence[Extension], folder: Path, environment: Environment) -> Program:
    """A Python interpreter with the extensions in it, as a program the CPU executor builds."""
    shared = (f"-isystem{INCLUDE_TORCH}", *(f"-isystem{path}" for path in environment.include), "-std=c++20")
    units: list[Unit] = []
    for extension in extensions:
        named = (f"-DTORCH_EXTENSION_NAME={extension.name.rpartition('.')[2]}", "-DTORCH_API_INCLUDE_EXTENSION_H")
        prelude = ("-include", TORCH_PRELUDE)
        units += [
            Unit(str(source), flags=(f"-I{source.parent}", *extension.flags, *shared, *named, *prelude))
            for source in extension.sources
        ]
    listed = " ".join(f'X("{extension.name}", {extension.name.rpartition(".")[2]})' for extension in extensions)
    includes = tuple(f"-isystem{path}" for path in environment.include)
    flags = (*includes, "-std=c++20")
    units += [
        Unit(str(INCLUDE_TORCH / "rpx_torch" / "main.cpp"), flags=(*flags, f"-DROCPORT_MODULES={listed}")),
        Unit(str(INCLUDE_TORCH / "rpx_torch" / "backend.cpp"), flags=flags),
    ]
    return Program(folder.name, folder, tuple(units), ("-rdynamic", *environment.link, *_torch(environment)))


def _torch(environment: Environment) -> tuple[str, ...]:
    folder = environment.libraries
    names = ("-ltorch", "-ltorch_cpu", "-lc10", "-ltorch_python")
    return (f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--no-as-needed", *names)


def build_host_libraries(
    declared: Declared, folder: Path, environment: Environment, executor: CpuExecutor
) -> dict[str, Path]:
    """The extensions that are plain C++, as libraries that setup.py would build, by name. One that does not build so
    (its host code speaks of the device) is not among them: it belongs into the interpreter, with the prelude."""
    built: dict[str, Path] = {}
    for extension in declared.extensions:
        if extension.has_kernels:
            continue
        name = extension.name.rpartition(".")[2]
        flags = (*extension.flags, *(f"-I{path}" for path in environment.include))
        units = tuple(Unit(str(source), flags=flags) for source in extension.sources)
        program = Program(extension.name, folder.resolve(), units)
        place = executor_cache() / "extension" / _fingerprint(program, environment, executor, BuildOptions())
        library = place / f"{name}.so"
        if not library.is_file():
            place.mkdir(parents=True, exist_ok=True)
            partial = place / f"{name}.partial"
            named = ("-std=c++20", f"-DTORCH_EXTENSION_NAME={name}", "-DTORCH_API_INCLUDE_EXTENSION_H")
            try:
                executor.shared_library(extension.sources, (*flags, *named), _torch(environment), partial)
            except BuildError:
                continue
            partial.replace(library)
        built[extension.name] = library
    return built


def build_interpreter(program: Program, environment: Environment, executor: Executor, options: BuildOptions) -> Path:
    """The interpreter's executable, from the cache when nothing it is made from has changed.

    Raises:
        BuildError: a source does not compile, or the interpreter does not link.
    """
    folder = executor_cache() / "extension" / _fingerprint(program, environment, executor, options)
    executable = folder / "program"
    with locked(folder.with_name(f"{folder.name}.lock")):  # a second process would link over what the first one runs
        if not (folder / "done").is_file():
            # The folder is named by all that is read: a build that was cut short there goes on.
            executable = executor.build(program, folder, replace(options, resume=True))
            (folder / "done").write_text("")
    return executable


def _fingerprint(program: Program, environment: Environment, executor: Executor, options: BuildOptions) -> str:
    known = executor.probe()
    digest = hashlib.sha256(repr((program.units, program.link, environment, known, options)).encode())
    folders = (program.folder, HERE)
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in _READ):
        digest.update(str(path).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:20]


def run_interpreter(
    executable: Path,
    arguments: Sequence[str],
    cwd: Path,
    environment: Environment,
    executor: Executor,
    options: RunOptions,
    device: dict[str, Any],
    paths: Sequence[Path] = (),
) -> RunResult:
    """Runs the interpreter: `arguments` are Python's (`-m pytest tests`, `script.py`). `device` are the facts that
    torch.cuda.get_device_properties answers with; `paths` go before the environment's own packages."""
    search = [str(CHILD), *map(str, paths), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    extra = {
        "ROCPORT_PYTHON": environment.python,
        "ROCPORT_DEVICE": json.dumps(device),
        "PYTHONPATH": os.pathsep.join(search),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    return executor.run(executable, arguments, cwd, replace(options, environment={**options.environment, **extra}))

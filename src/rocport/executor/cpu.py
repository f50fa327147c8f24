# SPDX-License-Identifier: Apache-2.0
"""The CPU executor: builds a HIP program with the host compiler and runs it at wavefront width 32 or 64."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from rocport.executor.base import (
    BuildError,
    BuildOptions,
    Capability,
    Level,
    RunOptions,
    RunResult,
    Trust,
)
from rocport.executor.blas import VARIABLE as BLAS_VARIABLE
from rocport.executor.blas import blas_library
from rocport.executor.compiler import (
    INCLUDE,
    CompilerError,
    HostCompiler,
    find_compiler,
    runtime_objects,
    thrust_include,
)
from rocport.executor.prelude import cut, precompiled
from rocport.executor.process import run_process
from rocport.executor.program import TORCH_PRELUDE, Program, find_header, for_hosts, openmp, with_flags
from rocport.executor.report import read_report, sanitizer_hazards
from rocport.executor.rewrite import RewriteError, rewrite
from rocport.facts.errors import FactError
from rocport.facts.targets import load_target, wave_target
from rocport.model import HANGING_S
from rocport.project.unit import Unit

_MISSING = [
    re.compile(r"fatal error: '?([^':]+)'?(?:: No such file| file not found)"),
    re.compile(r"error: '?‘?([\w:]+)’?'? (?:was not declared|has not been declared|is not a member)"),
    re.compile(r"error: use of undeclared identifier '([^']+)'"),
    re.compile(r"error: (?:unknown type name|no member named) '([^']+)'"),
    re.compile(r"error: ‘([^’]+)’ (?:does not name a type|was not declared|has not been declared)"),
    re.compile(r"undefined reference to [`'‘]([^'’]+)['’]"),
]
_CUDA_NAME = re.compile(
    r"cuda\w*\.h(?:' file not found|: No such)"
    r"|error: (?:use of undeclared identifier ['‘]|['‘])cu(?:da)?[A-Z]\w+['’](?: was not declared|$|;)",
    re.MULTILINE,
)
# Source that looks at the architecture or needs the width as a constant is compiled once a width.
_PER_WIDTH = re.compile(rb"__AMDGCN_WAVEFRONT_SIZE|__GFX\d+__|__gfx\w+__|__CDNA|__RDNA")


_MOST_FOUND_HEADERS = 12
_ROOT = Path(__file__).resolve().parents[2]  # where a child Python finds this package

_PLAIN_SHARED = "-DRPX_PLAIN_SHARED"
# The runtime works with the sanitizers and is not watched by them: what is looked for is in the program.
_RUNTIME_BESIDE = (_PLAIN_SHARED, "-D__SANITIZE_ADDRESS__=1")
_DEFAULT_BUILD = BuildOptions()
_DEFAULT_RUN = RunOptions()
_LINK_TEST = b"""
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#endif
#endif
int main() {}
"""


class CpuExecutor:
    """HIP on the host's own processor."""

    name = "cpu"

    def __init__(self, compiler: HostCompiler | None = None) -> None:
        self._compiler = compiler
        self._linking: dict[tuple[str, ...], bool] = {}

    @property
    def compiler(self) -> HostCompiler:
        """The host compiler; found on first use.

        Raises:
            CompilerError: there is none.
        """
        if self._compiler is None:
            self._compiler = find_compiler()
        return self._compiler

    def probe(self) -> Capability:
        """Widths 32 and 64 wherever a host compiler is."""
        try:
            compiler = self.compiler
        except CompilerError as error:
            return Capability(self.name, refusal=str(error))
        detail = f"{compiler.path} ({compiler.kind} {'.'.join(map(str, compiler.version))})"
        return Capability(self.name, (32, 64), (), Level.SOURCE, Trust.UNTESTED, detail)

    # ---- building ------------------------------------------------------------------------------------------------

    def build(self, program: Program, folder: Path, options: BuildOptions = _DEFAULT_BUILD) -> Path:
        """Preprocesses, rewrites, compiles and links. Files land below `folder`.

        Raises:
            BuildError: a unit does not compile, or the program does not link.
        """
        try:
            return self._build(program, folder, options)
        except BuildError as error:
            # OpenMP's header comes with its flag.
            if "omp.h" not in error.missing or openmp(program.units):
                raise
        return self._build(replace(with_flags(program, "-fopenmp"), link=(*program.link, "-fopenmp")), folder, options)

    def _build(self, program: Program, folder: Path, options: BuildOptions) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        # Clang comes without the OpenMP and sanitizer libraries on most systems; g++ has its own.
        wanted = (*self._mode_flags(options), *openmp(program.units))
        if wanted and not self._links(wanted):
            return CpuExecutor(_gcc_for(wanted))._build(program, folder, options)
        try:
            runtime = runtime_objects(self.compiler, flags=_RUNTIME_BESIDE if options.sanitize else ())
        except CompilerError as error:
            raise BuildError(str(error)) from error
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            work = [
                pool.submit(self._compile_any, unit, number, folder, options)
                for number, unit in enumerate(program.units)
            ]
            objects = [job.result() for job in work]
        executable = folder / "program"
        link = [lib for lib in program.link if lib != "-fopenmp"]
        if "-fopenmp" in program.link or openmp(program.units):
            link.append("-fopenmp")
        command = [
            self.compiler.path, "-no-pie", "-rdynamic", "-pthread", *self._mode_flags(options), "-o", str(executable),
            *map(str, objects), *map(str, runtime), *link, "-lm", "-ldl",
        ]  # fmt: skip
        self._step(command, program.name, "link")
        return executable

    def build_widths(
        self, program: Program, folder: Path, widths: Sequence[int], options: BuildOptions = _DEFAULT_BUILD
    ) -> dict[int, Path]:
        """Width -> executable: one for all, or one for each where the source depends on the width at compile time.

        Raises:
            BuildError: it does not build either way.
        """
        if not self.needs_width(program):
            try:
                return dict.fromkeys(widths, self.build(program, folder / "any", options))
            except BuildError as error:
                # warpSize in a constant expression, as HIP before 7.0 allowed.
                if "warpSize" not in error.log and "wave_width" not in error.log:
                    raise
        return {width: self.build(program, folder / str(width), replace(options, width=width)) for width in widths}

    def shared_library(self, sources: Sequence[Path], flags: Sequence[str], link: Sequence[str], output: Path) -> None:
        """Compiles plain C++ without kernels into a shared library.

        Raises:
            BuildError: it does not compile or link.
        """
        command = [
            self.compiler.path, "-shared", "-fPIC", "-O1", "-w", "-pthread", *flags, *map(str, sources), *link,
            "-o", str(output),
        ]  # fmt: skip
        self._step(command, output.stem, "build")

    def build_module(self, unit: Unit, target: Path, options: BuildOptions = _DEFAULT_BUILD) -> None:
        """Builds a shared object that a running program loads: its kernels register themselves by name.

        Raises:
            BuildError: it does not compile or link.
        """
        with tempfile.TemporaryDirectory(prefix="rocport-module-") as scratch:
            compiled = self._compile(unit, 0, Path(scratch), options, module=True)
            # What it needs of the runtime is in the program that loads it.
            self._step([self.compiler.path, "-shared", "-o", str(target), str(compiled)], unit.source.name, "link")

    def _links(self, flags: tuple[str, ...]) -> bool:
        """True when a program compiled with these flags links; asked once for each set."""
        if self.compiler.kind == "gcc":
            return True
        if flags not in self._linking:
            done = subprocess.run(
                [self.compiler.path, *flags, "-x", "c++", "-", "-o", os.devnull],
                input=_LINK_TEST, capture_output=True, timeout=HANGING_S, check=False, env=self.compiler.env,
            )  # fmt: skip
            self._linking[flags] = done.returncode == 0
        return self._linking[flags]

    def needs_width(self, program: Program) -> bool:
        """True when the source asks for the architecture at compile time: each width then needs its own build."""
        for unit in program.units:
            for path in {
                unit.source,
                *unit.source.parent.glob("*.h"),
                *unit.source.parent.glob("*.cuh"),
                *unit.source.parent.glob("*.hpp"),
            }:
                with contextlib.suppress(OSError):
                    if _PER_WIDTH.search(path.read_bytes()):
                        return True
        return False

    def _mode_flags(self, options: BuildOptions) -> tuple[str, ...]:
        if not options.sanitize:
            return ()
        return ("-fsanitize=address,undefined", "-fno-sanitize-recover=address", _PLAIN_SHARED)

    def _flags(self, unit: Unit, options: BuildOptions) -> list[str]:
        flags = for_hosts(unit.flags)
        standard = _asked(unit)
        if unit.language == "c":
            return [*flags, f"-std={standard}"] if standard and "++" not in standard else flags
        flags += [
            f"-std={_standard(standard)}",
            f"-isystem{INCLUDE}",
            *(f"-isystem{path}" for path in thrust_include()),
            "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP",
            "-DCCCL_IGNORE_DEPRECATED_CPP_DIALECT",
            "-D__HIP__=1",
            "-D__HIPCC__=1",
            "-D__HIP_PLATFORM_AMD__=1",
            "-DROCPORT_SOURCE_LEVEL=1",
        ]
        if options.width:
            flags += [f"-DROCPORT_FIXED_WAVE={options.width}", f"-D__AMDGCN_WAVEFRONT_SIZE={options.width}"]
            flags += [f"-D__AMDGCN_WAVEFRONT_SIZE__={options.width}"]
            target = wave_target(options.width)
            flags += [f"-D__GFX{target.capability[0]}__=1", f"-D__{target.name}__=1"]
        return flags

    def _compile_any(self, unit: Unit, number: int, folder: Path, options: BuildOptions) -> Path:
        """Compiles a unit that names no standard as C++17, and where that fails as C++20: its build may have asked."""
        try:
            return self._compile(unit, number, folder, options)
        except BuildError as error:
            if unit.language == "c" or _asked(unit) or not error.log or _MISSING[0].search(error.log):
                raise _in_words(error, unit) from error
            try:
                newer = replace(unit, flags=(*unit.flags, "-std=gnu++20"))
                return self._compile(newer, number, folder, options)
            except BuildError:
                raise _in_words(error, unit) from error

    def _compile(self, unit: Unit, number: int, folder: Path, options: BuildOptions, *, module: bool = False) -> Path:
        stem = f"{number}-{unit.source.stem}"
        target = folder / f"{stem}.o"
        compiler = self.compiler
        mode = self._mode_flags(options)
        if options.instrument:
            mode = (*mode, "-DRPX_INSTRUMENT")
        if unit.language == "c":
            command = [
                compiler.path,
                "-x",
                "c",
                *compiler.base_flags,
                *mode,
                options.optimize,
                *self._flags(unit, options),
            ]
            self._step([*command, "-c", str(unit.source), "-o", str(target)], unit.source.name, "compile")
            return target
        plain = folder / f"{stem}.ii"
        flags = self._flags(unit, options)
        # PyTorch's prelude holds it already: all units of an extension begin alike.
        has_runtime = unit.source.suffix not in (".cu", ".hip") or TORCH_PRELUDE in unit.flags
        preload = [] if has_runtime else ["-include", "hip/hip_runtime.h"]
        preprocess = [
            compiler.path,
            "-E",
            "-x",
            "c++",
            *mode,
            "-pthread",
            options.optimize,
            *flags,
            *preload,
            str(unit.source),
        ]
        whole = self._preprocess(preprocess, unit)
        before, own = cut(whole, unit.source)
        command = [
            compiler.path, "-x", "c++-cpp-output", f"-std={_standard(_asked(unit))}",
            *compiler.base_flags, *mode, options.optimize,
        ]  # fmt: skip
        if options.instrument:
            # Compiled for the thread sanitizer, and linked with lib/access.cpp instead of its library.
            command.append("-fsanitize=thread")
        command += [flag for flag in for_hosts(unit.flags) if flag.startswith("-f")]
        if module:
            command.append("-fPIC")
        shared = precompiled(before, compiler, command) if before else []

        def compile_text(text: bytes, *more: str) -> None:
            try:
                done = rewrite(text, plain_shared=options.sanitize, everywhere=options.instrument, module=module)
            except RewriteError as error:
                raise BuildError(f"{unit.source}: {error}") from error
            plain.write_bytes(done.text)
            self._step([*command, *more, "-c", str(plain), "-o", str(target)], unit.source.name, "compile")

        if shared:
            with contextlib.suppress(BuildError):  # what is wrong is said of the whole text
                compile_text(own, *shared)
                return target
        compile_text(whole)
        return target

    def _preprocess(self, command: list[str], unit: Unit) -> bytes:
        """The unit's text; a header that its build keeps elsewhere in the tree is looked for there.

        Raises:
            BuildError: a header is nowhere, or the text does not preprocess.
        """
        for _ in range(_MOST_FOUND_HEADERS):
            try:
                return self._step(command, unit.source.name, "preprocess").stdout
            except BuildError as error:
                name = _MISSING[0].search(error.log)
                folder = find_header(name.group(1).strip(), unit.source.parent) if name else None
                if folder is None or f"-I{folder}" in command:
                    raise
                command = [*command[:-1], f"-I{folder}", command[-1]]
        return self._step(command, unit.source.name, "preprocess").stdout

    def _step(self, command: list[str], what: str, step: str) -> subprocess.CompletedProcess[bytes]:
        try:
            done = subprocess.run(command, capture_output=True, timeout=HANGING_S, check=False, env=self.compiler.env)
        except subprocess.TimeoutExpired as error:
            raise BuildError(f"{what}: {step} took more than {HANGING_S:.0f} s") from error
        if done.returncode:
            log = done.stderr.decode(errors="replace")
            raise BuildError(_summary(what, step, log), log=log, missing=missing_names(log))
        return done

    # ---- running -------------------------------------------------------------------------------------------------

    def run(
        self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions = _DEFAULT_RUN
    ) -> RunResult:
        """Runs the program confined and under the limits; everything it started ends with it."""
        with tempfile.TemporaryDirectory(prefix="rocport-run-") as scratch:
            report = Path(scratch) / "report"
            env = {
                BLAS_VARIABLE: blas_library(),
                **os.environ,
                "ROCPORT_WAVE": str(options.width),
                "ROCPORT_ORDER": options.order,
                "ROCPORT_REPORT": str(report),
                "ROCPORT_QUIET": ",".join(options.quiet),
                "ROCPORT_POISON": "" if options.poison is None else str(options.poison),
                "ROCPORT_TRACE": str(options.trace) if options.trace else "",
                "ROCPORT_TARGET": options.target or "",
                "ROCPORT_LDS_LIMIT": _lds_limit(options.target),
                "ROCPORT_ACCESS": options.access.value,
                "ROCPORT_PYTHON": sys.executable,
                "ROCPORT_HOST_CXX": self.compiler.path,
                "PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
                "OMP_NUM_THREADS": "2",
                "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:exitcode=88",
                "UBSAN_OPTIONS": "print_stacktrace=1",
                **options.environment,
            }
            env = {name: value for name, value in env.items() if value != ""}
            writable = [Path(scratch), *([options.trace.parent] if options.trace else [])]
            done = run_process([str(executable), *arguments], cwd, env, options.limits, writable=writable)
            seen = read_report(report, executable, options.quiet)
        hazards = (*seen.hazards, *sanitizer_hazards(done.stderr))
        return RunResult(
            done.status, done.stdout, done.stderr, done.seconds, done.timed_out, hazards, seen.statistics, seen.kernels
        )


def _lds_limit(target: str | None) -> str:
    """Bytes of shared memory a block may have on the target; empty: the runtime's default."""
    if target is None:
        return ""
    try:
        return str(load_target(target).lds_bytes)
    except FactError:
        return ""


def _gcc_for(flags: tuple[str, ...]) -> HostCompiler:
    try:
        return find_compiler("g++")
    except CompilerError as error:
        raise BuildError(
            f"this clang cannot link {' '.join(flags)}: install g++, or clang's runtime libraries"
        ) from error


def _asked(unit: Unit) -> str:
    return next((flag[5:] for flag in unit.flags if flag.startswith("-std=")), "")


def _standard(asked: str) -> str:
    """At least C++17, with GNU extensions, as hipcc's default is."""
    year = re.search(r"\+\+(\w\w)", asked)
    known = {"17": "17", "1z": "17", "20": "20", "2a": "20", "23": "23", "2b": "23", "26": "26"}
    return "gnu++" + known.get(year.group(1) if year else "", "17")


def _in_words(error: BuildError, unit: Unit) -> BuildError:
    """The error; for CUDA source with what to do."""
    if not _CUDA_NAME.search(error.log):
        return error
    message = (
        f"{unit.source}: this is CUDA source, and the executor runs HIP: translate it first "
        "(`rocport port FOLDER --out NEW`) and run what is written there"
    )
    return BuildError(message, log=error.log, missing=error.missing)


def missing_names(log: str) -> tuple[str, ...]:
    """What a compiler or linker says is not there: headers, names, symbols."""
    names: dict[str, None] = {}
    for pattern in _MISSING:
        for match in pattern.finditer(log):
            names[match.group(1)] = None
    return tuple(names)


def _summary(what: str, step: str, log: str) -> str:
    lines = [line for line in log.splitlines() if "error" in line or "undefined reference" in line]
    first = lines[0].strip() if lines else (log.strip().splitlines() or ["no output"])[-1]
    return f"{what}: {step} failed: {first}"

# SPDX-License-Identifier: Apache-2.0
"""The ISA executor behind the common interface: clang's code for the device, run instruction by instruction."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocport.executor.amd import width_of
from rocport.executor.base import (
    Access,
    BuildError,
    BuildOptions,
    Capability,
    Frame,
    Hazard,
    KernelRun,
    Level,
    RunOptions,
    RunResult,
)
from rocport.executor.isa.runtime.declarations import LibraryError, finished
from rocport.executor.isa.runtime.headers import compiled, unit_name
from rocport.executor.isa.runtime.hipcc import TARGET_VARIABLE, hipcc_command, openmp_folder
from rocport.executor.isa.runtime.library import build_libraries
from rocport.executor.isa.runtime.tree import machine_toolchain
from rocport.executor.process import run_process
from rocport.executor.program import TORCH_PRELUDE, Program, find_header
from rocport.facts.targets import wave_target
from rocport.project.languages import KERNEL_SOURCES
from rocport.project.unit import Unit
from rocport.toolchain import Toolchain, ToolchainError

TARGETS = tuple(wave_target(width).name for width in (64, 32))
"""What is built for and run as where no target is named: one of each wavefront width."""
CANNOT_RUN = 86
"""Exit status of a program that met what the engine cannot run (launch.cpp): what it would have done is not known."""
_DEFAULT_BUILD = BuildOptions()
_DEFAULT_RUN = RunOptions()
_MOST_FOUND_HEADERS = 8
_OUTSIDE = re.compile(
    r"^rocport: (?:out of bounds: (?P<said>.*?(?:\(seen after kernel (?P<after>\S+)\))?)"
    r"|kernel (?P<kernel>\S+): (?P<fault>a memory access outside .*))$",
    re.MULTILINE,
)
_REFUSED = re.compile(r"^rocport: launch of (?P<kernel>\S+) with (?P<shape>.*) refused: (?P<why>.*)$", re.MULTILINE)
# Kinds of `executor.report` by the engine's number (engine.h, enum rp_found).
_FOUND = {"100": "shared-race", "101": "global-race", "102": "uninitialised-read"}
_OLD_C = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-int",
        "implicit-function-declaration",
        "int-conversion",
        "incompatible-function-pointer-types",
    )
)
"""What C compilers took from programs before GCC 14 and clang 16."""
_NEEDED = {
    "tinygrad": "tinygrad is not installed: its tables decode the machine code (`pip install 'rocport[isa]'`)",
    "rocport.executor.isa.__main__": "this rocport has no ISA engine",
}


class IsaExecutor:
    """The device's own machine code on this processor, for the targets named, or for one of each width."""

    name = "isa"

    def __init__(self, *targets: str) -> None:
        self._targets = targets or TARGETS

    def probe(self) -> Capability:
        """A HIP compiler for the targets, and what the engine needs."""
        for module, what in _NEEDED.items():
            if importlib.util.find_spec(module) is None:
                return self._refuse(what)
        try:
            toolchain = machine_toolchain()
        except ToolchainError as error:
            return self._refuse(str(error))
        reasons = toolchain.targets()
        for target in self._targets:
            if reasons.get(target, "not a target that rocport knows"):
                return self._refuse(f"{target}: {reasons.get(target, 'not a target that rocport knows')}")
        widths = tuple(sorted({width_of(target) for target in self._targets}))
        return Capability(self.name, widths, self._targets, Level.ISA, detail=toolchain.summary())

    def _refuse(self, why: str) -> Capability:
        return Capability(self.name, level=Level.ISA, refusal=why)

    def build(self, program: Program, folder: Path, options: BuildOptions = _DEFAULT_BUILD) -> Path:
        """Compiles and links the program as `rocport hipcc` does, its code objects for all targets in it.

        Raises:
            BuildError: it does not compile or link.
        """
        try:
            toolchain = machine_toolchain()
            libraries = build_libraries(toolchain)
        except (ToolchainError, LibraryError) as error:
            raise BuildError(str(error)) from error
        folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            jobs = [
                pool.submit(self._compile, unit, folder / f"{number}-{unit.source.stem}.o", toolchain, options)
                for number, unit in enumerate(program.units)
            ]
            objects = [job.result() for job in jobs]
        executable = folder / "program"
        rdc = ["-fgpu-rdc"] if any("-fgpu-rdc" in unit.flags for unit in program.units) else []
        words = [*rdc, "--hip-link", *map(str, objects), *program.link, "-o", str(executable)]
        words += ["-Wl,--as-needed", *(f"-l{library}" for library in _companions(libraries))]
        for folder in openmp_folder(toolchain):
            words += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lomp"]
        _step(self._line(words, toolchain, libraries), program.name, "link")
        return executable

    def _line(self, words: Sequence[str], toolchain: Toolchain, libraries: Path | None) -> list[str]:
        targets = [f"--offload-arch={target}" for target in self._targets]
        return list(hipcc_command([*targets, *words], toolchain, libraries, {}).words)

    def _compile(self, unit: Unit, target: Path, toolchain: Toolchain, options: BuildOptions) -> Path:
        language = ["-x", unit.language, *(_OLD_C if unit.language == "c" else ())]
        if options.resume and target.is_file():  # clang puts an object in its place when it is whole
            return target
        # The code is the same with line tables; what stops a kernel is then named by its line.
        mode = [options.optimize, "-w", "-gline-tables-only"]
        if unit.language == "hip":
            base = [word for word in self._line([*language, *mode], toolchain, None) if "--offload-arch" not in word]
            # PyTorch builds what is no kernel source of an extension with the host's compiler.
            kernels = TORCH_PRELUDE not in unit.flags or unit.source.suffix in KERNEL_SOURCES
            if compiled(base, unit.flags, unit.source, target, self._targets, toolchain, kernels):
                return target
            mode.append(unit_name(unit.source, target))
        flags = [*mode, *unit.flags]
        for _ in range(_MOST_FOUND_HEADERS):
            command = self._line([*language, *flags, "-c", str(unit.source), "-o", str(target)], toolchain, None)
            try:
                _step(command, unit.source.name, "compile")
                return target
            except BuildError as error:
                # A header that the program's own build keeps elsewhere in its tree.
                found = find_header(error.missing[0], unit.source.parent) if error.missing else None
                if found is None or f"-I{found}" in flags:
                    raise
                flags.append(f"-I{found}")
        raise BuildError(
            f"{unit.source}: its headers lie in more than {_MOST_FOUND_HEADERS} folders that no flag names"
        )

    def run(
        self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions = _DEFAULT_RUN
    ) -> RunResult:
        """Runs it on the target of the width, or on the one that is named."""
        fitting = [target for target in self._targets if width_of(target) == options.width] or list(self._targets)
        report = executable.with_suffix(".report")
        report.unlink(missing_ok=True)
        environment = {
            **os.environ,
            TARGET_VARIABLE: options.target or fitting[0],
            "ROCPORT_REPORT": str(report),
            "ROCPORT_POISON": "" if options.poison is None else str(options.poison),
            "ROCPORT_EXEC_SEED": options.order if options.order.isdigit() else "",
            "ROCPORT_EXEC_WATCH": "1" if options.access in (Access.RACES, Access.MEMORY, Access.ALL) else "",
            "ROCPORT_TRACE": str(options.trace) if options.trace else "",
            "ROCPORT_PYTHON": sys.executable,
            **options.environment,
        }
        environment = {name: value for name, value in environment.items() if value != ""}
        done = run_process(
            [str(executable), *arguments], cwd, environment, options.limits, limit_memory=False,
            writable=[executable.parent, *([options.trace.parent] if options.trace else [])],
        )  # fmt: skip
        kernels, statistics, watched = _read_report(report)
        hazards = tuple(h for h in (*watched, *_hazards(done.stderr)) if h.kind not in options.quiet)
        return RunResult(
            done.status,
            done.stdout,
            done.stderr,
            done.seconds,
            done.timed_out,
            hazards,
            statistics,
            tuple(kernels),
        )


def _companions(libraries: Path) -> list[str]:
    """The libraries beside the runtime's: a program's own build names those it needs, a lone source file does not."""
    names = {path.name[3:].split(".")[0] for path in libraries.glob("lib*.so")}
    return sorted(names - {"amdhip64", "hiprtc"})


def _hazards(stderr: str) -> tuple[Hazard, ...]:
    """What the runtime said of memory and of launches on standard error, once a message."""
    found: dict[str, Hazard] = {}
    for match in _OUTSIDE.finditer(stderr):
        message = match["said"] or match["fault"]
        kernel = match["kernel"] or match["after"] or ""
        count = found[message].count + 1 if message in found else 1
        found[message] = Hazard("out-of-bounds", message, kernel, count)
    for match in _REFUSED.finditer(stderr):
        kind = "lds-limit" if "shared memory" in match["why"] else "launch-config"
        message = f"a launch with {match['shape']} is refused: {match['why']}"
        count = found[message].count + 1 if message in found else 1
        found[message] = Hazard(kind, message, match["kernel"], count)
    return tuple(found.values())


def _read_report(path: Path) -> tuple[list[KernelRun], dict[str, int], list[Hazard]]:
    """The lines `isa-kernel`, launches, LDS bytes, threads, instructions, lane instructions, name, and `isa-hazard`,
    number, `file:line`, kernel, message; tabs between."""
    kernels = []
    totals = {"launches": 0, "instructions": 0, "lane-instructions": 0}
    hazards: dict[tuple[str, str], Hazard] = {}
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        kind, *fields = line.split("\t", 6)
        if kind == "isa-hazard" and len(fields) >= 4 and fields[0] in _FOUND:
            place, _, number = fields[1].rpartition(":")
            frames = (Frame(fields[2], place, int(number)),) if number.isdigit() else ()
            hazard = Hazard(_FOUND[fields[0]], fields[3], fields[2], 1, frames)
            hazards.setdefault((hazard.kind, hazard.place), hazard)
        if kind != "isa-kernel" or len(fields) != 6:
            continue
        launches, lds, threads, instructions, lane_instructions = map(int, fields[:5])
        kernels.append(KernelRun(fields[5], launches, lds, threads))
        totals["launches"] += launches
        totals["instructions"] += instructions
        totals["lane-instructions"] += lane_instructions
    return kernels, totals, list(hazards.values())


def _step(command: Sequence[str], what: str, step: str) -> None:
    done = finished(command, f"{what}: {step} failed", BuildError)
    if done.returncode:
        from rocport.executor.cpu import missing_names

        lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        first = (lines or done.stderr.splitlines() or ["no output"])[0].strip()
        raise BuildError(f"{what}: {step} failed: {first}", log=done.stderr, missing=missing_names(done.stderr))

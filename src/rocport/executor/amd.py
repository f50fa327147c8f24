# SPDX-License-Identifier: Apache-2.0
"""A real AMD GPU: hipcc builds, the device runs. What it says of the device itself is the last word."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rocport.executor.base import BuildError, BuildOptions, Capability, Level, RunOptions, RunResult
from rocport.executor.limits import Limits
from rocport.executor.process import run_process
from rocport.executor.program import Program
from rocport.facts.errors import FactError
from rocport.facts.targets import decode_gfx_target_version, load_target
from rocport.model import HANGING_S

_TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
_KFD = Path("/dev/kfd")
_DEFAULT_BUILD = BuildOptions()
_DEFAULT_RUN = RunOptions()


def rocm_roots() -> list[Path]:
    """Folders that may hold a ROCm installation: `$ROCM_PATH`, `$HIP_PATH`, the one of `hipcc`, /opt/rocm."""
    named = [Path(value) for name in ("ROCM_PATH", "HIP_PATH") if (value := os.environ.get(name))]
    found = shutil.which("hipcc")
    beside = [Path(found).resolve().parent.parent] if found else []
    return [*named, *beside, Path("/opt/rocm")]


def find_tool(name: str) -> Path | None:
    """A program of ROCm: on the PATH, or in the `bin` of an installation."""
    found = shutil.which(name)
    if found:
        return Path(found)
    return next((root / "bin" / name for root in rocm_roots() if os.access(root / "bin" / name, os.X_OK)), None)


def gpu_targets(topology: Path = _TOPOLOGY) -> tuple[str, ...]:
    """gfx names of the GPUs that the kernel's KFD topology lists; processors have no SIMDs and are left out."""
    names: list[str] = []
    for node in sorted(topology.glob("*/properties"), key=lambda path: (len(path.parent.name), path.parent.name)):
        try:
            properties = dict(line.split(None, 1) for line in node.read_text().splitlines() if " " in line)
            if int(properties.get("simd_count", "0")):
                names.append(decode_gfx_target_version(int(properties["gfx_target_version"])))
        except (OSError, ValueError, KeyError):
            continue
    return tuple(names)


def width_of(target: str) -> int:
    """The wavefront width that code for the target is compiled for; 64 where the facts do not know the target."""
    try:
        return load_target(target).wavefront
    except FactError:
        return 64


def build_with_hipcc(
    hipcc: Path, program: Program, folder: Path, options: BuildOptions, targets: Sequence[str]
) -> Path:
    """Compiles and links with hipcc for the targets; returns the executable.

    Raises:
        BuildError: it does not build.
    """
    folder.mkdir(parents=True, exist_ok=True)
    executable = folder / "program"
    command = [str(hipcc), options.optimize, *(f"--offload-arch={target}" for target in targets)]
    command += ["-fsanitize=address", "-g"] if options.sanitize else []
    flags = list(dict.fromkeys(flag for unit in program.units for flag in unit.flags))
    command += [*flags, *(str(unit.source) for unit in program.units), *program.link, "-o", str(executable)]
    return compile_program(command, program, executable)


def compile_program(command: Sequence[str], program: Program, executable: Path) -> Path:
    """Runs one compiler command for a whole program.

    Raises:
        BuildError: it fails, or takes too long.
    """
    try:
        done = subprocess.run(
            command, cwd=program.folder, capture_output=True, text=True, errors="replace",
            timeout=HANGING_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{program.name}: the build took more than {HANGING_S:.0f} s") from error
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "no output")
        raise BuildError(f"{program.name}: {Path(command[0]).name} failed: {first.strip()}", log=done.stderr)
    return executable


class AmdExecutor:
    """The AMD GPUs of this machine, or those of one target."""

    name = "amd"

    def __init__(self, topology: Path = _TOPOLOGY, kfd: Path = _KFD, target: str | None = None) -> None:
        self._topology = topology
        self._kfd = kfd
        self._target = target

    def _meant(self, every: Sequence[str]) -> tuple[str, ...]:
        """Of the targets of this machine's GPUs those that are meant, each once."""
        return tuple(target for target in dict.fromkeys(every) if self._target in (None, target))

    def probe(self) -> Capability:
        """A GPU in the KFD topology, of the target that is meant, a device node that can be opened, and hipcc."""
        every = gpu_targets(self._topology)
        targets = self._meant(every)
        if not every:
            return self._refuse("no AMD GPU: the kernel's KFD topology lists none (`rocport doctor` says more)")
        if not targets:
            return self._refuse(f"no GPU of {self._target}: this machine has {', '.join(every)}; name one of these")
        if not os.access(self._kfd, os.R_OK | os.W_OK):
            return self._refuse(f"{self._kfd} cannot be opened (`rocport doctor` says which group is missing)")
        hipcc = find_tool("hipcc")
        if hipcc is None:
            return self._refuse("no hipcc: install ROCm's HIP compiler, or set ROCM_PATH")
        widths = tuple(sorted({width_of(target) for target in targets}))
        return Capability(self.name, widths, targets, Level.HARDWARE, detail=f"{', '.join(targets)}; {hipcc}")

    def _refuse(self, why: str) -> Capability:
        return Capability(self.name, level=Level.HARDWARE, refusal=why)

    def build(self, program: Program, folder: Path, options: BuildOptions = _DEFAULT_BUILD) -> Path:
        """With hipcc, for the GPUs that are here.

        Raises:
            BuildError: it does not build, or this executor is not usable.
        """
        hipcc, targets = find_tool("hipcc"), self._meant(gpu_targets(self._topology))
        if hipcc is None or not targets:
            raise BuildError(self.probe().refusal)
        return build_with_hipcc(hipcc, program, folder, options, targets)

    def run(
        self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions = _DEFAULT_RUN
    ) -> RunResult:
        """On the first device of the target that is meant, or on the runtime's own choice. The width is the device's:
        order, poison and hazards of `options` are not looked at.

        The devices that the environment makes visible are those that are looked among.

        Raises:
            BuildError: no such device is here, or the environment hides it.
        """
        target = options.target or self._target
        every = gpu_targets(self._topology)
        if target is None or set(every) == {target}:
            return run_plain([str(executable), *arguments], cwd, options)
        visible = _visible({**os.environ, **options.environment}, len(every))
        if target not in every or (visible is not None and target not in [every[number] for number in visible]):
            hidden = f"; {', '.join(_CHOOSING)} leave {visible} of them visible" if target in every else ""
            raise BuildError(f"no GPU of {target} to run on: this machine has {', '.join(every) or 'none'}{hidden}")
        if visible is None:
            return run_plain([str(executable), *arguments], cwd, options)
        number = next(number for number in visible if every[number] == target)
        own = {name: value for name, value in options.environment.items() if name not in _CHOOSING}
        options = replace(options, environment=own | {_CHOOSING[0]: str(number)})
        return run_plain([str(executable), *arguments], cwd, options, without=_CHOOSING)


_CHOOSING = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


def _visible(environment: Mapping[str, str], count: int) -> list[int] | None:
    """Numbers of the GPUs that a program sees, in its order; None where the environment names them by another mark.

    HIP counts among those that ROCR lets through, and reads CUDA's variable where its own is not set or is empty.
    """
    visible = list(range(count))
    rocr, *hip = _CHOOSING
    for chosen in (environment.get(rocr), next((found for name in hip if (found := environment.get(name))), None)):
        if chosen is None:
            continue
        try:
            numbers = [int(word) for word in chosen.split(",") if word.strip()]
        except ValueError:
            return None
        # The first number that is of no GPU ends the list.
        wrong = (at for at, number in enumerate(numbers) if not 0 <= number < len(visible))
        visible = [visible[number] for number in numbers[: next(wrong, None)]]
    return visible


def run_plain(
    command: Sequence[str],
    cwd: Path,
    options: RunOptions,
    environment: dict[str, str] | None = None,
    without: Sequence[str] = (),
) -> RunResult:
    """Runs a program whose device is outside of our hands; `without`: variables of our own that it does not see."""
    kept = {name: value for name, value in os.environ.items() if name not in without}
    env = {**kept, **(environment or {}), **options.environment}
    limits: Limits = options.limits
    done = run_process(command, cwd, env, limits, limit_memory=False)
    return RunResult(done.status, done.stdout, done.stderr, done.seconds, done.timed_out)

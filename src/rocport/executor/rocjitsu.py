# SPDX-License-Identifier: Apache-2.0
"""AMD's emulator of its GPUs, part of ROCm 10: runs the device's own code on a processor.

`rocjitsu --config FILE -- program` runs a program on the GPU that a configuration describes; configurations lie in
`share/rocjitsu/configs`, one a device, with the target in `vm.gpu.device.gfx_target_version`. Older packages hold only
`mirage run --profile NAME -- program`. Source: https://github.com/ROCm/rocm-systems, emulation/rocjitsu/README.md,
docs/rocjitsu-cli.md and docs/configuration.md (read 2026-11); profile names from its issue 11361.

A session whose target the ROCm runtime does not know ends with status 0 and no device (the same issue): nothing is
believed before the self-test has passed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocport.executor.amd import build_with_hipcc, find_tool, run_plain, width_of
from rocport.executor.base import BuildError, BuildOptions, Capability, Level, RunOptions, RunResult
from rocport.executor.program import Program
from rocport.facts.targets import all_targets, decode_gfx_target_version, wave_target

_CONFIGS = Path("share") / "rocjitsu" / "configs"
_DEFAULT_BUILD = BuildOptions()
_DEFAULT_RUN = RunOptions()


@dataclass(frozen=True)
class Config:
    """One emulated machine."""

    path: Path
    target: str
    width: int


def read_config(path: Path) -> Config | None:
    """A configuration of one simulated GPU; None for any other file (translated guests, several GPUs, no device)."""
    try:
        data: Any = json.loads(path.read_text())
        gpu = data["vm"]["gpu"]
        device = gpu["device"]
        target = decode_gfx_target_version(int(device["gfx_target_version"]))
        if gpu.get("num_gpus", 1) != 1 or data.get("dbt_guest", {}).get("enabled"):
            return None
        return Config(path, target, int(device.get("wave_front_size") or width_of(target)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def find_configs(folder: Path) -> dict[str, Config]:
    """Target -> its configuration. Of several the one that models the kernel driver (`_kmd`), which the manual runs."""
    found: dict[str, Config] = {}
    for path in sorted(folder.glob("*.json"), key=lambda path: (not path.stem.endswith("_kmd"), path.name)):
        config = read_config(path)
        if config is not None:
            found.setdefault(config.target, config)
    return found


class RocjitsuExecutor:
    """The emulator, as one target."""

    name = "rocjitsu"

    def __init__(self, target: str | None = None) -> None:
        self._target = target or wave_target(64).name

    def probe(self) -> Capability:
        """The emulator, a configuration or profile for the target, and hipcc."""
        found = self._command()
        if isinstance(found, str):
            return self._refuse(found)
        if find_tool("hipcc") is None:
            return self._refuse("no hipcc: the emulator runs what ROCm's compiler builds; set ROCM_PATH")
        command, width = found
        return Capability(self.name, (width,), (self._target,), Level.ISA, detail=" ".join(command))

    def _refuse(self, why: str) -> Capability:
        return Capability(self.name, level=Level.ISA, refusal=why)

    def _command(self) -> tuple[list[str], int] | str:
        """What goes before the program, and the width; or why there is none."""
        tool = find_tool("rocjitsu")
        if tool is not None:
            folder = tool.resolve().parent.parent / _CONFIGS
            configs = find_configs(folder)
            config = configs.get(self._target)
            if config is None:
                known = ", ".join(sorted(configs)) or "none"
                return f"{folder}: no configuration whose gfx_target_version is {self._target}'s; there: {known}"
            return [str(tool), "--config", str(config.path), "--"], config.width
        mirage = find_tool("mirage")
        if mirage is None:
            return (
                "no rocjitsu (and no mirage): AMD's emulator comes with ROCm 10 (package amdrocm-emulation, or "
                "rocm-sdk-devel); it is on no public Python index"
            )
        profiles = {target.name: target.mirage_profile for target in all_targets() if target.mirage_profile}
        profile = profiles.get(self._target)
        if profile is None:
            return f"mirage has no profile for {self._target}; it has {', '.join(profiles)}"
        return [str(mirage), "run", "--profile", profile, "--"], width_of(self._target)

    def build(self, program: Program, folder: Path, options: BuildOptions = _DEFAULT_BUILD) -> Path:
        """With hipcc, for the emulated target.

        Raises:
            BuildError: it does not build, or there is no hipcc.
        """
        hipcc = find_tool("hipcc")
        if hipcc is None:
            raise BuildError(self.probe().refusal)
        return build_with_hipcc(hipcc, program, folder, options, (self._target,))

    def run(
        self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions = _DEFAULT_RUN
    ) -> RunResult:
        """In the emulator; a machine without it gives a result that says so."""
        found = self._command()
        if isinstance(found, str):
            return RunResult(127, "", found, 0.0)
        sdma = os.environ.get("HSA_ENABLE_SDMA", "1")  # the emulated driver has copy engines
        return run_plain([*found[0], str(executable), *arguments], cwd, options, {"HSA_ENABLE_SDMA": sdma})

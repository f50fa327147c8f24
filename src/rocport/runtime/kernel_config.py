"""Fit a Triton launch configuration to a target: threads per workgroup, LDS, pipeline stages.

Triton's compiler checks neither: a kernel over the LDS limit, or with more than 1024 threads, compiles for an AMD
target and fails at launch (measured with Triton 3.9: three stages of a 128x128x64 bf16 tile ask for 96 KB on gfx942).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rocport.model import GfxTarget
from rocport.runtime.machine import target as current_target


class ConfigDoesNotFit(ValueError):
    """No number of stages makes the tile fit the target; the message says what it needs and what there is."""


@dataclass(frozen=True)
class KernelConfig:
    """`num_warps` and `num_stages` as Triton takes them; `stage_bytes` is the LDS one pipeline stage holds."""

    num_warps: int = 4
    num_stages: int = 2
    stage_bytes: int = 0
    waves_per_eu: int = 0
    """Occupancy hint of the AMD backend; 0 leaves it to the compiler."""

    def launch_options(self, amd: bool) -> dict[str, int]:
        """Keyword arguments of a kernel launch. `waves_per_eu` exists on AMD only."""
        options = {"num_warps": self.num_warps, "num_stages": self.num_stages}
        if amd and self.waves_per_eu:
            options["waves_per_eu"] = self.waves_per_eu
        return options


def triton_config(config: KernelConfig, target: GfxTarget | None = None) -> KernelConfig:
    """`config` made to fit `target` (default: this machine's AMD target; unchanged where there is none).

    `num_warps` is halved until the workgroup is within the target's limit at its wavefront width; stages are dropped
    until they fit the LDS. The AMD pipeliner keeps `num_stages - 1` tiles in LDS. Raises ConfigDoesNotFit when one
    tile alone is too large.
    """
    gfx = target or current_target()
    if gfx is None:
        return config
    warps = config.num_warps
    while warps > 1 and warps * gfx.wavefront > gfx.max_workgroup:
        warps //= 2
    if config.stage_bytes > gfx.lds_bytes:
        raise ConfigDoesNotFit(
            f"one stage needs {config.stage_bytes} bytes of LDS, {gfx.name} has {gfx.lds_bytes} per workgroup; "
            "use a smaller tile"
        )
    stages = config.num_stages
    while stages > 1 and config.stage_bytes * max(1, stages - 1) > gfx.lds_bytes:
        stages -= 1
    return replace(config, num_warps=warps, num_stages=stages)

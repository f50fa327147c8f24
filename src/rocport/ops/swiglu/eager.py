"""The specification of SwiGLU, in fp32 with one rounding at the end."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never


def run(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.swiglu`."""
    wide = gate.float()
    return (wide * torch.sigmoid(wide) * up.float()).to(gate.dtype)


TIER = Tier("eager", 100, run, never, "rocport")

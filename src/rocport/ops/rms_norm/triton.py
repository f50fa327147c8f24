"""One pass over x forward, one over x and the gradient backward."""

from __future__ import annotations

from collections.abc import Callable

import torch

from rocport.ops import norms
from rocport.ops.dispatch import Tier
from rocport.runtime.machine import Platform


def prepare(x: torch.Tensor, weight: torch.Tensor, eps: float) -> Callable[..., torch.Tensor]:
    """`run` for operands of these shapes and types."""
    call = norms.prepare(x, weight, None, eps)
    return lambda x, weight, eps: call(x, weight, None)


def run(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """See `rocport.ops.rms_norm`."""
    return norms.norm(x, weight, None, eps)


def refuse(platform: Platform, x: torch.Tensor, weight: torch.Tensor, eps: float) -> str:
    return norms.refuse_rows(platform, x)


TIER = Tier("triton", 5, run, refuse, "rocport", prepare)

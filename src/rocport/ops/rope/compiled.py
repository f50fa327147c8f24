"""The specification through torch.compile: one fused kernel."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.rope import eager
from rocport.runtime.compiling import compile
from rocport.runtime.machine import Platform


@cache
def _compiled() -> Any:
    return compile(eager.run, dynamic=True)


def run(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `rocport.ops.rope`."""
    out: tuple[torch.Tensor, torch.Tensor] = _compiled()(q, k, cos, sin, interleaved)
    return out


def refuse(
    platform: Platform, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> str:
    return "" if platform.kind != "cpu" else "compiles for seconds at the first call; on the CPU eager serves"


TIER = Tier("compiled", 30, run, refuse, "torch.compile")

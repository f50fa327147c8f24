"""The specification through torch.compile: one fused kernel."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.swiglu import eager
from rocport.runtime.compiling import compile
from rocport.runtime.machine import Platform


@cache
def _compiled() -> Any:
    return compile(eager.run, dynamic=True)


def run(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """See `rocport.ops.swiglu`."""
    out: torch.Tensor = _compiled()(gate, up)
    return out


def refuse(platform: Platform, gate: torch.Tensor, up: torch.Tensor) -> str:
    return "" if platform.kind != "cpu" else "compiles for seconds at the first call; on the CPU eager serves"


TIER = Tier("compiled", 30, run, refuse, "torch.compile")

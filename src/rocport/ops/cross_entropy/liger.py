"""Liger's Triton kernel."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier
from rocport.ops.liger import refuse_liger
from rocport.runtime.machine import Platform


def run(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """See `rocport.ops.cross_entropy`."""
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction

    # Liger writes the gradient over the logits: the copy keeps the caller's.
    result = LigerCrossEntropyFunction.apply(logits.clone(), target, None, ignore_index)
    out: torch.Tensor = result[0] if isinstance(result, tuple) else result
    return out.float()


def refuse(platform: Platform, logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> str:
    if logits.is_cuda and torch.cuda.is_current_stream_capturing():
        return "counts the targets on the host, which a graph cannot capture"
    return refuse_liger(platform, logits)


TIER = Tier("liger", 10, run, refuse, "Liger Kernel")

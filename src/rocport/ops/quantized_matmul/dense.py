"""Many rows: dequantize once, then the platform's matmul library (hipBLASLt on ROCm, cuBLAS on NVIDIA)."""

from __future__ import annotations

from collections.abc import Callable

import torch

from rocport.ops.dequantize import prepared
from rocport.ops.dispatch import Tier
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform


def prepare(
    x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, transpose: bool = True
) -> Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]:
    """`run` for x [..., K] of this shape and type: a function of x and bias."""
    dense = prepared(q, x.dtype)

    def call(x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        weight = dense() if transpose else dense().T
        return torch.nn.functional.linear(x, weight, None if bias is None else bias.to(x.dtype))

    return call


def run(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, transpose: bool = True) -> torch.Tensor:
    """See `rocport.ops.quantized_matmul`."""
    return prepare(x, q, bias, transpose)(x, bias)


def refuse(
    platform: Platform, x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, transpose: bool = True
) -> str:
    if platform.kind == "cpu":
        return "sums in the type of x on the CPU, where eager sums in fp32"
    return ""


TIER = Tier("dense", 30, run, refuse, "torch", prepare)

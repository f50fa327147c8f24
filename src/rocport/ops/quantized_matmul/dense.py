"""Many rows: dequantize once, then the platform's matmul library (hipBLASLt on ROCm, cuBLAS on NVIDIA)."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, operator
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform, platform


def run(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """See `rocport.ops.quantized_matmul`."""
    weight = operator("dequantize").select(platform(x.device), q, x.dtype).run(q, x.dtype)
    return torch.nn.functional.linear(x, weight, None if bias is None else bias.to(x.dtype))


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None) -> str:
    if platform.kind == "cpu":
        return "sums in the type of x on the CPU, where eager sums in fp32"
    return ""


TIER = Tier("dense", 30, run, refuse, "torch")

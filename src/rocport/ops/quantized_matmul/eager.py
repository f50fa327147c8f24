"""The specification of x @ W^T with W quantized: dequantize in fp32, multiply in fp32."""

from __future__ import annotations

import torch

from rocport.ops.dequantize import eager as dequantize
from rocport.ops.dispatch import Tier, never
from rocport.ops.formats import QuantTensor


def run(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, transpose: bool = True) -> torch.Tensor:
    """[..., K] times the transpose of [N, K], or times [K, N]; see `rocport.ops.quantized_matmul`."""
    weight = dequantize.run(q, torch.float32)
    out = x.float() @ (weight.T if transpose else weight)
    return (out if bias is None else out + bias.float()).to(x.dtype)


TIER = Tier("eager", 100, run, never, "rocport")

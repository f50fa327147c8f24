"""Quantized to dense.

dequantize(q: QuantTensor, dtype=None) -> [..., K] of `dtype` (default: the dense type of `q`).

fp32 multiply, then add, then one rounding: bit-exact with bitsandbytes and, in fp32, with MLX.
"""

from __future__ import annotations

import torch

from rocport.ops import library, plans
from rocport.ops.formats import Format, QuantTensor


def dequantize(q: QuantTensor, dtype: torch.dtype | None = None, *, tier: str = "") -> torch.Tensor:
    """The dense tensor; see the module."""
    serve = plans.dense if plans.direct(q.codes) else library.dequantize
    return serve(q, dtype or q.dtype, tier)


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    fmt = Format.parse("nf4b64")
    codes = torch.zeros(64 * 128, dtype=torch.uint8, device=device)
    return QuantTensor(fmt, (64, 256), torch.bfloat16, codes, torch.ones(256, device=device)), torch.bfloat16

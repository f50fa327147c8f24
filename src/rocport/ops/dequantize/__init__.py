"""Quantized to dense.

dequantize(q: QuantTensor, dtype=None) -> [..., K] of `dtype` (default: the dense type of `q`).

fp32 multiply, then add, then one rounding: bit-exact with bitsandbytes and, in fp32, with MLX.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from rocport.ops import library, plans, served
from rocport.ops.dispatch import operator
from rocport.ops.formats import Format, QuantTensor
from rocport.runtime.machine import platform


def dequantize(q: QuantTensor, dtype: torch.dtype | None = None, *, tier: str = "") -> torch.Tensor:
    """The dense tensor; see the module."""
    serve = plans.dense if served.direct(q.codes) else library.dequantize
    return serve(q, dtype or q.dtype, tier)


def prepared(q: QuantTensor, dtype: torch.dtype) -> Callable[[], torch.Tensor]:
    """`dequantize`, its tier chosen once, for what keeps a plan of its own."""
    chosen = operator("dequantize").select(platform(q.codes.device), q, dtype)
    return chosen.prepare(q, dtype) if chosen.prepare is not None else partial(chosen.run, q, dtype)


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    fmt = Format.parse("nf4b64")
    codes = torch.zeros(64 * 128, dtype=torch.uint8, device=device)
    return QuantTensor(fmt, (64, 256), torch.bfloat16, codes, torch.ones(256, device=device)), torch.bfloat16

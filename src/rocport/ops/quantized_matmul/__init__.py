"""x @ W^T with W quantized.

quantized_matmul(x: [..., K], q: [N, K], bias: [N] or None) -> [..., N] of x's type. With `transpose=False` it is x @ W
with q [K, N]. Sums are fp32. Differentiable in x and bias; W is frozen.

W may be several matrices [..., N, K]: x [..., M, K] meets them as torch.matmul's batches do, and gives [..., M, N].
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from rocport.ops import across, library, plans, served
from rocport.ops.dequantize import cases as dequantize_cases
from rocport.ops.formats import QuantTensor
from rocport.ops.gather_qmm import gather_qmm
from rocport.ops.quantized_matmul import eager


def quantized_matmul(
    x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, *, transpose: bool = True, tier: str = ""
) -> torch.Tensor:
    """Multiply by a quantized matrix, or by several; see the module. Raises ValueError when the shapes do not meet."""
    if transpose and len(q.shape) == 2 and q.shape[1] and served.direct(x):
        return plans.matmul(x, q, bias, tier)
    if len(q.shape) > 2:
        return _batched(x, q, bias, transpose, tier)
    library.check_matmul(x, q, transpose)
    if x.shape[-1] == 0:
        return eager.run(x, q, bias, transpose)
    return library.matmul(x, q, bias, tier) if transpose else across.matmul(x, q, bias, tier)


def _batched(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None, transpose: bool, tier: str) -> torch.Tensor:
    """Every matrix is an expert, and x meets each with all its rows."""
    lead = q.shape[:-2]
    if x.dim() < 2 or x.shape[-1] != q.shape[-1 if transpose else -2]:
        raise ValueError(library.apart(x, q, transpose))
    try:
        batch = torch.broadcast_shapes(x.shape[:-2], lead)  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise ValueError(library.apart(x, q, transpose)) from error
    count = math.prod(lead)
    experts = torch.arange(count, device=x.device).view(lead).expand(batch).reshape(-1)
    if len(lead) > 1:
        biases = None if q.biases is None else q.biases.flatten(0, -3)
        codes, scales = (part if q.format.flat else part.flatten(0, -3) for part in (q.codes, q.scales))
        q = replace(q, shape=(count, *q.shape[-2:]), codes=codes, scales=scales, biases=biases)
    rows = x.expand(*batch, *x.shape[-2:]).reshape(math.prod(batch), *x.shape[-2:])
    out = gather_qmm(rows, q, experts, transpose=transpose, tier=tier)
    out = out.view(*batch, *out.shape[1:])
    return out if bias is None else out + bias.to(out.dtype)


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.zeros(1, 256, device=device, dtype=torch.bfloat16), dequantize_cases(device)[0], None

"""x @ W^T with W quantized.

quantized_matmul(x: [..., K], q: [N, K], bias: [N] or None) -> [..., N] of x's type. Sums are fp32. Differentiable in x
and bias; W is frozen.
"""

from __future__ import annotations

import torch

from rocport.ops import library, plans
from rocport.ops.dequantize import cases as dequantize_cases
from rocport.ops.formats import QuantTensor


def quantized_matmul(
    x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, *, tier: str = ""
) -> torch.Tensor:
    """Multiply by a quantized matrix; see the module. Raises ValueError when the shapes do not meet."""
    if len(q.shape) != 2 or x.shape[-1] != q.shape[1]:
        raise ValueError(f"quantized_matmul: x {tuple(x.shape)} does not meet W {q.shape}")
    serve = plans.matmul if plans.direct(x) else library.matmul
    return serve(x, q, bias, tier)


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.zeros(1, 256, device=device, dtype=torch.bfloat16), dequantize_cases(device)[0], None

"""Mixture of experts: each row of x by its expert's quantized matrix, or by those of several experts.

gather_qmm(x: [T, K], q: [E, N, K], experts: [T] or [T, top] integers below E) -> [T, N] or [T, top, N]. x [T, M, K] has
M rows for each expert, and gives [T, M, N] or [T, top, M, N]. With `rows` [T], integers, it is x[rows] that meets the
experts (MLX's lhs_indices). With `transpose=False` q is [E, K, N]. Sums are fp32. Differentiable in x. What meets an
expert that is none of the E is 0, and so is its gradient; where `experts` is in the host's memory that is an IndexError
instead.
"""

from __future__ import annotations

import torch

from rocport.ops import across, library, plans, served
from rocport.ops.formats import Format, QuantTensor


def gather_qmm(
    x: torch.Tensor, q: QuantTensor, experts: torch.Tensor,
    *, rows: torch.Tensor | None = None, transpose: bool = True, tier: str = "",
) -> torch.Tensor:  # fmt: skip
    """Multiply each row by its expert; see the module. Raises ValueError when the shapes do not meet."""
    if rows is not None:
        x = x[rows]
    if transpose and x.dim() == 2 and served.direct(x):
        return plans.gather(x, q, experts, tier)
    library.check_gather(x, q, experts, transpose)
    if x.dim() == 3:
        many = x.shape[1]
        each = gather_qmm(x.flatten(0, 1), q, experts.repeat_interleave(many, 0), transpose=transpose, tier=tier)
        return each.view(x.shape[0], many, *each.shape[1:]).movedim(1, -2)
    if not transpose:
        return across.gather(x, q, experts, tier)
    return library.gather(x, q, experts, tier)


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    codes = torch.zeros(4, 64, 32, dtype=torch.int32, device=device)
    scales = torch.ones(4, 64, 4, dtype=torch.bfloat16, device=device)
    q = QuantTensor(Format.parse("affine4g64"), (4, 64, 256), torch.bfloat16, codes, scales, scales)
    x = torch.zeros(2, 256, dtype=torch.bfloat16, device=device)
    return x, q, torch.zeros(2, dtype=torch.int64, device=device)

"""One matmul a group of rows.

grouped_mm(x: [T, K], weight: [E, K, N], ends: [E] int32, rows of group e are ends[e - 1] to ends[e]) -> [T, N].
Sums are fp32. `weight` may be a transposed view of [E, N, K].
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.runtime.machine import platform


def grouped_mm(x: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor, *, tier: str = "") -> torch.Tensor:
    """Grouped matmul; see the module. Raises ValueError when the shapes do not meet."""
    if x.dim() != 2 or weight.dim() != 3 or x.shape[1] != weight.shape[1] or ends.shape != weight.shape[:1]:
        raise ValueError(
            f"grouped_mm: x {tuple(x.shape)}, weight {tuple(weight.shape)} and ends {tuple(ends.shape)} do not meet"
        )
    x, ends = x.contiguous(), ends.to(torch.int32)
    if x.shape[0] == 0:
        return x.new_empty((0, weight.shape[2]))
    out: torch.Tensor = (
        operator("grouped_mm").select(platform(x.device), x, weight, ends, tier=tier).run(x, weight, ends)
    )
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    x = torch.zeros(8, 64, dtype=torch.bfloat16, device=device)
    weight = torch.zeros(4, 32, 64, dtype=torch.bfloat16, device=device).transpose(1, 2)
    return x, weight, torch.tensor([2, 4, 6, 8], dtype=torch.int32, device=device)

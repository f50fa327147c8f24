"""What several experts said of each row, weighed and added: the end of a mixture whose rows were sorted by expert.

combine(rows: [R, D], places: [T, top] integers, weights: [T, top]) -> [T, D]: the sum over j of weights[t, j] times
rows[places[t, j]], in fp32, the weights rounded to the type of `rows` before. A place below 0 counts nothing.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.combine import eager
from rocport.ops.dispatch import operator

_operator = operator("combine")


def combine(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor, *, tier: str = "") -> torch.Tensor:
    """Weighed sums of rows; see the module. Raises ValueError when the shapes do not meet. Has no gradient."""
    if rows.dim() != 2 or places.dim() != 2 or weights.shape != places.shape:
        raise ValueError(
            f"combine: rows {tuple(rows.shape)}, places {tuple(places.shape)} and weights {tuple(weights.shape)} "
            "do not meet: expected [R, D], [T, top] and [T, top]"
        )
    rows, places, weights = rows.contiguous(), places.to(torch.int32).contiguous(), weights.to(rows.dtype).contiguous()
    if rows.numel() == 0 or places.numel() == 0:
        return rows.new_zeros((places.shape[0], rows.shape[1]))
    out: torch.Tensor = served.serve(_operator, eager.run, (rows, places, weights), tier)
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    places = torch.arange(8, dtype=torch.int32, device=device).view(4, 2)
    return torch.ones(8, 64, device=device), places, torch.ones(4, 2, device=device)

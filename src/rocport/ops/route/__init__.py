"""Where rows go that are sorted by expert: the beginning of a mixture, as `combine` is its end.

route(experts: [T, top] integers, count) -> (rows [T * top], places [T, top], ends [count]), all int32: which row of x
lies at each sorted place, where each of `experts` went, and where the rows of each of the `count` experts end. Rows
keep their order within an expert. What names none of the `count` goes last, past the last end, and has the place -1.
"""

from __future__ import annotations

import torch

from rocport.ops import served
from rocport.ops.dispatch import operator
from rocport.ops.route import eager

_operator = operator("route")


def route(
    experts: torch.Tensor, count: int, *, tier: str = ""
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """Sort rows by expert; see the module. Raises ValueError when `experts` is not [T, top]."""
    if experts.dim() != 2 or experts.is_floating_point():
        raise ValueError(f"route: experts {tuple(experts.shape)} of {experts.dtype}, expected integers [T, top]")
    if experts.numel() == 0:
        return eager.run(experts, count)
    out: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = served.serve(
        _operator, eager.run, (experts.contiguous(), count), tier
    )
    return out


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.tensor([[2, 0], [9, 2], [-1, 0]], device=device), 3

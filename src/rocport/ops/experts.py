"""Many rows by the dense matrices of their experts: sorted by expert, one grouped matmul, put back."""

from __future__ import annotations

from collections.abc import Callable

import torch

from rocport.ops import served
from rocport.ops.combine import combine
from rocport.ops.dispatch import operator
from rocport.ops.formats import QuantTensor
from rocport.ops.grouped_mm import eager as grouped_eager
from rocport.ops.route import route

_grouped_operator = operator("grouped_mm")


def _grouped(rows: torch.Tensor, weight: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = served.serve(_grouped_operator, grouped_eager.run, (rows, weight, ends), "")
    return out


def by_expert(x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """x [T, K] by those of weight [E, K, N] that `experts` [T] or [T, top] name, to [T, N] or [T, top, N]; with
    x [T * top, K] a row for each. 0 where there is no such expert."""
    top = experts.numel() // max(1, x.shape[0])
    rows, places, ends = route(experts.reshape(-1, max(1, top)), weight.shape[0])
    product = _grouped(x.index_select(0, rows), weight, ends)
    place = places.view(-1)
    out = product.index_select(0, place.clamp(min=0))
    return out.masked_fill_((place < 0).unsqueeze(1), 0).view(*experts.shape, weight.shape[2])


def mixture(
    x: torch.Tensor, gate_up: QuantTensor, down: QuantTensor, index: torch.Tensor, weights: torch.Tensor,
    act: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    dense: Callable[[QuantTensor, torch.dtype], torch.Tensor],
) -> torch.Tensor:  # fmt: skip
    """y[t] = the sum over j of weights[t, j] times down_e(act(gate_e x[t], up_e x[t])), e = index[t, j], without a
    gradient: x [T, H], gate_up [E, 2 I, H], down [E, H, I], index and weights [T, top] to [T, H]. An expert that is
    none of the E adds nothing. `dense`: what dequantizes.

    The rows are sorted once for both products and stay sorted in between."""
    rows, places, ends = route(index, gate_up.shape[0])

    def product(rows: torch.Tensor, q: QuantTensor) -> torch.Tensor:
        return _grouped(rows, dense(q, x.dtype).transpose(1, 2), ends)

    gate, up = product(x.index_select(0, rows), gate_up).chunk(2, -1)
    return combine(product(act(gate, up), down), places, weights)

"""The specification of the gathered quantized matmul: every row by its expert's matrix, in fp32."""

from __future__ import annotations

import torch

from rocport.ops.dequantize import eager as dequantize
from rocport.ops.dispatch import Tier, never
from rocport.ops.formats import QuantTensor


def run(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> torch.Tensor:
    """x [T, K], q [E, N, K] (without `transpose` [E, K, N]), experts [T] or [T, top] to [..., N]; see
    `rocport.ops.gather_qmm`."""
    weights = dequantize.run(q, torch.float32)
    weights = weights.transpose(1, 2) if transpose else weights
    out = x.new_zeros((*experts.shape, weights.shape[2]), dtype=torch.float32)
    for expert in range(q.shape[0]):
        at = (experts == expert).nonzero(as_tuple=True)
        out[at] = x[at[0]].float() @ weights[expert]
    return out.to(x.dtype)


TIER = Tier("eager", 100, run, never, "rocport")

"""The operators of `rocport.ops.codegen.calls`, cut to few rows, with their eager results."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from rocport import ops
from rocport.ops.codegen import FORMATS
from rocport.ops.dequantize import eager as dequantize_eager
from rocport.ops.dequantize import triton as dequantize
from rocport.ops.formats import Format, QuantTensor
from rocport.ops.gather_qmm import triton as gather
from rocport.ops.grouped_mm import eager as grouped_eager
from rocport.ops.grouped_mm import triton as grouped
from rocport.ops.quantize import eager as quantize_eager
from rocport.ops.quantize import triton as quantize
from rocport.ops.quantized_matmul import triton as matmul

Tensors = list[torch.Tensor]
Case = tuple[str, Callable[[], Tensors], Callable[[], Tensors], float]
N, K = 64, 4096
BF16 = 8e-3
"""Relative error of results rounded to bfloat16."""


def _parts(q: QuantTensor) -> Tensors:
    return [t for t in (q.codes, q.scales, q.biases, q.absmax2) if t is not None]


def cases() -> Iterator[Case]:
    """(label, through Triton, eager, limit of the relative error)."""
    torch.manual_seed(0)
    dense = torch.randn(N, K).bfloat16()
    for name in FORMATS:
        fmt = Format.parse(name)
        yield (
            f"quantize {name}",
            lambda fmt=fmt: _parts(quantize.run(dense, fmt)),
            lambda fmt=fmt: _parts(quantize_eager.run(dense, fmt)),
            0.0,
        )
        q = quantize_eager.run(dense, fmt)
        yield (
            f"dequantize {name}",
            lambda q=q: [dequantize.run(q, torch.bfloat16)],
            lambda q=q: [dequantize_eager.run(q, torch.bfloat16)],
            0.0,
        )
        for rows in (1, 8, 32, 64, 128):
            if rows == 1 or (32 % fmt.bits == 0 and (rows == 64 or name in ("affine4g64", "nf4b64"))):
                x = torch.randn(rows, K).bfloat16()
                yield (
                    f"matmul {name} M={rows}",
                    lambda x=x, q=q: [matmul.run(x, q)],
                    lambda x=x, q=q: [x.double() @ dequantize_eager.run(q, torch.float64).T],
                    BF16,
                )
    experts = quantize_eager.run(torch.randn(8, 16, K).bfloat16(), Format.parse("affine4g64"))
    x, index = torch.randn(8, K).bfloat16(), torch.tensor([3, 0, 7, 2, 1, 1, 5, 4])
    yield (
        "gather affine4g64",
        lambda: [gather.run(x, experts, index)],
        lambda: [torch.einsum("tk,tnk->tn", x.double(), dequantize_eager.run(experts, torch.float64)[index])],
        BF16,
    )
    weight = torch.randn(4, 64, 512).bfloat16().transpose(1, 2)
    ends = torch.tensor([20, 20, 50, 64], dtype=torch.int32)
    many = torch.randn(64, 512).bfloat16()
    yield (
        "grouped_mm T=64",
        lambda: [grouped.run(many, weight, ends)],
        lambda: [grouped_eager.run(many, weight, ends)],
        BF16,
    )
    heads, angle = torch.randn(2, 5, 6, 128).bfloat16(), torch.randn(2, 5, 64)
    yield (
        "rope",
        lambda: list(ops.rope(heads, heads, angle.cos(), angle.sin(), tier="triton")),
        lambda: list(ops.rope(heads, heads, angle.cos(), angle.sin(), tier="eager")),
        BF16,
    )
    for width in (128, 4096, 16384):
        row, w = torch.randn(5, width), torch.randn(width)
        target = torch.tensor([1, 5, -100, 99, 0])
        for label, function, inputs in (
            ("rms_norm", ops.rms_norm, (row, w)),
            ("layer_norm", ops.layer_norm, (row, w, w.flip(0))),
            ("softmax", ops.softmax, (row,)),
            ("swiglu", ops.swiglu, (row, row.flip(0))),
            ("cross_entropy", lambda y, t=target, tier="": ops.cross_entropy(y, t, tier=tier), (row,)),
        ):

            def both(
                tier: str, function: Callable[..., torch.Tensor] = function, inputs: tuple[torch.Tensor, ...] = inputs
            ) -> Tensors:
                leaves = [t.clone().requires_grad_() for t in inputs]
                out = function(*leaves, tier=tier)
                weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
                return [out.detach(), *torch.autograd.grad(out, leaves, weights)]

            yield f"{label} D={width}", lambda both=both: both("triton"), lambda both=both: both("eager"), 3e-6

"""Run under TRITON_INTERPRET=1 by test_interpreted.py: prints one JSON line a case, `[case, error or mismatches]`.

fp16 and fp32 only: the interpreter of Triton 3.9 multiplies bf16 bits as integers in a dot, and truncates fp32 to bf16.
"""

import json
import sys

import torch

from rocport import ops
from rocport.executor.torch_child.triton_run import replace_once
from rocport.ops import gather_qmm, grouped_mm, quantized_matmul  # noqa: F401
from rocport.ops.decode import arguments
from rocport.ops.dequantize import eager as dequantize_eager
from rocport.ops.dequantize import triton as dequantize_triton
from rocport.ops.gather_qmm import triton as gather_triton
from rocport.ops.grouped_mm import eager as grouped_eager
from rocport.ops.grouped_mm import triton as grouped_triton
from rocport.ops.quantize import eager as quantize_eager
from rocport.ops.quantize import triton as quantize_triton
from rocport.ops.quantized_matmul import triton as matmul

FORMATS = (
    "affine2g32", "affine2g64", "affine3g32", "affine4g32", "affine4g128", "affine5g64", "affine6g64", "affine8g128",
    "nf4b64", "fp4b32", "dynamic8b64", "mxfp4", "nvfp4", "mxfp8",
)  # fmt: skip


def say(case: str, value: float) -> None:
    print(json.dumps([case, value]), flush=True)


def relative(got: torch.Tensor, want: torch.Tensor) -> float:
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


def differing(a: ops.QuantTensor, b: ops.QuantTensor) -> int:
    pairs = [(a.codes, b.codes), (a.scales, b.scales), (a.biases, b.biases), (a.absmax2, b.absmax2)]
    return sum(int((x != y).sum()) for x, y in pairs if x is not None and y is not None)


def weights(fmt: ops.Format, columns: int, nested: bool = False, dtype: torch.dtype = torch.float32):
    """Five packed rows as a kernel takes them, and their values."""
    packed = quantize_eager.run(torch.randn(5, columns).to(dtype), fmt, nested)
    return arguments(packed), dequantize_eager.run(packed, torch.float64)


def main() -> None:
    torch.manual_seed(0)
    for name in FORMATS:
        fmt = ops.Format.parse(name)
        nested = fmt.kind in ("nf4", "fp4")
        x = torch.randn(5, 77) if fmt.flat else torch.randn(6, 256)
        x[0] = 0.0
        q = quantize_eager.run(x, fmt, nested)
        say(f"quantize {name}", differing(q, quantize_triton.run(x, fmt, nested)))
        for dtype in (torch.float32, torch.float16):
            dense, want = dequantize_triton.run(q, dtype), dequantize_eager.run(q, dtype)
            say(f"dequantize {name} {dtype}", int((dense != want).sum()))
        bias = torch.randn(5)
        long = max(128, 2 * fmt.group)  # the interpreter takes a second for 256 columns
        packed, wide = weights(fmt, long, nested)
        x = torch.randn(2, long)
        rows = matmul.run_rows(x, packed, 5, bias, None, matmul.RowsConfig(4, 4, 1))
        say(f"rows {name}", relative(rows, x.double() @ wide.T + bias.double()))
        packed, wide = weights(fmt, long, dtype=torch.float16)
        x = x[:1].half()
        rows = matmul.run_rows(x, packed, 5, None, None, matmul.RowsConfig(4, 4, 1))
        say(f"rows-half {name}", relative(rows, x.double() @ wide.T) / 500)
        if 32 % fmt.bits:
            continue
        x = torch.randn(19, 256)
        packed, wide = weights(fmt, 256, nested)
        tiles = matmul.run_tiles(x, packed, 5, bias, matmul.TileConfig(16, 16, 64, 4, 2, 2))
        say(f"tiles {name}", relative(tiles, x.double() @ wide.T + bias.double()))
        config = matmul.TileConfig(16, 16, min(32, fmt.group), 4, 2, 1)
        packed, wide = weights(fmt, 256, dtype=torch.float16)
        groups = matmul.run_tiles(x.half(), packed, 5, None, config)
        say(f"groups {name}", relative(groups, x.half().double() @ wide.T) / 500)
    experts = quantize_eager.run(torch.randn(4, 8, 64), ops.Format.parse("affine4g32"))
    x, index = torch.randn(5, 64), torch.tensor([3, 0, 0, 2, 1])
    dense = dequantize_eager.run(experts, torch.float64)[index]
    say("gather", relative(gather_triton.run(x, experts, index), torch.einsum("tk,tnk->tn", x.double(), dense)))
    weight, ends = torch.randn(4, 24, 64).transpose(1, 2), torch.tensor([2, 2, 4, 4], dtype=torch.int32)
    say("grouped", relative(grouped_triton.run(x, weight, ends), grouped_eager.run(x, weight, ends)))
    elementwise()


def elementwise() -> None:
    """Norms, activations and the loss: results and gradients of the triton tier against eager; the worst of them."""
    x, w, b = torch.randn(7, 100), torch.randn(100), torch.randn(100)
    target = torch.tensor([1, 5, -100, 99, 0, 3, 2])
    q, k, angle = torch.randn(2, 5, 6, 20), torch.randn(2, 5, 3, 20), torch.randn(2, 5, 10)

    def turned(a: torch.Tensor, c: torch.Tensor, tier: str) -> torch.Tensor:
        return torch.cat([t.flatten() for t in ops.rope(a, c, angle.cos(), angle.sin(), tier=tier)])

    def some_turned(a: torch.Tensor, c: torch.Tensor, tier: str) -> torch.Tensor:
        part = angle[..., :7]
        both = ops.rope(a[:, :3], c[:, :3], part.cos(), part.sin(), interleaved=True, offset=2, tier=tier)
        return torch.cat([t.flatten() for t in both])

    cases = {
        "rms_norm": (ops.rms_norm, (x, w)),
        "rms_norm of a strided view": (lambda a, c, tier: ops.rms_norm(a.t(), c[:7], tier=tier), (x, w)),
        "rms_norm of one row a program": (ops.rms_norm, (torch.randn(3, 1500), torch.randn(1500))),
        "layer_norm": (ops.layer_norm, (x, w, b)),
        "layer_norm of one row a program": (ops.layer_norm, (torch.randn(3, 1500), *torch.randn(2, 1500))),
        "softmax": (ops.softmax, (x,)),
        "softmax of one row a program": (ops.softmax, (torch.randn(3, 1500),)),
        "swiglu": (ops.swiglu, (x, x.flip(0))),
        "cross_entropy": (lambda y, tier: ops.cross_entropy(y, target, tier=tier), (x,)),
        "cross_entropy of long rows": (
            lambda y, tier: ops.cross_entropy(y, target[:2], tier=tier),
            (torch.randn(2, 5000),),
        ),
        "rope": (turned, (q, k)),
        "rope of neighbours, of a part of the head, from a position on": (some_turned, (q, k)),
    }
    for name, (function, inputs) in cases.items():
        results = []
        for tier in ("triton", "eager"):
            leaves = [t.clone().requires_grad_() for t in inputs]
            out = function(*leaves, tier=tier)
            torch.manual_seed(1)
            results.append((out, *torch.autograd.grad(out, leaves, torch.randn(out.shape))))
        say(
            f"elementwise {name}",
            max(relative(got.detach(), want.detach()) for got, want in zip(*results, strict=True)),
        )
    halves = torch.randn(5, 1400).chunk(2, 1)
    say("elementwise swiglu of halves", relative(*(ops.swiglu(*halves, tier=tier) for tier in ("triton", "eager"))))
    places = torch.tensor([[6, 0, 3], [-1, 2, 2], [-1, -1, -1]])
    rows = torch.randn(7, 2100, generator=torch.Generator().manual_seed(2))
    summed = [ops.combine(rows, places, x[:3, :3], tier=t) for t in ("triton", "eager")]
    say("elementwise combine", relative(*summed) if not summed[0][2].any() else 1.0)
    lost = torch.tensor([[-1, 2, 1]])
    endless = torch.tensor([[float("inf"), 1.0, 2.0]])
    summed = [ops.combine(rows, lost, endless, tier=t) for t in ("triton", "eager")]
    say("elementwise combine of a lost row with an endless weight", relative(*summed))
    for rows, experts in ((300, 5), (1, 130), (3, 1)):
        picks = torch.randint(-1, experts + 1, (rows, 3), generator=torch.Generator().manual_seed(3))
        pair = [ops.route(picks, experts, tier=tier) for tier in ("triton", "eager")]
        say(f"route {rows} {experts}", 0.0 if all(map(torch.equal, *pair)) else 1.0)
    hidden = x.clone()
    hidden[0, 3:] = float("-inf")
    hidden[1] = 1e4
    pair = [ops.cross_entropy(hidden, target.abs() % 3, tier=tier) for tier in ("triton", "eager")]
    say("elementwise cross_entropy with -inf and 1e4", abs((pair[0] - pair[1]) / pair[1]).item())
    nothing = ops.cross_entropy(x, torch.full((7,), -100), tier="triton")
    say("elementwise cross_entropy of ignored rows is NaN", 0.0 if nothing.isnan() else 1.0)


if __name__ == "__main__":
    replace_once()
    sys.exit(main())

"""What the tiers of a GPU compute beside the specification: masks, sinks, batches, products along the columns."""

import pytest
import torch
from ops_support import relative

from rocport import ops

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that PyTorch sees")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("kind", ["booleans", "numbers", "sinks", "sinks and window", "narrow values"])
def test_attention(kind, dtype):
    def random(*shape):
        return torch.randn(*shape, device="cuda").to(dtype).requires_grad_()

    q, k, v = random(2, 40, 8, 64), random(2, 56, 2, 64), random(2, 56, 2, 32 if kind == "narrow values" else 64)
    seen = torch.rand(2, 1, 40, 56, device="cuda") < 0.6
    seen[:, :, 3] = False
    wanted, options = [q, k, v], {}
    if kind == "booleans":
        options = {"mask": seen}
    elif kind == "numbers":
        options = {"mask": torch.randn(2, 8, 40, 56, device="cuda").to(dtype).masked_fill(~seen, float("-inf"))}
    elif kind.startswith("sinks"):
        options = {"sinks": random(8), "causal": True} | ({"window": (9, 0)} if "window" in kind else {})
        wanted.append(options["sinks"])
    found = {}
    for tier in ("eager", ""):
        out = ops.sdpa(q, k, v, tier=tier, **options)
        found[tier] = (out, *torch.autograd.grad(out.float().square().sum(), wanted))
    limit = 2e-2 if dtype == torch.bfloat16 else 2e-3
    for ours, want in zip(found[""], found["eager"], strict=True):
        assert relative(ours.float(), want.float()) < limit


@pytest.mark.parametrize("name", ["affine4g64", "nf4b64", "mxfp4"])
@pytest.mark.parametrize("transpose", [True, False])
def test_batches_and_rows_an_expert(name, transpose):
    torch.manual_seed(0)
    q = ops.quantize(torch.randn(4, 128, 256, device="cuda"), name)
    dense = ops.dequantize(q, torch.float32)
    dense = dense.transpose(1, 2) if transpose else dense
    for rows in (1, 3, 40):
        x = torch.randn(4, rows, dense.shape[1], device="cuda").bfloat16().requires_grad_()
        out = ops.quantized_matmul(x, q, transpose=transpose)
        assert relative(out.float(), x.float() @ dense) < 5e-3
        grad = torch.randn_like(out)
        (got,) = torch.autograd.grad(out, x, grad)
        assert relative(got.float(), grad.float() @ dense.transpose(1, 2)) < 1e-2
        experts = torch.tensor([[3, 1], [0, 0], [2, 3], [9, -1]], device="cuda")
        out = ops.gather_qmm(x, q, experts, transpose=transpose)
        want = x.float().unsqueeze(1) @ dense[experts.clamp(0, 3)]
        want[3] = 0
        assert relative(out.float(), want) < 5e-3
    one = ops.QuantTensor(q.format, (128, 256), q.dtype, *(p if p is None else p.flatten()[: p.numel() // 4].view(
        p.shape[1:] if p.dim() > 1 else -1) for p in q.parts[:3]))  # fmt: skip
    x = torch.randn(5, dense.shape[1], device="cuda").bfloat16()
    assert relative(ops.quantized_matmul(x, one, transpose=transpose).float(), x.float() @ dense[0]) < 5e-3


def test_an_empty_matrix_and_a_turn_without_queries():
    q = ops.quantize(torch.randn(4, 0, device="cuda"), "affine4g64")
    assert not ops.quantized_matmul(torch.randn(3, 0, device="cuda"), q).any()
    q, k, angle = torch.randn(1, 5, 0, 16), torch.randn(1, 5, 1, 16), torch.randn(5, 8)
    turned = ops.rope(q.cuda(), k.cuda(), angle.cos().cuda(), angle.sin().cuda())
    torch.testing.assert_close(turned[1].cpu(), ops.rope(q, k, angle.cos(), angle.sin())[1])

"""What the tiers of a GPU compute beside the specification: masks, sinks, batches, products along the columns."""

import copy

import pytest
import torch
from ops_support import relative

from rocport import ops
from rocport.ops.optim import AdamW8bit, Lion8bit, SGD8bit

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


@pytest.mark.parametrize("name", ["affine4g64", "nf4b64"])
def test_a_product_waits_for_what_the_kernel_before_wrote(name):
    """Each product takes the one before as x, and some a weight that was written just before: launched while the kernel
    before ends (compute capability 9.0), alone and in a graph, they give what one at a time gives."""
    torch.manual_seed(0)
    packed = [ops.quantize(torch.randn(4096, 4096, device="cuda").bfloat16() / 64, name) for _ in range(4)]
    changing = ops.quantize(torch.randn(4096, 4096, device="cuda").bfloat16(), name)
    first = torch.randn(1, 4096, device="cuda").bfloat16()

    def chain(wait):
        x = first
        for step in range(40):
            source = packed[step % 4]
            if step % 3 == 0:
                for to, part in zip(changing.parts, source.parts, strict=True):
                    if part is not None:
                        to.copy_(part)
                source = changing
            x = ops.quantized_matmul(x, source)
            if wait:
                torch.cuda.synchronize()
        return x

    want = chain(True)
    assert torch.isfinite(want).all() and want.any()
    assert torch.equal(chain(False), want)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = chain(False)
    for _ in range(3):
        out.zero_()
        graph.replay()
        assert torch.equal(out, want)


@pytest.mark.parametrize("make", [AdamW8bit, Lion8bit, SGD8bit])
def test_paged_state_lies_in_the_hosts_memory_and_changes_nothing(make):
    def run(paged, state=None, first=0, start=None):
        torch.manual_seed(0)
        leaves = [torch.nn.Parameter(torch.randn(n, device="cuda")) for n in (300_000, 5000, 150_001)]
        if start is not None:
            for leaf, value in zip(leaves, start, strict=True):
                leaf.data.copy_(value)
        optimizer = make(leaves, lr=1e-2, paged=paged)
        if state is not None:
            optimizer.load_state_dict(state)
        for step in range(first, 5):
            for leaf in leaves:
                torch.manual_seed(step)
                leaf.grad = leaf.detach() + torch.randn(leaf.shape, device="cuda")
            optimizer.step()
        return [leaf.detach().clone() for leaf in leaves], optimizer

    want, _ = run(False)
    got, optimizer = run(True)
    assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))
    held = optimizer.state_dict()["state"]
    where = [held[at]["m"].device.type for at in range(3)]
    assert where == ["cpu", "cuda", "cpu"] and held[0]["m"].is_pinned() and held[0]["m"].dtype == torch.uint8
    # From paged state to unpaged and back.
    want, _ = run(False, copy.deepcopy(optimizer.state_dict()), 3, got)
    again, optimizer = run(True, copy.deepcopy(optimizer.state_dict()), 3, got)
    assert all(torch.equal(a, b) for a, b in zip(again, want, strict=True))
    assert optimizer.state_dict()["state"][2]["m"].is_pinned()


@pytest.mark.parametrize("form", ["affine4g64", "nf4b64"])
def test_a_mixture_whose_rows_stay_sorted(form):
    """Many rows an expert: sorted once for both products, against each product for itself."""
    from rocport.ops.modules import SwitchExperts, SwitchLinear

    torch.manual_seed(0)
    both, down = (torch.randn(8, *shape, device="cuda").bfloat16() / 16 for shape in ((384, 256), (256, 192)))
    layer = SwitchExperts(SwitchLinear.from_weight(both, form), SwitchLinear.from_weight(down, form), torch.nn.SiLU())
    x, weights = torch.randn(300, 256, device="cuda").bfloat16(), torch.rand(300, 3, device="cuda")
    index = torch.randint(0, 8, (300, 3), device="cuda")
    index[5], index[7, 1] = 9, -1
    with torch.no_grad():
        assert layer._sorted(x, index, weights)
        got = layer(x, index, weights)
    leaf = x.clone().requires_grad_()
    assert not layer._sorted(leaf, index, weights)
    assert relative(got.float(), layer(leaf, index, weights).detach().float()) < 6e-3
    assert not got[5].any()

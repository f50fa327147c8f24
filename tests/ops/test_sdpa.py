import sys
from types import SimpleNamespace

import pytest
import torch
from ops_support import relative, to_torch

from rocport import ops
from rocport.ops.sdpa import visible

SHAPES = [(16, 16, 4, 4, 64), (7, 19, 8, 2, 64), (1, 33, 8, 1, 128), (20, 5, 4, 2, 64), (9, 9, 2, 2, 256)]
"""Sq, Sk, H, Hkv, D."""


def _inputs(shape):
    torch.manual_seed(0)
    sq, sk, heads, kv, dim = shape
    return torch.randn(2, sq, heads, dim), torch.randn(2, sk, kv, dim), torch.randn(2, sk, kv, dim)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tier", ["eager", ""])
def test_attention_is_mlx(mx, shape, causal, tier):
    q, k, v = _inputs(shape)
    if causal and shape[0] > shape[1]:
        pytest.skip("queries that see no key: NaN in MLX, 0 here (its own test)")
    heads_first = [mx.array(t.transpose(1, 2).contiguous().numpy()) for t in (q, k, v)]
    mask = "causal" if causal else None
    want = mx.fast.scaled_dot_product_attention(*heads_first, scale=shape[4] ** -0.5, mask=mask)
    out = ops.sdpa(q, k, v, causal=causal, tier=tier)
    assert out.shape == q.shape
    assert relative(out, to_torch(want).transpose(1, 2)) < 5e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", [(3, 0), (0, 0), (4, 2), (-1, 3), (5, -1)])
def test_tiers_agree_on_windows(shape, window):
    q, k, v = _inputs(shape)
    eager = ops.sdpa(q, k, v, window=window, tier="eager")
    assert torch.isfinite(eager).all()
    torch.testing.assert_close(ops.sdpa(q, k, v, window=window), eager, rtol=1e-4, atol=1e-5)


def test_causal_is_aligned_at_the_bottom_right():
    """A decode step sees every key; the top-left mask of the porting procedure's sample let it see one."""
    assert visible(1, 4, -1, 0, torch.device("cpu")).all()
    assert visible(2, 4, -1, 0, torch.device("cpu")).tolist() == [[True, True, True, False], [True] * 4]
    q, k, v = _inputs((1, 33, 8, 1, 128))
    torch.testing.assert_close(ops.sdpa(q, k, v, causal=True), ops.sdpa(q, k, v))


def test_a_query_that_sees_no_key_gets_zero():
    q, k, v = _inputs((20, 5, 4, 2, 64))
    out = ops.sdpa(q, k, v, causal=True)
    assert not out[:, :15].any() and out[:, 15:].any()
    assert "NaN" in next(
        row.refused
        for row in ops.operator("sdpa").explain(ops.dispatch.Platform("cpu"), q, k, v, -1, 0, 0.125)
        if row.tier == "pytorch"
    )


def test_heads_are_grouped_in_order():
    q, k, v = _inputs((5, 5, 4, 2, 64))
    out = ops.sdpa(q, k, v)
    for head in range(4):
        alone = ops.sdpa(q[:, :, head : head + 1], k[:, :, head // 2 :][:, :, :1], v[:, :, head // 2 :][:, :, :1])
        torch.testing.assert_close(out[:, :, head : head + 1], alone)


def test_gradients_and_empty_and_bad_shapes():
    q, k, v = (t.requires_grad_() for t in _inputs((6, 8, 4, 2, 64)))
    grads = {}
    for tier in ("eager", "pytorch"):
        out = ops.sdpa(q, k, v, causal=True, tier=tier)
        grads[tier] = torch.autograd.grad(out.square().sum(), (q, k, v))
    for ours, want in zip(grads["pytorch"], grads["eager"], strict=True):
        assert relative(ours, want) < 1e-5
    assert ops.sdpa(q[:, :0], k, v).shape == (2, 0, 4, 64)
    assert not ops.sdpa(q, k[:, :0], v[:, :0]).any()
    with pytest.raises(ValueError, match="4 query heads are not a multiple of 3"):
        ops.sdpa(torch.randn(1, 2, 4, 8), torch.randn(1, 2, 3, 8), torch.randn(1, 2, 3, 8))
    with pytest.raises(ValueError, match="expected \\[batch, sequence, heads, dim\\]"):
        ops.sdpa(torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8))


def test_aiter_is_called_as_its_signature_asks(monkeypatch):
    """aiter needs an AMD GPU to be imported: a function with its signature (ROCm/aiter e4048607a5) stands for it, and
    asserts what it asserts."""
    from rocport.ops.sdpa import aiter, eager

    def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1, 0), **options):
        graded = torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v))
        assert not graded or options["return_lse"]
        out = eager.run(q, k, v, window_size[0], 0 if causal else window_size[1], softmax_scale)
        return (out, None) if options["return_lse"] else out

    monkeypatch.setitem(sys.modules, "aiter", SimpleNamespace(flash_attn_func=flash_attn_func))
    q, k, v = _inputs((7, 19, 8, 2, 64))
    for left, right in ((-1, 0), (-1, -1), (5, 0), (3, 2)):
        torch.testing.assert_close(aiter.run(q, k, v, left, right, 0.125), eager.run(q, k, v, left, right, 0.125))
    out = aiter.run(q.requires_grad_(), k, v, -1, 0, 0.125)
    assert torch.autograd.grad(out.sum(), q)[0].isfinite().all()


MASKS = {
    "keys of a sequence": lambda: torch.arange(19) < torch.tensor([19, 11]).view(2, 1, 1, 1),
    "each query its keys": lambda: torch.rand(7, 19) < 0.6,
    "added to heads": lambda: torch.randn(8, 7, 19),
    "added, with -inf": lambda: torch.randn(2, 1, 7, 19).masked_fill(torch.rand(2, 1, 7, 19) < 0.5, float("-inf")),
}


@pytest.mark.parametrize("name", sorted(MASKS))
@pytest.mark.parametrize("tier", ["eager", "pytorch"])
def test_array_masks_are_mlx(mx, name, tier):
    q, k, v = _inputs((7, 19, 8, 2, 64))
    mask = MASKS[name]()
    heads_first = [mx.array(t.transpose(1, 2).contiguous().numpy()) for t in (q, k, v)]
    want = mx.fast.scaled_dot_product_attention(*heads_first, scale=0.125, mask=mx.array(mask.numpy()))
    assert relative(ops.sdpa(q, k, v, mask=mask, tier=tier), to_torch(want).transpose(1, 2)) < 5e-6


@pytest.mark.parametrize("tier", ["eager", "pytorch"])
@pytest.mark.parametrize("masked", [False, True])
def test_sinks_are_mlx(mx, tier, masked):
    q, k, v = _inputs((7, 19, 8, 2, 64))
    sinks, mask = torch.randn(8), torch.rand(7, 19) < 0.6 if masked else None
    heads_first = [mx.array(t.transpose(1, 2).contiguous().numpy()) for t in (q, k, v)]
    options = {"mask": mx.array(mask.numpy()) if masked else "causal", "sinks": mx.array(sinks.numpy())}
    want = mx.fast.scaled_dot_product_attention(*heads_first, scale=0.125, **options)
    out = ops.sdpa(q, k, v, causal=not masked, mask=mask, sinks=sinks, tier=tier)
    assert relative(out, to_torch(want).transpose(1, 2)) < 5e-6


@pytest.mark.parametrize("tier", ["eager", "pytorch"])
def test_values_of_another_width_are_mlx(mx, tier):
    q, k, _ = _inputs((7, 19, 8, 2, 64))
    v = torch.randn(2, 19, 2, 48)
    heads_first = [mx.array(t.transpose(1, 2).contiguous().numpy()) for t in (q, k, v)]
    want = mx.fast.scaled_dot_product_attention(*heads_first, scale=0.125)
    out = ops.sdpa(q, k, v, tier=tier)
    assert out.shape == (2, 7, 8, 48) and relative(out, to_torch(want).transpose(1, 2)) < 5e-6


@pytest.mark.parametrize("kind", ["booleans", "numbers", "sinks", "window"])
def test_gradients_with_masks_and_sinks(kind):
    """Query 3 sees no key: its output and its gradients are 0, no NaN."""
    q, k, v = (t.requires_grad_() for t in _inputs((6, 8, 4, 2, 64)))
    seen = torch.rand(6, 8) < 0.7
    seen[3] = False
    wanted, options = [q, k, v], {"mask": seen}
    if kind == "numbers":
        mask = torch.randn(2, 4, 6, 8).masked_fill(~seen, float("-inf")).requires_grad_()
        wanted, options = [*wanted, mask], {"mask": mask}
    elif kind == "sinks":
        sinks = torch.randn(4, requires_grad=True)
        wanted, options = [*wanted, sinks], {"mask": seen, "sinks": sinks, "window": (2, 2)}
    elif kind == "window":
        options = {"mask": seen, "window": (2, 2)}
    results = {}
    for tier in ("eager", "pytorch"):
        out = ops.sdpa(q, k, v, tier=tier, **options)
        assert not out[:, 3].any()
        results[tier] = (out, *torch.autograd.grad(out.square().sum(), wanted))
    for ours, want in zip(results["pytorch"], results["eager"], strict=True):
        assert relative(ours, want) < 1e-5


def test_masks_and_sinks_that_do_not_meet_are_named():
    q, k, v = _inputs((6, 8, 4, 2, 64))
    for options, message in (
        ({"mask": torch.ones(5, 8, dtype=torch.bool)}, r"mask \(5, 8\) does not broadcast"),
        ({"mask": torch.ones(6, 8, dtype=torch.int64)}, "expected booleans or numbers"),
        ({"sinks": torch.ones(2)}, "each of 4 query heads"),
    ):
        with pytest.raises(ValueError, match=message):
            ops.sdpa(q, k, v, **options)
    half = [t.half() for t in (q, k, v)]
    rows = ops.operator("sdpa").explain(
        ops.dispatch.Platform("cpu"), *half, -1, -1, 0.125, torch.zeros(1, 1, 6, 8), None
    )
    assert "rounds what is added from torch.float32" in rows[1].refused and rows[-1].chosen


def test_a_mask_of_one_column_and_sinks():
    q, k, v = torch.randn(1, 3, 2, 8), torch.randn(1, 5, 2, 8), torch.randn(1, 5, 2, 8)
    options = {"mask": torch.ones(1, 1, 3, 1, dtype=torch.bool), "sinks": torch.randn(2)}
    eager = ops.sdpa(q, k, v, **options, tier="eager")
    torch.testing.assert_close(ops.sdpa(q, k, v, **options, tier="pytorch"), eager)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("scale", [0.125, 4.0])
def test_sinks_beyond_the_range_of_the_type(dtype, scale):
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 3, 4, 64).to(dtype) for _ in range(3))
    sinks = torch.tensor([float("-inf"), 60000.0, -60000.0, 0.5])
    options = {"sinks": sinks.to(dtype), "causal": True, "scale": scale}
    eager = ops.sdpa(q, k, v, **options, tier="eager")
    assert eager[:, :, 0].any() and not eager[:, :, 1].any()
    torch.testing.assert_close(ops.sdpa(q, k, v, **options, tier="pytorch"), eager, rtol=2e-2, atol=2e-2)

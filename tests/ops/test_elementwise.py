"""Norms, rope, swiglu, softmax, cross entropy: forward and backward, against MLX and fp64."""

import pytest
import torch
from ops_support import relative, to_torch

from rocport import ops

TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 4e-3}
X, WEIGHT, BIAS = torch.randn(6, 5, 96), torch.randn(96), torch.randn(96)


REFERENCES = {
    "rms_norm": (
        lambda x, w: ops.rms_norm(x, w, 1e-6),
        lambda x, w: x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * w,
        (X, WEIGHT),
    ),
    "layer_norm": (
        lambda x, w, b: ops.layer_norm(x, w, b, 1e-5),
        lambda x, w, b: (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt() * w + b,
        (X, WEIGHT, BIAS),
    ),
    "swiglu": (ops.swiglu, lambda g, u: g / (1 + (-g).exp()) * u, (X, X.flip(0))),
    "softmax": (ops.softmax, lambda x: x.exp() / x.exp().sum(-1, keepdim=True), (X,)),
}


@pytest.mark.parametrize("name", sorted(REFERENCES))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_forward_and_backward_against_float64(name, dtype):
    ours, reference, tensors = REFERENCES[name]
    inputs = [t.detach().clone().to(dtype).requires_grad_() for t in tensors]
    wide = [t.detach().double().requires_grad_() for t in inputs]
    out, want = ours(*inputs), reference(*wide)
    assert out.dtype == dtype and relative(out.detach(), want.detach()) < TOLERANCE[dtype]
    grad = torch.randn_like(out)
    for got, expected in zip(
        torch.autograd.grad(out, inputs, grad), torch.autograd.grad(want, wide, grad.double()), strict=True
    ):
        assert relative(got, expected) < 3 * TOLERANCE[dtype]


def test_norms_are_mlx(mx):
    x, w, b = (mx.array(t.numpy()) for t in (X, WEIGHT, BIAS))
    assert relative(ops.rms_norm(X, WEIGHT, 1e-5), to_torch(mx.fast.rms_norm(x, w, 1e-5))) < 2e-6
    assert relative(ops.rms_norm(X, None, 1e-5), to_torch(mx.fast.rms_norm(x, None, 1e-5))) < 2e-6
    assert relative(ops.layer_norm(X, WEIGHT, BIAS, 1e-5), to_torch(mx.fast.layer_norm(x, w, b, 1e-5))) < 2e-6


def _angles(length: int, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    frequency = 10000.0 ** (-torch.arange(0, dim, 2) / dim)
    angle = torch.outer(torch.arange(length).float(), frequency)
    return angle.cos(), angle.sin()


def test_rope_is_mlx(mx):
    q, k = torch.randn(2, 7, 4, 32), torch.randn(2, 7, 2, 32)
    cos, sin = _angles(7, 32)
    turned = ops.rope(q, k, cos, sin)
    for got, given in zip(turned, (q, k), strict=True):
        heads_first = mx.array(given.transpose(1, 2).contiguous().numpy())
        want = mx.fast.rope(heads_first, 32, traditional=False, base=10000.0, scale=1.0, offset=0)
        assert relative(got, to_torch(want).transpose(1, 2)) < 1e-5
    assert torch.equal(ops.rope(q, k, cos.expand(2, 7, 16), sin.expand(2, 7, 16))[0], turned[0])


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dims", [32, 12])
def test_rope_of_a_part_of_the_head_and_of_neighbours_is_mlx(mx, interleaved, dims):
    q, k = torch.randn(2, 7, 4, 32), torch.randn(2, 7, 2, 32)
    turned = ops.rope(q, k, *_angles(12, dims), interleaved=interleaved, offset=5)
    for got, given in zip(turned, (q, k), strict=True):
        heads_first = mx.array(given.transpose(1, 2).contiguous().numpy())
        want = mx.fast.rope(heads_first, dims, traditional=interleaved, base=10000.0, scale=1.0, offset=5)
        assert relative(got, to_torch(want).transpose(1, 2)) < 1e-5


@pytest.mark.parametrize("name", ["cross_entropy", "layer_norm", "rms_norm", "rope", "softmax", "swiglu"])
def test_compiles_to_one_graph(name):
    # The first call of a process loads the tiers, which a compiler cannot follow: each operator broke the graph there.
    angle, target = torch.randn(5, 16), torch.arange(5)
    function = {
        "cross_entropy": lambda t: ops.cross_entropy(t, target),
        "layer_norm": lambda t: ops.layer_norm(t, t[0], t[1]),
        "rms_norm": lambda t: ops.rms_norm(t, t[0]),
        "rope": lambda t: ops.rope(t.view(1, 5, 2, 32), t.view(1, 5, 2, 32), angle.cos(), angle.sin())[0],
        "softmax": ops.softmax,
        "swiglu": lambda t: ops.swiglu(t, t),
    }[name]
    torch._dynamo.reset()
    ops.operator(name)._tiers = None
    x = torch.randn(5, 64, requires_grad=True)
    out = torch.compile(function, backend="eager", fullgraph=True)(x)
    torch.testing.assert_close(out, function(x))
    assert out.requires_grad


def test_rope_gradient_turns_back():
    q, k = torch.randn(1, 5, 2, 16, requires_grad=True), torch.randn(1, 5, 1, 16)
    cos, sin = _angles(5, 16)
    grad = torch.randn(1, 5, 2, 16)
    ops.rope(q, k, cos, sin)[0].backward(grad)
    torch.testing.assert_close(q.grad, ops.rope(grad, k, cos, -sin)[0])


def test_cross_entropy():
    logits = torch.randn(9, 50, requires_grad=True)
    target = torch.randint(0, 50, (9,))
    target[4] = -100
    loss = ops.cross_entropy(logits, target)
    want = torch.nn.functional.cross_entropy(logits.double(), target)
    assert relative(loss.detach(), want.detach()) < 2e-6
    (got,) = torch.autograd.grad(loss, logits)
    (expected,) = torch.autograd.grad(want, logits)
    assert relative(got, expected) < 2e-6
    assert torch.isnan(ops.cross_entropy(logits, torch.full((9,), -100)))


def test_empty_and_mismatched():
    assert ops.rms_norm(torch.empty(0, 96), WEIGHT).shape == (0, 96)
    assert ops.softmax(torch.empty(3, 0)).shape == (3, 0)
    with pytest.raises(ValueError, match="do not meet"):
        ops.rms_norm(X, WEIGHT[:10])
    with pytest.raises(ValueError, match="do not meet"):
        ops.swiglu(X, X[0])
    with pytest.raises(ValueError, match="do not meet"):
        ops.rope(torch.randn(1, 5, 2, 16), torch.randn(1, 5, 1, 16), *_angles(4, 16))
    with pytest.raises(ValueError, match="do not meet"):
        ops.cross_entropy(torch.randn(3, 5), torch.zeros(4, dtype=torch.int64))

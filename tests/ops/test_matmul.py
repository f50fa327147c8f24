import pytest
import torch
from ops_support import relative, to_torch

from rocport import ops
from rocport.ops import library
from rocport.ops.formats import as_int32

FORMATS = ["affine2g32", "affine3g64", "affine4g64", "affine6g128", "affine8g32", "nf4b64", "fp4b32", "mxfp4", "nvfp4"]


@pytest.mark.parametrize("name", [*FORMATS, "mxfp8", "dynamic8b64"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.bfloat16, 4e-3)])
def test_matmul_against_float64(name, dtype, tolerance):
    torch.manual_seed(1)
    q = ops.quantize(torch.randn(40, 256), name)
    dense = ops.dequantize(q, torch.float32).double()
    for shape in ((256,), (1, 256), (3, 5, 256)):
        x = torch.randn(shape).to(dtype)
        bias = torch.randn(40)
        out = ops.quantized_matmul(x, q, bias)
        assert out.shape == (*shape[:-1], 40) and out.dtype == dtype
        assert relative(out, x.double() @ dense.T + bias.double()) < tolerance


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_matmul_and_gather_are_mlx(mx, bits):
    torch.manual_seed(2)
    weight = mx.array(torch.randn(6, 32, 128).numpy())
    codes, scales, biases = mx.quantize(weight, bits=bits, group_size=64)
    fmt = ops.Format.parse(f"affine{bits}g64")
    parts = (as_int32(to_torch(codes)), to_torch(scales), to_torch(biases))
    q = ops.QuantTensor(fmt, (6, 32, 128), torch.float32, *parts)
    x = torch.randn(9, 128)
    experts = torch.tensor([0, 5, 2, 2, 1, 0, 4, 3, 5])
    options = {"bits": bits, "group_size": 64, "transpose": True}
    one = mx.quantized_matmul(mx.array(x.numpy()), codes[0], scales[0], biases[0], **options)
    q0 = ops.QuantTensor(fmt, (32, 128), torch.float32, *(part[0] for part in parts))
    assert relative(ops.quantized_matmul(x, q0), to_torch(one)) < 2e-6
    index = mx.array(experts.int().numpy())
    gathered = mx.gather_qmm(mx.array(x.numpy()[:, None]), codes, scales, biases, rhs_indices=index, **options)
    assert relative(ops.gather_qmm(x, q, experts), to_torch(gathered)[:, 0]) < 2e-6


def test_gradients_go_through_x_and_bias_and_not_the_weight():
    q = ops.quantize(torch.randn(16, 64), "nf4b64", nested=True)
    x = torch.randn(2, 3, 64, requires_grad=True)
    bias = torch.zeros(16, requires_grad=True)
    grad = torch.randn(2, 3, 16)
    ops.quantized_matmul(x, q, bias).backward(grad)
    torch.testing.assert_close(x.grad, grad @ ops.dequantize(q))
    torch.testing.assert_close(bias.grad, grad.sum((0, 1)))


def test_gather_gradient():
    q = ops.quantize(torch.randn(4, 16, 64), "affine4g32")
    x = torch.randn(5, 64, requires_grad=True)
    experts = torch.tensor([3, 0, 0, 2, 1])
    grad = torch.randn(5, 16)
    ops.gather_qmm(x, q, experts).backward(grad)
    want = torch.einsum("tn,tnk->tk", grad, ops.dequantize(q)[experts])
    torch.testing.assert_close(x.grad, want)


def test_grouped_matmul_and_its_uneven_groups():
    x, weight = torch.randn(10, 24), torch.randn(4, 32, 24).transpose(1, 2)
    ends = torch.tensor([3, 3, 9, 9])
    out = ops.grouped_mm(x, weight, ends)
    assert relative(out[:3], x[:3] @ weight[0]) < 2e-6
    assert relative(out[3:9], x[3:9] @ weight[2]) < 2e-6
    assert not out[9:].any(), "rows past the last end are zero"


def test_empty_and_strided_inputs():
    q = ops.quantize(torch.randn(16, 64), "affine4g64")
    assert ops.quantized_matmul(torch.empty(0, 64), q).shape == (0, 16)
    x = torch.randn(64, 5).t()
    torch.testing.assert_close(ops.quantized_matmul(x, q), ops.quantized_matmul(x.contiguous(), q))
    experts = ops.quantize(torch.randn(2, 16, 64), "affine4g64")
    assert ops.gather_qmm(torch.empty(0, 64), experts, torch.empty(0, dtype=torch.int64)).shape == (0, 16)


def test_shapes_that_do_not_meet_are_named():
    q = ops.quantize(torch.randn(16, 64), "affine4g64")
    with pytest.raises(ValueError, match=r"\(2, 32\) does not meet W \(16, 64\)"):
        ops.quantized_matmul(torch.randn(2, 32), q)
    with pytest.raises(ValueError, match="gather_qmm"):
        ops.gather_qmm(torch.randn(2, 64), q, torch.tensor([0, 0]))


@pytest.mark.parametrize("outlier", [False, True])
def test_int8_linear(outlier):
    torch.manual_seed(3)
    weight, x = torch.randn(48, 64), torch.randn(20, 64)
    if outlier:
        x[3, 7] = 40.0
    absmax = weight.abs().amax(-1)
    codes = torch.round(weight * (127 / absmax).unsqueeze(1)).to(torch.int8)
    out = ops.int8_linear(x, codes, absmax)
    assert relative(out, x @ weight.T) < 0.012
    assert relative(ops.int8_linear(x, codes, absmax, threshold=0.0), x @ weight.T) < (0.2 if outlier else 0.012)


def test_adamw8bit_follows_adamw():
    torch.manual_seed(4)
    hyper = ops.adamw8bit
    from rocport.ops.adamw8bit import Hyper, State

    p = torch.randn(512)
    dense = p.clone().requires_grad_()
    optimizer = torch.optim.AdamW([dense], lr=1e-2, weight_decay=0.0)
    signed = ops.tables.table("dynamic8", torch.device("cpu"))
    codes = torch.full((512,), int(torch.searchsorted(signed, torch.tensor(0.0))), dtype=torch.uint8)
    state = State(codes, codes.clone(), torch.zeros(2), torch.zeros(2), signed, signed)
    for step in range(1, 21):
        grad = torch.randn(512)
        hyper(p, grad, state, Hyper(step, 1e-2))
        dense.grad = grad
        optimizer.step()
    assert relative(p, dense.detach()) < 0.05


@pytest.mark.parametrize("wrong", [7, -1, -5])
def test_an_expert_out_of_range_is_an_error_on_the_host_and_zeros_on_the_device(wrong):
    """These rows were uninitialised memory: 7, -1 and -5 of 4 experts gave values of 1e32 that changed."""
    q = ops.quantize(torch.randn(4, 16, 64), "affine4g64")
    x, experts = torch.randn(3, 64), torch.tensor([0, wrong, 3])
    with pytest.raises(IndexError, match=f"expert {wrong} is none of the 4: expected 0 to 3"):
        ops.gather_qmm(x, q, experts)
    for tier in ("eager", "sorted"):
        run = next(t.run for t in ops.operator("gather_qmm").tiers() if t.name == tier)
        out = run(x, q, experts)
        assert not out[1].any()
        torch.testing.assert_close(out[[0, 2]], ops.gather_qmm(x[[0, 2]], q, experts[[0, 2]]))
    grad = library.gather_gradient(torch.ones(3, 16), ops.dequantize(q), experts)
    assert not grad[1].any() and grad[0].any() and grad[2].any()


def test_gather_of_several_experts_and_of_rows_by_index():
    q = ops.quantize(torch.randn(4, 8, 64), "affine4g32")
    dense = ops.dequantize(q, torch.float32)
    x, experts = torch.randn(5, 64, requires_grad=True), torch.randint(0, 4, (5, 3))
    out, want = ops.gather_qmm(x, q, experts), torch.einsum("tk,tank->tan", x, dense[experts])
    torch.testing.assert_close(out, want)
    grad = torch.randn_like(out)
    torch.testing.assert_close(*(torch.autograd.grad(y, x, grad)[0] for y in (out, want)))
    rows = torch.tensor([3, 3, 0])
    some = ops.gather_qmm(x, q, experts[:3], rows=rows)
    torch.testing.assert_close(some, torch.einsum("tk,tank->tan", x[rows], dense[experts[:3]]))
    compiled = torch.compile(lambda x: ops.gather_qmm(x, q, experts), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), want)


def test_splits_of_k_are_whole_numbers_of_rounds():
    # N = 5120 at 96 rows: 80 programs; two parts of K take two rounds of 264 as one does, three fill one.
    from rocport.ops.quantized_matmul import triton as matmul
    from rocport.runtime import Platform

    where = Platform("cuda", capability=(9, 0))
    assert matmul.tile_config(where, 96, 5120, 27648).split == 3
    assert matmul.tile_config(where, 8, 512, 2880).split > 4


def _both(mx, weight, fmt):
    """A weight packed by MLX and by us."""
    parts = mx.quantize(mx.array(weight.numpy()), bits=fmt.bits, group_size=fmt.group)
    ours = (as_int32(to_torch(parts[0])), to_torch(parts[1]), to_torch(parts[2]))
    return parts, ops.QuantTensor(fmt, tuple(weight.shape), torch.float32, *ours)


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_batches_of_matrices_either_way_are_mlx(mx, transpose, lead):
    fmt = ops.Format.parse("affine4g32")
    parts, q = _both(mx, torch.randn(*lead, 64, 96), fmt)
    x = torch.randn(*lead, 5, 96 if transpose else 64, requires_grad=True)
    options = {"bits": 4, "group_size": 32, "transpose": transpose}
    want = to_torch(mx.quantized_matmul(mx.array(x.detach().numpy()), *parts, **options))
    dense = ops.dequantize(q)
    for tier in ("", "eager"):
        out = ops.quantized_matmul(x, q, transpose=transpose, tier=tier)
        assert out.shape == want.shape and relative(out.detach(), want) < 2e-6
        grad = torch.randn_like(out)
        (got,) = torch.autograd.grad(out, x, grad)
        assert relative(got, grad @ (dense if transpose else dense.transpose(-1, -2))) < 2e-6
    bias = torch.randn(want.shape[-1])
    assert relative(ops.quantized_matmul(x, q, bias, transpose=transpose).detach(), want + bias) < 2e-6


def test_x_is_shared_by_a_batch_of_matrices():
    q = ops.quantize(torch.randn(3, 8, 64), "mxfp4")
    x = torch.randn(2, 1, 5, 64)
    want = x @ ops.dequantize(q, torch.float32).transpose(1, 2)
    torch.testing.assert_close(ops.quantized_matmul(x, q), want)
    torch.testing.assert_close(ops.quantized_matmul(x[0, 0], q), want[0])
    flat = ops.quantize(torch.randn(2, 2, 8, 64), "nf4b64")
    torch.testing.assert_close(ops.quantized_matmul(x, flat), x @ ops.dequantize(flat, torch.float32).transpose(-1, -2))
    with pytest.raises(ValueError, match=r"\(4, 5, 64\) does not meet W \(3, 8, 64\)"):
        ops.quantized_matmul(torch.randn(4, 5, 64), q)
    with pytest.raises(ValueError, match="not transposed"):
        ops.quantized_matmul(torch.randn(5, 16), ops.quantize(torch.randn(8, 64), "mxfp4"), transpose=False)


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("top", [None, 2])
def test_several_rows_an_expert_are_mlx(mx, transpose, top):
    parts, q = _both(mx, torch.randn(4, 64, 96), ops.Format.parse("affine4g32"))
    x = torch.randn(5, 3, 96 if transpose else 64, requires_grad=True)
    experts = torch.randint(0, 4, (6,) if top is None else (6, top))
    rows = torch.tensor([4, 0, 0, 1, 2, 4])
    left = rows if top is None else rows[:, None].expand(6, top)
    options = {"bits": 4, "group_size": 32, "transpose": transpose}
    index = {"lhs_indices": mx.array(left.int().numpy()), "rhs_indices": mx.array(experts.int().numpy())}
    want = to_torch(mx.gather_qmm(mx.array(x.detach().numpy()), *parts, **index, **options))
    for tier in ("", "eager"):
        out = ops.gather_qmm(x, q, experts, rows=rows, transpose=transpose, tier=tier)
        assert out.shape == want.shape and relative(out.detach(), want) < 2e-6
    dense = ops.dequantize(q)[experts]
    plain = x[left] @ (dense.transpose(-1, -2) if transpose else dense)
    grad = torch.randn_like(out)
    assert relative(*(torch.autograd.grad(y, x, grad)[0] for y in (out, plain))) < 2e-6
    run = next(t.run for t in ops.operator("gather_qmm").tiers() if t.name == "sorted")
    flat = x.detach()[rows].flatten(0, 1)
    many = run(flat, q, experts.repeat_interleave(3, 0), transpose)
    assert relative(many, ops.gather_qmm(flat, q, experts.repeat_interleave(3, 0), transpose=transpose)) < 2e-6


def test_a_product_across_the_groups_compiles_to_one_graph():
    q = ops.quantize(torch.randn(64, 96), "affine4g32")
    x = torch.randn(5, 64)
    compiled = torch.compile(lambda x: ops.quantized_matmul(x, q, transpose=False), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), ops.quantized_matmul(x, q, transpose=False))

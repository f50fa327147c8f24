"""The layers load the checkpoints of bitsandbytes and MLX as they are, train LoRA, and compile."""

import copy
import shutil

import numpy as np
import pytest
import torch
from ops_support import relative
from torch.fx.experimental.proxy_tensor import make_fx

from rocport import ops
from rocport.ops.experts import mixture
from rocport.ops.modules import Linear4bit, Linear8bitLt, QuantizedLinear, SwitchExperts, SwitchLinear


def _linear(out: int = 48, into: int = 128) -> torch.nn.Linear:
    torch.manual_seed(0)
    return torch.nn.Linear(into, out)


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("nested", [False, True])
def test_linear4bit_loads_and_writes_bitsandbytes(kind, nested):
    bnb = pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
    dense = _linear()
    theirs = bnb.nn.Linear4bit(128, 48, compress_statistics=nested, quant_type=kind, compute_dtype=torch.float32)
    theirs.load_state_dict(dense.state_dict())
    theirs = theirs.to("cpu")
    x = torch.randn(3, 128)
    want = theirs(x)
    state = theirs.state_dict()
    ours = Linear4bit(128, 48, quant_type="nf4", nested=not nested, dtype=torch.float32)
    assert ours.load_state_dict(state).missing_keys == []
    assert relative(ours(x).detach(), want.detach()) < 5e-3, "its CPU matmul rounds to bf16"
    weight = bnb.functional.dequantize_4bit(theirs.weight.data, theirs.weight.quant_state)
    assert torch.equal(ops.dequantize(ours.quantized(), torch.float32), weight.float())
    written = ours.state_dict()
    assert set(written) == set(state)
    for key, value in state.items():
        if "quant_state" not in key:
            assert torch.equal(written[key].view(value.dtype).view(value.shape), value), key
    params = {key.removeprefix("weight."): value for key, value in written.items() if key.startswith("weight.")}
    read = bnb.functional.QuantState.from_dict(params, torch.device("cpu"))
    assert read == theirs.weight.quant_state
    again = Linear4bit(128, 48, dtype=torch.float32)
    again.load_state_dict(written)
    assert torch.equal(again(x), ours(x))


def test_linear4bit_says_what_it_cannot_load():
    ours = Linear4bit.from_linear(_linear())
    with pytest.raises(RuntimeError, match=r"weight is \(48, 128\), the layer is \(64, 128\)"):
        Linear4bit(128, 64).load_state_dict(ours.state_dict())
    with pytest.raises(RuntimeError, match=r"quant_state\.bitsandbytes__"):
        Linear4bit(128, 48).load_state_dict(_linear().state_dict())
    state = ours.state_dict()
    state["weight.quant_map"] = state["weight.quant_map"] * 2
    with pytest.raises(RuntimeError, match="this code table is not supported"):
        Linear4bit(128, 48).load_state_dict(state)


def test_linear8bit_is_bitsandbytes():
    bnb = pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
    dense = _linear()
    theirs = bnb.nn.Linear8bitLt(128, 48, has_fp16_weights=False, threshold=6.0)
    theirs.load_state_dict(dense.state_dict())
    theirs = theirs.to("cpu")
    ours = Linear8bitLt.from_linear(dense)
    assert torch.equal(ours.weight, theirs.weight.CB if theirs.weight.CB is not None else theirs.weight)
    torch.testing.assert_close(ours.SCB, theirs.weight.SCB.view(-1))
    x = torch.randn(5, 128)
    x[0, 3] = 20.0
    want = theirs(x)
    assert relative(ours(x).detach(), want.detach()) < 1e-2
    state = theirs.state_dict()
    loaded = Linear8bitLt(128, 48, dtype=torch.float32)
    loaded.load_state_dict({key: value.view(loaded.state_dict()[key].shape) for key, value in state.items()})
    assert torch.equal(loaded(x), ours(x))
    assert set(ours.state_dict()) == set(state)


@pytest.mark.parametrize("name", ["affine3g64", "affine4g64", "affine8g32", "mxfp4", "mxfp8"])
def test_quantized_linear_loads_mlx(mx, name):
    nn = pytest.importorskip("mlx.nn")
    fmt = ops.Format.parse(name)
    mode = {"mode": "affine" if fmt.kind == "affine" else fmt.kind}
    theirs = nn.QuantizedLinear(128, 48, bias=True, group_size=fmt.group, bits=fmt.bits, **mode)
    state = {key: torch.from_numpy(np.array(value)) for key, value in theirs.parameters().items()}
    ours = QuantizedLinear(128, 48, bias=True, format=name, dtype=torch.float32)
    ours.load_state_dict(state)
    x = torch.randn(4, 128)
    want = torch.from_numpy(np.array(theirs(mx.array(x.numpy()))))
    assert relative(ours(x).detach(), want) < 3e-6
    assert set(ours.state_dict()) == set(state)
    again = QuantizedLinear(128, 48, bias=True, format=name, dtype=torch.float32)
    again.load_state_dict(ours.state_dict())
    assert torch.equal(again(x), ours(x))


def test_switch_linear_is_its_experts():
    torch.manual_seed(0)
    layer = SwitchLinear.from_weight(torch.randn(6, 48, 128), "affine8g64")
    x = torch.randn(2, 3, 128)
    experts = torch.randint(0, 6, (2, 3, 2))
    out = layer(x, experts)
    dense = ops.dequantize(layer.quantized())
    want = torch.einsum("bsk,bstnk->bstn", x, dense[experts])
    assert out.shape == (2, 3, 2, 48) and relative(out, want) < 2e-6
    again = SwitchLinear(128, 48, 6, format="affine8g64", dtype=torch.float32)
    again.load_state_dict(layer.state_dict())
    assert torch.equal(again(x, experts), out)


@pytest.mark.parametrize("make", [Linear4bit.from_linear, QuantizedLinear.from_linear])
def test_the_packed_weight_is_kept_until_its_parameters_change(make):
    """The plan of a call is kept with it, so that it may not outlive what it points to."""
    layer, other = make(_linear()), make(torch.nn.Linear(128, 48))
    names = {name for name, _ in layer.named_parameters()}
    x = torch.randn(2, 128)
    first = layer.quantized()
    layer(x)
    assert layer.quantized() is first and {name for name, _ in layer.named_parameters()} == names
    layer.load_state_dict(other.state_dict())
    torch.testing.assert_close(layer(x), other(x))
    layer.weight.data = make(_linear()).weight.data
    changed = ops.dequantize(layer.quantized())
    torch.testing.assert_close(layer(x), torch.nn.functional.linear(x, changed, layer.bias))
    twin = copy.deepcopy(layer)
    assert twin.quantized() is not layer.quantized() and torch.equal(twin(x), layer(x))
    layer.to("meta")
    assert layer.quantized().codes.device.type == "meta"


def test_a_tracer_sees_the_registered_operator():
    layer = Linear4bit.from_linear(_linear())
    graph = make_fx(layer)(torch.randn(2, 128))
    assert "rocport.quantized_matmul" in graph.code


class _Lora(torch.nn.Module):
    """A frozen base with a rank-4 update beside it."""

    def __init__(self, base: torch.nn.Module, into: int, out: int) -> None:
        super().__init__()
        self.base = base
        self.down = torch.nn.Linear(into, 4, bias=False)
        self.up = torch.nn.Linear(4, out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.up(self.down(x))


BASES = {
    "nf4": lambda: Linear4bit.from_linear(_linear(128, 128)),
    "int8": lambda: Linear8bitLt.from_linear(_linear(128, 128)),
    "affine4": lambda: QuantizedLinear.from_linear(_linear(128, 128)),
}


@pytest.mark.parametrize("base", sorted(BASES))
def test_lora_training_lowers_the_loss_and_leaves_the_base(base):
    torch.manual_seed(0)
    model = torch.nn.Sequential(_Lora(BASES[base](), 128, 128), torch.nn.Tanh(), _Lora(BASES[base](), 128, 128))
    frozen = {name: p.clone() for name, p in model.named_parameters() if "base" in name}
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.requires_grad_(False)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-2)
    x, y = torch.randn(32, 128), torch.randn(32, 128)
    losses = []
    for _ in range(30):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    assert all(torch.equal(p, frozen[name]) for name, p in model.named_parameters() if "base" in name)


BACKEND = "inductor" if shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") else "aot_eager"
"""Inductor builds C++ on the CPU."""


@pytest.mark.parametrize("base", ["nf4", "affine4"])
def test_compiles_as_one_graph_forward_and_backward(base):
    model = BASES[base]()
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend=BACKEND)
    x = torch.randn(4, 128, requires_grad=True)
    out = compiled(x)
    torch.testing.assert_close(out, model(x))
    (got,) = torch.autograd.grad(out.sum(), x)
    (want,) = torch.autograd.grad(model(x).sum(), x)
    torch.testing.assert_close(got, want)


def test_switch_linear_compiles_as_one_graph():
    layer = SwitchLinear.from_weight(torch.randn(4, 32, 64), "affine4g64")
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, backend=BACKEND)
    x, experts = torch.randn(3, 64), torch.tensor([[0, 1], [2, 3], [3, 0]])
    torch.testing.assert_close(compiled(x, experts), layer(x, experts))


@pytest.mark.parametrize("form", ["affine4g32", "nf4b32"])
def test_a_mixture_sorted_once_is_its_two_products(form):
    """What a GPU does with many rows an expert, on the CPU; an expert that is not there adds nothing."""
    torch.manual_seed(0)
    both, down = torch.randn(4, 64, 32), torch.randn(4, 32, 32)
    layer = SwitchExperts(SwitchLinear.from_weight(both, form), SwitchLinear.from_weight(down, form), torch.nn.SiLU())
    x, index, weights = torch.randn(20, 32), torch.randint(0, 4, (20, 2)), torch.rand(20, 2)
    want = layer(x, index, weights)
    # How many rows meet an expert decides in which order a CPU adds: sums of a few hundred cancel to less.
    close = {"rtol": 1e-5, "atol": 1e-6 * want.abs().max().item()}
    parts = layer.gate_up_proj.quantized(), layer.down_proj.quantized()
    torch.testing.assert_close(mixture(x, *parts, index, weights, ops.swiglu, ops.dequantize), want, **close)
    index[3, 0], index[4] = 4, -1
    want[3] = layer(x[3:4], index[3:4, 1:], weights[3:4, 1:])[0]
    want[4] = 0
    torch.testing.assert_close(mixture(x, *parts, index, weights, ops.swiglu, ops.dequantize), want, **close)


def test_rows_sorted_by_expert_keep_their_order_and_the_lost_go_last():
    rows, places, ends = ops.route(torch.tensor([[2, 0], [9, 2], [-1, 0]]), 3)
    assert rows.tolist() == [0, 2, 0, 1, 1, 2] and ends.tolist() == [2, 2, 4]
    assert places.tolist() == [[2, 0], [-1, 3], [-1, 1]]


def test_what_does_not_fit_is_not_combined():
    with pytest.raises(ValueError, match=r"rows \(2, 3\), places \(2, 2\) and weights \(2, 1\) do not meet"):
        ops.combine(torch.ones(2, 3), torch.zeros(2, 2), torch.ones(2, 1))
    assert ops.combine(torch.ones(0, 3), torch.zeros(2, 2), torch.ones(2, 2)).tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_a_place_below_zero_adds_nothing_whatever_the_first_row_holds(bad):
    rows, weights = torch.tensor([[bad, 1.0], [2.0, 3.0]]), torch.tensor([[bad, 2.0], [bad, bad]])
    assert ops.combine(rows, torch.tensor([[-1, 1], [-1, -1]]), weights).tolist() == [[4, 6], [0, 0]]

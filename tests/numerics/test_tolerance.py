from __future__ import annotations

import math

import pytest
import torch

from rocport.numerics.tolerance import UNIT, Operand, base_name, bound, is_exact, own_error, terms


def _of(tensor: torch.Tensor, relative: float = 0.0) -> Operand:
    plain = tensor.double()
    name = str(tensor.dtype).removeprefix("torch.")
    return Operand(name, tuple(tensor.shape), float(plain.norm()), float(plain.abs().max()), relative)


def _apart(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a.double() - b.double()).norm() / b.double().norm())


def test_units_are_those_of_torch() -> None:
    for name, unit in UNIT.items():
        dtype = getattr(torch, name, None)
        # PyTorch 2.13 gives 0.125 for e5m2fnuz, which has two bits of mantissa as e5m2 has.
        if dtype is not None and name not in ("float8_e8m0fnu", "float8_e5m2fnuz"):
            assert torch.finfo(dtype).eps == 2 * unit, name


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("size", [8, 256, 4096])
def test_a_right_product_is_within_and_a_wrong_one_is_not(dtype: torch.dtype, size: int) -> None:
    generator = torch.Generator().manual_seed(size)
    a = torch.randn(32, size, generator=generator).to(dtype)
    b = torch.randn(size, 32, generator=generator).to(dtype)
    exact = a.double() @ b.double()
    limit = own_error("aten.mm.default", [_of(a), _of(b)], _of(exact.to(dtype)))
    assert _apart(a @ b, exact) < limit
    assert _apart(a[:, 1:] @ b[1:], exact) > limit or (dtype is not torch.float32 and size == 4096)
    narrower = {torch.float32: torch.bfloat16, torch.bfloat16: torch.float8_e4m3fn, torch.float16: torch.float8_e4m3fn}
    assert _apart((a.to(narrower[dtype]).double() @ b.double()), exact) > limit


def test_bounds_grow_with_the_inputs_and_shrink_with_the_type() -> None:
    a = torch.randn(16, 16)
    clean = bound("aten.mm.default", [_of(a), _of(a)], _of(a @ a))
    assert bound("aten.mm.default", [_of(a, 1e-3), _of(a)], _of(a @ a)) > clean + 1e-3
    assert (
        own_error("aten.mm.default", [_of(a)], _of(a.double()))
        < clean
        < own_error("aten.mm.default", [_of(a)], _of(a.half()))
    )


def test_cancellation_is_allowed_for() -> None:
    a = torch.ones(1000) + 1e-2 * torch.randn(1000)
    other = a * (1 + 1e-6 * torch.randn(1000))
    limit = bound("aten.sub.Tensor", [_of(a, 1e-6), _of(a)], _of(a - 1))
    assert _apart(other - 1, a - 1) < limit
    assert bound("aten.mul.Tensor", [_of(a, 1e-6), _of(a)], _of(a)) < limit


@pytest.mark.parametrize("function", [torch.sin, torch.exp, torch.tanh, torch.nn.functional.gelu, torch.rsqrt])
def test_functions_are_within(function: object) -> None:
    x = torch.rand(5000) * 3 + 0.1
    name = f"aten.{function.__name__}.default"  # type: ignore[attr-defined]
    assert _apart(function(x), function(x.double())) < own_error(name, [_of(x)], _of(x))  # type: ignore[operator]


def test_copies_are_exact() -> None:
    assert is_exact("aten.clone.default") and is_exact("aten._to_copy.default") and not is_exact("aten.mm.default")
    assert own_error("aten.cat.default", [], Operand("float32", (4,))) == 0.0


def test_integers_have_no_bound() -> None:
    assert own_error("aten.sum.default", [Operand("int64", (5,))], Operand("int64", ())) == 0.0


@pytest.mark.parametrize(
    ("name", "shapes", "out", "count"),
    [
        ("aten.mm.default", [(3, 40), (40, 5)], (3, 5), 40),
        ("aten.addmm.default", [(5,), (3, 40), (40, 5)], (3, 5), 40),
        ("aten.sum.dim_IntList", [(30, 40)], (30,), 40),
        ("aten.convolution.default", [(1, 8, 9, 9), (16, 8, 3, 3)], (1, 16, 9, 9), 72),
        ("aten._softmax.default", [(4, 100)], (4, 100), 100),
        ("aten._scaled_dot_product_flash_attention.default", [(1, 2, 5, 64), (1, 2, 300, 64)], (1, 2, 5, 64), 300),
    ],
)
def test_terms(name: str, shapes: list[tuple[int, ...]], out: tuple[int, ...], count: int) -> None:
    assert terms(name, [Operand("float32", shape) for shape in shapes], Operand("float32", out)) == count


def test_tf32_widens_float32_products_only() -> None:
    a, out = [Operand("float32", (8, 8))] * 2, Operand("float32", (8, 8))
    assert own_error("aten.mm.default", a, out, tf32=True) > 100 * own_error("aten.mm.default", a, out)
    assert own_error("aten.add.Tensor", a, out, tf32=True) == own_error("aten.add.Tensor", a, out)


def test_infinite_differences_do_not_excuse() -> None:
    a = Operand("float32", (8,), 1.0, 1.0, math.inf)
    assert bound("aten.mul.Tensor", [a], Operand("float32", (8,), 1.0)) < 1e-6


def test_names() -> None:
    assert base_name("aten.mm.default") == "mm"
    assert base_name("module") == "module"

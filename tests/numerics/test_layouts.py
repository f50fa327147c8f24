from __future__ import annotations

import pytest
import torch

from rocport.numerics.layouts import LAYOUTS, Checked, LayoutImpossible, check_operator, relaid, sizes


def _arguments(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return (torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype),)


def _check(function: object, *, shape: tuple[int, ...] = (6, 10), **options: object) -> Checked:
    return check_operator(
        function, lambda x: x * 2, _arguments, sizes(shape), [torch.float32, torch.bfloat16], name="aten.mul.Tensor",  # type: ignore[arg-type]
        **options,
    )  # fmt: skip


def _kinds(checked: Checked) -> set[str]:
    return {flaw.kind for flaw in checked.flaws}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (0, 4), (1, 1)])
def test_layouts_hold_the_same_values(layout: str, shape: tuple[int, ...]) -> None:
    tensor = torch.randn(shape)
    try:
        made = relaid(tensor, layout)
    except LayoutImpossible:
        assert layout == "expanded"
        return
    assert torch.equal(made, tensor[:1].expand(shape) if layout == "expanded" else tensor)
    if layout == "transposed" and len(shape) > 1 and min(shape) > 1:
        assert not made.is_contiguous()
    if layout == "far":
        assert made.storage_offset() > 2**31


def test_a_right_operator_has_no_flaw() -> None:
    checked = _check(lambda x: x * 2)
    assert checked.flaws == ()
    assert checked.tried > 40
    if not torch.cuda.is_available():
        assert "side stream and graph capture: no GPU here" in checked.skipped


def test_flat_indexing_is_found() -> None:
    checked = _check(lambda x: x.as_strided(x.shape, torch.empty(x.shape).stride()) * 2)
    assert _kinds(checked) <= {"wrong", "unwritten"} and checked.flaws  # the poison of the padding shows as unwritten
    assert all("contiguous" not in flaw.case for flaw in checked.flaws)


def test_an_output_that_is_not_written_is_found() -> None:
    def tail(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(x.shape, dtype=x.dtype)
        whole = x.shape[0] // 4 * 4  # the last tile is forgotten
        out[:whole] = x[:whole] * 2
        return out

    checked = _check(tail)
    assert _kinds(checked) == {"unwritten"}
    assert {flaw.case.split("[")[1].split(",")[0] for flaw in checked.flaws} == {"6", "1", "3", "65", "257"}


def test_a_dispatch_that_lacks_what_it_claims_is_found() -> None:
    def dispatch(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(x.shape, dtype=x.dtype)
        if x.dtype is torch.float32:  # bf16 is claimed and never launched
            out.copy_(x * 2)
        return out

    def claims(x: torch.Tensor) -> bool:
        return x.dtype in (torch.float32, torch.bfloat16) and x.dim() == 2

    checked = _check(dispatch, supports=claims)
    assert _kinds(checked) == {"unwritten"}
    assert all(flaw.case.startswith("bfloat16") for flaw in checked.flaws)


def test_what_is_not_claimed_is_not_tried() -> None:
    checked = _check(lambda x: x * 2, supports=lambda x: x.dtype is torch.float32 and x.is_contiguous())
    assert checked.flaws == () and checked.refused > 0


def test_a_result_that_changes_is_found() -> None:
    calls = [0]

    def drifts(x: torch.Tensor) -> torch.Tensor:
        calls[0] += 1
        return x * 2 + calls[0] * 1e-7

    assert "not deterministic" in _kinds(_check(drifts))


def test_an_error_is_a_flaw() -> None:
    def refuses_empty(x: torch.Tensor) -> torch.Tensor:
        if x.numel() == 0:
            raise RuntimeError("invalid configuration argument")
        return x * 2

    checked = _check(refuses_empty)
    assert _kinds(checked) == {"error"}
    assert all("[0, 10]" in flaw.case for flaw in checked.flaws)


def test_offsets_beyond_32_bits() -> None:
    def wraps(x: torch.Tensor) -> torch.Tensor:
        offset = x.storage_offset()
        return x * 2 if offset < 2**31 else x * 0

    checked = _check(wraps, layouts=("contiguous", "far"))
    assert _kinds(checked) == {"wrong"} and all("far" in flaw.case for flaw in checked.flaws)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_side_streams_and_graphs_on_a_gpu() -> None:
    side = torch.cuda.Stream()

    def on_gpu(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        return tuple(t.cuda() for t in _arguments(shape, dtype))

    def right(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def elsewhere(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        with torch.cuda.stream(side):
            torch.cuda._sleep(10_000_000)
            torch.mul(x, 2, out=out)
        return out

    common = {"shapes": [(6, 10)], "dtypes": [torch.float32], "name": "aten.mul.Tensor"}
    clean = check_operator(right, right, on_gpu, **common)  # type: ignore[arg-type]
    assert clean.flaws == ()
    assert check_operator(elsewhere, right, on_gpu, **common).flaws  # type: ignore[arg-type]


@pytest.mark.parametrize("operator", ["rms_norm", "layer_norm", "softmax", "swiglu"])
def test_our_own_operators_write_what_they_claim(operator: str) -> None:
    from rocport.ops.dispatch import operator as named
    from rocport.runtime.machine import platform

    where = platform(torch.device("cpu"))

    def arguments(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        first = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
        weight = torch.linspace(0.5, 1.5, shape[-1]).to(dtype)
        return {"rms_norm": (first, weight), "layer_norm": (first, weight, weight), "softmax": (first,)}.get(
            operator, (first, first)
        )

    rest = {"rms_norm": (1e-6,), "layer_norm": (1e-6,)}.get(operator, ())
    for tier in named(operator).tiers():
        eager = next(t for t in named(operator).tiers() if t.name == "eager")
        checked = check_operator(
            lambda *t, tier=tier: tier.run(*t, *rest),
            lambda *t, eager=eager: eager.run(*t, *rest),
            arguments,
            [(6, 16), (1, 16), (65, 16)],
            [torch.float32, torch.bfloat16],
            supports=lambda *t, tier=tier: not tier.refuse(where, *t, *rest),
            name="module",
        )
        assert checked.flaws == (), (tier.name, checked.flaws)

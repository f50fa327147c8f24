from __future__ import annotations

import math

import pytest
import torch

from rocport.numerics import records, statistics
from rocport.numerics.records import SAMPLES, Statistics, positions, splitmix

DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.int64,
    torch.int32, torch.int16, torch.uint8, torch.bool, torch.complex64,
]  # fmt: skip


def _values(count: int, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(count)
    return (torch.randn(count, generator=generator) * 10).to(dtype)


def _now(tensor: torch.Tensor) -> Statistics:
    found = statistics.measure(tensor)
    assert isinstance(found, Statistics)
    return found


def _later(tensor: torch.Tensor) -> Statistics:
    """The path of a GPU, run on the CPU."""
    flat = statistics.flat_values(tensor)
    sample = flat[statistics._positions(flat.numel(), SAMPLES, flat.device)].to(torch.float64)
    return statistics.unpack_vector(statistics._measure_later(flat, sample), flat.numel())


def test_splitmix_is_the_published_generator() -> None:
    # The first outputs of SplitMix64 with seed 1234567, as in its reference implementation.
    state, seen = 1234567, []
    for _ in range(3):
        seen.append(splitmix(state))
        state = (state + 0x9E3779B97F4A7C15) & ((1 << 64) - 1)
    assert seen == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    tensor = statistics._splitmix(torch.arange(5))
    assert [value & ((1 << 64) - 1) for value in tensor.tolist()] == [splitmix(i) for i in range(5)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [1, 7, 1000, 70001])
def test_both_paths_agree(dtype: torch.dtype, count: int) -> None:
    tensor = _values(count, dtype)
    now, later = _now(tensor), _later(tensor)
    for name in ("fingerprint", "nan", "inf", "zeros", "minimum", "maximum", "sample"):
        assert getattr(now, name) == getattr(later, name), name
    assert now.norm == pytest.approx(later.norm, rel=1e-6)
    scale = max(now.norm, 1e-30)
    assert max(abs(a - b) for a, b in zip(now.sketch, later.sketch, strict=True)) < 2e-6 * scale


def test_pieces_are_one_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = _values(20000, torch.float32)
    whole = _now(tensor)
    monkeypatch.setattr(statistics, "_CHUNK", 8192)
    statistics._tables.cache_clear()
    pieces, later = _now(tensor), _later(tensor)
    statistics._tables.cache_clear()
    assert pieces.fingerprint == later.fingerprint
    assert (pieces.norm, pieces.mean) == pytest.approx((whole.norm, whole.mean), rel=1e-6)


def test_layout_does_not_matter_and_order_does() -> None:
    tensor = _values(600, torch.float32).view(20, 30)
    assert _now(tensor.t().contiguous().t()).fingerprint == _now(tensor).fingerprint
    assert _now(tensor.t()).fingerprint != _now(tensor).fingerprint
    assert _now(tensor[3:]).fingerprint == _now(tensor[3:].clone()).fingerprint


def test_one_changed_bit_changes_the_fingerprint() -> None:
    tensor = _values(5000, torch.float32)
    seen = {_now(tensor).fingerprint}
    for index in (0, 511, 512, 4095, 4999):
        other = tensor.clone()
        other.view(torch.int32)[index] ^= 1
        seen.add(_now(other).fingerprint)
    assert len(seen) == 6


def test_nonfinite_values_are_counted_and_left_out() -> None:
    tensor = torch.tensor([1.0, math.nan, math.inf, -math.inf, 0.0, -2.0])
    for found in (_now(tensor), _later(tensor)):
        assert (found.nan, found.inf, found.zeros, found.minimum, found.maximum) == (1, 2, 1, -2.0, 1.0)
        assert found.norm == pytest.approx(math.sqrt(5))
    assert _now(torch.full((3,), math.nan)).maximum == 0.0


def test_empty() -> None:
    assert _now(torch.empty(0, 4)).norm == 0.0


@pytest.mark.parametrize("wide", [False, True])
def test_records_pack(wide: bool) -> None:
    found = _now(_values(100, torch.float64 if wide else torch.bfloat16))
    again = Statistics.unpack(found.pack(wide), wide)
    assert again.fingerprint == found.fingerprint
    assert again.sample == found.sample
    assert again.sketch == pytest.approx(found.sketch, rel=1e-6)


@pytest.mark.parametrize("relative", [1e-5, 1e-2, 0.5])
def test_sketches_estimate_the_distance(relative: float) -> None:
    from rocport.numerics.difference import from_records

    a = _values(30000, torch.float32)
    b = a + relative * a.norm() / math.sqrt(a.numel()) * torch.randn(
        a.shape, generator=torch.Generator().manual_seed(1)
    )
    exact = float((b.double() - a.double()).norm() / a.double().norm())
    first, second = (
        records.TensorRecord(i, "float32", (30000,), (1,), 0, "cpu", statistics=_now(t)) for i, t in enumerate((a, b))
    )
    found = from_records(first, second)
    assert found.known and not found.equal
    assert exact / 2 < found.relative < exact * 2


def test_positions_keep_the_ends() -> None:
    assert positions(5, 16) == [0, 1, 2, 3, 4]
    chosen = positions(10**9, 16)
    assert chosen == sorted(set(chosen)) and chosen[0] == 0 and chosen[-1] == 10**9 - 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_gpu_gives_the_same(dtype: torch.dtype) -> None:
    tensor = _values(70001, dtype)
    vector = statistics.measure(tensor.cuda())
    assert isinstance(vector, torch.Tensor)
    found, now = statistics.unpack_vector(vector.cpu(), statistics.flat_values(tensor).numel()), _now(tensor)
    assert (found.fingerprint, found.sample) == (now.fingerprint, now.sample)
    assert found.norm == pytest.approx(now.norm, rel=1e-6)

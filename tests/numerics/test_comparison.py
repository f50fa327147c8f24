"""Plants of benchmarks/verify_modules.py, and the cases that it does not reach."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

from rocport.numerics.comparison import Comparison, compare, measure_noise
from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import Golden, open_golden
from rocport.numerics.recorder import capture

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "examples" / "transformer"


@cache
def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_modules", ROOT / "benchmarks" / "verify_modules.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verify_modules"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Golden]:
    bench, folder = _benchmark(), tmp_path_factory.mktemp("references")
    torch.set_num_threads(1)
    source = bench.SCRIPT.read_text(encoding="utf-8")
    found = {}
    for dtype in ("float32", "bfloat16"):
        golden = bench.record(source, dtype, folder / dtype)
        golden.noise, golden.noise_measured = measure_noise(golden, bench.record(source, dtype, folder / "again")), True
        found[dtype] = golden
    return found


@pytest.mark.parametrize("plant", _benchmark().PLANTS[::3], ids=lambda plant: plant.name)
def test_a_plant_is_named(plant: object, references: dict[str, Golden], tmp_path: Path) -> None:
    bench = _benchmark()
    source = bench.SCRIPT.read_text(encoding="utf-8")
    planted = source.replace(plant.old, plant.new, 1)  # type: ignore[attr-defined]
    assert planted != source
    found = bench.record(planted, plant.dtype, tmp_path / "planted", poison=True)  # type: ignore[attr-defined]
    outcome = bench.judge(plant, source, compare(references[plant.dtype], found))  # type: ignore[attr-defined]
    assert outcome.named, outcome


def test_every_plant_still_fits() -> None:
    bench = _benchmark()
    source = bench.SCRIPT.read_text(encoding="utf-8")
    assert all(plant.old in source for plant in bench.PLANTS)
    assert len(bench.PLANTS) >= 25


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_clean_code_raises_no_alarm(dtype: str, references: dict[str, Golden], tmp_path: Path) -> None:
    bench = _benchmark()
    clean = bench.record(bench.SCRIPT.read_text(encoding="utf-8"), dtype, tmp_path / "clean")
    assert compare(references[dtype], clean).verdict == "equal"
    far = compare(open_golden(GOLDENS / f"h200-{dtype}.golden"), clean)
    assert far.verdict == "rounding", far.first
    assert far.training is not None and max(row.relative for row in far.training.losses) < 1e-4


@pytest.mark.parametrize("name", ["scale missing", "key heads tiled, not repeated", "rope sign", "another eps"])
def test_a_plant_is_named_against_an_nvidia_gpu(name: str, tmp_path: Path) -> None:
    bench = _benchmark()
    plant = next(p for p in bench.PLANTS if p.name == name)
    source = bench.SCRIPT.read_text(encoding="utf-8")
    found = bench.record(source.replace(plant.old, plant.new, 1), "float32", tmp_path / "planted")
    outcome = bench.judge(plant, source, compare(open_golden(GOLDENS / "h200-float32.golden"), found))
    assert outcome.named, outcome


def _run(path: Path, function: Callable[[], object], **options: object) -> Golden:
    torch.manual_seed(0)
    with capture(path, CaptureConfig(mode="full", **options)):  # type: ignore[arg-type]
        function()
    return open_golden(path)


def _two(tmp_path: Path, first: Callable[[], object], second: Callable[[], object], **options: bool) -> Comparison:
    return compare(_run(tmp_path / "a", first), _run(tmp_path / "b", second), **options)


def _names(comparison: Comparison) -> list[str]:
    assert comparison.first is not None
    return [symptom.name for symptom in comparison.first.symptoms]


X = torch.randn(64, 48, generator=torch.Generator().manual_seed(3))


class _Stale:
    kept: torch.Tensor | None = None

    def __call__(self) -> None:
        for scale in (1.0, 2.0):
            y = torch.sin(X * scale)
            self.kept = self.kept if self.kept is not None else y
            torch.cos(self.kept)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("transposed", lambda y: y.t().contiguous().view(y.shape)),
        ("shifted", lambda y: y.roll(1, 1)),
        ("flipped", lambda y: y.flip(0)),
        ("negated", lambda y: -y),
        ("scaled", lambda y: y * 0.125),
        ("offset", lambda y: y + 0.5),
        ("zeros", lambda y: y * 0),
        ("nan", lambda y: y.masked_fill(y > 2, float("nan"))),
        ("inf", lambda y: y.masked_fill(y > 2, float("inf"))),
        ("place", lambda y: torch.cat([y[:60], y[60:] + 1])),
        ("narrow", lambda y: y.bfloat16().float()),
        ("dtype", lambda y: y.to(torch.float16)),
        ("shape", lambda y: y[:-1]),
    ],
)
def test_symptoms(name: str, change: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path) -> None:
    library = torch.library.Library("rocporttest", "FRAGMENT")
    operator = f"op_{name}"
    library.define(f"{operator}(Tensor x) -> Tensor")
    doing = {"now": lambda y: y * 3.0}
    library.impl(operator, lambda x: doing["now"](x), "CompositeExplicitAutograd")
    call = getattr(torch.ops.rocporttest, operator)
    first = _run(tmp_path / "a", lambda: call(X))
    doing["now"] = lambda y: change(y * 3.0)
    # A custom operator is one call: what it runs inside is not the user's code.
    comparison = compare(first, _run(tmp_path / "b", lambda: call(X)))
    assert comparison.verdict == "diverges"
    assert name in _names(comparison)
    library._destroy()


def test_truncation_is_told_from_rounding(tmp_path: Path) -> None:
    def truncate(x: torch.Tensor) -> torch.Tensor:
        return x.view(torch.int32).bitwise_and(-65536).view(torch.float32).to(torch.bfloat16)

    from rocport.numerics.diagnosis import rounding_symptom

    right, wrong = X.to(torch.bfloat16).double().reshape(-1), truncate(X).double().reshape(-1)
    moved = [(a, b) for a, b in zip(right.tolist(), wrong.tolist(), strict=True) if a != b]
    assert [s.name for s in rounding_symptom("bfloat16", moved, 100)] == ["truncated"]
    both = [(a, b) if i % 2 else (b, a) for i, (a, b) in enumerate(moved)]
    assert [s.name for s in rounding_symptom("bfloat16", both, 100)] == ["rounding"]
    assert list(rounding_symptom("float32", moved, 100)) == []


def test_stale_memory(tmp_path: Path) -> None:
    def fresh() -> None:
        for scale in (1.0, 2.0):
            torch.cos(torch.sin(X * scale))

    comparison = _two(tmp_path, fresh, _Stale())
    assert comparison.first is not None and comparison.first.call == "aten.cos.default"


def test_an_argument_is_shown(tmp_path: Path) -> None:
    comparison = _two(tmp_path, lambda: torch.softmax(X, -1), lambda: torch.softmax(X, 0))
    assert comparison.first is not None
    assert comparison.first.symptoms[0].text == "argument 1 is 0, was -1"


def test_a_view_with_other_arguments_is_blamed(tmp_path: Path) -> None:
    comparison = _two(tmp_path, lambda: torch.exp(X.select(0, 1)), lambda: torch.exp(X.select(0, 2)))
    assert comparison.first is not None
    assert (comparison.first.verdict, comparison.first.call) == ("other arguments", "aten.select.int")


def test_other_data_is_an_external_input(tmp_path: Path) -> None:
    other = X + 1
    comparison = _two(tmp_path, lambda: torch.exp(X), lambda: torch.exp(other))
    assert comparison.first is not None and comparison.first.verdict == "input differs at its source"


def test_other_random_numbers_are_told(tmp_path: Path) -> None:
    def later() -> None:
        torch.manual_seed(5)
        torch.rand(9).exp()

    comparison = _two(tmp_path, lambda: torch.rand(9).exp(), later)
    assert comparison.first is not None and comparison.first.verdict == "random numbers differ"
    assert any("--seed" in note for note in comparison.notes)


def test_what_follows_is_inherited(tmp_path: Path) -> None:
    def run(scale: float) -> None:
        y = torch.tanh(X * scale)
        for _ in range(5):
            y = torch.exp(y) + y

    comparison = _two(tmp_path, lambda: run(1.0), lambda: run(1.5))
    assert comparison.first is not None and comparison.first.call == "aten.mul.Tensor"
    assert comparison.others == []
    assert comparison.counts["inherited"] == 11


def test_rounding_in_another_order_is_within_bounds(tmp_path: Path) -> None:
    big = torch.randn(300, 2000, generator=torch.Generator().manual_seed(1))

    class Sum(nn.Module):
        def __init__(self, pieces: int) -> None:
            super().__init__()
            self.pieces = pieces

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return sum(p @ p.t() for p in x.chunk(self.pieces, 1))  # type: ignore[return-value]

    comparison = _two(tmp_path, lambda: torch.tanh(Sum(1)(big)), lambda: torch.tanh(Sum(4)(big)), exact=False)
    assert comparison.verdict == "rounding", comparison.first


def test_a_raised_error_is_the_divergence(tmp_path: Path) -> None:
    def broken() -> None:
        y = torch.exp(X)
        y @ X[:5]

    first = _run(tmp_path / "a", lambda: torch.exp(X) @ X.t())
    with pytest.raises(RuntimeError):
        _run(tmp_path / "b", broken)
    comparison = compare(first, open_golden(tmp_path / "b"))
    assert comparison.first is not None
    assert comparison.first.verdict == "raises an error"
    assert not comparison.candidate["outcome"]["ok"]


def test_nothing_in_common(tmp_path: Path) -> None:
    comparison = _two(tmp_path, lambda: torch.exp(X), lambda: torch.sin(X))
    assert comparison.verdict == "nothing compared" and comparison.failed


def test_noise_widens_the_bounds(tmp_path: Path) -> None:
    first, second = _run(tmp_path / "a", lambda: torch.exp(X)), _run(tmp_path / "b", lambda: torch.exp(X * 1.0))
    first.noise = {first.calls[-1].outputs[0]: 1e-3}
    first.noise_measured = True
    far = _run(tmp_path / "c", lambda: torch.exp(X) * 1.0005)
    assert not compare(first, second).exact_expected
    del far
    second.noise_measured = True
    assert compare(second, _run(tmp_path / "d", lambda: torch.exp(X * 1.0))).verdict == "equal"

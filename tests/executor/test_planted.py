"""Planted defects of each class, caught without a GPU; benchmarks/verify.py tries all of benchmarks/plants.toml."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocport.executor.cpu import CpuExecutor
from rocport.verify.functional import Verdict

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planted_defects", BENCHMARKS / "verify.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_defects"] = module
    spec.loader.exec_module(module)
    return module


bench = _load()
PLANTS = bench.plants()
# class, program, width at which the program's own check already fails; 0: only watching the accesses shows it
CHOSEN = [
    ("wave-width", "ballot_compact.hip", 64),
    ("wave-width", "hadamard.hip", 32),
    ("uninitialised", "layer_norm.hip", 64),
    ("never-launched", "dequantize_q6.hip", 64),
    ("stride", "strided_batch.hip", 32),
    ("race-at-one-width", "wave_exchange.hip", 32),
    ("race", "histogram_shared.hip", 0),
    ("rounding-order", "bf16_rounding.hip", 64),
    ("lds", "bitonic_sort.hip", 64),
]


def test_there_are_enough_and_each_can_be_planted(tmp_path: Path) -> None:
    assert len(PLANTS) >= 40
    assert {plant.kind for plant in PLANTS} >= set(bench.REQUIRED)
    for plant in PLANTS:
        if not plant.file.startswith(bench.PORTED):
            assert (bench.PROGRAMS / plant.file).read_text().count(plant.find) == 1, plant


@pytest.mark.parametrize(("kind", "file", "width"), CHOSEN)
def test_a_planted_defect_is_caught(kind: str, file: str, width: int, executor: CpuExecutor, tmp_path: Path) -> None:
    plant = next(plant for plant in PLANTS if (plant.kind, plant.file) == (kind, file))
    program, changed = bench.right_program(plant.file, tmp_path / "planted")
    bench.mutate(changed, plant)
    keeping = bench.Executors.below(tmp_path / "built", "source")
    if width:
        found = bench.functional(keeping, program, (width,), False)
        assert found.verdict in (Verdict.WRONG, Verdict.HAZARD), found
        other = bench.functional(keeping, program, (96 - width,), False)
        if kind in ("wave-width", "race-at-one-width"):
            assert other.verdict is Verdict.PASS, other
    else:
        assert bench.functional(keeping, program, (32, 64), False).verdict is Verdict.PASS
        found = bench.functional(keeping, program, (32, 64), True)
        assert found.verdict is Verdict.HAZARD
        assert "shared-race" in {hazard.kind for hazard in found.hazards}

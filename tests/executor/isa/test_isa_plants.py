"""Defects that only machine code shows, one of each class; benchmarks/isa_plants.py plants all."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from rocport.executor.isa import Module

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "isa_plants.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("isa_plants", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bench = _load()
PLANTS = bench.plants()
CLASSES = sorted({plant.kind for plant in PLANTS})


TARGETS = sorted({plant.target for plant in PLANTS})


@pytest.fixture(scope="module")
def assembly(compile_hip: Callable[..., bytes]) -> dict[str, str]:
    return {target: str(bench.assembly(target)) for target in TARGETS}


@pytest.fixture(scope="module")
def right(assembly: dict[str, str]) -> dict[str, Module]:
    return {target: bench.assembled(assembly[target], target) for target in TARGETS}


def test_there_are_a_hundred_and_each_can_be_planted(assembly: dict[str, str]) -> None:
    assert len(PLANTS) >= 100
    assert len({plant.name for plant in PLANTS}) == len(PLANTS)
    for plant in PLANTS:
        assert bench.planted(assembly[plant.target], plant) != assembly[plant.target]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_planted_defect_is_seen_and_the_right_kernel_is_not_accused(
    kind: str, assembly: dict[str, str], right: dict[str, Module]
) -> None:
    plant = next(plant for plant in PLANTS if plant.kind == kind)
    assert bench.seen(right[plant.target], plant.kernel) == []
    assert bench.seen(bench.assembled(bench.planted(assembly[plant.target], plant), plant.target), plant.kernel)

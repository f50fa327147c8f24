"""rocport_warp.h as machine code of a target of each width, against CUDA's model; benchmarks/isa.py warp asks all."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocport.executor.isa import TablesError
from rocport.executor.isa.tables import family
from rocport.toolchain import ToolchainError, find

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "isa.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    try:
        find()
        family("gfx942")
    except (ToolchainError, TablesError) as error:
        pytest.skip(str(error))
    spec = importlib.util.spec_from_file_location("isa_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_answers_are_cudas(benchmark: ModuleType, target: str) -> None:
    (row,) = benchmark.warp([target], cases=12)
    assert row["shuffles"] == 2 * 49920
    assert row["others"] == 2 * 12 * 32 * 15
    assert row["differ"] == 0

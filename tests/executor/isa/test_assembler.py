"""What LLVM's assembler encodes, the tables decode by the same name: a sample of benchmarks/isa_assembler.py."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "isa_assembler.py"


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_names_agree(target: str, compile_hip: Callable[..., bytes], capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("isa_assembler", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert module.check(target, sample=9, verbose=False), capsys.readouterr().out
    said = capsys.readouterr().out
    assert int(said.split(" assembled")[0].split()[-1]) > 100

"""Every command gives the same answer to the same question: benchmarks/facts.py, and a few answers by name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rocport.compat.text import tables_data
from rocport.facts.attention import attention_of
from rocport.facts.rocm import torch_release
from rocport.facts.targets import load_target
from rocport.model.versions import TorchVersion

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "facts.py"


def _questions():
    spec = importlib.util.spec_from_file_location("benchmark_of_facts", BENCHMARK)
    sys.path.insert(0, str(BENCHMARK.parent))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.questions())


def test_no_two_commands_disagree():
    asked = _questions()
    assert sum(len(said) > 1 for _, said in asked) >= 200
    differ = [(question, said) for question, said in asked if len(set(said.values())) > 1]
    assert not differ


@pytest.mark.parametrize(
    ("gfx", "torch", "state"),
    [("gfx1100", "2.8", "switch"), ("gfx1100", "2.12", "yes"), ("gfx942", "2.8", "yes"), ("gfx906", "2.8", "no")],
)
def test_flash_attention(gfx, torch, state):
    assert attention_of(load_target(gfx), torch).state == state


def test_nvtx_is_served_by_roctx():
    rows = tables_data(torch_release(TorchVersion.parse("2.9")), None)["tables"]["module"]
    row = next(row for row in rows if row["name"] == "torch.cuda.nvtx")
    assert row["state"] == "yes" and "roctx" in row["note"]

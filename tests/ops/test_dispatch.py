import json

import pytest
import torch
from click.testing import CliRunner

from rocport import ops
from rocport.cli.cmd_ops import command
from rocport.facts.targets import load_target
from rocport.ops import codegen
from rocport.ops.dispatch import VARIABLE, Operator, Tier, TierRefused, _from_environment
from rocport.ops.examples import example_call
from rocport.runtime import Platform, assume

CPU = Platform("cpu")
MI300 = Platform("rocm", target=load_target("gfx942"))
H100 = Platform("cuda", capability=(9, 0))


@pytest.fixture
def two() -> Operator:
    fast = Tier("fast", 10, lambda x: x + 1, lambda platform, x: "" if x > 0 else f"needs x > 0, have {x}")
    eager = Tier("eager", 100, lambda x: x + 1, ops.dispatch.never)
    return Operator("two", "none", _tiers=[fast, eager], _broken={"vendor": "cannot be imported: No module named 'v'"})


def test_the_first_that_does_not_refuse_serves(two):
    assert two.select(CPU, 1).name == "fast"
    assert two.select(CPU, 0).name == "eager"


def test_explain_says_why_not(two):
    rows = {row.tier: row for row in two.explain(CPU, 0)}
    assert rows["fast"].refused == "needs x > 0, have 0"
    assert rows["eager"].chosen and not rows["fast"].chosen
    assert "No module named 'v'" in rows["vendor"].refused


def test_pinning_by_call_process_and_environment(two, monkeypatch):
    assert two.select(CPU, 1, tier="eager").name == "eager"
    two.pin("eager")
    assert two.select(CPU, 1).name == "eager"
    two.pin("")
    monkeypatch.setenv(VARIABLE, "other=fast,two=eager")
    assert two.select(CPU, 1).name == "eager"
    monkeypatch.setenv(VARIABLE, "eager")
    assert two.select(CPU, 1).name == "eager"


def test_a_pinned_tier_that_cannot_serve_is_an_error(two):
    with pytest.raises(TierRefused, match="'fast' is pinned and refuses: needs x > 0"):
        two.select(CPU, 0, tier="fast")
    with pytest.raises(TierRefused, match="No module named 'v'"):
        two.pin("vendor")
    with pytest.raises(ValueError, match="it has fast, eager, vendor"):
        two.pin("slow")


@pytest.mark.parametrize(
    ("text", "tier"), [("", ""), ("eager", "eager"), ("a=x", ""), ("eager,a=x", "eager"), (" two = y , eager", "y")]
)
def test_the_variable(text, tier):
    assert _from_environment(text, "two") == tier


def test_pinned_restores():
    with ops.pinned(sdpa="eager"):
        assert ops.operator("sdpa").pinned() == "eager"
    assert ops.operator("sdpa").pinned() == ""
    with pytest.raises(KeyError, match="there are adamw8bit"):
        ops.operator("nope")


@pytest.mark.parametrize("name", ops.names())
@pytest.mark.parametrize("where", [CPU, MI300, H100], ids=str)
def test_every_operator_is_served_everywhere_and_ends_in_eager(name, where):
    with assume(where):
        rows = ops.operator(name).explain(where, *example_call(name))
    assert sum(row.chosen for row in rows) == 1
    tiers = ops.operator(name).tiers()
    assert tiers[-1].name == "eager" and tiers[-1].rank == 100
    assert len({tier.rank for tier in tiers}) == len(tiers)


@pytest.mark.parametrize(("shape", "most"), [((4096, 2048), 64), ((8192, 3072), 96), ((4096, 4096), 128)])
def test_many_rows_go_to_the_matmul_library(shape, most):
    q = codegen.example("nf4b64", shape)
    operator = ops.operator("quantized_matmul")
    for rows, tier in ((1, "triton"), (most, "triton"), (most + 1, "dense")):
        assert operator.select(MI300, torch.empty(rows, shape[1], dtype=torch.bfloat16), q, None).name == tier


@pytest.mark.parametrize(
    ("shape", "name", "reason"),
    [((64, 100), "nf4b64", "multiple of 32"), ((64, 96), "nf4b64", "cross rows"), ((64, 64), "nf4b128", "cross rows")],
)
def test_weights_whose_rows_do_not_start_at_a_word_or_block(shape, name, reason):
    q = ops.quantize(torch.randn(shape), name)
    rows = ops.operator("quantized_matmul").explain(MI300, torch.empty(1, shape[1]), q, None)
    assert reason in next(row.refused for row in rows if row.tier == "triton")
    dense = ops.dequantize(q)
    x = torch.randn(3, shape[1])
    torch.testing.assert_close(ops.quantized_matmul(x, q), x @ dense.T)


def test_grouped_mm_is_a_loop_on_rocm():
    rows = {row.tier: row for row in ops.operator("grouped_mm").explain(MI300, *example_call("grouped_mm"))}
    assert "loops elsewhere" in rows["pytorch"].refused and rows["triton"].chosen


def test_explain_command():
    result = CliRunner().invoke(command, ["explain", "sdpa", "quantized_matmul", "--gfx", "gfx1100"])
    assert result.exit_code == 0
    assert "on ROCm on gfx1100" in result.output
    assert "needs gfx942 or gfx950, have ROCm on gfx1100" in result.output
    result = CliRunner().invoke(command, ["explain", "--format", "json"])
    assert set(json.loads(result.stdout)["operators"]) == set(ops.names())


@pytest.mark.parametrize(
    ("arguments", "message"), [(["nope"], "no operator nope"), (["sdpa", "--gfx", "gfx9zz"], "not a known gfx target")]
)
def test_explain_command_usage(arguments, message):
    result = CliRunner().invoke(command, ["explain", *arguments])
    assert result.exit_code == 2 and message in result.output

"""`rocport doctor --model`: how a model loads on a named target, or on the machine of a capture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli.cmd_doctor import command

ROCMINFO = """\
Agent 2
*******
  Name:                    gfx1100
  Marketing Name:          Radeon RX 7900 XTX
  Device Type:             GPU
  Wavefront Size:          32(0x20)
  Chip ID:                 29772(0x744c)
"""


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def model(tmp_path):
    quantized = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
    config = {"model_type": "llama", "torch_dtype": "bfloat16", "quantization_config": quantized}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


def test_for_a_named_target(model):
    bad = call("--model", model, "--target", "gfx942", "--bitsandbytes", "0.49.1")
    assert bad.exit_code == 1 and "need bitsandbytes 0.49.2" in bad.output and "model convert" in bad.output
    good = call("--model", model / "config.json", "--target", "gfx942", "--bitsandbytes", "0.50.2")
    assert good.exit_code == 0 and "load as is" in good.output


def test_json_has_one_policy_a_target(model):
    said = json.loads(call("--model", model, "--target", "gfx942,gfx906", "--bitsandbytes", "0.50.2", "--json").stdout)
    assert [(p["target"], p["verdict"]) for p in said] == [("gfx942", "ok"), ("gfx906", "change")]
    assert {p["schema"] for p in said} == {"rocport.policy/1"}


def test_for_the_gpu_of_a_capture(model, tmp_path):
    capture = tmp_path / "rocminfo.txt"
    capture.write_text(ROCMINFO, encoding="utf-8")
    said = call("--model", model, "--from", capture)
    assert said.exit_code == 0 and "on gfx1100" in said.output


def test_bad_calls(model, tmp_path):
    assert call("--bitsandbytes", "0.50.2").exit_code == 2
    assert call("--model", model, "--target", "gfx942", "--rocm", "x").exit_code == 2
    assert call("--model", model, "--target", "gfx943").exit_code == 2
    assert "gfx942" in call("--model", model, "--target", "gfx943").output
    assert "no such file" in call("--model", tmp_path / "absent", "--target", "gfx942").output
    assert "no version" in call("--model", model, "--target", "gfx942", "--bitsandbytes", "latest").output

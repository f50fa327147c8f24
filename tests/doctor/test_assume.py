"""A machine as if it had another GPU, torch or ROCm: the answers are those of a paste that says the same."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from rocport.checkpoint.policy import decide
from rocport.cli.cmd_doctor import command
from rocport.doctor.assume import assume
from rocport.doctor.capture import machine_from_text
from rocport.doctor.diagnosis import diagnose
from rocport.facts.targets import load_target

PASTE = """PyTorch version: 2.4.0+rocm6.0
ROCM used to build PyTorch: 6.0
GPU models and configuration: AMD Radeon RX 7900 XTX (gfx1100)
HSA_OVERRIDE_GFX_VERSION=11.0.0
"""


def paste():
    return machine_from_text(PASTE, "paste")


def test_nothing_asked_changes_nothing():
    machine = paste()
    assert assume(machine) is machine


def test_the_rocm_of_a_torch_tag_is_known():
    versions = diagnose(paste()).versions()
    assert versions["rocm"] == "6.0" and versions["torch"] == "2.4.0+rocm6.0"


@pytest.mark.parametrize("gfx", ["gfx906", "gfx942", "gfx1151"])
def test_another_gpu_and_build_are_examined_as_a_paste_of_them(gfx):
    said = "PyTorch version: 2.9.0+rocm6.4\nROCM used to build PyTorch: 6.4\n"
    said += f"GPU models and configuration: AMD GPU ({gfx})\n"
    wanted = diagnose(machine_from_text(said, "paste"))
    found = diagnose(assume(paste(), (gfx,), "2.9", "6.4"))
    for check in ("torch-arch", "attention", "triton-target", "hipblaslt"):
        one, other = wanted.result(check), found.result(check)
        assert one is not None and other is not None and one.status == other.status, (check, one, other)
    assert [gpu.gfx for gpu in found.machine.gpus] == [gfx] and found.machine.env("HSA_OVERRIDE_GFX_VERSION")
    assert found.machine.notes[-1].startswith("examined as if")


def test_a_rocm_alone_keeps_the_torch():
    machine = assume(paste(), rocm="7.2")
    assert machine.version("torch").value == "2.4.0+rocm7.2" and machine.version("rocm").value == "7.2"
    assert [gpu.gfx for gpu in machine.gpus] == ["gfx1100"]


@pytest.mark.parametrize("value", ["unknown-build", "2.x"])
def test_a_torch_that_is_no_version_is_not_known(tmp_path, value):
    log = tmp_path / "paste.txt"
    log.write_text(PASTE.replace("2.4.0+rocm6.0", value))
    result = CliRunner().invoke(command, ["--from", str(log), "--rocm", "7.2", "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    data = json.loads(result.output)
    assert data["versions"]["torch"] is None and data["versions"]["rocm"] == "7.2"
    assert f"no known torch, as '{value}' is no version" in data["notes"][-1]


def test_a_torch_alone_keeps_the_rocm():
    machine = assume(paste(), torch="2.9")
    assert diagnose(machine).versions()["rocm"] == "6.0" and machine.version("torch").value == "2.9.0+rocm6.0"
    assert machine.version("torch_hip") and "its own ROCm 6.0" in machine.notes[-1]
    assert diagnose(machine).result("torch-versions").status != "skipped"
    assert assume(paste(), torch="2.9+cu128").version("rocm") is None


def test_on_the_command_line(tmp_path):
    asked = ["--target", "gfx906", "--torch", "2.9", "--rocm", "6.4", "--json"]
    data = json.loads(CliRunner().invoke(command, asked).output)
    assert data["gpus"][0]["gfx"] == "gfx906"
    for wrong in (["--torch", "x"], ["--rocm", "seven"], ["--deep", "--torch", "2.9"]):
        assert CliRunner().invoke(command, wrong).exit_code == 2
    model = tmp_path / "config.json"
    model.write_text(
        json.dumps(
            {"model_type": "llama", "quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}
        )
    )
    texts = [s.text for s in decide(model, load_target("gfx1100"), "0.50.2", torch="2.9", rocm="7.1").statements]
    assert any("library for HIP 7.1" in text for text in texts)
    gone = decide(model, load_target("gfx1100"), "0.49.2", rocm="6.1").statements
    assert any(s.verdict == "no" and "no library for HIP 6.1" in s.text for s in gone)

"""`rocport compat` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from rocport.cli.cmd_compat import command


def call(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def test_a_plan_and_its_exit_codes(tmp_path):
    asked = ("--gpu", "RX 7900 XTX", "--python", "3.12", "--os", "ubuntu24.04")
    good = call(*asked, "--want", "torch>=2.9,bitsandbytes,flash-attn")
    assert good.exit_code == 0 and "pip install --index-url" in good.output
    assert call(*asked, "--want", "nvidia-dali-cuda120").exit_code == 1
    file = tmp_path / "requirements.txt"
    file.write_text("torch==2.9.1+cu128\nnot-a-known-thing\n")
    said = call(*asked, "--from", str(file))
    assert said.exit_code == 1 and "unknown  not-a-known-thing" in said.output and "torch==2.9.1" in said.output


def test_json():
    said = json.loads(call("--gpu", "gfx942", "--want", "torch,vllm", "--json").stdout)
    assert said["schema"] == "rocport.compat/1" and said["gpu"]["target"] == "gfx942"
    assert said["torch"]["index"].startswith("https://") and said["torch"]["sure"] in ("measured", "documented")
    assert [item["status"] for item in said["wanted"]] == ["separate"]


@pytest.mark.parametrize(
    ("name", "instead"), [("vllm", "WSL"), ("jax", "WSL"), ("onnxruntime", "onnxruntime-directml")]
)
def test_builds_for_linux_are_refused_on_windows(name, instead):
    windows = json.loads(call("--gpu", "gfx1201", "--os", "windows11", "--want", name, "--json").stdout)["wanted"]
    assert [item["status"] for item in windows] == ["no"] and instead in windows[0]["text"]
    linux = json.loads(call("--gpu", "gfx1201", "--os", "ubuntu24.04", "--want", name, "--json").stdout)["wanted"]
    assert [item["status"] for item in linux] == ["separate"]


def test_a_system_amd_lists_apart_from_what_stands_for_it():
    assert "documented for oracle 8.9" in call("--gpu", "MI300X", "--os", "ol8", "--rocm", "6.1").output


def test_tables():
    assert call("--tables", "2.11", "--rocm", "7.14").output.startswith("# torch 2.11 on ROCm 7.14.1")
    assert call("--tables", "2.9", "--rocm", "7.1.1").output.startswith("# torch 2.9 on ROCm 7.1.1")
    assert call("--tables", "2.13").output.startswith("# torch 2.13 on ROCm 7.2")
    data = json.loads(call("--tables", "2.14", "--gpu", "gfx942", "--format", "json").stdout)
    assert data["schema"] == "rocport.support/1" and data["target"] == "gfx942"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--gpu", "RX 7950 XTX"), "RX 7900 XTX"),
        (("--gpu", "gfx943"), "gfx942"),
        (("--gpu", "gfx942", "--python", "three"), "such as 3.12"),
        (("--gpu", "gfx942", "--os", "ubuntu23.04"), "ubuntu22.04"),
        (("--gpu", "gfx942", "--want", "torch=>2"), "no requirement"),
        (("--gpu", "gfx942", "--from", "absent.txt"), "absent.txt"),
        (("--gpu", "gfx942", "--format", "markdown"), "--tables"),
        (("--gpu", "gfx942", "--rocm", "seven"), "such as 7.1.1"),
        (("--tables", "2.9", "--rocm", "9.9"), "7.1.1"),
        (("--tables", "9.9"), "9.9"),
        (("--tables", "new"), "new"),
        (("--tables", "2.13", "--want", "torch"), "--tables goes with"),
        (("--tables", "2.13", "--format", "text"), "markdown or json"),
    ],
)
def test_usage_errors(arguments, says):
    said = call(*arguments)
    assert said.exit_code == 2 and says in said.output


def test_a_machine_without_a_gpu_is_told_to_name_one(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rocport", "compat"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "Traceback" not in done.stderr
    if done.returncode == 2:
        assert "--gpu" in done.stderr

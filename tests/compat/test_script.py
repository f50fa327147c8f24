"""Plans as scripts: shells accept them, and each ends with importing what was asked."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from rocport.cli.cmd_compat import command


def script(kind: str, *more: str) -> str:
    asked = ["--gpu", "RX 7900 XTX", "--python", "3.12", "--want", "torch,bitsandbytes,numpy<3,tensorrt"]
    said = CliRunner().invoke(command, [*asked, "--script", kind, *more])
    assert said.exit_code == 1, said.output  # tensorrt does not work, and is named
    assert "Left out: tensorrt" in said.output
    return said.output


@pytest.mark.parametrize("kind", ["linux", "wsl"])
def test_shells_take_it(kind):
    text = script(kind)
    assert text.startswith("#!/usr/bin/env bash\n") and text.rstrip().endswith('"import bitsandbytes, numpy"')
    assert ("/dev/dxg" in text) == (kind == "wsl")
    if shutil.which("bash"):
        assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


def test_powershell():
    text = script("windows")
    assert "Activate.ps1" in text and "export " not in text and "grep" not in text
    steps = "\n".join(row for row in text.splitlines() if not row.startswith("#"))
    assert steps.count('"') % 2 == 0 and steps.count("'") % 2 == 0 and "&&" not in steps
    assert "$PSNativeCommandUseErrorActionPreference = $true" in steps  # else a pip that fails does not stop the script


def test_powershell_parses_it(tmp_path):
    program = shutil.which("pwsh") or shutil.which("powershell")
    if program is None:
        pytest.skip("no pwsh here: the syntax of the PowerShell script was not checked")
    file = tmp_path / "plan.ps1"
    file.write_text(script("windows"), encoding="utf-8")
    parser = "[System.Management.Automation.Language.Parser]"
    read = f"$e = $null; [void]{parser}::ParseFile('{file}', [ref]$null, [ref]$e); $e"
    done = subprocess.run([program, "-NoProfile", "-Command", read], capture_output=True, text=True, check=True)
    assert not done.stdout.strip(), done.stdout


def test_dockerfile():
    rows = [row for row in script("docker").splitlines() if not row.startswith("#")]
    assert rows[0].startswith("FROM rocm/") and rows[-1].startswith("CMD python -c")
    assert all(row.startswith(("FROM ", "RUN ", "ENV ", "CMD ")) for row in rows)


def test_conda():
    text = script("conda")
    assert "  - python=3.12\n" in text and "#   pip install --index-url" in text
    yaml = pytest.importorskip("yaml")
    data = yaml.safe_load(text)
    assert (data["name"], data["channels"]) == ("rocm", ["conda-forge"]) and "pip" in data["dependencies"]
    assert all(isinstance(value, str) for value in data.get("variables", {}).values())


def test_a_conda_file_takes_no_experimental_python():
    asked = ["--gpu", "gfx942", "--os", "ubuntu24.04", "--want", "torch==2.14.*", "--script", "conda"]
    assert "  - python=3.14\n" in CliRunner().invoke(command, asked).output


@pytest.mark.parametrize("kind", ["linux", "docker", "conda"])
def test_scripts_say_what_the_index_is_recorded_to_hold(kind):
    assert "Torch's index is recorded to hold torch 2." in script(kind)


def test_a_plan_for_windows_is_no_linux_script():
    said = CliRunner().invoke(command, ["--gpu", "gfx1100", "--os", "windows11", "--script", "linux"])
    assert said.exit_code == 2 and "for Windows" in said.output

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


def test_dockerfile():
    rows = [row for row in script("docker").splitlines() if not row.startswith("#")]
    assert rows[0].startswith("FROM rocm/") and rows[-1].startswith("CMD python -c")
    assert all(row.startswith(("FROM ", "RUN ", "ENV ", "CMD ")) for row in rows)


def test_conda():
    text = script("conda")
    assert "  - python=3.12\n" in text and "#   pip install --index-url" in text


def test_a_plan_for_windows_is_no_linux_script():
    said = CliRunner().invoke(command, ["--gpu", "gfx1100", "--os", "windows11", "--script", "linux"])
    assert said.exit_code == 2 and "for Windows" in said.output

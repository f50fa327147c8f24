"""`rocport doctor` as a user calls it: exit codes, JSON, --from, --export, --fix."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import doctor_samples as samples
import pytest
from click.testing import CliRunner, Result

from rocport.cli.cmd_doctor import command

BROKEN = samples.rocminfo(samples.agent("gfx1030", 0x73DF, "AMD Radeon RX 6700 XT"))
HEALTHY = samples.rocminfo(samples.agent("gfx1100", 0x744C, "Radeon RX 7900 XTX"))


def call(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(command, list(arguments), input=stdin)


@pytest.fixture
def capture(tmp_path: Path):
    def write(text: str, name: str = "paste.txt") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_exit_codes(capture):
    assert call("--from", capture(HEALTHY)).exit_code == 0
    assert call("--from", capture(BROKEN)).exit_code == 1
    assert call("--from", "/nowhere/at/all").exit_code == 1  # click's own: main() turns errors into 2
    assert call("--dry-run").exit_code == 2
    assert call("paste.txt").exit_code == 2
    assert call("--from", capture(HEALTHY), "--deep").exit_code == 2


def test_errors_end_with_2_and_no_traceback(tmp_path):
    binary = tmp_path / "x.bin"
    binary.write_bytes(b"\x7fELF" + bytes(64))
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path / "missing", binary, loop):
        done = subprocess.run(
            [sys.executable, "-m", "rocport", "doctor", "--from", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and str(path) in done.stderr and "Traceback" not in done.stderr


def test_several_files_and_stdin(capture):
    both = call("--from", capture(HEALTHY, "a.txt"), capture(samples.collect_env(), "b.txt"))
    assert both.exit_code == 0 and "[torch, rocminfo]" in both.output
    assert "gfx1100" in call("--from", "-", stdin=HEALTHY).output


def test_text_output_names_cause_and_fix(capture):
    output = call("--from", capture(BROKEN)).output
    assert "GPU 0: gfx1030, disguised, the chip is gfx1031" in output
    assert "unset HSA_OVERRIDE_GFX_VERSION" in output and "Chip ID: 29663(0x73df)" in output


def test_json_is_the_documented_value(capture):
    value = json.loads(call("--from", capture(BROKEN), "--json").stdout)
    assert set(value) == {"schema", "live", "status", "gpus", "versions", "checks", "notes", "pastes", "facts_as_of"}
    assert set(value["versions"]) == {"rocm", "hip", "driver", "torch", "triton", "bitsandbytes"}
    (gpu,) = value["gpus"]
    assert {"gfx", "wavefront", "product", "kind", "evidence"} <= set(gpu)
    assert (gpu["gfx"], gpu["wavefront"], gpu["kind"], gpu["chip"], gpu["spoofed"]) == (
        "gfx1030",
        32,
        "dgpu",
        ["gfx1031"],
        True,
    )
    for check in value["checks"]:
        assert {"id", "status", "evidence", "consequence", "fix", "verify"} <= set(check)
        assert check["status"] in ("ok", "warn", "fail", "skipped")


def test_silent_failures_come_first(capture):
    text = samples.collect_env(
        torch="2.13.0+rocm7.14", hip="7.14.1", extra="[pip3] triton==3.8\n[pip3] triton-rocm==3.8\n"
    )
    text += "\nPYTORCH_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64\n"
    checks = json.loads(call("--from", capture(text), "--json").stdout)["checks"]
    assert [c["id"] for c in checks][:2] == ["allocator", "triton-packages"]


def test_export_can_be_sourced(capture):
    text = HEALTHY + "\nPYTORCH_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64\nAMD_LOG_LEVEL=4\n"
    result = call("--from", capture(text), "--export")
    shell = subprocess.run(
        ["/bin/sh", "-c", f"{result.output}\necho $PYTORCH_ALLOC_CONF-$AMD_LOG_LEVEL"],
        capture_output=True,
        text=True,
        check=True,
        env={"AMD_LOG_LEVEL": "4"},
    )
    assert shell.stdout.strip() == "expandable_segments:True-"
    assert "no environment variable" in call("--from", capture(HEALTHY), "--export").output


def test_fix_prints_and_runs_nothing(capture):
    path = capture("Unable to open /dev/kfd read-write: Permission denied\n")
    result = call("--from", path, "--fix", "kfd-access", "--dry-run")
    assert result.exit_code == 1 and "usermod -a -G render,video" in result.output
    assert call("--from", path, "--fix", "kfd-access").exit_code == 2
    assert call("--from", path, "--fix", "kfd-acess").exit_code == 2
    assert "close: kfd-access" in call("--from", path, "--fix", "kfd-acess").output
    assert call("--from", capture(HEALTHY), "--fix", "gfx-override", "--dry-run").exit_code == 0


def test_another_environment(tmp_path):
    samples.site_packages(tmp_path, torch_version="2.9.1+rocm6.4")
    value = json.loads(call("--python", str(tmp_path), "--json").stdout)
    assert value["versions"]["torch"] == "2.9.1+rocm6.4" and value["versions"]["hip"] == "6.4.43484"
    assert call("--python", str(tmp_path / "lib")).exit_code == 2


def test_no_colour_in_a_pipe(capture):
    assert "\x1b" not in call("--from", capture(BROKEN)).output


def test_torch_is_never_imported():
    code = (
        "import sys; from rocport.doctor.live import read_machine; from rocport.doctor.diagnosis import diagnose;"
        "diagnose(read_machine()).as_dict(); assert 'torch' not in sys.modules and 'triton' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

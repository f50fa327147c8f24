"""`rocport explain`: exit codes, streams, JSON, pages."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli

LOG = "one\nRuntimeError: HIP error: invalid device function\n"


def invoke(*args: str, stdin: str | bytes | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["explain", *args], input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_a_log_with_a_known_failure_exits_1_and_names_file_and_line(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(LOG)
    code, out, _ = invoke(str(log))
    assert code == 1
    assert f"{log}:2: The binary holds no code for this GPU [invalid-device-function]" in out
    assert "https://github.com/pytorch/pytorch/issues/164346" in out


def test_a_log_with_none_exits_0_and_says_what_to_collect() -> None:
    code, out, _ = invoke("-", stdin="all fine\nfoo: error: never seen\n")
    assert code == 0
    assert "no known failure found" in out
    assert "stdin:2: foo: error: never seen" in out
    assert "rocport doctor --json" in out


def test_json_is_data_only() -> None:
    code, out, _ = invoke("-", "--json", stdin=LOG)
    data = json.loads(out)
    assert code == 1
    assert data["matches"][0]["id"] == "invalid-device-function"
    assert data["matches"][0]["lines"] == [2]
    assert data["collect"] == []


def test_pages_of_a_rule_and_of_a_failure() -> None:
    code, out, _ = invoke("warp-shuffle-sync")
    assert code == 0
    assert out.startswith("warp-shuffle-sync:")
    code, out, _ = invoke("bnb-cuda-version-set")
    assert code == 0
    assert "unset BNB_CUDA_VERSION" in out
    data = json.loads(invoke("bnb-cuda-version-set", "--json")[1])
    assert data["certainty"] == "high"


def test_list_names_every_area_and_rule() -> None:
    code, out, _ = invoke("--list")
    assert code == 0
    assert "failures: bitsandbytes" in out
    assert "warp-shuffle-sync" in out
    data = json.loads(invoke("--list", "--json")[1])
    assert len(data["failures"]) >= 80


def test_unknown_subjects_get_a_suggestion_and_exit_2() -> None:
    code, _, err = invoke("warp-shufle-sync")
    assert code == 2
    assert "did you mean warp-shuffle-sync" in err
    assert invoke()[0] == 2


def test_a_pipe_that_has_a_name_is_a_log() -> None:
    reading, writing = os.pipe()
    os.write(writing, LOG.encode())
    os.close(writing)
    code, out, err = invoke(f"/dev/fd/{reading}")
    os.close(reading)
    assert code == 1 and ":2: The binary holds no code for this GPU" in out, err


@pytest.mark.parametrize("kind", ["folder", "gzip", "unreadable-link"])
def test_what_cannot_be_read_exits_2_with_the_reason(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log"
    if kind == "folder":
        path.mkdir()
    elif kind == "gzip":
        path.write_bytes(b"\x1f\x8b\x08\x00rest")
    else:
        path.symlink_to(path)
    code, _, err = invoke(str(path))
    assert code == 2
    assert "Error:" in err
    assert "Traceback" not in err


def test_an_empty_log_is_no_failure(tmp_path: Path) -> None:
    log = tmp_path / "empty.log"
    log.touch()
    code, out, _ = invoke(str(log))
    assert code == 0
    assert "0 lines read" in out


@pytest.mark.parametrize("fmt", ["sarif", "markdown", "github", "html"])
def test_a_paste_is_reported_in_the_formats_of_the_other_commands(fmt: str) -> None:
    code, out, _ = invoke("-", "--format", fmt, stdin=LOG)
    assert code == 1
    assert "invalid-device-function" in out
    assert "stdin" in out


def test_format_json_is_json_and_a_page_has_no_other_format() -> None:
    assert invoke("-", "--format", "json", stdin=LOG) == invoke("-", "--json", stdin=LOG)
    code, _, err = invoke("invalid-device-function", "--format", "sarif")
    assert code == 2
    assert "text and json, not sarif" in err


@pytest.mark.parametrize(
    ("option", "value"), [("--rocm", "sixty"), ("--target", "gfx00"), ("--torch", "newest")], ids=lambda value: value
)
def test_an_option_that_names_no_version_or_gpu_is_a_usage_error(option: str, value: str) -> None:
    code, _, err = invoke("-", option, value, stdin=LOG)
    assert code == 2
    assert f"{option}: " in err
    assert value in err

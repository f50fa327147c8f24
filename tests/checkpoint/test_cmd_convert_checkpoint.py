"""`rocport model convert`, by its first name: exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.facts.dates import dated

pytest.importorskip("torch", reason="torch is not installed")
builders = pytest.importorskip("builders", reason="bitsandbytes is not installed")


def invoke(*args: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["convert-checkpoint", *map(str, args)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def model(tmp_path: Path) -> Path:
    tensors, _ = builders.quantize("w", (64, 64))
    builders.save_model(tmp_path / "src", [tensors], {"model_type": "llama"})
    return tmp_path / "src"


def test_a_conversion_reports_what_it_did(model: Path, tmp_path: Path) -> None:
    code, out, err = invoke(model, tmp_path / "dst")
    assert code == 0
    assert "1 weights in 1 shards" in out
    assert "64 values checked" in out
    assert "model.safetensors" in err
    code, out, err = invoke(model, tmp_path / "json", "--json", "-q", "--blocksize", 128)
    assert json.loads(out)["weights"] == 1
    assert err == dated() + "\n"


def test_a_dry_run_writes_nothing_and_exits_1(model: Path, tmp_path: Path) -> None:
    code, out, _ = invoke(model, tmp_path / "dst", "--dry-run")
    assert code == 1
    assert "would convert 1 weights" in out
    assert not (tmp_path / "dst").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--to", "bf16", "--blocksize", "64"], "exclude each other"),
        (["--blocksize", "65"], "block size 65"),
        (["--to", "int8"], "expected auto, bf16"),
    ],
)
def test_bad_options_exit_2(model: Path, tmp_path: Path, args: list[str], message: str) -> None:
    code, _, err = invoke(model, tmp_path / "dst", *args)
    assert code == 2
    assert message in err


def test_bad_sources_exit_2_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"garbage")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("x.safetensors", "missing", "loop"):
        code, _, err = invoke(tmp_path / name, tmp_path / "dst")
        assert code == 2
        assert "Error:" in err
        assert "Traceback" not in err


def test_a_read_only_destination_exits_2(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = invoke(model, tmp_path / "file" / "dst")
    assert code == 2
    assert "Error:" in err

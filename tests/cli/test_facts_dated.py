"""Every command that states facts prints their day, and a warning when that is long ago."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.facts import dates
from rocport.facts.failures import load_failures

PASTE = "ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\nGPU: gfx1100\n"
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}


def commands(folder: Path) -> dict[str, list[str]]:
    (folder / "paste.txt").write_text(PASTE)
    (folder / "config.json").write_text(json.dumps({**MODEL, "num_hidden_layers": 2, "vocab_size": 99}))
    plan = ["compat", "--gpu", "gfx1100", "--want", "torch"]
    found = {
        "plan": plan,
        "tables": ["compat", "--tables", "2.9"],
        "matrix": ["compat", "--matrix", "--gpu", "gfx942"],
        "doctor": ["doctor", "--from", str(folder / "paste.txt")],
        "model": ["doctor", "--model", str(folder), "--target", "gfx942"],
        "explain": ["explain", str(folder / "paste.txt")],
        "failure": ["explain", "kfd-missing"],
        "code": ["explain", "hipErrorNoDevice"],
        "list": ["explain", "--list"],
        "windows": [*plan, "--os", "windows11", "--script", "windows"],
    }
    return found | {kind: [*plan, "--script", kind] for kind in ("linux", "wsl", "docker", "conda")}


def test_every_command_prints_the_day_of_its_facts_and_warns_when_they_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, words in commands(tmp_path).items():
        said = CliRunner().invoke(cli, words).output
        assert "Facts as of 20" in said and "upgrade rocport" not in said, (name, said)
    monkeypatch.setattr(dates, "STALE_DAYS", -100_000)
    for name, words in commands(tmp_path).items():
        assert "upgrade rocport" in CliRunner().invoke(cli, words).output, name


def test_scan_and_port_print_it_beside_their_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "requirements.txt").write_text("torch==2.5.1+cu124\n")
    words = (["scan", str(tmp_path / "source")], ["port", str(tmp_path / "source"), "--out", str(tmp_path / "out")])
    for said in (CliRunner().invoke(cli, line) for line in words):
        assert "Facts as of 20" in said.stderr and "Facts as of" not in said.stdout
        assert "upgrade rocport" not in said.stderr
    monkeypatch.setattr(dates, "STALE_DAYS", -100_000)
    words[1][-1] += "2"
    assert all("upgrade rocport" in CliRunner().invoke(cli, line).stderr for line in words)


def test_commands_whose_answer_is_something_else_print_it_on_stderr(tmp_path: Path) -> None:
    commands(tmp_path)
    (tmp_path / "kernel.cu").write_text("__global__ void k() {}\n")
    words = (["model", "convert", str(tmp_path), str(tmp_path / "out"), "--dry-run"], ["verify", str(tmp_path)])
    for said in (CliRunner().invoke(cli, line) for line in words):
        assert "Facts as of 20" in said.stderr and "Facts as of" not in said.stdout, said.output
    inspected = CliRunner().invoke(cli, ["model", "inspect", str(tmp_path), "--target", "gfx942", "--json"])
    assert json.loads(inspected.stdout)[0]["facts_as_of"] == dates.as_of().isoformat()


def test_commands_that_a_fix_advises_are_commands() -> None:
    """Ten fixes said `rocport compat torch --gpu GFX`, which is refused: what is wanted goes with --want."""
    for failure in load_failures():
        for text in (failure.cause, *failure.fix):
            for name, rest in re.findall(r"\brocport ([a-z][a-z-]+)((?: (?:--[a-z][a-z-]*|<[^>]+>|[\w.]+))*)", text):
                command, words = cli.get_command(click.Context(cli), name), rest.split()
                assert command is not None, (failure.id, name, rest)
                while isinstance(command, click.Group) and words:
                    command = command.get_command(click.Context(command), words.pop(0)) or command
                options = {option for param in command.params for option in param.opts}
                assert options.issuperset(re.findall(r"--[a-z][a-z-]*", rest)), (failure.id, rest)
                if name == "compat":
                    assert re.match(r"( --| names\b| prints\b| says\b|$)", rest), (failure.id, rest)

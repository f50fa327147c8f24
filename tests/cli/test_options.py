"""An option stands where the user put it and means what help says, or is refused: none is ignored in silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.cli.cmd_verify import _OF_LEVELS
from rocport.cli.cmd_verify import command as verify


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("verify", ".", "--level", "numerical", "--target", "gfx942"), "--target is of level build and functional"),
        (("verify", ".", "--level", "functional", "--target", "gfx942", "--width", "64"), "exclude each other"),
        (("run", "a.hip", "--executor", "isa", "--sanitize"), "--sanitize is of the source-level executor"),
        (("verify", ".", "--width", "32"), "--width is of level functional"),
        (("verify", ".", "--original", "."), "--original is of level nvidia-unchanged"),
        (("verify", ".", "--level", "nvidia-unchanged", "-j", "2"), "--jobs is of level build and functional"),
        (("verify", ".", "more"), "runs no command"),
        (("compare", "run.golden", "--device", "cuda:1"), "--device goes with --replay"),
        (("compare", "run.golden", "--replay", "--exact"), "not with --replay"),
        (("scan", ".", "--statistics", "--format", "json"), "--format is of the report"),
        (("scan", ".", "elsewhere"), "unexpected extra argument"),
        (("port", ".", "--statistics"), "No such option"),
    ],
)
def test_what_has_no_effect_is_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_every_option_of_verify_says_whose_it_is() -> None:
    general = {"path", "level", "fmt", "words", "help"}
    assert {item.name for item in verify.params} - general == set(_OF_LEVELS)


@pytest.mark.parametrize("behind", [True, False])
def test_options_stand_on_either_side_of_the_path(behind: bool, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("int f() { return warpSize; }\n")
    words = ["--select", "warp-size", "--format", "concise", "--no-cache"]
    result = CliRunner().invoke(cli, ["scan", *([str(tmp_path), *words] if behind else [*words, str(tmp_path)])])
    assert "warp-size" in result.stdout


WITHOUT_ROCM = {
    "accept": "compiles with the compiler that is found, whose HIP counts",
    "cache": "lists what is kept here",
    "capture": "records the torch that runs",
    "compare": "compares recorded numbers",
    "convert-checkpoint": "rewrites a checkpoint, on any platform",
    "exec": "runs a port with the headers of the SDK",
    "hipcc": "compiles with the headers of the SDK",
    "mcp": "its tools take what the commands take",
    "model convert": "rewrites a checkpoint, on any platform",
    "model generate": "runs with the torch that is installed",
    "model lora": "runs with the torch that is installed",
    "ops explain": "tiers ask the packages that are installed; of another torch, doctor and compat --tables tell",
    "report": "the port says what it was made for",
    "run": "runs a program with the headers of the SDK",
    "run-extension": "runs an extension with the torch that is installed",
    "run-kernel": "runs a kernel with the headers of the SDK",
    "sdk install": "is of one release, which sdk status names",
    "sdk path": "is of one release, which sdk status names",
    "sdk status": "is of one release, which it names",
    "sdk verify": "is of one release, which sdk status names",
    "task": "the port says what it was made for",
    "verify": "compiles with the HIP of the compiler that is found (--toolchain), and names it",
}
"""Commands that ask no fact with versions, or take them from what they work on, and why."""
TORCH_OTHERWISE = {"compat": "--want 'torch==2.9.*', or --tables 2.9"}


def commands(command: click.Command, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """(name, options) of every command, those of groups too."""
    if not isinstance(command, click.Group):
        yield name, {option for item in command.params for option in item.opts}
        return
    context = click.Context(command)
    for below in command.list_commands(context):
        found = command.get_command(context, below)
        assert found is not None
        yield from commands(found, f"{name} {below}".strip())


def test_every_command_that_asks_a_fact_takes_the_rocm_and_the_torch_it_is_asked_for() -> None:
    known = dict(commands(cli))
    assert {name for name, options in known.items() if "--rocm" not in options} == set(WITHOUT_ROCM)
    otherwise = {name for name, options in known.items() if "--rocm" in options and "--torch" not in options}
    assert otherwise == set(TORCH_OTHERWISE)


@pytest.mark.parametrize("words", [("--rocm", "seven"), ("--torch", "x")])
def test_a_fleet_refuses_a_version_that_is_none(words: tuple[str, ...], tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["fleet", str(tmp_path), "--out", str(tmp_path / "out"), *words])
    assert result.exit_code == 2 and words[0] in result.stderr

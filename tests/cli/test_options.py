"""An option stands where the user put it and means what help says, or is refused: none is ignored in silence."""

from __future__ import annotations

from pathlib import Path

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

"""Options of `rocport run` and `run-extension` are theirs wherever they stand; what follows `--` is the program's."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void width(int *w) { *w = warpSize; }
int main(int argc, char **argv) {
    int *w, got = 0;
    hipMalloc(&w, sizeof(int));
    width<<<1, 1>>>(w);
    hipMemcpy(&got, w, sizeof(int), hipMemcpyDeviceToHost);
    printf("width %d:", got);
    for (int i = 1; i < argc; ++i) printf(" %s", argv[i]);
    printf("\\n");
}
"""


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("{file}", "--width", "32"), "width 32:\n"),
        (("--width", "32", "{file}"), "width 32:\n"),
        (("{file}", "100", "--width", "32", "--", "--width", "7", "-n"), "width 32: 100 --width 7 -n\n"),
        (("{file}", "--", "--width", "32"), "width 64: --width 32\n"),
    ],
)
def test_options_stand_anywhere_before_the_dashes(words: tuple[str, ...], printed: str, tmp_path: Path) -> None:
    source = tmp_path / "show.hip"
    source.write_text(PROGRAM)
    result = CliRunner().invoke(cli, ["run", "--executor", "source", *(word.format(file=source) for word in words)])
    assert result.exit_code == 0, result.output
    assert result.stdout == printed


@pytest.mark.parametrize("command", ["run", "run-extension"])
def test_an_option_of_the_program_is_not_swallowed(command: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, [command, str(tmp_path), "--steps", "3"])
    assert result.exit_code == 2
    assert "--steps" in result.output and "goes behind `--`" in result.output

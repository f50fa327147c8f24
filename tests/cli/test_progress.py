"""A line that counts: for a person at a terminal, and for nobody else."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from rocport.cli.progress import counting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_it_and_a_file_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, fmt, shown in ((Terminal(), "text", True), (Terminal(), "json", False), (io.StringIO(), "text", False)):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        with counting("compiling", fmt) as count:
            count(1, 3, "a[b].cu gfx942")
        assert bool(stream.getvalue()) is shown, (fmt, shown)


def test_the_command_line_starts_without_rich() -> None:
    code = "import sys; sys.argv = ['rocport', '--version']; from rocport.cli import main\n"
    code += "try: main()\nexcept SystemExit: print('rich' in sys.modules, 'rocport.api' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"

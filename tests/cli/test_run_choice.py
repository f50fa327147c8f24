"""`rocport run` chooses who runs a program and says what that is worth: executors here give what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.executor import choice, registry, selftest
from rocport.executor.base import BuildOptions, Capability, Level, RunOptions, RunResult, Trust
from rocport.executor.choice import Choice
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import Program

UNSERVED = "rocport: hipImportExternalMemory is not served by the ISA executor's runtime: hipErrorNotSupported\n"


class Told(CpuExecutor):
    """Gives what it is told, and remembers how it was asked."""

    def __init__(self, stdout: str = "", stderr: str = "") -> None:
        super().__init__()
        self.result = RunResult(0, stdout, stderr, 0.1)
        self.ran: list[RunOptions] = []
        self.built: list[tuple[Program, Path]] = []

    def build(self, program: Program, folder: Path, _options: BuildOptions = BuildOptions()) -> Path:  # noqa: B008
        self.built.append((program, folder))
        return folder / "program"

    def build_widths(
        self,
        program: Program,
        folder: Path,
        widths: Sequence[int],
        options: BuildOptions = BuildOptions(),  # noqa: B008
    ) -> dict[int, Path]:
        return dict.fromkeys(widths, self.build(program, folder, options))

    def run(self, _executable: Path, _arguments: object, _cwd: Path, options: RunOptions = RunOptions()) -> RunResult:  # noqa: B008
        self.ran.append(options)
        return self.result


class Both:
    """Both executors, and the command with them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.machine, self.source = Told(), Told()
        self.file = folder / "a.hip"
        self.file.write_text("int main() {}\n")
        monkeypatch.setattr(choice, "choose", self.choose)

    def choose(self, asked: str = "", targets: tuple[str, ...] = (), _compiler: object = None) -> Choice:
        isa = Capability("isa", (32, 64), targets, Level.ISA, Trust.SELF_TESTED)
        cpu = Capability("cpu", (32, 64), (), Level.SOURCE, Trust.SELF_TESTED)
        return Choice(None if asked == "cpu" else (self.machine, isa), None if asked == "isa" else (self.source, cpu))

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(cli, ["run", str(self.file), *words])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Both:
    return Both(monkeypatch, tmp_path)


def test_status_0_of_a_program_that_was_refused_something_proves_nothing(told: Both) -> None:
    told.machine.result = RunResult(0, "done\n", UNSERVED, 0.1)
    alone = told.run("--executor", "isa")
    assert "not verified: hipImportExternalMemory is not served" in alone.stderr and "ISA-run" not in alone.stderr
    assert alone.exit_code == 1
    both = told.run()
    assert "at source level, not as machine code: hipImportExternalMemory is not served" in both.stderr
    assert "it has already run once as machine code" in both.stderr
    assert "source-verified by cpu" in both.stderr
    told.machine.result = RunResult(0, "PASSED\n", UNSERVED, 0.1)
    assert "ISA-run by isa" in told.run().stderr


def test_the_width_is_that_of_the_device(told: Both) -> None:
    contradiction = told.run("--executor", "isa", "--width", "32", "--target", "gfx942")
    assert contradiction.exit_code == 2
    assert "gfx942 has wavefronts of 64 lanes, not --width 32: leave out one of the two" in contradiction.output
    source = told.run("--width", "32", "--target", "gfx942")
    assert "at source level, not as machine code: gfx942 has wavefronts of 64 lanes, not --width 32" in source.stderr
    assert not told.machine.ran
    told.run("--target", "gfx1100", "--access", "races")
    told.run("--target", "gfx1100")
    assert [options.width for options in (*told.source.ran, *told.machine.ran)] == [32, 32, 32]


def test_another_executor_takes_what_it_can_and_refuses_the_rest(
    told: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    amd = Told("PASS\n")
    capability = Capability("amd", (64,), ("gfx942",), Level.HARDWARE, Trust.SELF_TESTED)
    monkeypatch.setattr(registry, "find_executor", lambda *_: amd)
    monkeypatch.setattr(selftest, "remembered", lambda _: (capability, selftest.SelfTest({})))
    done = told.run("--executor", "amd", "-I", str(tmp_path), "-D", "N=3", "--keep", str(tmp_path / "kept"))
    assert done.exit_code == 0, done.output
    ((program, folder),) = amd.built
    assert program.units[0].flags[-2:] == (f"-I{tmp_path.resolve()}", "-DN=3")
    assert folder == tmp_path / "kept"
    for words in (("--order", "7"), ("--poison", "255"), ("--quiet", "shared-race")):
        refused = told.run("--executor", "amd", *words)
        assert refused.exit_code == 2
        assert f"{words[0]} is of the executors isa and source; this is amd" in refused.output

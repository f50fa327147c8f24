"""Level functional: right programs pass, planted defects of width, order and uninitialised memory do not."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.executor.base import BuildError, Capability, Hazard, Level, RunOptions, RunResult, Trust
from rocport.executor.choice import Choice, ChoiceError, check_output, choose, unserved
from rocport.executor.cpu import CpuExecutor
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.verify import functional
from rocport.verify.functional import FunctionalOptions, Verdict

# One program, one line of it replaced a defect.
SOURCE = """#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__global__ void sum(const float *in, float *out, int n) {
  int lane = threadIdx.x % warpSize;
  float v = in[threadIdx.x];
  for (int offset = FIRST; offset > 0; offset /= 2) v += __shfl_down(v, offset);
  __shared__ float part[32];
  if (lane == 0) part[threadIdx.x / warpSize] = v;
  BARRIER
  if (threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < blockDim.x / warpSize; ++i) total += part[i];
    WRITE
  }
}
int main() {
  float *in, *out, host = 0, want = 0;
  std::vector<float> data(256);
  for (int i = 0; i < 256; ++i) want += data[i] = i;
  hipMalloc(&in, 256 * sizeof(float));
  hipMalloc(&out, sizeof(float));
  hipMemcpy(in, data.data(), 256 * sizeof(float), hipMemcpyHostToDevice);
  sum<<<1, 256>>>(in, out, 256);
  hipMemcpy(&host, out, sizeof(float), hipMemcpyDeviceToHost);
  CHECK
}
"""
AT_64 = FunctionalOptions(executor="source", widths=(64,), optimize="-O1")
CHECKED = 'std::printf("%s\\n", host == want ? "PASS" : "FAIL");'


def write(folder: Path, name: str, *, first: str = "warpSize / 2", barrier: str = "__syncthreads();",
          store: str = "*out = total;", check: str = CHECKED) -> Path:  # fmt: skip
    path = folder / name
    text = SOURCE.replace("FIRST", first).replace("BARRIER", barrier).replace("WRITE", store).replace("CHECK", check)
    path.write_text(text)
    return path


@pytest.fixture(scope="module", autouse=True)
def _compiler() -> None:
    capability = CpuExecutor().probe()
    if not capability.usable:
        pytest.skip(capability.refusal)


@pytest.mark.parametrize(
    ("change", "verdict", "word"),
    [
        ({}, Verdict.PASS, ""),
        ({"first": "16"}, Verdict.WRONG, "wave64"),
        ({"first": "32"}, Verdict.WRONG, "wave32"),
        ({"barrier": ""}, Verdict.WRONG, "FAIL"),
        ({"store": "if (n < 0) *out = total;", "check": ""}, Verdict.DIFFERS, "uninitialised"),
        ({"first": "16", "check": ""}, Verdict.DIFFERS, "values"),
        ({"check": ""}, Verdict.PASS, "no verdict of its own"),
    ],
)
def test_a_planted_defect_gets_its_verdict(change: dict[str, str], verdict: Verdict, word: str, tmp_path: Path) -> None:
    path = write(tmp_path, "sum.hip", **change)
    options = FunctionalOptions(executor="source", widths=(32, 64), optimize="-O1")
    result = functional.verify(path, options).programs[0]
    assert result.verdict is verdict, result
    assert word in result.reason


def test_code_that_relies_on_lockstep_is_said_to(tmp_path: Path) -> None:
    path = Path(__file__).parent.parent / "executor" / "hazards" / "lockstep.hip"
    result = functional.verify(path, FunctionalOptions(executor="source", widths=(32,), optimize="-O1")).programs[0]
    assert result.verdict is Verdict.HAZARD
    assert result.reason.startswith("relies on lockstep")
    assert "relies-on-lockstep" in {hazard.kind for hazard in result.hazards}


HAZARDS = Path(__file__).parent.parent / "executor" / "hazards"


def test_a_race_that_no_order_shows_is_found_when_accesses_are_watched(tmp_path: Path) -> None:
    path = tmp_path / "sum.hip"
    path.write_text((HAZARDS / "global_race.hip").read_text())
    plain = functional.verify(path, AT_64).programs[0]
    assert plain.verdict is Verdict.PASS
    watched = functional.verify(
        path, FunctionalOptions(executor="source", widths=(64,), optimize="-O1", watch=True)
    ).programs[0]
    assert watched.verdict is Verdict.HAZARD
    assert watched.reason.startswith(f"{path}:8: threads")
    quiet = replace(AT_64, watch=True, quiet=("global-race",))
    assert functional.verify(path, quiet).programs[0].verdict is Verdict.PASS


def test_memory_nobody_wrote_is_named_by_line(tmp_path: Path) -> None:
    path = write(tmp_path, "sum.hip", store="if (n < 0) *out = total;", check="")
    result = functional.verify(path, AT_64).programs[0]
    assert result.verdict is Verdict.DIFFERS
    copied = next(hazard for hazard in result.hazards if hazard.kind == "uninitialised-copy")
    assert "hipMemcpyDeviceToHost" in path.read_text().splitlines()[copied.frames[0].line - 1]
    assert result.kernels == ("sum",)
    assert {"wave64 forward", "wave64 forward again", "wave64 reverse", "wave64 20260"} == set(result.runs)


def test_the_command_knows_its_hazards(tmp_path: Path) -> None:
    arguments = ["verify", "--level", "functional", "--quiet", "no-such", str(write(tmp_path, "a.hip"))]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert "no-such: no such hazard; one of inactive-lane" in result.output


def test_the_command_reports_every_program_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write(tmp_path / "a", "good.hip")
    write(tmp_path / "b", "bad.hip", first="16")
    (tmp_path / "b" / "broken.hip").write_text("int main() { hipNothing(); }\n")
    arguments = ["verify", "--level", "functional", "--width", "64", "--format", "json"]
    arguments += ["--executor", "source", str(tmp_path)]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    report = json.loads(result.stdout)
    verdicts = {program["name"]: program["verdict"] for program in report["programs"]}
    assert verdicts == {"good": "pass", "bad": "wrong", "broken": "not built"}
    assert result.return_value == 1
    assert "64" in report["how"]
    evidence = {program["name"]: program["evidence"] for program in report["programs"]}
    assert evidence["good"] == "source-verified by cpu at width 64 (source, self-tested)"
    assert evidence["bad"] == ""
    assert {program["level"] for program in report["programs"]} == {"source", ""}


def test_nothing_to_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(functional.FunctionalError, match="no program to run"):
        functional.verify(tmp_path, FunctionalOptions())


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("PASS", False, True),
        ("Test FAILED at 3", True, False),
        ("0 failures, 12 passed", False, True),
        ("mismatches: 0", False, False),
        ("3 mismatches", True, False),
        ("time 3.2 ms", False, False),
    ],
)
def test_a_programs_own_words_are_read(text: str, wrong: bool, right: bool) -> None:
    said, passed = check_output(RunResult(0, text, "", 0.1))
    assert (bool(said), passed) == (wrong, right)


# ---- which executor runs it ------------------------------------------------------------------------------------------


class Told:
    """An executor that gives what it is told, and remembers how it was asked."""

    def __init__(self, name: str, *results: RunResult, refusal: str = "") -> None:
        self.name, self.results, self.refusal, self.asked = name, list(results), refusal, list[str]()

    def probe(self) -> Capability:
        return Capability(self.name)

    def build(self, *_: object) -> Path:
        if self.refusal:
            raise BuildError(self.refusal)
        return Path("program")

    def run(self, _executable: Path, _arguments: object, _cwd: Path, options: RunOptions) -> RunResult:
        self.asked.append(options.target or f"wave{options.width}")
        return self.results[min(len(self.asked), len(self.results)) - 1]


class Source(Told, CpuExecutor):
    """The source-level executor, told what to give."""


def ended(text: str = "PASS\n", status: int = 0, stderr: str = "", *hazards: Hazard) -> RunResult:
    return RunResult(status, text, stderr, 0.1, hazards=hazards)


def judged(machine: Told, source: Source, tmp_path: Path) -> functional.ProgramResult:
    (tmp_path / "a.hip").write_text("int main() {}\n")
    trust = Trust.SELF_TESTED
    choice = Choice(
        (machine, Capability("isa", (32, 64), ("gfx942", "gfx1100"), Level.ISA, trust)),
        (source, Capability("cpu", (32, 64), (), Level.SOURCE, trust)),
    )
    return functional.verify_program(choice, tmp_path / "a.hip", FunctionalOptions())


RACE = Hazard("shared-race", "two threads", "k", 1)


@pytest.mark.parametrize(
    ("machine", "source", "verdict", "level", "words"),
    [
        (ended(), ended(), Verdict.PASS, "isa", "ISA-verified by isa at width 64"),
        (ended(), ended("PASS 2\n"), Verdict.PASS, "isa", "ISA-run by isa"),
        (ended("FAIL\n"), ended(), Verdict.WRONG, "isa", "gfx942 forward: its check says: FAIL"),
        (ended(), ended("PASS\n", 0, "", RACE), Verdict.HAZARD, "isa", "kernel k: two threads"),
        (ended(), ended("FAIL\n", 0, "", RACE), Verdict.HAZARD, "isa", "right as machine code; at source level wrong"),
        (ended(), ended("FAIL\n"), Verdict.PASS, "isa", "wrong: wave32 forward: its check says: FAIL"),
        (ended("", 86, "rocport: S_X is unknown. The program ends here: what it would have done is not known.\n"),
         ended(), Verdict.PASS, "source", "gfx942: S_X is unknown."),
        (ended("", 1, "rocport: hipTex is not served by the ISA executor's runtime: hipErrorNotSupported\n"),
         ended(), Verdict.PASS, "source", "gfx942: hipTex is not served"),
        (ended("PASS", 0, "rocport: hipTex is not served by the ISA executor's runtime: hipErrorNotSupported\n"),
         ended("PASS"), Verdict.PASS, "isa", "ISA-verified"),
    ],
)  # fmt: skip
def test_the_machine_code_is_believed_and_the_source_adds_hazards(
    machine: RunResult, source: RunResult, verdict: Verdict, level: str, words: str, tmp_path: Path
) -> None:
    result = judged(Told("isa", machine), Source("cpu", source), tmp_path)
    assert (result.verdict, result.level) == (verdict, level), result
    assert words in f"{result.reason} {result.evidence} {result.fallback} {result.second_opinion}"


def test_what_does_not_build_for_the_device_runs_at_source_level_and_says_so(tmp_path: Path) -> None:
    machine, source = Told("isa", refusal="tex.h: no textures"), Source("cpu", ended())
    result = judged(machine, source, tmp_path)
    assert (result.verdict, result.level) == (Verdict.PASS, "source")
    assert result.fallback == "not built for gfx942 and gfx1100: tex.h: no textures"
    assert result.evidence.startswith("source-verified by cpu")
    told = functional.lines(functional.FunctionalVerification("h", (result,)), False)
    assert told[:2] == ["pass a [source]", f"  not as machine code: {result.fallback}"]
    both = judged(machine, Source("cpu", refusal="no such header"), tmp_path)
    assert both.verdict is Verdict.NOT_BUILT
    assert "no textures; nor at source level: no such header" in both.reason


def test_a_function_that_is_not_served_is_named_once() -> None:
    said = "rocport: hipA is not served by the ISA executor's runtime: hipErrorNotSupported\n"
    assert unserved(ended("", 1, said + said)) == "hipA is not served by the ISA executor's runtime"
    assert unserved(ended("PASS", 0, said)) == ""
    assert "hipA is not served" in unserved(ended("done", 0, said))
    assert "hipA is not served" in unserved(ended("PASS", 1, said))
    assert unserved(ended("", 1, "rocport: out of bounds: x")) == ""


def test_the_machine_code_of_both_widths_runs_by_default(tmp_path: Path) -> None:
    refusal = IsaExecutor().probe().refusal
    if refusal:
        pytest.skip(refusal)
    write(tmp_path, "sum.hip", store="if (n > 0) *out = total;", check="")
    result = functional.verify(tmp_path, FunctionalOptions(optimize="-O1", executor="isa")).programs[0]
    assert (result.verdict, result.level) == (Verdict.PASS, "isa"), result
    assert result.runs == ("gfx1100 forward", "gfx1100 20260", "gfx942 forward", "gfx942 20260")
    assert result.kernels == ("sum",)
    write(tmp_path, "sum.hip", store="if (n < 0) *out = total;", check="")
    unwritten = functional.verify(tmp_path, FunctionalOptions(widths=(64,), optimize="-O1", executor="isa")).programs[0]
    assert unwritten.verdict is Verdict.DIFFERS
    assert "after kernel sum: uninitialised" in unwritten.reason


def test_another_executor_is_not_taken_for_the_machine_code() -> None:
    with pytest.raises(ChoiceError, match="amd: this chooses between isa and source"):
        choose("amd")


@pytest.mark.parametrize("words", [(), ("--executor", "isa")])
def test_a_hazard_to_leave_out_does_not_name_the_executor(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[FunctionalOptions] = []

    def told(_path: Path, options: FunctionalOptions, _progress: object) -> functional.FunctionalVerification:
        asked.append(options)
        return functional.FunctionalVerification("told")

    monkeypatch.setattr(functional, "verify", told)
    start = ("verify", str(tmp_path), "--level", "functional", "--quiet", "shared-race")
    result = CliRunner().invoke(cli, [*start, *words])
    assert result.exit_code == 1, result.output
    (options,) = asked
    assert (options.executor, options.second) == ("isa" if words else "", "")
    assert options.quiet == ("shared-race",)


class Unsteady(Told):
    """Its copies differ from run to run; `results` are given in turn."""

    def run(self, executable: Path, arguments: object, cwd: Path, options: RunOptions) -> RunResult:
        value = len(self.asked)
        if options.trace is None:  # it is looked at closer
            return super().run(executable, arguments, cwd, options)
        options.trace.parent.mkdir(parents=True, exist_ok=True)
        options.trace.write_bytes(b"RPXT" + struct.pack("<4Q", 0, 8, 8, 1) + b"k" + struct.pack("<2i", 100, value))
        return super().run(executable, arguments, cwd, options)


@pytest.mark.parametrize(
    ("last", "verdict", "words"),
    [
        (ended("FAILED\n", 1), Verdict.WRONG, "gfx942 forward again: exit status 1: FAILED; right at"),
        (ended("", 0, "", RACE), Verdict.HAZARD, "kernel k: two threads"),
        (RunResult(-9, "", "", 1, timed_out=True), Verdict.TIMEOUT, "gfx942 forward again: more than"),
        (ended(""), Verdict.PASS, "two runs alike, gfx942 forward, part at copy 0 after kernel k: values"),
    ],
)
def test_the_run_that_asks_whether_it_repeats_is_a_run_like_any_other(
    last: RunResult, verdict: Verdict, words: str, tmp_path: Path
) -> None:
    machine = Unsteady("isa", *[ended("")] * 4, last)
    result = judged(machine, Source("cpu", ended("")), tmp_path)
    assert (result.verdict, result.level) == (verdict, "isa"), result
    assert words in result.reason


def test_a_program_that_ran_as_machine_code_before_says_so(tmp_path: Path) -> None:
    said = "rocport: hipTex is not served by the ISA executor's runtime: hipErrorNotSupported\n"
    result = judged(Told("isa", ended("done", 0, said)), Source("cpu", ended("done")), tmp_path)
    assert result.level == "source"
    assert result.fallback.endswith("; it has already run once as machine code, and what that wrote is still there")

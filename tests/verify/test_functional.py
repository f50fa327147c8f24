"""Level functional: right programs pass, planted defects of width, order and uninitialised memory do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.executor.base import RunResult
from rocport.executor.cpu import CpuExecutor
from rocport.verify import functional
from rocport.verify.functional import FunctionalOptions, Verdict, check_output

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
    options = FunctionalOptions(widths=(32, 64), optimize="-O1")
    result = functional.verify(path, options).programs[0]
    assert result.verdict is verdict, result
    assert word in result.reason


def test_code_that_relies_on_lockstep_is_said_to(tmp_path: Path) -> None:
    path = Path(__file__).parent.parent / "executor" / "hazards" / "lockstep.hip"
    result = functional.verify(path, FunctionalOptions(widths=(32,), optimize="-O1")).programs[0]
    assert result.verdict is Verdict.HAZARD
    assert result.reason.startswith("relies on lockstep")
    assert "relies-on-lockstep" in {hazard.kind for hazard in result.hazards}


HAZARDS = Path(__file__).parent.parent / "executor" / "hazards"


def test_a_race_that_no_order_shows_is_found_when_accesses_are_watched(tmp_path: Path) -> None:
    path = tmp_path / "sum.hip"
    path.write_text((HAZARDS / "global_race.hip").read_text())
    plain = functional.verify(path, FunctionalOptions(widths=(64,), optimize="-O1")).programs[0]
    assert plain.verdict is Verdict.PASS
    watched = functional.verify(path, FunctionalOptions(widths=(64,), optimize="-O1", watch=True)).programs[0]
    assert watched.verdict is Verdict.HAZARD
    assert watched.reason.startswith(f"{path}:8: threads")
    quiet = FunctionalOptions(widths=(64,), optimize="-O1", watch=True, quiet=("global-race",))
    assert functional.verify(path, quiet).programs[0].verdict is Verdict.PASS


def test_memory_nobody_wrote_is_named_by_line(tmp_path: Path) -> None:
    path = write(tmp_path, "sum.hip", store="if (n < 0) *out = total;", check="")
    result = functional.verify(path, FunctionalOptions(widths=(64,), optimize="-O1")).programs[0]
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
    arguments = ["verify", "--level", "functional", "--width", "64", "--format", "json", str(tmp_path)]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    report = json.loads(result.stdout)
    verdicts = {program["name"]: program["verdict"] for program in report["programs"]}
    assert verdicts == {"good": "pass", "bad": "wrong", "broken": "not built"}
    assert result.return_value == 1
    assert "64" in report["how"]
    evidence = {program["name"]: program["evidence"] for program in report["programs"]}
    assert evidence["good"] == "source-verified by cpu at width 64 (source, self-tested)"
    assert evidence["bad"] == ""


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

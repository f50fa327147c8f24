"""`--format json` of every command against its schema, and every format of every level of `verify`."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.cli.proofs import of_comparison
from rocport.executor.base import Frame, Hazard
from rocport.model import Report
from rocport.model.verification import Diagnostic, KernelFinding, KernelUse, Status, UnitResult, Verification
from rocport.report import formats, render
from rocport.verify.functional import FunctionalVerification, ProgramResult, Verdict
from rocport.verify.reports import of_build, of_functional

SCHEMAS = resources.files("rocport.report") / "schemas"
UNIT = UnitResult(
    "k.cu",
    "gfx942",
    Status.FAIL,
    "",
    (Diagnostic("k.cu", 3, 7, "unknown type name 'x'", "k.cu", 2, "a type of CUDA's", "a.h"),),
)
SLOW = UnitResult(
    "l.cu",
    "gfx942",
    Status.OK,
    kernels=(KernelUse("k", 64, 0, 16, 2, 0, 8, 0, 64, 1024),),
    findings=(KernelFinding("register-spill", "k", "spills 2 VGPRs"),),
)
BUILD = Verification(
    "build", "tree", ("gfx942",), "compiled", (UNIT, SLOW, UnitResult("m.cu", "host", Status.SKIP, "no"))
)
HAZARD = Hazard("shared-race", "two lanes write", "k", 2, (Frame("k", "k.cu", 4),))
FUNCTIONAL = FunctionalVerification(
    "run",
    (ProgramResult("a", "a.cu", Verdict.HAZARD, "races", hazards=(HAZARD,)), ProgramResult("b", "b.cu", Verdict.PASS)),
)
BLAME = {
    "verdict": "diverges", "call": "aten.mm.default", "scope": "Net", "phase": "forward", "step": 0, "site": "m.py:12",
    "here": None, "here_site": None, "exact": True, "relative": 0.5, "bound": 0.01, "inputs": None, "symptoms": [],
}  # fmt: skip
COUNTS = dict.fromkeys(("pairs", "equal", "rounding", "diverging", "inherited", "unmeasured"), 0)
COMPARED = {
    "verdict": "diverges", "counts": COUNTS, "first": BLAME, "first_bits": None, "others": [], "modules": [],
    "training": None, "notes": [],
}  # fmt: skip


def valid(name: str, text: str) -> Any:
    """The object a command printed, after its schema had a look at it."""
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    body = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(body)
    return body


def run(*words: str | Path) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code in (0, 1), result.output
    return result.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    (root / "k.cu").write_text(
        '#include <cuda_runtime.h>\n__global__ void k(int* x) { x[0] = __ballot_sync(~0u, 1); asm("bar.sync 0;"); }\n'
        "int f() { return warpSize; }  // rocport: ignore why not\n"
    )
    (root / "m.py").write_text("import pynvml\n")
    (root / "bin.cu").write_bytes(b"\0")
    return root


def test_scan(tree: Path) -> None:
    assert valid("scan", run("scan", tree, "--format", "json", "--no-cache", "--all"))["findings"]


@pytest.mark.parametrize("layout", ["hip", "both"])
def test_port_and_the_proof_of_its_nvidia_path(tree: Path, tmp_path: Path, layout: str) -> None:
    body = valid("port", run("port", tree, "--out", tmp_path / "out", "--layout", layout, "--format", "json"))
    assert body["files"] and body["suppressed"] and body["problems"]
    words = ("verify", tmp_path / "out", "--level", "nvidia-unchanged", "--original", tree, "--format", "json")
    valid("verify-nvidia-unchanged", run(*words))
    (tmp_path / "out" / "m.py").write_text("import os\n")
    assert valid("verify-nvidia-unchanged", run(*words))["differences"]


def test_what_compiles_and_what_runs() -> None:
    valid("verify-build", render("json", of_build(BUILD)))
    valid("verify-functional", render("json", of_functional(FUNCTIONAL, "tree")))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("compat", ("compat", "--gpu", "gfx1100", "--want", "bitsandbytes", "--format", "json")),
        ("compat", ("compat", "--gpu", "gfx90a", "--json")),
        ("sdk-status", ("sdk", "status", "--format", "json")),
        ("doctor", ("doctor", "--json")),
    ],
)
def test_what_the_machine_and_the_facts_say(name: str, words: tuple[str, ...]) -> None:
    valid(name, run(*words))


def test_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "RuntimeError: HIP error: invalid device function\nTraceback\nerror: something else\n"
    )
    assert valid("explain", run("explain", tmp_path / "log", "--json"))["matches"]


@pytest.mark.parametrize("fmt", formats())
@pytest.mark.parametrize(
    "report", [of_build(BUILD), of_functional(FUNCTIONAL, "t"), of_comparison(COMPARED, "g", "compare")]
)
def test_every_level_has_every_format(report: Report, fmt: str, request: pytest.FixtureRequest) -> None:
    assert report.findings
    text = render(fmt, report)
    assert text.endswith("\n") and "\033" not in text
    if fmt == "sarif":
        log = json.loads(text)
        assert len(log["runs"][0]["results"]) == len(report.findings)
        request.getfixturevalue("oasis").validate(log)
    if fmt not in ("text", "json", "badge", "shields"):
        assert all(f":{item.line}" in text or f"{item.line}" in text for item in report.findings)


def test_errors_point_at_their_places() -> None:
    (error, spill, skipped) = of_build(BUILD).findings
    assert (error.path, error.line, error.rule) == ("k.cu", 3, "compiler-error") and "[gfx942]" in error.message
    assert (spill.path, spill.rule) == ("l.cu", "register-spill")
    assert (skipped.path, skipped.rule) == ("m.cu", "not-tried")
    assert [item.rule for item in of_functional(FUNCTIONAL, "t").findings] == ["program-hazard", "hazard-shared-race"]
    (numbers,) = of_comparison(COMPARED, "g", "compare").findings
    assert (numbers.path, numbers.line) == ("m.py", 12)

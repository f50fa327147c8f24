"""The command: selection, statistics, baselines, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli.cmd_scan import command

SETUP = "import os\nflags = ['--use_fast_math']\npath = os.path.join(CUDA_HOME, 'include')\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "setup.py").write_text(SETUP)
    return tmp_path / "tree"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_select_and_ignore(tree: Path) -> None:
    both = _run(tree, "--format", "concise")
    assert both.exit_code == 1
    assert both.output.count("\n") == 2
    one = _run(tree, "--format", "concise", "--select", "nvcc-*")
    assert "nvcc-flag" in one.output and "cuda-home" not in one.output
    other = _run(tree, "--format", "concise", "--ignore", "nvcc-flag")
    assert "nvcc-flag" not in other.output and "cuda-home" in other.output
    assert _run(tree, "--ignore", "nvcc-flag,cuda-home").exit_code == 0


def test_a_misspelt_rule_is_refused_with_the_nearest(tree: Path) -> None:
    done = _run(tree, "--select", "nvcc-flags")
    assert done.exit_code == 2
    assert "nvcc-flag" in done.output


def test_statistics(tree: Path) -> None:
    done = _run(tree, "--statistics")
    assert done.exit_code == 1
    assert [line.split()[-1] for line in done.output.splitlines()] == ["cuda-home", "nvcc-flag"]


def test_a_baseline_lets_only_new_findings_through(tree: Path, tmp_path: Path) -> None:
    accepted = tmp_path / "baseline.json"
    assert _run(tree, "--write-baseline", accepted).exit_code == 0
    assert _run(tree, "--baseline", accepted).exit_code == 0
    (tree / "setup.py").write_text("# a line above\n\n" + SETUP + "more = ['--use_fast_math', 'x']\n")
    done = _run(tree, "--baseline", accepted, "--format", "json")
    assert done.exit_code == 1
    report = json.loads(done.output)
    assert [(item["rule"], item["line"]) for item in report["findings"]] == [("nvcc-flag", 6)]
    assert report["summary"]["suppressed"] == 2


def test_what_is_no_baseline_is_refused(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("[]")
    for name in ("b.json", "missing.json"):
        done = _run(tree, "--baseline", tmp_path / name)
        assert done.exit_code == 2
        assert "--write-baseline" in done.output


def test_renames_are_listed_only_with_all(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#include <cuda_runtime.h>\nvoid f() { cudaDeviceSynchronize(); }\n")
    assert _run(tmp_path).exit_code == 0
    done = _run(tmp_path, "--all", "--format", "concise")
    assert done.exit_code == 1
    assert "api-identifier" in done.output


def test_text_opens_with_the_plan(tree: Path) -> None:
    lines = _run(tree).output.splitlines()
    assert lines[0] == "plan"
    assert any("4 build system" in line and "yes" in line for line in lines)
    assert any("effort left" in line for line in lines)


def test_json_holds_no_absolute_path(tree: Path) -> None:
    report = json.loads(_run(tree, "--format", "json").output)
    assert {item["path"] for item in report["findings"]} == {"setup.py"}
    assert [phase["phase"] for phase in report["plan"]] == list(range(9))


def test_rules_are_listed() -> None:
    done = _run("--rules")
    assert done.exit_code == 0
    assert "nvcc-flag" in done.output


def test_port_names_what_breaks_beside_the_kernels(tree: Path, tmp_path: Path) -> None:
    from rocport.cli.cmd_port import command as port

    (tree / "a.cu").write_text("#include <cuda_runtime.h>\nvoid f() { cudaDeviceSynchronize(); }\n")
    out = tmp_path / "out"
    done = CliRunner().invoke(port, [str(tree), "--out", str(out), "--format", "json"])
    report = json.loads(done.stdout)
    assert done.exit_code == 0, "nothing is left to do by hand"
    gated = [item for item in report["findings"] if item["path"] == "setup.py"]
    assert {item["rule"] for item in gated} == {"nvcc-flag", "cuda-home"}
    assert all(item["applicability"] != "manual" and item["edited"] for item in gated)
    assert "if _IS_ROCM else" in (out / "setup.py").read_text()

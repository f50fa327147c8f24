"""What reviews a change, on examples/reviewed: `rocport diff`, hooks, the shell of action and template, badges."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.toolchain import ToolchainError, find

HERE = Path(__file__).resolve().parents[2]
PLANTED = (
    '\n__global__ void votes(unsigned* out) {\n  asm volatile("bar.sync 1, 64;");\n  *out = __ballot_sync(~0u, 1);\n}\n'
)


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The example, committed as `main`, with a branch checked out."""
    root = tmp_path / "reviewed"
    shutil.copytree(HERE / "examples" / "reviewed", root)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    git(root, "checkout", "-qb", "change")
    return root


def plant(root: Path) -> None:
    with (root / "src" / "scale.cu").open("a") as stream:
        stream.write(PLANTED)
    git(root, "commit", "-qam", "planted")


def diff(root: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["diff", *words[:1], str(root), *words[1:]])


def test_a_planted_change_is_named_and_moved_code_is_not(repository: Path) -> None:
    (repository / "lib").mkdir()
    git(repository, "mv", "src/scale.cu", "lib/scale.cu")
    moved = repository / "lib" / "scale.cu"
    moved.write_text("// a line above\n" + moved.read_text())
    git(repository, "commit", "-qam", "moved")
    still = diff(repository, "main..HEAD")
    assert still.exit_code == 0 and ": 0 new sites, 0 taken away, 5 as before" in still.output, still.output
    git(repository, "mv", "lib/scale.cu", "src/scale.cu")
    plant(repository)
    found = diff(repository, "main...HEAD", "--format", "json")
    assert found.exit_code == 1
    body = json.loads(found.stdout)
    jsonschema.validate(body, json.loads((HERE / "src/rocport/report/schemas/diff.json").read_text()))
    assert {item["rule"] for item in body["added"]} == {"inline-ptx", "warp-vote", "warp-mask-constant"}
    assert all(item["path"] == "src/scale.cu" and item["line"] >= 33 for item in body["added"]) and not body["removed"]
    assert diff(repository, "main", "--fail-on", "manual").exit_code == 1
    back = diff(repository, "HEAD..main")
    assert back.exit_code == 0 and "taken away" in back.output and "inline-ptx" in back.output
    below = CliRunner().invoke(cli, ["diff", "main", str(repository / "src"), "--format", "concise"])
    assert below.exit_code == 1 and below.output.startswith("scale.cu:")


def test_what_is_no_change_is_an_error_in_words(repository: Path, tmp_path: Path) -> None:
    wrong = diff(repository, "nowhere..HEAD")
    assert wrong.exit_code == 2 and "git rev-parse" in wrong.output
    (tmp_path / "plain").mkdir()
    none = diff(tmp_path / "plain", "HEAD")
    assert none.exit_code == 2 and "not a git repository" in none.output


def test_a_unit_that_no_longer_compiles(repository: Path) -> None:
    try:
        find(None)
    except ToolchainError as error:
        pytest.skip(str(error))
    source = repository / "src" / "scale.cu"
    source.write_text(source.read_text().replace("value += ", "valu += "))
    done = diff(repository, "main", "--build", "--target", "gfx942", "--format", "json", "--fail-on", "manual")
    body = json.loads(done.stdout)
    assert done.exit_code == 1 and body["units"] == {"src/scale.cu": {"base": "ok", "head": "fail"}}


def _shim(folder: Path) -> dict[str, str]:
    """An environment whose `rocport` is the one under test."""
    folder.mkdir()
    (folder / "rocport").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rocport "$@"\n')
    (folder / "rocport").chmod(0o755)
    paths = os.pathsep.join([str(HERE / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return _shim(tmp_path / "bin")


def _steps(inputs: dict[str, str]) -> list[tuple[str, str, dict[str, str]]]:
    """(name, shell, environment) of the steps of the action that run with these inputs, but those that install."""
    yaml = pytest.importorskip("yaml", reason="PyYAML reads action.yml")
    action = yaml.safe_load((HERE / "action.yml").read_text())
    given = {name: str(value["default"]) for name, value in action["inputs"].items()} | inputs

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ *inputs\.([\w-]+) *\}\}", lambda match: given[match[1]], text)

    found = []
    for step in action["runs"]["steps"]:
        condition = re.fullmatch(r"inputs\.([\w-]+) == '(\w+)'", step.get("if", "inputs.path == ''"))
        wanted = "if" not in step or (condition is not None and given[condition[1]] == condition[2])
        # What a pull request says reaches the shell by the environment, never as text of the script.
        assert "${{" not in step.get("run", "")
        if wanted and "run" in step and step["name"] not in ("Install", "Compiler"):
            found.append((step["name"], step["run"], {key: filled(value) for key, value in step["env"].items()}))
    return found


def _act(root: Path, environment: dict[str, str], **inputs: str) -> tuple[int, str, str]:
    """(exit code, output, summary) of the action's shell steps in `root`."""
    summary, output = root.parent / "summary.md", ""
    summary.write_text("")
    own = {**environment, "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(root.parent)}
    for _name, script, extra in _steps({name.replace("_", "-"): value for name, value in inputs.items()}):
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=root, env={**own, **extra}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        output += done.stdout
        if done.returncode:
            return done.returncode, output, summary.read_text()
    return 0, output, summary.read_text()


def test_the_action_comments_and_fails_on_new_sites(
    repository: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    base = git(repository, "rev-parse", "HEAD")
    (repository / "note.txt").write_text("nothing\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "harmless")
    code, _, said = _act(repository, environment, base=base, upload="false")
    assert code == 0 and "0 new sites" in said
    plant(repository)
    code, output, said = _act(repository, environment, base=base, upload="false")
    assert code == 1 and "| inline-ptx | +1 | -0 |" in said
    assert re.search(r"^::error file=src/scale.cu,line=\d+.*inline-ptx", output, re.MULTILINE)
    log = json.loads((repository / "rocport.sarif").read_text())
    assert {item["ruleId"] for item in log["runs"][0]["results"]} >= {"inline-ptx", "warp-vote"}
    code, output, said = _act(repository, environment, base="", upload="false")
    assert code == 1 and "inline-ptx" in said and output.startswith("::error file=src/scale.cu")


def test_the_gitlab_template_writes_a_test_report(repository: Path, environment: dict[str, str]) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads gitlab.yml")
    template = yaml.safe_load((HERE / "gitlab.yml").read_text())
    (script,) = template["rocport"]["script"]
    base = git(repository, "rev-parse", "HEAD")
    plant(repository)
    own = {**environment, **template["variables"], "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    done = subprocess.run(["bash", "-ec", script], cwd=repository, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "3 new sites" in done.stdout
    report = ElementTree.parse(repository / "rocport.xml").getroot()
    assert report.get("failures") == "3"


def _hooked(root: Path, environment: dict[str, str]) -> None:
    """The hooks of this repository in the configuration of the other, without an environment of their own."""
    yaml = pytest.importorskip("yaml", reason="PyYAML writes the configuration")
    hooks = yaml.safe_load((HERE / ".pre-commit-hooks.yaml").read_text())
    wanted = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    merged: list[dict[str, Any]] = []
    for hook in wanted:
        (known,) = [item for item in hooks if item["id"] == hook["id"]]
        merged.append({**known, **hook, "language": "system"})
    (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": merged}]}))


def _hook(root: Path, environment: dict[str, str], *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", *words],
        cwd=root, env={**environment, "PRE_COMMIT_HOME": str(root.parent / "hooks")}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_hooks_run_in_pre_commit(repository: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("pre_commit", reason="pre-commit runs the hooks; it is in the extra [dev]")
    _hooked(repository, environment)
    git(repository, "commit", "-qam", "hooks")
    code, said = _hook(repository, environment)
    assert code == 0 and "rocport scan" in said and "Passed" in said, said
    plant(repository)
    code, said = _hook(repository, environment)
    assert code == 1 and "inline-ptx" in said
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    unchanged = ("rocport-nvidia-unchanged", "--hook-stage", "manual")
    ported = CliRunner().invoke(
        cli, ["port", str(repository), "--in-place", "--layout", "both", "--config", "baseline="]
    )
    assert ported.exit_code in (0, 1), ported.output
    git(repository, "add", "-A")
    code, said = _hook(repository, environment, *unchanged)
    assert code == 0 and "Passed" in said, said
    build = repository / "CMakeLists.txt"
    build.write_text(build.read_text() + "\nadd_compile_definitions(FASTER)\n")
    git(repository, "add", "-A")
    code, said = _hook(repository, environment, *unchanged)
    assert code == 1 and "CMakeLists.txt" in said


def test_badges_say_what_is_known(repository: Path) -> None:
    def badge(fmt: str, *words: str) -> str:
        return CliRunner().invoke(cli, ["scan", str(repository), "--exit-zero", "--format", fmt, *words]).stdout

    assert (HERE / "examples" / "reviewed" / "rocm.svg").read_text() == badge("badge", "--isolated")
    assert json.loads(badge("shields")) == {"schemaVersion": 1, "label": "ROCm", "message": "ready", "color": "1a7f4b"}
    drawn = ElementTree.fromstring(badge("badge", "--isolated"))
    assert drawn.get("aria-label") == "ROCm: 2 to review"

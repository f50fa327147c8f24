"""Plans put to pip: what was not reached is stood in for and said; a conflict is one."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli.cmd_compat import command
from rocport.compat import resolve

ASKED = ["--gpu", "RX 7900 XTX", "--python", "3.12", "--want", "torch,bitsandbytes"]
UNREACHED = "ERROR: No matching distribution found for torch (from versions: none)"


def fake_pip(said: dict[str, str], seen: list[list[str]]):
    """A pip that fails with `said[word]` for a command that holds the word, and resolves everything else."""

    def run(_python: str, words: list[str], _folder: Path) -> subprocess.CompletedProcess[str]:
        seen.append(words)
        error = next((text for word, text in said.items() if word in words), "")
        return subprocess.CompletedProcess(words, 1 if error else 0, "", error)

    return run


def test_an_index_that_is_not_reached_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(resolve, "_pip", fake_pip({"--index-url": UNREACHED}, seen))
    said = CliRunner().invoke(command, [*ASKED, "--resolve", "--json"])
    data = json.loads(said.output)
    assert said.exit_code == 0 and data["complete"] is True
    assert {step["state"] for step in data["resolution"]["steps"]} == {"recorded"} and data["not_recorded"] == []
    assert seen[1][-2:] == ["--find-links", "wheels"] and "--index-url" not in seen[1]
    assert all(words[-1] == "wheels" and "-c" in words for words in seen[2:])


def test_stand_ins_for_what_no_index_is_recorded_to_hold_are_no_complete_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "_pip", fake_pip({"--index-url": UNREACHED}, []))
    asked = ["--gpu", "RX 7900 XTX", "--python", "3.12", "--rocm", "7.14", "--want", "torch==2.14.*", "--resolve"]
    data = json.loads(CliRunner().invoke(command, [*asked, "--json"]).output)
    assert data["works"] and not data["complete"] and data["not_recorded"] == ["torch"]
    assert {step["state"] for step in data["resolution"]["steps"]} == {"stand-ins"}
    assert "index: not recorded" in CliRunner().invoke(command, asked).output


def test_versions_of_torch_without_rocm_are_not_the_indexs(monkeypatch: pytest.MonkeyPatch) -> None:
    other = "ERROR: Could not find a version that satisfies the requirement torch==2.9.* (from versions: 2.13.0+cpu)"
    monkeypatch.setattr(resolve, "_pip", fake_pip({"--index-url": other}, []))
    data = json.loads(CliRunner().invoke(command, [*ASKED, "--resolve", "--json"]).output)
    assert {step["state"] for step in data["resolution"]["steps"]} == {"recorded"}


def test_a_conflict_is_no_complete_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    clash = "ERROR: Cannot install bitsandbytes because these package versions have conflicting dependencies."
    monkeypatch.setattr(resolve, "_pip", fake_pip({"-c": clash}, []))
    said = CliRunner().invoke(command, [*ASKED, "--resolve"])
    assert said.exit_code == 1 and "conflict  pip install -c" in said.output


def test_a_plan_that_was_not_resolved_is_not_called_complete() -> None:
    data = json.loads(CliRunner().invoke(command, [*ASKED, "--json"]).output)
    assert (data["works"], data["complete"], data["resolution"]) == (True, False, None)


def test_a_stand_in_is_a_wheel_with_metadata(tmp_path: Path) -> None:
    assert resolve._stand_in(tmp_path, "torch", "2.9.0+rocm6.4") == "torch==2.9.0+rocm6.4"
    with zipfile.ZipFile(tmp_path / "torch-2.9.0+rocm6.4-py3-none-any.whl") as wheel:
        assert "Requires-Dist: sympy" in wheel.read("torch-2.9.0+rocm6.4.dist-info/METADATA").decode()


def test_a_torch_that_pips_own_settings_offer_is_no_resolved_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra index or a folder of wheels in pip's configuration has a CPU torch; the ROCm index was never reached."""

    def run(_python: str, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        if "--report" in words:
            chosen = [{"metadata": {"name": "torch", "version": "2.13.0+cpu"}}]
            (folder / words[words.index("--report") + 1]).write_text(json.dumps({"install": chosen}))
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(resolve, "_pip", run)
    data = json.loads(CliRunner().invoke(command, [*ASKED, "--resolve", "--json"]).output)
    steps = data["resolution"]["steps"]
    assert {step["state"] for step in steps} == {"recorded"}
    assert "offer torch 2.13.0+cpu, which is not for ROCm" in steps[0]["said"]


def test_a_stand_in_cannot_lose_to_a_torch_of_the_default_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyPI has CUDA builds of later patch releases: pip takes them for `torch==2.14.*` unless it is held."""
    seen: list[list[str]] = []
    monkeypatch.setattr(resolve, "_pip", fake_pip({"--index-url": UNREACHED}, seen))
    CliRunner().invoke(command, [*ASKED, "--resolve", "--json"])
    assert seen[1][-4:-2] == ["-c", resolve.CONSTRAINTS]


def test_a_plan_for_windows_is_put_to_pip_with_windows_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(resolve, "_pip", fake_pip({"--index-url": UNREACHED}, seen))
    CliRunner().invoke(command, [*ASKED, "--os", "windows11", "--resolve", "--json"])
    assert all(words[words.index("--platform") + 1] == "win_amd64" for words in seen)
    assert all(words[words.index("--python-version") + 1] == "3.12" for words in seen)


NO_BITSANDBYTES = (
    "ERROR: Could not find a version that satisfies the requirement bitsandbytes>=0.50 (from versions: none)\n"
    "ERROR: No matching distribution found for bitsandbytes>=0.50"
)


@pytest.mark.parametrize(("system", "state"), [(["--os", "windows11"], "no-wheel"), ([], "failed")])
def test_a_package_without_a_wheel_for_windows_is_no_failure(
    system: list[str], state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        resolve, "_pip", fake_pip({"--index-url": UNREACHED, "bitsandbytes>=0.50.0": NO_BITSANDBYTES}, [])
    )
    steps = json.loads(CliRunner().invoke(command, [*ASKED, *system, "--resolve", "--json"]).output)["resolution"][
        "steps"
    ]
    assert [step["state"] for step in steps[1:]] == [state]


def test_only_a_torch_that_is_not_found_says_that_its_index_was_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(resolve, "_pip", fake_pip({"--index-url": NO_BITSANDBYTES}, seen))
    data = json.loads(CliRunner().invoke(command, [*ASKED, "--resolve", "--json"]).output)
    assert data["resolution"]["steps"][0]["state"] == "failed"
    assert not any("wheels" in words for words in seen)

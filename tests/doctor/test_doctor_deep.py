"""`--deep`: the child process that imports torch, and what is made of its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocport.cli import cmd_doctor
from rocport.doctor import deep, workflows
from rocport.doctor.diagnosis import diagnose
from rocport.doctor.gpus import resolve
from rocport.doctor.host import Host
from rocport.doctor.machine import Machine
from rocport.doctor.workflows import PRELUDE, WORKFLOWS

GOOD = """noise
{"step": "import", "status": "ok", "value": {"torch": "2.13.0+rocm7.2", "hip": "7.2.1", "rocm": null, "cuda": null,
 "x": 1}, "seconds": 1}
{"step": "import", "status": "ok", "seconds": 2.0, "value": {"torch": "2.13.0+rocm7.2", "hip": "7.2.53211", "rocm": "7.2.4", "cuda": null, "available": true, "arch_list": ["gfx90a", "gfx1100"]}}
{"step": "devices", "status": "ok", "seconds": 0.1, "value": [{"name": "AMD Radeon RX 7900 XTX", "gcnArchName": "gfx1100", "total_memory": 25753026560, "warp_size": 32}]}
{"step": "matmul", "status": "failed", "seconds": 0.1, "value": "RuntimeError: HIP error: invalid device function"}
"""  # noqa: E501


def machine(facts) -> Machine:
    return Machine(facts=facts, gpus=resolve(facts), live=True)


def fake_python(folder: Path, script: str) -> Host:
    """A virtual environment whose interpreter is a shell script."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    return Host(env={"VIRTUAL_ENV": str(folder), "PATH": "/usr/bin:/bin"})


def test_output_becomes_facts():
    facts, steps = deep.parse(GOOD, "python")
    found = machine(facts)
    assert steps == ["import", "devices", "matmul"]
    assert [(g.gfx, g.wavefront) for g in found.gpus] == [("gfx1100", 32)]
    assert found.version("torch_rocm").value == "7.2.4"
    result = diagnose(found).result("deep-run")
    assert result.status == "fail" and "invalid device function" in result.message


def test_a_crash_names_the_step(tmp_path):
    host = fake_python(
        tmp_path, """echo '{"step": "import", "status": "ok", "value": {"available": true}}'; kill -ABRT $$"""
    )
    facts, notes = deep.probe(host, 20)
    assert "devices" in notes[0]
    assert diagnose(machine(facts)).result("deep-run").status == "fail"


def test_a_hang_ends(tmp_path):
    facts, notes = deep.probe(fake_python(tmp_path, "exec sleep 30"), 0.5)
    assert "no end after" in notes[0] and facts.symptoms[0].name == "deep-crashed"


def test_an_interpreter_that_cannot_run(tmp_path):
    host = fake_python(tmp_path, "")
    (tmp_path / "bin" / "python").write_text("not a program")
    facts, notes = deep.probe(host, 5)
    assert notes and not facts.sightings


def test_the_script_runs_here(tmp_path, monkeypatch):
    """With whatever torch there is: the import step reports, and no kernel runs without a GPU."""
    monkeypatch.setattr(deep, "WORKFLOWS", {})
    (tmp_path / "torch.py").write_text("raise SystemExit('the torch.py of the folder was imported')")
    monkeypatch.chdir(tmp_path)
    facts, notes = deep.probe(Host(env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}), 3600)
    steps = {s.name for s in facts.settings if s.name.startswith("deep_")}
    assert "deep_import" in steps and notes == []


def test_children_start_outside_the_users_folder(tmp_path, monkeypatch):
    """Also with an interpreter named relative to that folder (`--python .venv`)."""
    says = """if [ -e json.py ] || [ -e torch.py ]; then exit 7; fi
case "$2" in *"done("*) echo '{"device": "cpu"}' ;; *) echo "$IMPORTED" ;; esac"""
    fake_python(tmp_path / "venv", says)
    (tmp_path / "torch.py").write_text("")
    monkeypatch.chdir(tmp_path)
    facts, notes = deep.probe(Host(env={"VIRTUAL_ENV": "venv", "PATH": "/usr/bin:/bin", "IMPORTED": IMPORTED}), 3600)
    assert notes == [] and [s.value for s in facts.settings if s.name.startswith("deep_")] == [True] * 5


IMPORTED = '{"step": "import", "status": "ok", "value": {"available": true, "bitsandbytes": true}}'
FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f. Reason: Page not present."


@pytest.mark.parametrize(
    ("name", "ending", "said"),
    [
        ("Linear4bit", f"echo '{FAULT}' >&2; kill -ABRT $$", "memory-access-fault"),
        ("Linear8bitLt", "echo 'HIP error: invalid device function' >&2; exit 1", "invalid-device-function"),
        ("AdamW8bit", "echo 'AssertionError: the loss went from 2.0 to 2.0 in 20 steps of AdamW8bit' >&2; exit 1", ""),
        ("fully_shard", "exec sleep 3600", ""),
    ],
)  # fmt: skip
def test_a_workflow_that_fails_takes_no_other_along_and_is_explained(tmp_path, name, ending, said):
    """A stand-in for the interpreter that fails in a known way in one workflow."""
    host = fake_python(
        tmp_path,
        f"""case "$2" in
*{name}*) {ending} ;;
*"done("*) echo '{{"device": "cuda"}}' ;;
*) echo '{IMPORTED}' ;;
esac""",
    )
    facts, notes = deep.probe(host, 3600, each=2 if "sleep" in ending else 3600)
    ended = {s.name[5:]: s.value for s in facts.settings if s.name.startswith("deep_")}
    failed = [workflow for workflow, ok in ended.items() if not ok]
    assert len(ended) == 5 and notes == []
    assert name in deep.WORKFLOWS[failed[0]] and len(failed) == 1
    result = diagnose(machine(facts)).result("deep-run")
    assert result.status == "fail" and failed[0] in result.message
    (reading,) = cmd_doctor._deep_readings(machine(facts))
    claimed = [match.failure.id for match in reading.matches]
    assert claimed[:1] == [said] if said else claimed == []


def test_without_a_gpu_the_workflows_are_forks_that_end_alone(monkeypatch):
    """Each an import of torch took 56 s of a processor; what one does to its process, the next does not see."""
    small = {
        "good": "sys.done = True; done(x=1)",
        "raises": "assert not hasattr(sys, 'done'), 'not alone'; raise ValueError('no kernel')",
        "aborts": "import os; print('on its way', flush=True); os.abort()",
        "hangs": "import time; time.sleep(3600)",
    }
    monkeypatch.setattr(workflows, "PRELUDE", "import json, sys\ndef done(**value):\n    print(json.dumps(value))\n")
    monkeypatch.setattr(workflows, "WORKFLOWS", small)
    ended = workflows.run_forked(sys.executable, list(small), dict(os.environ), 8)
    assert {name: outcome.ok for name, outcome in ended.items()} == {name: name == "good" for name in small}
    assert ended["raises"].value == "exit code 1: ValueError: no kernel"
    assert ended["aborts"].value.startswith("exit code -6") and "on its way" in ended["aborts"].output
    assert ended["hangs"].value.startswith("no end after 8 s")
    assert workflows.run_forked("/no/python", ["good"], {}, 8) == {}


def test_a_first_process_that_dies_leaves_each_workflow_to_run_alone(tmp_path):
    host = fake_python(
        tmp_path,
        f"""case "$2" in
*os.fork*) kill -SEGV $$ ;;
*"done("*) echo '{{"device": "cpu"}}' ;;
*) echo '{IMPORTED.replace('"available": true', '"available": false')}' ;;
esac""",
    )
    facts, notes = deep.probe(host, 3600)
    assert notes == [] and [s.value for s in facts.settings if s.name.startswith("deep_")] == [True] * 5


def test_the_workflows_run_on_the_cpu():
    """All four one after the other in one process: an import of torch each would be three more."""
    pytest.importorskip("bitsandbytes", reason="three of the four workflows need bitsandbytes")
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "-1"}
    script = PRELUDE + "".join(WORKFLOWS.values())
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600, env=env)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["device"] for line in done.stdout.split("\n") if line.startswith("{")] == ["cpu"] * 4

"""`--deep`: import torch in a child process and run small work on the GPU, each step with its outcome.

The child is this file's SCRIPT, run by the interpreter whose packages are examined. It prints one JSON object a step,
so a step that hangs or kills the process still leaves those before it. The workflows of bitsandbytes and FSDP follow,
each in a child of its own (`workflows`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting, Sighting, Symptom, VersionFact
from rocport.doctor.probes.names import gfx_of
from rocport.doctor.workflows import NEEDS, WORKFLOWS, Outcome, run, run_forked, run_script

SECONDS = 180.0
"""Limit of each child, against a hang."""
STEPS = ("import", "devices", "kernel", "matmul", "sdpa", "compile")
HAS_BITSANDBYTES = "torch_beside_bitsandbytes"
"""The setting that says whether the interpreter that has torch has bitsandbytes, too."""
OUTPUT = "output_of_"
"""What a failed workflow printed is the setting of this name and the workflow's."""

SCRIPT = r"""
import importlib.util, json, sys, time

def step(name, work):
    started = time.time()
    try:
        value = work()
    except Exception as error:
        value, status = f"{type(error).__name__}: {error}"[:500], "failed"
    else:
        status = "ok"
    print(json.dumps({"step": name, "status": status, "value": value, "seconds": round(time.time() - started, 2)}))
    sys.stdout.flush()
    return status == "ok"

def imported():
    global torch
    import torch
    return {"torch": torch.__version__, "hip": getattr(torch.version, "hip", None),
            "rocm": getattr(torch.version, "rocm", None), "cuda": torch.version.cuda,
            "bitsandbytes": importlib.util.find_spec("bitsandbytes") is not None,
            "available": torch.cuda.is_available(), "arch_list": torch.cuda.get_arch_list()}

def devices():
    found = []
    for i in range(torch.cuda.device_count()):
        p = torch.cuda.get_device_properties(i)
        found.append({"name": p.name, "gcnArchName": getattr(p, "gcnArchName", ""), "total_memory": p.total_memory,
                      "warp_size": getattr(p, "warp_size", None), "compute_units": p.multi_processor_count})
    return found

def close(a, b, limit):
    worst = float((a.float().cpu() - b.float().cpu()).abs().max())
    assert worst <= limit, f"differs from the CPU by {worst}, allowed {limit}"
    return worst

def kernel():
    a = torch.arange(1024, device="cuda", dtype=torch.float32)
    return close(a * 2 + 1, torch.arange(1024, dtype=torch.float32) * 2 + 1, 0.0)

def matmul():
    torch.manual_seed(0)
    a, b = torch.randn(256, 512), torch.randn(512, 128)
    close(a.cuda() @ b.cuda(), a @ b, 2e-3)
    return close(a.cuda().half() @ b.cuda().half(), a @ b, 0.25)

def sdpa():
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 4, 128, 64) for _ in range(3))
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return close(torch.nn.functional.scaled_dot_product_attention(*(t.cuda().half() for t in (q, k, v))), want, 0.02)

def compiled():
    f = torch.compile(lambda x: torch.sin(x) * 2 + x.sum())
    x = torch.linspace(0, 1, 4096)
    return close(f(x.cuda()), torch.sin(x) * 2 + x.sum(), 1e-2)

if step("import", imported) and torch.cuda.is_available():
    step("devices", devices)
    for name, work in (("kernel", kernel), ("matmul", matmul), ("sdpa", sdpa), ("compile", compiled)):
        step(name, work)
"""


def interpreter(host: Host) -> str:
    """The Python that owns the examined packages, else this one."""
    for folder in host.site_packages or ():
        base = folder.parent.parent.parent
        for name in ("bin/python", "Scripts/python.exe"):
            if (base / name).exists():
                return str(base / name)
    prefix = host.env.get("VIRTUAL_ENV") or host.env.get("CONDA_PREFIX")
    if prefix and (Path(prefix) / "bin" / "python").exists():
        return str(Path(prefix) / "bin" / "python")
    return sys.executable


def probe(host: Host, seconds: float = SECONDS, each: float = 0.0) -> tuple[Facts, list[str]]:
    """Run the children; facts, and what there is to say of it. A hang ends after `seconds` and names the step; `each`
    is the limit of a workflow, 0: the same."""
    python = interpreter(host)
    try:
        done = run_script(python, SCRIPT, host.env, seconds)
        output, errors, ended = done.stdout, done.stderr, f"exit code {done.returncode}"
        failed = done.returncode != 0
    except subprocess.TimeoutExpired as late:
        output, errors, ended, failed = late.stdout or b"", late.stderr or b"", f"no end after {seconds:.0f} s", True
    except OSError as error:
        return Facts(), [f"deep: {python} cannot be run: {error.strerror or error}"]
    facts, steps = parse(output.decode("utf-8", errors="replace"), python)
    notes = []
    if failed:
        after = steps[-1] if steps else "start"
        following = STEPS[STEPS.index(after) + 1] if after in STEPS[:-1] else "import" if after == "start" else after
        tail = errors.decode("utf-8", errors="replace").strip().splitlines()[-1:]
        text = f"{ended} in step {following!r}" + (f": {tail[0][:300]}" if tail else "")
        notes.append(f"deep: {text}")
        facts = facts + Facts(symptoms=(Symptom("deep-crashed", Evidence("deep", python, text)),))
    if any(setting.name == "deep_import" and setting.value for setting in facts.settings):
        has_bitsandbytes = any(setting.name == HAS_BITSANDBYTES and setting.value for setting in facts.settings)
        names = [name for name in WORKFLOWS if NEEDS.get(name) != "bitsandbytes" or has_bitsandbytes]
        sees_gpu = any(setting.name == "torch_sees_gpu" and setting.value for setting in facts.settings)
        forked = {} if sees_gpu or not names else run_forked(python, names, host.env, each or seconds)
        for name in names:
            facts = facts + _outcome(forked.get(name) or run(python, name, host.env, each or seconds), python)
    return facts, notes


def _outcome(outcome: Outcome, python: str) -> Facts:
    """A workflow's end as facts."""
    evidence = Evidence("deep", python, f"{outcome.name}: {'ok' if outcome.ok else 'failed'}, {outcome.value}")
    settings = [Setting(f"deep_{outcome.name}", outcome.ok, evidence)]
    if outcome.ok:
        return Facts(settings=tuple(settings))
    settings.append(Setting(f"{OUTPUT}{outcome.name}", outcome.output, evidence))
    return Facts(settings=tuple(settings), symptoms=(Symptom("deep-failed", evidence),))


def parse(output: str, where: str) -> tuple[Facts, list[str]]:
    """Facts of the child's output, and the steps it ended."""
    sightings: list[Sighting] = []
    versions: list[VersionFact] = []
    settings: list[Setting] = []
    symptoms: list[Symptom] = []
    steps: list[str] = []
    for line in output.splitlines():
        try:
            record = json.loads(line)
            name, status, value = record["step"], record["status"], record["value"]
        except (ValueError, TypeError, KeyError):
            continue
        steps.append(name)
        evidence = Evidence("deep", where, f"{name}: {status}, {json.dumps(value)[:300]}, {record.get('seconds')} s")
        settings.append(Setting(f"deep_{name}", status == "ok", evidence))
        if status != "ok":
            symptoms.append(Symptom("deep-failed", evidence))
        elif name == "import":
            for key, version in (
                ("torch", "torch"),
                ("hip", "torch_hip"),
                ("rocm", "torch_rocm"),
                ("cuda", "torch_cuda"),
            ):
                if value.get(key):
                    versions.append(VersionFact(version, str(value[key]), evidence))
            settings.append(Setting("torch_sees_gpu", bool(value.get("available")), evidence))
            settings.append(Setting(HAS_BITSANDBYTES, value.get("bitsandbytes") is True, evidence))
            if value.get("arch_list"):
                settings.append(Setting("torch_arch_list", " ".join(value["arch_list"]), evidence))
        elif name == "devices":
            for device in value:
                gfx, features = gfx_of(device.get("gcnArchName") or "")
                text = f"{device.get('name')} ({device.get('gcnArchName')})"
                sightings.append(
                    Sighting(
                        source="torch",
                        evidence=Evidence("torch", where, f"GPU: {text}"),
                        gfx=gfx,
                        product=str(device.get("name") or ""),
                        wavefront=device.get("warp_size"),
                        vram_bytes=device.get("total_memory"),
                        features=features,
                    )
                )
    return (
        Facts(
            probed=frozenset({"deep"}),
            sightings=tuple(sightings),
            versions=tuple(versions),
            settings=tuple(settings),
            symptoms=tuple(symptoms),
        ),
        steps,
    )

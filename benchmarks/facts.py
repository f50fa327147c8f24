"""The same questions put to every command: what a GPU, a torch and a package do together. Answers must not differ.

    python benchmarks/facts.py [--show] [--sources SNAPSHOT] [--record]

Each question is asked of `rocport doctor --from` (a paste with that GPU and torch), `rocport doctor --target --torch
--rocm`, `rocport compat` (a plan for just that torch and ROCm), its tables and its matrix, `rocport doctor --model` and
`rocport scan`, where they have an answer; for every product and processor, which target it is. It prints how many
questions were asked, how many got two answers or more, and how many disagree. `--sources`: also the
claims that tools/refresh_facts.py checks against a snapshot of sources. `--record`: keep the figures (measured.py).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from measured import record

from rocport.checkpoint.policy import _attention
from rocport.compat.errors import CompatError
from rocport.compat.gpu import resolve_gpu
from rocport.compat.plan import Plan, Request, builds_of, make_plan
from rocport.compat.text import tables_data
from rocport.compat.wants import parse_wants
from rocport.doctor.assume import assume
from rocport.doctor.diagnosis import Diagnosis, diagnose
from rocport.explain.reading import read_bytes
from rocport.facts.dates import as_of
from rocport.facts.products import processors
from rocport.facts.rocm import rocm_release, torch_release, torch_releases, wheel_channel, wheel_channels
from rocport.facts.targets import all_targets, load_target
from rocport.facts.wheel_matrix import in_library, in_torch
from rocport.model.targets import GfxTarget
from rocport.model.versions import RocmVersion, TorchVersion
from rocport.rules.deps.rocm_index import _serves

BUILDS = (
    ("2.5", "6.1"),
    ("2.5", "6.2"),
    ("2.6", "6.2.4"),
    ("2.8", "6.4"),
    ("2.9", "6.3"),
    ("2.10", "7.1"),
    ("2.13", "7.2"),
    ("2.14", "7.14"),
)
"""torch and the channel of pytorch.org it is asked for."""
BITSANDBYTES = "0.50.2"
BESIDE = (*BUILDS[3:], ("2.13", "10.0.0"), ("2.14", "10.1.0"))
"""torch and the ROCm of its build, pytorch.org's or AMD's, that bitsandbytes is asked for beside."""

EMPTY = read_bytes(b"Linux\n", "paste").machine
PASTE = """Collecting environment information...
PyTorch version: {torch}.0+rocm{rocm}
Is debug build: False
ROCM used to build PyTorch: {rocm}
GPU models and configuration: AMD GPU ({gfx})
Versions of relevant libraries:
[pip3] torch=={torch}.0+rocm{rocm}
"""


def questions() -> Iterator[tuple[str, dict[str, str]]]:
    """A question, and the answer of each command that has one."""
    for target in all_targets():
        for torch, rocm in BUILDS:
            where = f"{target.name}, torch {torch}, ROCm {rocm}"
            paste = PASTE.format(torch=torch, rocm=rocm, gfx=target.name).encode()
            diagnosis = diagnose(read_bytes(paste, "paste").machine)
            plan = make_plan(Request(target, None, None, parse_wants(f"torch=={torch}.*"), (), rocm))
            assumed = diagnose(assume(EMPTY, (target.name,), torch, rocm))
            yield f"does the wheel serve it: {where}", _wheel(diagnosis, assumed, plan, target, torch, rocm)
            yield f"flash attention: {where}", _flash(diagnosis, plan, target, torch)
            yield f"Triton: {where}", _triton(diagnosis, plan, target)
        for torch, rocm in BESIDE:
            where = f"{target.name}, torch {torch}, ROCm {rocm}"
            yield f"bitsandbytes {BITSANDBYTES}: {where}", _bitsandbytes(target, torch, rocm)
    for name in names():
        yield f"target of: {name}", _target(name)
    for release in torch_releases():
        for channel in wheel_channels():
            if channel.owner == "pytorch" and release.rocm:
                yield f"is torch {release.version} on rocm{channel.name}", _served(release.version, channel.name)


def names() -> Iterator[str]:
    """Products and processors in the facts, as they are sold."""
    for target in all_targets():
        yield from target.products
    for processor in processors():
        yield from processor.names


def _target(name: str) -> dict[str, str]:
    """What compat says, where it does not ask which chip; and doctor, of a paste that names the product and no gfx."""
    gpus = read_bytes(f"GPU models and configuration: AMD {name}\n".encode(), "paste").machine.gpus
    said = {"doctor": " ".join(gpus[0].chip_targets)} if gpus and gpus[0].chip_targets else {}
    try:
        said["compat"] = resolve_gpu(name).name
    except CompatError as error:
        several = sorted({word for line in error.candidates for word in re.findall(r"gfx\w+", line)})
        said["compat"] = " ".join(several) or "none"
    return said


def _served(torch: str, channel: str) -> dict[str, str]:
    said = {"scan": "yes" if _serves(torch, channel) else "no"}
    said["tables"] = "yes" if channel in builds_of(torch_release(TorchVersion.parse(torch))) else "no"
    wanted = parse_wants(f"torch=={torch}.*")
    plan = make_plan(Request(load_target("gfx90a"), None, None, wanted, (), channel))  # in every channel
    builds = (plan.chosen, *(other.candidate for other in plan.alternatives))
    served = any(build is not None and (build.owner, build.rocm) == ("pytorch.org", channel) for build in builds)
    said["compat"] = "yes" if served else "no"
    return said


def _wheel(
    diagnosis: Diagnosis, assumed: Diagnosis, plan: Plan, target: GfxTarget, torch: str, rocm: str
) -> dict[str, str]:
    said = {"compat": "yes" if plan.chosen is not None else "no"}
    channel = wheel_channel(rocm).for_torch(TorchVersion.parse(torch))
    state, blas = in_torch(channel, target).state, in_library(channel, "rocBLAS", target).state
    said["matrix"] = "unsure" if state == "unknown" else "no" if "no" in (state, blas) else "yes"
    if plan.chosen is not None and plan.chosen.sure == "unverified":
        said["compat"] = "unsure"
    for name, asked in (("doctor", diagnosis), ("doctor --torch", assumed)):
        result = asked.result("torch-arch")
        if result is not None:
            said[name] = {"ok": "yes", "fail": "no", "warn": "no"}.get(result.status, "unsure")
    return said


def _flash(diagnosis: Diagnosis, plan: Plan, target: GfxTarget, torch: str) -> dict[str, str]:
    said = {}
    result = diagnosis.result("attention")
    if result is not None and result.status != "skipped":
        plain, switch = "plain math" in result.message, "EXPERIMENTAL" in result.message
        said["doctor"] = "no" if plain else "switch" if switch or result.status == "warn" else "yes"
    if plan.chosen is not None:
        refused = any(part.what == "flash attention inside torch" for part in plan.refused)
        switch = any("AOTRITON" in setting.name for setting in plan.settings)
        said["compat"] = "no" if refused else "switch" if switch else "yes"
    rows = tables_data(torch_release(TorchVersion.parse(torch)), target)["tables"]["module"]
    row = next(row for row in rows if "(flash)" in row["name"])
    if row["on_target"] != "unknown":
        said["tables"] = "switch" if row["on_target"].startswith("with ") else row["on_target"]
    if said.get("tables") == "yes" and row["state"] == "no":
        said["tables"] = "no"
    model = _attention(target, torch)[0]
    if model.verdict != "unknown":
        switch = "EXPERIMENTAL" in model.text
        said["--model"] = "no" if "AOTriton kernels for" in model.text else "switch" if switch else "yes"
    return said


def _triton(diagnosis: Diagnosis, plan: Plan, target: GfxTarget) -> dict[str, str]:
    said = {}
    result = diagnosis.result("triton-target")
    if result is not None and result.status in ("ok", "warn", "fail"):
        said["doctor"] = "yes" if result.status == "ok" else "no"
    if plan.chosen is not None and target.library("triton"):
        said["compat"] = "no" if any(part.what.startswith("torch.compile") for part in plan.refused) else "yes"
    return said


def _bitsandbytes(target: GfxTarget, torch: str, rocm: str) -> dict[str, str]:
    """Whether the library that it loads beside a torch has code for a target."""
    wanted = parse_wants(f"torch=={torch}.*,bitsandbytes=={BITSANDBYTES}")
    plan = make_plan(Request(target, None, None, wanted, (), rocm))
    said = {"compat": {"ok": "yes", "no": "no"}.get(plan.items[0].status, "unsure")} if plan.chosen else {}
    paste = PASTE.format(torch=torch, rocm=rocm, gfx=target.name) + f"[pip3] bitsandbytes=={BITSANDBYTES}\n"
    hip = rocm_release(RocmVersion.parse(rocm)).hip  # collect_env calls the version of HIP that of ROCm
    paste = paste.replace(f"PyTorch: {rocm}", f"PyTorch: {hip}")
    diagnosis = diagnose(read_bytes(paste.encode(), "paste").machine)
    found = {result.status for name in ("bnb-library", "bnb-arch") if (result := diagnosis.result(name)) is not None}
    if found & {"ok", "fail"}:
        said["doctor"] = "no" if "fail" in found else "yes"
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description="The same questions put to every command.")
    parser.add_argument("--show", action="store_true", help="print every disagreement")
    parser.add_argument("--record", action="store_true", help="keep the figures in results/measured.json")
    parser.add_argument("--sources", type=Path, metavar="SNAPSHOT", help="check the facts against this snapshot, too")
    options = parser.parse_args()
    show = options.show
    asked, compared, differ = 0, 0, Counter[str]()
    for question, said in questions():
        asked += 1
        compared += len(said) > 1
        if len(set(said.values())) > 1:
            differ[question.split(":")[0]] += 1
            if show:
                print(question, said)
    print(f"facts as of {as_of()}: {asked} questions, {compared} with two answers or more, ", end="")
    print(f"{differ.total()} disagreements", dict(differ) if differ else "")
    if options.record:
        what = "questions asked of doctor, compat, tables, matrix, scan and `--model`; disagreements"
        record("facts", what, f"{asked}; {differ.total()}", "benchmarks/facts.py")
    if options.sources is None:
        print("sources: not checked (--sources SNAPSHOT)")
        return 1 if differ else 0
    tool = Path(__file__).parents[1] / "tools" / "refresh_facts.py"
    command = [sys.executable, str(tool), str(options.sources), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="")
    if options.record and (counted := re.search(r"^all: (.+)$", done.stdout, re.MULTILINE)):
        record(
            "sources",
            "claims of the facts compared with the texts they cite",
            counted[1],
            "benchmarks/facts.py --sources SNAPSHOT",
        )
    return 1 if differ or done.returncode else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""How many plans of `rocport compat` hold together, and how many pip resolves.

    python benchmarks/plans.py [--resolve N] [--import] [--show]

Plans are made for every GPU in the facts, three systems and some packages. Each with a torch becomes a script; bash
reads the Linux ones (`bash -n`), and each has to end with importing what was asked. `--resolve N` puts N of the
different plans for Linux to `pip install --dry-run`, which needs the network; nothing is installed. `--import` runs
the last step of every different plan, its imports, in a fresh process of this environment, where the packages are
there: the torch of this environment stands in for ROCm's, and is named.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections import Counter

from rocport.compat.plan import Plan, Request, make_plan
from rocport.compat.resolve import resolve_plan
from rocport.compat.script import plan_script
from rocport.compat.wants import parse_wants
from rocport.facts.dates import as_of
from rocport.facts.platforms import find_system
from rocport.facts.targets import all_targets

SYSTEMS = ("ubuntu24.04", "wsl", "windows11")
WANTS = ("torch", "torch,torchvision,transformers", "torch,bitsandbytes,peft", "torch,unsloth", "torch,deepspeed,numpy")


def broken(plan: Plan, system: str) -> str:
    """What is wrong with a plan as a script; empty when nothing is."""
    text = plan_script(plan, {"ubuntu24.04": "linux", "windows11": "windows"}.get(system, system))
    if system != "windows11":
        read = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
        if read.returncode:
            return read.stderr.strip()
    if system == "ubuntu24.04":
        for kind in ("docker", "conda"):
            rows = [row for row in plan_script(plan, kind).splitlines() if row and not row.startswith("#")]
            if kind == "docker" and not all(row.split()[0] in ("FROM", "RUN", "ENV", "CMD") for row in rows):
                return "a line of the Dockerfile is no instruction"
            if kind == "conda" and "dependencies:" not in rows:
                return "the environment file has no dependencies"
    modules = [item.module for item in plan.items if item.works and item.module]
    if modules and not plan.commands[-1].endswith(f'import {", ".join(modules)}"'):
        return "does not end with importing what was asked"
    return ""


def imported(plans: list[Plan]) -> None:
    """Import what different plans end with, where it is installed here; print what failed and what stood in."""
    counts, seen = Counter[str](), set[tuple[str, ...]]()
    for plan in plans:
        modules = ("torch", *sorted(item.module for item in plan.items if item.works and item.module))
        if modules in seen:
            continue
        seen.add(modules)
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            counts["not here"] += 1
            print(f"not here: {', '.join(missing)}")
            continue
        done = subprocess.run(
            [sys.executable, "-c", f"import {', '.join(modules)}"], capture_output=True, text=True, check=False
        )
        counts["imported" if done.returncode == 0 else "failed"] += 1
        if done.returncode:
            print(f"import {', '.join(modules)}: {done.stderr.strip().splitlines()[-1]}")
    here = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=False
    )
    torch = here.stdout.strip() or "not here"
    print(f"imports of {len(seen)} classes of plans, torch {torch} standing in: {dict(counts)}")


def main() -> int:
    parser = argparse.ArgumentParser(description="How many plans hold together.")
    parser.add_argument("--resolve", type=int, default=0, metavar="N", help="put N plans to pip --dry-run")
    parser.add_argument("--import", dest="imports", action="store_true", help="import what the plans end with, here")
    parser.add_argument("--show", action="store_true", help="print every plan that is broken")
    options = parser.parse_args()
    counts, linux = Counter[str](), dict[tuple[str, ...], Plan]()
    held = Counter[str]()
    for target in all_targets():
        for system in SYSTEMS:
            for want in WANTS:
                plan = make_plan(Request(target, "3.12", find_system(system), parse_wants(want)))
                if plan.chosen is None:
                    counts["no torch serves it"] += 1
                    continue
                why = broken(plan, system)
                held["index not recorded" if plan.unrecorded else "index recorded"] += 1
                counts["broken" if why else "complete" if plan.complete else "with parts left out"] += 1
                if why and options.show:
                    print(target.name, system, want, why)
                if system == "ubuntu24.04":
                    linux.setdefault(tuple(line for line in plan.commands if line.startswith("pip install")), plan)
    print(f"facts as of {as_of()}: {counts.total()} plans: {dict(counts)}; {len(linux)} different ones for Linux")
    print(f"their torch's index: {dict(held)}")
    if options.imports:
        imported(list(linux.values()))
    steps = Counter[str]()
    for plan in (
        list(linux.values())[:: max(1, len(linux) // options.resolve)][: options.resolve] if options.resolve else ()
    ):
        for step in resolve_plan(plan).steps:
            steps[step.state] += 1
            if step.said:
                print(f"{step.state}: {step.command[:160]}\n    {step.said[:300]}")
    if options.resolve:
        print(f"pip on the install commands of {options.resolve} of them: {dict(steps)}")
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""How many plans of `rocport compat` hold together, and how many pip resolves.

    python benchmarks/plans.py [--resolve N] [--show]

Plans are made for every GPU in the facts, three systems and some packages. Each with a torch becomes a script; bash
reads the Linux ones (`bash -n`), and each has to end with importing what was asked. `--resolve N` puts N of the
different plans for Linux to `pip install --dry-run`, which needs the network; nothing is installed.
"""

from __future__ import annotations

import argparse
import subprocess
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
    modules = [item.module for item in plan.items if item.works and item.module]
    if modules and not plan.commands[-1].endswith(f'import {", ".join(modules)}"'):
        return "does not end with importing what was asked"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description="How many plans hold together.")
    parser.add_argument("--resolve", type=int, default=0, metavar="N", help="put N plans to pip --dry-run")
    parser.add_argument("--show", action="store_true", help="print every plan that is broken")
    options = parser.parse_args()
    counts, linux = Counter[str](), dict[tuple[str, ...], Plan]()
    for target in all_targets():
        for system in SYSTEMS:
            for want in WANTS:
                plan = make_plan(Request(target, "3.12", find_system(system), parse_wants(want)))
                if plan.chosen is None:
                    counts["no torch serves it"] += 1
                    continue
                why = broken(plan, system)
                counts["broken" if why else "complete" if plan.complete else "with parts left out"] += 1
                if why and options.show:
                    print(target.name, system, want, why)
                if system == "ubuntu24.04":
                    linux.setdefault(tuple(line for line in plan.commands if line.startswith("pip install")), plan)
    print(f"facts as of {as_of()}: {counts.total()} plans: {dict(counts)}; {len(linux)} different ones for Linux")
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

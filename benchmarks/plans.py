"""How many plans of `rocport compat` hold together, and how many pip resolves.

    python benchmarks/plans.py [--resolve N] [--show]

Plans are made for every GPU in the facts, three systems and some packages. Each with a torch becomes a script; bash
reads the Linux ones (`bash -n`), and each has to end with importing what was asked. `--resolve N` puts N of the
install commands for Linux to `pip install --dry-run`, which needs the network; nothing is installed.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rocport.compat.packages import CONSTRAINTS
from rocport.compat.plan import Plan, Request, make_plan
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


def resolve(commands: list[str]) -> tuple[str, ...]:
    """The last line pip says to each install command, with the torch of the first as constraint."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / CONSTRAINTS).write_text("", encoding="utf-8")
        said = []
        for command in commands:
            words = [sys.executable, "-m", *shlex.split(command)]
            words.insert(words.index("install") + 1, "--dry-run")
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
            said.append(f"{'ok' if done.returncode == 0 else 'no'}: {lines[-1] if lines else ''}")
    return tuple(said)


def main() -> int:
    parser = argparse.ArgumentParser(description="How many plans hold together.")
    parser.add_argument("--resolve", type=int, default=0, metavar="N", help="put N install commands to pip --dry-run")
    parser.add_argument("--show", action="store_true", help="print every plan that is broken")
    options = parser.parse_args()
    counts, installs = Counter[str](), dict[str, None]()
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
                    installs |= dict.fromkeys(line for line in plan.commands if line.startswith("pip install"))
    print(f"facts as of {as_of()}: {counts.total()} plans: {dict(counts)}; {len(installs)} install commands for Linux")
    for command, said in zip(installs, resolve(list(installs)[: options.resolve]), strict=False):
        print(f"{said[:160]}\n    {command[:160]}")
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

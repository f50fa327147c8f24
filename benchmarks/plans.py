"""How many plans of `rocport compat` hold together, and how many pip resolves.

    python benchmarks/plans.py [--resolve N] [--import] [--clean [N]] [--show]

Plans are made for every GPU in the facts, three systems and some packages. Each with a torch becomes a script; bash
reads the Linux ones (`bash -n`), and each has to end with importing what was asked. `--resolve N` puts N of the
different plans for Linux to `pip install --dry-run`, which needs the network; nothing is installed. `--import` runs
the last step of every different plan, its imports, in a fresh process of this environment, where the packages are
there: the torch of this environment stands in for ROCm's, and is named.

`--clean` runs plans from an empty virtual environment to their last import: five targets, three systems, what can be
imported without a GPU. Plans that install the same beside torch are one class, installed once (N: at most so many). A
torch of the same version that pip finds without the ROCm index stands in, and is named. Windows' plans are counted by
their pip commands; PowerShell is not run.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
from collections import Counter

from rocport.compat.plan import Plan, Request, make_plan
from rocport.compat.resolve import resolve_plan
from rocport.compat.script import plan_script
from rocport.compat.wants import parse_wants
from rocport.facts.dates import as_of
from rocport.facts.platforms import find_system
from rocport.facts.targets import all_targets, load_target

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


CLEAN_TARGETS = ("gfx942", "gfx90a", "gfx1100", "gfx1151", "gfx1201")
CLEAN_WANTS = (
    *("einops,safetensors,tokenizers", "transformers,peft", "bitsandbytes,peft", "accelerate,datasets", "liger-kernel"),
    *("trl,sentencepiece", "diffusers,huggingface-hub", "deepspeed,numpy"),
)


def clean(most: int) -> bool:
    """Install classes of plans in environments of their own and import what was asked; True when none failed."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    torch = importlib.metadata.version("torch").split("+")[0]
    classes: dict[tuple[str, ...], list[Plan]] = {}
    for name in CLEAN_TARGETS:
        for system in SYSTEMS:
            for want in CLEAN_WANTS:
                wants = parse_wants(f"torch=={torch},{want}")
                plan = make_plan(Request(load_target(name), here, find_system(system), wants))
                if plan.chosen is not None and all(item.works for item in plan.items):
                    beside = tuple(line for line in plan.commands if line.startswith("pip install -c"))
                    classes.setdefault(beside, []).append(plan)
    counts, stood_in = Counter[str](), set[str]()
    for plans in list(classes.values())[:most]:
        said = installed(plans[0], torch, stood_in)
        counts["failed" if said else "imported"] += 1
        counts["plans of them"] += 0 if said else len(plans)
        if said:
            print(f"{plans[0].commands[-1]}: {said}")
    total = sum(map(len, classes.values()))
    print(
        f"{total} plans for {len(CLEAN_TARGETS)} targets and {len(SYSTEMS)} systems in {len(classes)} classes; ", end=""
    )
    print(f"from an empty environment, {', '.join(sorted(stood_in)) or 'no torch'} standing in: {dict(counts)}")
    return not counts["failed"]


def installed(plan: Plan, torch: str, stood_in: set[str]) -> str:
    """Run a plan in a new environment, its ROCm index left out; what failed, empty when the last import went well."""
    with tempfile.TemporaryDirectory(prefix="rocport-plan-") as folder:
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/env"], check=True)
        steps = [f'pip install -q "torch=={torch}"']
        steps += [line for line in plan.commands if line.startswith(("pip install -c", "export ", "pip freeze"))]
        steps += ["python -c \"import torch; print('stood in:', torch.__version__)\"", plan.commands[-1]]
        script = f"set -e; . {folder}/env/bin/activate; cd {folder}; unset PYTHONPATH\n" + "\n".join(steps)
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=3600)
    stood_in.update(f"torch {line.split()[-1]}" for line in done.stdout.splitlines() if line.startswith("stood in:"))
    return "" if done.returncode == 0 else " ".join((done.stderr.strip().splitlines() or ["?"])[-2:])[:300]


def main() -> int:
    parser = argparse.ArgumentParser(description="How many plans hold together.")
    parser.add_argument("--resolve", type=int, default=0, metavar="N", help="put N plans to pip --dry-run")
    parser.add_argument("--import", dest="imports", action="store_true", help="import what the plans end with, here")
    parser.add_argument(
        "--clean", type=int, nargs="?", const=99, default=0, metavar="N", help="from an empty environment"
    )
    parser.add_argument("--show", action="store_true", help="print every plan that is broken")
    options = parser.parse_args()
    if options.clean:
        return 0 if clean(options.clean) else 1
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

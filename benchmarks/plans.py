"""How many plans of `rocport compat` hold together, how many pip resolves, and how many import what was asked.

    python benchmarks/plans.py [--resolve [N]] [--import] [--clean [N]] [--show] [--record]

Plans are made for every GPU in the facts, three systems and some packages. Each with a torch becomes a script in every
form for its system, put to a reader of that form (plan_syntax.py), and has to end with importing what was asked.
`--import` runs the last step of every different plan, its imports, in a fresh process of this environment, where the
packages are there.

`--resolve` puts every plan of this Python to pip's own resolver (`pip install --dry-run`; needs the network, installs
nothing). What pip is asked depends on the versions of torch's family, on what is installed beside it and on Linux or
Windows, so plans that share these are one class, and pip is asked once a class. Where torch's index is not reached, its
packages stand in as empty wheels of the versions that the facts name: a plan counts as `recorded` where the listing of
its own index holds them, as `stand-ins` where no listing was read; only `resolved` means that pip saw the index itself.

`--clean` installs from an empty virtual environment and runs the last import: the same plans with torch pinned to the
version of this environment, whose build stands in for ROCm's and is named. Plans that install the same beside torch are
one class. What its authors let nobody import without a GPU is counted apart. For Windows the pip commands are run here.
An import that fails because torchvision's compiled part needs libraries which the stand-in lacks is run again with the
operator declared that this part would have declared, and counted apart with the names of those libraries.

Rows are written to `--results` as they come (none for a class that pip did not end in time), and a row that is there is
not made again: N classes at most a call, so a run can be cut and goes on. `--record` keeps the counts in
results/measured.json. Exit code 1: a plan is broken, or, without N, one was not asked.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from measured import record
from plan_standin import SCHEMAS, lacking
from plan_syntax import read_forms

from rocport.compat.plan import Plan, Request, make_plan
from rocport.compat.resolve import resolve_plan, torch_pins
from rocport.compat.wants import parse_wants
from rocport.facts.dates import as_of
from rocport.facts.platforms import find_system
from rocport.facts.targets import all_targets

SYSTEMS = ("ubuntu24.04", "wsl", "windows11")
WANTS = ("torch", "torch,torchvision,transformers", "torch,bitsandbytes,peft", "torch,unsloth", "torch,deepspeed,numpy")


def broken(plan: Plan, system: str, read: Counter[str]) -> str:
    """What is wrong with a plan as a script, empty when nothing is; `read` counts the forms that something read."""
    for form, said in read_forms(plan, system).items():
        read[f"{form}: {'not read' if said is None else 'broken' if said else 'read'}"] += 1
        if said:
            return f"{form}: {said}"
    modules = [item.module for item in plan.items if item.works and item.module]
    if modules and not plan.commands[-1].endswith(f'import {", ".join(modules)}"'):
        return "does not end with importing what was asked"
    return ""


def imported(plans: list[Plan]) -> Counter[str]:
    """Import what different plans end with, where it is installed here; print and count what failed and what stood
    in."""
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
    return counts


NEEDS_GPU = {"unsloth": "its first line asks for an accelerator"}
"""Modules that cannot be imported without a GPU, and why."""
CLEAN_WANTS = (
    *(
        "torch,einops,safetensors,tokenizers",
        "torch,accelerate,datasets",
        "torch,liger-kernel",
        "torch,trl,sentencepiece",
    ),
    "torch,diffusers,huggingface-hub",
)
RESULTS = Path(__file__).with_name("results") / "plans.csv"
COLUMNS = ("key", "kind", "seen", "python", "system", "torch", "beside", "state", "said")
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


STAND_IN = "imported but for torchvision's compiled part, whose CUDA libraries the stand-in lacks"
CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


EVERY = 999
"""Classes that a run without N takes at most: all there are."""
UNDONE = {"resolve": "not asked", "clean": "not run"}
RECORDED = {
    "made": "installation plans made for every GPU, three systems and five lists of packages, and read as scripts",
    "imports": "what different plans for Linux end with, imported here with a CPU torch standing in",
    "resolve": "installation plans put to pip, one of each class",
    "clean": "plans in empty environments with a CPU torch standing in",
}


def beside(plan: Plan) -> tuple[str, ...]:
    """The commands of a plan that install from the default index."""
    away = ("--index-url", "--find-links")
    return tuple(line for line in plan.commands if "pip install" in line and not any(word in line for word in away))


def every_plan(python: str, wants: Sequence[str], torch: str = "") -> Iterator[tuple[str, Plan]]:
    """(system, plan) for every GPU, system and list of wants; `torch` pins its version."""
    for target in all_targets():
        for system in SYSTEMS:
            for want in wants:
                pinned = want.replace("torch", f"torch=={torch}", 1) if torch else want
                yield system, make_plan(Request(target, python, find_system(system), parse_wants(pinned)))


class Rows:
    """The rows of one kind in a CSV of results: those of this Python, one a class of plans."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self.found: dict[str, dict[str, str]] = {}
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                rows = [row for row in csv.DictReader(file) if (row["kind"], row["python"]) == (kind, HERE)]
            self.found = {row["key"]: row for row in rows}

    @staticmethod
    def key(*parts: object) -> str:
        """A name for a class."""
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    def add(self, key: str, **values: str) -> None:
        """Write one row, at once."""
        new = not self.path.is_file()
        row = {"key": key, "kind": self.kind, "seen": date.today().isoformat(), "python": HERE, **values}
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.found[key] = row


def resolve(most: int, results: Path) -> Counter[str]:
    """Put classes of plans to pip, at most so many that have no row; print the counts of plans."""
    rows, classes, without = Rows(results, "resolve"), dict[str, list[Plan]](), 0
    for system, plan in every_plan(HERE, WANTS):
        if plan.chosen is None:
            without += 1
            continue
        windows = "windows" if system == "windows11" else "linux"
        family = tuple(pin.partition("+")[0] for pin in torch_pins(plan))
        classes.setdefault(rows.key(family, beside(plan), windows), []).append(plan)
    for key in [key for key in classes if key not in rows.found][:most]:
        plan = classes[key][0]
        done = resolve_plan(plan)
        bad = next((step for step in done.steps if step.state in ("conflict", "failed")), None)
        if bad is not None and "did not end within" in bad.said:
            print(f"not asked to its end: {bad.said}: {bad.command}")
            continue
        system = plan.request.system.kind if plan.request.system else ""
        state = (
            bad.state if bad else "resolved" if all(step.state == "resolved" for step in done.steps) else "stand-ins"
        )
        said = f"{bad.said}: {bad.command}" if bad else ""
        pins = " ".join(torch_pins(plan))
        rows.add(key, system=system, torch=pins, beside=" && ".join(beside(plan)), state=state, said=said[:400])
    counts = Counter[str]()
    for key, plans in classes.items():
        row = rows.found.get(key)
        for plan in plans:
            state = row["state"] if row else "not asked"
            counts["recorded" if state == "stand-ins" and not plan.unrecorded else state] += 1
    for row in (rows.found[key] for key in classes if key in rows.found):
        if row["state"] in ("conflict", "failed"):
            print(f"{row['state']} ({row['system']}): {row['said']}")
    print(f"facts as of {as_of()}, Python {HERE}: no torch serves {without} plans; {counts.total()} others in ", end="")
    print(f"{len(classes)} classes, put to pip: {dict(counts)}")
    return counts + Counter({"no torch serves": without})


def clean(most: int, results: Path) -> Counter[str]:
    """Install classes of plans in environments of their own and import what was asked; counts of plans."""
    torch = importlib.metadata.version("torch").split("+")[0]
    rows, classes, counts = Rows(results, "clean"), dict[str, list[Plan]](), Counter[str]()
    for _, plan in every_plan(HERE, (*WANTS, *CLEAN_WANTS), torch):
        if plan.chosen is None:
            counts[f"no torch {torch}"] += 1
        elif not all(item.works for item in plan.items):
            counts["with parts left out"] += 1
        else:
            classes.setdefault(rows.key(alone(plan), beside(plan), plan.commands[-1]), []).append(plan)
    with tempfile.TemporaryDirectory(prefix="rocport-plan-") as folder:
        for key in [key for key in classes if key not in rows.found and not needs_gpu(classes[key][0])][:most]:
            plan = classes[key][0]
            state, said, stood_in = installed(plan, torch, Path(folder))
            system = plan.request.system.kind if plan.request.system else ""
            rows.add(key, system=system, torch=stood_in, beside=" && ".join(beside(plan)), state=state, said=said[:400])
    for key, plans in classes.items():
        row = rows.found.get(key)
        counts[
            f"needs a GPU to import {needs_gpu(plans[0])}"
            if needs_gpu(plans[0])
            else row["state"]
            if row
            else "not run"
        ] += len(plans)
    known = [rows.found[key] for key in classes if key in rows.found]
    for row in known:
        if row["said"]:
            print(f"{row['state']}: {row['beside']}: {row['said']}")
    stood = ", ".join(sorted({row["torch"] for row in known if row["torch"]})) or "no torch"
    print(f"Python {HERE}: {counts.total()} plans, {len(classes)} classes of those that work; from an empty ", end="")
    print(f"environment, torch {stood} standing in: {dict(counts)}")
    return counts


def needs_gpu(plan: Plan) -> str:
    """The module of a plan that nobody can import without a GPU; empty when there is none."""
    return next((item.module for item in plan.items if item.module in NEEDS_GPU), "")


def alone(plan: Plan) -> str:
    """What a plan takes from torch's index, as a command for the default one: versions without their ROCm."""
    line = next(line for line in plan.commands if "--index-url" in line or "--find-links" in line)
    words = shlex.split(line)[4:]
    return "pip install -q " + " ".join(shlex.quote(re.sub(r"\[[^\]]*\]", "", word)) for word in words)


def installed(plan: Plan, torch: str, folder: Path) -> tuple[str, str, str]:
    """Run a plan in a new environment without its ROCm index: how it ended (`imported`, `failed`, or `STAND_IN`), what
    was said, and the torch that stood in. That is installed once, in an environment that the others look into."""
    shared = folder / "torch"
    if not shared.is_dir():
        subprocess.run([sys.executable, "-m", "venv", str(shared)], check=True)
        subprocess.run([f"{shared}/bin/pip", "install", "-q", f"torch=={torch}"], check=True, capture_output=True)
    with tempfile.TemporaryDirectory(prefix="plan-", dir=folder) as work:
        subprocess.run([sys.executable, "-m", "venv", f"{work}/env"], check=True)
        packages = Path(f"lib/python{HERE}/site-packages")
        Path(work, "env", packages, "torch.pth").write_text(f"{shared / packages}\n", encoding="utf-8")
        steps = [alone(plan)]
        steps += [line for line in plan.commands if line.startswith(("pip install -c", "export ", "pip freeze"))]
        steps += ["python -c \"import torch; print('stood in:', torch.__version__)\"", plan.commands[-1]]
        script = f"set -e; . {work}/env/bin/activate; cd {work}; unset PYTHONPATH\n" + "\n".join(steps)
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=1800)
        state = "imported" if done.returncode == 0 else "failed"
        said = "" if done.returncode == 0 else " ".join((done.stderr.strip().splitlines() or ["?"])[-2:])
        lacks = lacking([shared / packages, Path(work, "env", packages)])
        last = shlex.split(plan.commands[-1])
        if said and lacks and last[:2] == ["python", "-c"]:
            again = [f"{work}/env/bin/python", "-c", SCHEMAS + last[2]]
            if subprocess.run(again, capture_output=True, check=False, cwd=work, env=CLEAN).returncode == 0:
                state, said = STAND_IN, f"{done.stderr.strip().splitlines()[-1]}; lacks {', '.join(lacks)}"
    stood_in = next((line.split()[-1] for line in done.stdout.splitlines() if line.startswith("stood in:")), "")
    return state, said, stood_in


def ended_badly(way: str, counts: Counter[str], most: int) -> bool:
    """True where a plan is broken, or was not asked though every one was to be."""
    return bool(counts["conflict"] or counts["failed"] or (most == EVERY and counts[UNDONE[way]]))


def _record(way: str, counts: Counter[str], command: str) -> None:
    figure = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
    record(f"plans --{way}", RECORDED[way], f"{figure}, of {counts.total()}", command)


def main() -> int:
    parser = argparse.ArgumentParser(description="How many plans hold together.")
    many: dict[str, Any] = {"type": int, "nargs": "?", "const": EVERY, "default": 0, "metavar": "N"}
    parser.add_argument("--resolve", help="put classes of plans to pip --dry-run", **many)
    parser.add_argument("--import", dest="imports", action="store_true", help="import what the plans end with, here")
    parser.add_argument("--clean", help="from an empty environment", **many)
    parser.add_argument("--record", action="store_true", help="keep the counts in results/measured.json")
    parser.add_argument("--results", type=Path, default=RESULTS, help="CSV of the rows that were made")
    parser.add_argument("--show", action="store_true", help="print every plan that is broken")
    options = parser.parse_args()
    if options.resolve or options.clean:
        asked = {"resolve": resolve, "clean": clean}
        counts = {way: run(most, options.results) for way, run in asked.items() if (most := getattr(options, way))}
        for way, plans in counts.items() if options.record else ():
            _record(way, plans, f"benchmarks/plans.py --{way}")
        return 1 if any(ended_badly(way, plans, getattr(options, way)) for way, plans in counts.items()) else 0
    counts, linux = Counter[str](), dict[tuple[str, ...], Plan]()
    held, read = Counter[str](), Counter[str]()
    for system, plan in every_plan("3.12", WANTS):
        if plan.chosen is None:
            counts["no torch serves it"] += 1
            continue
        why = broken(plan, system, read)
        held["index not recorded" if plan.unrecorded else "index recorded"] += 1
        counts["broken" if why else "works" if plan.complete else "with parts left out"] += 1
        if why and options.show:
            print(plan.request.target.name, system, why)
        if system == "ubuntu24.04":
            linux.setdefault(tuple(line for line in plan.commands if line.startswith("pip install")), plan)
    print(f"facts as of {as_of()}: {counts.total()} plans: {dict(counts)}; {len(linux)} different ones for Linux")
    print(f"their torch's index: {dict(held)}")
    print(f"their forms: {dict(sorted(read.items()))}")
    if options.record:
        _record("made", Counter({"broken": 0} | counts), "benchmarks/plans.py")
    if options.imports:
        ended = imported(list(linux.values()))
        if options.record:
            _record("imports", ended, "benchmarks/plans.py --import")
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

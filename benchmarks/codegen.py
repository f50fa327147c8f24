"""What every Triton kernel compiles to for AMD targets, with no GPU. Exit code 1 when one misses the bar.

python benchmarks/codegen.py [gfx942 ...] [--kernels rows_kernel ...] [--out benchmarks/results/codegen.csv]

With --out the rows of targets and of kernels that are not named stay as they are in the file.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
from rocport.facts.targets import load_target
from rocport.ops import codegen
from rocport.runtime import Platform

HEAD = (
    "target",
    "call",
    "kernel",
    "vgprs",
    "spills",
    "scratch",
    "lds",
    "threads",
    "matrix",
    "wide",
    "occupancy",
    "bar",
)


def others(path: Path, targets: list[str], kernels: list[str]) -> list[dict[str, Any]]:
    """The rows of `path` of other targets than these, and of other kernels where some are named."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["target"] in codegen.TARGETS]
    return [row for row in rows if row["target"] not in targets or (kernels and row["kernel"] not in kernels)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(codegen.TARGETS))
    parser.add_argument("--kernels", nargs="+", default=[], help="these only")
    parser.add_argument("--out", type=Path, help="write the table as CSV")
    arguments = parser.parse_args()
    print(("{:<8} {:<26} {:<22}" + " {:>7}" * 8 + "  {}").format(*HEAD))
    kept, missed = [], 0
    for name in arguments.targets:
        target = load_target(name)
        for launch in codegen.launches(Platform("rocm", target=target)):
            if arguments.kernels and launch.name not in arguments.kernels:
                continue
            report = codegen.report(launch, name)
            problems = report.problems(target)
            missed += bool(problems)
            wide = f"{report.wide_loads}+{report.wide_stores}"
            numbers = (report.vgprs, report.spills, report.scratch, report.lds, report.threads, report.matrix, wide)
            verdict = "; ".join(problems) or "met"
            cells = (name, report.label, report.kernel, *numbers, report.occupancy, verdict)
            print(("{:<8} {:<26} {:<22}" + " {:>7}" * 8 + "  {}").format(*cells), flush=True)
            kept.append(asdict(report) | {"problems": "; ".join(problems)})
    if arguments.out and kept:
        table = sorted(
            others(arguments.out, arguments.targets, arguments.kernels) + kept,
            key=lambda row: codegen.TARGETS.index(row["target"]),
        )
        partial = arguments.out.with_suffix(".partial")
        with partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(table[0]))
            writer.writeheader()
            writer.writerows(table)
        os.replace(partial, arguments.out)
    print(f"{len(kept)} kernels, {missed} miss the bar", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The ISA executor beside the source-level one, on self-checking HIP programs: builds, passes, time.

    python benchmarks/isa_against_source.py [FOLDER] [--widths 64,32] [--seconds 120]

FOLDER holds one program a .hip file (default: tests/executor/programs), which ends with status 0 when it is right. The
ISA executor compiles with the real headers of HIP and runs the device's code; a kernel's first translation is part of
its time. One line a program, then both executors' counts. Exit 0.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from rocport.executor.base import BuildError, BuildOptions, Executor, Limits, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.program import load_program

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "executor" / "programs"


def main() -> int:
    """Build, run, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=PROGRAMS)
    parser.add_argument("--widths", default="64,32")
    parser.add_argument("--seconds", type=float, default=120.0)
    given = parser.parse_args()
    widths = [int(width) for width in given.widths.split(",")]
    executors: list[Executor] = []
    for executor in (CpuExecutor(), IsaExecutor()):
        refusal = executor.probe().refusal
        if refusal:
            print(f"skipped: {executor.name}: {refusal}")
        else:
            executors.append(executor)
    totals = {
        executor.name: {"builds": 0, "passes": 0, "runs": 0, "build_s": 0.0, "run_s": 0.0} for executor in executors
    }
    for path in sorted(given.folder.glob("*.hip")):
        told = []
        for executor in executors:
            total = totals[executor.name]
            with tempfile.TemporaryDirectory(prefix="rocport-against-") as scratch:
                started = time.monotonic()
                try:
                    executable = executor.build(load_program(path), Path(scratch), BuildOptions(optimize="-O1"))
                except BuildError as error:
                    told.append(f"{executor.name} not built: {str(error)[:160]}")
                    continue
                total["builds"] += 1
                total["build_s"] += time.monotonic() - started
                for width in widths:
                    options = RunOptions(width=width, limits=Limits(seconds=given.seconds))
                    result = executor.run(executable, (), Path(scratch), options)
                    total["runs"] += 1
                    total["passes"] += result.ok
                    total["run_s"] += result.seconds
                    why = "" if result.ok else (result.stderr.strip().splitlines() or ["no word"])[-1][:140]
                    kind = "pass" if result.ok else "out of time" if result.timed_out else f"status {result.status}"
                    told.append(f"{executor.name}/{width} {kind} {result.seconds:.1f} s {why}".rstrip())
        print(f"{path.stem}: {'; '.join(told)}", flush=True)
    for name, total in totals.items():
        print(
            f"{name}: {total['builds']} built in {total['build_s']:.0f} s, "
            f"{total['passes']} of {total['runs']} runs pass, {total['run_s']:.0f} s"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How many of the constructed warp programs compute after the port what CUDA computes, in both halves.

Run: python benchmarks/idioms.py [--every N]. The cases are those of tests/port/idiom_grid.py: an idiom over warps x how
the warp's size is spelled x where it is written, ported, built, run on the CPU executor at wavefront widths 32 and 64
and compared with a model in Python that knows CUDA's 32 lanes and nothing of the port. The half that may be looked at
and the half set aside are told apart by a hash; of the half set aside only the count is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "port"))

import idiom_grid

from rocport.executor.cpu import CpuExecutor

BATCH = 64


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--every", type=int, default=1, metavar="N", help="take each N-th case of both halves")
    every: int = options.parse_args().every
    executor = CpuExecutor()
    capability = executor.probe()
    if not capability.usable:
        sys.exit(capability.refusal)
    for half, name in ((False, "looked at"), (True, "set aside")):
        chosen = [case for case in idiom_grid.cases() if case.set_aside is half][::every]
        begin = time.perf_counter()
        verdicts = [
            verdict
            for first in range(0, len(chosen), BATCH)
            for verdict in idiom_grid.judge(chosen[first : first + BATCH], executor)
        ]
        right = [item for item in verdicts if item.wrong is None]
        named = [item for item in verdicts if item.wrong is not None and item.named]
        print(
            f"{name}: {len(right)} of {len(verdicts)} compute at widths 32 and 64 what CUDA computes; not, but named: "
            f"{len(named)}; silent: {len(verdicts) - len(right) - len(named)}; right, yet REVIEW or MANUAL: "
            f"{sum(bool(item.named) for item in right)} ({time.perf_counter() - begin:.0f} s)"
        )
        for item in verdicts:
            if not half and (item.wrong or item.named):
                print(f"  {item.case.title}: {item.wrong or 'right'}; {'; '.join(item.named) or 'not named'}")


if __name__ == "__main__":
    main()

"""How many cases of the grids of names and of meetings are right or named, in both halves; what binding costs.

Run: python benchmarks/binding.py [TREE ...]. The names are those of tests/binding/grid.py: who owns a name (idiom) x
how its use is spelled x which name. The meetings are those of tests/convergence/meeting_grid.py: what threads meet at
x what parts them x the form of the branch x where it is said. The half that may be looked at and the half set aside are
told apart by a hash.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "binding"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "convergence"))

import grid
import meeting_grid

from rocport import api
from rocport.model import Options
from rocport.scan.engine import index_tree, scan_tree


def tell(title: str, judged: Iterable[tuple[bool, str, str | None]]) -> None:
    """Print both halves of (set aside, what the case is, what is wrong with it)."""
    begin = time.perf_counter()
    total, right, bad = Counter[bool](), Counter[bool](), Counter[str]()
    for set_aside, what, said in judged:
        total[set_aside] += 1
        right[set_aside] += said is None
        if said is not None and not set_aside:
            bad[f"{what}: {said}"] += 1
    for half, name in ((False, "looked at"), (True, "set aside")):
        print(f"{title}, {name}: {right[half]} of {total[half]} right or named ({right[half] / total[half]:.3f})")
    print(f"{sum(total.values())} cases in {time.perf_counter() - begin:.1f} s")
    for text, count in bad.most_common(20):
        print(f"  {count} x {text}")


def main() -> None:
    names = ((case.set_aside, f"{case.idiom} of {case.name.kind}", grid.wrong(case)) for case in grid.cases())
    tell("names", names)
    meetings = ((case.set_aside, case.title, meeting_grid.wrong(case)) for case in meeting_grid.cases())
    tell("meetings", meetings)
    for name in sys.argv[1:]:
        tree = api.read(name)
        begin = time.process_time()
        index_tree(tree)
        indexed = time.process_time()
        scan_tree(tree, Options(), 1)
        print(f"{name}: index {indexed - begin:.2f} s, scan with its index {time.process_time() - indexed:.2f} s")


if __name__ == "__main__":
    main()

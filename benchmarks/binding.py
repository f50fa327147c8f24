"""How many cases of the grid of names are bound or named, in both halves; and what binding costs on a tree.

Run: python benchmarks/binding.py [TREE ...]. The cases are those of tests/binding/grid.py: who owns a name (idiom) x
how its use is spelled x which name. The half that may be looked at and the half set aside are told apart by a hash.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "binding"))

from grid import cases, wrong

from rocport import api
from rocport.model import Options
from rocport.scan.engine import index_tree, scan_tree


def main() -> None:
    begin = time.perf_counter()
    total, right, bad = Counter[bool](), Counter[bool](), Counter[str]()
    for case in cases():
        said = wrong(case)
        total[case.set_aside] += 1
        right[case.set_aside] += said is None
        if said is not None and not case.set_aside:
            bad[f"{case.idiom} of {case.name.kind}: {said}"] += 1
    for half, title in ((False, "looked at"), (True, "set aside")):
        print(f"{title}: {right[half]} of {total[half]} right or named ({right[half] / total[half]:.3f})")
    print(f"{sum(total.values())} cases in {time.perf_counter() - begin:.1f} s")
    for text, count in bad.most_common(20):
        print(f"  {count} x {text}")
    for name in sys.argv[1:]:
        tree = api.read(name)
        begin = time.process_time()
        index_tree(tree)
        indexed = time.process_time()
        scan_tree(tree, Options(), 1)
        print(f"{name}: index {indexed - begin:.2f} s, scan with its index {time.process_time() - indexed:.2f} s")


if __name__ == "__main__":
    main()

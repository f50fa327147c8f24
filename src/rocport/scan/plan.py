"""The plan a scan opens with: which phases of the porting procedure this repository needs, and why.

The phases and the decision tree: without CUDA sources, phases 2 to 4 fall away, except where build files ask for CUDA;
phases 0, 1 and 8 are for every repository; 5, 6 and 7 where their findings are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rocport.model import PHASES, Finding, SourceTree
from rocport.model.report import PhasePlan
from rocport.project.languages import CUDA_SOURCES

_SOURCES = (*CUDA_SOURCES, ".cuh")
_ALWAYS = {0: "every port starts here", 1: "every port needs to know its platform", 8: "every port ends here"}


def plan(tree: SourceTree, findings: Sequence[Finding]) -> tuple[PhasePlan, ...]:
    """One entry a phase, 0 to 8."""
    kernels = sum(1 for file in tree.files if file.path[file.path.rfind(".") :] in _SOURCES)
    sites = Counter(finding.phase for finding in findings)
    rules: dict[int, Counter[str]] = {}
    for finding in findings:
        rules.setdefault(finding.phase, Counter())[finding.rule] += 1
    entries = []
    for number, title in enumerate(PHASES):
        reasons = []
        if number in _ALWAYS:
            reasons.append(_ALWAYS[number])
        if kernels and number in (2, 3, 4):
            reasons.append(f"{kernels} CUDA source{'s' if kernels > 1 else ''}")
        if sites[number]:
            common = ", ".join(f"{rule} {count}" for rule, count in rules[number].most_common(3))
            reasons.append(f"{sites[number]} site{'s' if sites[number] > 1 else ''}: {common}")
        applies = bool(reasons)
        if not applies:
            reasons.append("no CUDA sources" if number in (2, 3, 4) else "no site of this kind")
        entries.append(PhasePlan(number, title, applies, "; ".join(reasons), sites[number]))
    return tuple(entries)

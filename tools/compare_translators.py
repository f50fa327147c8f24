"""How far the tables reach, and how they stand against two other translators' name tables.

Called by `tools/refresh_libraries.py --report`. The other tables are read where they are installed, and only judged:
a HIP name they give counts as real if a ROCm release read here declares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocport.facts.symbols import SymbolTable

_SUBST = re.compile(r'^\s*subst\("([^"]+)", "([^"]*)", "([^"]*)"\)', re.MULTILINE)
_HIP_SECTIONS = ("experimentalSubstitutions", "simpleSubstitutions")
_NAME = re.compile(r"[A-Za-z_]\w*$")


@dataclass
class Comparison:
    """One other translator against ours. Each entry of the lists is (CUDA name, their HIP name)."""

    title: str
    shared: int = 0
    same: int = 0
    other_name: list[tuple[str, str, str]] = field(default_factory=list)
    only_theirs_real: list[tuple[str, str]] = field(default_factory=list)
    only_theirs_undeclared: list[tuple[str, str]] = field(default_factory=list)
    only_ours: list[str] = field(default_factory=list)


def hipify_perl(path: Path) -> dict[str, str]:
    """CUDA name -> HIP name of hipify-perl's default mode (its rocBLAS and MIOpen modes are left out)."""
    text = path.read_text(encoding="utf-8")
    result: dict[str, str] = {}
    for section in _HIP_SECTIONS:
        start = text.index(f"sub {section} {{")
        for cuda, hip, _ in _SUBST.findall(text[start : text.index("\n}", start)]):
            if _NAME.match(cuda):
                result[cuda] = hip
    return result


def torch_hipify() -> dict[str, str]:
    """CUDA name -> HIP name of `torch.utils.hipify`; PyTorch's own and Caffe2's names are left out."""
    from torch.utils.hipify import cuda_to_hip_mappings as table

    result: dict[str, str] = {}
    for mapping in table.CUDA_TO_HIP_MAPPINGS:
        for cuda, meaning in mapping.items():
            hip = meaning if isinstance(meaning, str) else meaning[0]
            if _NAME.match(cuda) and re.match(r"(cu|CU|nccl|NCCL|nvrtc|NVRTC|nvml|nvtx|__)", cuda):
                result[cuda] = hip
    return result


def compare(title: str, theirs: Mapping[str, str], table: SymbolTable, declared: Callable[[str], bool]) -> Comparison:
    """Judge another table: what both map, what only one maps, and whether the names given exist."""
    result = Comparison(title)
    for cuda, hip in sorted(theirs.items()):
        symbol = table.identifiers.get(cuda.encode())
        ours = symbol.hip if symbol is not None else ""
        if ours:
            result.shared += 1
            if ours == hip:
                result.same += 1
            else:
                result.other_name.append((cuda, hip, ours))
        elif hip == cuda:
            result.shared += 1
            result.same += 1
        elif declared(hip):
            result.only_theirs_real.append((cuda, hip))
        else:
            result.only_theirs_undeclared.append((cuda, hip))
    result.only_ours = sorted(
        symbol.cuda for symbol in table.identifiers.values() if symbol.hip and symbol.cuda not in theirs
    )
    return result


def text(comparison: Comparison, limit: int) -> str:
    """The comparison for a terminal; at most `limit` names of each list."""
    c = comparison
    lines = [
        f"{c.title}: {c.shared} names mapped by both ({c.same} to the same HIP name), "
        f"{len(c.only_ours)} only by rocport",
        f"  only there, HIP name declared: {len(c.only_theirs_real)}",
        *(f"    {cuda} -> {hip}" for cuda, hip in c.only_theirs_real[:limit]),
        f"  only there, HIP name declared in no release read: {len(c.only_theirs_undeclared)}",
        *(f"    {cuda} -> {hip or '(empty)'}" for cuda, hip in c.only_theirs_undeclared[:limit]),
        f"  to another HIP name: {len(c.other_name)}",
        *(f"    {cuda}: there {hip}, here {ours}" for cuda, hip, ours in c.other_name[:limit]),
    ]
    return "\n".join(lines)

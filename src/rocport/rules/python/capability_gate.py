"""Decisions by CUDA compute capability read AMD's numbers as NVIDIA's.
`torch.cuda.get_device_capability()` answers (9, 4) on gfx942, (9, 5) on gfx950 and (11, 0) on gfx1100: `major >= 8`
passes, `== (9, 0)` does not, and `major == 9` selects Hopper code. Right when the decision names the platform first
(`torch.version.hip`) and reads `gcnArchName` on AMD. Printing the capability is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places
from rocport.syntax.python import PythonSource

_QUERY = re.compile(
    r"(?:^|\.)(?:_?get_(?:device|compute|cuda|gpu)_capability|get_device_sm|get_sm_version|get_sm_count_major|"
    r"get_cuda_arch|compute_capability|has_device_capability|is_device_capability|device_capability|get_compute_capabilities|get_arch_list)$"
)
_NAME = re.compile(
    r"(?i)^_?(?:is_|has_|supports?_)?(?:sm_?\d[\dx]{1,2}(?:a|_or_\w+|_up|_plus)?|hopper|ampere|blackwell|turing|ada|volta)(?:_supported|_available|_gpu|_or_\w+)?$"
)
_PROPERTY = frozenset({"major", "minor"})

RULE = Rule(
    name="capability-gate",
    summary="decision by CUDA compute capability",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"capabilit",
            b"get_device_properties",
            b"is_sm",
            b"get_sm",
            b"is_hopper",
            b"hopper",
            b"ampere",
            b"blackwell",
            b"get_arch_list",
            b"sm_",
        }
    ),
    phase=1,
    examples=(
        Example("import torch\nif torch.cuda.get_device_capability()[0] >= 8:\n    use_flash()\n", path="m.py"),
        Example(
            "import torch\nmajor, minor = torch.cuda.get_device_capability(0)\nis_sm90 = major == 9 and minor == 0\n",
            path="m.py",
        ),
        Example("p = torch.cuda.get_device_properties(0)\nif p.major < 8:\n    raise RuntimeError\n", path="m.py"),
    ),
    clean=(
        Example("print(torch.cuda.get_device_capability())\n", path="m.py"),
        Example(
            "if torch.version.hip is None and torch.cuda.get_device_capability()[0] >= 8:\n    pass\n", path="m.py"
        ),
        Example("p = torch.cuda.get_device_properties(0)\ntotal = p.total_memory\n", path="m.py"),
        Example("if version.major >= 8:\n    pass\n", path="m.py"),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/notes/hip.html",
        "shared measurements: architectures, capability column",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    bound = _bound(source)
    properties = source.bound_to(frozenset({"torch.cuda.get_device_properties"}))
    nodes: list[Any] = []
    for node in source.find(ast.Call):
        name = call_name(source, node) or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if _QUERY.search(name):
            nodes.append(node)
    for place in source.find(ast.Compare):
        for inner in (place.left, *place.comparators):
            if any(_is_capability(source, part, bound, properties) for part in ast.walk(inner)):
                nodes.append(place)
                break
    for name_node in source.find(ast.Name):
        if isinstance(name_node.ctx, ast.Load) and _NAME.match(name_node.id) and source.in_test(name_node):
            nodes.append(name_node)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    for node in open_places(source, nodes):
        if _only_shown(source, node):
            continue
        yield finding(
            RULE,
            source,
            node,
            "CUDA compute capability decides here; AMD GPUs answer 9.x to 12.x and are neither Hopper nor Blackwell",
            fix="ask torch.version.hip first, then gcnArchName; keep this test for CUDA",
            confidence=Confidence.HIGH if isinstance(node, ast.Compare) else Confidence.MEDIUM,
            holds="every ROCm; gfx942 answers (9, 4), gfx1100 (11, 0)",
        )


def _bound(source: PythonSource) -> frozenset[str]:
    found: set[str] = set()
    for node in source.find(ast.Assign):
        if any(
            isinstance(inner, ast.Call) and _QUERY.search(call_name(source, inner) or "")
            for inner in ast.walk(node.value)
        ):
            for target in node.targets:
                found.update(inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name))
    return frozenset(found)


def _is_capability(source: PythonSource, node: ast.AST, bound: frozenset[str], properties: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in bound or node.id in ("compute_capability", "cuda_capability", "device_capability")
    if isinstance(node, ast.Attribute) and node.attr in _PROPERTY:
        value = node.value
        return (isinstance(value, ast.Name) and value.id in properties) or call_name(source, value).endswith(
            "get_device_properties"
        )
    return False


def _only_shown(source: PythonSource, node: ast.AST) -> bool:
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call) and ast.unparse(parent.func).rsplit(".", 1)[-1] in (
            "print",
            "info",
            "debug",
            "warning",
        ):
            return True
        if isinstance(parent, ast.stmt):
            return False
    return False

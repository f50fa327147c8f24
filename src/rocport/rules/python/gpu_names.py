"""Tables keyed by NVIDIA product names: an AMD GPU is not in them, so a KeyError or a wrong default follows.
Peak FLOPS, bandwidth and lists of supported devices are looked up by `"A100"` or `"H100"` in the device name. Right
when AMD's names (`MI300X`, `Radeon ...`) stand beside them. A name in a message, a comment or a path is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding
from rocport.syntax.amd import is_amd_path
from rocport.syntax.python import PythonSource

_NAME = re.compile(
    r"(?i)^(?:NVIDIA[ -])?(?:Tesla[ -])?(?:A(?:10|16|30|40|100|800)|H(?:20|100|200|800)|V100|B(?:100|200|300)|GH200|"
    r"GB[23]00|L(?:4|20|40)|T4|RTX ?\d{4}\w*|GeForce.*|Quadro.*|A10G|L40S)(?:[- ].{1,24})?$"
)
"""Products as they are sold: `v500` and `t850` are winds and temperatures."""

_ASKS = frozenset({"startswith", "endswith", "find", "count", "index", "match", "search"})

RULE = Rule(
    name="gpu-name-table",
    summary="table or test of NVIDIA product names",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"A100", b"H100", b"V100", b"H800", b"a100", b"h100", b"v100", b"T4"}),
    phase=1,
    holds="every AMD GPU",
    examples=(
        Example("FLOPS = {'A100': 312e12, 'H100': 989e12}\n", path="m.py"),
        Example("if 'A100' in torch.cuda.get_device_name():\n    flops = 312e12\n", path="m.py"),
        Example("if torch.cuda.get_device_name(0).startswith('NVIDIA A100'):\n    block = 128\n", path="m.py"),
    ),
    clean=(
        Example("log.append('A100')\n", path="m.py"),
        Example("FLOPS = {'A100': 312e12, 'H100': 989e12, 'MI300X': 1307e12}\n", path="m.py"),
        Example("print('needs an A100')\nname = 'A100'\n", path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/en/latest/reference/gpu-specs.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if is_amd_path(source.path):
        return
    seen: set[ast.AST] = set()
    for node, text in source.strings:
        if not _NAME.match(text):
            continue
        parent = source.parents.get(node)
        place: ast.AST | None = None
        if isinstance(parent, ast.Dict) and node in parent.keys:
            place = parent if sum(_NAME.match(_text(key)) is not None for key in parent.keys) > 1 else None
        elif isinstance(parent, ast.Compare) or (
            isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in _ASKS
        ):
            place = _chain(source, parent)
        if place is None or place in seen:
            continue
        seen.add(place)
        if any(
            re.search(r"(?i)\bmi\d{2,3}|radeon|instinct|gfx\d", word) for word in source.words(place)
        ) or source.gated(node):
            continue
        yield finding(
            RULE,
            source,
            place if isinstance(place, ast.Dict) else parent or node,
            "NVIDIA product names only: an AMD GPU falls through",
            fix="add the AMD products the code is for, with figures from their data sheets",
            confidence=Confidence.MEDIUM,
        )


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _chain(source: PythonSource, node: ast.AST) -> ast.AST:
    """The outermost `if` of an if/elif chain, so that a chain is one finding."""
    place: ast.AST = node
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.If):
            if child is parent.test or child in parent.orelse:
                place = parent
                continue
            break
        if isinstance(parent, ast.stmt):
            break
    return place

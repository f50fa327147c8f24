"""Versions of torch, vLLM and others compared as text: ROCm builds carry a suffix (`0.6.3+rocm624`, `2.9.1+rocm7.2`).
`package_version == "0.6.3"` is False for such a build, and the code takes the branch for an unknown version. Right when
the release part is compared (`Version(v).release`, or `packaging`'s public version).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding
from rocport.rules.python.gate import edited, open_lines
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_PACKAGES = frozenset({"vllm", "torch", "flash_attn", "flash-attn", "triton", "sglang", "xformers"})
_NUMBER = re.compile(r"^\d+\.\d+(?:\.\d+)?$")

RULE = Rule(
    name="package-version-text",
    summary="version of a GPU package compared as text",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"version"}),
    phase=5,
    holds="wheels with a local version such as +rocm7.2",
    examples=(
        Example(
            "import vllm\nif vllm.__version__ == '0.6.3':\n    pass\n",
            contains=('(vllm.__version__.split("+")[0] if _rocm_compat.IS_ROCM else vllm.__version__) == ',),
            path="m.py",
        ),
        Example("vllm_version = get_version('vllm')\nif vllm_version == '0.6.3':\n    pass\n", path="m.py"),
    ),
    clean=(
        Example("import vllm\nif Version(vllm.__version__) >= Version('0.6.3'):\n    pass\n", path="m.py"),
        Example("schema_version = '1.0'\nif schema_version == '1.0':\n    pass\n", path="m.py"),
    ),
    sources=("https://packaging.python.org/en/latest/specifications/version-specifiers/",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    bound: set[str] = set()
    for assign in source.find(ast.Assign):
        if _asks_version(source, assign.value):
            bound.update(
                inner.id for target in assign.targets for inner in ast.walk(target) if isinstance(inner, ast.Name)
            )
    nodes: list[Any] = []
    for compare in source.find(ast.Compare):
        sides = [compare.left, *compare.comparators]
        asked = any(_asks_version(source, side) or (isinstance(side, ast.Name) and side.id in bound) for side in sides)
        literal = any(
            isinstance(part, ast.Constant) and isinstance(part.value, str) and _NUMBER.match(part.value)
            for side in sides
            for part in (side.elts if isinstance(side, (ast.Tuple, ast.List)) else [side])
        )
        if asked and literal:
            nodes.append(compare)
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "compared as text: a ROCm build's version carries a suffix such as +rocm7.2",
            fix="compare packaging.version.Version(...).release",
            confidence=Confidence.MEDIUM,
        )
        edits = [edit for other in others for edit in _edits(gate, other, bound)]
        yield edited(item, gate, edits, Applicability.SAFE)


def _edits(gate: Gate, node: ast.Compare, bound: set[str]) -> list[Edit]:
    """Without the suffix of the build on ROCm."""
    sides = [node.left, *node.comparators]
    asking = (
        side for side in sides if _asks_version(gate.source, side) or (isinstance(side, ast.Name) and side.id in bound)
    )
    return [edit for side in asking for edit in gate.choice(side, f'{gate.text(side)}.split("+")[0]')]


def _asks_version(source: PythonSource, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "__version__":
        return source.dotted(node).split(".")[0] in _PACKAGES
    if isinstance(node, ast.Call) and len(node.args) == 1:
        argument = node.args[0]
        named = source.constants.get(argument.id) if isinstance(argument, ast.Name) else None
        wanted = named in _PACKAGES or (isinstance(argument, ast.Constant) and argument.value in _PACKAGES)
        name = ast.unparse(node.func).rsplit(".", 1)[-1]
        return wanted and "version" in name.lower() and name != "Version"
    return False

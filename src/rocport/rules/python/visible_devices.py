"""Code that rewrites `CUDA_VISIBLE_DEVICES`, or Ray's switch for it: on ROCm there are three such variables.
`HIP_VISIBLE_DEVICES` and `ROCR_VISIBLE_DEVICES` act beside `CUDA_VISIBLE_DEVICES`; setting or popping one of them while
Ray or a launcher set another selects other GPUs, or none. Right when all three are handled alike. Merely reading or
setting `CUDA_VISIBLE_DEVICES` works on ROCm and is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding
from rocport.rules.python.gate import edited, followed, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_NOSET = "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"
_HIP_NOSET = "RAY_EXPERIMENTAL_NOSET_HIP_VISIBLE_DEVICES"

RULE = Rule(
    name="visible-devices",
    summary="rewrites CUDA_VISIBLE_DEVICES",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"CUDA_VISIBLE_DEVICES"}),
    phase=1,
    holds="every ROCm release; the documentation of ROCm 10 names HIP_VISIBLE_DEVICES alone",
    examples=(
        Example(
            "import os\nos.environ.pop('CUDA_VISIBLE_DEVICES', None)\n",
            contains=("if _rocm_compat.IS_ROCM:\n    os.environ.pop('HIP_VISIBLE_DEVICES', None)\n",),
            path="m.py",
        ),
        Example(
            "names = ['RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES']\n",
            contains=("'RAY_EXPERIMENTAL_NOSET_HIP_VISIBLE_DEVICES'] if _rocm_compat.IS_ROCM else [",),
            path="m.py",
        ),
        Example(
            "import os, ray\nos.environ['CUDA_VISIBLE_DEVICES'] = ids\n",
            contains=("    os.environ['HIP_VISIBLE_DEVICES'] = os.environ['CUDA_VISIBLE_DEVICES']\n",),
            path="m.py",
        ),
    ),
    clean=(
        Example("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", path="m.py"),
        Example("import os\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'))\n", path="m.py"),
    ),
    sources=(
        "https://rocm.docs.amd.com/en/docs-6.1.2/conceptual/gpu-isolation.html",
        "https://github.com/ray-project/ray/pull/51104",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    ray = "ray" in source.modules or b"RAY_" in source.data
    nodes: list[Any] = []
    for node, text in source.strings:
        if "NOSET_CUDA_VISIBLE_DEVICES" in text and len(text) < 80:
            nodes.append(node)
        elif text == "CUDA_VISIBLE_DEVICES":
            parent = source.parents.get(node)
            removes = (
                isinstance(parent, ast.Call)
                and isinstance(parent.func, ast.Attribute)
                and parent.func.attr in ("pop", "unsetenv")
            )
            deleted = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Del)
            if removes or deleted or (ray and not _is_read_for_show(source, node)):
                nodes.append(node)
    gate = Gate(source)
    nodes = [node for node in nodes if not followed(source, node)]
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "CUDA_VISIBLE_DEVICES is changed here without HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES",
            fix="treat the three variables alike where torch.version.hip is set",
            confidence=Confidence.MEDIUM,
        )
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _edits(gate: Gate, node: ast.Constant) -> tuple[Edit, ...]:
    """HIP's variable goes where CUDA's goes, and is set to what CUDA's is set to. ROCR's numbers other devices: it is
    left to a reader."""
    source = gate.source
    parent = source.parents[node]
    if node.value == _NOSET and isinstance(parent, (ast.List, ast.Tuple)) and replaceable(source, parent):
        text = gate.text(parent)
        return gate.choice(parent, f"{text[:-1].rstrip().rstrip(',')}, {_HIP_NOSET!r}{text[-1]}")
    if node.value == _NOSET and replaceable(source, node):
        return gate.choice(node, f'"{_HIP_NOSET}"')
    statement = source.statement(node)
    if node.value != "CUDA_VISIBLE_DEVICES" or not isinstance(statement, ast.stmt):
        return ()
    named = gate.text(node).replace("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    if isinstance(statement, ast.Delete) and isinstance(parent, ast.Subscript):
        return gate.then(statement, [f"{gate.text(parent.value)}.pop({named}, None)"])
    if isinstance(statement, ast.Expr) and statement.value is parent and isinstance(parent, ast.Call):
        if isinstance(parent.func, ast.Attribute) and parent.func.attr == "pop":
            return gate.then(statement, [f"{gate.text(parent.func.value)}.pop({named}, None)"])
        return ()
    if isinstance(statement, ast.Assign) and [parent] == statement.targets and isinstance(parent, ast.Subscript):
        where = gate.text(parent.value)
        return gate.then(statement, [f"{where}[{named}] = {where}[{gate.text(node)}]"])
    return ()


def _is_read_for_show(source: PythonSource, node: ast.AST) -> bool:
    return any(
        isinstance(parent, ast.Call) and ast.unparse(parent.func).rsplit(".", 1)[-1] in ("print", "info", "debug")
        for parent, _ in source.ancestors(node)
    )

"""Code that rewrites `CUDA_VISIBLE_DEVICES`, or Ray's switch for it: on ROCm there are three such variables.
`HIP_VISIBLE_DEVICES` and `ROCR_VISIBLE_DEVICES` act beside `CUDA_VISIBLE_DEVICES`; setting or popping one of them while
Ray or a launcher set another selects other GPUs, or none. Right when all three are handled alike. Merely reading or
setting `CUDA_VISIBLE_DEVICES` works on ROCm and is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="visible-devices",
    summary="rewrites CUDA_VISIBLE_DEVICES",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"CUDA_VISIBLE_DEVICES"}),
    phase=1,
    examples=(
        Example("import os\nos.environ.pop('CUDA_VISIBLE_DEVICES', None)\n", path="m.py"),
        Example("names = ['RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES']\n", path="m.py"),
        Example("import os, ray\nos.environ['CUDA_VISIBLE_DEVICES'] = ids\n", path="m.py"),
    ),
    clean=(
        Example("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", path="m.py"),
        Example("import os\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'))\n", path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html",),
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
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "CUDA_VISIBLE_DEVICES is changed here without HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES",
            fix="treat the three variables alike where torch.version.hip is set",
            confidence=Confidence.MEDIUM,
        )


def _is_read_for_show(source: PythonSource, node: ast.AST) -> bool:
    return any(
        isinstance(parent, ast.Call) and ast.unparse(parent.func).rsplit(".", 1)[-1] in ("print", "info", "debug")
        for parent, _ in source.ancestors(node)
    )

"""`torch.backends.cudnn.version()` is MIOpen's version on ROCm: 3004000 for 3.4.0, more than any number of cuDNN's.

What asks for `>= 8902` holds there whatever MIOpen can do, and what asks for an old cuDNN never does. Right when
`torch.version.hip` is asked first. A version that is only printed or kept is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="cudnn-version",
    summary="decision by cuDNN's version",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"cudnn"}),
    phase=1,
    holds="every ROCm release",
    examples=(
        Example("import torch\nif torch.backends.cudnn.version() >= 8902:\n    attention()\n", path="m.py"),
        Example(
            "from torch.backends import cudnn\nv = cudnn.version()\nnew = v is not None and v > 8000\n", path="m.py"
        ),
    ),
    clean=(
        Example("import torch\nprint(torch.backends.cudnn.version())\n", path="m.py"),
        Example(
            "import torch\nif torch.version.hip is None and torch.backends.cudnn.version() > 8000:\n    f()\n",
            path="m.py",
        ),
        Example("import torch\nok = torch.backends.cudnn.version() is not None\n", path="m.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/pull/33118",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    kept = {
        target.id
        for node in source.find(ast.Assign)
        if _asks(source, node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    nodes = []
    for node in source.find(ast.Compare):
        if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
            continue
        sides = [inner for side in (node.left, *node.comparators) for inner in ast.walk(side)]
        if any(_asks(source, side) or (isinstance(side, ast.Name) and side.id in kept) for side in sides):
            nodes.append(node)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "torch.backends.cudnn.version() is MIOpen's on ROCm, with numbers of its own: this decides nothing there",
            fix="ask torch.version.hip first; keep this test for CUDA",
        )


def _asks(source: PythonSource, node: ast.AST) -> bool:
    name = call_name(source, node)
    return name in ("cudnn.version", "torch.backends.cudnn.version") or name.endswith(".cudnn.version")

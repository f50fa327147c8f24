"""`torch.version.cuda` is None where PyTorch is built for ROCm, so splitting, parsing or formatting it fails.
`torch.version.cuda.split(".")` raises AttributeError, `Version(None)` and `float(None)` TypeError, and a name made of
it reads `cuNone`. A comparison with None decides "no GPU" on an AMD machine. Right when the branch for ROCm reads
`torch.version.hip`; a place behind such a test is left alone, and so is printing the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places
from rocport.syntax.python import PythonSource

_READ = frozenset({"torch.version.cuda"})
_PRINTS = ("print", "info", "debug", "warning", "write")

RULE = Rule(
    name="torch-version-cuda",
    summary="torch.version.cuda used as a string",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {b"version.cuda", b"import version", b"version import", b"_cuda_getCompiledVersion", b"CUDA_VERSION"}
    ),
    phase=1,
    examples=(
        Example("import torch\nmajor = int(torch.version.cuda.split('.')[0])\n", path="setup.py"),
        Example(
            "from torch.version import cuda\nprint(f'cu{cuda}')\ntag = 'cu' + cuda.replace('.', '')\n", path="m.py"
        ),
        Example("import torch\nv = torch.version.cuda\nif v is not None:\n    pass\nx = parse(v)\n", path="m.py"),
    ),
    clean=(
        Example("print(torch.version.cuda)\n", path="m.py"),
        Example(
            "if torch.version.hip is not None:\n    v = None\nelse:\n    v = torch.version.cuda.split('.')\n",
            path="m.py",
        ),
        Example("is_rocm = torch.version.hip is not None and torch.version.cuda is None\n", path="m.py"),
        Example("v = torch.version.cuda_home\n", path="m.py"),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/hip.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    bound = source.bound_to(_READ) - {"torch"}
    nodes: list[Any] = []
    for node in source.find(ast.Attribute, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            continue
        direct = source.dotted(node) in _READ
        derived = isinstance(node, ast.Name) and node.id in bound and source.aliases.get(node.id) is None
        if (direct and not _printed(source, node)) or (derived and _as_string(source, node)):
            nodes.append(node)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    for node in open_places(source, nodes):
        used = _as_string(source, node)
        yield finding(
            RULE,
            source,
            node,
            "torch.version.cuda is None on ROCm: "
            + ("using it as text raises or writes None" if used else "this takes the no-GPU way"),
            fix="read torch.version.hip where torch.version.cuda is None",
            confidence=Confidence.HIGH if used else Confidence.MEDIUM,
        )


def _as_string(source: PythonSource, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    if isinstance(parent, (ast.Attribute, ast.Subscript, ast.BinOp, ast.FormattedValue)):
        return True
    if isinstance(parent, ast.Call) and node in parent.args:
        return call_name(source, parent).rsplit(".", 1)[-1] not in (*_PRINTS, "bool", "str", "isinstance", "repr")
    return isinstance(parent, ast.Compare) and not any(
        isinstance(side, ast.Constant) and side.value is None for side in (parent.left, *parent.comparators)
    )


def _printed(source: PythonSource, node: ast.AST) -> bool:
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call) and not isinstance(parent.func, ast.Attribute | ast.Name):
            return False
        if isinstance(parent, ast.Call) and ast.unparse(parent.func).rsplit(".", 1)[-1] in _PRINTS:
            return True
        if isinstance(parent, (ast.Attribute, ast.Subscript, ast.stmt)):
            return False
    return False

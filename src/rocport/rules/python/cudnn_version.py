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
    kept = _kept(source)
    nodes = []
    for node in source.find(ast.Compare):
        if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
            continue
        sides = [inner for side in (node.left, *node.comparators) for inner in ast.walk(side)]
        if any(_asks(source, side) or _holds(source, side, kept) for side in sides):
            nodes.append(node)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "torch.backends.cudnn.version() is MIOpen's on ROCm, with numbers of its own: this decides nothing there",
            fix="ask torch.version.hip first; keep this test for CUDA",
        )


_Kept = dict[tuple[ast.AST | None, str], bool]
"""(the function or module of a name, the name) -> whether some assignment there gives it the version."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _kept(source: PythonSource) -> _Kept:
    kept: _Kept = {}
    for function in source.find(*_FUNCTIONS):
        arguments = function.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            kept[function, argument.arg] = False
    for node in source.find(ast.Assign, ast.AnnAssign, ast.NamedExpr):
        given = list(ast.walk(node.value)) if node.value is not None else []
        gives = any(_asks(source, item) for item in given)
        gives = gives and not any(
            isinstance(item, (ast.Compare, ast.Dict, ast.Lambda, ast.JoinedStr)) for item in given
        )
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for item in ast.walk(target):
                if (name := _name(item)) and isinstance(getattr(item, "ctx", None), ast.Store):
                    place = next(_places(source, item), None)
                    kept[place, name] = kept.get((place, name), False) or gives
    return kept


def _holds(source: PythonSource, node: ast.AST, kept: _Kept) -> bool:
    """True for a name that got the version in the innermost function, or module, that assigns it."""
    if not (name := _name(node)):
        return False
    return next((kept[place, name] for place in _places(source, node) if (place, name) in kept), False)


def _name(node: ast.AST) -> str:
    """`v`, and `self.v`; empty for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _places(source: PythonSource, node: ast.AST) -> Iterator[ast.AST | None]:
    """What may hold a name, from the inside out: functions and None for the module; the class for `self.v`."""
    kinds = _FUNCTIONS if isinstance(node, ast.Name) else (ast.ClassDef,)
    yield from (parent for parent, _ in source.ancestors(node) if isinstance(parent, kinds))
    yield None


def _asks(source: PythonSource, node: ast.AST) -> bool:
    name = call_name(source, node)
    return name in ("cudnn.version", "torch.backends.cudnn.version") or name.endswith(".cudnn.version")

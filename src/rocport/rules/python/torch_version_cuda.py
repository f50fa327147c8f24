"""`torch.version.cuda` is None where PyTorch is built for ROCm, so splitting, parsing or formatting it fails.
`torch.version.cuda.split(".")` raises AttributeError, `Version(None)` and `float(None)` TypeError, and a name made of
it reads `cuNone`. A comparison with None decides "no GPU" on an AMD machine. Right when the branch for ROCm reads
`torch.version.hip`; a place behind such a test is left alone, and so is printing the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import asked, depends, edited, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_READ = frozenset({"torch.version.cuda"})
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
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
    holds="torch for ROCm, every release",
    examples=(
        Example(
            "import torch\nmajor = int(torch.version.cuda.split('.')[0])\n",
            contains=(
                "_IS_ROCM = torch.version.hip is not None\n",
                'int((".".join(torch.version.hip.split(".")[:2]) if _IS_ROCM else torch.version.cuda).split(',
            ),
            path="setup.py",
        ),
        Example(
            "import torch\nmajor = int(torch.version.cuda.split('.')[0])\n",
            contains=("int((_rocm_compat.HIP_RELEASE if _rocm_compat.IS_ROCM else torch.version.cuda).split('.')[0])",),
            path="m.py",
        ),
        Example(
            "import torch\nif Version(torch.version.cuda) < Version('11.8'):\n    raise RuntimeError\n",
            contains=("if not _rocm_compat.IS_ROCM and Version(torch.version.cuda) < Version('11.8'):\n",),
            path="m.py",
        ),
        Example(
            "import torch\nv = torch.version.cuda\nmajor = int(v.split('.')[0])\nnew = major and v >= '12'\n",
            contains=(
                "v = (_rocm_compat.HIP_RELEASE if _rocm_compat.IS_ROCM else torch.version.cuda)\n",
                "major = int(v.split('.')[0])\n",
                "new = major and (not _rocm_compat.IS_ROCM and v >= '12')\n",
            ),
            path="m.py",
        ),
        Example(
            "import torch\ngpu = torch.version.cuda is not None\n",
            contains=("gpu = (_rocm_compat.IS_ROCM or torch.version.cuda is not None)\n",),
            path="m.py",
        ),
        Example(
            "from torch.version import cuda\nprint(f'cu{cuda}')\ntag = 'cu' + cuda.replace('.', '')\n", path="m.py"
        ),
        Example("import torch\nv = torch.version.cuda\nif v is not None:\n    pass\nx = parse(v)\n", path="m.py"),
        Example("def is_nvidia():\n    return int(torch.version.cuda.split('.')[0]) > 11\n", path="m.py"),
        Example(
            "import torch\nif torch.version.cuda:\n    v = torch.version.cuda\n"
            "elif torch.version.hip:\n    v = torch.version.hip\n",
            absent=("HIP_RELEASE",),
            path="m.py",
        ),
    ),
    clean=(
        Example("def is_nvidia():\n    if torch.version.cuda:\n        return True\n    return False\n", path="m.py"),
        Example("print(torch.version.cuda)\n", path="m.py"),
        Example("info = {'torch_cuda_version': torch.version.cuda or 'unavailable'}\n", path="m.py"),
        Example(
            "if torch.version.hip is not None:\n    v = None\nelse:\n    v = torch.version.cuda.split('.')\n",
            path="m.py",
        ),
        Example("is_rocm = torch.version.hip is not None and torch.version.cuda is None\n", path="m.py"),
        Example("v = torch.version.cuda_home\n", path="m.py"),
        Example(
            "import torch\nbuilt = torch.ops.x.cuda_version()\nif torch.version.cuda is not None and built != -1:\n"
            "    major = int(torch.version.cuda.split('.')[0])\n    if major != built // 1000:\n"
            "        raise RuntimeError('built for another CUDA')\n",
            path="m.py",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/hip.html",),
)


def _asks_vendor(source: PythonSource, node: ast.AST) -> bool:
    """True for a question in `def is_nvidia():`, whose answer on ROCm is to be no."""
    return not _as_string(source, node) and any(
        isinstance(parent, ast.FunctionDef) and parent.name.startswith("is_nvidia")
        for parent, _ in source.ancestors(node)
    )


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    bound = source.bound_to(_READ) - {"torch"} - source.platform_names
    nodes: list[Any] = []
    for node in source.find(ast.Attribute, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            continue
        direct = source.dotted(node) in _READ
        derived = isinstance(node, ast.Name) and node.id in bound and source.aliases.get(node.id) is None
        if (direct and not _printed(source, node)) or (derived and _as_string(source, node)):
            nodes.append(node)
    nodes = [node for node in nodes if not _only_compares(source, node) and not _asks_vendor(source, node)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    gate = Gate(source)
    settled: set[str] = set()
    release = Gate(source, uses=frozenset({"HIP_RELEASE"})) if gate.compat else gate
    for node, others in open_lines(source, nodes):
        used = _as_string(source, node)
        item = finding(
            RULE,
            source,
            node,
            "torch.version.cuda is None on ROCm: "
            + ("using it as text raises or writes None" if used else "this takes the no-GPU way"),
            fix="read torch.version.hip where torch.version.cuda is None",
            confidence=Confidence.HIGH if used else Confidence.MEDIUM,
        )
        item = replace(item, cause="torch.version.cuda is None on ROCm")
        text = [edit for other in others for edit in _text_edits(release, other, bound)]
        tests = [edit for other in others for edit in _test_edits(gate, other)]
        assigned = source.parents[node]
        if text and isinstance(assigned, ast.Assign):
            settled |= {target.id for target in assigned.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Name) and node.id in settled and not tests:
            yield replace(item, applicability=Applicability.REVIEW, fix="nothing here: the port changes the assignment")
            continue
        yield edited(item, release if text else gate, list(dict.fromkeys([*text, *tests])))


def _only_compares(source: PythonSource, node: ast.expr) -> bool:
    """True for the test of a branch that takes the version apart and refuses, and does nothing else: two builds for
    CUDA are compared, and on ROCm there is nothing to compare."""
    branch, question = source.statement(node), asked(source, node)
    if not isinstance(branch, ast.If) or branch.orelse or question is None or not question[1]:
        return False
    needed = branch.test is question[0] or (
        isinstance(branch.test, ast.BoolOp)
        and isinstance(branch.test.op, ast.And)
        and question[0] in branch.test.values
    )
    inside = {inner for statement in branch.body for inner in ast.walk(statement)}
    statements = [inner for inner in inside if isinstance(inner, ast.stmt)]
    stored = [inner for inner in inside if isinstance(getattr(inner, "ctx", None), ast.Store)]
    names = {target.id for target in stored if isinstance(target, ast.Name)}
    return (
        needed
        and any(isinstance(statement, ast.Raise) for statement in statements)
        and all(isinstance(statement, (ast.Assign, ast.If, ast.Raise)) for statement in statements)
        and all(isinstance(target, (ast.Name, ast.Tuple, ast.List)) for target in stored)
        and not any(
            name.id in names and isinstance(name.ctx, ast.Load) and name not in inside for name in source.find(ast.Name)
        )
    )


def _test_edits(gate: Gate, node: ast.expr) -> tuple[Edit, ...]:
    """`torch.version.cuda is not None` asks for a GPU build, and holds on ROCm unless it guards the version itself; a
    comparison with a release of CUDA fails there."""
    source = gate.source
    compare = _compared(source, node)
    if compare is not None:
        parent = source.parents.get(compare)
        negated = isinstance(parent, (ast.Assert, ast.UnaryOp))
        if not replaceable(source, compare):
            return ()
        return gate.holds(compare) if negated else gate.fails(compare)
    question = asked(source, node)
    if question is None or not replaceable(source, question[0]):
        return ()
    test, present = question
    if not present:
        return gate.fails(test)
    behind = [word for inner in depends(source, test) for word in ast.walk(inner)]
    reads = any(isinstance(word, ast.Attribute) and source.dotted(word) in _READ for word in behind)
    names = any(isinstance(word, ast.Name) and word.id == getattr(node, "id", None) for word in behind)
    return () if reads or names else gate.holds(test)


def _text_edits(gate: Gate, node: ast.expr, bound: frozenset[str]) -> tuple[Edit, ...]:
    """HIP's release in place of CUDA's where the text is taken apart or passed on."""
    source = gate.source
    parent = source.parents.get(node)
    kept = isinstance(node, ast.Name) and node.id in bound
    passed_on = isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return))
    if kept or _compared(source, node) is not None or not (passed_on or _as_string(source, node)):
        return ()
    if isinstance(parent, ast.Assign) and not _taken_apart(source, parent):
        return ()
    if not replaceable(source, node):
        return ()
    hip = "_rocm_compat.HIP_RELEASE" if gate.compat else '".".join(torch.version.hip.split(".")[:2])'
    if not gate.compat and not ("torch" in source.modules and "torch" not in source.aliases):
        return ()
    return gate.choice(node, hip)


def _compared(source: PythonSource, node: ast.expr) -> ast.Compare | None:
    """The ordered comparison a version is a side of, through calls and subscripts; None for another use."""
    if not _as_string(source, node):
        return None
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.Compare):
            ordered = all(isinstance(operator, _ORDERED) for operator in parent.ops)
            return parent if ordered else None
        if isinstance(parent, ast.Call) and child in parent.args:
            continue
        if not isinstance(parent, (ast.Call, ast.Attribute, ast.Subscript)):
            break
    return None


def _taken_apart(source: PythonSource, assign: ast.Assign) -> bool:
    """True when the name that keeps the version is used as text further on."""
    names = {target.id for target in assign.targets if isinstance(target, ast.Name)}
    return any(
        name.id in names and isinstance(name.ctx, ast.Load) and _as_string(source, name)
        for name in source.find(ast.Name)
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
    shown: ast.AST = node
    if isinstance(parent := source.parents[node], ast.BoolOp) and isinstance(parent.op, ast.Or):
        shown = parent if isinstance(parent.values[-1], ast.Constant) and node is not parent.values[-1] else node
    if shown is node and _sets_environment(source.statement(node)):
        return False  # which takes texts only: None raises
    kept = source.parents[shown]
    if isinstance(kept, ast.Dict) and shown in kept.values:
        return _is_record(source, kept.keys[kept.values.index(shown)])
    if isinstance(kept, ast.Assign) and len(kept.targets) == 1 and isinstance(target := kept.targets[0], ast.Subscript):
        return _is_record(source, target.slice)
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call) and not isinstance(parent.func, ast.Attribute | ast.Name):
            return False
        if isinstance(parent, ast.Call) and ast.unparse(parent.func).rsplit(".", 1)[-1] in _PRINTS:
            return True
        if isinstance(parent, (ast.Attribute, ast.Subscript, ast.stmt)):
            return False
    return False


def _sets_environment(statement: ast.AST) -> bool:
    """True for `os.environ["CUDA_VERSION"] = ...` and `run(command, env={...})`."""
    return any(
        getattr(inner, "attr", getattr(inner, "id", "")) == "environ"
        or (isinstance(inner, ast.keyword) and inner.arg == "env")
        for inner in ast.walk(statement)
    )


def _is_record(source: PythonSource, key: ast.expr | None) -> bool:
    """True for `{"torch_cuda_version": torch.version.cuda}`: a record of what ran, None where it was not CUDA; not
    where the file reads it back."""
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or "cuda" not in key.value.lower():
        return False
    return not any(text == key.value and _reads(source, node) for node, text in source.strings)


def _reads(source: PythonSource, key: ast.Constant) -> bool:
    """True for `info["cuda"]` and `info.get("cuda")`."""
    parent = source.parents[key]
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Load)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "get"

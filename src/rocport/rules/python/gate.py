"""Findings of Python rules with edits that stand behind the platform test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Edit, Finding
from rocport.rules.python.common import by_line, call_name, open_places
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_RELEASE = re.compile(
    r"(?i)(?:bare_metal|nvcc|cuda)_?\w*version|(?:bare_metal|nvcc)_?(?:release|major|minor|maj|min)|cuda_(?:major|minor|release)"
    r"|get_cuda_bare_metal|raise_if_cuda_home|append_nvcc_threads|get_nvcc"
)
_TOOL = re.compile(
    r"bin/nvcc|^nvcc -|bare_metal|(?:get|check|find|parse|raise|query|append|detect)_\w*(?:nvcc|cuda|CUDA)"
)
_IS_THERE = ("exists", "isdir", "isfile")
HOMES = frozenset({"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In)


def edited(
    item: Finding, gate: Gate, edits: Sequence[Edit], applicability: Applicability = Applicability.REVIEW
) -> Finding:
    """The finding with its edits; as it is (MANUAL) where there are none."""
    bound = gate.bound(edits)
    if not bound:
        return item
    return replace(item, edits=bound, compat=gate.compat, applicability=applicability)


def open_lines(source: PythonSource, nodes: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """(the first open node of a line, every node of that line which stands behind no platform test).

    A line is one finding, and its edits are those of all its nodes: what is left open would be found, and edited,
    again by a second port.
    """
    lines = by_line(nodes)
    for node in open_places(source, nodes):
        yield node, [other for other in lines[node.lineno] if not source.gated(other)]


def followed(source: PythonSource, node: ast.AST) -> bool:
    """True when the statement behind a node's own asks for AMD: `...` and then `if IS_ROCM: ...`."""
    statement = source.statement(node)
    block = block_of(source, statement)
    behind = block[block.index(statement) + 1 :] if isinstance(statement, ast.stmt) and block else []
    return bool(behind) and isinstance(behind[0], ast.If) and source.says_amd(behind[0].test)


def replaceable(source: PythonSource, node: ast.AST) -> bool:
    """True where a choice may stand in place of an expression: not in an annotation, a pattern, the key of a
    dictionary, what is called, or an f-string (whose quotes it could end before Python 3.12)."""
    for parent, child in source.ancestors(node):
        annotated = (isinstance(parent, (ast.arg, ast.AnnAssign)) and child is parent.annotation) or (
            isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and child is parent.returns
        )
        key = isinstance(parent, ast.Dict) and child in parent.keys
        called = isinstance(parent, ast.Call) and parent.func is node
        if annotated or key or called or isinstance(parent, (ast.JoinedStr, ast.match_case, ast.Delete)):
            return False
        if isinstance(parent, ast.stmt):
            return True
    return True


def asked(source: PythonSource, node: ast.AST) -> tuple[ast.expr, bool] | None:
    """(the expression that asks whether something is there, whether it is true when it is); None for another use."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
        operator, other = parent.ops[0], parent.comparators[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            return (parent, isinstance(operator, ast.In)) if parent.left is node else None
        none = isinstance(other, ast.Constant) and other.value in (None, "")
        return (parent, isinstance(operator, (ast.IsNot, ast.NotEq))) if none else None
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return parent, False
    if isinstance(parent, ast.Call) and node in parent.args and call_name(source, parent).endswith(_IS_THERE):
        return asked(source, parent)
    if isinstance(node, ast.expr):
        if isinstance(parent, ast.BoolOp):
            value = isinstance(parent.op, ast.Or) and any(
                isinstance(other, (ast.Constant, ast.Call, ast.JoinedStr)) for other in parent.values
            )
            return None if value else (node, True)
        if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is node:
            return node, True
    return None


def version_test(source: PythonSource, compare: ast.Compare) -> bool:
    """True for a comparison with a release of the CUDA toolkit, `bare_metal_version >= Version("11.8")`."""
    names = [word for side in (compare.left, *compare.comparators) for word in source.words(side)]
    ordered = any(isinstance(operator, _ORDERED) for operator in compare.ops)
    none = any(isinstance(side, ast.Constant) and side.value is None for side in compare.comparators)
    return ordered and not none and any(_RELEASE.search(word) for word in names if word.isidentifier())


def version_gate(gate: Gate, compare: ast.Compare) -> tuple[Edit, ...]:
    """The edits that leave a comparison with a release of the CUDA toolkit out on ROCm."""
    parent = gate.source.parents.get(compare)
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    return gate.holds(compare) if negated or isinstance(parent, ast.Assert) or _demands(parent) else gate.fails(compare)


def _demands(parent: ast.AST | None) -> bool:
    """True for `if version >= X: ... else: raise`, which goes on where the test holds."""
    return isinstance(parent, ast.If) and bool(parent.orelse) and isinstance(parent.orelse[-1], ast.Raise)


def behind_version_test(source: PythonSource, node: ast.AST) -> ast.Compare | None:
    """The comparison with a release of the CUDA toolkit whose branch a node stands in."""
    for parent, child in source.ancestors(node):
        if (
            isinstance(parent, ast.If)
            and child in parent.body
            and isinstance(parent.test, ast.Compare)
            and version_test(source, parent.test)
            and not _demands(parent)
        ):
            return parent.test
    return None


def depends(source: PythonSource, node: ast.AST) -> list[ast.AST]:
    """What runs only where a test holds: the branch of the `if` it stands in, and operands behind it."""
    found: list[ast.AST] = []
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.BoolOp):
            found += parent.values[parent.values.index(child) + 1 :] if isinstance(child, ast.expr) else []
        elif isinstance(parent, (ast.If, ast.IfExp, ast.While)):
            if parent.test is child:
                found += parent.body if isinstance(parent.body, list) else [parent.body]
            break
        elif isinstance(parent, ast.stmt):
            break
    return found


def asks_toolkit(name: str) -> bool:
    """True for the name of a function that asks the CUDA toolkit, `get_nvcc_version`."""
    return _TOOL.search(name) is not None


def guards_toolkit(source: PythonSource, test: ast.AST) -> bool:
    """True for a test that lets in code which asks the CUDA toolkit, and builds nothing: closed on ROCm by itself."""
    inside = depends(source, test)
    words = {word for node in inside for word in source.words(node)}
    calls = [call for node in inside for call in ast.walk(node) if isinstance(call, ast.Call)]
    asks = any(_TOOL.search(word) for word in words) or any(
        not call_name(source, call).endswith((*_IS_THERE, "join", "Path"))
        and any(set(source.words(argument)) & HOMES for argument in call.args)
        for call in calls
    )
    if not asks:
        called = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
        asks = any(
            function.name in called and any("bin/nvcc" in word for word in source.words(function))
            for function in source.find(ast.FunctionDef)
        )
    return asks and not any("Extension" in word for word in words)


def governed(source: PythonSource, node: ast.AST, names: frozenset[str]) -> bool:
    """True when a node runs only where a test that stays closed on ROCm has found one of the names to be there."""
    for parent, child in source.ancestors(node):
        tests: list[ast.expr] = []
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            tests = [parent.test]
            inside = child in parent.body if isinstance(parent.body, list) else child is parent.body
        elif isinstance(parent, ast.BoolOp) and isinstance(child, ast.expr):
            tests = parent.values[: parent.values.index(child)]
            inside = isinstance(parent.op, ast.And)
        for inner in (inner for test in tests for inner in ast.walk(test)):
            if isinstance(inner, (ast.Name, ast.Attribute)) and set(source.words(inner)) & names:
                question = asked(source, inner)
                if question is not None and question[1] == inside and guards_toolkit(source, question[0]):
                    return True
    return False


def passed(source: PythonSource, node: ast.AST, names: frozenset[str]) -> bool:
    """True behind `if CUDA_HOME is not None: return`, a test for one of the names that a port has ROCm pass."""
    for _, child in source.ancestors(node):
        for before in block_of(source, child) if isinstance(child, ast.stmt) else ():
            if before is child:
                break
            if isinstance(before, ast.If) and isinstance(before.body[-1], ast.Return):
                questions = [
                    asked(source, inner) for inner in ast.walk(before.test) if set(source.words(inner)) & names
                ]
                if any(question == (before.test, True) for question in questions):
                    return True
    return False


def block_of(source: PythonSource, statement: ast.AST) -> list[ast.stmt]:
    """The statements a statement stands among."""
    parent = source.parents.get(statement)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def runs(source: PythonSource, statements: Iterable[ast.stmt]) -> dict[ast.stmt, list[ast.stmt]]:
    """Each statement with the neighbours it is put behind one test with."""
    chosen = set(statements)
    found: dict[ast.stmt, list[ast.stmt]] = {}
    for statement in chosen:
        if statement in found:
            continue
        run: list[ast.stmt] = []
        for other in block_of(source, statement):
            if other in chosen:
                run.append(other)
            elif statement in run:
                break
            else:
                run = []
        found.update(dict.fromkeys(run, run))
    return found


def whole_string(source: PythonSource, node: ast.AST) -> ast.AST:
    """The f-string a constant is part of, or the constant."""
    while isinstance(parent := source.parents.get(node), (ast.JoinedStr, ast.FormattedValue)):
        node = parent
    return node

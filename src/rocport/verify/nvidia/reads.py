"""Whether a function of Python reads the files that a pattern in it lists, lines away, by the name of a loop."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from rocport.verify.nvidia.reach_python import last_part

_PASSES = 4
"""Assignments from one name to the next that are followed."""
_SINGLE = 16
"""Patterns of a function that are told apart."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FILLS = frozenset(("append", "extend", "add", "update", "insert", "setdefault"))


def later(tree: ast.Module, lines: Sequence[int], reads: Callable[[bytes], bool]) -> set[int]:
    """Those of some lines (ascending) with patterns of files whose files the same function reads, or the module outside
    of its functions. `reads`: whether a call, as the bytes `name(`, reads a text."""
    owners: dict[int, ast.AST] = dict.fromkeys(lines, tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for place in range(bisect_left(lines, node.lineno), bisect_right(lines, node.end_lineno or node.lineno)):
                owners[lines[place]] = node
    inside: dict[ast.AST, list[int]] = {}
    for line, owner in owners.items():
        inside.setdefault(owner, []).append(line)
    return {line for owner, some in inside.items() for line in _read(owner, some, reads)}


def _read(owner: ast.AST, lines: list[int], reads: Callable[[bytes], bool]) -> list[int]:
    label = {line: line if len(lines) <= _SINGLE else lines[0] for line in lines}
    nodes = list(_own(owner))
    names: dict[str, set[int]] = {}

    def said(values: Sequence[ast.AST]) -> set[int]:
        found: set[int] = set()
        for value in values:
            for node in ast.walk(value):
                if isinstance(node, ast.Name):
                    found |= names.get(node.id, set())
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "*" in node.value:
                    found |= {label[at] for at in range(node.lineno, (node.end_lineno or 0) + 1) if at in label}
        return found

    bindings = [item for node in nodes for item in _bindings(node)]
    for _ in range(_PASSES):
        before = sum(map(len, names.values()))
        for values, targets in bindings:
            if held := said(values):
                for target in targets:
                    for node in ast.walk(target):
                        if isinstance(node, ast.Name):
                            names.setdefault(node.id, set()).update(held)
        if sum(map(len, names.values())) == before:
            break
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and reads(f"{last_part(node.func)}(".encode()):
            on = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            found |= said([*on, *node.args, *node.keywords])
    return [line for line in lines if label[line] in found]


def _own(owner: ast.AST) -> Iterator[ast.AST]:
    """What lies in a function; of a module what lies in none."""
    waiting = [owner]
    while waiting:
        node = waiting.pop()
        yield node
        if not (isinstance(owner, ast.Module) and isinstance(node, _FUNCTIONS)):
            waiting += ast.iter_child_nodes(node)


def _bindings(node: ast.AST) -> Iterator[tuple[Sequence[ast.AST], Sequence[ast.AST]]]:
    """What a node gives a name to: (values, targets)."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield [node.iter], [node.target]
    elif isinstance(node, ast.Assign):
        yield [node.value], node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        yield [node.value], [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
        yield node.args, [node.func.value] if isinstance(node.func.value, ast.Name) else []

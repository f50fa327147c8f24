"""Findings of Python rules with edits that stand behind the platform test."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rocport.model import Applicability, Edit, Finding
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource


def edited(
    item: Finding, gate: Gate, edits: Sequence[Edit], applicability: Applicability = Applicability.REVIEW
) -> Finding:
    """The finding with its edits; as it is (MANUAL) where there are none."""
    if not edits:
        return item
    return replace(item, edits=gate.bound(edits), compat=gate.compat, applicability=applicability)


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

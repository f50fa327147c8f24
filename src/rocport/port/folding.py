"""Does a gated Python file fold back to its original? With every platform predicate False, the trees must be equal.

This is the porter's own check: an edit that does not fold back is not made. The proof for the maintainer is
`rocport verify --level nvidia-unchanged`, which shares no code with this.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

from rocport.port.compat import MODULE, PREDICATES
from rocport.syntax.gating import SETUP_PREDICATE
from rocport.syntax.python import parse


def misfit(before: bytes, after: bytes) -> str:
    """Why the edited bytes may not stand in place of the original; empty when they may."""
    try:
        edited = _parsed(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the edited text is no Python: {error}"
    try:
        same = _dump(_Fold().visit(edited)) == _dump(_Fold().visit(_parsed(before)))
    except RecursionError:
        return "it is nested too deeply to be compared with the original"
    return "" if same else "without ROCm the edited text would not be the original"


def _parsed(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse(data)


def _dump(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=False)


class _Known(ast.Constant):
    """A truth value that comes from a predicate; the program's own `True` and `False` are never folded."""


def _known(value: bool, at: ast.AST) -> _Known:
    return ast.copy_location(_Known(value), at)


class _Fold(ast.NodeTransformer):
    """Take every platform predicate for False and drop what only ROCm runs."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == MODULE and node.attr in PREDICATES:
            return _known(False, node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        read = node.id == SETUP_PREDICATE and isinstance(node.ctx, ast.Load)
        return _known(False, node) if read else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, _Known):
            return _known(not node.operand.value, node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        first = node.values[0]
        if isinstance(first, _Known) and first.value is not neutral:
            return first
        left = [value for value in node.values if not (isinstance(value, _Known) and value.value is neutral)]
        if not left:
            return _known(neutral, node)
        node.values = left
        return left[0] if len(left) == 1 else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, _Known):
            return node.body if node.test.value else node.orelse
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if isinstance(node.test, _Known):
            return node.body if node.test.value else node.orelse
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return None if [alias.name for alias in node.names] == [MODULE] else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if [alias.name for alias in node.names] == [MODULE] else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id == SETUP_PREDICATE:
            return None
        return self.generic_visit(node)

"""Scopes of a Python module: which names each binds, so that a name is taken for the platform predicate only where it
is one (https://docs.python.org/3/reference/executionmodel.html#naming-and-binding)."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ScopeNode = ast.Module | FunctionNode | ast.ClassDef | ast.Lambda | Comprehension

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.Module, *FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)


_DEEP = 10_000
"""Calls within calls for a tree as deep as the compiler takes one: about a thousand branches of `elif`, or terms."""


@contextlib.contextmanager
def deeper() -> Iterator[None]:
    """For what walks a tree. Not for the compiler, whose own limit rests on this one and on a stack that ends."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@dataclass(eq=False)
class Scope:
    """One scope. `bound` maps a name to the nodes that bind it, `global` declarations of inner functions included."""

    node: ScopeNode
    parent: Scope | None
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def resolve(self, name: str) -> Scope | None:
        """The scope a name used here belongs to; None for a builtin or a name nobody binds."""
        scope: Scope | None = self
        while scope is not None:
            passed_class = isinstance(scope.node, ast.ClassDef) and scope is not self
            if not passed_class:
                if name in scope.global_names:
                    break
                if name in scope.bound and name not in scope.nonlocal_names:
                    return scope
            scope = scope.parent
        return self.module if name in self.module.bound else None


class Scopes:
    """Every scope of a module, by its node."""

    def __init__(self, module: ast.Module) -> None:
        self._of: dict[ast.AST, Scope] = {}
        self.module = self._scope(module, None)
        self._statements(module.body, self.module)
        for scope in self._of.values():
            for name in scope.global_names & scope.bound.keys():
                self.module.bound.setdefault(name, []).extend(scope.bound[name])

    def of(self, node: ast.AST) -> Scope:
        return self._of[node]

    def _scope(self, node: ScopeNode, parent: Scope | None) -> Scope:
        scope = Scope(node, parent)
        self._of[node] = scope
        return scope

    def _statements(self, body: Sequence[ast.AST], scope: Scope) -> None:
        for statement in body:
            self._visit(statement, scope)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, FUNCTIONS):
            _bind(scope, node.name, node)
            self._statements([*node.decorator_list, *_outer_parts(node.args)], scope)
            self._statements([part for part in (node.returns,) if part is not None], scope)
            inner = self._scope(node, scope)
            for argument in _arguments(node.args):
                _bind(inner, argument.arg, argument)
            self._statements([*getattr(node, "type_params", []), *node.body], inner)
        elif isinstance(node, ast.Lambda):
            self._statements(_outer_parts(node.args), scope)
            inner = self._scope(node, scope)
            for argument in _arguments(node.args):
                _bind(inner, argument.arg, argument)
            self._visit(node.body, inner)
        elif isinstance(node, ast.ClassDef):
            _bind(scope, node.name, node)
            self._statements([*node.decorator_list, *node.bases, *node.keywords], scope)
            self._statements([*getattr(node, "type_params", []), *node.body], self._scope(node, scope))
        elif isinstance(node, COMPREHENSIONS):
            inner = self._scope(node, scope)
            self._statements(list(ast.iter_child_nodes(node)), inner)
        else:
            self._bindings(node, scope)
            self._statements(list(ast.iter_child_nodes(node)), scope)

    def _bindings(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            _bind(scope, node.id, node)
        elif isinstance(node, ast.NamedExpr):
            owner: Scope = scope
            while isinstance(owner.node, COMPREHENSIONS) and owner.parent is not None:
                owner = owner.parent
            if owner is not scope:
                _bind(owner, node.target.id, node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                plain = alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0]
                _bind(scope, alias.asname or plain, node)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            if node.name is not None:
                _bind(scope, node.name, node)
        elif isinstance(node, ast.MatchMapping):
            if node.rest is not None:
                _bind(scope, node.rest, node)
        elif isinstance(node, ast.Global):
            scope.global_names.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.nonlocal_names.update(node.names)
            # An inner function may bind it again: the outer one's single binding is no longer the only one.
            outer = scope.parent
            while outer is not None:
                for name in node.names:
                    if name in outer.bound and not isinstance(outer.node, ast.ClassDef):
                        _bind(outer, name, node)
                outer = outer.parent


def _bind(scope: Scope, name: str, node: ast.AST) -> None:
    scope.bound.setdefault(name, []).append(node)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [item for item in (arguments.vararg, arguments.kwarg) if item is not None]


def _outer_parts(arguments: ast.arguments) -> list[ast.AST]:
    """Defaults and annotations: evaluated outside the function."""
    defaults = [item for item in (*arguments.defaults, *arguments.kw_defaults) if item is not None]
    annotations = [item.annotation for item in _arguments(arguments) if item.annotation is not None]
    return [*defaults, *annotations]


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope without those of the scopes inside it; `node` itself is left out."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        item = todo.pop()
        yield item
        if not isinstance(item, SCOPES):
            todo.extend(ast.iter_child_nodes(item))


def identifiers(tree: ast.AST) -> frozenset[str]:
    """Every identifier of a tree, and every string that could name one."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg | ast.keyword):
            found.add(node.arg or "")
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.update((node.name.split(".")[-1], node.asname or node.name.split(".")[0]))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
    return frozenset(found)

"""Folds the platform predicate of a Python module to "not ROCm": what is left is what runs on NVIDIA.

Only an expression whose value off ROCm is certain is folded: `torch.version.hip` (None in every wheel that is not
built for ROCm), what the generated module was seen to hold off ROCm, and names bound once to such an expression. Where
that is not certain (a name bound twice, shadowed, used above its binding) the expression stays, and the comparison
with the original fails.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocport.verify.nvidia.python_scopes import COMPREHENSIONS, FUNCTIONS, Scope, Scopes, identifiers

Resolve = Callable[[int, str, str], str | None]
"""(level, module, name) of an import of a name, or of a module when the name is empty -> path of the generated module
it is, or None."""


@dataclass(frozen=True)
class Known:
    """An expression of certain value off ROCm. `platform`: the value rests on the platform, it is no literal."""

    value: Any
    platform: bool


@dataclass(frozen=True)
class _Generated:
    """A name that stands for a generated module."""

    path: str


@dataclass(frozen=True)
class _Torch:
    """A name that stands for torch, imported for certain."""


@dataclass
class Folded:
    """A module with the predicate false, and what was left out of it."""

    tree: ast.Module
    dead: list[tuple[int, int]] = field(default_factory=list)
    """First and last line of each block of statements that does not run off ROCm."""
    imports: list[tuple[ast.Import | ast.ImportFrom, str]] = field(default_factory=list)
    """Imports of a generated module that the original lacks, and its path."""
    bindings: list[ast.Assign] = field(default_factory=list)
    """Bindings of a predicate to a name that the original lacks."""
    evaluated: list[ast.expr] = field(default_factory=list)
    """Uses of a generated module's names that were folded."""
    at_import: list[ast.expr] = field(default_factory=list)
    """Those of them that are evaluated when the module is imported."""
    torch_imports: list[ast.expr] = field(default_factory=list)
    """Where a predicate imports torch if it is installed."""
    distrusted: dict[str, str] = field(default_factory=dict)
    """Name of what looks like a predicate -> why it was not folded."""


class Folder:
    """Folds one module. `constants`: path of a generated module -> its names that are certain off ROCm, with values.

    With `original` (the identifiers of the original), imports of the generated module and bindings of the predicate
    to names that are not among them are left out.
    """

    def __init__(
        self,
        tree: ast.Module,
        constants: Mapping[str, Mapping[str, Any]],
        resolve: Resolve,
        original: frozenset[str] | None,
    ) -> None:
        self.scopes = Scopes(tree)
        self.constants = constants
        self.resolve = resolve
        self.original = original
        self.result = Folded(tree)
        self._stores = _attribute_stores(tree)
        self._looking: set[tuple[int, str]] = set()
        self._guards = 0

    def fold(self) -> Folded:
        module = self.result.tree
        module.body = self._body(module.body, self.scopes.module)
        return self.result

    # What a name stands for.

    def _meaning(self, name: str, scope: Scope, use: ast.expr) -> Known | _Generated | _Torch | None:
        owner = scope.resolve(name)
        if owner is None:
            return None
        key = (id(owner), name)
        if key in self._looking:
            return None
        self._looking.add(key)
        try:
            return self._bound(name, owner, scope, use)
        finally:
            self._looking.discard(key)

    def _bound(self, name: str, owner: Scope, scope: Scope, use: ast.expr) -> Known | _Generated | _Torch | None:
        if not isinstance(owner.node, (ast.Module, *FUNCTIONS)):
            return None
        nodes = owner.bound[name]
        meanings = [self._binding(name, node, owner) for node in nodes]
        looks = [meaning for meaning in meanings if meaning is not None]
        if not looks:
            return None
        if any(meaning != looks[0] for meaning in meanings):
            lines = ", ".join(str(getattr(node, "lineno", 0)) for node in nodes)
            self._distrust(name, f"it is bound more than once (lines {lines})")
            return None
        if isinstance(looks[0], Known) and not looks[0].platform:
            return None
        if isinstance(looks[0], Known) and len(nodes) > 1:
            self._distrust(name, "it is bound more than once")
            return None
        first = next((item for item in owner.node.body if _holds(item, nodes)), None)
        if first is None:
            self._distrust(name, f"its binding in line {getattr(nodes[0], 'lineno', 0)} is conditional")
            return None
        if not self._after(first, owner, scope, use):
            self._distrust(name, f"it is used in line {use.lineno}, its binding is in line {first.lineno}")
            return None
        return looks[0]

    def _distrust(self, name: str, why: str) -> None:
        self.result.distrusted.setdefault(name, why)

    def _binding(self, name: str, node: ast.AST, owner: Scope) -> Known | _Generated | _Torch | None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is None and alias.name.split(".")[0] == name == "torch":
                    return _Torch()
                if (alias.asname or alias.name) == name:
                    path = self.resolve(0, alias.name, "")
                    return _Generated(path) if path else None
            return None
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) != name:
                    continue
                if (node.level, node.module) == (0, "torch.utils.cpp_extension") and alias.name == "IS_HIP_EXTENSION":
                    return Known(False, True)
                path = self.resolve(node.level, node.module or "", alias.name)
                if path:
                    return _Generated(path)
                path = self.resolve(node.level, node.module or "", "")
                if path and alias.name in self.constants.get(path, {}):
                    return Known(self.constants[path][alias.name], True)
            return None
        if isinstance(node, ast.Name):
            statement = next((item for item in _body_of(owner) if _assigns(item, node)), None)
            if isinstance(statement, ast.Assign):
                return self.known(statement.value, owner)
        return None

    def _after(self, binding: ast.stmt, owner: Scope, scope: Scope, use: ast.expr) -> bool:
        """Whether the binding has run whenever the use is evaluated."""
        if (binding.end_lineno or 0, binding.end_col_offset or 0) <= (use.lineno, use.col_offset):
            return True
        # A function written above the binding sees it, unless it is called before.
        inner = scope
        while inner.parent is not None and inner.parent is not owner:
            inner = inner.parent
        if inner is owner or not isinstance(inner.node, FUNCTIONS):
            return False
        if not inner.node.lineno <= use.lineno <= (inner.node.end_lineno or 0) or use in _at_definition(inner.node):
            return False
        body = _body_of(owner)
        between = [item for item in body[: body.index(binding)] if (item.end_lineno or 0) >= inner.node.lineno]
        return not any(isinstance(node, ast.Call | ast.Await) for item in between for node in _run_now(item))

    # Values.

    def known(self, node: ast.expr, scope: Scope) -> Known | None:
        """The value of an expression off ROCm, where it is certain."""
        if isinstance(node, ast.Constant):
            return Known(node.value, _folded(node) is not None)
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(node, ast.Name):
            meaning = self._meaning(node.id, scope, node)
            return meaning if isinstance(meaning, Known) else None
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.known(node.operand, scope)
            return Known(not value.value, value.platform) if value else None
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(node, scope)
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            platform = False
            if not stops and _looks_for_torch(node.values[0], scope):
                # Without torch the guard is False, with torch the rest is: `find_spec("torch") is not None and ...`.
                return self._guarded(node, scope)
            for operand in node.values:
                value = self.known(operand, scope)
                if value is None:
                    return None
                platform = platform or value.platform
                if bool(value.value) is stops:
                    break
            return Known(value.value, platform) if value else None
        if isinstance(node, ast.IfExp):
            test = self.known(node.test, scope)
            if test is None:
                return None
            # A literal that a gate chooses is a literal: its name is no predicate, in the port or the original.
            return self.known(node.body if test.value else node.orelse, scope)
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        return None

    def _guarded(self, node: ast.BoolOp, scope: Scope) -> Known | None:
        """A predicate that is asked only where torch is installed: False off ROCm either way."""
        self._guards += 1
        try:
            values = [self.known(operand, scope) for operand in node.values[1:]]
        finally:
            self._guards -= 1
        if len(values) == 1 and values[0] is not None and values[0].platform and values[0].value is False:
            return values[0]
        return None

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Known | None:
        value = node.value
        if isinstance(value, ast.Name):
            meaning = self._meaning(value.id, scope, value)
            if isinstance(meaning, _Generated) and node.attr not in self._stores:
                constants = self.constants.get(meaning.path, {})
                if node.attr in constants:
                    return Known(constants[node.attr], True)
                self._distrust(f"{value.id}.{node.attr}", "it is not a constant of the generated module off ROCm")
            return None
        if node.attr == "hip" and self._is_torch_version(value, scope):
            return Known(None, True)
        return None

    def _is_torch_version(self, node: ast.expr, scope: Scope) -> bool:
        if not isinstance(node, ast.Attribute) or node.attr != "version" or {"hip", "version"} & self._stores:
            return False
        if isinstance(node.value, ast.Name) and node.value.id == "torch":
            return isinstance(self._meaning("torch", scope, node.value), _Torch)
        return _imports_torch(node.value, scope) and self._torch_is_there(node.value, scope)

    def _torch_is_there(self, node: ast.expr, scope: Scope) -> bool:
        """Whether `__import__("torch")` finds torch: it is imported above, or a guard has looked for it."""
        if self._guards:
            self.result.torch_imports.append(node)
            return True
        module = self.scopes.module
        return scope is module and any(
            item.lineno < node.lineno
            and (
                (isinstance(item, ast.Import) and any(alias.name.split(".")[0] == "torch" for alias in item.names))
                or (
                    isinstance(item, ast.ImportFrom) and not item.level and (item.module or "").split(".")[0] == "torch"
                )
            )
            for item in _body_of(module)
        )

    def _compare(self, node: ast.Compare, scope: Scope) -> Known | None:
        left, right = self.known(node.left, scope), self.known(node.comparators[0], scope)
        if left is None or right is None or not (left.platform or right.platform):
            return None
        singletons = all(value.value is None or isinstance(value.value, bool) for value in (left, right))
        operator = node.ops[0]
        if isinstance(operator, ast.Is | ast.IsNot) and singletons:
            return Known((left.value is right.value) is isinstance(operator, ast.Is), True)
        if isinstance(operator, ast.Eq | ast.NotEq):
            return Known((left.value == right.value) is isinstance(operator, ast.Eq), True)
        return None

    def _call(self, node: ast.Call, scope: Scope) -> Known | None:
        """`bool(X)` and `getattr(torch.version, "hip", None)`."""
        function = node.func
        if not isinstance(function, ast.Name) or node.keywords or scope.resolve(function.id) is not None:
            return None
        if function.id == "bool" and len(node.args) == 1:
            value = self.known(node.args[0], scope)
            return Known(bool(value.value), True) if value and value.platform else None
        if function.id == "getattr" and len(node.args) == 3:
            version, name, default = node.args
            if isinstance(name, ast.Constant) and name.value == "hip" and self._is_torch_version(version, scope):
                value = self.known(default, scope)
                return Known(None, True) if value and value.value is None else None
        return None

    # Statements.

    def _body(self, body: Sequence[ast.stmt], scope: Scope) -> list[ast.stmt]:
        folded: list[ast.stmt] = []
        for statement in body:
            folded += self._statement(statement, scope)
        if body and not folded:
            folded = [ast.copy_location(ast.Pass(), body[0])]
        return folded

    def _optional(self, body: Sequence[ast.stmt], scope: Scope) -> list[ast.stmt]:
        """A body that may be empty: that of an `else`."""
        return [item for statement in body for item in self._statement(statement, scope)]

    def _statement(self, node: ast.stmt, scope: Scope) -> list[ast.stmt]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self._import(node, scope)
        if isinstance(node, ast.Assign) and self._is_new_binding(node, scope):
            self.result.bindings.append(node)
            return []
        if isinstance(node, ast.If):
            node.test = self._expression(node.test, scope, True)
            value = _folded(node.test)
            if value is not None:
                self._drop(node.orelse if value.value else node.body)
                return self._optional(node.body if value.value else node.orelse, scope)
            node.body, node.orelse = self._body(node.body, scope), self._optional(node.orelse, scope)
            return [node]
        if isinstance(node, ast.While):
            node.test = self._expression(node.test, scope, True)
            value = _folded(node.test)
            if value is not None and not value.value:
                self._drop(node.body)
                return self._optional(node.orelse, scope)
            node.body, node.orelse = self._body(node.body, scope), self._optional(node.orelse, scope)
            return [node]
        if isinstance(node, ast.Assert):
            node.test = self._expression(node.test, scope, True)
            value = _folded(node.test)
            if value is not None and value.value:
                return []
            if node.msg is not None:
                node.msg = self._expression(node.msg, scope, False)
            return [node]
        if isinstance(node, FUNCTIONS):
            self._function(node, scope)
            return [node]
        if isinstance(node, ast.ClassDef):
            inner = self.scopes.of(node)
            node.decorator_list = self._expressions(node.decorator_list, scope)
            node.bases = self._expressions(node.bases, scope)
            for keyword in node.keywords:
                keyword.value = self._expression(keyword.value, scope, False)
            node.body = self._body(node.body, inner)
            return [node]
        self._fields(node, scope)
        return [node]

    def _fields(self, node: ast.AST, scope: Scope) -> None:
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                test = isinstance(node, ast.match_case)
                setattr(node, name, self._expression(value, scope, test))
                guard = _folded(getattr(node, name)) if test else None
                if guard is not None and guard.value:
                    setattr(node, name, None)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                optional = name in ("orelse", "finalbody")
                setattr(node, name, self._optional(value, scope) if optional else self._body(value, scope))
            elif isinstance(value, list):
                for number, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        value[number] = self._expression(item, scope, False)
                    elif isinstance(item, ast.AST):
                        self._fields(item, scope)
            elif isinstance(value, ast.AST):
                self._fields(value, scope)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        node.decorator_list = self._expressions(node.decorator_list, scope)
        self._arguments(node.args, scope)
        if node.returns is not None:
            node.returns = self._expression(node.returns, scope, False)
        node.body = self._body(node.body, self.scopes.of(node))

    def _arguments(self, arguments: ast.arguments, scope: Scope) -> None:
        arguments.defaults = self._expressions(arguments.defaults, scope)
        arguments.kw_defaults = [
            None if item is None else self._expression(item, scope, False) for item in arguments.kw_defaults
        ]
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                argument.annotation = self._expression(argument.annotation, scope, False)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> list[ast.stmt]:
        if self.original is None:
            return [node]
        kept: list[ast.alias] = []
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            meaning = self._binding(name, node, scope)
            new = name not in self.original
            generated = isinstance(meaning, _Generated) or (
                isinstance(node, ast.ImportFrom) and self.resolve(node.level, node.module or "", "") is not None
            )
            if new and generated and isinstance(scope.node, ast.Module) and node in scope.node.body:
                level, module = (node.level, node.module or "") if isinstance(node, ast.ImportFrom) else (0, alias.name)
                path = meaning.path if isinstance(meaning, _Generated) else self.resolve(level, module, "")
                self.result.imports.append((node, path or ""))
            else:
                kept.append(alias)
        if not kept:
            return []
        node.names = kept
        return [node]

    def _is_new_binding(self, node: ast.Assign, scope: Scope) -> bool:
        if self.original is None or not isinstance(scope.node, ast.Module) or node not in scope.node.body:
            return False
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Name) or target.id in self.original:
            return False
        value = self.known(node.value, scope)
        return value is not None and value.platform and len(scope.bound.get(target.id, ())) == 1

    def _drop(self, body: Iterable[ast.stmt]) -> None:
        statements = list(body)
        if statements:
            first = min([statements[0].lineno, *(item.lineno for item in _decorators(statements[0]))])
            self.result.dead.append((first, statements[-1].end_lineno or statements[-1].lineno))

    # Expressions.

    def _expressions(self, nodes: Sequence[ast.expr], scope: Scope) -> list[ast.expr]:
        return [self._expression(node, scope, False) for node in nodes]

    def _expression(self, node: ast.expr, scope: Scope, test: bool) -> ast.expr:
        """The expression folded; with `test` only its truth matters."""
        if not isinstance(node, ast.Constant):
            value = self.known(node, scope)
            if value is not None and value.platform:
                self._note(node, scope)
                return _constant(value.value, node)
        if isinstance(node, ast.IfExp):
            node.test = self._expression(node.test, scope, True)
            choice = _folded(node.test)
            if choice is not None:
                return self._expression(node.body if choice.value else node.orelse, scope, test)
            node.body = self._expression(node.body, scope, test)
            node.orelse = self._expression(node.orelse, scope, test)
            return node
        if isinstance(node, ast.BoolOp):
            return self._bool(node, scope, test)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._expression(node.operand, scope, True)
            operand = _folded(node.operand)
            return node if operand is None else _constant(not operand.value, node)
        if isinstance(node, ast.Lambda):
            self._arguments(node.args, scope)
            node.body = self._expression(node.body, self.scopes.of(node), False)
            return node
        if isinstance(node, COMPREHENSIONS):
            inner = self.scopes.of(node)
            for generator in node.generators:
                generator.target = self._expression(generator.target, inner, False)
                generator.iter = self._expression(generator.iter, inner, False)
                tests = [self._expression(item, inner, True) for item in generator.ifs]
                generator.ifs = [item for item in tests if (known := _folded(item)) is None or not known.value]
            for name in ("elt", "key", "value"):
                if hasattr(node, name):
                    setattr(node, name, self._expression(getattr(node, name), inner, False))
            return node
        self._fields(node, scope)
        return node

    def _bool(self, node: ast.BoolOp, scope: Scope, test: bool) -> ast.expr:
        """`and` / `or` with some operand known: dropped where that changes neither the value nor what is evaluated."""
        stops = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        last = len(node.values) - 1
        for number, operand in enumerate(node.values):
            item = self._expression(operand, scope, test)
            value = _folded(item)
            if value is None:
                kept.append(item)
            elif bool(value.value) is stops:
                kept.append(item)
                break
            elif number == last and not test:
                # The value of the whole is this operand's when the ones before let it through.
                kept.append(item)
        if len(kept) == 1:
            return kept[0]
        node.values = kept
        return node

    def _note(self, node: ast.expr, scope: Scope) -> None:
        for item in ast.walk(node):
            if isinstance(item, ast.Name):
                meaning = self._meaning(item.id, scope, item)
                if isinstance(meaning, _Generated):
                    self.result.evaluated.append(item)
                    if isinstance(scope.node, ast.Module | ast.ClassDef):
                        self.result.at_import.append(item)


def _constant(value: Any, node: ast.expr) -> ast.Constant:
    made = ast.copy_location(ast.Constant(value), node)
    made.folded = True  # type: ignore[attr-defined]
    return made


def _folded(node: ast.expr | None) -> ast.Constant | None:
    """The node when it is a predicate that was folded; a literal `True` of the source is not."""
    return node if isinstance(node, ast.Constant) and getattr(node, "folded", False) else None


def _attribute_stores(tree: ast.Module) -> frozenset[str]:
    """Attributes that something in the module assigns or deletes."""
    return frozenset(
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    )


def _body_of(scope: Scope) -> list[ast.stmt]:
    return scope.node.body if isinstance(scope.node, (ast.Module, *FUNCTIONS)) else []


def _holds(statement: ast.stmt, nodes: Sequence[ast.AST]) -> bool:
    """Whether a statement at the top of its scope is one of the bindings, or the assignment of one."""
    return any(statement is node or (isinstance(node, ast.Name) and _assigns(statement, node)) for node in nodes)


def _imports_torch(node: ast.expr, scope: Scope) -> bool:
    """`__import__("torch")`."""
    return _calls(node, "__import__", scope) and _first(node) == "torch"


def _looks_for_torch(node: ast.expr, scope: Scope) -> bool:
    """`__import__("importlib.util").util.find_spec("torch") is not None`: it looks, and imports nothing."""
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.IsNot)):
        return False
    right, call = node.comparators[0], node.left
    if not (isinstance(right, ast.Constant) and right.value is None and _first(call) == "torch"):
        return False
    function = call.func if isinstance(call, ast.Call) else None
    if not (isinstance(function, ast.Attribute) and function.attr == "find_spec"):
        return False
    util = function.value
    if not (isinstance(util, ast.Attribute) and util.attr == "util"):
        return False
    return _calls(util.value, "__import__", scope) and _first(util.value) == "importlib.util"


def _calls(node: ast.expr, name: str, scope: Scope) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
        return False
    return len(node.args) == 1 and not node.keywords and scope.resolve(name) is None


def _first(node: ast.expr) -> object:
    """The only argument of a call when it is a literal."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        return node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    return None


def _assigns(statement: ast.stmt, name: ast.Name) -> bool:
    return isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is name


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return list(getattr(node, "decorator_list", []))


def _at_definition(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[ast.AST]:
    """Expressions of a function that are evaluated when it is defined."""
    parts: list[ast.AST] = [*node.decorator_list, node.args]
    if node.returns is not None:
        parts.append(node.returns)
    return {item for part in parts for item in ast.walk(part)}


def _run_now(statement: ast.stmt) -> Iterable[ast.AST]:
    """Nodes of a statement that are evaluated when it runs: without the bodies of functions."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            todo += [*node.decorator_list, node.args]
        elif isinstance(node, ast.Lambda):
            todo.append(node.args)
        else:
            todo += ast.iter_child_nodes(node)


def parse(data: bytes) -> ast.Module:
    """The module. Raises SyntaxError, ValueError, RecursionError or MemoryError when this Python cannot read it."""
    return ast.parse(data)


__all__ = ["Folded", "Folder", "Known", "identifiers", "parse"]

"""Python sources: syntax tree, parents, imported names, strings, and which code stands behind a platform test."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from rocport.syntax.amd import names_amd

_ASKS_NVIDIA = re.compile(r"(?:^|[._])is_nvidia(?:_gpu)?$")
_VENDOR = re.compile(r"(?i)version\.(?:cuda|hip)|nvidia|nvml|rocm|\bamd")
_CUDA_WORD = re.compile(r"(?i)cuda|nvidia|nvcc")


def parse(data: bytes | str) -> ast.Module:
    """The syntax tree. Raises SyntaxError or ValueError for text that is no Python 3, or too deeply nested to read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (RecursionError, MemoryError):
        raise SyntaxError("nested too deeply for Python's parser") from None


class PythonSource:
    """One parsed Python file. Raises SyntaxError or ValueError for text that is no Python 3."""

    def __init__(self, path: str, data: bytes, tree: ast.Module | None = None) -> None:
        self.path = path
        self.data = data
        if tree is None:
            tree = parse(data)
        self.tree = tree
        self._bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        self.starts = [0]
        for match in re.finditer(rb"\r\n|\r|\n", data):
            self.starts.append(match.end())
        self.parents: dict[ast.AST, ast.AST] = {}
        self._by_type: dict[type, list[ast.AST]] = {}
        self.aliases: dict[str, str] = {}
        self._gated_functions: dict[str, bool] = {}
        self.modules: set[str] = set()
        """First components of every imported module."""
        self._walk()

    def _walk(self) -> None:
        stack: list[ast.AST] = [self.tree]
        order: list[ast.AST] = []
        parents = self.parents
        while stack:
            node = stack.pop()
            order.append(node)
            # The instance dictionary holds the fields in order, then places: half the time of `ast.iter_child_nodes`.
            children: list[ast.AST] = []
            for value in node.__dict__.values():
                kind = value.__class__
                if kind is int or kind is str or value is None:
                    continue
                if kind is list:
                    children += [child for child in value if isinstance(child, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    children.append(value)
            for child in children:
                parents[child] = node
            children.reverse()
            stack += children
        for node in order:
            self._by_type.setdefault(type(node), []).append(node)
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.modules.add(alias.name.split(".")[0])
                    if alias.asname:
                        self.aliases[alias.asname] = alias.name
            elif isinstance(node, ast.ImportFrom):
                if not node.level and node.module:
                    self.modules.add(node.module.split(".")[0])
                for alias in node.names:
                    base = "." * node.level + (node.module or "")
                    self.aliases[alias.asname or alias.name] = f"{base}.{alias.name}"

    def find(self, *kinds: type[ast.AST]) -> list[Any]:
        """Nodes of exactly these kinds, kind after kind, each in order of the source."""
        return [node for kind in kinds for node in self._by_type.get(kind, ())]

    def dotted(self, node: ast.AST) -> str:
        """`torch.version.cuda` for the expression however it was imported; empty when it is no dotted name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.aliases.get(node.id, node.id))
        return ".".join(reversed(parts))

    @cached_property
    def docstrings(self) -> frozenset[ast.AST]:
        """String statements: documentation, or code that was put out of use."""
        return frozenset(
            node.value
            for node in self.find(ast.Expr)
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )

    @cached_property
    def strings(self) -> list[tuple[ast.Constant, str]]:
        """Every string that is not documentation, the literal parts of f-strings among them."""
        return [
            (node, node.value)
            for node in self.find(ast.Constant)
            if isinstance(node.value, str) and node not in self.docstrings
        ]

    def ancestors(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """(ancestor, its child on the way to the node), inside out."""
        child = node
        while child in self.parents:
            parent = self.parents[child]
            yield parent, child
            child = parent

    def statement(self, node: ast.AST) -> ast.AST:
        """The statement that holds an expression."""
        while not isinstance(node, ast.stmt) and node in self.parents:
            node = self.parents[node]
        return node

    def words(self, node: ast.AST) -> Iterator[str]:
        """Names, attributes and strings below a node."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                yield inner.id
            elif isinstance(inner, ast.Attribute):
                yield inner.attr
            elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value

    def says_amd(self, node: ast.AST) -> bool:
        """True when an expression asks for ROCm, HIP or an AMD GPU."""
        if any(names_amd(word) for word in self.words(node)):
            return True
        return any(isinstance(inner, ast.Name) and inner.id in self.platform_names for inner in ast.walk(node))

    @cached_property
    def platform_names(self) -> frozenset[str]:
        """Names assigned from an expression that asks for AMD: `BACKEND = "hip" if torch.version.hip else "cuda"`.

        And names compared with AMD's somewhere: where `SYSTEM == "rocm"` stands, any test of SYSTEM asks for it.
        """
        compared = frozenset(
            node.left.id
            for node in self.find(ast.Compare)
            if isinstance(node.left, ast.Name)
            and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
            and isinstance(node.comparators[0], ast.Constant)
            and isinstance(node.comparators[0].value, str)
            and names_amd(node.comparators[0].value)
        )
        return compared | frozenset(
            target.id
            for node in self.find(ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
            and any(names_amd(word) for word in self.words(node.value))
            and not isinstance(node.value, (ast.List, ast.Dict, ast.Tuple, ast.Set, ast.JoinedStr))
        )

    def gated(self, node: ast.AST) -> bool:
        """True when the node stands in a branch (either one) of a condition that asks for AMD, or in AMD's function.

        The other branch counts too: who asks `if is_rocm: ... else: nvcc flags` has thought of this place. An early
        `if is_rocm: return` before the statement counts as well. What stands behind a test that both platforms pass
        does not.
        """
        if isinstance(node, ast.FunctionDef) and self._called_gated(node):
            return True
        for parent, child in self.ancestors(node):
            if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and self._asks(parent, child):
                return True
            if isinstance(parent, (ast.BoolOp, ast.Compare)) and self.says_amd(parent):
                return True
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and names_amd(parent.name):
                return True
            if isinstance(parent, ast.FunctionDef) and isinstance(child, ast.stmt) and self._called_gated(parent):
                return True
            if child in self._behind_an_exit:
                return True
        return False

    @cached_property
    def _behind_an_exit(self) -> frozenset[ast.AST]:
        """Statements of a list in which one before them leaves it on AMD: `if is_rocm: return`, or a refusal of every
        machine but NVIDIA's Jetson."""
        found: set[ast.AST] = set()
        for asked in self.find(ast.If):
            if not _leaves(asked.body) or asked in found:
                continue
            if self.says_amd(asked.test) or self._lacks_cuda(asked.test) or self._wants_jetson(asked):
                for field in ("body", "orelse"):
                    block = getattr(self.parents[asked], field, None)
                    if isinstance(block, list) and asked in block:
                        found.update(block[block.index(asked) + 1 :])
        return frozenset(found)

    def _wants_jetson(self, asked: ast.If) -> bool:
        """True for `if not Path("/etc/nv_tegra_release").is_file(): raise ...`."""
        if not isinstance(asked.body[-1], ast.Raise) or not isinstance(asked.test, ast.UnaryOp):
            return False
        words = [word.lower() for word in self.words(asked.test)] if isinstance(asked.test.op, ast.Not) else []
        return any("tegra" in word or "jetson" in word for word in words)

    @cached_property
    def _otherwise(self) -> frozenset[ast.AST]:
        """Statements that run where the test of an `if` or `while` does not hold, or what a `try` holds has ended."""
        holding = [*self.find(ast.If, ast.While), *self.find(ast.Try)]
        return frozenset(line for one in holding for line in (*one.orelse, *getattr(one, "finalbody", ())))

    def _runs_where_it_holds(self, branch: ast.If | ast.IfExp | ast.While, child: ast.AST) -> bool:
        if isinstance(branch, ast.IfExp):
            return child is branch.body
        return child is not branch.test and child not in self._otherwise

    def _called_gated(self, function: ast.FunctionDef) -> bool:
        """True for a function of a script that is called, and only behind tests for AMD: `check_cuda()` in the `else`
        of `if HIP_BUILD:`. One that others may import (of another file than setup.py, and no `_name`) is not known so
        well."""
        private = function.name.startswith("_") or self.path.endswith("setup.py")
        if not private or self.parents.get(function) is not self.tree:
            return False
        known = self._gated_functions.get(function.name)
        if known is None:
            self._gated_functions[function.name] = False  # while its own calls are asked for
            names = self._names.get(function.name, ())
            known = self._gated_functions[function.name] = bool(names) and all(self.gated(node) for node in names)
        return known

    @cached_property
    def _names(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = {}
        for node in self.find(ast.Name):
            found.setdefault(node.id, []).append(node)
        return found

    def _asks(self, branch: ast.If | ast.IfExp | ast.While, child: ast.AST) -> bool:
        if self.says_amd(branch.test):
            return not self._runs_where_it_holds(branch, child) or not self._holds_on_both(branch.test)
        return self._asks_cuda(branch, child)

    def _holds_on_both(self, test: ast.AST) -> bool:
        """True for a test that lets AMD and NVIDIA in: `SYSTEM in {"cuda", "rocm"}`, `is_cuda() or is_hip()`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            amd = [self.says_amd(value) for value in test.values]
            return any(amd) and any(
                not said and any(_CUDA_WORD.search(word) for word in self.words(value))
                for said, value in zip(amd, test.values, strict=True)
            )
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
            words = list(self.words(test.comparators[0]))
            return any(map(names_amd, words)) and any(map(_CUDA_WORD.search, words))
        return False

    def _lacks_cuda(self, test: ast.AST) -> bool:
        """True for a test that holds wherever `torch.version.cuda` is not set: `not torch.version.cuda or ...`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            return any(map(self._lacks_cuda, test.values))
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is):
            return self.dotted(test.left) == "torch.version.cuda"
        return isinstance(test, ast.UnaryOp) and self.dotted(test.operand) == "torch.version.cuda"

    def _asks_cuda(self, branch: ast.If | ast.IfExp | ast.While, child: ast.AST) -> bool:
        """True when the child is what runs where `torch.version.cuda` is set: the place knows that it may be None."""
        test = branch.test
        if isinstance(test, ast.Call) and self._asks_nvidia(self.dotted(test.func)):
            return self._runs_where_it_holds(branch, child)
        if child is test or not any(
            isinstance(inner, ast.Attribute) and self.dotted(inner) == "torch.version.cuda" for inner in ast.walk(test)
        ):
            return False
        absent = isinstance(test, ast.UnaryOp) or any(isinstance(inner, ast.Is) for inner in ast.walk(test))
        return self._runs_where_it_holds(branch, child) != absent

    def _asks_nvidia(self, name: str) -> bool:
        """True for `is_nvidia`, unless it is defined here and asks for nothing that tells NVIDIA from AMD."""
        if not _ASKS_NVIDIA.search(name):
            return False
        return name.rsplit(".", 1)[-1] not in self._asking_nothing

    @cached_property
    def _asking_nothing(self) -> frozenset[str]:
        """Functions called for NVIDIA in which nothing tells NVIDIA from AMD."""
        bodies = ((one.name, [line for line in one.body if not isinstance(line, ast.Expr)])
                  for one in self.find(ast.FunctionDef) if _ASKS_NVIDIA.search(one.name))  # fmt: skip
        return frozenset(name for name, body in bodies if not any(_VENDOR.search(ast.unparse(line)) for line in body))

    @cached_property
    def constants(self) -> dict[str, str]:
        """Names assigned once, from a string."""
        found: dict[str, str | None] = {}
        for node in self.find(ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    value = node.value.value if isinstance(node.value, ast.Constant) else None
                    found[target.id] = value if target.id not in found and isinstance(value, str) else None
        return {name: value for name, value in found.items() if value is not None}

    def guarded(self, node: ast.AST) -> bool:
        """True inside the body of a `try` with a handler, or under `contextlib.suppress`."""
        for parent, child in self.ancestors(node):
            held = isinstance(child, ast.stmt) and child not in self._otherwise
            if isinstance(parent, ast.Try) and parent.handlers and held:
                return True
            if isinstance(parent, ast.With) and any("suppress" in set(self.words(item)) for item in parent.items):
                return True
        return False

    def in_test(self, node: ast.AST) -> bool:
        """True inside the condition of an if, while or assert, a comparison or a boolean operation."""
        for parent, child in self.ancestors(node):
            if isinstance(parent, (ast.If, ast.IfExp, ast.While, ast.Assert)):
                return parent.test is child
            if isinstance(parent, (ast.Compare, ast.BoolOp)):
                return True
            if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
                return True
            if isinstance(parent, ast.stmt):
                return False
        return False

    def bound_to(self, wanted: frozenset[str]) -> frozenset[str]:
        """Names assigned (also by unpacking) from an expression that reads or calls one of the dotted names; what has
        an element or an attribute set, `info["cuda"] = ...`, is not that value."""
        found: set[str] = set()
        for node in self.find(ast.Assign, ast.AnnAssign, ast.NamedExpr):
            value = node.value
            # A table that holds the value somewhere is not the value.
            if (
                value is None
                or isinstance(value, (ast.Dict, ast.Lambda))
                or not any(
                    isinstance(inner, (ast.Attribute, ast.Name)) and self.dotted(inner) in wanted
                    for inner in ast.walk(value)
                )
            ):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                found.update(
                    inner.id
                    for inner in ast.walk(target)
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
                )
        return frozenset(found)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte offsets [start, end) of a node."""
        start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return start, max(start, end)

    def _offset(self, line: int, column: int) -> int:
        at = min(line, len(self.starts)) - 1
        return min(self.starts[at] + column + (self._bom if at == 0 else 0), len(self.data))

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))

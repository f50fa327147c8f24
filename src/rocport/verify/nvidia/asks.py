"""What a platform predicate asks: of PyTorch what it was built for, and of nothing else.

A predicate that was false on the machine of the check may be true on another: one that reads the environment, a clock,
a folder, a counter, or how many GPUs there are. So what a name of the generated module evaluated when it was read is
held against what may be asked: an allow list, never a block list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rocport.verify.nvidia.reach_python import last_part

_BUILTINS = frozenset(
    [
        "None",
        "True",
        "False",
        "bool",
        "str",
        "int",
        "tuple",
        "list",
        "dict",
        "set",
        "frozenset",
        "len",
        "getattr",
        "hasattr",
        "isinstance",
        "any",
        "all",
        "globals",
        "open",
        "min",
        "max",
        "sorted",
        "__import__",
        "__name__",
        "Exception",
        "ImportError",
        "ModuleNotFoundError",
        "AttributeError",
        "ValueError",
        "OSError",
        "KeyError",
        "TypeError",
        "RuntimeError",
    ]
)
_MODULES = frozenset(("functools", "importlib", "importlib.util", "os", "os.path", "re", "sys", "typing", "torch"))
_OF_MODULE = {"sys": ("modules",), "os": ("path",), "functools": ("lru_cache", "cache"), "torch": ("version",)}
_ATTRIBUTES = frozenset(
    [
        "version",
        "hip",
        "modules",
        "get",
        "util",
        "find_spec",
        "import_module",
        "origin",
        "path",
        "join",
        "dirname",
        "search",
        "match",
        "group",
        "read",
        "MULTILINE",
        "split",
        "strip",
        "startswith",
        "lower",
    ]
)
_IMPORTERS = frozenset(("import_module", "find_spec", "__import__"))
_TORCH = frozenset(("torch", "torch.version", "importlib.util"))


def asked_by_lines(tree: ast.Module, lines: Sequence[int]) -> tuple[int, str] | None:
    """What the statements on these lines ask besides PyTorch's build: (line, what); None where they ask nothing."""
    executed = set(lines)
    known = _bound(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in _evaluated(node):
            last = getattr(part, "end_lineno", None) or part.lineno
            if not executed.isdisjoint(range(part.lineno, last + 1)):
                for line, what in _foreign(part, known):
                    return line, what
    return None


def asked_by_name(tree: ast.Module, name: str) -> tuple[int, str] | None:
    """The same of a name bound when the module is imported, with the names that its value is made of."""
    known = _bound(tree)
    todo, seen = [name], {name}
    while todo:
        wanted = todo.pop()
        for statement, tests in _top(tree.body, ()):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            stored = {item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)}
            if wanted not in stored or statement.value is None:
                continue
            for part in (statement.value, *tests):
                for line, what in _foreign(part, known):
                    return line, what
                used = {item.id for item in ast.walk(part) if isinstance(item, ast.Name)} - seen
                seen |= used
                todo += used
    return None


def _top(
    body: Sequence[ast.stmt], tests: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.Assign | ast.AnnAssign, tuple[ast.expr, ...]]]:
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            yield node, tests
        elif isinstance(node, ast.If):
            yield from _top([*node.body, *node.orelse], (*tests, node.test))
        elif isinstance(node, ast.Try):
            inner = [item for handler in node.handlers for item in handler.body]
            yield from _top([*node.body, *inner, *node.orelse, *node.finalbody], tests)


def _bound(tree: ast.Module) -> frozenset[str]:
    """Names the module binds itself, at any depth, imports aside."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                whole = f"{module}.{alias.name}" if module else alias.name
                first = whole.split(".")[0]
                if (alias.asname or first) == first and first in {item.split(".")[0] for item in _MODULES}:
                    found.add(first)
                elif whole in _TORCH or whole in ("torch.version.hip", "functools.lru_cache", "functools.cache"):
                    found.add(alias.asname or alias.name)
    return frozenset(found - _filled_later(tree))


def _filled_later(tree: ast.Module) -> set[str]:
    """Names of the module that begin as something empty: what is in it then is somebody else's."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        and ((isinstance(node.value, ast.List) and not node.value.elts)
             or (isinstance(node.value, ast.Dict) and not node.value.keys))
        for target in node.targets
        if isinstance(target, ast.Name)
    }  # fmt: skip


def _evaluated(node: ast.stmt) -> list[ast.expr | ast.stmt]:
    """What a statement evaluates itself; a compound one only its head."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [node.iter]
    if isinstance(node, ast.With | ast.AsyncWith):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.Try):
        return [handler.type for handler in node.handlers if handler.type is not None]
    if isinstance(node, ast.Match):
        return [node.subject, *(case.guard for case in node.cases if case.guard is not None)]
    return [node]


def _foreign(part: ast.AST, known: frozenset[str]) -> Iterator[tuple[int, str]]:
    of_torch = set(_asked_for_torch(part))
    for node in ast.walk(part):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Global | ast.Nonlocal | ast.AugAssign | ast.Await | ast.Yield | ast.NamedExpr):
            yield line, f"`{ast.unparse(node)[:60]}`"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = [item.name for item in node.names] if isinstance(node, ast.Import) else [node.module or "."]
            if not _MODULES.issuperset(item for item in modules if item not in _TORCH):
                yield line, f"`{ast.unparse(node)[:60]}`"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id not in known and node.id not in _BUILTINS:
                yield line, f"`{node.id}`"
        elif isinstance(node, ast.Attribute):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            allowed = _OF_MODULE.get(base, _ATTRIBUTES)
            loaded = (base, node.attr) == ("sys", "modules") and node not in of_torch
            if node.attr not in allowed or loaded or (node.attr in ("join", "dirname") and base not in ("", "path")):
                yield line, f"`{ast.unparse(node)[:60]}`"
        elif isinstance(node, ast.Call) and not _call(node):
            yield line, f"`{ast.unparse(node)[:60]}`"


def _asked_for_torch(part: ast.AST) -> Iterator[ast.expr]:
    """What PyTorch is looked for in: `"torch" in X`, `X["torch"]`, `X.get("torch")`."""
    for node in ast.walk(part):
        match node:
            case ast.Compare(ast.Constant(name), [ast.In() | ast.NotIn()], [where]) if name in _TORCH:
                yield where
            case ast.Subscript(where, ast.Constant(name)) if name in _TORCH:
                yield where
            case ast.Call(ast.Attribute(where, "get"), [ast.Constant(name), *_]) if name in _TORCH:
                yield where


def _call(node: ast.Call) -> bool:
    """Whether what a call asks for by a string is PyTorch, or the version it was built for."""
    name = last_part(node.func)
    strings = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    first = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    if name in _IMPORTERS:
        return first in _TORCH
    if name in ("getattr", "hasattr"):
        second = node.args[1] if len(node.args) > 1 else None
        return isinstance(second, ast.Constant) and second.value in ("version", "hip")
    if name == "open":
        return "version.py" in strings
    if name in ("search", "match") and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re":
        subject = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
        return isinstance(first, str) and ("hip" in first or "hip" in subject) and "cuda" not in first
    return True

"""Who sets what the predicate asks: under a test or a shim that does, it is true on NVIDIA.

The predicate asks `torch.version.hip`: `torch` is what is imported by that name, `version` a module of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.verify.nvidia.python_names import looking

_MAY = re.compile(rb"\b(?:hip|version|modules|__import__|meta_path|path_hooks)\b")
_IN_TEXT = re.compile(
    rb"\bversion\.hip\s*=(?!=)|\bsetattr\s*\(\s*[\w.]*\bversion\s*,\s*[\"']hip[\"']"
    rb"|[\"']torch\.version(?:\.hip)?[\"']\s*[,\]]"
)
"""What the text of a module shows that no parser takes, or that hands code on as a string."""
_READS = frozenset(("getattr", "hasattr", "import_module", "find_spec", "importorskip", "get", "__import__", "getitem"))
"""Calls that are handed a name and change nothing by it."""
_CHANGES = frozenset(("update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__"))
"""Methods that change a dictionary."""
_IMPORTERS = frozenset(("meta_path", "path_hooks"))


def sets_hip(data: bytes) -> int:
    """The line of a module that may set what the predicate asks, or put another `torch` in its place; 0 without one. An
    importer of a module that says nothing of torch is none: detectron2's `config/lazy.py` has one for its own files."""
    if b"torch" not in data:
        return 0
    found = _IN_TEXT.search(data)
    lines = [data.count(b"\n", 0, found.start()) + 1] if found else []
    tree = looking(data) if _MAY.search(data) else None
    lines += _set_in(tree) if tree is not None else ()
    return min(lines, default=0)


class _Held:
    """What a module calls torch, and `torch.version`."""

    def __init__(self, tree: ast.Module) -> None:
        self.torch, self.version = {"torch"}, {"torch.version"}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named = [(alias.name, alias.asname or "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                named = [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
            else:
                continue
            self.torch.update(called for name, called in named if name == "torch" and called)
            self.version.update(called for name, called in named if name == "torch.version" and called)
        self.version.update(f"{name}.version" for name in tuple(self.torch))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.NamedExpr | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for names in (self.torch, self.version):
                    if self.holds(node.value, names):
                        names.update({_dotted(item) for item in targets} - {""})

    @staticmethod
    def holds(node: ast.AST, names: set[str]) -> bool:
        """Whether an expression is one of these names, or an attribute of something by the last of its parts."""
        parts = _dotted(node).split(".")
        return parts != [""] and any(".".join(parts[start:]) in names for start in range(len(parts)))


_PARTS = 3
"""Parts of a name that are looked at, the last ones."""


def _dotted(node: ast.AST) -> str:
    """The last parts of a name with its attributes; empty for an expression that ends in none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _PARTS:
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and len(parts) < _PARTS:
        parts.append(node.id)
    return ".".join(reversed(parts))


def _set_in(tree: ast.Module) -> Iterator[int]:
    held = _Held(tree)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in parents:
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            of_version = node.attr == "hip" and held.holds(node.value, held.version)
            of_torch = node.attr == "version" and held.holds(node.value, held.torch)
            importer = node.attr == "__import__" or (node.attr in _IMPORTERS and _dotted(node.value) == "sys")
            if of_version or of_torch or importer:
                yield node.lineno
        elif isinstance(node, ast.Call) and _handed(node, held):
            yield node.lineno
        if isinstance(node, ast.expr) and _names_of(node, held) and _changed(node, parents):
            yield node.lineno


def _handed(node: ast.Call, held: _Held) -> bool:
    """`setattr(torch.version, "hip", x)`, `patch("torch.version.hip")`, `setitem(sys.modules, "torch", x)`."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called in _READS:
        return False
    if called in ("insert", "append", "extend") and isinstance(node.func, ast.Attribute):
        return isinstance(node.func.value, ast.Attribute) and node.func.value.attr in _IMPORTERS
    words = {item.value for item in node.args if isinstance(item, ast.Constant)}
    unknown = called == "setattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
    for item in node.args:
        if held.holds(item, held.version) and ("hip" in words or unknown):
            return True
        if held.holds(item, held.torch) and ("version" in words or (unknown and item is node.args[0])):
            return True
        if _dotted(item) == "sys.modules" and _names_torch(node):
            return True
    return called.startswith(("patch", "setattr", "delattr")) and not words.isdisjoint(
        ("torch.version.hip", "torch.version", "torch")
    )


def _names_torch(node: ast.AST) -> bool:
    values = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
    return any(isinstance(value, str) and (value == "torch" or value.startswith("torch.version")) for value in values)


def _names_of(node: ast.expr, held: _Held) -> bool:
    """Whether an expression gives the names of `torch.version` or of torch, or all modules."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        of: ast.AST = node.value
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars" and node.args:
        of = node.args[0]
    else:
        return _dotted(node) == "sys.modules"
    return held.holds(of, held.version) or held.holds(of, held.torch)


def _changed(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a dictionary is given `hip`, `version` or torch, or loses it."""
    above = parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node and not isinstance(above.ctx, ast.Load):
        return _names_what_is_asked(above.slice)
    if isinstance(above, ast.AugAssign) and above.target is node:
        return _names_what_is_asked(above.value)
    call = parents.get(above) if isinstance(above, ast.Attribute) and above.attr in _CHANGES else None
    if not (isinstance(call, ast.Call) and call.func is above):
        return False
    return _names_what_is_asked(call) or not (call.args or call.keywords)


def _names_what_is_asked(node: ast.AST) -> bool:
    keywords = {item.arg for item in ast.walk(node) if isinstance(item, ast.keyword)}
    values = {item.value for item in ast.walk(node) if isinstance(item, ast.Constant)} | keywords
    return not values.isdisjoint(("hip", "version", "torch", "torch.version"))

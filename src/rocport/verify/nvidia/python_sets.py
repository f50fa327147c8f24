"""Who sets what the predicate asks: under a test or a shim that does, it is true on NVIDIA.

The predicate asks `torch.version.hip`: `torch` is what is imported by that name, `version` a module of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.verify.nvidia.python_names import looking

_MAY = re.compile(rb"\b(?:hip|version|modules|__import__|meta_path|path_hooks|setattr|patch)\b")
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
    listed = _in_a_list(parents)
    for node in parents:
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            of_version = node.attr == "hip" and held.holds(node.value, held.version)
            of_torch = node.attr == "version" and held.holds(node.value, held.torch)
            importer = node.attr == "__import__" or (node.attr in _IMPORTERS and _dotted(node.value) == "sys")
            if of_version or of_torch or importer:
                yield node.lineno
        elif isinstance(node, ast.Call) and _handed(node, held, listed):
            yield node.lineno
        if isinstance(node, ast.expr) and _names_of(node, held) and _changed(node, parents, listed):
            yield node.lineno


def _handed(node: ast.Call, held: _Held, listed: bool) -> bool:
    """`setattr(torch.version, "hip", x)`, `patch("torch.version.hip")`, `setitem(sys.modules, "torch", x)`; `listed` is
    what `_in_a_list` gives."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called in _READS:
        return False
    if called in ("insert", "append", "extend") and isinstance(node.func, ast.Attribute):
        return isinstance(node.func.value, ast.Attribute) and node.func.value.attr in _IMPORTERS
    given = [*node.args, *(item.value for item in node.keywords)]
    if called in ("__setattr__", "__delattr__") and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    words = {item.value for item in given if isinstance(item, ast.Constant)}
    if called in _BY_KEYWORD:
        words.update(item.arg for item in node.keywords)
    unknown = called == "setattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
    for item in given:
        if held.holds(item, held.version) and ("hip" in words or unknown):
            return True
        if held.holds(item, held.torch) and ("version" in words or (unknown and item is given[0])):
            return True
        if _dotted(item) == "sys.modules" or (called in _BY_KEYWORD and getattr(item, "value", "") == "sys.modules"):
            others = [one for one in given if one is not item]
            named = any(map(_names_torch, others)) or not words.isdisjoint(("torch", "torch.version"))
            if named or (listed and called in ("setitem", "dict") and others and not _constant(others[0])):
                return True
        elif called in ("setitem", "dict") and isinstance(node.func, ast.Attribute) and _names_of(item, held):
            return _names_what_is_asked(node)
    return called.startswith(("patch", "setattr", "delattr")) and any(_NAMED.fullmatch(str(word)) for word in words)


_NAMED = re.compile(r"(?:[\w.]+\.)?torch(?:\.version(?:\.hip)?)?")
"""What is asked, or the torch of a module, as `patch("package.module.torch")` writes it."""
_BY_KEYWORD = frozenset(("dict", "multiple"))
"""Those of `unittest.mock.patch` that are told by keywords what they set."""


def _constant(node: ast.expr) -> bool:
    """Whether a key, or the dictionary of a call, is known: `"torch"`, `{"torch": x}`, `__name__`."""
    return isinstance(node, ast.Constant | ast.Dict) or _dotted(node) == "__name__"


def _in_a_list(parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a list or dictionary names torch: `for name in ("torch", "torch.nn"): sys.modules[name] = Mock()`."""
    return any(_is_torch(node) and isinstance(above, _LISTS) for node, above in parents.items())


_LISTS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _is_torch(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and (value == "torch" or value.startswith("torch.version"))


def _names_torch(node: ast.AST) -> bool:
    return any(map(_is_torch, ast.walk(node)))


def _names_of(node: ast.expr, held: _Held) -> bool:
    """Whether an expression gives the names of `torch.version` or of torch, or all modules."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        of: ast.AST = node.value
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars" and node.args:
        of = node.args[0]
    else:
        return _dotted(node) == "sys.modules"
    return held.holds(of, held.version) or held.holds(of, held.torch)


def _changed(node: ast.expr, parents: dict[ast.AST, ast.AST], listed: bool) -> bool:
    """Whether a dictionary is given `hip`, `version` or torch, or loses it. What is not known of all modules may be
    torch where `listed`, which `_in_a_list` gives."""
    listed = listed and _dotted(node) == "sys.modules"
    above = parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node and not isinstance(above.ctx, ast.Load):
        unknown = isinstance(above.ctx, ast.Store) and not _constant(above.slice)
        return _names_what_is_asked(above.slice) or (listed and unknown)
    if isinstance(above, ast.AugAssign) and above.target is node:
        return _names_what_is_asked(above.value) or (listed and not _constant(above.value))
    call = parents.get(above) if isinstance(above, ast.Attribute) and above.attr in _CHANGES else None
    if not (isinstance(call, ast.Call) and isinstance(above, ast.Attribute) and call.func is above):
        return False
    unknown = above.attr in ("update", "setdefault", "__setitem__") and not all(map(_constant, call.args[:1]))
    return _names_what_is_asked(call) or (listed and unknown) or not (call.args or call.keywords)


def _names_what_is_asked(node: ast.AST) -> bool:
    keywords = {item.arg for item in ast.walk(node) if isinstance(item, ast.keyword)}
    values = {item.value for item in ast.walk(node) if isinstance(item, ast.Constant)} | keywords
    return not values.isdisjoint(("hip", "version", "torch", "torch.version"))

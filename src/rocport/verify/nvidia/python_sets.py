"""Who sets what the predicate asks: under a test or a shim that does, it is true on NVIDIA.

The predicate asks `torch.version.hip`: `torch` is what is imported by that name, `version` a module of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.verify.nvidia.python_names import looking
from rocport.verify.nvidia.reach_python import last_part

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
_BY_NAME = frozenset(("import_module", "__import__", "importorskip"))
"""Calls that give the module they are told the name of."""
_LISTS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_ONLY_SHOW = frozenset(
    [
        *("getattr", "hasattr", "isinstance", "print", "str", "repr", "type", "id", "bool", "len", "format"),
        *("dir", "vars", "getmembers", "getsource", "getsourcefile", "getfile", "signature", "info", "debug", "log"),
        *("warning", "error", "exception", "critical", "pprint"),
        *("dict", "list", "tuple", "set", "frozenset", "sorted", "copy", "deepcopy", "reload"),
    ]
)
"""Calls that keep nothing of what they are handed, or a copy."""


def sets_hip(data: bytes) -> int:
    """The line of a module that may set what the predicate asks, or put another `torch` in its place; 0 without one. An
    importer of a module that says nothing of torch is none: detectron2's `config/lazy.py` has one for its own files."""
    found = _IN_TEXT.search(data)
    if b"torch" not in data:
        # `from package.compat import version` gives `torch.version`, too.
        return data.count(b"\n", 0, found.start()) + 1 if found else 0
    lines = [data.count(b"\n", 0, found.start()) + 1] if found else []
    tree = looking(data) if _MAY.search(data) else None
    lines += _set_in(tree) if tree is not None else ()
    return min(lines, default=0)


class _Held:
    """What a module calls torch, `torch.version`, and dictionaries of their names or of all modules."""

    def __init__(self, tree: ast.Module) -> None:
        self.torch, self.version = {"torch"}, {"torch.version"}
        self.named: dict[str, frozenset[str]] = {}
        """Names of dictionaries -> the keys in them that count."""
        self.texts: set[str] = set()
        """Names that are given the name of what is asked, `ASKED = "torch.version.hip"`."""
        self.bound: set[ast.AST] = set()
        """Where a name is bound to one of them, or to `torch.version`."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named = [(alias.name, alias.asname or "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                named = [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
            else:
                continue
            self.torch.update(called for name, called in named if name == "torch" and called)
            self.version.update(called for name, called in named if name == "torch.version" and called)
            self.named |= {called: _OF_VERSION for name, called in named if name == "torch.version.__dict__"}
            self.named |= {called: _OF_TORCH for name, called in named if name == "torch.__dict__"}
        self.version.update(f"{name}.version" for name in tuple(self.torch))
        for target, value in _bindings(tree):
            called = _dotted(target)
            if not called:
                continue
            if self.is_torch(value):
                self.torch.add(called)
                self.version.add(f"{called}.version")
            if self.is_version(value):
                self.version.add(called)
            if keys := self.keys(value):
                self.named[called] = self.named.get(called, frozenset()) | keys
            if self.is_version(value) or self.keys(value):
                self.bound.add(target)
            if isinstance(value, ast.Constant) and _NAMED.fullmatch(str(value.value)):
                self.texts.add(called)

    @staticmethod
    def holds(node: ast.AST, names: set[str]) -> bool:
        """Whether an expression is one of these names, or an attribute of something by the last of its parts."""
        parts = _dotted(node).split(".")
        return parts != [""] and any(".".join(parts[start:]) in names for start in range(len(parts)))

    def is_torch(self, node: ast.AST) -> bool:
        """Whether an expression gives torch: by one of its names, or by a call or a look-up that names it."""
        if isinstance(node, ast.NamedExpr | ast.IfExp | ast.BoolOp):
            return any(map(self.is_torch, _one_of(node)))
        return self.holds(node, self.torch) or _module_named(node) == "torch"

    def is_version(self, node: ast.AST) -> bool:
        if self.holds(node, self.version) or _module_named(node) == "torch.version":
            return True
        match node:
            case ast.NamedExpr() | ast.IfExp() | ast.BoolOp():
                return any(map(self.is_version, _one_of(node)))
            case ast.Attribute(of, "version"):
                return self.is_torch(of)
            case ast.Subscript(of, ast.Constant("version")):
                return self.keys(of) is _OF_TORCH
            case ast.Call(func, given):
                # `getattr(torch, "version")`, `attrgetter("version")(torch)`, `torch.__getattribute__("version")`.
                pieces = [*given, *(func.args if isinstance(func, ast.Call) else ()), getattr(func, "value", func)]
                named = any(isinstance(piece, ast.Constant) and piece.value == "version" for piece in pieces)
                return named and any(map(self.is_torch, pieces))
        return False

    def keys(self, node: ast.AST) -> frozenset[str]:
        """The names that count in the dictionary that an expression gives, of `torch.version`, of torch, or of all
        modules; empty for another expression."""
        match node:
            case ast.Attribute(of, "__dict__") | ast.Call(ast.Name("getattr"), [of, ast.Constant("__dict__"), *_]):
                pass
            case ast.Call(ast.Name("vars"), [of, *_]):
                pass
            case ast.NamedExpr() | ast.IfExp() | ast.BoolOp():
                return next(filter(None, map(self.keys, _one_of(node))), frozenset())
            case _:
                parts = _dotted(node).split(".")
                if parts == ["sys", "modules"]:
                    return _OF_MODULES
                ends = (".".join(parts[start:]) for start in range(len(parts)))
                return next((self.named[end] for end in ends if end in self.named), frozenset())
        return _OF_VERSION if self.is_version(of) else _OF_TORCH if self.is_torch(of) else frozenset()


_OF_VERSION = frozenset(("hip",))
_OF_TORCH = frozenset(("version",))
_OF_MODULES = frozenset(("torch", "torch.version"))


def _bindings(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Names that a module gives to values, tuples side by side, and parameters with a default; in the order of its
    lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.NamedExpr | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield target, node.value
                if isinstance(target, ast.Tuple | ast.List) and isinstance(node.value, ast.Tuple | ast.List):
                    yield from zip(target.elts, node.value.elts, strict=False)
        elif isinstance(node, ast.arguments):
            given = [*node.posonlyargs, *node.args]
            defaults = [
                *zip(given[::-1], node.defaults[::-1], strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            yield from ((argument, value) for argument, value in defaults if value is not None)


_CHOICES = 10
"""Expressions that are looked at behind one that chooses."""


def _one_of(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which another gives one: `a if x else b`, `a or b`, `(n := a)`."""
    rest = [node]
    for _ in range(_CHOICES):
        if not rest:
            return
        match rest.pop():
            case ast.NamedExpr(_, value):
                rest.append(value)
            case ast.IfExp(_, one, other):
                rest += [other, one]
            case ast.BoolOp(_, values):
                rest += values[:_CHOICES][::-1]
            case item:
                yield item


def _module_named(node: ast.AST) -> str:
    """The module that `import_module("a.b")`, `sys.modules["a.b"]` or `sys.modules.get("a.b")` gives."""
    match node:
        case ast.Call(func, [ast.Constant(str(name)), *_]) if last_part(func) in _BY_NAME:
            return name
        case ast.Call(ast.Attribute(of, "get"), [ast.Constant(str(name)), *_]) if _dotted(of) == "sys.modules":
            return name
        case ast.Subscript(of, ast.Constant(str(name))) if _dotted(of) == "sys.modules":
            return name
    return ""


def _loaded(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


_PARTS = 3
"""Parts of a name that are looked at, the last ones."""


def _dotted(node: ast.AST) -> str:
    """The last parts of a name with its attributes, or a parameter; empty for an expression that ends in none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _PARTS:
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and len(parts) < _PARTS:
        parts.append(node.id)
    elif isinstance(node, ast.arg):
        return node.arg
    return ".".join(reversed(parts))


def _set_in(tree: ast.Module) -> Iterator[int]:
    held = _Held(tree)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    listed = _in_a_list(parents)
    for node in parents:
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            of_version = node.attr == "hip" and held.is_version(node.value)
            of_torch = node.attr == "version" and held.is_torch(node.value)
            importer = node.attr == "__import__" or (node.attr in _IMPORTERS and _dotted(node.value) == "sys")
            if of_version or of_torch or importer:
                yield node.lineno
        elif isinstance(node, ast.Call) and _handed(node, held, listed):
            yield node.lineno
        if isinstance(node, ast.expr) and held.keys(node) and _changed(node, parents, listed, held):
            yield node.lineno
    yield from _under_other_names(parents, held, _others(tree, held))


def _others(tree: ast.Module, held: _Held) -> set[ast.AST]:
    """Names that a function binds to something else than what they are elsewhere in the module."""
    scopes: dict[ast.AST, ast.AST] = {}
    rest: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while rest:
        node, scope = rest.pop()
        scopes[node] = scope
        inner = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else scope
        rest += [(child, inner) for child in ast.iter_child_nodes(node)]
    bound = {(scope, node.arg) for node, scope in scopes.items() if isinstance(node, ast.arg)}
    bound |= {(scope, node.id) for node, scope in scopes.items() if isinstance(node, ast.Name) and not _loaded(node)}
    bound -= {(scopes[node], _dotted(node)) for node in held.bound}
    others = {node for node, scope in scopes.items() if isinstance(node, ast.Name) and (scope, node.id) in bound}
    elsewhere = {name for node in scopes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    return {node for node in others if node.id not in elsewhere}


def _under_other_names(parents: dict[ast.AST, ast.AST], held: _Held, others: set[ast.AST]) -> Iterator[int]:
    """Where `torch.version`, or a dictionary of names, goes to where no name says what it is (a container, a parameter,
    the result of a function), and the module sets something of the name that is asked; or where a function of another
    module is handed it."""
    own = {node.name for node in parents if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    only_show = (_ONLY_SHOW | _READS) - own
    wanted: set[str] = set()
    for node, above in parents.items():
        if not isinstance(node, ast.expr) or not _loaded(node) or node in others:
            continue
        version = held.is_version(node)
        keys = _OF_VERSION if version else held.keys(node)
        if not keys or not _goes_on(node, above, parents, version, only_show):
            continue
        wanted |= keys
        if version and isinstance(above, ast.Call) and node in above.args:
            called = last_part(above.func)
            if called not in own and not called.startswith(_HANDED):
                yield node.lineno
    if wanted:
        yield from (node.lineno for node in parents if isinstance(node, ast.expr) and _sets_one(node, parents, wanted))


_HANDED = ("patch", "set", "del", "object", "dict", "multiple", "__setattr__", "__delattr__")
"""Calls that `_handed` judges."""


def _goes_on(
    node: ast.expr, above: ast.AST, parents: dict[ast.AST, ast.AST], version: bool, only_show: frozenset[str]
) -> bool:
    """Whether what holds an expression keeps it or hands it on; `only_show` are calls that do neither."""
    if isinstance(above, ast.Call):
        called = last_part(above.func)
        judged = not version and called.startswith(_HANDED)
        return node is not above.func and not judged and called not in only_show
    if isinstance(above, ast.keyword):
        call = parents.get(above)
        return above.arg is not None and isinstance(call, ast.Call) and last_part(call.func) not in only_show
    if isinstance(above, ast.Attribute):
        bound = above.attr in ("__setattr__", "__delattr__") if version else above.attr in _CHANGES
        call = parents.get(above)
        return bound and not (isinstance(call, ast.Call) and call.func is above)
    if isinstance(above, ast.Assign):
        return not all(map(_dotted, above.targets))
    if isinstance(above, ast.Tuple | ast.List) and isinstance(parents.get(above), ast.Assign):
        assigned = parents[above]
        assert isinstance(assigned, ast.Assign)
        return not all(isinstance(target, ast.Tuple | ast.List) for target in assigned.targets)
    return isinstance(
        above, (*_LISTS, ast.Starred, ast.Return, ast.Yield, ast.Lambda, ast.Match, ast.BoolOp, ast.arguments)
    )


def _sets_one(node: ast.expr, parents: dict[ast.AST, ast.AST], names: set[str]) -> bool:
    """Whether an expression sets an attribute or a key of one of these names, of whatever object."""
    match node:
        case ast.Attribute(of, name, ast.Store() | ast.Del()):
            return name in names and getattr(of, "id", "") not in ("self", "cls")
        case ast.Subscript(_, ast.Constant(name), ast.Store() | ast.Del()):
            return name in names
        case ast.Call(func, given):
            if last_part(func) in _READS | _ONLY_SHOW:
                return False
            if last_part(func) == "setattr" and len(given) > 1 and not isinstance(given[1], ast.Constant):
                return getattr(given[0], "id", "") not in ("self", "cls")
            keys = [key for item in given if isinstance(item, ast.Dict) for key in item.keys]
            words = {item.value for item in (*given, *keys) if isinstance(item, ast.Constant)}
            words.update(item.arg for item in node.keywords)
            # Of torch and of all modules the words are everywhere.
            return not (names if last_part(func) in _CHANGES else names & _OF_VERSION).isdisjoint(words)
        case ast.Name("setattr", ast.Load()):
            # `map(setattr, versions, names, values)`.
            above = parents.get(node)
            return not (isinstance(above, ast.Call) and above.func is node)
        case ast.Dict(keys):
            merged = isinstance(parents.get(node), ast.AugAssign)
            return merged and any(getattr(key, "value", None) in names for key in keys)
        case ast.Constant(str(text)):
            return re.search(rf"(?:\.|\[\s*[\"'])(?:{'|'.join(names)})\b[\"'\]\s]*=(?!=)", text) is not None
    return False


def _handed(node: ast.Call, held: _Held, listed: bool) -> bool:
    """`setattr(torch.version, "hip", x)`, `patch("torch.version.hip")`, `setitem(sys.modules, "torch", x)`; `listed` is
    what `_in_a_list` gives."""
    called = last_part(node.func)
    if called in _READS:
        return False
    if called in ("insert", "append", "extend") and isinstance(node.func, ast.Attribute):
        return isinstance(node.func.value, ast.Attribute) and node.func.value.attr in _IMPORTERS
    given = [*node.args, *(item.value for item in node.keywords)]
    # `patch.object(**{"target": torch.version, "attribute": "hip"})`.
    given += [value for item in node.keywords if isinstance(item.value, ast.Dict) for value in item.value.values]
    if called in ("__setattr__", "__delattr__") and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    words = {item.value for item in given if isinstance(item, ast.Constant)}
    if called in _BY_KEYWORD:
        words.update(item.arg for item in node.keywords)
    unknown = called == "setattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
    for item in given:
        if held.is_version(item) and ("hip" in words or unknown):
            return True
        if held.is_torch(item) and ("version" in words or (unknown and item is given[0])):
            return True
        if held.keys(item) is _OF_MODULES or (called in _BY_KEYWORD and getattr(item, "value", "") == "sys.modules"):
            others = [one for one in given if one is not item]
            named = any(map(_names_torch, others)) or not words.isdisjoint(("torch", "torch.version"))
            if named or (listed and called in ("setitem", "dict") and others and not _constant(others[0])):
                return True
        elif called in ("setitem", "dict") and isinstance(node.func, ast.Attribute) and held.keys(item):
            return _names_what_is_asked(node)
    if not called.startswith(("patch", "setattr", "delattr")):
        return False
    named = any(_NAMED.fullmatch(str(word)) for word in words)
    return named or (bool(given) and (_may_be_named(given[0]) or held.holds(given[0], held.texts)))


def _may_be_named(node: ast.expr) -> bool:
    """Whether a text that is put together, `"torch." + "version.hip"`, may be the name of what is asked."""
    if isinstance(node, ast.Call):
        pieces = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
        return any(re.search(r"\b(?:hip|version)\b", str(piece)) for piece in pieces)
    if not isinstance(node, ast.BinOp | ast.JoinedStr):
        return False
    known = [item.value for item in _in_order(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    form = ".*".join(map(re.escape, known))
    long = max(map(len, known), default=0) > len("hip")
    return long and re.search(form, "torch.version.hip") is not None


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The pieces of a text as they stand, outermost operators first apart."""
    rest = [node]
    while rest:
        item = rest.pop()
        yield item
        rest += list(ast.iter_child_nodes(item))[::-1]


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


def _is_torch(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and (value == "torch" or value.startswith("torch.version"))


def _names_torch(node: ast.AST) -> bool:
    return any(map(_is_torch, ast.walk(node)))


def _changed(node: ast.expr, parents: dict[ast.AST, ast.AST], listed: bool, held: _Held) -> bool:
    """Whether a dictionary is given `hip`, `version` or torch, or loses it. What is not known of all modules may be
    torch where `listed`, which `_in_a_list` gives; what is not known of torch or its version may be what is asked."""
    listed = listed or held.keys(node) is not _OF_MODULES
    above = parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node and not isinstance(above.ctx, ast.Load):
        unknown = isinstance(above.ctx, ast.Store) and not _constant(above.slice)
        return _names_what_is_asked(above.slice) or (listed and unknown)
    if isinstance(above, ast.AugAssign) and above.target is node:
        return _names_what_is_asked(above.value) or (listed and not _constant(above.value))
    call = parents.get(above) if isinstance(above, ast.Attribute) and above.attr in _CHANGES else None
    if not (isinstance(call, ast.Call) and isinstance(above, ast.Attribute) and call.func is above):
        return False
    more = [item.value for item in call.keywords if item.arg is None]
    unknown = above.attr in ("update", "setdefault", "__setitem__") and not all(map(_constant, call.args[:1] + more))
    return _names_what_is_asked(call) or (listed and unknown) or not (call.args or call.keywords)


def _names_what_is_asked(node: ast.AST) -> bool:
    keywords = {item.arg for item in ast.walk(node) if isinstance(item, ast.keyword)}
    values = {item.value for item in ast.walk(node) if isinstance(item, ast.Constant)} | keywords
    return not values.isdisjoint(("hip", "version", "torch", "torch.version"))

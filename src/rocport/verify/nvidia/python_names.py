"""Who looks through the names of a module, to which the port adds one, or reads the file that a module is."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rocport.verify.nvidia.python_scopes import FUNCTIONS
from rocport.verify.nvidia.reach_python import import_targets, parsed

LOOKS = re.compile(
    rb"\b(?:globals|locals|dir|vars)\s*[(,]|\bgetmembers|\bbuiltins\b|\brun_(?:module|path)\b"
    rb"|__(?:dict|dir|globals)__\b|\bf_globals\b"
)
OF_FILE = re.compile(rb"\.__file__\b")
_READS_FILES = re.compile(
    r"open|read|load|getlines|getsize|mtime|stat\b|hash|digest|md5|sha\d|copy|compile|parse|cmp|checksum"
)
_OF_A_PATH = frozenset(
    [
        *("abspath", "realpath", "normpath", "fspath", "expanduser", "str", "resolve", "absolute", "as_posix"),
        *("Path", "PurePath", "PosixPath"),
    ]
)
_ONE_NAME = frozenset(("get", "update", "setdefault", "pop", "__setitem__", "__getitem__", "__contains__"))
"""Methods of a dictionary of names that ask for names that are given."""
_RUNS = frozenset(("exec", "eval", "setattr", "Timer", "timeit"))
"""Calls that take a dictionary of names to run code in it."""
_LISTERS = ("dir", "getmembers", "getmembers_static", "__dir__")
"""Calls that give the names of what they are handed, as a list."""
_LOOKERS = (*_LISTERS, "vars")
_DICTIONARIES = ("__dict__", "__dir__")
_OTHER = frozenset(("type", "super", "parse_args", "parse_known_args", "parse_known_intermixed_args", "Namespace"))
"""Calls that give no module."""
_OF_ONE = frozenset(("getattr", "setattr", "hasattr", "delattr", "isinstance"))
"""Calls that keep nothing of the module they are asked about."""
_KNOWN = frozenset(("sys", "importlib", "inspect", "builtins", "runpy"))
_KEEP_EACH = frozenset(("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "dict"))
"""Calls that give the names they are given, as they are."""
_NO_MODULE = frozenset(("callable", "isclass", "isfunction", "isroutine", "isbuiltin", "ismethod", "issubclass"))
"""Questions that a module or a plain value, which is what the port adds, answers with no."""


def looking(data: bytes) -> ast.Module | None:
    """The tree of a module in which what it has of `sys`, `importlib`, `inspect`, `builtins` and `runpy` is called by
    its own name (`from sys import modules as m` gives `sys.modules` for `m`); None where this Python cannot read it."""
    tree = parsed(data)
    names: dict[str, str] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in _KNOWN}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module in _KNOWN:
            start = "" if node.module == "builtins" else f"{node.module}."
            names |= {alias.asname or alias.name: start + alias.name for alias in node.names if alias.name != "*"}
    if tree is not None and names:
        for node in list(ast.walk(tree)):
            for field, value in ast.iter_fields(node):
                if isinstance(value, list):
                    value[:] = [_called_by(item, names) for item in value]
                else:
                    setattr(node, field, _called_by(value, names))
    return tree


def _called_by(node: Any, names: Mapping[str, str]) -> Any:
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names):
        return node
    module, _, name = names[node.id].rpartition(".")
    plain: ast.expr = ast.Name(module or name, ast.Load())
    if module:
        plain = ast.Attribute(ast.copy_location(plain, node), name, ast.Load())
    return ast.copy_location(plain, node)


def modules(path: str, tree: ast.Module, known: Iterable[str]) -> dict[str, list[str]]:
    """The modules of `known` that a module imports: what it calls them -> their paths. `import a` gives `a.b`, too, and
    `from a import f` gives `f.`; `sys.modules["a"]` and `run_path("a.py")` are called what they are written as."""
    places = {item.removesuffix(".py").removesuffix("/__init__"): item for item in known}
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [(0, alias.name, alias.asname or alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}." if node.module else ""
            named = [(node.level, f"{start}{alias.name}", alias.asname or alias.name) for alias in node.names]
            named += [(node.level, node.module or "", f"{called}.") for _, _, called in named]
        elif isinstance(node, ast.Assign) and (by_name := _imported_by_name(node.value)):
            named = [(0, by_name, _written(target)) for target in node.targets]
        elif by_name := _imported_by_name(node):
            named = [(0, by_name, _written(node))]
        elif isinstance(node, ast.Call) and _last(node.func) == "run_path" and node.args:
            if run := _files_named(node.args[0], places.values()):
                found.setdefault(_written(node), []).extend(run)
            continue
        else:
            continue
        for level, name, called in named:
            for target in import_targets(path, level, name):
                for place, item in places.items():
                    if place == target or (not called.endswith(".") and place.startswith(f"{target}/")):
                        more = place[len(target) :].replace("/", ".")
                        found.setdefault(called + more, []).append(item)
    return found


def _imported_by_name(node: ast.AST) -> str:
    """The module that `import_module("a.b")` or `sys.modules["a.b"]` gives; `run_module("a.b")` gives its names."""
    if isinstance(node, ast.Call) and _last(node.func) in ("import_module", "__import__", "run_module") and node.args:
        given = node.args[0]
    elif isinstance(node, ast.Subscript) and _sys_modules(node.value):
        given = node.slice
    else:
        return ""
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def _files_named(node: ast.AST, paths: Iterable[str]) -> list[str]:
    """The files that a string names by the end of their path, or by a longer one."""
    name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    if not name:
        return []
    name = f"/{name.removeprefix('./')}"
    return [path for path in paths if name.endswith(f"/{path}") or (name.endswith(".py") and f"/{path}".endswith(name))]


def _sys_modules(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
            return True
    return False


def files_read(tree: ast.AST, own: bool = False) -> Iterator[tuple[str, int]]:
    """Modules whose `__file__`, as the path itself, is handed to something that reads a file, with the lines; `own`:
    the module itself, as an empty name."""
    parents = _parents(tree)
    for node in parents:
        if own and isinstance(node, ast.Name) and node.id == "__file__":
            module = ""
        elif not own and isinstance(node, ast.Attribute) and node.attr == "__file__":
            module = _written(node.value)
        else:
            continue
        at: ast.AST = node
        while (above := parents.get(at)) is not None:
            called = isinstance(above, ast.Call) and (above.func is at or _last(above.func) in _OF_A_PATH)
            if not called and not (isinstance(above, ast.Attribute) and above.attr in _OF_A_PATH):
                break
            at = above
        reader = above.attr if isinstance(above, ast.Attribute) else ""
        if isinstance(above, ast.Call):
            reader = _written(above.func)
        if _READS_FILES.search(reader):
            yield module, node.lineno


def listed(tree: ast.Module, names: Iterable[str]) -> int | None:
    """The line where a module looks through its own names and finds one of these; None where it does not."""
    parents = _parents(tree)
    classes = _classes(parents)
    own = {node for item in tree.body if not isinstance(item, (*FUNCTIONS, ast.ClassDef)) for node in ast.walk(item)}
    for node in parents:
        if isinstance(node, ast.Call):
            called = _last(node.func)
            local = called in ("locals", "vars", "dir") and not node.args and node in own
            whole = local or called == "globals"
        else:
            whole = isinstance(node, ast.Attribute) and node.attr in ("__globals__", "f_globals")
        what = _looked_through(node)
        whole = whole or (what is not None and "__name__" in _written(what))
        if whole and isinstance(node, ast.expr) and _all_names(node, parents, names, classes):
            return node.lineno
    return None


def _looked_through(node: ast.AST) -> ast.expr | None:
    """What has the names that a node of the tree gives; None where it gives none."""
    if isinstance(node, ast.Attribute) and node.attr in _DICTIONARIES:
        return node.value
    if not isinstance(node, ast.Call):
        return None
    called, given = _last(node.func), {item.arg: item.value for item in node.keywords}
    what = node.args[0] if node.args else given.get("object")
    if called == "getattr" and len(node.args) > 1:
        return what if getattr(node.args[1], "value", None) in _DICTIONARIES else None
    if called not in _LOOKERS or any(_last(item) in _NO_MODULE for item in (*node.args[1:], *given.values())):
        return None
    return what


def listed_of(
    tree: ast.Module, called: Mapping[str, list[str]], names: Mapping[str, Iterable[str]]
) -> Iterator[tuple[str, int]]:
    """Modules whose names another one looks through, finding one that is new: (path, line). `called` is what `modules`
    gives; `names` are the new ones of a path. Where the names of a variable are looked through, it is every module that
    the text keeps or hands on."""
    variables = _variables(tree)
    every = {name for added in names.values() for name in added}
    parents = _parents(tree)
    classes = _classes(parents)
    unknown: list[int] = []
    for node in parents:
        if not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.Name) and node.id in ("dir", "vars") and _handed_on(node, parents):
            unknown.append(node.lineno)
            continue
        what = _looked_through(node)
        if what is not None:
            subject = _written(what)
        elif isinstance(node, ast.Call) and _last(node.func) in ("run_module", "run_path"):
            subject = _written(node)
        elif isinstance(node, ast.Attribute) and node.attr == "__globals__":
            value = _written(node.value)
            subject = value.rpartition(".")[0] or f"{value}."
        else:
            continue
        if subject not in called and _may_be_a_module(what, variables) and _all_names(node, parents, every, classes):
            unknown.append(node.lineno)
        for path in called.get(subject, ()):
            if _all_names(node, parents, names[path], classes):
                yield path, node.lineno
    for path in sorted(_values(parents, called, names)) if unknown else ():
        yield path, min(unknown)


def _may_be_a_module(node: ast.expr | None, variables: Collection[str]) -> bool:
    """Whether an expression that names no module of the tree may give one: what is kept in a variable, an attribute or
    a container, or what a call gives."""
    if isinstance(node, ast.Call):
        return _last(node.func) not in _OTHER and not _imported_by_name(node)
    if isinstance(node, ast.Subscript):
        return not _imported_by_name(node)
    if isinstance(node, ast.Attribute):
        if _long(node):
            return True
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        return node.attr != "__class__" and (not isinstance(root, ast.Name) or root.id in {*variables, "self", "cls"})
    return node.id in variables if isinstance(node, ast.Name) else node is not None


def _variables(tree: ast.Module) -> frozenset[str]:
    """Names that loops, parameters and assignments bind: they may hold a module."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return frozenset(stored | given) - {"self", "cls"}


def _handed_on(node: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> bool:
    above = parents.get(node)
    return isinstance(above, ast.Call) and node is not above.func


def _values(
    parents: Mapping[ast.AST, ast.AST], called: Mapping[str, list[str]], names: Mapping[str, Iterable[str]]
) -> set[str]:
    """Modules that are values in a text: kept, handed on, or named by their file. With `sys.modules` as a whole every
    one is."""
    found: set[str] = set()
    for node, above in parents.items():
        one = isinstance(above, ast.Subscript) or getattr(above, "attr", "") in _ONE_NAME
        if _sys_modules(node) and not one:
            return set(names)
        asked = isinstance(above, ast.Attribute | ast.Compare) or node is getattr(above, "func", None)
        if isinstance(above, ast.Call) and _last(above.func) in _OF_ONE and above.args[:1] == [node]:
            asked = True
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and not asked:
            found.update(called.get(_written(node), ()))
        found.update(_files_named(node, names))
    return found


def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


_DEEP = 60
"""Parts of a name: more than the folders of a tree."""


def _long(node: ast.AST) -> bool:
    """Whether an expression is a longer chain of attributes than any module's name."""
    for _ in range(_DEEP):
        if not isinstance(node, ast.Attribute):
            return False
        node = node.value
    return True


def _written(node: ast.AST) -> str:
    """An expression as it is written; empty where it is nested too deeply to be, or too long to name a module."""
    if _long(node):
        return ""
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _classes(parents: Mapping[ast.AST, ast.AST]) -> frozenset[str]:
    """The classes of a module that no metaclass makes: no module and no plain value is one of them."""
    return frozenset(node.name for node in parents if isinstance(node, ast.ClassDef) and not node.keywords) | {"type"}


def _all_names(
    node: ast.expr, parents: Mapping[ast.AST, ast.AST], names: Iterable[str], classes: frozenset[str]
) -> bool:
    """Whether more is asked of a dictionary or list of names than for names that are given, or that the code around it
    chooses so that none of `names` is among them; `classes` are what `_classes` gives."""
    above = parents.get(node)
    listed_ = isinstance(node, ast.Call) and _last(node.func) in _LISTERS
    if isinstance(above, ast.Expr) or (isinstance(above, ast.Subscript) and above.value is node and not listed_):
        return False
    if isinstance(above, ast.Attribute) and above.attr in _ONE_NAME:
        return False
    if isinstance(above, ast.Compare) and node is not above.left:
        return False
    if isinstance(above, ast.Call) and node is not above.func and _last(above.func) in _RUNS:
        return False
    if isinstance(above, ast.keyword) and above.arg in ("globals", "locals", "namespace", "globalns", "localns"):
        return False
    tests = list(_asked(node, parents))
    return not all(any(_leaves_out(test, wanted, name, classes, of) for test, wanted, of in tests) for name in names)


class _Subjects(NamedTuple):
    """What a loop over names calls one of them, and what of the module has that name, as they are written."""

    names: frozenset[str]
    values: frozenset[str]


def _asked(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> Iterator[tuple[ast.expr, bool, _Subjects]]:
    """The tests of the loops that go through the names `node` gives, and what each is to answer of a name taken."""
    pairs = isinstance(node, ast.Call) and _last(node.func).startswith("getmembers")
    of_values = False
    at: ast.AST = node
    while (above := parents.get(at)) is not None:
        if isinstance(above, ast.Attribute) and above.attr in ("items", "keys", "values", "copy"):
            pairs, of_values = pairs or above.attr == "items", of_values or above.attr == "values"
        elif isinstance(above, (ast.comprehension, ast.For)) and above.iter is at:
            of = _subjects(above.target, node, pairs, of_values)
            yield from ((test, wanted, of) for test, wanted in _tests(above))
            return
        elif not isinstance(above, ast.BinOp) and not (
            isinstance(above, ast.Call) and (above.func is at or _last(above.func) in _KEEP_EACH)
        ):
            return
        at = above


def _subjects(target: ast.expr, node: ast.expr, pairs: bool, of_values: bool) -> _Subjects:
    name, value = "", ""
    if pairs and isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2:
        name, value = (item.id if isinstance(item, ast.Name) else "" for item in target.elts)
    elif not pairs and isinstance(target, ast.Name):
        name, value = ("", target.id) if of_values else (target.id, "")
    values = {value} - {""}
    if name:
        own = ("globals()", "locals()", "vars()") if isinstance(node, ast.Call) and not node.args else ()
        values.add(f"{_written(node)}[{name}]")
        values.update(f"{whole}[{name}]" for whole in own)
        owner = node.value if isinstance(node, ast.Attribute) and node.attr == "__dict__" else None
        if isinstance(node, ast.Call) and node.args:
            owner = node.args[0]
        if owner is not None:
            whole = _written(owner)
            values |= {f"{whole}.__dict__[{name}]", f"vars({whole})[{name}]", f"getattr({whole}, {name})"}
            values.add(f"getattr({whole}, {name}, None)")
    return _Subjects(frozenset({name} - {""}), frozenset(values))


def _tests(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """What must be so, or not be so, of a name that is taken."""
    if isinstance(node, ast.comprehension):
        yield from ((test, True) for test in node.ifs)
    elif isinstance(node, ast.For):
        # `if ...: continue` at the start, or an `if` around all of it.
        rest = list(node.body)
        while rest and isinstance(rest[0], ast.If) and not rest[0].orelse and isinstance(rest[0].body[0], ast.Continue):
            yield rest.pop(0).test, False  # type: ignore[attr-defined]
        if len(rest) == 1 and isinstance(rest[0], ast.If) and not rest[0].orelse:
            yield rest[0].test, True


def _leaves_out(test: ast.expr, wanted: bool, name: str, classes: frozenset[str], of: _Subjects) -> bool:
    """Whether a name, of a module or a plain value, cannot pass a test that is to be `wanted`; `classes` are
    those of the file, of which neither is. A test of something else than `of` leaves out nothing."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _leaves_out(test.operand, not wanted, name, classes, of)
    if isinstance(test, ast.BoolOp):
        each = (_leaves_out(value, wanted, name, classes, of) for value in test.values)
        return any(each) if isinstance(test.op, ast.And) is wanted else all(each)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        equal = isinstance(test.ops[0], ast.Eq)
        first = isinstance(test.left, ast.Subscript) and _written(test.left.slice) in ("0", ":1")
        other = _written(test.comparators[0]).strip("'\"")
        first = first and _written(test.left.value) in of.names  # type: ignore[attr-defined]
        if first and isinstance(test.ops[0], ast.Eq | ast.NotEq) and len(other) == 1:
            return (name[0] == other) is not (equal is wanted)
    if not isinstance(test, ast.Call):
        return False
    asked = _last(test.func)
    of_name = isinstance(test.func, ast.Attribute) and _written(test.func.value) in of.names
    if of_name and asked in ("startswith", "endswith") and test.args:
        try:
            given = ast.literal_eval(test.args[0])
            answer = name.startswith(given) if asked == "startswith" else name.endswith(given)
        except (ValueError, TypeError):
            return False
        return answer is not wanted
    if of_name and asked in ("islower", "isupper"):
        return (name.islower() if asked == "islower" else name.isupper()) is not wanted
    of_type = asked == "isinstance" and len(test.args) == 2 and _written(test.args[1]) in classes
    of_value = bool(test.args) and _written(test.args[0]) in of.values
    return wanted and of_value and (asked in _NO_MODULE or of_type)

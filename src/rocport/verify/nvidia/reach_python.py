"""Whether Python, run or packaged on NVIDIA, would pick up a new file: an import, a listing, package discovery."""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocport.verify.nvidia.data import read_ini
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal, specific

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MAX_VALUES = 16
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]|import[ \t]+([\w., \t]+))", re.MULTILINE)


def parsed(data: bytes) -> ast.Module | None:
    """The syntax tree of a module; None where this Python cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def last_part(node: ast.expr) -> str:
    """The last name of an expression, `join` of `os.path.join`; empty for one that ends in none."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def imported(tree: ast.AST) -> list[tuple[int, str, int]]:
    """Imports of a module: (level, dotted name, line). `from a import b` gives `a` and `a.b`."""
    found: list[tuple[int, str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.append((0, alias.name, node.lineno))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.append((node.level, module, node.lineno))
            for alias in node.names:
                found.append((node.level, f"{module}.{alias.name}".lstrip("."), node.lineno))
    return found


def top_names(data: bytes) -> set[str]:
    """Top-level names that a module seems to import: fast, and never too few."""
    found: set[str] = set()
    for match in _IMPORT.finditer(data):
        text = (match.group(1) or match.group(2)).decode()
        for part in text.split(","):
            word = part.strip().split(" ")[0]
            if word and not word.startswith("."):
                found.add(word.split(".")[0])
    return found


def import_targets(importer: str, level: int, name: str) -> list[str]:
    """Paths without suffix that an import could name, relative to the root of the tree."""
    folder = posixpath.dirname(importer)
    if level:
        parts = folder.split("/") if folder else []
        if level - 1 > len(parts):
            return []
        base = "/".join(parts[: len(parts) - (level - 1)])
        return [posixpath.join(base, name.replace(".", "/")).rstrip("/")] if name else [base]
    path = name.replace(".", "/")
    return list(dict.fromkeys([path, f"src/{path}", f"python/{path}", posixpath.join(folder, path)]))


# Listings of folders.

_LISTINGS = frozenset(
    ["glob", "iglob", "rglob", "listdir", "scandir", "walk", "fwalk", "iter_modules", "walk_packages", "iterdir"]
)
LISTS = re.compile(rb"\b(?:i?glob|rglob|listdir|scandir|f?walk|iter_modules|walk_packages|iterdir)\b")


@dataclass(frozen=True)
class Listing:
    """A call that lists files: patterns relative to the root of the tree, and whether it goes below folders."""

    line: int
    patterns: Sequence[str]
    deep: bool
    suffixes: frozenset[str]
    """Endings the code around it asks for; empty when it does not ask."""

    def finds(self, path: str, folders: frozenset[str]) -> bool | None:
        """Whether it finds a new path. None: it could, as far as can be read. `folders` are those of the original:
        what is unknown in a pattern cannot be a folder that did not exist."""
        if self.suffixes and not path.endswith(tuple(self.suffixes)):
            return False
        maybe = False
        for pattern in self.patterns:
            if not matcher(pattern, self.deep).match(path):
                continue
            if UNKNOWN not in pattern:
                return True
            if not self.deep and "**" not in pattern and posixpath.dirname(path) not in folders:
                continue
            maybe = maybe or specific(pattern) or bool(self.suffixes)
        return None if maybe else False


def listings(path: str, tree: ast.Module) -> Iterator[Listing]:
    """Every call of a module that lists files, as far as its pattern can be read."""
    values = _Values(path, tree)
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        suffixes = frozenset(_suffixes(scope))
        for node in _own_calls(scope):
            name = last_part(node.func)
            if name not in _LISTINGS:
                continue
            deep = name in ("rglob", "walk", "fwalk", "walk_packages")
            patterns = list(_patterns(name, node, values))
            # Relative to where the script runs: the root of the tree, or its own folder.
            patterns += [posixpath.join(posixpath.dirname(path), item) for item in patterns if UNKNOWN not in item]
            yield Listing(node.lineno, list(dict.fromkeys(map(normal, patterns))), deep, suffixes)


def _own_calls(scope: ast.AST) -> Iterator[ast.Call]:
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo += ast.iter_child_nodes(node)


def _suffixes(scope: ast.AST) -> Iterator[str]:
    for node in _own_calls(scope):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "endswith" and node.args:
            for item in ast.walk(node.args[0]):
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value


def _patterns(name: str, node: ast.Call, values: _Values) -> Iterator[str]:
    arguments = node.args
    method = isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id in ("glob", "os", "pkgutil")
    )
    if name in ("listdir", "scandir", "walk", "fwalk", "iter_modules", "walk_packages"):
        if not arguments:
            if name in ("listdir", "scandir"):
                yield "*"
            elif name == "walk" and isinstance(node.func, ast.Attribute):
                # Path.walk: https://docs.python.org/3/library/pathlib.html#pathlib.Path.walk
                yield from (posixpath.join(folder, "*") for folder in values.of(node.func.value))
            return
        tail = "*.py" if name.endswith(("modules", "packages")) else "*"
        for folder in values.of(arguments[0]):
            yield posixpath.join(folder, tail)
    elif name == "iterdir" and isinstance(node.func, ast.Attribute):
        for folder in values.of(node.func.value):
            yield posixpath.join(folder, "*")
    elif arguments:
        tails = values.of(arguments[0])
        if method and isinstance(node.func, ast.Attribute) and name in ("glob", "rglob"):
            for folder in values.of(node.func.value):
                for tail in tails:
                    yield posixpath.join(folder, f"**/{tail}" if name == "rglob" else tail)
        else:
            yield from tails


class _Values:
    """What a path expression can be, from the constants of a module; unknown text as UNKNOWN."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.bound: dict[str, list[ast.expr]] = {}
        self.looking: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.bound.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                items = node.iter.elts if isinstance(node.iter, ast.List | ast.Tuple | ast.Set) else [node.iter]
                found = items if isinstance(node.iter, ast.List | ast.Tuple | ast.Set) else [ast.Constant(UNKNOWN)]
                self.bound.setdefault(node.target.id, []).extend(found)

    def of(self, node: ast.expr) -> list[str]:
        found = self._of(node)
        return list(dict.fromkeys(found))[:_MAX_VALUES] or [UNKNOWN]

    def _of(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else [UNKNOWN]
        if isinstance(node, ast.Name):
            if node.id == "__file__":
                return [self.path]
            if node.id == "__path__":
                return [posixpath.dirname(self.path)]
            if node.id not in self.bound or node.id in self.looking:
                return [UNKNOWN]
            self.looking.add(node.id)
            found = [value for item in self.bound[node.id] for value in self.of(item)]
            self.looking.discard(node.id)
            return found
        if isinstance(node, ast.JoinedStr):
            return self._joined(list(node.values))
        if isinstance(node, ast.FormattedValue):
            return self.of(node.value)
        if isinstance(node, ast.List | ast.Tuple):
            return [value for item in node.elts for value in self.of(item)]
        if isinstance(node, ast.IfExp):
            return [*self.of(node.body), *self.of(node.orelse)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [a + b for a in self.of(node.left) for b in self.of(node.right)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return [posixpath.join(a, b) for a in self.of(node.left) for b in self.of(node.right)]
        if isinstance(node, ast.Attribute):
            if node.attr == "parent":
                return [self._parent(value) for value in self.of(node.value)]
            if node.attr == "curdir":
                return ["."]
            if node.attr == "__file__":
                return [UNKNOWN]
            return [posixpath.dirname(self.path)] if node.attr == "__path__" else [UNKNOWN]
        if isinstance(node, ast.Subscript):
            whole = self.of(node.value)
            return whole if isinstance(node.value, ast.Name) and node.value.id == "__path__" else [UNKNOWN]
        if isinstance(node, ast.Call):
            return self._call(node)
        return [UNKNOWN]

    def _joined(self, items: Sequence[ast.expr]) -> list[str]:
        found = [""]
        for item in items:
            found = [head + tail for head in found for tail in self.of(item)][:_MAX_VALUES]
        return found

    def _call(self, node: ast.Call) -> list[str]:
        name = last_part(node.func)
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "join" and len(node.args) >= 1 and not isinstance(inner, ast.Constant):
            found = self.of(node.args[0])
            for item in node.args[1:]:
                found = [posixpath.join(a, b) for a in found for b in self.of(item)][:_MAX_VALUES]
            return found
        if name in ("abspath", "realpath", "normpath", "str", "fspath", "expanduser") and node.args:
            return self.of(node.args[0])
        if name in ("Path", "PurePath", "PosixPath"):
            if not node.args:
                return [""]
            found = self.of(node.args[0])
            for item in node.args[1:]:
                found = [posixpath.join(a, b) for a in found for b in self.of(item)][:_MAX_VALUES]
            return found
        if name == "dirname" and node.args:
            return [self._parent(value) for value in self.of(node.args[0])]
        if name in ("resolve", "absolute", "as_posix") and inner is not None:
            return self.of(inner)
        if name == "joinpath" and inner is not None:
            found = self.of(inner)
            for item in node.args:
                found = [posixpath.join(a, b) for a in found for b in self.of(item)][:_MAX_VALUES]
            return found
        return [UNKNOWN]

    @staticmethod
    def _parent(value: str) -> str:
        return UNKNOWN if value.rpartition("/")[2] == UNKNOWN else posixpath.dirname(value)


# Package discovery. Source of the rules: https://setuptools.pypa.io/en/latest/userguide/package_discovery.html

_FLAT_EXCLUDED = frozenset(
    [
        "ci",
        "bin",
        "debian",
        "doc",
        "docs",
        "documentation",
        "manpages",
        "news",
        "newsfragments",
        "changelog",
        "test",
        "tests",
        "unit_test",
        "unit_tests",
        "example",
        "examples",
        "scripts",
        "tools",
        "util",
        "utils",
        "python",
        "build",
        "dist",
        "venv",
        "env",
        "requirements",
        "tasks",
        "fabfile",
        "site_scons",
        "benchmark",
        "benchmarks",
        "exercise",
        "exercises",
        "htmlcov",
    ]
)
_FLAT_MODULES_EXCLUDED = frozenset(
    [
        "setup",
        "conftest",
        "test",
        "tests",
        "example",
        "examples",
        "build",
        "toxfile",
        "noxfile",
        "pavement",
        "dodo",
        "tasks",
        "fabfile",
        "conanfile",
        "manage",
        "benchmark",
        "benchmarks",
        "exercise",
        "exercises",
    ]
)


@dataclass(frozen=True)
class Discovery:
    """One way the packages of a distribution are found: below `where`, by name patterns."""

    how: str
    where: str
    include: Sequence[str]
    exclude: Sequence[str]
    namespaces: bool
    path: str
    line: int

    def finds(self, folder: str, packages: frozenset[str]) -> bool:
        """Whether a new folder is found as a package. `packages` are the folders with an `__init__.py`."""
        where = f"{self.where}/" if self.where else ""
        if not folder.startswith(where) or folder == self.where:
            return False
        parts = folder[len(where) :].split("/")
        if not all(part.isidentifier() for part in parts):
            return False
        if not self.namespaces:
            chain = [where + "/".join(parts[: count + 1]) for count in range(len(parts))]
            if not all(item in packages for item in chain):
                return False
        name = ".".join(parts)
        included = any(fnmatch.fnmatchcase(name, pattern) for pattern in self.include)
        return included and not any(fnmatch.fnmatchcase(name, pattern) for pattern in self.exclude)


def discoveries(
    setup: Mapping[str, ast.Module], setup_cfg: Mapping[str, Mapping[str, Mapping[str, str]]], pyproject: bytes | None
) -> Iterator[Discovery]:
    """How the distribution at the root finds its packages. `setup`: `setup.py` by path, off ROCm."""
    explicit = False
    for path, tree in setup.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in ("packages", "py_modules"):
                explicit = True
            if not isinstance(node, ast.Call):
                continue
            name = last_part(node.func)
            if name in ("find_packages", "find_namespace_packages"):
                given: dict[str, Any] = dict(zip(("where", "exclude", "include"), node.args, strict=False))
                given |= {item.arg: item.value for item in node.keywords if item.arg}
                yield Discovery(
                    name,
                    normal((_strings(given.get("where")) or [""])[0]),
                    _strings(given.get("include")) or ["*"],
                    _strings(given.get("exclude")),
                    name == "find_namespace_packages",
                    path,
                    node.lineno,
                )
    for path, sections in setup_cfg.items():
        options = sections.get("options", {})
        explicit = explicit or "packages" in options or "py_modules" in options
        value = options.get("packages", "").strip()
        if value in ("find:", "find_namespace:"):
            find = sections.get("options.packages.find", {})
            where = normal(find.get("where", "").strip())
            include, exclude = (find.get(key, "").replace(",", "\n").split() for key in ("include", "exclude"))
            yield Discovery(f"packages = {value}", where, include or ["*"], exclude, "namespace" in value, path, 0)
    if pyproject is None:
        return
    try:
        body = tomllib.loads(pyproject.decode("utf-8"))
    except (ValueError, RecursionError):
        return
    backend = str(body.get("build-system", {}).get("build-backend", "setuptools"))
    if not backend.startswith("setuptools"):
        return
    tool = body.get("tool", {}).get("setuptools", {})
    packages = tool.get("packages")
    if isinstance(packages, dict) and "find" in packages:
        find = packages["find"]
        for where in find.get("where", ["."]):
            yield Discovery(
                "tool.setuptools.packages.find",
                normal(where),
                find.get("include", ["*"]),
                find.get("exclude", []),
                bool(find.get("namespaces", True)),
                "pyproject.toml",
                0,
            )
    elif packages is None and "py-modules" not in tool and not explicit and "project" in body:
        yield Discovery("automatic discovery", "", ["*"], [], True, "pyproject.toml", 0)


def found_automatically(folder: str, has_src: bool) -> bool:
    """Whether setuptools' automatic discovery takes a new folder for a package."""
    parts = folder.split("/")
    if has_src:
        return parts[0] == "src" and len(parts) > 1 and all(part.isidentifier() for part in parts[1:])
    return all(part.isidentifier() for part in parts) and parts[0] not in _FLAT_EXCLUDED and parts[0][0] not in "._"


def module_found_automatically(path: str) -> bool:
    """Whether automatic discovery takes a new file at the root for a module of the distribution."""
    stem, dot, suffix = path.partition(".")
    return dot + suffix == ".py" and stem[0] not in "._" and stem not in _FLAT_MODULES_EXCLUDED


def _strings(node: ast.expr | None) -> list[str]:
    if node is None:
        return []
    return [item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]


def py_modules(files: Mapping[str, bytes]) -> frozenset[str]:
    """Modules that setup.py, setup.cfg or pyproject.toml name one by one."""
    found: set[str] = set()
    if "setup.py" in files:
        try:
            tree = ast.parse(files["setup.py"])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "py_modules":
                found.update(_strings(node.value))
    cfg = read_ini(files.get("setup.cfg", b"")) or {}
    found.update(cfg.get("options", {}).get("py_modules", "").replace(",", "\n").split())
    try:
        body = tomllib.loads(files.get("pyproject.toml", b"").decode("utf-8"))
    except (ValueError, RecursionError):
        body = {}
    named = body.get("tool", {}).get("setuptools", {}).get("py-modules", [])
    found.update(name for name in named if isinstance(name, str))
    return frozenset(found)


def packages_of(paths: Iterable[str]) -> frozenset[str]:
    """Folders with an `__init__.py`."""
    return frozenset(posixpath.dirname(path) for path in paths if path.rpartition("/")[2] == "__init__.py")

"""Where the generated `_rocm_compat.py` of a Python file lies, and how the file imports it.

The import has to work wherever the file worked before: as part of its package, as a script, under a test runner.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rocport.port.compat import FILE, MODULE, is_generated

_IMPORTED = re.compile(
    rb"^[ \t]*(?:import[ \t]+([\w.]+)|from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*))", re.MULTILINE
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_PY_MODULES = re.compile(rb"py_modules\s*=\s*\[([^\]]*)\]")


def imported_modules(data: bytes) -> frozenset[str]:
    """Dotted names a Python file imports, read by line: for `from a import b` both `a` and `a.b`."""
    found: set[str] = set()
    for module, base, names in _IMPORTED.findall(data):
        dotted = (module or base).decode("ascii", "replace")
        found.add(dotted)
        found.update(f"{dotted}.{name}" for name in _NAME.findall(names.decode("ascii", "replace")))
    return frozenset(found)


@dataclass(frozen=True)
class Place:
    """`file` is the generated module's path in the tree, `statement` the line that imports it, and `behind` the top
    package the file imports before that line (empty: no matter)."""

    file: str
    statement: str
    behind: str = ""


@dataclass(frozen=True)
class Places:
    """The Python files of a tree, with every dotted name some file imports and the folders of the files that do."""

    files: frozenset[str]
    imported: Mapping[str, frozenset[str]] = field(default_factory=dict)
    foreign: frozenset[str] = field(default_factory=frozenset)
    """Files of the generated module's name that somebody else wrote."""
    py_modules: frozenset[str] = field(default_factory=frozenset)
    """Modules of the root that setup.py names one by one."""

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Places:
        """From the Python files of a tree and their bytes."""
        imported: dict[str, set[str]] = {}
        for path, data in files.items():
            for name in imported_modules(data):
                imported.setdefault(name, set()).add(path)
        foreign = {path for path, data in files.items() if posixpath.basename(path) == FILE and not is_generated(data)}
        named = _PY_MODULES.search(files.get("setup.py", b""))
        modules = _NAME.findall(named[1].decode("ascii", "replace")) if named else []
        return cls(
            frozenset(files),
            {name: frozenset(paths) for name, paths in imported.items()},
            frozenset(foreign),
            frozenset(modules),
        )

    def places(self, path: str, tree: ast.Module) -> list[Place] | str:
        """One module a top-level package, or beside the file where there is no package: places to try, best first. A
        text says why there is none.

        A file that imports relatively goes on doing so, and so does a part of a package that is nothing else. One that
        imports a package of the tree by name can take the module from there, behind that import. A script finds it
        beside itself. Where a file is both, part of a package and run by itself, only its own imports tell what works.
        """
        folder = posixpath.dirname(path)
        top, levels = self._top(folder)
        relative = Place(posixpath.join(top or folder, FILE), f"from .{'.' * levels} import {MODULE}")
        if any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)):
            return self._free([relative])
        found = [
            Place(posixpath.join(where, FILE), f"from {package} import {MODULE}", package)
            for package in self._by_name(tree, posixpath.basename(top))
            if (where := self._package(package, top))
        ]
        reason = ""
        if top:
            if _runs_itself(tree) or self._imported_alone(path):
                reason = "it is part of a package and also run or imported without it: no import works in both"
            else:
                found.insert(0, relative)
        elif self._imported_with_folder(path):
            reason = "other files import it through its folder, which is no package: no import of a new module is sure"
        elif not folder and posixpath.basename(path).removesuffix(".py") in self.py_modules:
            reason = f"setup.py names the modules it installs one by one; add {MODULE} there and gate this by hand"
        else:
            found.append(Place(posixpath.join(folder, FILE), f"import {MODULE}"))
        return self._free(found) if found else reason

    def _free(self, found: list[Place]) -> list[Place] | str:
        free = [place for place in found if place.file not in self.foreign]
        return free or f"{found[0].file} is there already and not rocport's; rename one of them"

    def _is_package(self, folder: str) -> bool:
        return bool(folder) and f"{folder}/__init__.py" in self.files

    def _top(self, folder: str) -> tuple[str, int]:
        """(the top package a folder lies in, levels between); empty outside of one."""
        if not self._is_package(folder):
            return "", 0
        levels = 0
        while self._is_package(posixpath.dirname(folder)):
            folder = posixpath.dirname(folder)
            levels += 1
        return folder, levels

    def _by_name(self, tree: ast.Module, own: str) -> list[str]:
        """Top packages a file imports by name at module level, its own first."""
        found: list[str] = []
        for node in tree.body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [name.split(".")[0] for name in names]
        return sorted(dict.fromkeys(found), key=lambda name: name != own)

    def _package(self, name: str, own: str) -> str:
        """The folder of a top package of that name; empty when the tree has none or several."""
        folders = {
            path.removesuffix("/__init__.py")
            for path in self.files
            if path == f"{name}/__init__.py" or path.endswith(f"/{name}/__init__.py")
        }
        folders = {folder for folder in folders if not self._is_package(posixpath.dirname(folder))}
        if own in folders:
            return own
        return folders.pop() if len(folders) == 1 else ""

    def _imported_alone(self, path: str) -> bool:
        """True when a file beside this one imports it by its bare name, as scripts of a folder do."""
        stem, folder = posixpath.basename(path).removesuffix(".py"), posixpath.dirname(path)
        return any(
            posixpath.dirname(importer) == folder and importer != path for importer in self.imported.get(stem, ())
        )

    def _imported_with_folder(self, path: str) -> bool:
        parts = path.removesuffix(".py").split("/")
        return any(".".join(parts[start:]) in self.imported for start in range(len(parts) - 1))


def _runs_itself(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.If)
        and any(isinstance(inner, ast.Name) and inner.id == "__name__" for inner in ast.walk(node.test))
        for node in tree.body
    )


def import_offset(data: bytes, tree: ast.Module, behind: str = "") -> int | None:
    """Byte offset at which the import line goes: behind the module's first imports, and behind the one of `behind`.

    A file without imports at its top gets the line behind its docstring; comments directly above the first statement
    stay with it, unless they are the head of the file (a licence, an encoding), which stays on top. None where no line
    is free for it, or the name is used before.
    """
    starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", data))]
    told = ast.get_docstring(tree, clean=False) is not None
    first = last = 1 if told else 0
    while last < len(tree.body) and isinstance(tree.body[last], (ast.Import, ast.ImportFrom)):
        last += 1
    if behind:
        last = max(last, next((at + 1 for at, node in enumerate(tree.body) if _loads(node, behind)), 0))
    if any(isinstance(inner, ast.Name) and inner.id == MODULE for node in tree.body[:last] for inner in ast.walk(node)):
        return None
    end: int = (tree.body[last - 1].end_lineno or 0) if last else 0
    line = _line_of(tree.body[last]) if last < len(tree.body) else len(starts) + 1
    if line <= end:
        return None
    if last > first or last == len(tree.body):
        return starts[end] if end < len(starts) else len(data)
    top = line - 1
    while top > end and data[starts[top - 1] : starts[top]].lstrip().startswith(b"#"):
        top -= 1
    if last == 0 and top == 0:
        top = line - 1
    return max(starts[top], 3 if data.startswith(b"\xef\xbb\xbf") else 0)


def _loads(node: ast.stmt, package: str) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
    return any(name.split(".")[0] == package for name in names)


def _line_of(node: ast.stmt) -> int:
    """The first line of a statement, decorators included; lines count from 1."""
    line: int = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    return line

"""Where the generated `_rocm_compat.py` of a Python file lies, and how the file imports it."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rocport.port.compat import FILE, MODULE, is_generated

_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.MULTILINE)


def imported_modules(data: bytes) -> frozenset[str]:
    """Dotted names a Python file imports from, read by line."""
    return frozenset(match[1].decode("ascii", "replace") for match in _IMPORTED.finditer(data))


@dataclass(frozen=True)
class Place:
    """`file` is the generated module's path in the tree, `statement` the line that imports it."""

    file: str
    statement: str


@dataclass(frozen=True)
class Places:
    """The Python files of a tree, and every dotted name some file imports from."""

    files: frozenset[str]
    imported: frozenset[str] = field(default_factory=frozenset)
    foreign: frozenset[str] = field(default_factory=frozenset)
    """Files of the generated module's name that somebody else wrote."""

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Places:
        """From the Python files of a tree and their bytes."""
        imported: set[str] = set()
        for data in files.values():
            imported |= imported_modules(data)
        foreign = {path for path, data in files.items() if posixpath.basename(path) == FILE and not is_generated(data)}
        return cls(frozenset(files), frozenset(imported), frozenset(foreign))

    def place(self, path: str, tree: ast.Module) -> Place:
        """One module a top-level package; beside the file where there is no package.

        A file in a package imports relatively, as its own imports do, or from the package by name when it has none
        and is meant to be run (`__main__`). A folder without `__init__.py` counts as a package where another file
        imports it by its dotted name, or the file itself imports relatively.
        """
        folder = posixpath.dirname(path)
        levels = 0
        top = folder
        if self._is_package(folder):
            while posixpath.dirname(top) and self._is_package(posixpath.dirname(top)):
                top = posixpath.dirname(top)
                levels += 1
            name = posixpath.basename(top)
            relative = f"from .{'.' * levels} import {MODULE}"
            absolute = f"from {name} import {MODULE}"
            runs = not _is_relative(tree) and _runs_itself(tree) and name.isidentifier()
            return Place(posixpath.join(top, FILE), absolute if runs else relative)
        beside = posixpath.join(folder, FILE)
        if _is_relative(tree):
            return Place(beside, f"from . import {MODULE}")
        package = self._namespace(path)
        return Place(beside, f"from {package} import {MODULE}" if package else f"import {MODULE}")

    def _is_package(self, folder: str) -> bool:
        return bool(folder) and f"{folder}/__init__.py" in self.files

    def _namespace(self, path: str) -> str:
        """The longest dotted folder some file imports this one from; empty when none does."""
        parts = path.removesuffix(".py").split("/")
        for start in range(len(parts) - 1):
            package, module = ".".join(parts[start:-1]), ".".join(parts[start:])
            if module in self.imported or package in self.imported:
                return package
        return ""


def _is_relative(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


def _runs_itself(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.If)
        and any(isinstance(inner, ast.Name) and inner.id == "__name__" for inner in ast.walk(node.test))
        for node in tree.body
    )


def import_offset(data: bytes, tree: ast.Module) -> int | None:
    """Byte offset at which the import line goes: after the module's docstring and `__future__` imports.

    Comments directly above the first statement stay with it, unless they are the head of the file (a licence, an
    encoding), which stays on top. None where no line is free for it: code on the line of the docstring.
    """
    starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", data))]
    skipped = 0
    for node in tree.body:
        documentation = skipped == 0 and ast.get_docstring(tree, clean=False) is not None
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not documentation and not future:
            break
        skipped += 1
    if skipped == len(tree.body):
        return len(data)
    first = tree.body[skipped]
    line: int = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", ()))]) - 1
    head: int = (tree.body[skipped - 1].end_lineno or 0) if skipped else 0
    if line < head:
        return None
    top = line
    while top > head and data[starts[top - 1] : starts[top]].lstrip().startswith(b"#"):
        top -= 1
    if skipped == 0 and top == 0:
        top = line
    return max(starts[top], 3 if data.startswith(b"\xef\xbb\xbf") else 0)

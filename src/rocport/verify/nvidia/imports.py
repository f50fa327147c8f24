"""Where the generated module lies, and whether the import a port adds finds it wherever the original ran."""

from __future__ import annotations

import ast
import bisect
import os
import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cached_property

from rocport.verify.nvidia import reach_python
from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.model import Difference, Kind
from rocport.verify.nvidia.python import CODE
from rocport.verify.nvidia.python_fold import Folded, Resolve
from rocport.verify.nvidia.tree import Tree

_BUILD_SCRIPTS = frozenset(("setup.py", "conanfile.py", "conf.py"))
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+(\w[.\w]*)[ \t]+import[ \t]+([\w*]+)|import[ \t]+(\w[.\w]*))", re.MULTILINE)

_RUNS_OR_COPIES = re.compile(r"\bexec\(|execfile\(|run_path\(|\bcopy(?:file|2|tree)?\(|\bmove\(")
_INSTALLS = re.compile(
    r"\binstall\s*\(|configure_file\s*\(|file\s*\(\s*(?:COPY|INSTALL)|install_sources|copy", re.IGNORECASE
)
_COMMAND = re.compile(r"^[ \t]*\w+[ \t]*\(", re.MULTILINE)
_Imports = list[tuple[int, str, int]]
"""Imports of a module: (level, dotted name, line)."""
_Say = Callable[[ast.stmt, str, str], None]


class Places:
    """The generated modules of a tree."""

    def __init__(self, new: Tree, old: Tree, generated: frozenset[str]) -> None:
        self.new = new
        self.old = old
        self.generated = generated

    def resolver(self, importer: str) -> Resolve:
        """What `_rocm_compat` an import of this file means; see `python_fold.Resolve`."""

        def resolve(level: int, module: str, name: str) -> str | None:
            dotted = f"{module}.{name}" if module and name else module or name
            if not level and not module:
                return None
            for path in self._candidates(importer, level, dotted):
                if path in self.generated:
                    return path
            return None

        return resolve

    def _candidates(self, importer: str, level: int, dotted: str) -> Iterator[str]:
        path = dotted.replace(".", "/") + ".py"
        folder = posixpath.dirname(importer)
        if level:
            parts = folder.split("/") if folder else []
            if level - 1 <= len(parts):
                yield posixpath.join("/".join(parts[: len(parts) - (level - 1)]), path)
            return
        if "." not in dotted:
            yield posixpath.join(folder, path)
            return
        for known in sorted(self.generated):
            # The package must be a top one: what holds it is no package itself.
            if (known == path or known.endswith(f"/{path}")) and not self._is_package(known[: -len(path)].rstrip("/")):
                yield known

    def _is_package(self, folder: str) -> bool:
        return (f"{folder}/__init__.py" if folder else "__init__.py") in self.new

    def check(self, path: str, ported: Folded, original: ast.Module) -> list[Difference]:
        """Whether each import of the generated module works wherever the original module did."""
        found: list[Difference] = []

        def say(node: ast.stmt, message: str, step: str) -> None:
            found.append(Difference(Kind.DIFFERENCE, CODE, path, node.lineno, 0, message, step))

        imports = reach_python.imported(original)
        for node, place in ported.imports:
            if path.rpartition("/")[2] in _BUILD_SCRIPTS and not self._imports_beside(path, imports):
                message = "a build script is run where the tree is not importable: this import fails there"
                say(node, message, "ask torch.version.hip in the file itself")
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            module = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            if relative:
                self._relative(path, node, original, imports, say)
            elif "/" not in place or posixpath.dirname(place) == posixpath.dirname(path):
                if "." not in module and isinstance(node, ast.Import):
                    self._beside(path, node, say)
                else:
                    self._absolute(path, node, module, original, imports, say)
            else:
                self._absolute(path, node, module, original, imports, say)
            if where := self._taken_away(path):
                message = f"{where} runs or copies this file by its name: there the generated module is not found"
                say(node, message, "ask torch.version.hip in the file itself, or name the generated module there")
            if not self._shipped(path, place):
                message = f"{path} is a module the distribution names, {place} is not: installed, the import fails"
                say(node, message, "name the generated module beside it")
        return found

    def _relative(self, path: str, node: ast.stmt, original: ast.Module, imports: _Imports, say: _Say) -> None:
        folder = posixpath.dirname(path)
        own_relative = any(level > 0 for level, _, _ in imports)
        if not self._is_package(folder) and not own_relative:
            say(node, "a relative import in a folder that is no package fails", "import the module beside the script")
        elif not own_relative and _runs_as_script(original):
            message = "a relative import fails where the file is run as a script, which the original allows"
            say(node, message, "import the package by its name as the file does elsewhere")
        elif not own_relative and (where := self._imported_alone(path)):
            message = f"a relative import fails where the module is imported without its package, as in {where}"
            say(node, message, "import the package by its name")

    def _beside(self, path: str, node: ast.stmt, say: _Say) -> None:
        if self._is_package(posixpath.dirname(path)):
            message = "the module is in a package: imported as part of it, it does not find the module beside it"
            say(node, message, "import it from the package")
        elif where := self._imported_qualified(path):
            message = f"{where} imports this module from another folder: from there the module beside it is not found"
            say(node, message, "import it by the name the other file uses")

    def _absolute(
        self, path: str, node: ast.stmt, module: str, original: ast.Module, imports: _Imports, say: _Say
    ) -> None:
        package = module.split(".")[0]
        if any(not level and name.split(".")[0] == package for level, name, _ in imports):
            return
        if not self._is_inside(path, package):
            message = f"imports `{package}`, which the original module does not: importing a package runs its code"
            say(node, message, "put a generated module beside the script")
        elif not any(level > 0 for level, _, _ in imports):
            if _runs_as_script(original):
                message = f"the file can be run as a script, where `{package}` need not be importable"
                say(node, message, "import it in the way the file imports its package elsewhere")
            elif where := self._imported_alone(path):
                message = f"the module is imported without its package in {where}, where `{package}` may be missing"
                say(node, message, "import it in the way that file does")

    def _is_inside(self, path: str, package: str) -> bool:
        """Whether a module is part of a package, so that the package is imported before it. A folder without an
        `__init__.py` counts where all who import the module go through the package."""
        if self._package_of(path) == package:
            return True
        importers = self._imported.get(path.rpartition("/")[2].removesuffix(".py"), ())
        dotted = path.removesuffix(".py").replace("/", ".")
        ways = {name for name, importer in importers if dotted == name or dotted.endswith(f".{name}")}
        return bool(ways) and all(name.startswith(f"{package}.") for name in ways)

    def _package_of(self, path: str) -> str:
        """Name of the top package a file lies in; empty outside of one."""
        folder = posixpath.dirname(path)
        top = ""
        while folder and self._is_package(folder):
            top = folder.rpartition("/")[2]
            folder = posixpath.dirname(folder)
        return top

    def _imports_beside(self, path: str, imports: _Imports) -> bool:
        """Whether a script already imports a module of the tree that lies beside it."""
        folder = posixpath.dirname(path)
        for level, name, _ in imports:
            stem = posixpath.join(folder, name.split(".")[0])
            if not level and (f"{stem}.py" in self.old or f"{stem}/__init__.py" in self.old):
                return True
        return False

    @cached_property
    def _imported(self) -> dict[str, list[tuple[str, str]]]:
        """Last part of an absolute import -> (dotted name, the file that imports it), over the original."""
        found: dict[str, list[tuple[str, str]]] = {}
        for path in self.old.modes:
            if path.endswith(".py") and self.old.modes[path] in ("file", "exec"):
                for match in _IMPORT.finditer(self.old.data(path)):
                    module = (match.group(1) or match.group(3)).decode()
                    names = [module]
                    if match.group(2) and match.group(2) != b"*":
                        names.append(f"{module}.{match.group(2).decode()}")
                    for name in names:
                        found.setdefault(name.rpartition(".")[2], []).append((name, path))
        return found

    def _imported_alone(self, path: str) -> str:
        """A file beside this one that imports it by its bare name, as scripts of a folder do."""
        stem = path.rpartition("/")[2].removesuffix(".py")
        for name, importer in self._imported.get(stem, ()):
            if name == stem and posixpath.dirname(importer) == posixpath.dirname(path) and importer != path:
                return importer
        return ""

    def _imported_qualified(self, path: str) -> str:
        """A file that imports this one through its folder."""
        dotted = path.removesuffix(".py").replace("/", ".")
        stem = dotted.rpartition(".")[2]
        for name, importer in self._imported.get(stem, ()):
            if "." in name and (dotted == name or dotted.endswith(f".{name}")):
                return importer
        return ""

    def _shipped(self, path: str, place: str) -> bool:
        """Whether a distribution that names its modules one by one names the generated one too."""
        if "/" in path:
            return True
        named = self._py_modules
        return path.removesuffix(".py") not in named or place.removesuffix(".py") in named

    @cached_property
    def _py_modules(self) -> frozenset[str]:
        return reach_python.py_modules(
            {path: self.new.data(path) for path in ("setup.py", "setup.cfg", "pyproject.toml") if path in self.new}
        )

    @cached_property
    def _builders(self) -> list[tuple[str, str, bytes]]:
        """Files that build or install others: (path, kind, content)."""
        found: list[tuple[str, str, bytes]] = []
        for path in self.old.modes:
            name = path.rpartition("/")[2]
            kind = "python" if name == "setup.py" else language(path)
            if kind in ("cmake", "meson", "bazel") or name == "setup.py":
                found.append((path, kind, self.old.data(path)))
        return found

    def _taken_away(self, path: str) -> str:
        """What runs this file by its name, or copies it to where the generated module is not: file and line."""
        folder, _, name = path.rpartition("/")
        for builder, kind, content in self._builders:
            if os.fsencode(name) not in content or b"_rocm_compat" in content:
                continue
            text = content.decode("utf-8", errors="replace")
            if kind == "python" and not _RUNS_OR_COPIES.search(text):
                continue
            lines = text.split("\n")
            begun = [(found.end(), found.start()) for found in _COMMAND.finditer(text)] if kind == "cmake" else []
            for match in re.finditer(rf"(?<![\w.-])((?:[\w.-]+/)*){re.escape(name)}(?![\w.-])", text):
                line = text.count("\n", 0, match.start()) + 1
                whole = lines[line - 1]
                # The CMake command around the place, from its name on.
                at = bisect.bisect_right(begun, (match.start(), len(text)))
                start = begun[at - 1][1] if at else 0
                if kind == "cmake" and not _INSTALLS.search(text, start, match.start()):
                    continue
                beside = posixpath.dirname(builder)
                named = posixpath.normpath(posixpath.join(beside, match.group(1), name))
                if named == path or (match.group(1) and path.endswith(f"/{match.group(1)}{name}")):
                    return f"{builder}:{line}"
                parent = folder.rpartition("/")[2]
                if not match.group(1) and parent and re.search(rf"['\"]{re.escape(parent)}['\"]", whole):
                    return f"{builder}:{line}"
        return ""


def _runs_as_script(tree: ast.Module) -> bool:
    """Whether a module has a part for being run: `if __name__ == "__main__"`."""
    return any(
        isinstance(node, ast.If)
        and any(isinstance(item, ast.Name) and item.id == "__name__" for item in ast.walk(node.test))
        for node in tree.body
    )

"""New files of a port: nothing on the NVIDIA path may pick one up."""

from __future__ import annotations

import ast
import fnmatch
import os
import posixpath
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rocport.verify.nvidia import cfamily, cmake, data, listers, reach_build, reach_python
from rocport.verify.nvidia.by_name import BY_NAME, INSTALLED, TAKES_ALL, own_of_the_port
from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.model import Difference, Kind
from rocport.verify.nvidia.paths import normal
from rocport.verify.nvidia.python_scopes import deeper
from rocport.verify.nvidia.tokens import LexError
from rocport.verify.nvidia.tree import Tree

CODE = "nvidia-reachable"
_IN_OLD_FOLDERS = {
    "__init__.py": "the folder becomes a regular package",
    "__main__.py": "`python -m` runs it",
    **dict.fromkeys(("GNUmakefile", "makefile", "Makefile"), "make takes it before or instead of another"),
    **dict.fromkeys(("meson.build", "meson_options.txt", "meson.options"), "meson reads it"),
    "CMakeLists.txt": "cmake reads it",
    **dict.fromkeys((".gitattributes", ".gitignore"), "git and packaging read it"),
}
_LOADED = (".pth", ".so", ".pyd", ".dll", ".dylib", ".pyc")
_CI = re.compile(
    r"(?:^|/)(?:\.github/workflows|\.circleci|\.buildkite|\.gitlab)/.*\.ya?ml\Z|(?:^|/)\.gitlab-ci[^/]*\.ya?ml\Z"
)
_TEST = re.compile(r"(?:test_[^/]*|[^/]*_test)\.py\Z")
_TOUCHES = re.compile(
    rb"concurrency\s*:|actions/cache|\bcache\s*:|publish|\bdeploy|upload-artifact|write-all|workflow_run"
    rb"|:\s*write\b|push\s*:\s*true|auto-commit|gh-pages|\b(?:aws s3|gsutil|az storage|scp|anaconda upload)\b"
    rb"|codecov|coveralls|\bgh (?:pr|issue|api|workflow|run|release)\b|pull_request_target|secrets\.|self-hosted"
    rb"|git push|twine\b|docker push"
)
"""What a job could share with another, or change outside of itself."""
_JOB_NAME = re.compile(rb"(?m)^name\s*:[^\n]*")
_LONGEST_PATH = 220
"""Characters of a path: Windows takes 260, the folder of the checkout included."""
_NO_NAME = re.compile(r"(?i)\A(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z)|[. ]\Z|[<>:\"|?*\\\x00-\x1f\x7f]")
_COMPUTED = re.compile(rb"(?m)^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]")
_PYTHON_FILES = re.compile(r"python_files\s*=\s*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]*)*)")
_IMPORTS_BY_NAME = re.compile(rb"\bimport_module\b|\b__import__\b|\bresolve_name\b|\brun_module\b")
_MAY_BE_SETTINGS = ("json", "toml", "ini", "yaml", "other", "bazel", "requirements", "manifest")
_OWN_HEADER = re.compile(r"(?i)rocm|rocport|(?:^|[^a-z])(?:hip|amd)(?:[^a-z]|\Z)")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh", ".inl", ".inc", ".ipp", ".tpp", ".tcc")
_HEADER = re.compile(
    r"#[ \t]*(?:include(?:_next)?|import)[ \t]*[<\"]([^>\"\n]{1,999})[>\"]|__has_include[^(]{,99}\([<\"]([^>\"]{1,999})"
)


def _spelled(path: str) -> str:
    """What a file system that does not tell letters apart makes of a path."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def headers_named(content: bytes) -> list[str]:
    """What a source seems to include or ask for: never too few, comments and dead branches included."""
    text = content.decode("utf-8", errors="replace")
    return [item.group(1) or item.group(2) for item in _HEADER.finditer(text)]


def words_of(content: bytes) -> frozenset[bytes]:
    """The words of a text, as bytes tell letters."""
    return frozenset(re.findall(rb"\w+", content))


@dataclass
class Reach:
    """What is asked of the trees to see whether a new file is reached.

    `live_python`: path -> the module off ROCm, of files that changed; `hip_only`: files that NVIDIA does not build.
    """

    ported: Tree
    original: Tree
    new: tuple[str, ...]
    generated: frozenset[str]
    live_python: Mapping[str, ast.Module]
    live_bytes: Callable[[str], bytes]
    """Bytes of a file as far as it is read on NVIDIA: the original's where that is what it folds to."""
    hip_only: frozenset[str] = frozenset()
    found: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """The first of each path and message."""

    def run(self) -> list[Difference]:
        """Every way a new file is reached, or could be."""
        if self.new:
            for path in self.new:
                self._by_name(path)
            self._python()
            self._packages()
            self._builds()
            self._headers()
            self._named()
            self._listed()
            self._links()
            self._shown_by_links()
        return list(self.found.values())

    def _say(self, path: str, message: str, certain: bool | None = True, where: str = "", line: int = 0) -> None:
        """`certain` None: it cannot be decided."""
        kind = Kind.DIFFERENCE if certain else Kind.REVIEW if certain is not None else Kind.UNDECIDED
        if kind is Kind.UNDECIDED and path in self.generated:
            # The generated module does nothing when it is read or imported.
            kind = Kind.REVIEW
        place = f" ({where}:{line})" if where and line else f" ({where})" if where else ""
        step = "give it another name or folder" if certain else "see that the NVIDIA build does not use it"
        difference = Difference(kind, CODE, path, 0, 0, f"new file: {message}{place}", step)
        self.found.setdefault((path, difference.message), difference)

    @cached_property
    def _old_files(self) -> list[str]:
        """Files of the port that the original has too, and that are part of the NVIDIA build."""
        return [path for path in self.ported.modes if path in self.original and path not in self.hip_only]

    @cached_property
    def _folders(self) -> frozenset[str]:
        return self.original.folders

    @cached_property
    def _new_folders(self) -> list[str]:
        return sorted(self.ported.folders - self._folders)

    # By name.

    def _by_name(self, path: str) -> None:
        name = path.rpartition("/")[2]
        folder = posixpath.dirname(path)
        if name in BY_NAME:
            self._say(path, f"{BY_NAME[name]} by its name")
        elif name in _IN_OLD_FOLDERS and folder in self._folders:
            self._say(path, f"{_IN_OLD_FOLDERS[name]}")
        elif name.endswith(_LOADED):
            self._say(path, "a file of this kind is loaded, or runs, without being asked for")
        elif posixpath.basename(folder) == "__pycache__":
            self._say(path, "what compiles for Python (numba) takes what lies there for compiled before", None)
        elif _TEST.match(name):
            self._say(path, "pytest collects it by its name")
        elif _CI.search(path):
            self._job(path)
        elif name in ("Dockerfile", "Containerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yaml"):
            self._say(path, "container tools take it by its name", certain=False)
        elif name.endswith((".pyi", "py.typed")):
            # `x.pyi` is read in place of `x.py`; the other one says that a package's own types count.
            beside = path[:-1] in self.original or (name == "py.typed" and folder in self._folders) or self._loads_stubs
            self._say(path, "type checkers read it", None if beside else False)
        elif not own_of_the_port(path):
            hidden = any(part.startswith(".") for part in path.split("/"))
            where = "it is hidden" if hidden else "it lies at the root"
            self._say(path, f"{where}, where tools read files by their names, and is not named for ROCm")
        elif folder in self._folders and language(path) in _MAY_BE_SETTINGS and not _OWN_HEADER.search(name):
            message = "tools read settings and built files by their names, also from the folders above their sources"
            self._say(path, f"{message}, and it is not named for ROCm", None)
        elif "/" in path and (top := path.split("/")[0]) not in self._folders and not _OWN_HEADER.search(top):
            self._say(
                path, f"tools look for folders by their names at the root, and `{top}` is not named for ROCm", None
            )
        if name == "__init__.py" and f"{folder}.py" in self.original:
            self._say(path, f"Python takes its folder for the module, before `{folder}.py`")
        self._spelling(path)
        if any(part.endswith(INSTALLED) for part in folder.split("/")):
            self._say(path, "Python takes its folder for an installed distribution, and loads its entry points")
        for tool in TAKES_ALL:
            if tool.takes(path, self.original.children):
                self._say(path, f"{tool.tool} takes every file of its kind that lies there", None)
        if name.endswith(".pxd") and {f"{name[:-4]}.py", f"{name[:-4]}.pyx"} & self.original.children(folder):
            self._say(path, "Cython reads it beside the module of its name", None)
        if name.endswith(".py") and any(fnmatch.fnmatchcase(name, pattern) for pattern in self._test_patterns):
            self._say(path, "pytest collects it by the project's pattern")
        if (name.startswith("Find") and name.endswith(".cmake")) or name.endswith(("Config.cmake", "-config.cmake")):
            self._say(path, "`find_package` may find it by its name")

    @cached_property
    def _test_patterns(self) -> list[str]:
        """Patterns of pytest's option python_files, wherever the original sets it."""
        found: list[str] = []
        for path in self.original.modes:
            if path.endswith((".ini", ".cfg", ".toml")) and b"python_files" in self.original.data(path):
                text = self.original.data(path).decode("utf-8", errors="replace")
                for value in _PYTHON_FILES.findall(text):
                    found += [word for word in re.split(r"[\s,\[\]\"']+", value) if word]
        return found

    @cached_property
    def _loads_stubs(self) -> bool:
        """Whether a module of the original takes its names from a stub when it is imported (lazy_loader)."""
        return any(path.endswith(".py") and b"attach_stub" in self.original.data(path) for path in self.original.modes)

    def _job(self, path: str) -> None:
        """A new CI job: what it could do to the jobs that are there."""
        text = self.ported.data(path)
        if found := _TOUCHES.search(text):
            words = " ".join(found.group().decode("utf-8", errors="replace").split())
            self._say(path, f"a CI job that may touch others, or what they share: `{words}`", None)
        named = {match.group() for match in _JOB_NAME.finditer(text)}
        for other in self.original.modes:
            if _CI.search(other) and named & {match.group() for match in _JOB_NAME.finditer(self.original.data(other))}:
                self._say(path, "a CI workflow with the name of another", None, other)
        self._say(path, "a CI job: see what triggers it, and that it needs no NVIDIA machine", certain=False)

    def _spelling(self, path: str) -> None:
        """A path that is another one, or none, on some file system: a checkout there is not what it was."""
        parts = path.split("/")
        if len(path) > _LONGEST_PATH:
            self._say(
                path, f"its path has more than {_LONGEST_PATH} characters: Windows may not check the tree out", None
            )
        if any(_NO_NAME.search(part) for part in parts):
            self._say(path, "Windows cannot hold a file of that name: the tree cannot be checked out there", None)
        for size in range(1, len(parts) + 1):
            start = "/".join(parts[:size])
            twin = self._in_small_letters.get(_spelled(start), start)
            if twin != start:
                self._say(path, f"where case or composition of letters is not told apart it is `{twin}`", None)
                break

    @cached_property
    def _in_small_letters(self) -> dict[str, str]:
        return {_spelled(path): path for path in (*self.original.modes, *self.original.folders) if path}

    # Python.

    def _tree_of(self, path: str) -> ast.Module | None:
        if path in self.live_python:
            return self.live_python[path]
        return reach_python.parsed(self.ported.data(path))

    def _python(self) -> None:
        modules = {path for path in self.new if path.endswith(".py")}
        names: set[str] = {path.rpartition("/")[2].removesuffix(".py") for path in modules}
        names |= {folder.rpartition("/")[2] for folder in self._new_folders}
        for path in modules - self.generated:
            beside = path.removesuffix("/__init__.py").rpartition("/")[0]
            scripts = any(item.endswith(".py") for item in self.original.children(beside))
            if scripts and f"{beside}/__init__.py" not in self.original and not _OWN_HEADER.search(path[len(beside) :]):
                self._say(path, "beside scripts, it stands before an installed module of its name", None)
            top = path.split("/")[0].removesuffix(".py")
            if "/" not in path and top in sys.stdlib_module_names:
                self._say(path, f"it stands before the standard library's module `{top}`")
        for path in self._old_files:
            if not path.endswith(".py"):
                continue
            content = self.ported.data(path)
            words = reach_python.top_names(content) & names
            words |= {name for name in names if os.fsencode(name) in content}
            lists = reach_python.LISTS.search(content) is not None
            if modules - self.generated and _IMPORTS_BY_NAME.search(content) is not None:
                self._imports_by_name(path, modules - self.generated)
            if not words and not lists:
                continue
            tree = self._tree_of(path)
            if tree is None:
                continue
            if words:
                self._imports(path, tree, modules)
            if lists:
                self._listings(path, tree)

    def _imports(self, importer: str, tree: ast.Module, modules: set[str]) -> None:
        new_folders = set(self._new_folders)
        for level, name, line in reach_python.imported(tree):
            for target in reach_python.import_targets(importer, level, name):
                for path in (f"{target}.py", f"{target}/__init__.py"):
                    if path in modules and path not in self.generated:
                        self._say(path, f"`import {name}` finds it", where=importer, line=line)
                if target in new_folders and not level:
                    inside = next(item for item in self.new if item.startswith(f"{target}/"))
                    message = f"`import {name}` finds its folder `{target}` as a namespace package"
                    self._say(inside, message, where=importer, line=line)

    def _imports_by_name(self, importer: str, modules: set[str]) -> None:
        """Modules that a string of a module which imports by name could mean, or a name that is computed."""
        tree = self._tree_of(importer)
        if tree is None:
            return
        strings: dict[str, int] = {}
        computed: dict[str, int] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.setdefault(node.value.rpartition(".")[2], node.lineno)
            elif isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Constant):
                called = reach_python.last_part(node.func)
                if called in ("import_module", "__import__"):
                    computed[called] = node.lineno
        folder = posixpath.dirname(importer)
        for path in sorted(modules):
            module = path.removesuffix(".py").removesuffix("/__init__")
            beside = posixpath.dirname(path) in self._folders and (not folder or path.startswith(f"{folder}/"))
            if line := strings.get(module.rpartition("/")[2], 0):
                self._say(path, "a module of its name is imported by a string", None, importer, line)
            elif computed and beside:
                self._say(path, "a module whose name is computed may be it", None, importer, min(computed.values()))

    def _listings(self, path: str, tree: ast.Module) -> None:
        build = path.rpartition("/")[2] in ("setup.py", "build.py", "conanfile.py")
        for listing in reach_python.listings(path, tree):
            for item in (*self.new, *self._new_folders):
                found = listing.finds(item, self._folders)
                beside = posixpath.dirname(item) in self._folders and item in self.ported
                if found is False or (found is None and not build and not beside):
                    continue
                new = item if item in self.ported else next(one for one in self.new if one.startswith(f"{item}/"))
                # The generated module does nothing when it is imported: listed, it is to be looked at.
                certain = None if found is None else new not in self.generated
                self._say(new, "a listing of its folder finds it", certain, path, listing.line)

    def _packages(self) -> None:
        setups = {path: tree for path in ("setup.py",) if path in self.ported and (tree := self._tree_of(path))}
        sections = {}
        if "setup.cfg" in self.ported:
            read = data.read_ini(self.ported.data("setup.cfg"))
            sections = {"setup.cfg": read} if read else {}
        pyproject = self.ported.data("pyproject.toml") if "pyproject.toml" in self.ported else None
        packages = reach_python.packages_of(self.ported.modes)
        for discovery in reach_python.discoveries(setups, sections, pyproject):
            for folder in self._new_folders:
                inside = next(path for path in self.new if path.startswith(f"{folder}/"))
                if discovery.how == "automatic discovery":
                    found = reach_python.found_automatically(folder, "src" in self._folders)
                else:
                    found = discovery.finds(folder, packages)
                if found:
                    message = f"its folder `{folder}` is found as a package by {discovery.how}"
                    self._say(inside, message, where=discovery.path, line=discovery.line)
            if discovery.how == "automatic discovery" and "src" not in self._folders:
                for path in self.new:
                    if "/" not in path and reach_python.module_found_automatically(path):
                        self._say(path, "automatic discovery takes it for a module", where="pyproject.toml")
        self._package_data(setups, sections, pyproject)

    def _package_data(
        self, setups: Mapping[str, ast.Module], sections: Mapping[str, object], pyproject: bytes | None
    ) -> None:
        """Files that are installed along: a new one below a package that ships its data."""
        with deeper():
            texts = {path: ast.unparse(tree) for path, tree in setups.items()}
        texts |= {path: str(section) for path, section in sections.items()}
        texts["pyproject.toml"] = (pyproject or b"").decode("utf-8", errors="replace")
        packages = reach_python.packages_of(self.original.modes)
        for where, text in texts.items():
            if not re.search(r"package[-_]data", text):
                continue
            patterns = [item for item in re.findall(r"['\"]([^'\"\n]*)['\"]", text) if "*" in item and "." in item]
            for path in self.new:
                above = [folder for folder in packages if path.startswith(f"{folder}/")]
                for folder in above:
                    inner = path[len(folder) + 1 :]
                    if path.endswith(".py"):
                        continue
                    if any(reach_build.matches(pattern, inner) for pattern in patterns):
                        self._say(path, "it is installed with the package's data", certain=False, where=where)

    # Builds.

    def _builds(self) -> None:
        everything = (*self.new, *self._new_folders)
        for path in self._old_files:
            kind = language(path)
            if kind == "cmake":
                self._cmake(path, everything)
            elif kind == "make":
                self._make(path)
            job = _CI.search(path) is not None
            if kind in ("docker", "shell", "make") or job:
                text = self.ported.data(path).decode("utf-8", errors="replace")
                for item, line, runs, word in reach_build.shell_finds(path, text, self.new):
                    # A job that takes every `*.py` takes the port's too; one that names files is looked at.
                    if not job or reach_build.names_files(word):
                        message = f"the wildcard `{word}` of a command matches it"
                        self._say(item, message, True if runs and not job else None if runs else False, path, line)

    def _cmake(self, path: str, everything: tuple[str, ...]) -> None:
        content = self.live_bytes(path)
        if not re.search(rb"(?i)\bglob|aux_source_directory", content):
            return
        try:
            commands = cmake.stream(content).commands
        except LexError:
            return
        for item, line, certain, pattern in reach_build.cmake_finds(path, commands, everything, self._folders):
            new = item if item in self.ported else next(one for one in self.new if one.startswith(f"{item}/"))
            self._say(new, f"the pattern `{pattern}` matches it", certain or None, path, line)

    def _make(self, path: str) -> None:
        text = self.live_bytes(path).decode("utf-8", errors="replace")
        for item, line, certain, pattern in reach_build.make_finds(path, text, self.new, self._folders):
            self._say(item, f"`{pattern}` matches it", certain or None, path, line)
        folder = posixpath.dirname(path)
        present = {*self.new, *self._new_folders}
        for target, line in reach_build.make_targets(text).items():
            place = normal(posixpath.join(folder, target))
            if place in present:
                new = place if place in self.ported else next(one for one in self.new if one.startswith(f"{place}/"))
                self._say(new, f"make takes it for the result of the target `{target}`", where=path, line=line)

    # Headers.

    def _headers(self) -> None:
        names = {path.rpartition("/")[2] for path in self.new if path not in self.hip_only}
        found: list[tuple[str, bool, str]] = []
        computed = ""
        for path in self._old_files:
            if language(path) != "c":
                continue
            if not computed and _COMPUTED.search(self.live_bytes(path)):
                computed = path
            seen = headers_named(self.live_bytes(path))
            if not any(name.rpartition("/")[2] in names for name in seen):
                continue
            try:
                stream = cfamily.tokens(self.live_bytes(path))
            except LexError:
                found += [(name, True, path) for name in seen]
                continue
            found += [(name, quoted, path) for name, quoted, _ in cfamily.includes(stream)]
        old = frozenset(self.original.modes)
        by_name: dict[str, list[tuple[str, bool, str]]] = {}
        for item in dict.fromkeys(found):
            by_name.setdefault(item[0].rpartition("/")[2], []).append(item)
        for path in self.new:
            if path in self.hip_only:
                continue
            included = by_name.get(path.rpartition("/")[2], ())
            for includer, name in reach_build.new_header_found(path, included, old, self._folders):
                self._say(path, f"`#include` of `{name}` may find it first", where=includer)
            if posixpath.dirname(path) in self._folders:
                name = path.rpartition("/")[2]
                if computed and language(path) == "c":
                    self._say(path, "an `#include` of a macro may find it", None, computed)
                elif (name.endswith(_HEADERS) or "." not in name) and not _OWN_HEADER.search(name):
                    message = "a header outside the tree, the system's or a library's, may include one of its name"
                    self._say(path, message, None)

    # Whoever else lists files.

    def _listed(self) -> None:
        known = {item.path for item in self.found.values() if item.kind is Kind.DIFFERENCE}
        new = [path for path in self.new if path not in known and path not in self.hip_only]
        places: dict[tuple[str, int, str], list[str]] = {}
        for reached in listers.finds(self.original, new, self._new_folders):
            places.setdefault((reached.where, reached.line, reached.words), []).append(reached.path)
        for (where, line, words), paths in places.items():
            found = sorted(set(paths), key=lambda path: (path in self.generated, path))
            more = f" (and {len(found) - 1} more new files)" if len(found) > 1 else ""
            self._say(found[0], f"`{words}` may find it{more}", None, where, line)

    def _links(self) -> None:
        for path in self.new:
            if self.ported.modes[path] in ("link", "submodule"):
                self._say(
                    path, "what lies behind it is not looked at (a link, a submodule, a folder of a tool, a pipe)", None
                )

    def _shown_by_links(self) -> None:
        """New files that a link of the original shows: it pointed at nothing, or at their folder."""
        for link, mode in self.original.modes.items():
            if mode != "link" or self.ported.modes.get(link) != "link":
                continue
            target = normal(posixpath.join(posixpath.dirname(link), os.fsdecode(self.original.data(link))))
            for path in self.new:
                if path == target or not target or path.startswith(f"{target}/"):
                    self._say(path, "a link of the original shows it", None, link)

    # Mentions.

    def _named(self) -> None:
        """A file, or a module, the original names although it did not have it: looked for, and found now."""
        known = {path.rpartition("/")[2] for path in self.original.modes}
        names: dict[bytes, str] = {}
        modules: dict[bytes, str] = {}
        for path in self.new:
            if path not in self.generated and path not in self.hip_only:
                name = path.rpartition("/")[2]
                names[os.fsencode(path if name in known else name)] = path
                module = path.removesuffix("/__init__.py").removesuffix(".py").split("/")[-2:]
                if path.endswith(".py") and len(module) == 2:
                    modules.setdefault(os.fsencode(".".join(module)), path)
        if not names:
            return
        files, dotted = (b"|".join(map(re.escape, found)) or rb"\Z." for found in (names, modules))
        expression = re.compile(rb"(?:(?<![\w.-])(?:" + files + rb")|(?<![\w-])(?:" + dotted + rb"))(?!\w)")
        names |= modules
        parts = {words_of(name) for name in names}
        for path in self.original.modes:
            kind = language(path)
            if self.original.modes[path] not in ("file", "exec"):
                continue
            content = self.original.text(path)
            words = words_of(content)
            if not any(needed <= words for needed in parts):
                continue
            for match in expression.finditer(content):
                line = content[content.rfind(b"\n", 0, match.start()) + 1 : match.start()]
                # What C includes is looked at as a header; elsewhere its text names files in strings only.
                if kind == "c" and (line.count(b'"') % 2 == 0 or re.match(rb"[ \t]*#[ \t]*(?:include|import)", line)):
                    continue
                if kind == "text" and len((line + content[match.start() :].partition(b"\n")[0]).split()) > 1:
                    # Prose, and not a list of files.
                    continue
                new = names[match.group()]
                alone = match.group() not in modules and os.fsdecode(match.group()) != new
                if alone and posixpath.dirname(new) not in self._folders:
                    continue
                message = f"the original names `{os.fsdecode(match.group())}`, which it did not have"
                number = content.count(b"\n", 0, match.start()) + 1
                self._say(new, message, None, path, number)

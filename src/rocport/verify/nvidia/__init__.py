"""Level `nvidia-unchanged`: the proof that the NVIDIA path of a ported tree is what it was.

Shares no code with what made the port (rules, port, syntax, scan): lexers and folding of its own, Python's `ast` and
`symtable`. Every file of both trees is accounted for: shown to be the same, or listed with what differs.
"""

from __future__ import annotations

import ast
import codecs
import functools
import hashlib
import operator
import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocport.verify.nvidia import (
    cfamily,
    cmake,
    comments,
    data,
    gates,
    generated,
    imports,
    make,
    meson,
    python,
    python_names,
    python_sets,
    reach_python,
    text,
    tokens,
)
from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.model import Difference, FileShown, Kind, Proof, Shown
from rocport.verify.nvidia.reach import Reach
from rocport.verify.nvidia.tokens import LexError
from rocport.verify.nvidia.tree import (
    Recorded,
    Tree,
    TreeError,
    in_git,
    read_folder,
    read_manifest,
    read_revision,
    read_work_tree,
    same_bytes,
)

__all__ = ["Difference", "Kind", "Proof", "Shown", "TreeError", "verify"]

CODE_FILES = "nvidia-files"
CODE_ORIGINAL = "nvidia-original"
_DOCUMENTATION = (".md", ".rst", "PKG-INFO", ".dist-info/METADATA")
_DECLARES = ("pyproject.toml", "setup.cfg", "setup.py")
CODE_GATE = "nvidia-gate"
_TORCH = re.compile(r"((?:[^/]+/)*)torch(?:|/__init__|/version)\.pyi?")
_ODD = re.compile("[\x0b\x0c\x1c-\x1e\x85\u00a0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]")
"""Blanks, ends of lines, marks of direction and characters without width beside the plain ones."""


def verify(ported: Path, original: Path | None = None, revision: str | None = None, strict: bool = False) -> Proof:
    """Compare a ported tree with its original: a folder, a revision of the same repository, or the source that the
    manifest of the port names; without any of them, HEAD. Raises TreeError when there is none."""
    if not ported.is_dir():
        raise TreeError(f"{ported}: not a folder; name the folder that was ported")
    recorded = read_manifest(ported)
    notes: list[str] = []
    if original is not None:
        new, old = read_folder(ported), read_folder(original)
    elif revision is not None:
        new, old = read_work_tree(ported), read_revision(ported, revision)
    elif recorded is not None and recorded.source_root != ported.resolve() and recorded.source_root.is_dir():
        new, old = read_folder(ported), read_folder(recorded.source_root)
    elif in_git(ported):
        new, old = read_work_tree(ported), read_revision(ported, "HEAD")
    else:
        raise TreeError(f"{ported}: there is nothing to compare with; name the original with --original DIR")
    comparison = _Comparison(new, old, recorded)
    comparison.run()
    if comparison.hip_only:
        count = len(comparison.hip_only)
        notes.append(
            f"{count} CUDA sources are translated under their own names: this tree is HIP only. The NVIDIA build is "
            f"the original tree, where {comparison.as_recorded} of {len(comparison.recorded_sources)} files still are "
            "what was ported, by their hashes"
        )
    return Proof(
        str(ported),
        old.words,
        tuple(sorted(comparison.files, key=lambda item: item.path)),
        tuple(sorted(comparison.found, key=lambda item: (item.path, item.line, item.original_line))),
        strict,
        comparison.bytes_read,
        tuple(notes),
    )


@dataclass
class _Comparison:
    new: Tree
    old: Tree
    recorded: Recorded | None
    found: list[Difference] = field(default_factory=list)
    files: list[FileShown] = field(default_factory=list)
    hip_only: set[str] = field(default_factory=set)
    as_recorded: int = 0
    bytes_read: int = 0

    def run(self) -> None:
        self.added = tuple(sorted(set(self.new.modes) - set(self.old.modes)))
        for path in sorted(set(self.old.modes) - set(self.new.modes)):
            self._files(path, "is missing: it was deleted or renamed", "put it back")
            self.files.append(FileShown(path, None))
        self.changed = [path for path in sorted(self.new.modes) if path in self.old and not self._same(path)]
        self._permissions()
        for path in sorted(self.new.empty - self.old.empty - self.old.folders):
            self._files(path, "is a new empty folder, which may be asked for", "remove it", Kind.UNDECIDED)
        self._check_original()
        self._find_hip_only()
        self._generated_modules()
        self._distrusted()
        self._switched()
        self.live_python: dict[str, ast.Module] = {}
        self.folded_imports: list[tuple[str, python.Compared]] = []
        self.compared: dict[str, python.Compared] = {}
        for path in self.changed:
            self._changed(path)
        self._imports()
        self._read_as_text()
        self._hip_is_set()
        self._asked_for()
        self._reach()

    def _files(self, path: str, message: str, step: str, kind: Kind = Kind.DIFFERENCE) -> None:
        self.found.append(Difference(kind, CODE_FILES, path, 0, 0, message, step))

    @property
    def recorded_sources(self) -> dict[str, str]:
        return dict(self.recorded.sources) if self.recorded else {}

    def _same(self, path: str) -> bool:
        """Whether a file that both have is the same, mode included; says so when only its mode is not."""
        mode, was = self.new.modes[path], self.old.modes[path]
        if mode != was:
            words = {"exec": "an executable file", "file": "a plain file", "link": "a symbolic link"}
            message = f"is {words.get(mode, mode)}, was {words.get(was, was)}"
            self._files(path, message, "set its mode as it was")
        content = self.new.data(path)
        self.bytes_read += len(content)
        if "link" in (mode, was) or "submodule" in (mode, was):
            same = mode == was and (mode == "submodule" or content == self.old.data(path))
            if not same and mode == was:
                self._files(path, "points to another place than before", "make it point where it did")
            self.files.append(FileShown(path, Shown.HASH if same else None))
            return True
        if same_bytes(self.new, self.old, path):
            self.files.append(FileShown(path, Shown.HASH if mode == was else None))
            return True
        return False

    def _permissions(self) -> None:
        """Who may read, write and run each file. What changed of every file alike is the umask of whoever copied it."""
        shared = [path for path in self.new.permissions if path in self.old.permissions]
        changed = {path: self.new.permissions[path] ^ self.old.permissions[path] for path in shared}
        everywhere = functools.reduce(operator.and_, changed.values(), 0o777) if len(changed) > 1 else 0
        for path, bits in changed.items():
            if bits & ~everywhere and self.new.modes[path] == self.old.modes[path]:
                message = f"its permissions are {self.new.permissions[path]:o}, were {self.old.permissions[path]:o}"
                self._files(path, message, "set its permissions as they were", Kind.UNDECIDED)

    def _check_original(self) -> None:
        """The original must still be what was ported: its hashes are in the manifest."""
        for path, recorded in self.recorded_sources.items():
            if path not in self.old:
                continue
            if hashlib.sha256(self.old.data(path)).hexdigest() == recorded:
                self.as_recorded += 1
            else:
                message = "the original is no longer what was ported: its hash is not the one in the manifest"
                step = "port again, or compare with the revision that was ported (--original-rev)"
                self.found.append(Difference(Kind.UNKNOWN, CODE_ORIGINAL, path, 0, 0, message, step))

    def _find_hip_only(self) -> None:
        """In a tree of the layout `hip`: translations of CUDA sources, and what is made for them."""
        if self.recorded is None or self.recorded.layout != "hip":
            return
        for path in self.changed:
            if language(path) == "c" and path in self.recorded.translated:
                self.hip_only.add(path)
        if self.hip_only:
            self.hip_only |= {path for path in self.added if language(path) == "c"}

    # Python.

    def _generated_modules(self) -> None:
        self.constants: dict[str, dict[str, Any]] = {}
        self.imports_torch = False
        self.generated: set[str] = set()
        checked: dict[bytes, generated.Checked] = {}
        for path in self.new.modes:
            content = self.new.data(path) if generated.looks_generated(path) else b""
            if not content or self.new.modes[path] == "link":
                continue
            if content not in checked:
                checked[content] = generated.check(path, content)
            result = checked[content]
            if path in self.old and path not in self.changed and not result.safe:
                # The original's own module of this name: not ours, and nothing is folded on it.
                continue
            self.generated.add(path)
            self.constants[path] = result.constants if result.safe else {}
            self.imports_torch = self.imports_torch or result.imports_torch
            if path in self.added:
                self.found += [
                    Difference(item.kind, item.code, path, item.line, 0, item.message, item.next_step)
                    for item in result.differences
                ]
                self.files.append(FileShown(path, Shown.COMPAT if result.safe else None))
        self.places = imports.Places(self.new, self.old, frozenset(self.generated))

    def _facts(self, path: str) -> python.Facts:
        folder, requires = path, None
        while folder and requires is None:
            folder = folder.rpartition("/")[0]
            beside = (f"{folder}/{name}".lstrip("/") for name in _DECLARES)
            requires = data.requires_python(self.old.data(item) for item in beside if item in self.old)
        return python.Facts(path, self.constants, self.places.resolver(path), self.imports_torch, requires)

    # Every other language.

    def _distrusted(self) -> None:
        """Gates that something on the NVIDIA path switches on: there they are not taken to be false."""
        self.macros: set[str] = set()
        self.gates = set(cmake.GATES)
        changed = [path for path in self.changed if path not in self.hip_only]
        self.asked = gates.asked(self.new, self.old, changed)
        if not {language(path) for path in changed} & {"c", "cmake"}:
            return
        words = {*cmake.GATES, "__HIP_", *self.asked}
        for tree in (self.new, self.old):
            for path in tree.modes:
                kind = language(path)
                if kind not in ("c", "cmake", "python", "make") or path not in self.old or path in self.hip_only:
                    continue
                if tree.modes[path] in ("link", "submodule"):
                    continue
                content = tree.data(path)
                computed = kind == "cmake" and cmake.NAME_IN_PIECES.search(content) is not None
                if not computed and not any(name.encode() in content for name in words):
                    continue
                try:
                    self._distrust(path, kind, content)
                except (LexError, SyntaxError, ValueError, RecursionError, MemoryError):
                    continue

    def _distrust(self, path: str, kind: str, content: bytes) -> None:
        if kind == "c":
            self.macros |= cfamily.defined(cfamily.tokens(content))
        elif kind == "cmake":
            for gate in cmake.untrusted(content):
                self.gates.discard(gate)
                self.macros.add(gate)
        elif kind == "make":
            text = "\n".join(line.text for line in make.stream(content).lines)
            self.macros |= {gate for gate in (*cmake.GATES, *self.asked) if f"-D{gate}" in text or f"/D{gate}" in text}
        else:
            for word in python.strings_off_rocm(content, self._facts(path)):
                for gate in (*cmake.GATES, *self.asked):
                    if f"-D{gate}" in word or f"/D{gate}" in word:
                        self.gates.discard(gate)
                        self.macros.add(gate)

    def _switched(self) -> None:
        """What a gate of the port asks and something in the original sets: on NVIDIA it may be on."""
        places: dict[str, list[str]] = {}
        for name, path, line in gates.switched(
            self.old, self.asked, lambda path, content: python.off_rocm(content, self._facts(path)), self._whether_set
        ):
            if name not in self.macros:
                places.setdefault(name, []).append(f"{path}:{line}")
        for name, where in places.items():
            more = f" and {len(where) - 2} more" if len(where) > 2 else ""
            message = f"`{name}`, which a gate asks, is set or defined by the original at {', '.join(where[:2])}{more}"
            step = "see that no NVIDIA build gets it (`#ifdef` is true for 0 too), or gate on a name of your own"
            self.found.append(Difference(Kind.UNDECIDED, CODE_GATE, self.asked[name], 0, 0, message, step))

    @functools.cached_property
    def _whether_set(self) -> frozenset[str]:
        """Names of which makefiles of the port ask only whether they are set."""
        made = [path for path in self.changed if language(path) == "make"]
        return frozenset(name for path in made for name in make.asks_whether_set(self.new.data(path)))

    def _changed(self, path: str) -> None:
        kind = language(path)
        if path in self.hip_only:
            self.files.append(FileShown(path, Shown.HIP_ONLY))
            return
        before = len(self.found)
        try:
            shown = self._compare(path, kind, self.new.data(path), self.old.data(path))
        except LexError as error:
            shown = Shown.TOKEN_STREAM
            self._files(path, f"cannot be read as {kind}: {error.reason} (line {error.line})", "look at that line")
        bad = any(item.kind is not Kind.REVIEW for item in self.found[before:])
        moded = self.new.modes[path] != self.old.modes[path]
        self.files.append(FileShown(path, None if bad or moded else shown))

    def _line_ends(self, path: str, kind: str, new: bytes, old: bytes) -> None:
        """Carriage returns, other blanks and trigraphs: tokens do not show them, or readers differ over them."""
        now, was = ((b"\r" in text, b"\n" in text.replace(b"\r\n", b"")) for text in (new, old))
        if now != was and (now[0] or any(was)):
            message = "its line ends are not as they were (carriage returns): recipes, strings and `#!` lines hold them"
            self._files(path, message, "write the line ends of the original", Kind.UNDECIDED)
        if new.startswith(codecs.BOM_UTF8) != old.startswith(codecs.BOM_UTF8):
            message = "a byte order mark is at its start in one of the two: not every tool that reads it takes one"
            self._files(path, message, "write the start of the original", Kind.UNDECIDED)
        if odd := {*_ODD.findall(new.decode("utf-8", "replace"))} - {*_ODD.findall(old.decode("utf-8", "replace"))}:
            names = ", ".join(f"U+{ord(one):04X}" for one in sorted(odd))
            message = f"holds {names}, which readers take for different things"
            self._files(path, message, "write plain blanks and line ends", Kind.UNDECIDED)
        if kind == "c" and new.count(b"??/") != old.count(b"??/"):
            message = "`??/` is a backslash where a compiler reads trigraphs, and may join lines"
            self._files(path, message, "write it in another way", Kind.UNDECIDED)

    def _compare(self, path: str, kind: str, new: bytes, old: bytes) -> Shown:
        self._line_ends(path, kind, new, old)
        if kind == "python":
            self._python(path, new, old)
            return Shown.SYNTAX_TREE
        if kind == "notebook":
            return self._notebook(path, new, old)
        if kind == "c" and self._other_language(path, old):
            self.found += data.by_lines(path, new, old)
            return Shown.CONTENT
        if kind == "c":
            distrusted = frozenset(self.macros)
            stream, was = cfamily.tokens(new, distrusted), cfamily.tokens(old, distrusted)
            self.found += tokens.compare(path, stream, was, cfamily.GATE)
            self._moved(path, stream, was)
            if comments.of_c(new, distrusted) != comments.of_c(old, distrusted):
                message = "comments that a tool reads (a test suite, Rcpp, a compiler's warning) are not the same"
                self._files(path, message, "keep them as they were", Kind.UNDECIDED)
            return Shown.TOKEN_STREAM
        if kind == "cmake":
            self._cmake(path, new, old)
            return Shown.TOKEN_STREAM
        if kind == "make":
            self._make(path, new, old)
            return Shown.TOKEN_STREAM
        if kind == "meson":
            self.found += tokens.compare(path, meson.tokens(new), meson.tokens(old), meson.GATE)
            self._meson_options(path, new)
            return Shown.TOKEN_STREAM
        if kind == "meson-options":
            self.found += tokens.compare(path, meson.options(new)[0], meson.options(old)[0], meson.GATE)
            return Shown.TOKEN_STREAM
        readers = {
            "requirements": data.requirements,
            "toml": data.toml,
            "ini": data.ini,
            "json": data.json_content,
            "manifest": data.manifest_in,
        }
        self.found += readers.get(kind, data.by_lines)(path, new, old)
        return Shown.CONTENT

    def _moved(self, path: str, stream: list[tokens.Token], was: list[tokens.Token]) -> None:
        """Line numbers that the program reads, below an insertion."""
        if [token.text for token in stream] != [token.text for token in was]:
            return
        found = cfamily.moved(stream, was, self._line_macros)
        if found is not None:
            line, original, more = found
            message = "the program reads a line number here, and lines below an insertion have moved"
            step = "see that no result rests on it, or put `#line` behind the insertion"
            kind = Kind.UNDECIDED if more else Kind.REVIEW
            self.found.append(Difference(kind, tokens.CODE, path, line, original, message, step))

    @functools.cached_property
    def _line_macros(self) -> frozenset[str]:
        """Macros of the original that are made of a line number."""
        sources = [path for path, mode in self.old.modes.items() if language(path) == "c" and mode in ("file", "exec")]
        defining = [path for path in sources if b"define" in self.old.data(path)]
        return cfamily.line_macros(map(self.old.data, defining))

    def _other_language(self, path: str, old: bytes) -> bool:
        """Assembler, MATLAB and Fortran have comments and strings of their own: compared by bytes."""
        name = path.rpartition("/")[2]
        if name.endswith((".s", ".S", ".asm")):
            return True
        if name.endswith(".m"):
            return re.search(rb"(?m)^\s*(?:#\s*i|@(?:interface|implementation|import))", old) is None
        if not name.lower().endswith(".inc"):
            return False
        mention = re.compile(rb"(?m)^[ \t]*#[ \t]*include[^\n]*\b" + re.escape(os.fsencode(name)))
        return not any(
            language(other) == "c" and mode in ("file", "exec") and mention.search(self.old.data(other))
            for other, mode in self.old.modes.items()
        )

    def _python(self, path: str, new: bytes, old: bytes) -> None:
        if path in self.generated and path in self.old:
            # A second port may write the generated module again; it is checked by itself.
            return
        compared = python.compare(new, old, self._facts(path))
        self.found += compared.differences
        self.compared[path] = compared
        if compared.ported is not None:
            self.live_python[path] = compared.ported.tree
            self.folded_imports.append((path, compared))

    def _notebook(self, path: str, new: bytes, old: bytes) -> Shown:
        module, was = data.notebook(new), data.notebook(old)
        if module is None or was is None:
            self.found += data.json_content(path, new, old)
            return Shown.CONTENT
        if data.notebook_frame(new) != data.notebook_frame(old):
            self._files(path, "cells, outputs or metadata are not the same", "change the text of code cells only")
        self._python(path, module, was)
        return Shown.SYNTAX_TREE

    def _cmake(self, path: str, new: bytes, old: bytes) -> None:
        gates = frozenset(self.gates)
        stream, was = cmake.stream(new, gates), cmake.stream(old, gates)
        self.found += tokens.compare(path, stream.tokens, was.tokens, cmake.GATE)
        places = ([item.line for item in one.tokens if cmake.OF_LINE in item.text] for one in (stream, was))
        now, before = places
        if now != before and len(now) == len(before):
            message = f"`{cmake.OF_LINE}` is another number below an insertion"
            step = "see that no result rests on it"
            self.found.append(Difference(Kind.UNDECIDED, tokens.CODE, path, now[0], before[0], message, step))
        for gate, line in stream.declared.items():
            if gate in was.declared:
                continue
            for other in self.old.modes:
                if language(other) == "cmake" and cmake.may_see(self.old.data(other), gate):
                    for seen in cmake.mentions(self.old.data(other), gate):
                        message = f"option({gate}) is new, and {other}:{seen} sees whether it is declared"
                        self.found.append(
                            Difference(Kind.DIFFERENCE, tokens.CODE, path, line, 0, message, "choose another name")
                        )

    def _meson_options(self, path: str, new: bytes) -> None:
        """A gate must be declared: `get_option` of an unknown option ends the configuration."""
        declared: set[str] = set()
        for other in self.new.modes:
            if language(other) == "meson-options":
                declared |= meson.options(self.new.data(other))[1]
        for gate, line in meson.gates(new).items():
            if gate not in declared:
                message = f"get_option('{gate}') is not declared as a boolean option that is false by default"
                step = "declare it in meson_options.txt or meson.options"
                self.found.append(Difference(Kind.DIFFERENCE, tokens.CODE, path, line, 0, message, step))

    def _make(self, path: str, new: bytes, old: bytes) -> None:
        stream, was = make.stream(new), make.stream(old)
        self.found += tokens.compare(path, stream.tokens, was.tokens, make.GATE)
        added = [gate for gate in stream.declared if gate not in was.declared]
        for gate in added:
            for other in self._make_files:
                if line := make.sees_declared(self.old.data(other), gate):
                    message = f"{gate} is new, and {other}:{line} asks whether it is set"
                    place = stream.declared[gate]
                    step = "choose another name, or do not declare it"
                    self.found.append(Difference(Kind.DIFFERENCE, tokens.CODE, path, place, 0, message, step))
        if added and (line := make.exports_all(old)):
            message = f"{added[0]} is new, and line {line} exports every variable to the commands"
            step = "declare it with `unexport`, or not at all"
            self.found.append(
                Difference(Kind.DIFFERENCE, tokens.CODE, path, stream.declared[added[0]], line, message, step)
            )

    @functools.cached_property
    def _make_files(self) -> list[str]:
        """Makefiles of the original, and what they include under any name."""
        readable = [path for path, mode in self.old.modes.items() if mode in ("file", "exec")]
        found = [path for path in readable if language(path) == "make"]
        for path in found:
            names = make.included(self.old.data(path))
            found += [other for other in readable if other.rpartition("/")[2] in names and other not in found]
        return found

    # Across files.

    def _imports(self) -> None:
        for path, compared in self.folded_imports:
            if compared.ported is None or compared.original is None or not compared.ported.imports:
                continue
            problems = self.places.check(path, compared.ported, compared.original.tree)
            if problems:
                self.found += problems
                if any(item.kind is Kind.DIFFERENCE for item in problems):
                    self._not_shown(path)

    def _read_as_text(self) -> None:
        """What reads the source or the byte code of a file that the port changed: by importing it, or by its name."""
        changed = {path: compared.other_text for path, compared in self.compared.items() if path not in self.generated}
        names = {os.fsencode(path.rpartition("/")[2]) for path in self.changed if path not in self.hip_only}
        named = re.compile(rb"(?<![\w.-])(?:" + (b"|".join(map(re.escape, names)) or rb"(?!)") + rb")(?![\w.-])")
        for path, mode in self.old.modes.items():
            if mode not in ("file", "exec") or path.endswith(_DOCUMENTATION):
                continue
            content = self.old.text(path)
            if any(name in content for name in names):
                for line, name, version in text.named(path, content, named):
                    self._text_is_read(path, line, {name}, self._versioned if version else self.changed)
            kind = language(path)
            for line, pattern in text.patterns(path, content) if kind not in ("text", "other") else ():
                for module in text.taken(path, pattern, self.changed):
                    if module not in self.hip_only and module != path:
                        message = f"{path}:{line} may read its text, which the port has changed: `{pattern}`"
                        step = "see that no result rests on it (a hash of a cache, a kernel made from it)"
                        self._files(module, message, step, Kind.UNDECIDED)
            if not path.endswith(".py"):
                continue
            self._module_is_looked_at(path, content)
            if path in changed:
                continue
            reads = python.SOURCE_READ.search(content) is not None
            tree = reach_python.parsed(content) if reads or python.HANDS.search(content) else None
            if tree is None:
                continue
            handed = python.handed(tree)
            for level, name, line in reach_python.imported(tree):
                for target in reach_python.import_targets(path, level, name):
                    found = {f"{target}.py", f"{target}/__init__.py"} & set(changed)
                    found = {module for module in found if reads or handed & changed[module]}
                    self._text_is_read(path, line, found, changed)

    def _module_is_looked_at(self, path: str, content: bytes) -> None:
        """Who lists the names of a module that has one more now, or hands its path to something that reads files."""
        looks, of_file = python_names.LOOKS.search(content), python_names.OF_FILE.search(content)
        tree = python_names.looking(content) if looks or of_file else None
        if tree is None:
            return
        names = self._names_added
        changed = set(names)
        called = python_names.modules(path, tree, sorted(changed - {path}))
        for subject, line in python_names.files_read(tree) if of_file else ():
            self._text_is_read(path, line, set(called.get(subject, ())), changed)
        found = list(python_names.listed_of(tree, called, names)) if looks else []
        own = python_names.listed(tree, names[path]) if path in names and path not in self.compared else None
        for module, line in [*found, *([(path, own)] if own else [])]:
            message = f"{path}:{line} looks through its names, and it now has `{', '.join(names[module])}` too"
            self._files(module, message, "see that it passes over what is new", Kind.UNDECIDED)

    @functools.cached_property
    def _names_added(self) -> dict[str, tuple[str, ...]]:
        """Names that modules have now and had not, a new submodule included."""
        names = {path: compared.added for path, compared in self.compared.items() if path not in self.generated}
        for path in self.generated:
            folder, _, name = path.rpartition("/")
            if path in self.added and f"{folder}/__init__.py" in self.old:
                module = f"{folder}/__init__.py"
                names[module] = (*names.get(module, ()), name.removesuffix(".py"))
        return names

    @functools.cached_property
    def _versioned(self) -> list[str]:
        """Changed files in which one who looks for a version could find another."""
        return [path for path in self.changed if text.adds_version(self.new.data(path), self.old.data(path))]

    def _text_is_read(self, where: str, line: int, found: set[str], changed: Collection[str]) -> None:
        for module in sorted(changed):
            if module == where:
                continue
            if module in found or (module.rpartition("/")[2] in found and len(found) == 1):
                message = f"{where}:{line} may read its text or byte code, which the port has changed"
                step = "see that no result rests on it (a hash of a cache, a kernel made from it)"
                self._files(module, message, step, Kind.UNDECIDED)

    def _hip_is_set(self) -> None:
        """Tests and shims of the original that set what the predicate asks: under them it is true on NVIDIA. A module
        `torch` of its own is one that is not in a package: whoever searches its folder imports it."""
        if not self.folded_imports:
            return
        for path, mode in self.old.modes.items():
            if (own := _TORCH.fullmatch(path)) and f"{own.group(1)}__init__.py" not in self.old:
                message = f"{path} is another `torch` where its folder is searched, and the predicate may ask it"
                self._files(self.folded_imports[0][0], message, "see that no result rests on it", Kind.UNDECIDED)
            if mode not in ("file", "exec") or not path.endswith((".py", ".ipynb")):
                continue
            notebook = path.endswith(".ipynb")
            module = data.notebook(self.old.data(path)) if notebook else self.old.data(path)
            if line := python_sets.sets_hip(module or b""):
                where = path if notebook else f"{path}:{line}"
                message = f"{where} may set what the predicate asks, or put another torch there: it is not false then"
                step = "see that no result rests on it"
                self._files(self.folded_imports[0][0], message, step, Kind.UNDECIDED)

    def _asked_for(self) -> None:
        """Extras and dependency groups that are new: whoever asks for all of them, or for one that was not there."""
        for path in self.changed:
            names = data.new_extras(path, self.new.data(path), self.old.data(path))
            asks = data.asks_for(names) if names else None
            for other, mode in self.old.modes.items() if asks else ():
                if asks is None or mode not in ("file", "exec") or other.endswith((".md", ".rst")):
                    continue
                lock = other.rpartition("/")[2] in data.LOCKS
                found = asks.search(self.old.data(other))
                if lock or found:
                    why = "no longer fits it" if lock else f"asks for it: `{found.group().decode()}`" if found else ""
                    message = f"`{', '.join(sorted(names))}` is new, and {other} {why}"
                    self._files(path, message, "see what is installed there, or lock again", Kind.UNDECIDED)

    def _not_shown(self, path: str) -> None:
        self.files = [FileShown(path, None) if item.path == path else item for item in self.files]

    def _live_bytes(self, path: str) -> bytes:
        """On NVIDIA a file that was shown to be the same reads as the original does."""
        return self.old.data(path) if path in self.old else self.new.data(path)

    def _reach(self) -> None:
        reach = Reach(
            self.new,
            self.old,
            self.added,
            frozenset(self.generated),
            self.live_python,
            self._live_bytes,
            frozenset(self.hip_only),
        )
        found = reach.run()
        self.found += found
        reached = {item.path for item in found if item.kind is Kind.DIFFERENCE}
        for path in self.added:
            if path in self.generated:
                if path in reached:
                    self._not_shown(path)
                continue
            shown = Shown.HIP_ONLY if path in self.hip_only else Shown.UNREACHABLE
            self.files.append(FileShown(path, None if path in reached else shown))

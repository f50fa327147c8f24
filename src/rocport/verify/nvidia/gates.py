"""Who switches a gate on: what the original defines of the macros and variables that the port's conditionals ask.

A macro that the original defines, as 0 even, is defined on NVIDIA: `#ifdef USE_ROCM` is then true there. CMake, Make, C
and Python are read for it elsewhere; here every other file is read by its lines: presets, containers, CI jobs, shell
files, templates of headers.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache

from rocport.verify.nvidia import cfamily, cmake, comments, data, made_names, make
from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.reach_python import last_part
from rocport.verify.nvidia.tokens import LexError
from rocport.verify.nvidia.tree import Tree

GATES = frozenset(("USE_ROCM", "USE_HIP", "use_rocm"))
_GATED = ("c", "cmake", "make", "meson")
_WORD = re.compile(r"\w+")
_DOCUMENTATION = (".md", ".rst")
_OF_ROCM = re.compile(r"(?i)rocm|(?:^|[/_.-])(?:hip|amd)(?=[/_.-]|\Z)")
_LONGEST = 2000
"""Characters in front of a place that are looked at for the start of its line, and a comment's mark there."""
_NEAR = 100
"""Characters beside a name that are looked at."""
_TAKING = rb"(?:\.|source|call|include|cat|--?optf|--?options-file|--?env[-_]file|env_file)[\s=:\"'-]"
_TAKES = re.compile(rb"(?:@|(?:^|[\s;&|(`\"'])(?:" + _TAKING + rb"+|<[ \t]*))[^\s;&|\"'@<]*\Z")
"""What stands in front of the name of a file whose text counts where it is named: sourced, options, an environment."""
_MAY_TAKE = re.compile(rb"[@<]|" + _TAKING)
"""What `_TAKES` begins with: no line without it names a file like that."""
_HAS_A_READER = ("c", "cmake", "make", "meson", "python")
"""Languages whose own readers find what a file sets, whatever it is called."""
_DEFINES = re.compile(r"#\s*(?:define|undef)\s+(\w+)")
_NAMES_KEYS = frozenset(("dict", "update", "setdefault", "OrderedDict", "environ", "define", "putenv", "env", "run"))
"""Calls whose keywords become keys, or variables of a process."""
_RUNS = frozenset(
    [
        *("system", "popen", "Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
        *("execute", "spawn", "create_subprocess_shell", "__magic__", "__cell_magic__"),
    ]
)
"""Calls that run a command; what a notebook hands to the shell is one (data.py)."""
_IN_STRING = re.compile(rb"(?<!getenv\()(?<!getenv\(L)\"[^\"\s]*\Z")
"""What stands in front of a word that begins a string of C, but where the environment is asked for it."""
_OF_BATCH = re.compile(comments.BATCH.encode())
_READ = frozenset(("get", "getenv", "option", "get_option"))


def asked(ported: Tree, original: Tree, changed: list[str]) -> dict[str, str]:
    """Macros and variables of a ROCm build that files ask more often than the original did -> the file."""
    found: dict[str, str] = {}
    for path in changed:
        if language(path) not in _GATED or ported.modes[path] in ("link", "submodule"):
            continue
        now, was = _counted(ported.data(path)), _counted(original.data(path))
        for name, count in now.items():
            if count > was.get(name, 0):
                found.setdefault(name, path)
    return found


def _counted(data: bytes) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in _WORD.findall(data.decode("utf-8", errors="replace")):
        if name in GATES or cfamily.is_rocm_macro(name):
            counts[name] = counts.get(name, 0) + 1
    return counts


@lru_cache(maxsize=64)
def _mention(names: tuple[str, ...]) -> re.Pattern[bytes]:
    words = b"|".join(re.escape(name.encode()) for name in names)
    return re.compile(rb"(?<![A-Za-z0-9_])(?:(?:[-/]D|--define-macro[ =])[ \t]*)?(" + words + rb")(?![A-Za-z0-9_])")


def mentions(names: tuple[str, ...], content: bytes) -> bool:
    """Whether a text names one of these."""
    return any(name.encode() in content for name in names) and _mention(names).search(content) is not None


def switched(
    original: Tree,
    names: Mapping[str, str],
    off_rocm: Callable[[str, bytes], ast.Module],
    whether_set: frozenset[str] = frozenset(),
) -> Iterator[tuple[str, str, int]]:
    """Places of the original that define or set one of these names, or could: (name, path, line). `off_rocm` is a
    Python module, given its path and text, as it runs where PyTorch is not ROCm's; `whether_set`: names that a makefile
    of the port asks only for being set."""
    if not names:
        return
    every = tuple(sorted(names))
    mention = _mention(every)
    taken_up = _TakenUp(original)
    for path, mode in original.modes.items():
        kind = language(path)
        if mode in ("link", "submodule") or path.endswith(_DOCUMENTATION):
            continue
        of_rocm = _OF_ROCM.search(path) is not None
        if of_rocm and kind in _HAS_A_READER:
            continue
        content = original.text(path)
        if of_rocm and not (mentions(every, content) and path in taken_up):
            continue
        if kind not in ("c", "text"):
            for piece in made_names.in_pieces(every).finditer(content):
                if not _commented(content, piece.start()):
                    begun, ended = ((part or b"").decode() for part in piece.group("start", "end"))
                    meant = next(name for name in every if name.startswith(begun) and name.endswith(ended))
                    yield meant, path, content.count(b"\n", 0, piece.start()) + 1
                    break
            for name in every:
                if place := made_names.joined(name, content):
                    yield name, path, place
            yield from ((name, path, line) for name, line in made_names.of_gates(kind, every, content))
        if not mentions(every, content):
            continue
        if kind in ("python", "notebook"):
            try:
                cells = content if kind == "python" else data.notebook(content)
                tree = off_rocm(path, cells or b"")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                kind = "other"  # Python 2, a template: read by its lines
            else:
                yield from ((name, path, line) for name, line in _in_python(tree, frozenset(names)))
                continue
        if kind == "c" and b'R"' in content:
            yield from ((name, path, line) for name, line in _in_raw_strings(content) if name in names)
        shown = cmake.shown(content) if kind == "cmake" else frozenset()
        options = kind == "text" and b"-D" in content and path in taken_up
        for number, line in enumerate(content.split(b"\n"), 1):
            found = list(mention.finditer(line))
            text = _Line(line) if found else None
            by_make = _set_by_make(line, found, whether_set) if kind == "make" and found else frozenset()
            for match in found:
                name = match.group(1).decode()
                if text and number not in shown and (name in by_make or _sets(kind, text, match, options)):
                    yield name, path, number


def _set_by_make(line: bytes, found: list[re.Match[bytes]], whether_set: frozenset[str]) -> frozenset[str]:
    """The names of these mentions that a line of a makefile may set; asked once a name."""
    text, names = line.decode(errors="replace"), {match.group(1).decode() for match in found}
    return frozenset(name for name in names if make.sets(text, name, name in whether_set))


class _Line:
    """What is asked of a whole line: once, however many names it holds."""

    def __init__(self, line: bytes) -> None:
        self.whole = line
        self.text = line.strip()
        self.definitions = b"definitions" in line.lower()
        self.template = line.find(b"cmakedefine")


class _TakenUp:
    """Which files that are not of ROCm source another one, or hand it over as options or as an environment: the tree is
    read once, when the first is asked for."""

    def __init__(self, original: Tree) -> None:
        self.original = original

    def __contains__(self, path: str) -> bool:
        name = os.fsencode(path.rpartition("/")[2])
        # Not the start of another name; a sentence may end with it.
        named = re.compile(re.escape(name) + rb"(?!\.{,3}[\w-])")
        return any(
            _takes(lines, found.start())
            for other, lines in self._lines.items()
            if other != path and name in lines
            for found in named.finditer(lines)
        )

    @cached_property
    def _lines(self) -> dict[str, bytes]:
        """The lines of each file that may take another one up."""
        found: dict[str, bytes] = {}
        for other, mode in self.original.modes.items():
            if mode in ("link", "submodule") or other.endswith(_DOCUMENTATION) or _OF_ROCM.search(other):
                continue
            if lines := b"\n".join(_may_take(self.original.text(other))):
                found[other] = lines
        return found


def _may_take(content: bytes) -> Iterator[bytes]:
    end = 0
    while (opening := _MAY_TAKE.search(content, end)) is not None:
        start = content.rfind(b"\n", end, opening.start()) + 1 or end
        end = content.find(b"\n", opening.start())
        end = len(content) if end == -1 else end
        yield content[start:end]


def _commented(content: bytes, place: int) -> bool:
    """Whether the line of a place begins as a comment, and no further off than `_LONGEST`."""
    near = max(0, place - _LONGEST)
    start = content.rfind(b"\n", near, place) + 1
    if near and not start:
        return False
    return content[start:place].lstrip().startswith((b"#", b"//"))


def _takes(content: bytes, place: int) -> bool:
    before = content[max(0, place - _NEAR) : place]
    return not _commented(content, place) and _TAKES.search(before[before.rfind(b"\n") + 1 :]) is not None


def _sets(kind: str, line: _Line, match: re.Match[bytes], options: bool) -> bool:
    """`options`: whether something takes a text for options."""
    text = line.text
    before = line.whole[max(0, match.start() - _NEAR) : match.start()]
    if re.search(rb"#\s*(?:un)?def(?:ine)?\s+\Z", before) and not text.startswith(b"#"):
        # Text that becomes a header.
        return True
    if _OF_BATCH.match(text):
        return True
    flag = match.group() != match.group(1)
    after = line.whole[match.end() : match.end() + _NEAR].lstrip(b" \t\"'")
    if kind == "text":
        return (flag and (options or re.match(rb"-\S", text) is not None)) or re.match(
            rb"#[ \t]*(?:define|undef)\b", text
        ) is not None
    if kind == "c":
        template = text.startswith(b"#") and 0 <= line.template < match.start()
        handed_on = _IN_STRING.search(before) is not None and line.whole[match.end() :].startswith((b'"', b"="))
        return template or flag or handed_on
    if text.startswith((b"//", b"*", b";", b"rem ")) or (
        text.startswith(b"#") and not re.match(rb"#[ \t]*(?:cmakedefine|define|undef|mesondefine)", text)
    ):
        return False
    if text.startswith(b"#"):
        return True
    if kind in ("cmake", "make"):
        # What these set is computed; a definition handed to a compiler is not.
        return flag or line.definitions or (kind == "cmake" and after.startswith(b"="))
    # Asked, and not set.
    return re.match(rb"(?:if|elif|#if|#ifdef|#ifndef|ifdef|ifeq|ifneq)\b|(?:if )?\[", text) is None or flag


def _in_raw_strings(content: bytes) -> Iterator[tuple[str, int]]:
    """What a text in a raw string of C++ defines: it may be handed to a compiler."""
    try:
        stream = cfamily.tokens(content)
    except LexError:
        return
    for token in stream:
        if re.match(r'(?:u8|[uUL])?R"', token.text):
            yield from ((found.group(1), token.line) for found in _DEFINES.finditer(token.text))


def _in_python(tree: ast.Module, names: frozenset[str]) -> Iterator[tuple[str, int]]:
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = last_part(node.func)
            if called in _READ:
                skipped.update(node.args)
        elif isinstance(node, ast.Compare):
            skipped.update((node.left, *node.comparators))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            skipped.add(node.slice)
    every = "|".join(map(re.escape, sorted(names)))
    flag = re.compile(rf"(?:(?<![\w-])[-/]D|--define-macro[ =])\s*({every})(?!\w)")
    given = re.compile(rf"(?<![\w$.-])({every})=(?!=)")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and node not in skipped:
            value = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            found = re.match(r"(\w+)(?:=.*)?\Z", value, re.DOTALL)
            written = _DEFINES.search(value)
            whole = [item.group(1) for item in (found, written) if item and item.group(1) in names]
            yield from ((name, node.lineno) for name in dict.fromkeys([*whole, *flag.findall(value)]))
        elif isinstance(node, ast.Call):
            # `dict(USE_ROCM=0)`, `environ.update(USE_ROCM="0")`.
            called = last_part(node.func)
            for keyword in node.keywords if called in _NAMES_KEYS else ():
                if keyword.arg in names:
                    yield keyword.arg, keyword.value.lineno
            # `run("export USE_ROCM=1; make")`.
            for item in ast.walk(node) if called in _RUNS else ():
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield from ((name, item.lineno) for name in given.findall(item.value))

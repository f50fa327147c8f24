"""Whether CMake, Make, a shell or a compiler would pick up a new file on NVIDIA."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from rocport.verify.nvidia import cmake
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal, specific

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".m", ".mm")


def _variables(path: str, commands: Sequence[cmake.Command]) -> dict[str, list[str]]:
    folder = posixpath.dirname(path)
    found = {name: [folder] for name in ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR")}
    found |= {name: list(dict.fromkeys(["", folder])) for name in ("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR")}
    for command in commands:
        words = [item.text for item in command.arguments]
        if command.name == "set" and len(words) == 2:
            found.setdefault(words[0], []).append(words[1])
        if command.name == "project" and words:
            found[f"{words[0]}_SOURCE_DIR"] = list(dict.fromkeys(["", folder]))
    return found


def _expand(text: str, variables: dict[str, list[str]], depth: int = 0) -> list[str]:
    found = re.search(r"\$(?:ENV)?\{([^{}$]*)\}|\$<[^<>]*>", text)
    if not found or depth > 6:
        return [UNKNOWN + text.rpartition("}")[2] if found else text]
    values = variables.get(found.group(1) or "", [UNKNOWN])
    made = [text[: found.start()] + value + text[found.end() :] for value in values[:4]]
    return [item for value in made for item in _expand(value, variables, depth + 1)][:16]


def cmake_finds(
    path: str, commands: Sequence[cmake.Command], new: Sequence[str], folders: frozenset[str]
) -> Iterator[tuple[str, int, bool, str]]:
    """New paths that a CMake file globs: (new path, line, whether it is certain, the pattern)."""
    variables = _variables(path, commands)
    folder = posixpath.dirname(path)
    for command in commands:
        words = [item.text for item in command.arguments]
        if command.name == "file" and words and words[0].upper() in ("GLOB", "GLOB_RECURSE"):
            deep = words[0].upper() == "GLOB_RECURSE"
            patterns = _glob_patterns(words[2:])
        elif command.name == "aux_source_directory" and words:
            deep = False
            patterns = [f"{words[0]}/*{suffix}" for suffix in _SOURCES]
        else:
            continue
        for pattern in patterns:
            for text in _expand(pattern, variables):
                whole = text if text.startswith(UNKNOWN) else _below(folder, text, variables)
                yield from _matches(whole, pattern, deep, command.line, new, folders)


def _below(folder: str, text: str, variables: dict[str, list[str]]) -> str:
    """A pattern is relative to the folder of its file unless it began with a folder of CMake's."""
    known = [value for name in ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_SOURCE_DIR") for value in variables[name] if value]
    if text.startswith("/") or any(text == value or text.startswith(f"{value}/") for value in known):
        return normal(text)
    return normal(posixpath.join(folder, text))


def _glob_patterns(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("RELATIVE", "LIST_DIRECTORIES"):
            skip = True
        elif word not in ("CONFIGURE_DEPENDS", "FOLLOW_SYMLINKS"):
            found += word.split(";")
    return found


def _matches(
    whole: str, pattern: str, deep: bool, line: int, new: Sequence[str], folders: frozenset[str]
) -> Iterator[tuple[str, int, bool, str]]:
    if deep:
        head, _, tail = whole.rpartition("/")
        expression = matcher(f"{head}/**/{tail}" if head else f"**/{tail}")
    else:
        expression = matcher(whole)
    for path in new:
        if not expression.match(path):
            continue
        if UNKNOWN in whole:
            # What is unknown is a folder of the original: a new folder cannot be meant.
            if not deep and posixpath.dirname(path) not in folders:
                continue
            if specific(whole):
                yield path, line, False, pattern
        else:
            yield path, line, True, pattern


_WILDCARD = re.compile(r"\$\(wildcard\s+([^()]*(?:\([^()]*\)[^()]*)*)\)")
_INCLUDE = re.compile(r"(?m)^[ ]*(?:-|s)?include\s+(.+)$")


def make_finds(
    path: str, text: str, new: Sequence[str], folders: frozenset[str]
) -> Iterator[tuple[str, int, bool, str]]:
    """New paths that a Makefile lists or includes."""
    folder = posixpath.dirname(path)
    found = [(item.group(1), item.start()) for item in _WILDCARD.finditer(text)]
    found += [(item.group(1), item.start()) for item in _INCLUDE.finditer(text)]
    for words, start in found:
        line = text.count("\n", 0, start) + 1
        for word in re.sub(r"\$\([^()]*\)|\$\{[^{}]*\}", UNKNOWN, words).split():
            whole = word if word.startswith(UNKNOWN) else normal(posixpath.join(folder, word))
            yield from _matches(whole, word.replace(UNKNOWN, "$(...)"), False, line, new, folders)


def make_targets(text: str) -> dict[str, int]:
    """Targets of a Makefile that are not declared phony -> line: a file of that name would be taken for the result."""
    phony: set[str] = set()
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"(?!\t)([A-Za-z0-9_./ \t-]+)::?(?!=)", line)
        if line.startswith(".PHONY"):
            phony |= set(line.partition(":")[2].split())
        elif match and "=" not in match.group(1):
            for word in match.group(1).split():
                found.setdefault(word, number)
    return {name: line for name, line in found.items() if name not in phony}


_WORD = re.compile(r"(?<![\w./*-])[\w./-]*\*[\w./*-]*")
_NAMING = re.compile(r"[\w-]{3,}[\w.-]*\*|\*[\w-]{3,}[^/]*\Z|[\w-]{3,}\*")


def names_files(word: str) -> bool:
    """Whether a wildcard says more of a file's name than how it ends: `requirements*.txt`, not `**/*.py`."""
    return _NAMING.search(word.rpartition("/")[2].rpartition(".")[0]) is not None


_RUNS = re.compile(
    r"\b(?:pip3?|uv)\b.*\binstall\b|^\s*\.\s"
    r"|\b(?:cat|source|nvcc|gcc|g\+\+|clang|make|python3?|bash|sh|patch|git apply)\s"
)


def shell_finds(path: str, text: str, new: Sequence[str]) -> Iterator[tuple[str, int, bool, str]]:
    """New paths that a wildcard of a shell command matches; certain where the command reads or runs what it names."""
    folder = posixpath.dirname(path)
    for number, line in enumerate(text.split("\n"), 1):
        if "*" not in line or line.lstrip().startswith("#"):
            continue
        for word in set(_WORD.findall(line)):
            if not specific(word) or word.startswith("/") or word.endswith("/"):
                continue
            expressions = [matcher(whole) for whole in {normal(word), normal(posixpath.join(folder, word))}]
            for item in new:
                if any(expression.match(item) for expression in expressions):
                    yield item, number, bool(_RUNS.search(line)), word


def matches(pattern: str, path: str) -> bool:
    """Whether a shell pattern matches a whole path."""
    return matcher(pattern).match(path) is not None


def new_header_found(
    path: str, includes: Sequence[tuple[str, bool, str]], original: frozenset[str], folders: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Includes that would find a new file: (the file that includes, what it includes).

    `includes`: (name, quoted, includer). A quoted name that the includer's own folder holds is found there first. Any
    folder of the original may be an include folder; one that is new cannot.
    """
    for name, quoted, includer in includes:
        wanted = normal(name)
        if path != wanted and not path.endswith(f"/{wanted}"):
            continue
        folder = path[: -len(wanted)].rstrip("/")
        beside = normal(posixpath.join(posixpath.dirname(includer), name))
        if quoted and beside in original:
            continue
        if folder in folders or (quoted and beside == path):
            yield includer, name

"""Which translation units the build files name, read and not run.

A source is named by its path or by a pattern (`csrc/*.cu`, `%.cu`, `${name}.cu`), from the folder of the build file on.
A library that the tree carries along (`third_party/`) has a build of its own, tests and all: its sources are the
project's where a build file outside of it names them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from rocport.model.paths import vendored
from rocport.project.languages import SOURCES

_WORD = re.compile(
    r"[\w./$(){}*?%+@<>:-]*\.(?:" + "|".join(re.escape(suffix[1:]) for suffix in SOURCES) + r")(?![\w.])", re.I
)
_VARIABLE = re.compile(r".*[)}>@]")


def patterns(text: str) -> tuple[str, ...]:
    """Sources and patterns of sources in the text of a build file; `x.cu`, `csrc/*.cu`, `*.cu`."""
    return tuple(dict.fromkeys(_patterns(text)))


def _patterns(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        # What a variable stands for is not known: what follows it is the pattern.
        tail = _VARIABLE.sub("*", match.group(0).replace("%", "*"))
        tail = tail.removeprefix("*/").removeprefix("./")
        above = tail.startswith("../")
        while tail.startswith("../"):
            tail = tail[3:]
        tail = "*" + tail if tail.startswith(".") else tail
        yield f"../{tail}" if above else tail


Builds = list[tuple[str, tuple[str, ...]]]
"""Folders of build files and what `patterns` found in each."""


def named_of(units: Iterable[str], builds: Iterable[tuple[str, tuple[str, ...]]]) -> frozenset[str]:
    """Those of the units that some build file names, and those that none governs; all where none is named.

    `builds` are the folders of build files and what `patterns` found in each. Those of a library that the tree carries
    along do not count, and its sources are named by their name or by its folder's, not by a pattern for all. Where all
    units are libraries', as in a tree whose extensions lie in `submodules/`, the same is asked of each library.
    """
    named: set[str] = set()
    todo = [("", list(units), list(builds))]
    while todo:
        above, paths, known = todo.pop()
        own = [(folder, found) for folder, found in known if not vendored(f"{folder}/")]
        of_own = [path for path in paths if _is_named(path, own)]
        if of_own or not all(vendored(path) for path in paths):
            named.update(above + path for path in of_own or paths)
        else:
            todo += [(above + library, *inside) for library, inside in _by_library(paths, known).items()]
    return frozenset(named)


def _by_library(paths: Iterable[str], builds: Builds) -> dict[str, tuple[list[str], Builds]]:
    """Units and build files of each library, from its folder on."""
    found: dict[str, tuple[list[str], Builds]] = {}
    for path in paths:
        library = vendored(path)
        found.setdefault(library, ([], []))[0].append(path[len(library) :])
    for folder, sources in builds:
        library = vendored(f"{folder}/")
        if library in found:
            found[library][1].append((folder[len(library) :], sources))
    return found


def _is_named(path: str, builds: Iterable[tuple[str, tuple[str, ...]]]) -> bool:
    library = vendored(path)
    governed = False
    for folder, found in builds:
        governed = governed or path.startswith(f"{folder}/" if folder else "")
        for pattern in found:
            base, tail = (posixpath.dirname(folder), pattern[3:]) if pattern.startswith("../") else (folder, pattern)
            if not path.startswith(f"{base}/" if base else ""):
                continue
            if library and "*" in tail and posixpath.basename(library.rstrip("/")) not in tail:
                continue
            if fnmatchcase(path, tail) or fnmatchcase(path, f"*/{tail}"):
                return True
    return not governed and not library

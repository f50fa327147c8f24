"""The one reader of Makefiles: what they assign, and the commands that `make -n` prints of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from rocport.syntax.amd import names_amd

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for them."""
ASSIGNS = re.compile(r"\s*(?:(?:export|override|private)\s+)*([A-Za-z_]\w*)\s*(?:[:?+]|::)?=")
USES = re.compile(r"\$[({](\w+)[)}]")
_ENTERS = re.compile(r"g?make(?:\[\d+\])?: Entering directory '(.*)'")
_REFUSED = re.compile(r"(?i)[,(\"' ](?:no|0|off|false|n)?[)\"' ]*$")
# The compiler is the recipe's first word; what has neither a source nor -c only links.
_COMPILES = re.compile(
    r"\t[ \t]*[@-]*(?:[\w$(){}./+][\w$(){}./+-]*)?(?i:nvcc|cudacc|(?P<hip>hipcc))[)}]?(?=\s)"
    r"(?=.*(?:\s-d?c\b|\$<|\.cu\b|\.hip\b)).*"
)
_LEAVES = re.compile(r"g?make(?:\[\d+\])?: Leaving directory")


def makefile_of(folder: Path) -> Path | None:
    """The file that make takes in a folder."""
    return next((folder / name for name in MAKEFILES if (folder / name).is_file()), None)


def assignments(text: str) -> Iterator[str]:
    """The lines that assign a variable outside of conditionals, or where a build for AMD goes (`ifeq ($(hip),yes)`),
    each whole and without its comment."""
    yield from (line.partition("#")[0] for line in _taken(text) if not line[:1].isspace() and ASSIGNS.match(line))


def gpu_recipes(text: str) -> list[str]:
    """The lines of recipes that compile a source for a GPU, where `assignments` looks: hipcc's where the file has them,
    otherwise nvcc's, `$(NVCC) -DX -c $<`."""
    found = [match for line in _taken(text) if (match := _COMPILES.match(line))]
    return [match[0] for match in found if match["hip"]] or [match[0] for match in found]


def _taken(text: str) -> Iterator[str]:
    """The lines that stand outside of conditionals, or where a build for AMD goes."""
    inside: list[bool] = []
    for line in _joined(text):
        word = line.split(None, 1)[0] if line.split() else ""
        if word in ("ifeq", "ifneq", "ifdef", "ifndef"):
            inside.append(word in ("ifeq", "ifdef") and names_amd(line) and _REFUSED.search(line) is None)
        elif word == "else" and inside:
            inside[-1] = False
        elif word == "endif" and inside:
            inside.pop()
        elif all(inside):
            yield line


def commands(printed: str) -> Iterator[list[str]]:
    """The words of each command in lines of a shell; a line that cannot be read is left out."""
    for line in _joined(printed):
        yield from _of_line(line)


def _joined(printed: str) -> list[str]:
    """The lines, each with those that continue it."""
    return printed.replace("\\\n", " ").splitlines()


def _of_line(line: str) -> Iterator[list[str]]:
    for part in re.split(r"&&|;|\|\|", line):
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if words:
            yield words


def placed_commands(printed: str, folder: Path) -> Iterator[tuple[list[str], Path]]:
    """The commands that `make -n -w` prints, each with the folder it runs in: where make is, and where a `cd` on its
    line goes."""
    entered = [folder]
    for line in _joined(printed):
        if match := _ENTERS.match(line):
            entered.append(Path(match[1]))
        elif _LEAVES.match(line):
            entered = entered[:-1] or [folder]
        where = entered[-1]
        for words in _of_line(line):
            if words[0] == "cd" and len(words) > 1:
                where = (where / words[1]).resolve()
            else:
                yield words, where

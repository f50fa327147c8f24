"""Build, dependency and container files: logical lines without comments, and which stand behind a platform test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rocport.project.cmake import CMakeCommand, commands, decoded, without_comments
from rocport.syntax.amd import names_amd, twins

_SHELL_OPEN = re.compile(r"^\s*(?:if\b|ifeq\b|ifneq\b|ifdef\b|ifndef\b|case\b)")
_FOR_CUDA = re.compile(r"(?i)\$[({]\w*cuda\w*|ifdef\s+\w*cuda")
_SHELL_CLOSE = re.compile(r"^\s*(?:fi\b|endif\b|esac\b)")
_SHELL_BRANCH = re.compile(r"^\s*(?:elif|else)\b|^\s*[^()\s]+\)\s")
_MAKE_TARGET = re.compile(r"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*:(?![=:])")


@dataclass(frozen=True)
class Line:
    """One line without its comment; `start` is the byte offset of its first character."""

    number: int
    start: int
    text: str
    gated: bool


class BuildSource:
    """One build, dependency or container file. Bytes that are no UTF-8 are read as Latin-1."""

    def __init__(self, path: str, data: bytes, language: str) -> None:
        self.path = path
        self.data = data
        self.language = language

    @cached_property
    def lines(self) -> list[Line]:
        """Every line that holds more than a comment.

        A line is gated when a condition around it asks for AMD in one of its branches, whichever it stands in: who
        wrote `if(BUILD_CUDA) ... elseif(BUILD_HIP)`, or one condition after the other, has thought of both. In a
        Makefile, so is the recipe of a target that has a twin for AMD (`build-cuda` beside `build-rocm`).
        """
        texts: list[tuple[int, str]] = []
        offset = 0
        cmake = self.language == "cmake"
        for raw in (without_comments(self.data) if cmake else self.data).splitlines(keepends=True):
            text = decoded(raw).rstrip("\r\n")
            texts.append((offset, text.rstrip() if cmake else _without_comment(text, self.language)))
            offset += len(raw)
        gated = self._in_command(len(texts)) if cmake else _in_condition([text for _, text in texts])
        if self.language == "make":
            gated = [one or other for one, other in zip(gated, _in_twin([text for _, text in texts]), strict=True)]
        return [
            Line(number, start, text, gated[number - 1])
            for number, (start, text) in enumerate(texts, start=1)
            if text.strip()
        ]

    @cached_property
    def commands(self) -> list[CMakeCommand]:
        """Commands of a CMake file, in order."""
        return commands(self.data)

    @cached_property
    def first_commands(self) -> dict[str, CMakeCommand]:
        """The first command of each name, names in lower case."""
        return {item.name: item for item in reversed(self.commands)}

    def _in_command(self, lines: int) -> list[bool]:
        """For every line of a CMake file, whether a gated command stands on it."""
        gated = [False] * lines
        for command in self.commands:
            if command.gated:
                gated[command.line - 1 : command.end_line] = [True] * (command.end_line - command.line + 1)
        return gated[:lines]


def _in_condition(texts: list[str]) -> list[bool]:
    """For every line, whether it stands in a condition that asks for AMD in one of its branches."""
    gated = [False] * len(texts)
    open_: list[tuple[int, bool]] = []
    before: tuple[int, int] | None = None  # a condition for CUDA that ended on the line before
    for at, text in enumerate(texts):
        if _SHELL_CLOSE.match(text) and open_:
            first, asks = open_.pop()
            if asks:
                gated[first:at] = [True] * (at - first)
            before = (first, at) if not asks and _FOR_CUDA.search(texts[first]) else None
            continue
        if _SHELL_OPEN.match(text):
            open_.append((at, names_amd(text)))
            if before is not None and names_amd(text):
                gated[before[0] : before[1]] = [True] * (before[1] - before[0])
        elif _SHELL_BRANCH.match(text) and open_:
            open_[-1] = (open_[-1][0], open_[-1][1] or names_amd(text))
        if text.strip():
            before = None
    for first, asks in open_:
        if asks:
            gated[first:] = [True] * (len(texts) - first)
    return gated


def _in_twin(texts: list[str]) -> list[bool]:
    """For every line of a Makefile, whether it belongs to a target whose name has a twin with AMD's word in it."""
    rules = [match[1] if (match := _MAKE_TARGET.match(text)) else "" for text in texts]
    names = {name for rule in rules for name in rule.split()}
    found: list[bool] = []
    current = False
    for rule, text in zip(rules, texts, strict=True):
        if rule:
            current = any(not twins(name).isdisjoint(names) for name in rule.split())
        elif text[:1] not in ("\t", " ", ""):
            current = False
        found.append(current)
    return found


def _without_comment(text: str, language: str) -> str:
    if language == "hip":
        return text
    if language == "docker":
        return "" if text.lstrip().startswith("#") else text
    match = re.search(r"(?:^|(?<=\s))#", text)
    return text[: match.start()] if match and text[: match.start()].count('"') % 2 == 0 else text

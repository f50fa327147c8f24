"""Build, dependency and container files: logical lines without comments, and which stand behind a platform test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rocport.syntax.python import names_amd

_OPEN = re.compile(r"^\s*if\s*\(", re.IGNORECASE)
_BRANCH = re.compile(r"^\s*(?:elseif|else)\s*\(", re.IGNORECASE)
_CLOSE = re.compile(r"^\s*endif\s*\(", re.IGNORECASE)
_SHELL_OPEN = re.compile(r"^\s*(?:if\b|ifeq\b|ifneq\b|ifdef\b|ifndef\b|case\b)")
_SHELL_CLOSE = re.compile(r"^\s*(?:fi\b|endif\b|esac\b)")
_COMMAND = re.compile(r"\b([A-Za-z_]\w*)[ \t]*\(")


@dataclass(frozen=True)
class Line:
    """One line without its comment; `start` is the byte offset of its first character."""

    number: int
    start: int
    text: str
    gated: bool


@dataclass(frozen=True)
class CMakeCommand:
    """A CMake command: its name in lower case and its arguments as written, without comments.

    `at` and `close` are the byte offsets of its name and behind its closing parenthesis.
    """

    name: str
    arguments: str
    line: int
    end_line: int
    start: int
    end: int
    gated: bool
    at: int = 0
    close: int = 0


class BuildSource:
    """One build, dependency or container file. Bytes that are no UTF-8 are read as Latin-1."""

    def __init__(self, path: str, data: bytes, language: str) -> None:
        self.path = path
        self.data = data
        self.language = language

    @cached_property
    def lines(self) -> list[Line]:
        """Every line that holds more than a comment."""
        found: list[Line] = []
        conditions: list[bool] = []
        offset = 0
        for number, raw in enumerate(self.data.splitlines(keepends=True), start=1):
            text = _without_comment(_decode(raw).rstrip("\r\n"), self.language)
            opened, closed = (_OPEN, _CLOSE) if self.language == "cmake" else (_SHELL_OPEN, _SHELL_CLOSE)
            if closed.match(text) and conditions:
                conditions.pop()
            elif opened.match(text):
                conditions.append(names_amd(text))
            elif _BRANCH.match(text) and conditions:
                conditions[-1] = conditions[-1] or names_amd(text)
            if text.strip():
                found.append(Line(number, offset, text, any(conditions)))
            offset += len(raw)
        return found

    @cached_property
    def commands(self) -> list[CMakeCommand]:
        """Commands of a CMake file, in order."""
        text = "\n".join(self._padded())
        gates = {line.number: line.gated for line in self.lines}
        starts = {line.number: line.start for line in self.lines}
        found: list[CMakeCommand] = []
        at = 0
        while (match := _COMMAND.search(text, at)) is not None:
            close = _closing(text, match.end())
            first = text.count("\n", 0, match.start()) + 1
            last = first + text.count("\n", match.start(), close)
            start = starts.get(first, 0)
            end = starts.get(last, start) + 1
            found.append(
                CMakeCommand(
                    match[1].lower(),
                    text[match.end() : close],
                    first,
                    last,
                    start,
                    end,
                    gates.get(first, False),
                    start + _bytes_before(text, match.start()),
                    starts.get(last, start) + _bytes_before(text, close) + 1,
                )
            )
            at = close + 1
        return found

    def _padded(self) -> list[str]:
        padded: list[str] = []
        for line in self.lines:
            padded += [""] * (line.number - 1 - len(padded))
            padded.append(line.text)
        return padded


def _bytes_before(text: str, at: int) -> int:
    """Bytes between the start of a line and a place in it."""
    return len(text[text.rfind("\n", 0, at) + 1 : at].encode())


def _closing(text: str, start: int) -> int:
    """Offset of the parenthesis that closes the one before `start`, or the end of the text."""
    depth = 1
    quoted = False
    at = start
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char == '"':
            quoted = not quoted
        elif not quoted and char == "(":
            depth += 1
        elif not quoted and char == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return len(text)


def _without_comment(text: str, language: str) -> str:
    if language == "docker":
        return "" if text.lstrip().startswith("#") else text
    match = re.search(r"(?:^|(?<=\s))#", text) if language != "cmake" else re.search(r"#", text)
    return text[: match.start()] if match and text[: match.start()].count('"') % 2 == 0 else text


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")

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
_SHELL_BRANCH = re.compile(r"^\s*(?:elif|else)\b|^\s*[^()\s]+\)\s")
_MAKE_TARGET = re.compile(r"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*:(?![=:])")
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
        """Every line that holds more than a comment.

        A line is gated when a condition around it asks for AMD in one of its branches, whichever it stands in: who
        wrote `if(BUILD_CUDA) ... elseif(BUILD_HIP)` has thought of both. In a Makefile, so is the recipe of a target
        that has a twin for AMD (`build-cuda` beside `build-rocm`).
        """
        texts: list[tuple[int, str]] = []
        offset = 0
        for raw in self.data.splitlines(keepends=True):
            texts.append((offset, _without_comment(_decode(raw).rstrip("\r\n"), self.language)))
            offset += len(raw)
        gated = self._in_condition([text for _, text in texts])
        if self.language == "make":
            gated = [one or other for one, other in zip(gated, _in_twin([text for _, text in texts]), strict=True)]
        return [
            Line(number, start, text, gated[number - 1])
            for number, (start, text) in enumerate(texts, start=1)
            if text.strip()
        ]

    def _in_condition(self, texts: list[str]) -> list[bool]:
        """For every line, whether it stands in a condition that asks for AMD in one of its branches."""
        cmake = self.language == "cmake"
        opened, closed = (_OPEN, _CLOSE) if cmake else (_SHELL_OPEN, _SHELL_CLOSE)
        branch = _BRANCH if cmake else _SHELL_BRANCH
        gated = [False] * len(texts)
        open_: list[tuple[int, bool]] = []
        for at, text in enumerate(texts):
            if closed.match(text) and open_:
                first, asks = open_.pop()
                if asks:
                    gated[first:at] = [True] * (at - first)
            elif opened.match(text):
                open_.append((at, names_amd(text)))
            elif branch.match(text) and open_:
                open_[-1] = (open_[-1][0], open_[-1][1] or names_amd(text))
        for first, asks in open_:
            if asks:
                gated[first:] = [True] * (len(texts) - first)
        return gated

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


def _in_twin(texts: list[str]) -> list[bool]:
    """For every line of a Makefile, whether it belongs to a target whose name has a twin with AMD's word in it."""
    rules = [match[1] if (match := _MAKE_TARGET.match(text)) else "" for text in texts]
    names = {name for rule in rules for name in rule.split()}
    found: list[bool] = []
    current = False
    for rule, text in zip(rules, texts, strict=True):
        if rule:
            current = any(
                name.replace("cuda", word) in names
                for name in rule.split()
                if "cuda" in name
                for word in ("rocm", "hip", "amd")
            )
        elif text[:1] not in ("\t", " ", ""):
            current = False
        found.append(current)
    return found


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
    if language == "hip":
        return text
    if language == "docker":
        return "" if text.lstrip().startswith("#") else text
    match = re.search(r"(?:^|(?<=\s))#", text) if language != "cmake" else re.search(r"#", text)
    return text[: match.start()] if match and text[: match.start()].count('"') % 2 == 0 else text


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")

"""The one reader of CMake: commands, arguments and the conditions around them, by the grammar of cmake-language(7).

Nothing is run: `${X}` stays as written. Comments, bracket comments too, hold no commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rocport.syntax.amd import names_amd, twins

_COMMENT = rb"#\[(?P<eq>=*)\[.*?(?:\](?P=eq)\]|\Z)|#[^\n]*"
_COMMAND = re.compile(
    rb"(?P<comment>" + _COMMENT + rb")|(?P<name>(?<!\w)[A-Za-z_]\w*)[ \t]*\(|\"(?:[^\"\\]|\\.)*(?:\"|\Z)", re.S
)
_INSIDE = re.compile(
    rb"(?P<comment>" + _COMMENT + rb")|\[(?P<open>=*)\[.*?(?:\](?P=open)\]|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)|\\.|[()]",
    re.S,
)
_WORD = re.compile(
    r"\[(?P<eq>=*)\[\n?(?P<raw>.*?)\](?P=eq)\]|\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>(?:[^\s\"();\\]|\\.|\"(?:[^\"\\]|\\.)*\")+)",
    re.S,
)

VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class CMakeCommand:
    """A CMake command: its name in lower case and its arguments as written, without comments.

    `at` and `close` are the byte offsets of its name and behind its closing parenthesis, `start` and `end` those of its
    first line and behind the start of its last. `gated`: a condition around it asks for AMD in one of its branches,
    whichever it stands in; who wrote `if(BUILD_CUDA) ... elseif(BUILD_HIP)` has thought of both.
    """

    name: str
    arguments: str
    line: int
    end_line: int
    start: int
    end: int
    gated: bool = False
    at: int = 0
    close: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments one by one: quotes and brackets taken off, a `;` in an unquoted one divides it."""
        found = []
        for match in _WORD.finditer(self.arguments):
            inner = next((match[group] for group in ("raw", "quoted", "bare") if match[group] is not None), "")
            found.append(inner)
        return tuple(found)


def commands(data: bytes) -> list[CMakeCommand]:
    """Every command of a CMake file, in order."""
    return _gated(list(_commands(data)))


def export_headers(items: Sequence[CMakeCommand]) -> Iterator[tuple[str, str]]:
    """What the `generate_export_header` of a file writes for a static library: (name below the build folder, text).

    https://cmake.org/cmake/help/latest/module/GenerateExportHeader.html; one whose name a variable makes is left out.
    """
    projects = [item.words[0] for item in items if item.name == "project" and item.words]
    for item in items:
        if item.name != "generate_export_header" or not item.words:
            continue
        project = projects[-1] if projects else ""
        words = [word.replace("${PROJECT_NAME}", project or "${PROJECT_NAME}") for word in item.words]
        given = dict(pairwise(words))
        base = given.get("BASE_NAME", words[0])
        name = given.get("EXPORT_FILE_NAME", f"{base.lower()}_export.h").rpartition("}/")[2]
        start = given.get("PREFIX_NAME", "") + re.sub(r"\W", "_", base.upper())
        kinds = ("EXPORT", "NO_EXPORT", "DEPRECATED")
        macros = {key: given.get(f"{key}_MACRO_NAME", f"{start}_{key}") for key in kinds}
        every = [*macros.values(), *(f"{macros['DEPRECATED']}_{key}" for key in ("EXPORT", "NO_EXPORT"))]
        if all(map(str.isidentifier, every)) and re.fullmatch(r"[\w+-][\w.+-]*(?:/[\w+-][\w.+-]*)*", name):
            yield name, "#pragma once\n" + "".join(f"#define {macro}\n" for macro in every)


def builds_for_hip(items: Sequence[CMakeCommand]) -> bool:
    """True for CMake that asks for HIP's language or package by itself: the option of a port is not the project's."""
    if any(item.name == "option" and "HIP in place of CUDA" in item.arguments for item in items):
        return False
    return any(
        item.name in ("hip_add_executable", "hip_add_library")
        or (item.name in ("enable_language", "project") and "HIP" in item.words[item.name == "project" :])
        or (item.name == "find_package" and item.words[:1] in (("HIP",), ("hip",)))
        for item in items
    )


def without_comments(data: bytes) -> bytes:
    """The same bytes with spaces in place of comments: line numbers and offsets stay."""
    kept = bytearray(data)
    for start, end in _comments(data):
        kept[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
    return bytes(kept)


def decoded(raw: bytes) -> str:
    """UTF-8, else Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _commands(data: bytes) -> Iterator[CMakeCommand]:
    at = counted = 0
    line = 1
    while (match := _COMMAND.search(data, at)) is not None:
        at = match.end()
        if match["name"] is None:
            continue
        line += data.count(b"\n", counted, match.start())
        close, comments = _closing(data, at)
        kept = bytearray()
        here = at
        for start, end in comments:
            kept += data[here:start]
            here = end
        kept += data[here:close]
        yield CMakeCommand(
            name=match["name"].decode().lower(),
            arguments=decoded(bytes(kept)),
            line=line,
            end_line=line + data.count(b"\n", match.start(), close),
            start=data.rfind(b"\n", 0, match.start()) + 1,
            end=data.rfind(b"\n", 0, close) + 2,
            at=match.start(),
            close=min(close + 1, len(data)),
        )
        counted = match.start()
        at = close + 1


def _closing(data: bytes, at: int) -> tuple[int, list[tuple[int, int]]]:
    """(offset of the parenthesis that closes the one before `at`, or of the end; the comments on the way)."""
    depth = 1
    comments = []
    while (match := _INSIDE.search(data, at)) is not None:
        at = match.end()
        if match["comment"] is not None:
            comments.append(match.span())
        elif match[0] == b"(":
            depth += 1
        elif match[0] == b")":
            depth -= 1
            if depth == 0:
                return match.start(), comments
    return len(data), comments


def _comments(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while (match := _COMMAND.search(data, at)) is not None:
        at = match.end()
        if match["comment"] is not None:
            yield match.span()
        elif match["name"] is not None:
            close, inside = _closing(data, at)
            yield from inside
            at = close + 1


def _asks_amd(command: CMakeCommand, conditions: set[str]) -> bool:
    """True for a condition that asks for AMD, or for CUDA by a name whose twin another condition of the file asks for:
    `if(WITH_CUDA)` here, `if(WITH_HIP)` there."""
    return names_amd(command.arguments) or any(not twins(word).isdisjoint(conditions) for word in command.words)


def _gated(found: Sequence[CMakeCommand]) -> list[CMakeCommand]:
    gated = [False] * len(found)
    conditions = {word for command in found if command.name in ("if", "elseif") for word in command.words}
    opened: list[tuple[int, bool]] = []
    for at, command in enumerate(found):
        if command.name == "if":
            opened.append((at, _asks_amd(command, conditions)))
        elif command.name in ("elseif", "else") and opened:
            first, asks = opened[-1]
            opened[-1] = (first, asks or _asks_amd(command, conditions))
        elif command.name == "endif" and opened:
            first, asks = opened.pop()
            if asks:
                gated[first:at] = [True] * (at - first)
    for first, asks in opened:
        if asks:
            gated[first:] = [True] * (len(found) - first)
    return [replace(command, gated=True) if here else command for command, here in zip(found, gated, strict=True)]

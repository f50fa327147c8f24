"""Make pasted text readable: encodings, ANSI codes, markdown, log prefixes. Nothing here knows what the text means."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_BYTES = 2 * 1024 * 1024
"""A capture is cut here: logs beyond it add nothing and cost memory."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]")
# ESC is often eaten by the clipboard, which leaves "[37m" or "[0m" behind
_BARE_ANSI = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3})*)?m")
_TAGS = re.compile(r"</?(?:details|summary|pre|code|p|br|b|i|em|strong|span|div|blockquote)\b[^>]*>", re.IGNORECASE)
_PREFIX = re.compile(
    "|".join(
        (
            r"^(?:>\s?)+",  # markdown quotation
            r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s?",
            r"^[^\t]{1,80}\t[^\t]{1,80}\t(?=\d{4}-\d\d-\d\dT)",  # CI log: job, step, time
            r"^[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?: ",  # syslog, journal
            r"^\[ *\d+\.\d{3,}\] ?",  # dmesg
            r"^(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\s+\d\d-\d\d \d\d:\d\d:\d\d (?:\[[^\]]*\]\s?)?",
            r"^(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\s*(?::[\w.]+:|:|\|)\s?",
            r"^\((?:\w+ )?(?:\w+ )?pid=\d+\)\s?",
            r"^\[rank\d+\]:\s?",
            r"^[A-Za-z][\w.-]*(?:-\d+)?\s*\| (?=\S|\s)",  # docker compose
            r"^\s{0,5}\d{1,5}(?::|\|| \|)(?=\s|$)",  # line numbers
            r"^#+ (?=\S+:)",
        )
    )
)


@dataclass(frozen=True)
class Line:
    """One line of a capture, cleaned; `number` is its place in the original, from 1."""

    number: int
    text: str

    @functools.cached_property
    def stripped(self) -> str:
        return self.text.strip()


def decode(data: bytes) -> str:
    """Text of a capture: UTF-8, UTF-16 (what a Windows shell writes) or, failing both, Latin-1. Never raises."""
    data = data[:MAX_BYTES]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:].decode("utf-8", errors="replace")
    if len(data) >= 4 and data[: len(data) & ~1].count(0) > len(data) // 3:
        encoding = "utf-16-le" if data[1:2] == b"\x00" else "utf-16-be"
        return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def looks_binary(data: bytes) -> bool:
    """True for files that are no text at all (an image, an archive, a library), also behind a head of text. A log may
    hold a few NUL bytes behind its head, as a machine that lost its power leaves them."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or not data:
        return False
    if data.startswith((b"\x7fELF", b"\x89PNG", b"PK\x03\x04", b"\x1f\x8b", b"\xff\xd8\xff")):
        return True
    head = data[:8192]
    if head.count(0) > len(head) // 3:
        return False  # UTF-16
    return b"\0" in head or data.count(0) > len(data) // 1000


def clean(text: str) -> list[Line]:
    """Lines without ANSI codes, markdown marks and log prefixes; indentation is kept behind a prefix."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") < 3 and text.count("\\n") > 5:
        text = text.replace("\\n", "\n")  # one string literal, quoted with its escapes
    text = _ANSI.sub("", text)
    text = _BARE_ANSI.sub("", text)
    if "&gt;" in text or "&lt;" in text or "&amp;" in text or "&#" in text or "&quot;" in text:
        text = html.unescape(text)
    text = _TAGS.sub(" ", text).replace("\u00a0", " ")
    lines = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw
        for _ in range(4):
            shorter = _strip_prefix(line)
            if shorter == line:
                break
            line = shorter
        if line.strip().startswith("```"):
            line = ""
        lines.append(Line(number, line.replace("`", "").rstrip()))
    return lines


def _strip_prefix(line: str) -> str:
    match = _PREFIX.match(line)
    return line[match.end() :] if match else line


def holds(lines: Iterable[Line], words: Iterable[str], patterns: Iterable[str] = ()) -> bool:
    """True where a line holds one of the words, in whatever case, or one of the patterns in lower case: without, a
    parser that looks for them has nothing to find."""
    text = "\n".join(line.text for line in lines).lower()
    return any(word.lower() in text for word in words) or any(re.search(pattern, text) for pattern in patterns)

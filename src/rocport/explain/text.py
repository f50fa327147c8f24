"""A log as it comes, made readable: bytes -> blocks of clean lines, in bounded memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import BinaryIO

BLOCK_BYTES = 256 * 1024
OVERLAP_LINES = 12
OVERLAP_CHARS = 8 * 1024
"""What a block repeats of the one before it, so that a message across the seam is seen whole."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,1024}(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_QUOTES = {"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "´": "'"}
_PREFIX = re.compile(
    r"(?:\ufeff?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]{0,12}(?:Z|[+-]\d\d:?\d\d)?\s?"  # CI and container timestamps
    r"|\[\s{0,8}\d{1,8}\.\d{1,9}\]\s?"  # kernel log
    r"|\[?[A-Z][a-z]{2}(?: [A-Z][a-z]{2})? {1,2}\d{1,2} \d\d:\d\d:\d\d(?: \d{4}\])?\s"  # journal, dmesg -T
    r"(?:[\w.\-]{1,64} [\w.\-]{1,32}(?:\[\d{1,8}\])?: )?"
    r"|[>│|] (?=\S)"  # quoted in a reply, inside a frame
    r"|#\d{1,4} \d{1,6}\.\d{1,4} "  # docker build
    r"|[\w.\-]{1,64}\s{1,12}\| "  # docker compose
    r"|\[rank\d{1,5}\]:\s?"  # torchrun
    r"|\((?:pid|EngineCore|Worker|APIServer)[^)\n]{0,80}\)\s?"  # ray, vLLM
    r"|(?:\s{2,12}>>\s{0,4}|>>\s)\d{1,7}\s{1,8}"  # spack
    r"){1,4}"
)

_PREFIXES = re.compile(f"^(?:{_PREFIX.pattern})", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A run of whole lines. `first_line` is the number of its first line, counted from 1."""

    text: str
    first_line: int

    @cached_property
    def squeezed(self) -> str:
        """The text as `squeeze` leaves it, without log prefixes: holds every message however wrapped.

        A line that repeats between the same neighbours is left out: logs repeat themselves, but for their numbers.
        """
        lines = _replaced(self.text, _DIGITS).split("\n")
        triples = dict.fromkeys(zip(lines, [*lines[1:], ""], [*lines[2:], "", ""], strict=False))
        kept = "\n".join(first for first, _, _ in triples)
        return squeeze(_PREFIXES.sub("", kept))

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    @cached_property
    def lower(self) -> str:
        """The text in lower case, of the same length."""
        return lowered(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        return [_PREFIX.sub("", line, count=1) if _PREFIX.match(line) else line for line in self.lines]

    @cached_property
    def flowed(self) -> tuple[str, list[int]]:
        """Lines joined by one blank, indentation and log prefixes removed: undoes a wrap between words."""
        return _join(["".join(f"{word} " for word in line.split()) for line in self._lines])

    @cached_property
    def glued(self) -> tuple[str, list[int]]:
        """Lines joined by nothing, log prefixes removed: undoes a terminal's wrap in the middle of a word."""
        return _join(self._lines)


_DIGITS = dict.fromkeys("123456789", "0")


def _replaced(text: str, letters: Mapping[str, str]) -> str:
    """`text` with letters replaced: forty times as fast as `str.translate` where it holds one that is not ASCII."""
    for letter, other in letters.items():
        text = text.replace(letter, other)
    return text


def squeeze(text: str) -> str:
    """`text` in lower case, without blanks and line ends, each digit as 0."""
    return lowered("".join(_replaced(text, _DIGITS).split()))


_LOWER = {letter: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def lowered(text: str) -> str:
    """`text` with A to Z in lower case; its length is kept, which `str.lower` does not do for every letter."""
    return text.lower() if text.isascii() else _replaced(text, _LOWER)


def _join(lines: list[str]) -> tuple[str, list[int]]:
    return "".join(lines), list(accumulate((len(line) for line in lines), initial=0))


def clean(text: str) -> str:
    """Drop colour and cursor sequences, control characters and typographic quotes; line count is kept."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", " ")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if _CONTROL.search(text):
        text = _CONTROL.sub("", text)
    return text if text.isascii() else _replaced(text, _QUOTES)


def read_blocks(stream: BinaryIO) -> Iterator[Block]:
    """Blocks of about 256 KiB, each beginning with the last lines of the one before.

    UTF-8, and UTF-16 with a byte order mark (what a PowerShell `>` writes); a byte that is neither becomes U+FFFD. A
    line longer than a block is cut. Memory is bounded by the block, whatever the stream holds.
    """
    chunk = stream.read(BLOCK_BYTES)
    decoder = codecs.getincrementaldecoder(_encoding(chunk))(errors="replace")
    carry, pending, first_line = "", "", 1
    while True:
        following = stream.read(BLOCK_BYTES) if chunk else b""
        pending += decoder.decode(chunk, final=not following)
        cut = pending.rfind("\n") + 1
        if not following or len(pending) - cut > 2 * BLOCK_BYTES:
            cut = len(pending)
        text = carry + clean(pending[:cut])
        pending = pending[cut:]
        if text:
            yield Block(text, first_line)
        if not following:
            return
        keep = _overlap(text)
        first_line += text.count("\n", 0, keep)
        carry = text[keep:]
        chunk = following


def _overlap(text: str) -> int:
    """Where the next block begins inside `text`."""
    position = len(text)
    for _ in range(OVERLAP_LINES + 1):
        newline = text.rfind("\n", 0, max(position - 1, 0))
        if newline < 0 and len(text) <= OVERLAP_CHARS:
            return 0
        if newline < 0 or len(text) - newline > OVERLAP_CHARS:
            break
        position = newline + 1
    return position if position < len(text) else max(0, len(text) - OVERLAP_CHARS // 4)


def _encoding(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"

"""What somebody else's text may do to a terminal or a log of CI: nothing.

File names, logs and messages of compilers can hold escape sequences, which move the cursor, hide text or set titles;
characters that turn the direction of writing; and lines that GitHub Actions or Azure Pipelines take for commands
(`::error`, `##[error]`). What rocport prints goes through `shown`, once: the renderers of reports do it, and `Guard`
stands in the place of stdout and stderr for all else. Colours of our own are marked by `paint`, with a mark that nobody
outside this process knows.
"""

from __future__ import annotations

import re
import secrets
from typing import Any, TextIO

_MARK = "\U000f0000" + secrets.token_hex(8)
_OURS = re.compile(re.escape(_MARK) + r"(\x1b\[[0-9;]*m)")
# C0 and C1 but for tab and line feed, separators of lines and paragraphs, and what turns the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_BREAKS = re.compile("[\t\n]")
_LINE_COMMAND = re.compile(r"^(\s*):(?=:)", re.M)
_COMMAND = re.compile(r"##(?=\[|vso\[)")
_COLOURS = {"black": 30, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "white": 37}


def _spelled(match: re.Match[str]) -> str:
    # As JSON spells it too: output that is JSON stays JSON.
    return f"\\u{ord(match[0]):04x}"


def printable(text: str) -> str:
    """The text with every character that acts on a terminal spelled out."""
    return _CONTROL.sub(_spelled, text)


def one_line(text: str) -> str:
    """`printable`, with line feeds and tabs spelled out too: a file name in a line of a report."""
    return _BREAKS.sub(_spelled, printable(text))


def shown(text: str, starts_line: bool = True) -> str:
    """The text as it may be printed: printable, no command of a CI system in it, our own colours kept."""
    plain = _OURS.split(text)
    colours, plain = plain[1::2], plain[::2]
    joined = "\0".join(printable(part) for part in plain)
    at_start = joined if starts_line else "\1" + joined
    harmless = _COMMAND.sub(r"#\\u0023", _LINE_COMMAND.sub(r"\1\\u003a", at_start)).removeprefix("\1")
    parts = harmless.split("\0")
    return parts[0] + "".join(colour + part for colour, part in zip(colours, parts[1:], strict=True))


def paint(text: str, fg: str = "", *, bold: bool = False, dim: bool = False) -> str:
    """The text in a colour, for `shown` to keep."""
    codes = [1] * bold + [2] * dim + ([_COLOURS[fg]] if fg else [])
    return f"{_MARK}\x1b[{';'.join(map(str, codes))}m{text}{_MARK}\x1b[0m" if codes else text


class Guard:
    """A text stream through which nothing but `shown` text goes, but for what `raw` is given."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._starts_line = True
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # Names of files are bytes, and need not be text.
            reconfigure(errors="backslashreplace")

    @property
    def encoding(self) -> str:
        """Never ASCII, for which click would look for the bytes behind the stream."""
        return "utf-8"

    def write(self, text: str) -> int:
        """Raises TypeError for bytes, as text streams do."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._stream.write(shown(text, self._starts_line))
            self._starts_line = text.endswith("\n")
        return len(text)

    def raw(self, text: str) -> None:
        """What a renderer has made harmless, or is told to give as it is."""
        self._stream.write(text)
        self._starts_line = text.endswith("\n") or not text

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def write_raw(stream: TextIO, text: str) -> None:
    """Write what is harmless already, through a guard where one stands."""
    if isinstance(stream, Guard):
        stream.raw(text)
    else:
        stream.write(text)

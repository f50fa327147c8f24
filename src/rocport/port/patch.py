"""The port as a patch that `git apply` takes: any bytes, any line ends, new files, no final newline."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')


def changed_file(path: str, before: bytes, after: bytes) -> Iterator[bytes]:
    """The change to one file."""
    if before != after:
        yield b"diff --git %s %s\n" % (_name("a/" + path), _name("b/" + path))
        yield from _hunks(before, after, _name("a/" + path), _name("b/" + path))


def new_file(path: str, data: bytes) -> Iterator[bytes]:
    """A file that was not there."""
    yield b"diff --git %s %s\nnew file mode 100644\n" % (_name("a/" + path), _name("b/" + path))
    yield from _hunks(b"", data, b"/dev/null", _name("b/" + path))


def removed_file(path: str, data: bytes, executable: bool = False) -> Iterator[bytes]:
    """A file that goes."""
    mode = b"100755" if executable else b"100644"
    yield b"diff --git %s %s\ndeleted file mode %s\n" % (_name("a/" + path), _name("b/" + path), mode)
    yield from _hunks(data, b"", _name("a/" + path), b"/dev/null")


def _hunks(before: bytes, after: bytes, old: bytes, new: bytes) -> Iterator[bytes]:
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), _ended(old), _ended(new))
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: ended by a line feed only, so that a lone carriage return is part of a line."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _ended(name: bytes) -> bytes:
    """git ends a name that holds a blank by a tab, so that no date is read out of it."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _name(path: str) -> bytes:
    """The path as git writes it: in quotes, with octal escapes, when it holds more than printable ASCII."""
    raw = path.encode("utf-8", "surrogateescape")
    if _PLAIN.issuperset(raw):
        return raw
    quoted = b"".join(bytes([byte]) if byte in _PLAIN else b"\\%03o" % byte for byte in raw)
    return b'"' + quoted + b'"'

"""Includes of a file: which there are, and where another one goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rocport.syntax.cuda import CudaSource, Directive


def included(source: CudaSource) -> list[str]:
    """Names of all headers the file includes, as spelled between the brackets or quotes."""
    names = []
    for directive in source.directives:
        if directive.name == b"include":
            rest = source.text(directive.first + 2, directive.last).strip()
            names.append(rest.strip(b'<>"').decode("utf-8", "replace"))
    return names


_INCLUDE = re.compile(rb"#[ \t]*(?:include|include_next|import)[ \t]*(?:<([^<>\n]+)>|\"([^\"\n]+)\")")
"""Looked for as fast as its first byte is, which the start of a line would not be; see `first_on_line`."""


def first_on_line(data: bytes, offset: int) -> bool:
    """True where nothing but blanks, or a byte order mark, stands before a place on its line."""
    while offset and data[offset - 1] in b" \t":
        offset -= 1
    if data[max(0, offset - 3) : offset] == b"\xef\xbb\xbf":
        offset -= 3
    return offset == 0 or data[offset - 1] == 10


def spelled_includes(data: bytes) -> list[tuple[str, bool]]:
    """(name, whether it is quoted) of all includes, those in comments too: a cheap superset before the lexer's."""
    return [
        ((match[2] or match[1]).strip().decode("utf-8", "surrogateescape"), match[2] is not None)
        for match in _INCLUDE.finditer(data)
        if first_on_line(data, match.start())
    ]


def include_names(data: bytes) -> list[str]:
    """Names of all includes, as `spelled_includes` finds them."""
    return [name for name, _ in spelled_includes(data)]


def include_point(source: CudaSource) -> int:
    """Where an include goes: before the first include, the first conditional that is no include guard, or any code.

    Whichever comes first, so that the place is never inside a function. The offset is the start of a line (or follows a
    byte order mark).
    """
    directives = source.directives
    guard = _guard(directives)
    for position in range(len(source.texts)):
        directive = source.directive_of(position)
        skipped = directive is not None and directive.name in (b"pragma", b"define", b"undef", b"endif")
        if skipped and directive is not None and directive.name == b"define" and _takes_arguments(source, directive):
            # `#define cudaFree(p) ...` would expand inside the header that declares what it stands before.
            return _line_start(source, source.starts[position])
        if not skipped and (directive is None or directive is not guard):
            return _line_start(source, source.starts[position])
    return 3 if source.data.startswith(b"\xef\xbb\xbf") else 0


def _takes_arguments(source: CudaSource, directive: Directive) -> bool:
    open_ = directive.first + 3
    return open_ < directive.last and source.at(open_) == b"(" and source.starts[open_] == source.end(open_ - 1)


def _guard(directives: Sequence[Directive]) -> Directive | None:
    for first, second in pairwise(directives):
        if first.name == b"ifndef" and second.name == b"define":
            return first
        if first.name != b"pragma":
            return None
    return None


def _line_start(source: CudaSource, offset: int) -> int:
    start = source.data.rfind(b"\n", 0, offset) + 1
    for begin, end in source.comments if b"*/" in source.data[start:offset] else ():
        if begin < start < end:
            # The line starts inside a comment that ends on it: insert after the line that holds the comment's start.
            start = source.data.rfind(b"\n", 0, begin) + 1
    return 3 if start == 0 and source.data.startswith(b"\xef\xbb\xbf") else start

"""Edits of a port's text, mapped back to the source that it was made from."""

from __future__ import annotations

import pytest

from rocport.model import Edit, Span
from rocport.port.edits import replaced
from rocport.repair.site import to_source

SOURCE = b"abcdefghij"
MADE = [Edit(Span(3, 5), b"xyz")]
MARK = b"// mark\n"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Edit(Span(1, 2), b"B"), b"aBcdefghij"),
        (Edit(Span(6, 8), b"G"), b"abcdeGhij"),
        (Edit(Span(3, 3), b"+"), b"abc+defghij"),
        (Edit(Span(6, 6), b"+"), b"abcde+fghij"),
        (Edit(Span(4, 5), b"Y"), None),
        (Edit(Span(4, 4), b"+"), None),
        (Edit(Span(2, 7), b"-"), None),
    ],
)
def test_an_edit_is_made_where_the_text_is_the_source_s(wanted: Edit, expected: bytes | None) -> None:
    text = MARK + replaced(SOURCE, MADE)
    moved = Edit(Span(wanted.span.start + len(MARK), wanted.span.end + len(MARK)), wanted.text)
    assert text[len(MARK) :] == b"abcxyzfghij"
    edits = to_source(MADE, [moved], len(MARK))
    assert (replaced(SOURCE, edits) if edits is not None else None) == expected
    assert to_source(MADE, [Edit(Span(0, 0), b"")], len(MARK)) is None

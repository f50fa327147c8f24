from __future__ import annotations

import pytest

from rocport.model.findings import Edit, Span


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ((0, 3), (3, 5), False),
        ((0, 3), (2, 5), True),
        ((1, 2), (0, 5), True),
        ((2, 2), (2, 2), True),
        ((2, 2), (0, 5), True),
        ((0, 0), (0, 5), False),
        ((5, 5), (0, 5), False),
    ],
)
def test_spans_overlap_where_they_share_a_byte(one: tuple[int, int], other: tuple[int, int], overlap: bool) -> None:
    assert Span(*one).overlaps(Span(*other)) is overlap
    assert Span(*other).overlaps(Span(*one)) is overlap


def test_a_span_covers_what_lies_in_it() -> None:
    assert Span(2, 5).covers(Span(2, 5))
    assert Span(2, 5).covers(Span(3, 4))
    assert not Span(2, 5).covers(Span(1, 5))
    assert not Span(2, 5).covers(Span(2, 6))


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_what_is_no_range_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=rf"span \[{start}, {end}\) is not a range"):
        Span(start, end)
    assert Span(0, 0) == Span(0, 0)


def test_edits_are_in_order_of_place() -> None:
    edits = [Edit(Span(4, 5), b"a"), Edit(Span(0, 9), b"b"), Edit(Span(0, 2), b"c")]
    assert [edit.text for edit in sorted(edits)] == [b"c", b"b", b"a"]

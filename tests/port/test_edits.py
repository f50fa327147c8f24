"""Which edits of one file are made, in which order, and what stands there afterwards."""

from __future__ import annotations

from itertools import permutations

import pytest

from rocport.model import Applicability, Edit, Finding, Severity, Span
from rocport.port.edits import choose, edits_of, left_manual, origin, replaced


def finding(rule: str, *edits: tuple[int, int, bytes], manual: bool = False) -> Finding:
    kind = Applicability.MANUAL if manual else Applicability.SAFE
    made = tuple(Edit(Span(start, end), text) for start, end, text in edits)
    return Finding(rule, "a.cu", Span(0, 1), 1, 1, "message", Severity.BREAKS_BUILD, kind, 2, edits=made,
                   headers=frozenset({"h.h"}), compat=frozenset({"IS_ROCM"}))  # fmt: skip


def names(findings: list[Finding]) -> list[str]:
    return sorted(item.rule for item in findings)


@pytest.mark.parametrize(
    ("one", "two", "winner"),
    [
        ((0, 9), (2, 4), "one"),  # the wider
        ((2, 4), (0, 9), "two"),
        ((0, 4), (2, 6), "one"),  # of the same width the first by place
        ((2, 6), (0, 4), "two"),
        ((0, 4), (0, 4), "one"),  # of the same place the first by name
        ((3, 3), (3, 3), "one"),  # two insertions at one place
        ((3, 3), (2, 4), "two"),  # an insertion inside an edit
        ((0, 3), (3, 6), ""),  # they touch
        ((3, 3), (3, 6), ""),  # an insertion at the edge of an edit
        ((3, 3), (0, 3), ""),
        ((0, 1), (5, 6), ""),
    ],
)
def test_of_two_edits_that_overlap_one_is_made(one: tuple[int, int], two: tuple[int, int], winner: str) -> None:
    for pair in permutations((finding("one", (*one, b"1")), finding("two", (*two, b"2")))):
        chosen, lost = choose(pair)
        if winner:
            (loser,) = {"one", "two"} - {winner}
            assert names(chosen) == [winner]
            assert [(item.rule, other.rule) for item, other in lost] == [(loser, winner)]
        else:
            assert names(chosen) == ["one", "two"] and not lost


def test_a_finding_is_as_wide_as_its_widest_edit_and_loses_by_any_of_them() -> None:
    wide = finding("wide", (0, 1, b"w"), (10, 19, b"w"))
    chosen, lost = choose([finding("small", (10, 18, b"s"), (30, 31, b"s")), wide])
    assert names(chosen) == ["wide"] and lost[0][1] is wide
    first = finding("first", (20, 24, b""), (2, 4, b""))
    assert names(choose([finding("second", (3, 7, b"")), first])[0]) == ["first"], "its first edit stands before"


def test_equal_edits_are_made_once_and_both_findings_are_done() -> None:
    chosen, lost = choose([finding("one", (0, 4, b"x")), finding("two", (0, 4, b"x"), (6, 7, b"y"))])
    assert names(chosen) == ["one", "two"] and not lost
    assert edits_of(chosen) == [Edit(Span(0, 4), b"x"), Edit(Span(6, 7), b"y")]
    assert replaced(b"0123456789", edits_of(chosen)) == b"x45y789"


def test_an_edit_that_two_findings_share_is_made_beside_another_at_its_place() -> None:
    shared = (0, 0, b"# ROCm\n")
    first, second = finding("first", (0, 0, b"if(USE_ROCM)\n"), shared), finding("second", (9, 9, b"x"), shared)
    for order in permutations((first, second)):
        chosen, lost = choose(order)
        assert names(chosen) == ["first", "second"] and not lost
    assert replaced(b"project()", edits_of([first, second])) == b"# ROCm\nif(USE_ROCM)\nproject()x"


def test_what_is_left_for_the_reader_is_in_nobodys_way() -> None:
    manual, plain = finding("manual", (0, 9, b""), manual=True), finding("plain")
    chosen, lost = choose([manual, plain, finding("edit", (2, 4, b"x"))])
    assert names(chosen) == ["edit", "plain"] and lost == []
    assert choose([]) == ([], [])


@pytest.mark.parametrize("count", [3, 8])
def test_among_many_edits_every_overlap_is_found(count: int) -> None:
    apart = [finding(f"r{at}", (at * 10, at * 10 + 9, b"x")) for at in range(count)]
    apart += [finding(f"i{at}", (at * 10 + 9, at * 10 + 9, b"i")) for at in range(count)]
    for at in range(count):
        for start, end in ((at * 10, at * 10 + 1), (at * 10 + 4, at * 10 + 4), (at * 10 + 8, at * 10 + 9)):
            chosen, lost = choose([finding("late", (start, end, b"z")), *apart])
            assert len(chosen) == 2 * count and [(a.rule, b.rule) for a, b in lost] == [("late", f"r{at}")]


def test_bytes_are_replaced_inserted_and_removed() -> None:
    edits = [Edit(Span(0, 0), b"<"), Edit(Span(1, 3), b""), Edit(Span(3, 4), b"DD"), Edit(Span(5, 5), b">")]
    assert replaced(b"abcde", edits) == b"<aDDe>"
    assert replaced(b"abc", []) == b"abc" and replaced(b"", []) == b""


def test_what_is_left_by_hand_says_why_and_asks_for_nothing() -> None:
    left = left_manual(finding("rule", (0, 1, b"x")), "no line is free")
    assert left.message == "message (not edited: no line is free)" and left.applicability is Applicability.MANUAL
    assert (left.edits, left.headers, left.compat) == ((), frozenset(), frozenset())


def test_a_byte_of_the_edited_text_is_found_in_the_source() -> None:
    edits = [Edit(Span(0, 0), b"12"), Edit(Span(3, 5), b"x"), Edit(Span(7, 9), b"")]
    text = replaced(b"abcdefghij", edits)
    assert text == b"12abcxfgj"
    found = [origin(edits, offset) for offset in range(len(text))]
    assert found == [None, None, 0, 1, 2, None, 5, 6, 9]

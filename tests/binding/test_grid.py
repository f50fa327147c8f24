"""Over a thousand cases made by construction, ported in memory; benchmarks/binding.py ports all of them."""

from __future__ import annotations

import pytest
from grid import Case, cases, wrong

from rocport.binding import bind

SAMPLE = cases()[::4]


def test_the_grid_is_large_and_set_in_halves() -> None:
    every = cases()
    assert len(SAMPLE) >= 1000
    assert len({case.title for case in every}) == len(every)
    assert 0.4 < sum(case.set_aside for case in every) / len(every) < 0.6


@pytest.mark.parametrize("set_aside", [False, True], ids=["looked-at", "set-aside"])
def test_every_name_is_bound_or_named(set_aside: bool) -> None:
    found = [(case.title, wrong(case)) for case in SAMPLE if case.set_aside is set_aside]
    assert [(title, said) for title, said in found if said is not None] == []


def _one(idiom: str, name: str) -> Case:
    return next(item for item in cases() if item.idiom == idiom and item.name.text == name and item.spelling == "plain")


@pytest.mark.parametrize(
    ("idiom", "name"),
    [("macro", "__shfl"), ("parameter", "__ballot"), ("int-local", "warpSize"), ("block-local", "__shfl_xor_sync")],
)
def test_the_judge_sees_a_name_that_is_not_bound(idiom: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _one(idiom, name)
    assert wrong(case) is None
    monkeypatch.setattr(bind.Binder, "bind", lambda self, position: bind.CUDA)
    assert wrong(case) is not None

"""Fused attention by target and release of torch, at the releases where the answer turns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocport.facts.attention import Attention, attention_of
from rocport.facts.targets import load_target
from rocport.model.targets import Support, Switch
from rocport.model.versions import TorchVersion

YES = Support("AOTriton", "yes", "any", "https://a", "measured")
CARD = replace(load_target("gfx1100"), support=(YES,), switches=())
INSTINCT = replace(load_target("gfx942"), support=(YES,), switches=())
SWITCH = Switch("AOTriton", "V", "1", "<2.11", "https://b", "measured")


@pytest.mark.parametrize(
    ("target", "torch", "state"),
    [
        (INSTINCT, "2.2", "no"), (INSTINCT, "2.3", "yes"), (INSTINCT, "2.3.1", "yes"), (INSTINCT, None, "yes"),
        (CARD, "2.4.1", "no"), (CARD, "2.5", "yes"), (CARD, "2.10", "yes"), (CARD, None, "yes"),
    ],
)  # fmt: skip
def test_torch_calls_it_first_in(target, torch, state):
    assert attention_of(target, torch) == Attention(state, YES)
    if torch is not None:
        assert attention_of(target, TorchVersion.parse(f"{torch}+rocm6.4")) == Attention(state, YES)


@pytest.mark.parametrize(("torch", "state"), [("2.10", "switch"), ("2.11", "yes"), (None, "switch"), ("2.4", "no")])
def test_a_switch_is_asked_of_the_releases_that_need_it(torch, state):
    card = replace(CARD, switches=(SWITCH,))
    assert attention_of(card, torch) == Attention(state, YES, (SWITCH,) if state == "switch" else ())


def test_the_newest_record_counts_and_without_one_nothing_is_known():
    for state in ("no", "partial", "aborts"):
        newest = replace(YES, state=state)
        assert attention_of(replace(CARD, support=(YES, newest)), "2.12") == Attention("no", newest)
    assert attention_of(replace(CARD, support=()), "2.12") == Attention("unknown", None)

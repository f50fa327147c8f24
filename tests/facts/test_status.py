"""Status codes: by number, by text, and what happens where the kinds do not claim each exactly once."""

from __future__ import annotations

import pytest

from rocport.facts import status
from rocport.facts.status import SPECIFICITY, StatusCode, StatusFactError, numbers, status_failures, texts

CODES = (
    StatusCode("HIP", "hipFirst", 1, "out of memory"),
    StatusCode("HIP", "hipOther", 1, "memory"),
    StatusCode("HIP", "hipSilent", 2, ""),
    StatusCode("RCCL", "ncclFirst", 1, "Unhandled Error"),
    StatusCode("HIP", "hipSame", 3, "Out of Memory"),
)
COMPONENTS = {"HIP": {"trace": "trace HIP", "source": "https://hip", "cause": "HIP said so."},
              "RCCL": {"trace": "trace RCCL", "source": "https://rccl"}}  # fmt: skip
KIND = {"id": "any", "codes": ["hip*", "nccl*"], "cause": "Because.", "fix": ["do it"]}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "read_codes", lambda: CODES)


@pytest.mark.usefixtures("known")
def test_of_two_names_with_a_number_the_first_is_told() -> None:
    assert numbers("HIP") == {1: "hipFirst", 2: "hipSilent", 3: "hipSame"}
    assert numbers("RCCL") == {1: "ncclFirst"} and numbers("rocBLAS") == {}


@pytest.mark.usefixtures("known")
def test_the_longest_text_is_tried_first_and_belongs_to_the_first_of_its_codes() -> None:
    assert list(texts("HIP")) == [("out of memory", "hipFirst"), ("memory", "hipOther")]
    assert list(texts("RCCL")) == [("unhandled error", "ncclFirst")]


def made(monkeypatch: pytest.MonkeyPatch, *kinds: dict[str, object]) -> dict[str, object]:
    monkeypatch.setattr(status, "read_toml", lambda path: {"kind": list(kinds), "component": COMPONENTS})
    return dict(status_failures.__wrapped__())


@pytest.mark.usefixtures("known")
def test_a_failure_says_component_code_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(monkeypatch, KIND)
    assert set(found) == {code.name for code in CODES}
    first, silent, other = (found[name] for name in ("hipFirst", "hipSilent", "ncclFirst"))
    assert (first.id, first.title) == ("status-hipfirst", "HIP returned hipFirst (1: out of memory)")
    assert silent.title == "HIP returned hipSilent (2)"
    assert (first.cause, other.cause) == ("Because. HIP said so.", "Because.")
    assert first.fix == ("do it", "trace HIP") and other.sources == ("https://rccl",)
    assert (first.specificity, first.certainty, first.example) == (SPECIFICITY, "medium", "hipFirst")


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("kinds", "count"), [([KIND | {"codes": ["hip*"]}], "0 kinds"), ([KIND, KIND | {"codes": ["ncclF*"]}], "2 kinds")]
)
def test_a_code_has_exactly_one_kind(
    kinds: list[dict[str, object]], count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StatusFactError, match=f"ncclFirst has {count}"):
        made(monkeypatch, *kinds)


def test_an_address_in_a_codes_name_is_a_word_of_its_identifier() -> None:
    assert all(failure.id == failure.id.lower() and "_" not in failure.id for failure in status_failures().values())

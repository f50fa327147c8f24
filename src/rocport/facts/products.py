"""Processors with a GPU inside, and cards that no ROCm wheel serves: products.toml."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml


@dataclass(frozen=True)
class Processor:
    """Processors by the names they are sold under, and the gfx target of the GPU in them."""

    target: str
    names: tuple[str, ...]
    source: str
    sure: str


@dataclass(frozen=True)
class Unserved:
    """Cards that no ROCm wheel serves, and what to do instead."""

    chip: str
    names: tuple[str, ...]
    text: str
    source: str
    sure: str


@functools.cache
def _data() -> dict[str, Any]:
    return read_toml(FACTS / "products.toml")


@functools.cache
def processors() -> tuple[Processor, ...]:
    """All processors, in the order of the file."""
    return tuple(Processor(**{**record, "names": tuple(record["names"])}) for record in _data()["processor"])


@functools.cache
def unserved() -> tuple[Unserved, ...]:
    """All cards that nothing serves."""
    return tuple(Unserved(**{**record, "names": tuple(record["names"])}) for record in _data()["unserved"])


def targets_of_processor(text: str) -> tuple[str, ...]:
    """Targets of the processors named in a text; empty when it names none."""
    return tuple(dict.fromkeys(p.target for p in processors() if _names(text, p.names)))


def unserved_product(text: str) -> Unserved | None:
    """The card a text names that nothing serves."""
    return next((card for card in unserved() if _names(text, card.names)), None)


def _names(text: str, names: tuple[str, ...]) -> bool:
    said = f" {_words(text)} "
    return any(f" {_words(name)} " in said for name in names)


def _words(text: str) -> str:
    """Lower case words: `RX580` as `rx 580`, `7840HS` as it is, without AMD, (TM) and punctuation."""
    text = re.sub(r"\((?:tm|r)\)", " ", text.lower()).replace("+", " ")
    text = re.sub(r"\b(rx|hx|mi)(?=\d)", r"\1 ", text)
    words = re.findall(r"[a-z0-9]+", text)
    return " ".join(word for word in words if word not in ("amd", "radeon", "instinct", "pro"))

"""What people say of a failure in words: symptoms.toml."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from rocport.facts._toml import FACTS, read_toml


@dataclass(frozen=True)
class Symptom:
    """A way in which things go wrong, the words for it, and the ids of the failures that are told in this way."""

    name: str
    said: re.Pattern[str]
    failures: tuple[str, ...]


@functools.lru_cache(maxsize=1)
def symptoms() -> tuple[Symptom, ...]:
    """Every symptom, in the order of the file."""
    return tuple(
        Symptom(name, re.compile("|".join(map(_word, row["said"]))), tuple(row["failures"]))
        for name, row in read_toml(FACTS / "symptoms.toml")["symptoms"].items()
    )


def _word(text: str) -> str:
    """The beginning of a word; `n't see` stands behind one."""
    return re.escape(text) if text.startswith("n't") else rf"\b{re.escape(text)}"

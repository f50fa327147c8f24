"""What people say of a failure in words: symptoms.toml."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from rocport.facts._toml import FACTS, read_toml


@dataclass(frozen=True)
class Symptom:
    """A way in which things go wrong, the words for it, and the ids of the failures that are told in this way.

    `beside`: words of which one has to be there too, or another symptom; found everywhere where none has to."""

    name: str
    said: re.Pattern[str]
    failures: tuple[str, ...]
    beside: re.Pattern[str]


@functools.lru_cache(maxsize=1)
def symptoms() -> tuple[Symptom, ...]:
    """Every symptom, in the order of the file."""
    return tuple(
        Symptom(name, _words(row["said"]), tuple(row["failures"]), _words(row.get("beside", ())))
        for name, row in read_toml(FACTS / "symptoms.toml")["symptoms"].items()
    )


def _words(texts: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_word, texts)))


def _word(text: str) -> str:
    """The beginning of a word, or a whole one where `$` ends it; `n't see` stands behind one."""
    word = re.escape(text.removesuffix("$")) + (r"\b" if text.endswith("$") else "")
    return word if text.startswith("n't") else rf"\b{word}"

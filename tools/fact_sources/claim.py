"""One claim of the facts, and what the source it cites says about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """`said`: what the facts hold; `source_says`: what was read, None where the snapshot lacks the text.

    `where`: file of facts; `text`: repository and path that was read.
    """

    name: str
    where: str
    said: str
    source_says: str | None
    text: str

    @property
    def state(self) -> str:
        """`right`, `wrong` or `not checked`."""
        if self.source_says is None:
            return "not checked"
        return "right" if self.said == self.source_says else "wrong"

    @property
    def half(self) -> str:
        """`aside` for a name whose SHA-256 begins with an even hexadecimal digit, else `looked at`."""
        return "aside" if int(hashlib.sha256(self.name.encode()).hexdigest()[0], 16) % 2 == 0 else "looked at"


def listed(values: Iterable[object]) -> str:
    """Values in one order, each once, so that two lists compare."""
    return " ".join(sorted({str(value) for value in values}))

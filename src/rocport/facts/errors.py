"""What a fact loader raises."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FactError(KeyError):
    """Nothing is known under that name; the message says what is, and what comes close."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        text = f"{name!r} is not a known {kind}"
        text += f"; close: {', '.join(close)}" if close else f"; known: {', '.join(names)}"
        self.suggestions: tuple[str, ...] = tuple(close)
        self.message = f"{text}. {hint}" if hint else text
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message

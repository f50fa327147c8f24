"""What a question that cannot be answered raises."""

from __future__ import annotations


class CompatError(ValueError):
    """The message names what was not understood and what comes close; `candidates` are answers to choose from."""

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates

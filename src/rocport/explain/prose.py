"""A few sentences instead of a log: which GPU and program they name, how it goes wrong, and the nearest known failures.

`my RX 7900 XT hangs when I load bitsandbytes` holds no message, so nothing can be claimed. What is known of that
program and of that way to fail is named as possible, each with the doubt that no message shows it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rocport.explain.evidence import SYSTEMS, programs_in, subjects_of
from rocport.explain.match import Match
from rocport.explain.text import lowered
from rocport.facts.failures import CERTAINTIES, Failure, load_failures
from rocport.facts.products import targets_of_processor, unserved_product
from rocport.facts.symptoms import symptoms
from rocport.facts.targets import load_target, targets_of_product
from rocport.model.targets import GfxTarget

MAX_LINES = 12
MAX_CHARACTERS = 2000
NEAREST = 5
"""Failures named, half of them at least for how it goes wrong."""
DOUBT = "told in words: no message in the paste shows it"


@dataclass(frozen=True)
class Told:
    """What some sentences tell. `gpu`: the product's line and targets in words, empty when none is named; `line` and
    `text` are those of the first way in which something goes wrong."""

    line: int
    text: str
    gpu: str
    targets: tuple[GfxTarget, ...]
    programs: tuple[str, ...]
    symptoms: tuple[str, ...]

    def nearest(self) -> tuple[Match, ...]:
        """The failures known of the programs and of the ways to fail, at most NEAREST, each in doubt."""
        known = {failure.id: failure for failure in load_failures()}
        told = [item for item in symptoms() if item.name in self.symptoms]
        by_symptom = [known[name] for item in told for name in item.failures if self._fits(known[name])]
        by_program = sorted(
            (one for one in known.values() if self._of_program(one) and self._fits(one)),
            key=lambda one: (CERTAINTIES.index(one.certainty), -one.specificity, one.id),
        )
        both = [one for one in by_symptom if self._of_program(one)]
        chosen = dict.fromkeys(one.id for one in both)
        chosen |= dict.fromkeys(one.id for one in by_symptom[: max(NEAREST - len(by_program), (NEAREST + 1) // 2)])
        chosen |= dict.fromkeys(one.id for one in by_program)
        return tuple(Match(known[name], (self.line,), 1, self.text, doubts=(DOUBT,)) for name in list(chosen)[:NEAREST])

    def _of_program(self, failure: Failure) -> bool:
        return bool(set(subjects_of(failure.title)) & (set(self.programs) - SYSTEMS))

    def _fits(self, failure: Failure) -> bool:
        """False for another program's or system's failure, and for one of other targets."""
        return set(subjects_of(failure.title)) <= set(self.programs) and failure.where.covers(targets=self.targets)


def told_in(text: str, programs: Collection[str] = ()) -> Told | None:
    """What a short text tells in words; None for a long one, and for one that says of nothing how it goes wrong."""
    lines = text.strip().split("\n")
    if len(text) > MAX_CHARACTERS or len(lines) > MAX_LINES:
        return None
    lower = lowered(text)
    said = [(match.start(), item) for item in symptoms() if (match := item.said.search(lower))]
    if not any(item.beside.search(lower) for _, item in said):
        return None
    found = [(start, item.name) for start, item in said]
    line = lower.count("\n", 0, min(found)[0])
    gpu, targets = _gpu(lines)
    named = tuple(dict.fromkeys((*programs, *programs_in(lower))))
    shown = " ".join(text.split("\n")[line].split())
    return Told(line + 1, shown[:400], gpu, targets, named, tuple(name for _, name in sorted(found)))


def _gpu(lines: list[str]) -> tuple[str, tuple[GfxTarget, ...]]:
    """The GPU of the first line that names one, in words, and its targets: more than one where it is sold so."""
    for number, line in enumerate(lines, 1):
        gone = unserved_product(line)
        if gone is not None:
            return f"line {number} names {gone.chip}: {gone.text}", ()
        names = targets_of_product(line) or targets_of_processor(line)
        if names:
            targets = tuple(load_target(name) for name in names)
            known = " or ".join(f"{target.name} ({target.family})" for target in targets)
            return f"line {number} names a GPU that is {known}", targets
    return "", ()

"""Environment hazards: what goes wrong on a ROCm machine, for which versions, and what fixes it.

One TOML file an area in hazards/. The checks of `rocport doctor` name the hazards they look for.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.errors import FactError

SEVERITIES = ("fatal", "wrong-result", "error", "performance", "warning", "info")


@dataclass(frozen=True)
class Hazard:
    """One hazard. `holds` names versions and targets in words; `symptom` is what the user sees, often verbatim."""

    id: str
    area: str
    subject: str
    severity: str
    holds: str
    detect: str
    symptom: str
    fix: str
    source: str
    sure: str

    @property
    def links(self) -> tuple[str, ...]:
        """The addresses in `source`."""
        return tuple(word.rstrip(";,") for word in self.source.split() if word.startswith("https://"))


@functools.cache
def hazards() -> tuple[Hazard, ...]:
    """Every hazard, by id."""
    found = []
    for path in sorted((FACTS / "hazards").glob("*.toml")):
        found += [Hazard(area=path.stem, **record) for record in read_toml(path)["hazard"]]
    return tuple(sorted(found, key=lambda h: h.id))


def hazard(identifier: str) -> Hazard:
    """The hazard with that id (`H089`). Raises FactError when it is not known."""
    for record in hazards():
        if record.id == identifier:
            return record
    raise FactError("hazard", identifier, (h.id for h in hazards()))

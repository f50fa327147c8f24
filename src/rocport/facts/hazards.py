"""Environment hazards: what goes wrong on a ROCm machine, for which versions, and what fixes it.

One TOML file an area in hazards/. The checks of `rocport doctor` name the hazards they look for.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_range, read_toml
from rocport.facts.errors import FactError
from rocport.model.holds import EVERYWHERE, Range

SEVERITIES = ("fatal", "wrong-result", "error", "performance", "warning", "info")


@dataclass(frozen=True)
class Hazard:
    """One hazard. `holds` names versions and targets in words, `where` those that are known as numbers; `symptom` is
    what the user sees, often verbatim."""

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
    where: Range = EVERYWHERE

    @property
    def links(self) -> tuple[str, ...]:
        """The addresses in `source`."""
        return tuple(word.rstrip(";,") for word in self.source.split() if word.startswith("https://"))


@functools.cache
def hazards() -> tuple[Hazard, ...]:
    """Every hazard, by id."""
    found = []
    for path in sorted((FACTS / "hazards").glob("*.toml")):
        found += [_hazard(path.stem, record) for record in read_toml(path)["hazard"]]
    return tuple(sorted(found, key=lambda h: h.id))


def hazard(identifier: str) -> Hazard:
    """The hazard with that id (`H089`). Raises FactError when it is not known."""
    for record in hazards():
        if record.id == identifier:
            return record
    raise FactError("hazard", identifier, (h.id for h in hazards()))


def _hazard(area: str, record: dict[str, Any]) -> Hazard:
    where = read_range(record.pop("where", {}))
    return Hazard(area=area, **record, where=where)

"""Environment hazards: what goes wrong on a ROCm machine, for which versions, and what fixes it.

One TOML file an area in hazards/: `[[hazard]]` rows say what is known and by whom, `[[finding]]` rows are what the
checks of `rocport doctor` say when they meet one. A text of a finding may hold `{name}`, which the check fills in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocport.facts._toml import FACTS, read_range, read_toml
from rocport.facts.errors import FactError
from rocport.model.holds import EVERYWHERE, Range

SEVERITIES = ("fatal", "wrong-result", "error", "performance", "warning", "info")


@dataclass(frozen=True)
class Hazard:
    """One hazard. `holds` names versions and targets in words, `where` those that are known as numbers; `symptom` is
    what the user sees, often verbatim; `detect` and `fix` are empty where a check looks: its findings say
    what to do."""

    id: str
    area: str
    subject: str
    severity: str
    holds: str
    symptom: str
    source: str
    sure: str
    detect: str = ""
    fix: str = ""
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
        found += [_hazard(path.stem, record) for record in read_toml(path).get("hazard", ())]
    return tuple(sorted(found, key=lambda h: h.id))


def hazard(identifier: str) -> Hazard:
    """The hazard with that id (`H089`). Raises FactError when it is not known."""
    for record in hazards():
        if record.id == identifier:
            return record
    raise FactError("hazard", identifier, (h.id for h in hazards()))


@dataclass(frozen=True)
class Finding:
    """What a check says. `id` is the check's id, a dot, and what was found; `status` is `warn` or `fail`, empty where
    the check decides. `needs` holds `sudo`, `reboot`, `relogin`; `env` maps a variable to its value, False
    to unset it."""

    id: str
    message: str
    consequence: str
    status: str = ""
    fix: tuple[str, ...] = ()
    verify: str = ""
    needs: tuple[str, ...] = ()
    env: Mapping[str, str | bool] = field(default_factory=dict)


def fill(text: str, values: Mapping[str, object]) -> str:
    """`text` with `{name}` replaced where `values` has the name; other braces are the shell's."""
    return _NAME.sub(lambda match: str(values.get(match.group(1), match.group())), text)


_NAME = re.compile(r"\{(\w+)\}")


@functools.cache
def findings() -> Mapping[str, Finding]:
    """Every finding by id. Raises TypeError for an unknown field."""
    rows = [row for path in sorted((FACTS / "hazards").glob("*.toml")) for row in read_toml(path).get("finding", ())]
    made = (Finding(**{**row, "fix": tuple(row.get("fix", ())), "needs": tuple(row.get("needs", ()))}) for row in rows)
    return {one.id: one for one in made}


def _hazard(area: str, record: dict[str, Any]) -> Hazard:
    where = read_range(record.pop("where", {}))
    return Hazard(area=area, **record, where=where)

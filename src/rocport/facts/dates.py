"""When the facts were looked up: dates.toml."""

from __future__ import annotations

import functools
from datetime import date

from rocport.facts._toml import FACTS, read_toml

STALE_DAYS = 120


@functools.cache
def dates() -> dict[str, date]:
    """File or folder of facts -> the day it was last looked up."""
    return dict(read_toml(FACTS / "dates.toml")["as_of"])


def as_of(*names: str) -> date:
    """The day the oldest of these files or folders was looked up; without names, of all."""
    known = dates()
    return min(known[name] for name in names or known)


def facts_as_of(*names: str) -> dict[str, str]:
    """The field of JSON output that says how old its facts are."""
    return {"facts_as_of": as_of(*names).isoformat()}


def dated(*names: str, today: date | None = None) -> str:
    """`Facts as of 2026-11-21.`, and a warning when that is long ago."""
    return overdue(*names, today=today) or f"Facts as of {as_of(*names).isoformat()}."


def overdue(*names: str, today: date | None = None) -> str:
    """The warning that the facts are old; empty while they are not."""
    day = as_of(*names)
    age = ((today or date.today()) - day).days
    if age <= STALE_DAYS:
        return ""
    return f"Facts as of {day.isoformat()}, {age} days ago: newer releases are missing; upgrade rocport."

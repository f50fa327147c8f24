"""Every file of facts has a date, and old ones say so."""

from __future__ import annotations

from datetime import date, timedelta

from rocport.facts._toml import FACTS
from rocport.facts.dates import STALE_DAYS, as_of, dated, dates


def test_every_file_of_facts_is_dated():
    found = {path.relative_to(FACTS).parts[0] for kind in ("*.toml", "*.csv") for path in FACTS.rglob(kind)}
    assert found == set(dates()) | {"status_codes.csv"}  # from the headers of the pinned SDK


def test_old_facts_are_said_to_be():
    day = as_of()
    assert dated(today=day + timedelta(days=STALE_DAYS)) == f"Facts as of {day}."
    assert "upgrade rocport" in dated(today=day + timedelta(days=STALE_DAYS + 1))
    assert as_of("packages", "hazards") == min(as_of("packages"), as_of("hazards"))
    assert dates()["packages"] <= date.max

"""Hazards: whole, with sources, and every serious one that a program can see has a check."""

from __future__ import annotations

import pytest

from rocport.doctor.check import modules
from rocport.facts.errors import FactError
from rocport.facts.hazards import SEVERITIES, hazard, hazards
from rocport.facts.targets import SURE

# what a look at the machine cannot show, and why
NOT_VISIBLE = {
    "H050": "a nightly of one month; the import error itself is explain's",
    "H056": "damage to a file that shows only when it is loaded; explain knows the message",
    "H080": "a slowdown of one kernel between releases: only a benchmark shows it",
}


def test_every_hazard_is_whole():
    ids = [h.id for h in hazards()]
    assert len(set(ids)) == len(ids) >= 128
    looked_for = {identifier for module in modules() for identifier in module.CHECK.hazards}
    for record in hazards():
        assert record.severity in SEVERITIES and record.sure in SURE
        assert record.subject and record.source and record.holds
        assert bool(record.fix) == (record.id not in looked_for), "a check's findings say what to do"


def test_lookup():
    assert "6603" in hazard("H089").source
    assert hazard("H089").links
    with pytest.raises(FactError):
        hazard("H999")


def test_serious_hazards_are_looked_for():
    covered = {identifier for module in modules() for identifier in module.CHECK.hazards}
    assert covered <= {h.id for h in hazards()}
    serious = {h.id for h in hazards() if h.severity in ("fatal", "wrong-result", "performance")}
    assert serious - covered == NOT_VISIBLE.keys()

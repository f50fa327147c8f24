"""What the checks say are rows of facts/hazards: each is used, and each gets what it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rocport.doctor import checks
from rocport.doctor.check import STATUSES, says
from rocport.facts.hazards import Finding, fill, findings

NAME = re.compile(r"\{(\w+)\}")


def calls() -> list[tuple[str, set[str]]]:
    """(row, names handed over) of every `says` in the checks."""
    found = []
    for path in Path(checks.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "says":
                assert isinstance(node.args[0], ast.Constant)
                found.append((str(node.args[0].value), {str(keyword.arg) for keyword in node.keywords}))
    return found


def names(row: Finding) -> set[str]:
    texts = [row.message, row.consequence, row.verify, *row.fix, *row.env, *map(str, row.env.values())]
    return {name for text in texts for name in NAME.findall(text)}


def test_every_row_is_said_and_every_row_that_is_said_is_there() -> None:
    assert {identifier for identifier, _ in calls()} == set(findings())


@pytest.mark.parametrize(("identifier", "given"), calls(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_row_gets_what_it_names(identifier: str, given: set[str]) -> None:
    row = findings()[identifier]
    assert names(row) == given - {"status"}
    assert (row.status in STATUSES[2:]) != ("status" in given)
    assert row.message and row.consequence
    assert set(row.needs) <= {"sudo", "reboot", "relogin"}


def test_only_names_that_are_handed_over_are_filled() -> None:
    assert fill("set {name} to ${HOME} {1}", {"name": "X"}) == "set X to ${HOME} {1}"


def test_a_row_becomes_a_result() -> None:
    result = says("allocator.max-split-size-mb-below-20", [], split=8, name="PYTORCH_ALLOC_CONF")
    assert (result.status, result.message) == ("fail", "max_split_size_mb:8 is below 20")
    assert result.env == {"PYTORCH_ALLOC_CONF": "max_split_size_mb:128"}
    with pytest.raises(KeyError):
        says("allocator.never-heard-of", [])

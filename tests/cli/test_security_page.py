"""docs/security.md says which test holds what: the tests are there, and none of those for it is left out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def rows() -> dict[str, list[Path]]:
    """What is held -> the files of its tests; a name without a folder lies in that of the first."""
    table = PAGE.partition("| attack or leak | test |\n|---|---|\n")[2].partition("\n\n")[0]
    found: dict[str, list[Path]] = {}
    for line in table.splitlines():
        held, named = line.strip("| ").split(" | ")
        names = re.findall(r"`([\w/.-]+)`", named)
        found[held] = [ROOT / (name if "/" in name else Path(names[0]).parent / name) for name in names]
    return found


def test_every_test_that_is_named_is_there() -> None:
    assert len(rows()) > 15
    for held, places in rows().items():
        assert places, held
        for place in places:
            assert place.is_file() and "\ndef test_" in place.read_text(encoding="utf-8"), f"{held}: {place}"


def test_no_test_of_the_proof_or_of_an_attack_is_left_out() -> None:
    named = {place for places in rows().values() for place in places}
    files = {*ROOT.glob("tests/verify/test_nvidia_*.py"), *ROOT.glob("tests/*/test_hostile_*.py")}
    benchmark = (ROOT / "benchmarks" / "hostile.py").read_text(encoding="utf-8")
    files |= {ROOT / name for name in re.findall(r'"(tests/[\w/]+\.py)"', benchmark)}
    assert files <= named, files - named

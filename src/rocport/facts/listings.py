"""What wheel indexes are recorded to hold: wheel_listings.csv. An index that nobody has read has no row."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocport.facts._toml import FACTS

LISTINGS_CSV = FACTS / "wheel_listings.csv"
COLUMNS = ("index", "rocm", "torch", "packages", "python", "systems", "targets", "seen", "how", "source", "lacks")
HOW = {
    "listing": "its page was read",
    "file": "the file was named or fetched",
    "matrix": "PyTorch's own checks install it from there",
    "page": "AMD's page has the command",
    "guide": "PyTorch's page has the command",
}
"""Kinds of record, the strongest first, in words."""


@dataclass(frozen=True)
class Listing:
    """One release of torch for a ROCm (`6.4`, `10.1.0`) on one index.

    `packages`: (name, version) beside it, the version empty where none was named; `python`, `systems` and `targets`
    empty: not said; `lacks`: what a whole listing did not hold.
    """

    index: str
    rocm: str
    torch: str
    packages: tuple[tuple[str, str], ...]
    python: tuple[str, ...]
    systems: tuple[str, ...]
    targets: tuple[str, ...]
    seen: str
    how: str
    source: str
    lacks: tuple[tuple[str, str], ...]

    def version_of(self, package: str) -> str | None:
        """The version of a package beside torch; empty when it is there in a version not named, None when it is not."""
        return self.torch if package == "torch" else dict(self.packages).get(package)

    @property
    def text(self) -> str:
        """`torch 2.9.1 (its page was read, 2025-11-11: SOURCE)`"""
        return f"torch {self.torch} ({HOW[self.how]}, {self.seen}: {self.source})"


@functools.cache
def listings() -> tuple[Listing, ...]:
    """Every record, in the order of the file."""
    with LISTINGS_CSV.open(encoding="utf-8", newline="") as file:
        return tuple(_listing(row) for row in csv.DictReader(file))


def recorded(
    index: str, rocm: str, release: str, specifier: str, python: str | None, system: str, target: str
) -> tuple[Listing, ...]:
    """Records of a torch release (`2.9`) for a ROCm on an index that fit a specifier, a Python (None: any), a system's
    kind and a target: newest torch first, the strongest kind of record first."""
    wanted = SpecifierSet(specifier)
    fit = [
        record
        for record in listings()
        if record.index == index
        and record.rocm == rocm
        and record.torch.rpartition(".")[0] == release
        and wanted.contains(record.torch, prereleases=True)
        and (python is None or not record.python or python in record.python)
        and (not record.systems or system in record.systems)
        and (not record.targets or target in record.targets)
    ]
    kinds = list(HOW)
    return tuple(sorted(fit, key=lambda r: (tuple(-p for p in Version(r.torch).release), kinds.index(r.how))))


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    parts = (word.partition("==") for word in text.split())
    return tuple((name, version) for name, _, version in parts)


def _listing(row: dict[str, str]) -> Listing:
    words = {key: tuple(row[key].split()) for key in ("python", "systems", "targets")}
    plain = {key: row[key] for key in ("index", "rocm", "torch", "seen", "how", "source")}
    return Listing(packages=_pairs(row["packages"]), lacks=_pairs(row["lacks"]), **words, **plain)  # type: ignore[arg-type]

"""Which version of a ROCm library a ROCm release holds: rocm_libraries.csv."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass

from rocport.facts._toml import FACTS
from rocport.facts.rocm import newest_of

LIBRARIES_CSV = FACTS / "rocm_libraries.csv"
COLUMNS = ("library", "rocm", "version", "source")


@dataclass(frozen=True)
class LibraryVersion:
    """One library in one ROCm release (`7.2.3`)."""

    library: str
    rocm: str
    version: str
    source: str


@functools.cache
def library_versions() -> tuple[LibraryVersion, ...]:
    """Every record, in the order of the file."""
    with LIBRARIES_CSV.open(encoding="utf-8", newline="") as file:
        return tuple(LibraryVersion(**row) for row in csv.DictReader(file))


def version_in(library: str, rocm: str) -> LibraryVersion | None:
    """The record of a library for a ROCm release; `7.2` is answered by the newest 7.2.x that has one, None by none."""
    known = {record.rocm: record for record in library_versions() if record.library == library}
    newest = newest_of(known, rocm)
    return known[newest] if newest else None

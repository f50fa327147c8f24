"""Which operating systems a ROCm release is documented for, with their kernels: rocm_systems.csv."""

from __future__ import annotations

import csv
import functools
import re
from dataclasses import dataclass

from rocport.facts._toml import FACTS
from rocport.facts.rocm import newest_of

SYSTEMS_CSV = FACTS / "rocm_systems.csv"
COLUMNS = ("rocm", "family", "distribution", "version", "kernel", "source")


@dataclass(frozen=True)
class RocmSystem:
    """One distribution release that a ROCm release (`7.1.0`) is documented for.

    `family`: `instinct`, `radeon`, `ryzen`, or empty for all (a single product may be listed for fewer); `kernel` as
    the document prints it, empty where it prints none; `source`: one address or two.
    """

    rocm: str
    family: str
    distribution: str
    version: str
    kernel: str
    source: str

    @property
    def title(self) -> str:
        """`ubuntu 24.04.3 (kernel 6.8 GA)`."""
        return f"{self.distribution} {self.version}{f' (kernel {self.kernel})' if self.kernel else ''}"


_SAME = {"rhel": ("oracle", "rocky")}
"""Distributions that a system stands for, and AMD lists apart."""


@functools.cache
def rocm_systems() -> tuple[RocmSystem, ...]:
    """Every record, in the order of the file."""
    with SYSTEMS_CSV.open(encoding="utf-8", newline="") as file:
        return tuple(RocmSystem(**row) for row in csv.DictReader(file))


def systems_of(rocm: str, family: str, system: str = "") -> tuple[RocmSystem, ...]:
    """Records of the newest documented release `rocm` begins (`7.1`: 7.1.0), for a family and a system such as
    `ubuntu24.04` or `rhel9` (empty: all). Empty when the release is not in the facts, or not for that system."""
    newest = newest_of((record.rocm for record in rocm_systems()), rocm)
    if newest is None:
        return ()
    found = re.match(r"([a-z]+)([\d.]*)", system)
    name, version = found.groups() if found else ("", "")
    return tuple(
        record
        for record in rocm_systems()
        if record.rocm == newest
        and record.family in ("", family)
        and (not name or record.distribution in (name, *_SAME.get(name, ())))
        and (not version or re.split(r"[. ]", record.version)[: version.count(".") + 1] == version.split("."))
    )

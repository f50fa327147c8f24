"""Enumerators with another number in HIP than in CUDA: enum_numbers.csv, written by tools/refresh_enum_numbers.py."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from rocport.facts._toml import FACTS

ENUM_NUMBERS = FACTS / "enum_numbers.csv"


@dataclass(frozen=True)
class Number:
    """One enumerator under its two names with its two numbers."""

    cuda: str
    cuda_number: int
    hip: str
    hip_number: int


@dataclass(frozen=True)
class Renumbered:
    """A type of CUDA's whose enumerators have other numbers in HIP's type `hip`, declared by the library `header`."""

    cuda: str
    hip: str
    header: str
    apart: bool
    """True where no number means one enumerator in CUDA and another in HIP, and HIP has most of CUDA's enumerators: a
    number says of itself whose it is."""
    numbers: tuple[Number, ...]

    @cached_property
    def prefix(self) -> str:
        """How the enumerators begin."""
        first, last = min(names := [number.cuda for number in self.numbers]), max(names)
        same = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
        begin = first[: next(same, min(len(first), len(last)))]
        return begin[: begin.rfind("_") + 1] or begin

    @cached_property
    def differs(self) -> str:
        """One enumerator and its two numbers, as a sentence."""
        one = next(number for number in self.numbers if number.cuda_number != number.hip_number)
        return f"{one.cuda} is {one.cuda_number}, {one.hip} {one.hip_number}"

    @cached_property
    def keeps_zero(self) -> bool:
        """True where the enumerator of the number 0 has it in HIP, too."""
        return any(number.cuda_number == number.hip_number == 0 for number in self.numbers)


@cache
def renumbered() -> Mapping[str, Renumbered]:
    """The types by CUDA's name. Raises KeyError, ValueError for a file that is not of this shape."""
    found: dict[str, list[Number]] = {}
    heads: dict[str, tuple[str, str, bool]] = {}
    with ENUM_NUMBERS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            heads[row["type"]] = row["hip_type"], row["header"], row["apart"] == "yes"
            number = Number(row["cuda"], int(row["cuda_number"]), row["hip"], int(row["hip_number"]))
            found.setdefault(row["type"], []).append(number)
    return {name: Renumbered(name, *heads[name], tuple(numbers)) for name, numbers in found.items()}

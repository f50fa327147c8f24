"""Names of CUDA's that a port takes from one of its own headers, or that HIP spells otherwise: intrinsics.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rocport.facts._toml import FACTS, read_toml
from rocport.model import Applicability, Example, Severity


@dataclass(frozen=True)
class Carried:
    """What a name becomes. `header` is a generated header, or `<...>`, or empty."""

    to: bytes
    header: str = ""
    note: str = ""
    """What differs in a corner; a name with a note is a REVIEW finding."""
    settled: str = ""
    """What is done instead of the same, where that is right everywhere."""


@dataclass(frozen=True)
class Intrinsics:
    """Names that belong together, why they are missing and what is done about it."""

    name: str
    summary: str
    why: str
    severity: Severity
    applicability: Applicability
    names: Mapping[bytes, Carried]
    any_type: bool
    """The header has them for every type, the project's own included."""
    examples: tuple[Example, ...]
    clean: tuple[str, ...]
    sources: tuple[str, ...]


@cache
def intrinsics() -> tuple[Intrinsics, ...]:
    """Every group, in the order of the file. Raises ValueError, KeyError for a file that is not of this shape."""
    return tuple(_group(row) for row in read_toml(FACTS / "intrinsics.toml")["group"])


def _group(row: Mapping[str, Any]) -> Intrinsics:
    return Intrinsics(
        row["name"],
        row["summary"],
        row["why"],
        Severity(row["severity"]),
        Applicability(row["applicability"]),
        dict(pair for part in row["set"] for pair in _names(part)),
        row.get("any_type", False),
        tuple(
            Example(example["before"], tuple(example["contains"]), tuple(example.get("absent", ())))
            for example in row["example"]
        ),
        tuple(row["clean"]),
        tuple(row["sources"]),
    )


def _names(part: Mapping[str, Any]) -> Iterator[tuple[bytes, Carried]]:
    """`names` become `rocport::` and the name without `prefix` (any underscores), or stay as they are (`kept`)."""
    rest = part.get("header", ""), part.get("note", ""), part.get("settled", "")
    for name in part.get("names", "").split():
        bare = name.removeprefix(part["prefix"]) if "prefix" in part else name.lstrip("_")
        yield name.encode(), Carried((name if part.get("kept") else f"rocport::{bare}").encode(), *rest)
    for name, to in part.get("renamed", {}).items():
        yield name.encode(), Carried(to.encode(), *rest)

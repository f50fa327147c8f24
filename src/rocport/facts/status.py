"""Status codes of HIP and the ROCm libraries: what a log calls them, what each kind of them means, what to do next.

`status_codes.csv` holds the codes (tools/refresh_status_codes.py writes it from the headers), `status_kinds.toml` what
they have in common. Every code is a `Failure` of little specificity: what the name alone can tell, for a log that no
record of `facts/failures/` knows more about.
"""

from __future__ import annotations

import csv
import fnmatch
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.failures import Failure

STATUS_CSV = FACTS / "status_codes.csv"
SPECIFICITY = 20
"""Below every record that knows a cause, above those that only summarise (an exit code, "the build failed")."""


class StatusFactError(ValueError):
    """A code that no kind of status_kinds.toml claims, or that two claim."""


@dataclass(frozen=True)
class StatusCode:
    """`text` is what the library prints for the code; empty: only its name."""

    component: str
    name: str
    number: int
    text: str


@functools.lru_cache(maxsize=1)
def read_codes() -> tuple[StatusCode, ...]:
    """Every code of status_codes.csv."""
    with STATUS_CSV.open(encoding="utf-8", newline="") as stream:
        return tuple(
            StatusCode(row["component"], row["name"], int(row["number"]), row["text"]) for row in csv.DictReader(stream)
        )


@functools.lru_cache(maxsize=1)
def status_failures() -> Mapping[str, Failure]:
    """Name of a code -> the failure it stands for. Raises StatusFactError for a code without a kind, or with two."""
    facts = read_toml(FACTS / "status_kinds.toml")
    return {code.name: _failure(code, _kind(code, facts["kind"]), facts["component"]) for code in read_codes()}


def _kind(code: StatusCode, kinds: list[dict[str, Any]]) -> dict[str, Any]:
    found = [kind for kind in kinds if any(fnmatch.fnmatchcase(code.name, pattern) for pattern in kind["codes"])]
    if len(found) != 1:
        raise StatusFactError(
            f"status_kinds.toml: {code.name} has {len(found)} kinds: {[kind['id'] for kind in found]}"
        )
    return found[0]


def _failure(code: StatusCode, kind: Mapping[str, Any], components: Mapping[str, Mapping[str, str]]) -> Failure:
    component = components[code.component]
    said = f": {code.text}" if code.text else ""
    return Failure(
        id=f"status-{code.name.replace('_', '-').lower()}",
        area="status",
        title=f"{code.component} returned {code.name} ({code.number}{said})",
        signatures=(),
        applies="",
        cause=f"{kind['cause']} {component.get('cause', '')}".strip(),
        fix=(*kind["fix"], component["trace"]),
        sources=(component["source"],),
        certainty="medium",
        specificity=SPECIFICITY,
        example=code.name,
        unbounded="general",
    )


def texts(component: str) -> Iterator[tuple[str, str]]:
    """(text in lower case, name) of the component's codes that print a text, longest first."""
    found = {
        code.text.lower(): code.name for code in reversed(read_codes()) if code.component == component and code.text
    }
    yield from sorted(found.items(), key=lambda item: -len(item[0]))


def numbers(component: str) -> Mapping[int, str]:
    """Number -> name of the component's codes; of two names the first."""
    return {code.number: code.name for code in reversed(read_codes()) if code.component == component}

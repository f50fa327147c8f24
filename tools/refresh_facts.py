"""Compare the facts with the texts they cite, and rewrite the tables that are copied from a source.

    python tools/refresh_facts.py SNAPSHOT [--check] [--half aside|'looked at'] [--show]

SNAPSHOT is a folder of public repositories as `OWNER+NAME/` (files, a clone, or a bare clone as `repo`): the places are
in `fact_sources/`. Nothing is fetched. Without `--check` it writes `rocm_libraries.csv` and the generated rows of
`wheel_listings.csv`; with it nothing is written, and the exit code is 1 when a claim is wrong. Claims whose text is not
in the snapshot are counted as not checked; those whose text is a plain file there, and not part of a clone, as right by
a copy of the text: they agree with what somebody copied. `--half`: one half of the claims, by the SHA-256 of the names.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fact_sources
from fact_sources.claim import Claim
from fact_sources.snapshot import Snapshot

from rocport.facts.dates import as_of


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """The claims of every module that has some."""
    for found in pkgutil.iter_modules(fact_sources.__path__):
        module = importlib.import_module(f"fact_sources.{found.name}")
        if hasattr(module, "claims"):
            yield from module.claims(snapshot)


_REPOSITORY = re.compile(r"(?:https://github\.com/)?([\w.-]+/[\w.-]+)(?:/(?:blob|releases)\b|:)|https://([^/]+)")


def source_of(text: str) -> str:
    """The repository or site of a text that was not read: what a snapshot would have to hold."""
    found = _REPOSITORY.match(text)
    if found is None:
        return text or "a table that names it"
    return found[1] or f"{found[2]} (no repository)"


def write(snapshot: Snapshot) -> None:
    """Rewrite every table that a module copies from its source."""
    for found in pkgutil.iter_modules(fact_sources.__path__):
        module = importlib.import_module(f"fact_sources.{found.name}")
        if hasattr(module, "write"):
            print(module.write(snapshot))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when a claim is wrong")
    parser.add_argument("--half", choices=["aside", "looked at"], help="one half of the claims only")
    parser.add_argument("--show", action="store_true", help="print the claims that were not checked, too")
    options = parser.parse_args()
    if not options.snapshot.is_dir():
        parser.error(f"{options.snapshot} is no folder; expected one with repositories as OWNER+NAME/")
    snapshot = Snapshot(options.snapshot)
    if not options.check:
        write(snapshot)
    counts: dict[str, Counter[str]] = {"aside": Counter(), "looked at": Counter()}
    unread = Counter[str]()
    for claim in claims(snapshot):
        if options.half and claim.half != options.half:
            continue
        copy = claim.state == "right" and snapshot.copied(claim.text)
        counts[claim.half]["right by a copy of the text" if copy else claim.state] += 1
        if claim.state == "not checked":
            unread[source_of(claim.text)] += 1
        if claim.state == "wrong":
            print(f"wrong: {claim.name} ({claim.where}): facts {claim.said!r}, {claim.text} {claim.source_says!r}")
        elif options.show and claim.state == "not checked":
            print(f"not checked: {claim.name} ({claim.where}): no {claim.text or 'source'} in the snapshot")
    for source, number in unread.most_common():
        print(f"not checked: {number} of {source}")
    for half, states in counts.items():
        if states:
            print(f"{half}: {states.total()} claims, {dict(states)}")
    every = counts["aside"] + counts["looked at"]
    copies = every["right by a copy of the text"]
    says = f"{every['right']} right, {copies} right by a copy of the text, {every['wrong']} wrong"
    print(f"all: {says}, {every['not checked']} not checked of {every.total()}")
    print(f"facts as of {as_of()}")
    return 1 if any(states["wrong"] for states in counts.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())

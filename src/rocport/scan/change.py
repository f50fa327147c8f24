"""What a change adds and takes away: the sites of one scan that another has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from rocport.model import Finding, Findings
from rocport.scan.baseline import fingerprints


@dataclass(frozen=True)
class Change:
    """Sites of `head` that `base` has not, sites of `base` that `head` has not, and those in both, in order of place.

    A site is the same when its rule, its file and the text of its line are, so that code above it may move.
    """

    added: tuple[Finding, ...]
    removed: tuple[Finding, ...]
    kept: tuple[Finding, ...]

    def by_rule(self) -> dict[str, tuple[int, int, int]]:
        """Rule -> sites (added, removed, kept); rules in order of their names."""
        groups = (self.added, self.removed, self.kept)
        names = sorted({item.rule for group in groups for item in group})
        return {name: tuple(sum(i.rule == name for i in group) for group in groups) for name in names}  # type: ignore[misc]


def compare(base: Findings, head: Findings, moved: Mapping[str, str] | None = None) -> Change:
    """The change from `base` to `head`. `moved` maps a path of `head` to the path it had in `base`."""
    before, after = _marked(base, {}), _marked(head, moved or {})
    return Change(
        tuple(item for mark, item in after.items() if mark not in before),
        tuple(item for mark, item in before.items() if mark not in after),
        tuple(item for mark, item in after.items() if mark in before),
    )


def _marked(found: Findings, moved: Mapping[str, str]) -> dict[str, Finding]:
    marked: dict[str, Finding] = {}
    for path, group in groupby(found.findings, key=lambda finding: finding.path):
        same = list(group)
        marks = fingerprints(moved.get(path, path), found.tree.read(path), same)
        marked.update(zip(marks, same, strict=True))
    return marked

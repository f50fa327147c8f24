"""Which findings are shown: open ones or all, rules selected or ignored by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from rocport.model import Finding


class UnknownRule(ValueError):
    """A pattern that matches no rule; the message names it and the nearest names."""


def open_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings without the routine renames: a linter that lists every `cudaMalloc` is switched off."""
    return [finding for finding in findings if not finding.routine]


def matches(rule: str, patterns: Sequence[str]) -> bool:
    """True when a rule's name is one of the patterns; `*` and `?` match as in file names."""
    return any(fnmatchcase(rule, pattern) for pattern in patterns)


def check_patterns(patterns: Sequence[str], rules: Sequence[str]) -> None:
    """Raises UnknownRule for a pattern that matches no rule, so that a misspelt name does not pass in silence."""
    for pattern in patterns:
        if not any(fnmatchcase(rule, pattern) for rule in rules):
            from difflib import get_close_matches

            near = get_close_matches(pattern, rules, n=3)
            hint = f"; did you mean {', '.join(near)}?" if near else "; `rocport scan --rules` lists them"
            raise UnknownRule(f"no rule {pattern!r}{hint}")


def select(findings: Iterable[Finding], chosen: Sequence[str], ignored: Sequence[str]) -> list[Finding]:
    """Findings of the chosen rules (empty: every rule) without those of the ignored ones."""
    return [
        finding
        for finding in findings
        if (not chosen or matches(finding.rule, chosen)) and not (ignored and matches(finding.rule, ignored))
    ]

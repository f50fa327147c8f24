"""Which findings count: what selection and a baseline leave of them. One filter, for `scan` and `port`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from rocport.model import Finding, LeftOut
from rocport.scan import baseline
from rocport.scan.config import ConfigError, Settings, ignored_rules
from rocport.scan.suppress import UNUSED, matches


def open_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings without the routine renames: a linter that lists every `cudaMalloc` is switched off."""
    return [finding for finding in findings if not finding.routine]


def check_patterns(patterns: Iterable[str], rules: Sequence[str]) -> None:
    """Raises ConfigError for a pattern that matches no rule, so that a misspelt name does not pass in silence."""
    for pattern in patterns:
        if not any(fnmatchcase(rule, pattern) for rule in rules):
            near = get_close_matches(pattern, rules, n=3)
            hint = f"; did you mean {', '.join(near)}?" if near else "; `rocport scan --rules` lists them"
            raise ConfigError(f"no rule {pattern!r}{hint}")


@dataclass(frozen=True)
class Filter:
    """Settings and baseline of a project, applied to the findings of one file after its own suppressions."""

    settings: Settings
    root: Path
    accepted: frozenset[str] = frozenset()
    """Fingerprints of the baseline."""

    @classmethod
    def of(cls, settings: Settings, root: Path, rules: Iterable[str]) -> Filter:
        """From the settings of a project; `rules` are the names there are. Raises ConfigError or BaselineError."""
        per_file = (pattern for group in settings.per_file_ignores.values() for pattern in group)
        check_patterns((*settings.select, *settings.ignore, *per_file), [*rules, UNUSED])
        file = settings.baseline_file
        return cls(settings, root, baseline.load(file) if file else frozenset())

    def __call__(self, path: str, data: bytes, findings: Iterable[Finding]) -> tuple[list[Finding], list[LeftOut]]:
        """(findings that count, findings that do not)."""
        settings = self.settings
        ignored = (*settings.ignore, *ignored_rules(settings, self.root, path))
        kept: list[Finding] = []
        left: list[LeftOut] = []
        for finding in findings:
            chosen = not settings.select or matches(finding.rule, settings.select)
            if chosen and not (ignored and matches(finding.rule, ignored)):
                kept.append(finding)
            else:
                left.append(LeftOut(finding.rule, path, finding.line, "settings"))
        if not self.accepted:
            return kept, left
        new: list[Finding] = []
        for mark, finding in zip(baseline.fingerprints(path, data, kept), kept, strict=True):
            if mark in self.accepted:
                left.append(LeftOut(finding.rule, path, finding.line, "baseline"))
            else:
                new.append(finding)
        return new, left

"""Suppressions written in the source: `# rocport: ignore[rule] reason`, and `// rocport: ignore[rule] reason`.

A comment suppresses findings on its own line; one that stands alone on its line suppresses those of the next line.
`rocport: ignore-file[rule] reason` suppresses in the whole file. Rules are separated by commas and may hold `*`;
without brackets every rule is meant. A suppression without use is a finding of its own, `unused-suppression`, so that
it goes when its reason has gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rocport.model import Applicability, Finding, LeftOut, Severity, Span

MARK = b"rocport: ignore"
UNUSED = "unused-suppression"
_COMMENT = re.compile(
    rb"(?P<lead>^[ \t]*)?(?:#|//|/\*|<!--)[^\n]*?rocport: ignore(?P<file>-file)?"
    rb"(?:\[(?P<rules>[^\]\n]*)\])?[ \t]*(?P<reason>[^\n]*)",
    re.MULTILINE,
)


def matches(rule: str, patterns: Sequence[str]) -> bool:
    """True when a rule's name is one of the patterns; `*` and `?` match as in file names."""
    return any(fnmatchcase(rule, pattern) for pattern in patterns)


@dataclass(frozen=True)
class Suppression:
    """One comment. `line` is the line it speaks of; 0 means the whole file. `at` is the line it stands on."""

    at: int
    line: int
    rules: tuple[str, ...]
    reason: str
    span: Span

    def covers(self, finding: Finding) -> bool:
        if self.line and not finding.line <= self.line <= max(finding.line, finding.end_line):
            return False
        return not self.rules or matches(finding.rule, self.rules)


def suppressions(data: bytes) -> list[Suppression]:
    """Every suppression of a file."""
    found: list[Suppression] = []
    if MARK not in data:
        return found
    for match in _COMMENT.finditer(data):
        at = data.count(b"\n", 0, match.start("lead") if match["lead"] is not None else match.start()) + 1
        alone = match["lead"] is not None
        rules = tuple(
            name.strip() for name in (match["rules"] or b"").decode("utf-8", "replace").split(",") if name.strip()
        )
        line = 0 if match["file"] else at + alone
        reason = match["reason"].decode("utf-8", "replace").removesuffix("*/").removesuffix("-->").strip()
        found.append(Suppression(at, line, rules, reason, Span(match.start(), match.end())))
    return found


def apply(path: str, data: bytes, findings: Iterable[Finding]) -> tuple[list[Finding], list[LeftOut]]:
    """(findings that stay, and one for each suppression without use; suppressed findings)."""
    comments = suppressions(data)
    if not comments:
        return list(findings), []
    used: set[Suppression] = set()
    kept: list[Finding] = []
    left: list[LeftOut] = []
    for finding in findings:
        covering = [comment for comment in comments if comment.covers(finding)]
        used.update(covering)
        if covering:
            left.append(LeftOut(finding.rule, path, finding.line, "comment", covering[0].reason))
        else:
            kept.append(finding)
    kept += [_unused(path, comment) for comment in comments if comment not in used]
    return sorted(kept, key=lambda item: (item.span, item.rule)), left


def _unused(path: str, comment: Suppression) -> Finding:
    names = ", ".join(comment.rules) or "every rule"
    return Finding(
        rule=UNUSED,
        path=path,
        span=comment.span,
        line=comment.at,
        end_line=comment.at,
        message=f"suppresses {names}, and there is nothing to suppress",
        severity=Severity.COSMETIC,
        applicability=Applicability.MANUAL,
        fix="remove the comment",
        phase=8,
        source="docs/scan.md",
    )

"""Baselines: findings a project has accepted, so that only new ones are reported.

A finding is known by its rule, its path, the text of its line and how many equal ones came before it in the file; not
by its line number, so that code above may move.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from rocport.model import Finding, SourceTree, shape

SCHEMA = 1


class BaselineError(ValueError):
    """A file that is no baseline; the message names it and the next step."""


def fingerprints(path: str, data: bytes, findings: Iterable[Finding]) -> list[str]:
    """One stable fingerprint a finding of one file, in the order given. Routine renames are counted by themselves, so
    that it makes no difference whether they are among the findings."""
    lines = data.splitlines()
    seen: Counter[tuple[str, bytes, bool]] = Counter()
    found: list[str] = []
    for finding in findings:
        line = b" ".join(lines[finding.line - 1].split()) if finding.line <= len(lines) else b""
        key = (finding.rule, line, finding.routine)
        parts = [finding.rule.encode(), path.encode(errors="surrogateescape"), line, str(seen[key]).encode()]
        seen[key] += 1
        found.append(hashlib.sha256(b"\0".join(parts)).hexdigest()[:16])
    return found


def dump(tree: SourceTree, findings: Iterable[Finding]) -> str:
    """The text of a baseline that accepts the findings, which are in order of path."""
    rows = [
        {"fingerprint": mark, "rule": finding.rule, "path": path}
        for path, group in groupby(findings, key=lambda finding: finding.path)
        for same in [list(group)]
        for mark, finding in zip(fingerprints(path, tree.read(path), same), same, strict=True)
    ]
    return json.dumps({"schema": SCHEMA, "tool": "rocport", "accepted": rows}, indent=1) + "\n"


def load(path: Path) -> frozenset[str]:
    """Fingerprints of a baseline. Raises BaselineError."""
    if path.exists() and not path.is_file():
        raise BaselineError(f"{path}: not a file; write one with --write-baseline")
    try:
        body = shape.read(path.read_text(encoding="utf-8"), {"schema": int})
        if body["schema"] != SCHEMA:
            raise BaselineError(f"{path}: schema {body['schema']!r}, expected {SCHEMA}; use --write-baseline")
        shape.check(body, {"accepted": [{"fingerprint": str}]})
        return frozenset(str(row["fingerprint"]) for row in body["accepted"])
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror}; write one with --write-baseline") from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"{path}: no baseline of rocport; write one with --write-baseline") from error

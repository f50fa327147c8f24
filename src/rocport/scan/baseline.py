"""Baselines: findings a project has accepted, so that only new ones are reported.

A finding is known by its rule, its path, the text of its line and how many equal ones came before it in the file; not
by its line number, so that code above may move.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rocport.model import Finding

SCHEMA = 1


class BaselineError(ValueError):
    """A file that is no baseline; the message names it and the next step."""


def fingerprints(root: Path, findings: Iterable[Finding]) -> list[str]:
    """One stable fingerprint a finding, in the order given. Files are read again for the text of their lines."""
    lines: dict[str, list[bytes]] = {}
    seen: Counter[tuple[str, str, bytes]] = Counter()
    found: list[str] = []
    for finding in findings:
        if finding.path not in lines:
            try:
                lines[finding.path] = (root / finding.path).read_bytes().splitlines()
            except OSError:
                lines[finding.path] = []
        text = lines[finding.path]
        line = b" ".join(text[finding.line - 1].split()) if finding.line <= len(text) else b""
        key = (finding.rule, finding.path, line)
        parts = [finding.rule.encode(), finding.path.encode(), line, str(seen[key]).encode()]
        seen[key] += 1
        found.append(hashlib.sha256(b"\0".join(parts)).hexdigest()[:16])
    return found


def dump(root: Path, findings: Iterable[Finding]) -> str:
    """The text of a baseline that accepts the findings."""
    kept = list(findings)
    rows = [
        {"fingerprint": mark, "rule": finding.rule, "path": finding.path}
        for mark, finding in zip(fingerprints(root, kept), kept, strict=True)
    ]
    return json.dumps({"schema": SCHEMA, "tool": "rocport", "accepted": rows}, indent=1) + "\n"


def load(path: Path) -> frozenset[str]:
    """Fingerprints of a baseline. Raises BaselineError."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["schema"] != SCHEMA:
            raise BaselineError(f"{path}: schema {body['schema']!r}, expected {SCHEMA}; use --write-baseline")
        return frozenset(str(row["fingerprint"]) for row in body["accepted"])
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror}; write one with --write-baseline") from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"{path}: no baseline of rocport; write one with --write-baseline") from error


def without(root: Path, findings: Iterable[Finding], accepted: frozenset[str]) -> list[Finding]:
    """Findings that the baseline does not accept."""
    kept = list(findings)
    return [finding for mark, finding in zip(fingerprints(root, kept), kept, strict=True) if mark not in accepted]

"""Building findings over Python sources."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Finding, Rule, Severity, Span
from rocport.syntax.amd import is_amd_path
from rocport.syntax.python import PythonSource

PYTHON = frozenset({"python"})


def finding(
    rule: Rule,
    source: PythonSource,
    node: ast.AST,
    message: str,
    *,
    fix: str = "",
    confidence: Confidence = Confidence.HIGH,
    severity: Severity | None = None,
    holds: str = "",
) -> Finding:
    """A finding on a node, without edits: `port` leaves Python as it is."""
    start, end = source.span(node)
    return Finding(
        rule=rule.name,
        path=source.path,
        span=Span(start, end),
        line=source.line(start),
        end_line=source.line(max(start, end - 1)),
        message=message,
        severity=rule.severity if severity is None else severity,
        applicability=Applicability.MANUAL,
        confidence=confidence,
        fix=fix,
        phase=rule.phase,
        holds=holds or rule.holds,
        source=rule.sources[0] if rule.sources else "",
    )


def open_places(source: PythonSource, nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes that stand behind no platform test, one a line; none in files that are AMD's already."""
    if is_amd_path(source.path):
        return
    lines: set[int] = set()
    for node in nodes:
        if node.lineno not in lines and not source.gated(node):
            lines.add(node.lineno)
            yield node


def by_line(nodes: Iterable[Any]) -> dict[int, list[Any]]:
    """The nodes that begin on each line, in their order."""
    found: dict[int, list[Any]] = {}
    for node in nodes:
        found.setdefault(node.lineno, []).append(node)
    return found


def call_name(source: PythonSource, node: ast.AST) -> str:
    """Dotted name of what a call calls; empty for anything else."""
    return source.dotted(node.func) if isinstance(node, ast.Call) else ""


def text_of(node: ast.AST | None) -> str:
    """The text of a string constant or of the literal parts of an f-string; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    return ""


def is_build_script(path: str) -> bool:
    """True for setup.py and its like."""
    name = path.rsplit("/", 1)[-1]
    return name.startswith("setup") or name in ("build.py", "compile.py", "conanfile.py") or "build" in name


def is_test_path(path: str) -> bool:
    """True for files of a test suite."""
    name = path.rsplit("/", 1)[-1]
    return name.startswith(("test_", "conftest")) or name.endswith("_test.py") or "tests/" in path

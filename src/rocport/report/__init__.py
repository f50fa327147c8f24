"""One output format a module. A module `<name>.py` with `render(report, colour) -> str` is a format."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from typing import Any

from rocport.model import Report
from rocport.model.terminal import one_line, printable, shown

_COMMANDS = frozenset({"github", "html"})
"""Formats in which lines may begin as commands of a CI system do; they escape what they hold."""
_EXACT = frozenset({"json", "jsonl", "sarif", "html"})
"""Formats that spell every character in their own way."""


def formats() -> list[str]:
    """Names of the formats, in order."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def render(name: str, report: Report, colour: bool = False) -> str:
    """The report in a format. Raises KeyError for a format that does not exist."""
    if name not in formats():
        raise KeyError(f"no report format {name!r}; there are {', '.join(formats())}")
    given = report if name in _EXACT else _plain(report)
    text: str = importlib.import_module(f"{__name__}.{name}").render(given, colour)
    return printable(text) if name in _COMMANDS else shown(text)


def _plain(report: Report) -> Report:
    """The report without what in a file's name or a message acts on a terminal."""
    changed: dict[str, Any] = {}
    for name, fields in (("findings", ("path", "message", "fix")), ("problems", ("path", "message"))):
        items = [
            replace(item, **{field: one_line(getattr(item, field)) for field in fields})
            if any(not getattr(item, field).isprintable() for field in fields)
            else item
            for item in getattr(report, name)
        ]
        changed[name] = tuple(items)
    return replace(report, **changed)

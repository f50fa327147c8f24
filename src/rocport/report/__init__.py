"""One output format a module. A module `<name>.py` with `render(report, colour) -> str` is a format."""

from __future__ import annotations

import importlib
import pkgutil

from rocport.model import Report


def formats() -> list[str]:
    """Names of the formats, in order."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def render(name: str, report: Report, colour: bool = False) -> str:
    """The report in a format. Raises KeyError for a format that does not exist."""
    if name not in formats():
        raise KeyError(f"no report format {name!r}; there are {', '.join(formats())}")
    text: str = importlib.import_module(f"{__name__}.{name}").render(report, colour)
    return text

"""Read the TOML files of this package."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocport.model.holds import Range

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FACTS = Path(__file__).parent


def read_toml(path: Path) -> dict[str, Any]:
    """The parsed file; a malformed file of ours raises ValueError with the path."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error


def read_range(table: Mapping[str, Any]) -> Range:
    """A `where` table: `rocm`, `torch`, `library` (package to specifier) and `target` (field to its values)."""
    target = {name: tuple(values) for name, values in table.get("target", {}).items()}
    return Range(**{**table, "target": target})

"""The manifest a port leaves in its output: what came from what, so that a second run knows what it may rewrite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocport.model import Problem
from rocport.model.manifest import NAME, SCHEMA, Manifest, is_inside
from rocport.model.plain import plain
from rocport.port import state

__all__ = [
    "NAME",
    "SCHEMA",
    "Manifest",
    "NotAPortError",
    "dump_hashes",
    "given",
    "load",
    "load_hashes",
    "open_port",
    "save",
]


class NotAPortError(Exception):
    """A folder is no port, or its sources are gone; the message names what is missing."""


def open_port(folder: Path) -> tuple[Manifest, Path]:
    """The manifest of a port and the folder of its sources. Raises NotAPortError."""
    known = load(folder)
    if not isinstance(known, Manifest):
        why = f"{known.path} {known.message}" if known else f"no {NAME}"
        raise NotAPortError(f"{folder}: not a port ({why})")
    source = (folder / known.source_root).resolve()
    if not source.is_dir():
        raise NotAPortError(f"{folder}: its sources are not at {source}; port again from where they are")
    return known, source


def given(known: Manifest) -> dict[str, Any]:
    """What a port was made with, as `rocport.api.settings` takes it: read again otherwise, its sources give another
    port. Nothing of an option that was not given."""
    said = {name: known.options.get(name, "") for name in ("warp", "layout", "rocm", "torch")}
    targets = tuple(filter(None, known.options.get("targets", "").split(",")))
    return {name: value for name, value in said.items() if value} | ({"target": targets} if targets else {})


def load(folder: Path) -> Manifest | Problem | None:
    """The manifest of an earlier port into `folder`; None when there is none, a Problem when it is unreadable."""
    try:
        return Manifest.parse(plain(folder / NAME).decode("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Problem(NAME, f"cannot be used ({error}); the output is treated as written by hand")


def load_hashes(path: Path) -> dict[str, str]:
    """Path -> SHA-256 of what an earlier port generated, from the record beside it; empty when there is none."""
    try:
        raw = json.loads(plain(path))
        known = raw["generated"].items() if raw["schema"] == SCHEMA else ()
        return {name: str(value) for name, value in known if is_inside(name)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def dump_hashes(hashes: Mapping[str, str]) -> bytes:
    """The record of generated files: lets a later port tell its own text from edits."""
    body = {"schema": SCHEMA, "tool": "rocport", "generated": dict(sorted(hashes.items()))}
    return (json.dumps(body, indent=1) + "\n").encode()


def save(folder: Path, manifest: Manifest) -> None:
    """Write the manifest atomically."""
    body = {
        "schema": SCHEMA,
        "tool": "rocport",
        "version": manifest.version,
        "source_root": manifest.source_root,
        "options": dict(sorted(manifest.options.items())),
        "files": [
            {
                "source": record.source,
                "output": record.output,
                "status": record.status,
                "source_sha256": record.source_sha256,
                "output_sha256": record.output_sha256,
            }
            for _, record in sorted(manifest.files.items())
        ],
    }
    state.write(folder, NAME, (json.dumps(body, indent=1) + "\n").encode(), None)

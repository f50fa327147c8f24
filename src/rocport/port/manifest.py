"""The manifest a port leaves in its output: what came from what, so that a second run knows what it may rewrite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocport.model import FileRecord, Problem
from rocport.port.files import write_atomic

NAME = "rocport-manifest.json"
SCHEMA = 1


@dataclass(frozen=True)
class Manifest:
    """`files` maps an output path to its record; `options` are those of the run that wrote it; `source_root` is the
    path from the output folder to the folder of the sources."""

    version: str
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    source_root: str = ""


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


def load(folder: Path) -> Manifest | Problem | None:
    """The manifest of an earlier port into `folder`; None when there is none, a Problem when it is unreadable."""
    path = folder / NAME
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Problem(NAME, f"cannot be read ({error}); the output is treated as written by hand")
    try:
        if raw["schema"] != SCHEMA:
            return Problem(NAME, f"has schema {raw['schema']!r}, expected {SCHEMA}; written by another rocport")
        files = {
            item["output"]: FileRecord(
                item["source"], item["output"], item["status"], item["source_sha256"], item["output_sha256"]
            )
            for item in raw["files"]
        }
        return Manifest(raw["version"], dict(raw["options"]), files, str(raw.get("source_root", "")))
    except (KeyError, TypeError) as error:
        return Problem(NAME, f"is not a manifest ({error!r}); the output is treated as written by hand")


def load_hashes(path: Path) -> dict[str, str]:
    """Path -> SHA-256 of what an earlier port generated, from the record beside it; empty when there is none."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in raw["generated"].items()} if raw["schema"] == SCHEMA else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
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
    write_atomic(folder / NAME, (json.dumps(body, indent=1) + "\n").encode())

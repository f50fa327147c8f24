"""The manifest a port leaves in its output: what came from what, so that a second run knows what it may rewrite."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rocport.model.report import FileRecord

NAME = "rocport-manifest.json"
SCHEMA = 1
_HASH = re.compile(r"(?:[0-9a-f]{64})?")


@dataclass(frozen=True)
class Manifest:
    """`files` maps an output path to its record; `options` are those of the run that wrote it; `source_root` is the
    path from the output folder to the folder of the sources."""

    version: str
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    source_root: str = ""

    @classmethod
    def parse(cls, text: str) -> Manifest:
        """Raises ValueError, with what is wrong, for anything no port writes: the file may be somebody else's."""
        try:
            raw = json.loads(text)
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
            schema = raw.get("schema") if isinstance(raw, dict) else None
            raise ValueError(f"has schema {schema!r}, expected {SCHEMA}; written by another rocport")
        options, files = raw.get("options"), raw.get("files")
        if not isinstance(options, dict) or not isinstance(files, list):
            raise ValueError("is not a manifest")
        records = [_record(item) for item in files]
        if not all(isinstance(part, str) for part in (*options, *options.values(), raw.get("version"))):
            raise ValueError("is not a manifest")
        source_root = raw.get("source_root", "")
        if not isinstance(source_root, str) or "\0" in source_root:
            raise ValueError(f"names {source_root!r} as the folder of its sources")
        return cls(raw["version"], options, {record.output: record for record in records}, source_root)


def _record(item: object) -> FileRecord:
    names = ("source", "output", "status", "source_sha256", "output_sha256")
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in names):
        raise ValueError("is not a manifest")
    record = FileRecord(*(item[name] for name in names))
    for path in (record.output, record.source):
        if path and not is_inside(path):
            raise ValueError(f"names {path!r}, outside the tree")
    if not record.output or not all(map(_HASH.fullmatch, (record.source_sha256, record.output_sha256))):
        raise ValueError("is not a manifest")
    return record


def is_inside(path: str) -> bool:
    """Whether a relative path, read as text, stays in its tree and out of git's own folder, whose files are run."""
    parts = path.split("/")
    return not (
        path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts) or ".git" in parts[:-1]
    )

"""Results of earlier compilations, keyed by what went into them.

An entry holds the files the compiler read with their content, so that it is found again only while all of them are the
same. Entries are written in one step; one that cannot be read is as if it was not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Fingerprints:
    """Content of files, remembered within a run. Below `tree` it is a hash; elsewhere (a compiler's headers, of which
    there are thousands) size and modification time."""

    def __init__(self, tree: Path) -> None:
        self._tree = f"{tree}{os.sep}"
        self._known: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """Empty when the file cannot be read."""
        known = self._known.get(path)
        if known is None:
            try:
                if path.startswith(self._tree):
                    known = hashlib.sha256(Path(path).read_bytes()).hexdigest()
                else:
                    status = os.stat(path)
                    known = f"{status.st_size}:{status.st_mtime_ns}"
            except OSError:
                known = ""
            self._known[path] = known
        return known


class Cache:
    """A folder of entries, or none. Failing to write one is not an error: the next run compiles."""

    def __init__(self, folder: Path | None, fingerprint: Fingerprints) -> None:
        self._folder = folder
        self._fingerprint = fingerprint

    @staticmethod
    def key(parts: Sequence[str]) -> str:
        return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """The result stored under a key, if every file it was made from is unchanged."""
        if self._folder is None:
            return None
        try:
            entry = json.loads(self._path(key).read_text(encoding="utf-8"))
            if any(self._fingerprint(path) != seen for path, seen in entry["files"].items()):
                return None
            result = entry["result"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return result if isinstance(result, dict) else None

    def put(self, key: str, files: Sequence[str], result: Mapping[str, Any]) -> None:
        if self._folder is None:
            return
        entry = {"files": {path: self._fingerprint(path) for path in files}, "result": result}
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    json.dump(entry, stream)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / "build" / key[:2] / f"{key[2:]}.json"


def read_depfile(path: Path) -> list[str]:
    """The prerequisites in a Makefile fragment written by `-MD`; empty when there is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    text = text.replace("\\\n", " ").replace("\\ ", "\0").replace("$$", "$")
    _, _, prerequisites = text.partition(": ")
    return [item.replace("\0", " ").replace("\\#", "#") for item in prerequisites.split()]

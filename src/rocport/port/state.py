"""What a port in place keeps in `.rocport/` of the tree: enough to undo it, and to merge the next one with edits.

The folder ignores itself (`.gitignore`), so that it is never part of a patch.

    .rocport/undo.json         one record a file the port changed
    .rocport/before/PATH       the bytes it replaced or removed
    .rocport/made.zip          what it made of each file, the base of the next merge
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rocport.model import Problem
from rocport.port.files import sha256, write_atomic

FOLDER = ".rocport"
_SCHEMA = 1
_KEPT = "made.zip"


@dataclass(frozen=True)
class Change:
    """One file of a port in place. Hashes are SHA-256 in hex, empty where the file was, or is, not there."""

    path: str
    before: str
    after: str
    mode: int = 0o644


@dataclass(frozen=True)
class Undone:
    """`restored` have their old bytes, `removed` had been added by the port, `left` are no longer what it wrote."""

    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class StateError(Exception):
    """There is nothing to undo, or the record cannot be read; the message says which and what to do."""


class Kept:
    """What the last port made of each file: the base of a merge with edits by hand. One archive, so that no compiler
    or scanner takes it for sources; one that cannot be read counts as empty."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._new: dict[str, bytes] = {}
        self._old: dict[str, bytes] = {}
        with contextlib.suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(root / FOLDER / _KEPT) as archive:
            self._old = {name: archive.read(name) for name in archive.namelist()}

    def get(self, path: str) -> bytes | None:
        """What was made last; None when that is not known."""
        return self._old.get(path)

    def put(self, path: str, data: bytes) -> None:
        """Remember what is made now. What is not put again is forgotten."""
        self._new[path] = data

    def save(self) -> None:
        """Write the archive, where it changed."""
        if self._new == self._old:
            return
        _ignore(self._root)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in sorted(self._new):
                archive.writestr(zipfile.ZipInfo(path), self._new[path], zipfile.ZIP_DEFLATED)
        write_atomic(self._root / FOLDER / _KEPT, stream.getvalue(), 0o644)


def record(root: Path, writes: Iterable[tuple[str, bytes | None]]) -> None:
    """Save what files hold before they get new bytes (None: before they are removed).

    Where an earlier port wrote the file and nobody changed it since, its older bytes stay the ones to go back to.
    """
    changes = _load(root) if (root / FOLDER / "undo.json").exists() else {}
    _ignore(root)
    for path, data in writes:
        place = root / path
        present = _bytes(place)
        now = sha256(present) if present is not None else ""
        after = sha256(data) if data is not None else ""
        earlier = changes.get(path)
        if earlier is not None and earlier.after == now:
            changes[path] = Change(path, earlier.before, after, earlier.mode)
            continue
        if present is not None:
            write_atomic(root / FOLDER / "before" / path, present, 0o644)
        mode = place.stat().st_mode & 0o777 if present is not None else 0o644
        changes[path] = Change(path, now, after, mode)
    body = {"schema": _SCHEMA, "files": [asdict(changes[path]) for path in sorted(changes)]}
    write_atomic(root / FOLDER / "undo.json", (json.dumps(body, indent=1) + "\n").encode(), 0o644)


def undo(root: Path) -> Undone:
    """Put every file back that is still what the port wrote; name the others. Raises StateError."""
    changes = _load(root)
    restored, removed, left = [], [], []
    for path, change in sorted(changes.items()):
        present = _bytes(root / path)
        now = sha256(present) if present is not None else ""
        before = _bytes(root / FOLDER / "before" / path)
        if now == change.before:
            continue
        if now != change.after or (change.before and (before is None or sha256(before) != change.before)):
            left.append(path)
        elif change.before and before is not None:
            write_atomic(root / path, before, change.mode)
            restored.append(path)
        else:
            (root / path).unlink()
            _prune(root, (root / path).parent)
            removed.append(path)
    if not left:
        _clear(root / FOLDER)
    return Undone(tuple(restored), tuple(removed), tuple(left))


def _load(root: Path) -> dict[str, Change]:
    path = root / FOLDER / "undo.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["schema"] != _SCHEMA:
            raise StateError(f"{path}: schema {raw['schema']!r}, expected {_SCHEMA}; written by another rocport")
        changes = [Change(item["path"], item["before"], item["after"], item["mode"]) for item in raw["files"]]
    except FileNotFoundError:
        raise StateError(f"{root}: no {FOLDER}/undo.json, so there is no port in place to undo") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StateError(f"{path}: cannot be read ({error!r}); restore the files by git") from error
    for change in changes:
        if Path(change.path).is_absolute() or ".." in Path(change.path).parts:
            raise StateError(f"{path}: names {change.path}, outside the tree; restore the files by git")
    return {change.path: change for change in changes}


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _ignore(root: Path) -> None:
    if not (root / FOLDER / ".gitignore").exists():
        write_atomic(root / FOLDER / ".gitignore", b"*\n", 0o644)


def _prune(root: Path, folder: Path) -> None:
    """Remove folders that the port made and that are empty now."""
    while folder != root and folder.is_relative_to(root) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _clear(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


def conflict(path: str, conflicts: int) -> Problem:
    """What to say of a generated file that cannot be merged with edits made by hand."""
    where = f" in {conflicts} places" if conflicts else ""
    return Problem(path, f"was edited by hand and the port changed too{where}; kept, see {path}.rocport-new")

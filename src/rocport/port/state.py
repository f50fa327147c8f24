"""What a port in place keeps in `.rocport/` of the tree: enough to undo it, and to merge the next one with edits.

The folder ignores itself (`.gitignore`), so that it is never part of a patch.

    .rocport/undo.json         one record a file the port changed
    .rocport/before/PATH       the bytes it replaced or removed
    .rocport/part              files on their way, while a port runs
    .rocport/writing           what a port into a folder of its own writes there, while it runs
    .rocport/made.zip          what it made of each file, the base of the next merge
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rocport.model import Problem
from rocport.model.manifest import is_inside
from rocport.model.plain import plain
from rocport.port.files import alone, inside, sha256, write_atomic

FOLDER = ".rocport"
_SCHEMA = 1
_KEPT = "made.zip"
_UNDO = "undo.json"
_PART = "part"
_WRITING = "writing"
_MOST_KEPT = 1 << 30  # bytes; a port of a larger tree is merged without a base
_OWN = frozenset({".git", FOLDER})
_HASH = re.compile(r"(?:[0-9a-f]{64})?")


@dataclass(frozen=True)
class Change:
    """One file of a port in place. Hashes are SHA-256 in hex, empty where the file was, or is, not there."""

    path: str
    before: str
    after: str
    mode: int = 0o644
    between: tuple[str, ...] = ()
    """What earlier ports made of it: it may still hold that where a later one was cut off."""


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
        try:
            with zipfile.ZipFile(inside(root, f"{FOLDER}/{_KEPT}")) as archive:
                if sum(item.file_size for item in archive.infolist()) <= _MOST_KEPT:
                    self._old = {name: archive.read(name) for name in archive.namelist()}
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error):
            self._old = {}

    def get(self, path: str) -> bytes | None:
        """What was made last; None when that is not known."""
        return self._old.get(path)

    def put(self, path: str, data: bytes) -> None:
        """Remember what is made now. What is not put again is forgotten; so is a file whose name is no text, which the
        archive cannot hold."""
        with contextlib.suppress(UnicodeEncodeError):
            path.encode()
            self._new[path] = data

    def save(self) -> None:
        """Write the archive, where it changed."""
        if self._new == self._old:
            return
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in sorted(self._new):
                archive.writestr(zipfile.ZipInfo(path), self._new[path], zipfile.ZIP_DEFLATED)
        write(self._root, f"{FOLDER}/{_KEPT}", stream.getvalue(), 0o644)


def record(root: Path, writes: Iterable[tuple[str, bytes | None]]) -> None:
    """Save what files hold before they get new bytes (None: before they are removed).

    Where an earlier port wrote the file and nobody changed it since, its older bytes stay the ones to go back to.
    """
    changes = _load(root) if (root / FOLDER / _UNDO).exists() else {}
    for path, data in writes:
        place = inside(root, path)
        present = _bytes(place)
        now = sha256(present) if present is not None else ""
        after = sha256(data) if data is not None else ""
        earlier = changes.get(path)
        if earlier is not None and now in (earlier.after, *earlier.between):
            between = tuple(dict.fromkeys([*earlier.between, earlier.after]))
            changes[path] = Change(path, earlier.before, after, earlier.mode, between)
            continue
        if present is not None:
            write(root, f"{FOLDER}/before/{path}", present, 0o644)
        mode = place.stat().st_mode & 0o777 if present is not None else 0o644
        changes[path] = Change(path, now, after, mode)
    body = {"schema": _SCHEMA, "files": [asdict(changes[path]) for path in sorted(changes)]}
    write(root, f"{FOLDER}/{_UNDO}", (json.dumps(body, indent=1) + "\n").encode(), 0o644)


def undo(root: Path) -> Undone:
    """Put every file back that is still what the port wrote; name the others. Raises StateError, OSError, BusyError."""
    with alone(root):
        return _undo(root)


def _undo(root: Path) -> Undone:
    changes = _load(root)
    start(root)
    restored, removed, left = [], [], []
    for path, change in sorted(changes.items()):
        present = _bytes(inside(root, path))
        now = sha256(present) if present is not None else ""
        before = _bytes(inside(root, f"{FOLDER}/before/{path}"))
        if now == change.before:
            continue
        if now not in (change.after, *change.between) or (
            change.before and (before is None or sha256(before) != change.before)
        ):
            left.append(path)
        elif change.before and before is not None:
            write(root, path, before, change.mode)
            restored.append(path)
        else:
            (root / path).unlink()
            _prune(root, (root / path).parent)
            removed.append(path)
    if not left:
        _clear(inside(root, FOLDER))
    else:
        end(root)
    return Undone(tuple(restored), tuple(removed), tuple(left))


def _load(root: Path) -> dict[str, Change]:
    path = inside(root, f"{FOLDER}/{_UNDO}")
    try:
        raw = json.loads(plain(path))
        if raw["schema"] != _SCHEMA:
            raise StateError(f"{path}: schema {raw['schema']!r}, expected {_SCHEMA}; written by another rocport")
        changes = [Change(**item | {"between": tuple(item.get("between", ()))}) for item in raw["files"]]
    except FileNotFoundError:
        raise StateError(f"{root}: no {FOLDER}/{_UNDO}, so there is no port in place to undo") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StateError(f"{path}: cannot be read ({error!r}); restore the files by git") from error
    for change in changes:
        if not isinstance(change.path, str) or not is_inside(change.path) or _OWN & set(change.path.split("/")):
            raise StateError(f"{path}: names {change.path!r}, outside the tree; restore the files by git")
        hashes = (change.before, change.after, *change.between)
        if not all(isinstance(part, str) and _HASH.fullmatch(part) for part in hashes):
            raise StateError(f"{path}: not what a port writes ({change.path}); restore the files by git")
        if not isinstance(change.mode, int) or change.mode & ~0o777:
            raise StateError(f"{path}: gives {change.path} the mode {change.mode!r}; restore the files by git")
    return {change.path: change for change in changes}


def _bytes(path: Path) -> bytes | None:
    try:
        return plain(path)
    except OSError:
        return None


def write(root: Path, path: str, data: bytes, mode: int | None) -> None:
    """Replace a file of the tree in one step. What a port that is cut off leaves of it lies in `.rocport/part`, where
    the next one clears it away. Raises OSError, OutsideError for a path that a link leads out of the tree."""
    place = inside(root, path)
    part = inside(root, f"{FOLDER}/{_PART}")
    part.mkdir(parents=True, exist_ok=True)
    write_atomic(place, data, mode, part)


def start(root: Path) -> None:
    """Clear away what a port that was cut off left, and keep the folder out of patches."""
    shutil.rmtree(inside(root, f"{FOLDER}/{_PART}"), ignore_errors=True)
    place = inside(root, f"{FOLDER}/.gitignore")
    if not place.exists():
        write_atomic(place, b"*\n", 0o644)


def note(root: Path, path: str, hashed: str) -> None:
    """Say that a port is about to write a file of this hash: if it is cut off, the next one knows it for its own."""
    with inside(root, f"{FOLDER}/{_WRITING}").open("a", encoding="ascii") as stream:
        stream.write(json.dumps([path, hashed]) + "\n")


def noted(root: Path) -> dict[str, frozenset[str]]:
    """What ports that were cut off were about to write: path -> hashes. A line that cannot be read says nothing."""
    found: dict[str, frozenset[str]] = {}
    try:
        lines = plain(inside(root, f"{FOLDER}/{_WRITING}")).decode("ascii").splitlines()
    except (OSError, ValueError):
        return {}
    for line in lines:
        try:
            path, hashed = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        if isinstance(path, str) and is_inside(path) and not _OWN & set(path.split("/")) and isinstance(hashed, str):
            found[path] = found.get(path, frozenset()) | {hashed}
    return found


def end(root: Path) -> None:
    """Remove what is needed during a port only."""
    with contextlib.suppress(OSError):
        inside(root, f"{FOLDER}/{_WRITING}").unlink(missing_ok=True)
        inside(root, f"{FOLDER}/{_PART}").rmdir()


def _prune(root: Path, folder: Path) -> None:
    """Remove folders that the port made and that are empty now."""
    while folder != root and folder.is_relative_to(root) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _clear(folder: Path) -> None:
    """Remove it, the record last: an undo that is cut off can be run again."""
    last = [folder / ".gitignore", folder / _UNDO]
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path not in last:
            path.unlink()
    for path in last:
        path.unlink(missing_ok=True)
    folder.rmdir()


def conflict(path: str, conflicts: int) -> Problem:
    """What to say of a generated file that cannot be merged with edits made by hand."""
    where = f" in {conflicts} places" if conflicts else ""
    return Problem(path, f"was edited by hand and the port changed too{where}; kept, see {path}.rocport-new")

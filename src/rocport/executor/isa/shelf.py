# SPDX-License-Identifier: Apache-2.0
"""What the ISA executor keeps, and how much: what was not used for longest goes first.

Translated kernels, the forms that they are linked from, code objects and object files of the runtime can all be made
again, so any file of them may go. The runtime's libraries and the ROCm folders stay: programs that were built are
linked to them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST = 8 << 30
"""Bytes that are kept when nobody says how many."""
_STAY = frozenset({"lib", "rocm"})
_IN_USE_S = 3600
"""What was made or read since then may be part of something that is being made."""
_EVERY_S = 24 * 3600


@dataclass(frozen=True)
class Pruned:
    """What a pruning found and removed."""

    files: int
    bytes: int
    left: int
    """Bytes that are kept, the libraries not counted."""


def prune(folder: Path, most: int) -> Pruned:
    """Remove files below the ISA executor's folder until those that may go hold at most `most` bytes.

    A file's age is the time since it was written or, where the file system notes that, read.
    """
    kept = sorted(_files(folder))
    left = sum(size for _, size, _ in kept)
    newest = time.time() - _IN_USE_S
    files = removed = 0
    for used, size, path in kept:
        if left <= most or used > newest:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            files, removed, left = files + 1, removed + size, left - size
    return Pruned(files, removed, left)


def prune_sometimes(folder: Path) -> None:
    """`prune` to `MOST`, once a day."""
    mark = folder / "pruned"
    with contextlib.suppress(OSError):
        if not mark.exists() or time.time() - mark.stat().st_mtime > _EVERY_S:
            mark.touch()
            prune(folder, MOST)


def sizes(folder: Path) -> dict[str, int]:
    """Bytes by what lies directly in the folder, those that stay among them."""
    held: dict[str, int] = {}
    for path in folder.rglob("*") if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                top = path.relative_to(folder).parts[0]
                held[top] = held.get(top, 0) + path.stat().st_size
    return dict(sorted(held.items()))


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """When it was used last, its bytes, and the file, of all that may go."""
    for shelf in folder.iterdir() if folder.is_dir() else ():
        if shelf.name in _STAY or not shelf.is_dir():
            continue
        for path in shelf.rglob("*"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                if path.is_file():
                    yield max(status.st_mtime, status.st_atime), status.st_size, path

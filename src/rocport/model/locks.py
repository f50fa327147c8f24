"""Holding a place for one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(path: Path, busy: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold `path`, a folder that is there or else a lock file; free again however the process ends.

    Another holder is waited for. `busy` is called before: it can tell the user, or raise, and then nobody waits. Where
    the file system knows no locks, nothing is held.
    """
    folder = path.is_dir()
    if not folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY if folder else os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if busy is not None:
                busy()
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass
        yield
    finally:
        os.close(handle)

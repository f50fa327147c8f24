"""Where rocport keeps what it can make again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

_PRIVATE = 0o700


class NotPrivateError(OSError):
    """A folder of rocport's belongs to somebody else; the message says which and what to do."""


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """$ROCPORT_CACHE, else $XDG_CACHE_HOME/rocport, else ~/.cache/rocport: the user's alone.

    It is made where it is missing; what lies in it is run, so nobody else may write there. Raises NotPrivateError.
    """
    named = environ.get("ROCPORT_CACHE")
    cache = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return private(Path(named) if named else Path(cache) / "rocport")


def private(folder: Path) -> Path:
    """The folder, made where it is missing, closed to others where it is open. Raises NotPrivateError for one of
    another user; one that cannot be made is left to who writes there."""
    with contextlib.suppress(FileExistsError, PermissionError, NotADirectoryError, FileNotFoundError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_PRIVATE)
    try:
        status = folder.stat()
    except OSError:
        return folder
    if status.st_uid != os.geteuid():
        raise NotPrivateError(
            f"{folder}: belongs to another user, who could put programs there; set ROCPORT_CACHE to your own"
        )
    if status.st_mode & 0o077:
        folder.chmod(_PRIVATE)
    return folder

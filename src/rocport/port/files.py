"""Writing files: atomically or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rocport.model.locks import locked


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class OutsideError(OSError):
    """A path leaves its tree by a link; the message names both."""


def inside(root: Path, path: str) -> Path:
    """`root / path`, once no link on the way there leads elsewhere: what is written to a tree stays in it.

    Raises OutsideError.
    """
    place = str(root)
    for part in Path(path).parts:
        place = os.path.join(place, part)
        if os.path.islink(place):
            reason = f"is a link to {os.readlink(place)}, which is not followed; put a file or folder in its place"
            raise OutsideError(errno.ELOOP, reason, place)
    return Path(place)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; made where it is missing, and free again however the process ends.

    Raises BusyError where another rocport writes there.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def refuse() -> None:
        raise BusyError(f"{folder}: another rocport writes there; run again when it has ended") from None

    with locked(folder, refuse):
        yield


class BusyError(Exception):
    """Another process writes to the same place."""


def write_atomic(path: Path, data: bytes, mode: int | None = None, scratch: Path | None = None) -> None:
    """Replace `path` by `data` in one step: a reader, or a crash, sees the old file or the new one.

    `mode` is the permission bits of the new file; None keeps those of the file it replaces, or 0644. `scratch` is a
    folder for the new file until then, beside `path` by default.
    """
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=scratch or path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        if scratch is None or error.errno != errno.EXDEV:
            raise
        write_atomic(path, data, mode)  # `path` lies on another file system
    except BaseException:
        os.unlink(temporary)
        raise

"""Read a file that somebody else could have put there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def plain(place: Path) -> bytes:
    """The content of a regular file. Raises OSError, for a pipe or a device too: reading one may never end."""
    opened = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(place))
        with os.fdopen(opened, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(opened)

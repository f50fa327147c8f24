"""A generated file meets the one that is there: what stands there afterwards."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Met:
    """`data` is what the file shall hold, None where it stays as it is.

    `status` is `new`, `same`, `updated` (nobody had edited it), `edited` (by hand, and the generated version is still
    the one it was made from), `merged` or `conflict`.
    """

    status: str
    data: bytes | None = None
    conflicts: int = 0


def meet(present: bytes | None, base: bytes | None, new: bytes) -> Met:
    """What becomes of a file: `base` is the version generated last, None where it is not known.

    Edits by hand are merged with what changed between `base` and `new`, line by line as `git merge-file` does it. Where
    both changed the same lines nothing is written.
    """
    if present is None:
        return Met("new", new)
    if present == new:
        return Met("same")
    if base is None:
        return Met("conflict")
    if present == base:
        return Met("updated", new)
    if base == new:
        return Met("edited")
    return _merged(present, base, new)


def _merged(present: bytes, base: bytes, new: bytes) -> Met:
    with tempfile.TemporaryDirectory(prefix="rocport-") as folder:
        paths = [Path(folder, name) for name in ("yours", "last", "new")]
        for path, data in zip(paths, (present, base, new), strict=True):
            path.write_bytes(data)
        try:
            done = subprocess.run(["git", "merge-file", "-p", *map(str, paths)], capture_output=True, check=False)
        except FileNotFoundError:
            return Met("conflict")
    if done.returncode == 0:
        return Met("merged", done.stdout)
    return Met("conflict", conflicts=done.returncode if 0 < done.returncode < 128 else 0)

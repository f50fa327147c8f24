"""The hash of a file, and of rocport itself, as every command computes them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def file_sha256(path: Path) -> str:
    """SHA-256 of what a file holds, read in pieces. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def code_digest(packages: Iterable[str] = ("",), *, by_content: bool = False) -> str:
    """Changes with every file of the named packages of rocport, by default all of it, and with its version.

    By size and time, which is quick and says nothing to another machine; or by content, which is the same on each.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256((root / "__init__.py").read_bytes())
    for package in packages:
        for folder, folders, files in os.walk(root / package):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for path in (os.path.join(folder, name) for name in sorted(files)):
                if by_content:
                    digest.update(
                        f"{os.path.relpath(path, root)}\0{file_sha256(Path(path))}\n".encode(errors="surrogateescape")
                    )
                else:
                    status = os.stat(path)
                    digest.update(f"{path}:{status.st_size}:{status.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()

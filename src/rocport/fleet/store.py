"""Results by what they were made from: a folder, or a place fsspec knows (s3://, gs://, memory://).

An entry is written once: of two that are written under one key the first stays. A result that is there is never made
again; one that is not, or cannot be read, was not made, or was lost with its worker, and is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from rocport.model.shape import Each, Row, ShapeError, read


def key_of(value: Any) -> str:
    """The key of what a result is made from: SHA-256 of its JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Store(Protocol):
    """Bytes under names such as `results/KEY.json`."""

    def read(self, name: str) -> bytes | None:
        """None where nothing is stored."""

    def write(self, name: str, data: bytes, replace: bool = False) -> bool:
        """Store what is not there yet; False where something is and is not to be replaced."""

    def names(self, folder: str) -> list[str]:
        """The names below a folder."""


class FolderStore:
    """A folder; entries appear in one step."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, name: str) -> bytes | None:
        try:
            return (self.root / name).read_bytes()
        except OSError:
            return None

    def write(self, name: str, data: bytes, replace: bool = False) -> bool:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            if replace:
                os.replace(temporary, path)
            else:
                os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        return True

    def names(self, folder: str) -> list[str]:
        with suppress(OSError):
            return sorted(f"{folder}/{entry}" for entry in os.listdir(self.root / folder) if not entry.startswith("."))
        return []


class RemoteStore:
    """A place of fsspec: object stores put an object in one step, and only where there is none; elsewhere (sftp, smb) a
    file gets its name when it is whole, where the file system can rename."""

    def __init__(self, url: str) -> None:
        import fsspec

        self.system, self.root = fsspec.core.url_to_fs(url)
        base = fsspec.AbstractFileSystem
        in_steps = getattr(self.system.pipe_file, "__func__", None) is base.pipe_file
        self._renames = in_steps and getattr(self.system.mv, "__func__", None) is not base.mv

    def read(self, name: str) -> bytes | None:
        try:
            data: bytes = self.system.cat_file(f"{self.root}/{name}")
        except FileNotFoundError:
            return None
        return data

    def write(self, name: str, data: bytes, replace: bool = False) -> bool:
        path = f"{self.root}/{name}"
        if not replace and self.system.exists(path):
            return False
        folder, last = path.rsplit("/", 1)
        self.system.makedirs(folder, exist_ok=True)
        try:
            if self._renames:
                temporary = f"{folder}/.{last}.{uuid.uuid4().hex}"
                self.system.pipe_file(temporary, data)
                self.system.mv(temporary, path)
            else:
                self.system.pipe_file(path, data, mode="overwrite" if replace else "create")
        except FileExistsError:
            return False
        return True

    def names(self, folder: str) -> list[str]:
        try:
            found = self.system.ls(f"{self.root}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        last = (name.rsplit("/", 1)[1] for name in found)
        return sorted(f"{folder}/{name}" for name in last if not name.startswith("."))


def open_store(url: str) -> Store:
    """The store at a folder or URL. Raises ImportError where fsspec is needed and missing."""
    url = url.removeprefix("file://")
    return RemoteStore(url) if "://" in url else FolderStore(Path(url))


_RESULT = {
    "step?": str, "name?": str, "state?": re.compile("done|failed"), "reason?": str, "how?": str, "seconds?": float,
    "files?": int, "cuda?": int, "bytes?": int, "minutes?": int, "rules?": Each(int), "findings?": [dict],
    "problems?": [Row(str, str)], "units?": list, "programs?": Each(str),
    "page?": re.compile(r"pages/[\w-]+\.html"),
}  # fmt: skip
"""What a worker stores: of an object store anybody may write to, it is read as data of somebody else."""


def read_result(store: Store, key: str) -> dict[str, Any] | None:
    """The result under a key; None where there is none, or one that no worker writes whole."""
    data = store.read(f"results/{key}.json")
    with suppress(ShapeError):
        result: dict[str, Any] | None = None if data is None else read(data, _RESULT)
        return result
    return None


def write_result(store: Store, key: str, result: Mapping[str, Any]) -> bool:
    """Store a result, over one that cannot be read; False where there was one that can."""
    name, data = f"results/{key}.json", (json.dumps(result) + "\n").encode()
    return store.write(name, data) or (read_result(store, key) is None and store.write(name, data, replace=True))

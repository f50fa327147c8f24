"""A source tree: what is there and what it is. Every file is read once, when its bytes are first asked for."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rocport.model.report import Problem

# A generated table can be this long and still be source; beyond it a file is copied, not parsed.
MAX_SOURCE_BYTES = 64 * 1024 * 1024
_MOST_BYTES = 2 << 30
"""A larger file is not read, whatever it is."""


class SourceFile:
    """One regular file of a tree; `path` is relative with `/`, `size` in bytes, `language` as `scan.tree.language_of`
    names it (`other`: no rule reads it)."""

    def __init__(self, root: Path, path: str, language: str, size: int) -> None:
        self.root = root
        self.path = path
        self.language = language
        self.size = size

    @cached_property
    def content(self) -> bytes | Problem:
        """The bytes, read once and kept, or why the file is not treated as source."""
        if self.size > MAX_SOURCE_BYTES:
            return Problem(self.path, f"{self.size} bytes: larger than {MAX_SOURCE_BYTES}; copied without being read")
        try:
            data = (self.root / self.path).read_bytes()
        except OSError as error:
            return Problem(self.path, f"cannot be read: {error.strerror}; check its permissions; not ported")
        if b"\r" in data and b"\n" not in data and self.language != "other":
            return Problem(self.path, "its lines end in CR alone, which is read as one line; copied: convert it to LF")
        if b"\0" in data:
            return Problem(self.path, "holds NUL bytes, so it is not text (binary or UTF-16); copied, not ported")
        return data

    def read(self) -> bytes:
        """The bytes whatever they are; those of a file no rule reads are kept only where its content was asked for.
        Raises OSError."""
        asked = self.language != "other" or "content" in self.__dict__
        if asked and isinstance(self.content, bytes):
            return self.content
        if self.size > _MOST_BYTES:
            raise OSError(errno.EFBIG, f"larger than {_MOST_BYTES} bytes; copy it by hand")
        return (self.root / self.path).read_bytes()

    @cached_property
    def sha256(self) -> str:
        """Hash of the content in hex; empty where there is none."""
        return hashlib.sha256(self.content).hexdigest() if isinstance(self.content, bytes) else ""


@dataclass(frozen=True)
class SourceTree:
    """The files below `root`, in order of path."""

    root: Path
    files: tuple[SourceFile, ...]
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links, kept as they are: (path, target)."""
    problems: tuple[Problem, ...] = ()
    left_out: tuple[str, ...] = ()
    """Files and folders (with `/`) that git ignores or the settings exclude; no rule looks at them."""
    single: bool = False
    """True when one file was named, beside which nothing belongs."""

    @cached_property
    def by_path(self) -> dict[str, SourceFile]:
        """Path -> file."""
        return {file.path: file for file in self.files}

    @cached_property
    def paths(self) -> frozenset[str]:
        """Paths of all files."""
        return frozenset(self.by_path)

    @cached_property
    def sources(self) -> tuple[SourceFile, ...]:
        """The files some rule may read."""
        return tuple(file for file in self.files if file.language != "other")

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises OSError when it cannot be read."""
        file = self.by_path.get(path)
        return file.read() if file is not None else (self.root / path).read_bytes()

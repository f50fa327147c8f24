"""Files a port adds: what they hold, and what their makers may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocport.model import Finding, Options


@dataclass(frozen=True)
class NewFile:
    """A file the port adds at `path` (relative, with `/`); `why` is one sentence for the report, `source` the file of
    the tree it is made from, if there is one. `base` are the bytes it replaces when those are known to be made by a
    port, edits by hand merged into `data` already."""

    path: str
    data: bytes
    why: str
    source: str = ""
    base: bytes | None = None


@dataclass(frozen=True)
class PortedTree:
    """The tree as the port leaves it, for what is generated beside it.

    `files` are the paths of the sources; `changed` maps those with edits to their bytes after the port. `layout` is
    `hip` (a tree of its own) or `both` (one tree for both platforms).
    """

    root: Path
    files: frozenset[str]
    findings: tuple[Finding, ...] = ()
    changed: Mapping[str, bytes] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    layout: str = "hip"

    def read(self, path: str) -> bytes:
        """A file as it is after the port. Raises OSError when it cannot be read."""
        edited = self.changed.get(path)
        return edited if edited is not None else (self.root / path).read_bytes()

    def named(self, *names: str) -> list[str]:
        """Paths whose last part is one of the names, in order."""
        return sorted(path for path in self.files if path.rsplit("/", 1)[-1] in names)

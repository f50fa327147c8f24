"""What the makers of generated files may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocport.model import Options, SourceTree


@dataclass(frozen=True)
class PortedTree:
    """The tree as the port leaves it: `changed` maps the paths with edits to their bytes after the port."""

    tree: SourceTree
    changed: Mapping[str, bytes] = field(default_factory=dict)
    options: Options = field(default_factory=Options)

    @property
    def files(self) -> frozenset[str]:
        """Paths of all files."""
        return self.tree.paths

    def read(self, path: str) -> bytes:
        """A file as it is after the port. Raises OSError when it cannot be read."""
        edited = self.changed.get(path)
        return edited if edited is not None else self.tree.read(path)

    def named(self, *names: str) -> list[str]:
        """Paths whose last part is one of the names, in order."""
        return sorted(path for path in self.files if path.rsplit("/", 1)[-1] in names)

"""What `scan` and `port` make of a tree, as values: nothing is written by making one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rocport.model.context import Options
from rocport.model.findings import Applicability, Finding
from rocport.model.report import LeftOut, Problem
from rocport.model.tree import SourceTree


@dataclass(frozen=True)
class PatchFile:
    """A file the port writes at `path` (relative, with `/`).

    `why` is one sentence for the report, `source` the file of the tree it is made from, if there is one. `base` are the
    bytes it replaces in the tree; None for a file that is new there.
    """

    path: str
    data: bytes
    why: str
    source: str = ""
    base: bytes | None = None

    @property
    def translated(self) -> bool:
        """True when it replaces its source, False when it stands beside it."""
        return self.path == self.source


@dataclass(frozen=True)
class Findings:
    """What `scan` found, in order of path and place."""

    tree: SourceTree
    options: Options
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class Patch:
    """What `port` makes of a tree: the files it writes, and the findings with what became of them.

    Files of the tree that are not in `files` are taken over as they are.
    """

    tree: SourceTree
    options: Options
    files: Mapping[str, PatchFile]
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @cached_property
    def added(self) -> tuple[PatchFile, ...]:
        """The files that are made from no file of the tree."""
        return tuple(file for file in self.files.values() if not file.source)

    @property
    def complete(self) -> bool:
        """True when no site is left for the reader and no file was in the way."""
        return not self.problems and all(item.applicability is not Applicability.MANUAL for item in self.findings)

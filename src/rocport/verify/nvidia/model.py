"""What the comparison of a port with its original found."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

PROOF_SCHEMA = 1
LEVEL = "nvidia-unchanged"


class Shown(enum.Enum):
    """How a file of the ported tree was shown to leave the NVIDIA path as it was."""

    HASH = "hash"
    """The same bytes."""
    SYNTAX_TREE = "syntax tree"
    """Python: the same tree and the same scopes, once the platform predicate is false."""
    TOKEN_STREAM = "token stream"
    """C, C++, CMake, Make, Meson: the same tokens, once the ROCm conditionals are false."""
    CONTENT = "parsed content"
    """Data files and requirements: what is read from them is the same, or only optional entries were added."""
    UNREACHABLE = "new and unreachable"
    COMPAT = "generated module, safe to import"
    HIP_ONLY = "HIP only"
    """A CUDA source translated under its own name, in a tree that is not built for NVIDIA."""


class Kind(enum.Enum):
    DIFFERENCE = "difference"
    """The NVIDIA path is not what it was, or is not shown to be."""
    REVIEW = "review"
    """Harmless by what could be read; a person should look. A difference with `--strict`."""
    UNDECIDED = "not decided"
    """What the NVIDIA path does here cannot be read off the text: look at it. A difference with `--strict`."""
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Difference:
    """One place where the two trees differ, or could.

    `line` counts in the ported file and `original_line` in the original; 0 where there is no such line.
    """

    kind: Kind
    code: str
    """What sort: `nvidia-python`, `nvidia-tokens`, `nvidia-bytes`, `nvidia-reachable`, ..."""
    path: str
    line: int
    original_line: int
    message: str
    next_step: str

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "kind": self.kind.value}


@dataclass(frozen=True)
class FileShown:
    """One file, and how it was shown; None where it was not."""

    path: str
    shown: Shown | None


@dataclass(frozen=True)
class Proof:
    """Result of `rocport verify --level nvidia-unchanged`."""

    root: str
    original: str
    """The original, in words: a folder, or a revision."""
    files: tuple[FileShown, ...]
    differences: tuple[Difference, ...]
    strict: bool = False
    bytes_read: int = 0
    notes: tuple[str, ...] = field(default=())
    """What the verdict rests on besides the files, one sentence each."""

    @property
    def hip_only(self) -> int:
        return sum(file.shown is Shown.HIP_ONLY for file in self.files)

    def of(self, kind: Kind) -> tuple[Difference, ...]:
        return tuple(item for item in self.differences if item.kind is kind)

    @property
    def changed(self) -> bool:
        """A difference was found; with `strict`, something to review or a file that is HIP only counts as one."""
        if self.of(Kind.DIFFERENCE):
            return True
        return self.strict and bool(self.of(Kind.REVIEW) or self.of(Kind.UNDECIDED) or self.hip_only)

    @property
    def unknown(self) -> bool:
        """Nothing is known to differ, but something could not be compared."""
        return not self.changed and bool(self.of(Kind.UNKNOWN))

    @property
    def verdict(self) -> str:
        if self.changed:
            return "changed"
        if self.unknown:
            return "cannot tell"
        return "not decided" if self.of(Kind.UNDECIDED) else "unchanged"

    def counts(self) -> dict[str, int]:
        """Files by how they were shown, every way named; `not shown` last."""
        counted = Counter(file.shown for file in self.files)
        return {**{shown.value: counted[shown] for shown in Shown}, "not shown": counted[None]}

    def to_json(self) -> dict[str, Any]:
        """The documented schema; see docs/nvidia-unchanged.md."""
        return {
            "schema": PROOF_SCHEMA,
            "level": LEVEL,
            "root": self.root,
            "original": self.original,
            "verdict": self.verdict,
            "strict": self.strict,
            "files": [{"path": file.path, "shown": file.shown.value if file.shown else None} for file in self.files],
            "differences": [item.to_json() for item in self.differences],
            "notes": list(self.notes),
            "summary": {
                "files": len(self.files),
                "bytes_read": self.bytes_read,
                "shown": self.counts(),
                **{kind.value: len(self.of(kind)) for kind in Kind},
            },
        }

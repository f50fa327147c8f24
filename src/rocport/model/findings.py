"""Findings, edits and their applicability: what flows from the rules to the porter and the reports."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Applicability(enum.Enum):
    """How far an edit may be trusted. Ordered: SAFE < REVIEW < MANUAL."""

    SAFE = "safe"
    """Done; keeps the meaning on both platforms."""
    REVIEW = "review"
    """Done; right in the cases the rule documents, listed with why."""
    MANUAL = "manual"
    """Not done; listed with what to do."""


class Severity(enum.Enum):
    """What happens on ROCm when the site is left as it is."""

    BREAKS_BUILD = "breaks-build"
    BREAKS_IMPORT = "breaks-import"
    BREAKS_RUN = "breaks-run"
    WRONG_RESULT = "wrong-result"
    SLOW = "slow"
    COSMETIC = "cosmetic"


class Confidence(enum.Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, order=True)
class Span:
    """Bytes [start, end) of one file."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"span [{self.start}, {self.end}) is not a range of bytes")

    def overlaps(self, other: Span) -> bool:
        """True when both cover a byte in common, insert at the same place, or one inserts inside the other."""
        if self == other:
            return True
        return self.start < other.end and other.start < self.end

    def covers(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, order=True)
class Edit:
    """Replace the bytes of `span` by `text`."""

    span: Span
    text: bytes


@dataclass(frozen=True)
class Finding:
    """One site of one file that ROCm treats differently.

    `span` is what is pointed at; `edits` are what the porter does there (empty for MANUAL). `headers` names generated
    or HIP headers the edited text needs, such as `rocport_warp.h` or `<hip/hip_fp16.h>`.
    """

    rule: str
    path: str
    span: Span
    line: int
    end_line: int
    message: str
    severity: Severity
    applicability: Applicability
    phase: int
    """Phase of the porting procedure, 0 to 8."""
    confidence: Confidence = Confidence.HIGH
    fix: str = ""
    edits: tuple[Edit, ...] = ()
    headers: frozenset[str] = field(default_factory=frozenset)
    compat: frozenset[str] = field(default_factory=frozenset)
    """Names of the generated `_rocm_compat` Python module that the edited text uses as `_rocm_compat.NAME`."""
    holds: str = ""
    """Versions and targets the finding holds for, in words; empty: all."""
    source: str = ""
    routine: bool = False
    """A one-to-one rename that every hipify makes too: `port` does it, `scan` does not list it unless asked."""
    cause: str = ""
    """What one change settles, where the message names one site of it; empty: the message and the fix."""

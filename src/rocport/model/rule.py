"""The shape of a rule. A rule is one module: a docstring, one `RULE`, one `check()`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocport.model.findings import Applicability, Severity
from rocport.model.holds import EVERYWHERE, Range

PHASES = (
    "environment and dependencies",
    "detection and flags",
    "translate CUDA sources",
    "warp width and targets",
    "build system",
    "libraries",
    "torch.compile",
    "graphs",
    "verification",
)
"""Titles of the phases of the porting procedure, by number."""


@dataclass(frozen=True)
class Example:
    """Source a rule fires on and, where it edits, the text after the port.

    `contains` are strings the ported file must hold, `absent` strings it must not. Examples are the rule's tests and
    its documentation page.
    """

    before: str
    contains: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    path: str = "kernel.cu"
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """What a rule is called, when it runs, and the examples that prove it."""

    name: str
    summary: str
    severity: Severity
    applicability: Applicability
    """The weakest applicability a finding of this rule carries."""
    phase: int
    """Phase of the porting procedure its findings belong to: 0 to 8, see `PHASES`."""
    languages: frozenset[str] = frozenset({"cuda"})
    triggers: frozenset[bytes] = frozenset()
    """Identifiers of which a file must hold at least one; empty: every file of the languages."""
    claims: frozenset[bytes] = frozenset()
    """Names of the symbol facts that this rule answers for: api-identifier leaves them to it."""
    fallback: bool = False
    """Its findings give way to those of any other rule on the same text: that rule knows more."""
    binds: bool = False
    """It settles whose a name is by itself: its findings also stand where the name is bound to the project."""
    where: Range = EVERYWHERE
    """Versions and targets it looks at: with `--rocm`, `--torch` or `--target` out of it, the rule does not run."""
    holds: str = ""
    """Versions and targets its findings hold for, in words, where a finding does not say it itself."""
    examples: tuple[Example, ...] = ()
    clean: tuple[Example | str, ...] = ()
    sources: tuple[str, ...] = ()

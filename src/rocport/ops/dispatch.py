"""One signature, several tiers: which one runs, and why the others do not.

A tier is a module `ops/<operator>/<tier>.py` with a `TIER`. Tiers are tried in order of rank; the first that does not
refuse runs. `eager` comes last, never refuses, and is the specification.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rocport.runtime.machine import Platform

VARIABLE = "ROCPORT_OPS_TIER"
"""`eager` pins every operator, `sdpa=eager,quantize=triton` pins some."""


class TierRefused(RuntimeError):
    """The pinned tier cannot serve this call; the message says why and what can."""


@dataclass(frozen=True)
class Tier:
    """One implementation. `refuse(platform, *args)` returns why it cannot serve the call, or an empty string."""

    name: str
    rank: int
    run: Callable[..., Any]
    refuse: Callable[..., str]
    source: str = ""
    """Where the implementation lives: a project, or `rocport`."""
    prepare: Callable[..., Callable[..., Any]] | None = None
    """What `run` does, decided once: takes the arguments of `run`, returns a function of those that change from call to
    call, for calls of the same shapes, types and device. `rocport.ops.plans` says which change."""


@dataclass(frozen=True)
class Choice:
    """One row of an explanation: the tier, why it was refused (empty: it can serve), and whether it is the one."""

    tier: str
    refused: str
    chosen: bool
    source: str = ""


@dataclass
class Operator:
    """An operator: its tiers, found by walking its package."""

    name: str
    package: str
    _tiers: list[Tier] | None = field(default=None, repr=False)
    _broken: dict[str, str] = field(default_factory=dict, repr=False)
    _pinned: str = field(default="", repr=False)

    def tiers(self) -> list[Tier]:
        """Every tier that can be imported, best first."""
        if self._tiers is None:
            package = importlib.import_module(self.package)
            found = []
            for info in pkgutil.iter_modules(package.__path__):
                try:
                    module = importlib.import_module(f"{self.package}.{info.name}")
                except ImportError as error:
                    self._broken[info.name] = f"cannot be imported: {error}"
                    continue
                if isinstance(tier := getattr(module, "TIER", None), Tier):
                    found.append(tier)
            self._tiers = sorted(found, key=lambda tier: tier.rank)
        return self._tiers

    def pin(self, tier: str) -> None:
        """Use `tier` for every call in this process; an empty string unpins. Raises ValueError for an unknown tier."""
        if tier:
            self._known(tier)
        self._pinned = tier

    def _known(self, name: str) -> Tier:
        for tier in self.tiers():
            if tier.name == name:
                return tier
        if name in self._broken:
            raise TierRefused(f"{self.name}: tier {name!r} {self._broken[name]}")
        known = ", ".join([tier.name for tier in self.tiers()] + sorted(self._broken))
        raise ValueError(f"{self.name} has no tier {name!r}: it has {known}")

    def pinned(self) -> str:
        """The tier pinned for this process or by the environment; empty when none is."""
        return self._pinned or _from_environment(asked(), self.name)

    def select(self, platform: Platform, *args: Any, tier: str = "", **kwargs: Any) -> Tier:
        """The tier that will serve this call. Raises TierRefused when the pinned one cannot."""
        if name := tier or self.pinned():
            chosen = self._known(name)
            if reason := chosen.refuse(platform, *args, **kwargs):
                raise TierRefused(f"{self.name}: tier {name!r} is pinned and refuses: {reason}")
            return chosen
        for candidate in self.tiers():
            if not candidate.refuse(platform, *args, **kwargs):
                return candidate
        raise TierRefused(f"{self.name}: every tier refuses; `rocport ops explain {self.name}` says why")

    def explain(self, platform: Platform, *args: Any, tier: str = "", **kwargs: Any) -> list[Choice]:
        """Every tier with its reason, best first; broken imports last."""
        name = tier or self.pinned()
        rows, taken = [], False
        for candidate in self.tiers():
            reason = candidate.refuse(platform, *args, **kwargs)
            if name and candidate.name != name:
                reason = reason or f"tier {name!r} is pinned"
            chosen = not reason and not taken
            taken = taken or chosen
            rows.append(Choice(candidate.name, reason, chosen, candidate.source))
        rows += [Choice(broken, why, False) for broken, why in sorted(self._broken.items())]
        return rows


_KEY = getattr(os.environ, "encodekey", str)(VARIABLE)


def asked() -> str:
    """What the environment pins. Asked at every call, and seldom there: `in` and `get` raise and catch then, which is
    a seventh of the host's time of a call, so that the dictionary below is asked first."""
    held = getattr(os.environ, "_data", None)
    return os.environ.get(VARIABLE, "") if held is None or _KEY in held else ""


def _from_environment(text: str, operator: str) -> str:
    general = ""
    for part in filter(None, (entry.strip() for entry in text.split(","))):
        name, equals, tier = part.partition("=")
        if not equals:
            general = name
        elif name.strip() == operator:
            return tier.strip()
    return general


_operators: dict[str, Operator] = {}


def operator(name: str) -> Operator:
    """The operator of that name, `rocport/ops/<name>/`. Raises KeyError, naming what there is."""
    if name not in _operators:
        if name not in names():
            raise KeyError(f"no operator {name!r}: there are {', '.join(names())}")
        _operators[name] = Operator(name, f"rocport.ops.{name}")
    return _operators[name]


def names() -> list[str]:
    """Every operator: the packages below rocport.ops."""
    package = importlib.import_module("rocport.ops")
    return sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.ispkg and info.name != "modules")


@contextmanager
def pinned(**tiers: str) -> Iterator[None]:
    """Pin operators for a block: `with pinned(sdpa="eager"): ...`."""
    before = {name: operator(name)._pinned for name in tiers}
    try:
        for name, tier in tiers.items():
            operator(name).pin(tier)
        yield
    finally:
        for name, tier in before.items():
            operator(name)._pinned = tier


def never(*_: Any, **__: Any) -> str:
    """The refusal of a tier that serves everything."""
    return ""

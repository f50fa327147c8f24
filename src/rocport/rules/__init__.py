"""What breaks on ROCm: one rule a file, found by walking the package. There is no central list.

A module has one `RULE` and its `check`, or `RULES`, one for each group of a table of facts.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any, cast

from rocport.facts.holds import holds
from rocport.model import Context, Finding, Rule
from rocport.model.holds import EVERYWHERE

Check = Callable[[Any, Context], Iterable[Finding]]


@dataclass(frozen=True)
class LoadedRule:
    """A rule and the function that applies it to one parsed file."""

    rule: Rule
    check: Check
    doc: str
    module: str


@cache
def discover() -> tuple[LoadedRule, ...]:
    """Every rule, ordered by name. Raises ValueError when two rules share a name."""
    found: dict[str, LoadedRule] = {}
    for info in pkgutil.walk_packages(__path__, __name__ + "."):
        if info.ispkg:
            continue
        for loaded in _rules_of(importlib.import_module(info.name)):
            name = loaded.rule.name
            if name in found:
                raise ValueError(f"{info.name}: rule {name!r} is already defined in {found[name].module}")
            found[name] = replace(loaded, check=_within_range(loaded.rule, loaded.check))
    return tuple(found[name] for name in sorted(found))


def _rules_of(module: ModuleType) -> Iterable[LoadedRule]:
    rule = getattr(module, "RULE", None)
    if rule is not None:
        return (LoadedRule(rule, module.check, (module.__doc__ or "").strip(), module.__name__),)
    return cast("tuple[LoadedRule, ...]", getattr(module, "RULES", ()))


def _within_range(rule: Rule, check: Check) -> Check:
    """The check of a rule, silent where the versions and targets asked for are out of the rule's range."""
    if rule.where == EVERYWHERE:
        return check

    def bounded(source: Any, context: Context) -> Iterable[Finding]:
        return check(source, context) if holds(rule.where, context.options) else ()

    return bounded

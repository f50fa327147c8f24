"""What breaks on ROCm: one rule a file, found by walking the package. There is no central list."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

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
        module = importlib.import_module(info.name)
        rule = getattr(module, "RULE", None)
        if rule is None:
            continue
        if rule.name in found:
            raise ValueError(f"{info.name}: rule {rule.name!r} is already defined in {found[rule.name].module}")
        check = _within_range(rule, module.check)
        found[rule.name] = LoadedRule(rule, check, (module.__doc__ or "").strip(), info.name)
    return tuple(found[name] for name in sorted(found))


def _within_range(rule: Rule, check: Check) -> Check:
    """The check of a rule, silent where the versions and targets asked for are out of the rule's range."""
    if rule.where == EVERYWHERE:
        return check

    def bounded(source: Any, context: Context) -> Iterable[Finding]:
        return check(source, context) if holds(rule.where, context.options) else ()

    return bounded

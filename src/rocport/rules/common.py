"""What a rule of any language asks about the versions and targets a finding holds for."""

from __future__ import annotations

from collections.abc import Callable

from rocport.facts.targets import load_target
from rocport.model import Context, GfxTarget


def any_target(context: Context, holds: Callable[[GfxTarget], bool]) -> bool:
    """True when a finding holds for one of the targets asked for; without `--target`, for every target."""
    targets = context.options.targets
    return not targets or any(holds(load_target(name)) for name in targets)

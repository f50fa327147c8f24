"""The one place that applies `--rocm`, `--torch` and `--target` to where a statement holds."""

from __future__ import annotations

from rocport.facts.targets import load_target
from rocport.model.context import Options
from rocport.model.holds import Range


def holds(where: Range, options: Options) -> bool:
    """False where the versions and targets asked for are all out of the range. Raises FactError for a target that is
    not known."""
    targets = [load_target(name) for name in options.targets] if where.target else []
    return where.covers(rocm=options.rocm, torch=options.torch, targets=targets)

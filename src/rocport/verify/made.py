"""Units as the project's own Makefiles compile them: the macros, include folders and standard that `make -n` names.

A Makefile puts its flags together from variables, conditions and `$(shell ...)`; reading its text finds some of them.
Make itself is asked, confined, and what it says of a unit stands in place of what was read. Where it says nothing of a
unit (another goal compiles it, or there is no make), what was read stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rocport.executor.program import Unit as Compiled
from rocport.executor.program import makefile_units
from rocport.project.tree import Project, Unit

_NEWER = re.compile(r"-std=(?:c|gnu)\+\+2[0a3b]")
_STANDARD = {"0": 20, "a": 20, "3": 23, "b": 23}


def as_made(project: Project, units: Iterable[Unit]) -> list[Unit]:
    """The units, those that a Makefile of the tree compiles with its flags."""
    units = list(units)
    root = project.root.resolve()
    waiting = {unit.path for unit in units if unit.named}
    folders = {build.folder for build in project.builds if build.beside}
    made: dict[str, Compiled] = {}
    for folder in sorted(folders, key=lambda folder: (folder.count("/"), folder)):
        if not any(path.startswith(f"{folder}/" if folder else "") for path in waiting):
            continue
        for unit in makefile_units(root / folder):
            if unit.source.is_relative_to(root):
                made.setdefault(unit.source.relative_to(root).as_posix(), unit)
        waiting -= made.keys()
    return [_with(root, unit, made[unit.path].flags) if unit.path in made else unit for unit in units]


def _with(root: Path, unit: Unit, flags: tuple[str, ...]) -> Unit:
    defines = [flag[2:] for flag in flags if flag.startswith("-D")]
    places = [flag[2:] if flag.startswith("-I") else flag for flag in flags if not flag.startswith(("-D", "-std"))]
    inside = [Path(place) for place in places if place.startswith("/") and Path(place).is_relative_to(root)]
    folders = [place.relative_to(root).as_posix() for place in inside if place.is_dir()]
    newer = [_STANDARD[flag[-1]] for flag in flags if _NEWER.fullmatch(flag)]
    return replace(
        unit,
        defines=tuple(dict.fromkeys(defines)),
        includes=tuple(dict.fromkeys([*folders, *unit.includes])),
        standard=max([unit.standard, *newer]),
    )

"""Units as the project's own Makefiles compile them: the macros, include folders and standard that `make -n` names.

A Makefile puts its flags together from variables, conditions and `$(shell ...)`; reading its text finds some of them.
Make itself is asked, confined, and what it says of a unit stands in place of what was read. Where it says nothing of a
unit (another goal compiles it, or there is no make), what was read stays; a folder that does not answer is said.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rocport.executor.program import ProgramError, makefile_units
from rocport.project.defines import OF_EXTENSIONS
from rocport.project.tree import Project
from rocport.project.unit import Unit

_NEWER = re.compile(r"-std=(?:c|gnu)\+\+2[0a3b]")
_STANDARD = {"0": 20, "a": 20, "3": 23, "b": 23}


_EACH_S, _TOGETHER_S = 120.0, 600.0
"""Against a Makefile that hangs; make answers within a second."""


def as_made(
    project: Project, units: Iterable[Unit], each_s: float = _EACH_S, together_s: float = _TOGETHER_S
) -> tuple[list[Unit], list[str]]:
    """The units, those that a Makefile of the tree compiles with its flags; the folders of which make said nothing
    that can be read within the limits, each with the reason."""
    units = list(units)
    root = project.root.resolve()
    waiting = {unit.path for unit in units if unit.named and not unit.extension}
    extension = {unit.path for unit in units if unit.extension}
    folders = {build.folder for build in project.builds if build.beside}
    made: dict[str, Unit] = {}
    unanswered: list[str] = []
    until = time.monotonic() + together_s
    for folder in sorted(folders, key=lambda folder: (folder.count("/"), folder)):
        if not any(path.startswith(f"{folder}/" if folder else "") for path in waiting):
            continue
        left = until - time.monotonic()
        try:
            if left <= 0:
                raise ProgramError(f"not asked, all Makefiles together took {together_s:.0f} s")
            answer = makefile_units(root / folder, min(each_s, left))
        except ProgramError as error:
            unanswered.append(f"{folder or '.'} ({error})")
            continue
        for unit in answer:
            if unit.source.is_relative_to(root) and (path := unit.source.relative_to(root).as_posix()) not in extension:
                made.setdefault(path, unit)
        waiting -= made.keys()
    return [_with(root, unit, made[unit.path].flags) if unit.path in made else unit for unit in units], unanswered


def export_folders(project: Project, cache: Path) -> list[Path]:
    """Folders with what the project's `generate_export_header` writes when it is configured; kept below `cache`."""
    headers = sorted(dict(header for build in project.builds for header in build.exports).items())
    if not headers:
        return []
    place = cache / "export-headers" / hashlib.sha256(repr(headers).encode()).hexdigest()[:24]
    for name, text in headers:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return list(dict.fromkeys([place, *((place / name).parent for name, _ in headers)]))


def _with(root: Path, unit: Unit, flags: tuple[str, ...]) -> Unit:
    defines = [flag[2:] for flag in flags if flag.startswith("-D")]
    places = [flag[2:] if flag.startswith("-I") else flag for flag in flags if not flag.startswith(("-D", "-std"))]
    inside = [Path(place) for place in places if place.startswith("/") and Path(place).is_relative_to(root)]
    folders = [place.relative_to(root).as_posix() for place in inside if place.is_dir()]
    newer = [_STANDARD[flag[-1]] for flag in flags if _NEWER.fullmatch(flag)]
    return replace(
        unit,
        defines=tuple(dict.fromkeys(defines)),
        undefines=tuple(dict.fromkeys([*unit.undefines, *OF_EXTENSIONS])),
        includes=tuple(dict.fromkeys([*folders, *unit.includes])),
        standard=max([unit.standard, *newer]),
    )

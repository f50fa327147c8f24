"""PyTorch's headers and HIP's, precompiled: parsing them is most of what a unit takes to compile.

Of PyTorch's, one precompiled header serves every unit of a pass (host, or one gfx target) that includes its C++ API and
asks for the same macros and C++ standard. It holds what nearly every extension includes, so that a unit sees
declarations for which it may have forgotten an include: who asks for it says so. A unit that does not compile with it
is compiled without, unless something is missing even so.

HIP's header serves the units that it changes nothing for: those that begin with it, or with headers of the language's
standard library before it. A unit that does not compile with it is compiled without, and that is what counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rocport.executor.first_header import RUNTIME, headers_before, holds, known, macro
from rocport.executor.precompiled import PLAIN, header
from rocport.project.unit import Unit

_HEADERS = ("torch/extension.h", "ATen/hip/HIPContext.h", "c10/hip/HIPGuard.h")
_WITH_API = ("torch/extension.h", "torch/torch.h", "torch/all.h", "torch/python.h", "torch/types.h", "ATen/ATen.h")
_OF_THE_LINKER = ("-Xoffload-linker", "--noinhibit-exec")
_OF_THE_OUTPUT = ("-c", "-fsyntax-only")
_OF_THE_PASS = re.compile(r"--offload-\S+|--no-gpu-bundle-output|-O\d")
_STANDARD = re.compile(
    r"[a-z_]+|(?:assert|ctype|errno|float|inttypes|limits|locale|math|signal|std(?:arg|bool|def|int|io|lib)|string|time)\.h"
)
"""Headers of C++ and C, which neither know HIP nor change what it reads."""


def precompiled(unit: Unit, command: Sequence[str], own: Collection[str]) -> list[str]:
    """What to add to a unit's compiler command; empty where no precompiled header serves it.

    `command` ends in the unit's path; `own` are the arguments of it that are the unit's own (its macros and include
    folders), which the precompiled header is made without.
    """
    if unit.language == "c" or not any(name in _WITH_API for name in unit.headers):
        return []
    return _use(header([*_general(command, own), *PLAIN], _HEADERS, ()))


def with_hip(unit: Unit, command: Sequence[str], own: Collection[str], root: Path, target: str) -> list[str]:
    """As `precompiled`, of HIP's header for a unit of a tree at `root`, where it gives what the whole unit gives.

    `target` is a gfx target whose passes lead to all headers.
    """
    if unit.language != "hip" or unit.forced:
        return []
    folders = [root / folder for folder in {*_folders(command, own), str(Path(unit.path).parent)}]
    try:
        before = headers_before(root / unit.path, folders)
        if before is None or not all(map(_STANDARD.fullmatch, before)):
            return []
        general = _general(command, own)
        leads_to = known([word for word in general if not _OF_THE_PASS.fullmatch(word)], RUNTIME, target)
        if leads_to is None:
            return []
        words, names = leads_to
        macros = {macro(word) for word in command if word.startswith(("-D", "-U")) and (word in own or word[1] == "U")}
        if not macros.isdisjoint(words) or any(holds(folder, [*names, *before]) for folder in folders):
            return []
    except OSError:
        return []
    return _use(header([*general, *PLAIN], (RUNTIME,), ()))


def _folders(command: Sequence[str], own: Collection[str]) -> Iterator[str]:
    """The include folders of a command that are the unit's own."""
    for word, following in pairwise(command):
        if word in own:
            for flag in ("-iquote", "-idirafter", "-I"):
                if word.startswith(flag):
                    yield word.removeprefix(flag) or following
                    break


def _use(made: Path | None) -> list[str]:
    return [*PLAIN, "-Xclang", "-include-pch", "-Xclang", str(made)] if made else []


def _general(command: Sequence[str], own: Collection[str]) -> list[str]:
    """What is not the unit's own in its command, without its path, a macro once."""
    general: dict[str, str] = {}
    for at, word in enumerate(command[:-1]):
        if word not in own and word not in _OF_THE_LINKER and word not in _OF_THE_OUTPUT:
            general.setdefault(word if word.startswith("-D") else str(at), word)
    return list(general.values())

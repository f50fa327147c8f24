"""PyTorch's headers, precompiled: parsing them is most of what it takes to compile an extension.

One precompiled header serves every unit of a pass (host, or one gfx target) that includes PyTorch's C++ API and asks
for the same macros and C++ standard. It holds what nearly every extension includes, so that a unit sees declarations
for which it may have forgotten an include: who asks for it says so. A unit that does not compile with it is compiled
without, unless something is missing even so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rocport.executor.precompiled import PLAIN, header
from rocport.project.unit import Unit

_HEADERS = ("torch/extension.h", "ATen/hip/HIPContext.h", "c10/hip/HIPGuard.h")
_WITH_API = ("torch/extension.h", "torch/torch.h", "torch/all.h", "torch/python.h", "torch/types.h", "ATen/ATen.h")
_OF_THE_LINKER = ("-Xoffload-linker", "--noinhibit-exec")
_OF_THE_OUTPUT = ("-c", "-fsyntax-only")


def precompiled(unit: Unit, command: Sequence[str], own: Collection[str]) -> list[str]:
    """What to add to a unit's compiler command; empty where no precompiled header serves it.

    `command` ends in the unit's path; `own` are the arguments of it that are the unit's own (its macros and include
    folders), which the precompiled header is made without.
    """
    if unit.language == "c" or not any(name in _WITH_API for name in unit.headers):
        return []
    # What is not the unit's own, a macro once.
    general: dict[str, str] = {}
    for at, word in enumerate(command[:-1]):
        if word not in own and word not in _OF_THE_LINKER and word not in _OF_THE_OUTPUT:
            general.setdefault(word if word.startswith("-D") else str(at), word)
    made = header([*general.values(), *PLAIN], _HEADERS, ())
    return [*PLAIN, "-Xclang", "-include-pch", "-Xclang", str(made)] if made else []

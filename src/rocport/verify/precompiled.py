"""PyTorch's headers, precompiled: parsing them is most of what it takes to compile an extension.

One precompiled header serves every unit of a pass (host, or one gfx target) that includes PyTorch's C++ API and asks
for the same macros and C++ standard. It holds what nearly every extension includes, so that a unit sees declarations
for which it may have forgotten an include: who asks for it says so. A unit that does not compile with it is compiled
without, unless something is missing even so.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Collection, Sequence
from pathlib import Path

from rocport.model import HANGING_S
from rocport.project.unit import Unit

_HEADERS = ("torch/extension.h", "ATen/hip/HIPContext.h", "c10/hip/HIPGuard.h")
_WITH_API = ("torch/extension.h", "torch/torch.h", "torch/all.h", "torch/python.h", "torch/types.h", "ATen/ATen.h")
_OF_THE_LINKER = ("-Xoffload-linker", "--noinhibit-exec")
# C++20's modules make clang 19 take a __device__ function for another definition of the host's of that name.
_NO_MODULES = ("-Xclang", "-fno-cxx-modules")


class Precompiled:
    """Makes precompiled headers below a folder, each once; may be asked from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._made: dict[str, list[str]] = {}

    def arguments(self, unit: Unit, command: Sequence[str], own: Collection[str]) -> list[str]:
        """What to add to a unit's compiler command; empty where no precompiled header serves it.

        `command` ends in the unit's path; `own` are the arguments of it that are the unit's own (its macros and include
        folders), which the precompiled header is made without.
        """
        if unit.language == "c" or not any(header in _WITH_API for header in unit.headers):
            return []
        general = []
        for word in command[:-1]:
            again = word.startswith("-D") and word in general
            if word not in own and word not in _OF_THE_LINKER and not again:
                general.append(word)
        key = hashlib.sha256("\0".join(general).encode()).hexdigest()[:32]
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(self.folder / f"{key}.pch", general)
            return self._made[key]

    def _make(self, path: Path, command: Sequence[str]) -> list[str]:
        use = [*_NO_MODULES, "-Xclang", "-include-pch", "-Xclang", str(path)]
        if path.exists():
            return use
        path.parent.mkdir(parents=True, exist_ok=True)
        # clang reads the header's time and size again when the precompiled one is used.
        header = path.with_suffix(".h")
        if not header.exists():
            header.write_text("".join(f"#include <{name}>\n" for name in _HEADERS))
        with tempfile.TemporaryDirectory(prefix=".pch-", dir=path.parent) as scratch:
            made = Path(scratch, "torch.pch")
            emit = ["-fsyntax-only", *_NO_MODULES, "-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", str(made)]
            words = [word for word in command if word not in ("-c", "-fsyntax-only")]
            try:
                done = subprocess.run(
                    [*words, *emit, str(header)], capture_output=True, timeout=HANGING_S, check=False, cwd=scratch
                )
            except (OSError, subprocess.TimeoutExpired):
                return []
            if done.returncode or not made.exists():
                return []
            os.replace(made, path)
        return use

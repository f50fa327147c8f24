"""A translation unit: what is compiled, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_TORCH_HEADER = re.compile(r"(?:torch|ATen|c10|caffe2|THC|THH)/")


@dataclass(frozen=True)
class Unit:
    """One translation unit. Of a tree, its path and folders are relative to it, with `/`; of a program, absolute."""

    path: str
    language: str = "hip"
    """`hip`, `c++` (plain: no device code is in it, `__HIPCC__` is not defined) or `c`. A C++ driver (hipcc, g++) takes
    a .c file as C++."""
    flags: tuple[str, ...] = ()
    """Flags as its build gives them, where they were read as such."""
    includes: tuple[str, ...] = ()
    """Folders for `-I`, relative to the tree."""
    quote_includes: tuple[str, ...] = ()
    """Folders searched for quoted includes only."""
    last_includes: tuple[str, ...] = ()
    """Folders searched when nothing else has the name: they hold headers named as the system's."""
    headers: tuple[str, ...] = ()
    """What it includes, directly or through files of the tree, and is not in the tree; as spelled."""
    defines: tuple[str, ...] = ()
    """Macros its build defines whatever its options."""
    undefines: tuple[str, ...] = ()
    """Macros its build takes back."""
    computed: tuple[str, ...] = ()
    """Macros whose value its build computes when it runs: `NAME (file)`."""
    standard: int = 0
    """The newest C++ standard its build asks for where that is 20 or later; 0: none."""
    relocatable: bool = False
    """Its build links device code across units (-rdc=true)."""
    named: bool = True
    """A build file of the project names it, or none names any unit."""
    forced: tuple[str, ...] = ()
    """Headers of the tree that its build's flags read before it: `-include pch.h`."""
    extension: bool = False
    """A setup.py builds it as an extension of PyTorch, with PyTorch's flags, whatever it includes."""

    @property
    def source(self) -> Path:
        return Path(self.path)

    @property
    def torch(self) -> bool:
        return any(_TORCH_HEADER.match(header) for header in self.headers)

    @property
    def python(self) -> bool:
        return self.torch or any(h == "Python.h" or h.startswith("pybind11/") for h in self.headers)


def c_or(source: Path, language: str) -> str:
    """The language of a source that a C compiler takes for C where its name says so."""
    return "c" if source.suffix == ".c" else language

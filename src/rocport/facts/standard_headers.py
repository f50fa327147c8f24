"""Which header declares a name of the C++ or C library, or of ROCm: standard_headers.toml and the libraries' facts."""

from __future__ import annotations

import functools
from operator import attrgetter
from typing import Literal

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.symbols import libraries, load

Of = Literal["std", "global", "rocm"]


def header_of(name: str, of: Of) -> str | None:
    """The header of `std::name`, of a global name, or of one of HIP or a ROCm library; None where no fact says it."""
    return _headers()[of].get(name) or (_of_library(name) if of == "rocm" else None)


@functools.cache
def _headers() -> dict[str, dict[str, str]]:
    raw = read_toml(FACTS / "standard_headers.toml")
    tables = {of: raw[of] for of in ("std", "global", "rocm")}
    return {of: {name: header for header, names in table.items() for name in names} for of, table in tables.items()}


def _of_library(name: str) -> str | None:
    """The first header that takes the place of one of CUDA's."""
    library = _libraries().get(name)
    return next((hip for hip in libraries()[library].headers.values() if hip), None) if library else None


@functools.cache
def _libraries() -> dict[str, str]:
    return dict(map(attrgetter("hip", "library"), load().identifiers.values()))

# SPDX-License-Identifier: Apache-2.0
"""Static shared memory of each kernel, read from the executable: the rewriter made the variables thread-local ones."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from rocport.model import HANGING_S
from rocport.syntax import elf

_WORD = re.compile(r"[A-Za-z_]\w*")


def static_lds(executable: Path) -> Mapping[str, int]:
    """Function name, without namespace and template arguments -> bytes of its own `__shared__` variables.

    Of several instances of a template the largest counts. Variables of functions that a kernel calls are not counted
    as the kernel's. Empty when the file is no 64-bit ELF file, or has no symbols.
    """
    try:
        return _read(executable, executable.stat().st_mtime_ns)
    except (OSError, struct.error, IndexError):
        return {}


@lru_cache(maxsize=64)
def _read(executable: Path, _changed: int) -> Mapping[str, int]:
    data = executable.read_bytes()
    if not elf.is_elf(data):
        return {}
    every = elf.sections(data)
    sizes = {
        symbol.name: symbol.size
        for table in every
        if table.kind == elf.SHT_SYMTAB
        for symbol in elf.symbols(data, every, table)
        if symbol.kind == elf.STT_TLS and symbol.name.startswith("_ZZ")
    }
    functions: dict[str, int] = {}
    for symbol, length in zip(_demangled(list(sizes)), sizes.values(), strict=True):
        function = symbol.rpartition("::")[0]
        functions[function] = functions.get(function, 0) + length
    found: dict[str, int] = {}
    for function, length in functions.items():
        name = base_name(function)
        found[name] = max(found.get(name, 0), length)
    return found


def _demangled(symbols: list[str]) -> list[str]:
    tool = shutil.which("c++filt") or shutil.which("llvm-cxxfilt")
    if tool is None or not symbols:
        return symbols
    try:
        done = subprocess.run(
            [tool], input="\n".join(symbols), capture_output=True, text=True, timeout=HANGING_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return symbols
    lines = done.stdout.splitlines()
    return lines if len(lines) == len(symbols) else symbols


def base_name(function: str) -> str:
    """`void n::k<float, 4>(float*)` or `n::k<a, b>` -> `k`."""
    flat = function
    while True:
        shorter = re.sub(r"<[^<>]*>|\([^()]*\)", "", flat)
        if shorter == flat:
            break
        flat = shorter
    words = _WORD.findall(flat.replace(" const", ""))
    return words[-1] if words else function

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

_SYMTAB = 2
_TLS = 6
_WORD = re.compile(r"[A-Za-z_]\w*")


def static_lds(executable: Path) -> Mapping[str, int]:
    """Function name, without namespace and template arguments -> bytes of its own `__shared__` variables.

    Of several instances of a template the largest counts. Variables of functions that a kernel calls are not counted
    as the kernel's. Empty when the file is no 64-bit ELF file, or has no symbols.
    """
    try:
        return _read(executable, executable.stat().st_mtime_ns)
    except (OSError, struct.error):
        return {}


@lru_cache(maxsize=64)
def _read(executable: Path, _changed: int) -> Mapping[str, int]:
    data = executable.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return {}
    sections, entry, count = struct.unpack_from("<Q10xHH", data, 40)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * entry) for i in range(count)]
    sizes: dict[str, int] = {}
    for _, kind, _, _, offset, size, link, _, _, width in headers:
        if kind != _SYMTAB:
            continue
        names = headers[link][4]
        for at in range(offset, offset + size, width):
            name, info, _, _, _, length = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 != _TLS:
                continue
            symbol = data[names + name : data.index(b"\0", names + name)].decode(errors="replace")
            if symbol.startswith("_ZZ"):
                sizes[symbol] = length
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

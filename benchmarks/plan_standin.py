"""Whether an import failed because of the torch that stood in: what torchvision's compiled part asks of the loader."""

from __future__ import annotations

import struct
from pathlib import Path

SCHEMAS = """\
import importlib.util, pathlib, re, torch
folder = pathlib.Path(importlib.util.find_spec("torchvision").origin).parent
text = (folder / "_meta_registrations.py").read_text()
operators = torch.library.Library("torchvision", "DEF")
for name in sorted(set(re.findall(r"torchvision::(\\w+)", text))):
    operators.define(name + "(Tensor boxes, Tensor scores, float threshold) -> Tensor")
"""
"""Declares what torchvision's compiled part would have declared by the time the rest of torchvision is imported."""


def needed(path: Path) -> tuple[str, ...]:
    """The libraries that a 64-bit little-endian ELF file asks for (DT_NEEDED); empty for any other file."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return ()
    start, size, count = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * at) for at in range(count)]
    names = []
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != 6:  # SHT_DYNAMIC
            continue
        strings = sections[link][4]
        for at in range(offset, offset + length, 16):
            tag, value = struct.unpack_from("<qQ", data, at)
            if tag == 1:  # DT_NEEDED
                end = data.index(b"\0", strings + value)
                names.append(data[strings + value : end].decode())
    return tuple(names)


def lacking(packages: list[Path]) -> tuple[str, ...]:
    """What torchvision's compiled part needs of torch's and CUDA's libraries, and no folder of packages has."""
    wanted = {name for folder in packages for file in folder.glob("torchvision/_C*.so") for name in needed(file)}
    wanted = {name for name in wanted if name.startswith(("libtorch", "libc10", "libcud"))}
    held = {file.name for folder in packages for file in folder.glob("**/lib*.so*")}
    return tuple(sorted(wanted - held))

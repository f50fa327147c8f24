"""Whether an import failed because of the torch that stood in: what torchvision's compiled part asks of the loader."""

from __future__ import annotations

import struct
from pathlib import Path

from rocport.syntax import elf

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
    if not elf.is_elf(data):
        return ()
    every = elf.sections(data)
    asked = [
        (every[section.link].offset, *struct.unpack_from("<qQ", data, at))
        for section in every
        if section.kind == elf.SHT_DYNAMIC
        for at in range(section.offset, section.offset + section.size, 16)
    ]
    return tuple(elf.text(data, strings + value) for strings, tag, value in asked if tag == elf.DT_NEEDED)


def lacking(packages: list[Path]) -> tuple[str, ...]:
    """What torchvision's compiled part needs of torch's and CUDA's libraries, and no folder of packages has."""
    wanted = {name for folder in packages for file in folder.glob("torchvision/_C*.so") for name in needed(file)}
    wanted = {name for name in wanted if name.startswith(("libtorch", "libc10", "libcud"))}
    held = {file.name for folder in packages for file in folder.glob("**/lib*.so*")}
    return tuple(sorted(wanted - held))

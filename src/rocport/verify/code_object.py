"""Read what kernels use from an AMDGPU code object: the metadata note of the ELF file, a MessagePack document.

Format: "Code Object Metadata" in https://llvm.org/docs/AMDGPUUsage.html (code object versions 3 to 6).
"""

from __future__ import annotations

import struct
from typing import Any

from rocport.model.verification import KernelUse

_NT_AMDGPU_METADATA = 32
_SHT_NOTE = 7


class CodeObjectError(ValueError):
    """Bytes that are not an AMDGPU code object; the message says what was expected."""


def kernels(data: bytes) -> tuple[KernelUse, ...]:
    """What every kernel of a code object uses, in file order. Raises CodeObjectError."""
    try:
        metadata = _metadata(data)
        return tuple(_kernel(entry) for entry in metadata.get("amdhsa.kernels", ()))
    except (struct.error, IndexError, KeyError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise CodeObjectError(f"the code object is cut short or malformed ({error!r})") from error


def _kernel(entry: dict[str, Any]) -> KernelUse:
    return KernelUse(
        name=entry[".name"],
        vgprs=entry[".vgpr_count"],
        agprs=entry.get(".agpr_count", 0),
        sgprs=entry[".sgpr_count"],
        vgpr_spills=entry.get(".vgpr_spill_count", 0),
        sgpr_spills=entry.get(".sgpr_spill_count", 0),
        scratch_bytes=entry[".private_segment_fixed_size"],
        lds_bytes=entry[".group_segment_fixed_size"],
        wavefront=entry[".wavefront_size"],
        max_workgroup=entry[".max_flat_workgroup_size"],
    )


def _metadata(data: bytes) -> dict[str, Any]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise CodeObjectError("not a 64-bit little-endian ELF file, which a code object is")
    table_offset = struct.unpack_from("<Q", data, 0x28)[0]
    entry_size, entries = struct.unpack_from("<HH", data, 0x3A)
    for index in range(entries):
        _, kind, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, table_offset + index * entry_size)
        if kind != _SHT_NOTE:
            continue
        position = offset
        while position + 12 <= offset + size:
            name_size, content_size, note = struct.unpack_from("<III", data, position)
            name = data[position + 12 : position + 12 + name_size].rstrip(b"\0")
            content = position + 12 + -(-name_size // 4) * 4
            if name == b"AMDGPU" and note == _NT_AMDGPU_METADATA:
                value, _ = _unpack(data[content : content + content_size], 0)
                return value if isinstance(value, dict) else {}
            position = content + -(-content_size // 4) * 4
    return {}


# MessagePack's fixed-width forms: tag -> struct format.
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    """One MessagePack value and the offset after it; the subset that AMDGPU metadata uses."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 0x100, at
    if tag in _CONSTANTS:
        return _CONSTANTS[tag], at
    if tag in _NUMBERS:
        form = _NUMBERS[tag]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if tag in _LENGTHS:
        form = _LENGTHS[tag]
        length = struct.unpack_from(form, data, at)[0]
        at += struct.calcsize(form)
    elif tag < 0xA0:
        length = tag & 0x0F
    elif tag < 0xC0:
        length = tag & 0x1F
    else:
        raise CodeObjectError(f"MessagePack tag {tag:#x} does not occur in AMDGPU metadata")
    if 0xA0 <= tag < 0xC0 or tag in (0xD9, 0xDA, 0xDB):
        return data[at : at + length].decode(), at + length
    if 0x90 <= tag < 0xA0 or tag in (0xDC, 0xDD):
        items = []
        for _ in range(length):
            item, at = _unpack(data, at)
            items.append(item)
        return items, at
    mapping = {}
    for _ in range(length):
        key, at = _unpack(data, at)
        mapping[key], at = _unpack(data, at)
    return mapping, at

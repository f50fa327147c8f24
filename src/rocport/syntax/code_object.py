"""Read an AMDGPU code object: the metadata note of the ELF file, its kernels, symbols, segments and relocations.

Format: "Code Object" and "Code Object Metadata" in https://llvm.org/docs/AMDGPUUsage.html (versions 3 to 6); bundles:
https://clang.llvm.org/docs/ClangOffloadBundler.html.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import Any

from rocport.model.verification import KernelUse
from rocport.syntax import elf

_NT_AMDGPU_METADATA = 32
_MALFORMED = (*elf.MALFORMED, KeyError, UnicodeDecodeError, AttributeError, TypeError, MemoryError)


class CodeObjectError(ValueError):
    """Bytes that are not an AMDGPU code object; the message says what was expected."""


def kernels(data: bytes) -> tuple[KernelUse, ...]:
    """What every kernel of a code object uses, in file order. Raises CodeObjectError."""
    try:
        metadata = _metadata(data)
        return tuple(_kernel(entry) for entry in metadata.get("amdhsa.kernels", ()))
    except _MALFORMED as error:
        raise CodeObjectError(f"the code object is cut short or malformed ({error!r})") from error


@dataclass(frozen=True)
class Segment:
    """A part of the file that is loaded: addresses and sizes in bytes."""

    address: int
    offset: int
    file_bytes: int
    memory_bytes: int
    writable: bool
    executable: bool


@dataclass(frozen=True)
class Symbol:
    """A defined dynamic symbol."""

    address: int
    size: int
    kind: str
    """`object` or `function`; a kernel's descriptor is an object."""


@dataclass(frozen=True)
class Relocation:
    """A 64-bit word that the loader fills in: image + addend, or a symbol's address + addend."""

    address: int
    kind: str
    """`relative64` or `absolute64`."""
    symbol: str
    addend: int


@dataclass(frozen=True)
class Argument:
    """One kernel argument of the metadata."""

    offset: int
    size: int
    kind: str
    """`.value_kind`: by_value, global_buffer, dynamic_shared_pointer, hidden_..."""
    name: str = ""


@dataclass(frozen=True)
class Descriptor:
    """A kernel descriptor: "Kernel Descriptor" in the AMDGPU usage guide."""

    lds_bytes: int
    scratch_bytes: int
    kernarg_bytes: int
    entry: int
    """Code address of the first instruction."""
    rsrc1: int
    rsrc2: int
    rsrc3: int
    properties: int
    preload: int

    @property
    def wave(self) -> int:
        """Lanes of a wave: bit 10 of the properties asks for 32."""
        return 32 if self.properties >> 10 & 1 else 64


@dataclass(frozen=True)
class KernelCode:
    """A kernel of a code object."""

    name: str
    symbol: str
    use: KernelUse
    descriptor: Descriptor
    arguments: tuple[Argument, ...]
    kernarg_align: int
    code_bytes: int
    """Size of the function; 0 where the symbol does not say."""


@dataclass(frozen=True)
class CodeObject:
    """A loaded view of a code object. `memory` is the image at address 0, before relocation."""

    target: str
    data: bytes = field(repr=False)
    memory: bytes = field(repr=False)
    segments: tuple[Segment, ...]
    relocations: tuple[Relocation, ...]
    symbols: dict[str, Symbol]
    kernels: dict[str, KernelCode]
    text: tuple[int, int]
    """Code addresses of the executable section, first and one past the last."""


_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_R_ABS64, _R_RELATIVE64 = 3, 13
_PT_LOAD = 1


def unbundle(data: bytes, target: str) -> bytes:
    """The code object of a target: the data itself, or its entry in a clang offload bundle. Raises CodeObjectError."""
    if data[:4] == b"CCOB":
        raise CodeObjectError("a compressed offload bundle; compile with -fno-gpu-bundle-compression or unbundle it")
    if not data.startswith(_BUNDLE):
        return data
    count = struct.unpack_from("<Q", data, len(_BUNDLE))[0]
    at, seen = len(_BUNDLE) + 8, []
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        name = data[at + 24 : at + 24 + length].decode(errors="replace")
        at += 24 + length
        seen.append(name)
        if size and re.search(rf"-{re.escape(target)}(:|$)", name):
            return data[offset : offset + size]
    raise CodeObjectError(f"the bundle holds no code object of {target} (it holds {', '.join(seen)})")


def read(data: bytes) -> CodeObject:
    """Everything a loader and an executor need. Raises CodeObjectError."""
    try:
        return _read(data)
    except _MALFORMED as error:
        raise CodeObjectError(f"the code object is cut short or malformed ({error!r})") from error


def _read(data: bytes) -> CodeObject:
    metadata = _metadata(data)
    (program,) = struct.unpack_from("<Q", data, 0x20)
    program_size, programs = struct.unpack_from("<HH", data, 0x36)
    segments = []
    for index in range(programs):
        kind, flags, offset, address, _, file_bytes, memory_bytes, _ = struct.unpack_from(
            "<IIQQQQQQ", data, program + index * program_size
        )
        if kind == _PT_LOAD:
            segments.append(Segment(address, offset, file_bytes, memory_bytes, bool(flags & 2), bool(flags & 1)))
    if not segments:
        raise CodeObjectError("no loadable segment: an object file that is not linked?")
    memory = bytearray(max(s.address + s.memory_bytes for s in segments))
    for s in segments:
        memory[s.address : s.address + s.file_bytes] = data[s.offset : s.offset + s.file_bytes]
    every = elf.sections(data)
    symbols: dict[str, Symbol] = {}
    relocations = []
    text = (0, 0)
    for section in every:
        end = section.address + section.size
        if section.kind == elf.SHT_PROGBITS and section.flags & 4:
            text = (section.address, end) if text == (0, 0) else (min(text[0], section.address), max(text[1], end))
        if section.kind == elf.SHT_DYNSYM:
            for one in elf.symbols(data, every, section):
                if one.section and one.name:
                    kind = "function" if one.kind == elf.STT_FUNC else "object"
                    symbols[one.name] = Symbol(one.value, one.size, kind)
        if section.kind == elf.SHT_RELA:
            names = [one.name for one in elf.symbols(data, every, every[section.link])]
            for at in range(section.offset, section.offset + section.size, 24):
                place, info, addend = struct.unpack_from("<QQq", data, at)
                code = info & 0xFFFFFFFF
                if code not in (_R_ABS64, _R_RELATIVE64):
                    raise CodeObjectError(f"relocation type {code} at {place:#x}: expected ABS64 or RELATIVE64")
                relocations.append(
                    Relocation(
                        place,
                        "relative64" if code == _R_RELATIVE64 else "absolute64",
                        names[info >> 32] if code == _R_ABS64 else "",
                        addend,
                    )
                )
    named = re.search(r"gfx[0-9a-z]+(-\d+)?(-generic)?", str(metadata.get("amdhsa.target", "")))
    target = named[0] if named else ""
    image = bytes(memory)
    found = {}
    for entry in metadata.get("amdhsa.kernels", ()):
        symbol = symbols[entry[".symbol"]]
        descriptor = _descriptor(image, symbol.address)
        arguments = tuple(
            Argument(a[".offset"], a[".size"], a[".value_kind"], a.get(".name", "")) for a in entry.get(".args", ())
        )
        function = symbols.get(entry[".name"])
        found[entry[".name"]] = KernelCode(
            entry[".name"],
            entry[".symbol"],
            _kernel(entry),
            descriptor,
            arguments,
            entry.get(".kernarg_segment_align", 8),
            function.size if function else 0,
        )
    return CodeObject(target, data, image, tuple(segments), tuple(relocations), symbols, found, text)


def _descriptor(image: bytes, at: int) -> Descriptor:
    lds, scratch, kernarg = struct.unpack_from("<III", image, at)
    entry = at + struct.unpack_from("<q", image, at + 16)[0]
    rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", image, at + 44)
    return Descriptor(lds, scratch, kernarg, entry, rsrc1, rsrc2, rsrc3, properties, preload)


def line_table_sections(data: bytes) -> dict[str, bytes]:
    """Debug sections by name (`.debug_line`, ...), empty where the object has none."""
    return {
        one.name: data[one.offset : one.offset + one.size]
        for one in elf.sections(data)
        if one.name.startswith(".debug") and one.kind != elf.SHT_NOBITS
    }


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
    if not elf.is_elf(data):
        raise CodeObjectError("not a 64-bit little-endian ELF file, which a code object is")
    for section in elf.sections(data):
        if section.kind != elf.SHT_NOTE:
            continue
        position, end = section.offset, section.offset + section.size
        while position + 12 <= end:
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

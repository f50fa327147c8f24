"""Sections and symbols of a 64-bit little-endian ELF file.

Format: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html. What is cut short or
malformed raises one of MALFORMED.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_DYNAMIC, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 1, 2, 4, 6, 7, 8, 11
DT_NEEDED = 1
STT_FUNC, STT_TLS = 2, 6
_SYMBOL_BYTES = 24
MALFORMED = (struct.error, IndexError, OverflowError)


@dataclass(frozen=True)
class Section:
    """A section's header; sizes in bytes."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class ElfSymbol:
    """An entry of a symbol table; `section` is 0 where it is not defined."""

    name: str
    kind: int
    section: int
    value: int
    size: int


def is_elf(data: bytes) -> bool:
    """Whether this begins as such a file does."""
    return data[:6] == b"\x7fELF\x02\x01"


def sections(data: bytes) -> list[Section]:
    """All sections, in the order of their table."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    width, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQI", data, table + index * width) for index in range(count)]
    strings = headers[names][4] if names < count else None
    return [Section("" if strings is None else text(data, strings + name), *rest) for name, *rest in headers]


def symbols(data: bytes, every: list[Section], table: Section) -> Iterator[ElfSymbol]:
    """What a symbol table of the file holds."""
    strings = every[table.link].offset
    for at in range(table.offset, table.offset + table.size, _SYMBOL_BYTES):
        name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
        yield ElfSymbol(text(data, strings + name), info & 15, section, value, size)


def text(data: bytes, at: int) -> str:
    """A name of a table of strings."""
    end = data.find(b"\0", at)
    if end < 0:
        raise IndexError("a name has no end")
    return data[at:end].decode(errors="replace")

# SPDX-License-Identifier: Apache-2.0
"""Source lines of code addresses: the line table of DWARF versions 4 and 5 (section 6.2 of the standard)."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Sequence

from rocport.syntax.code_object import line_table_sections


def lines(elf: bytes, addresses: Sequence[int]) -> dict[int, str]:
    """ "file:line" of each address that the object's line table covers; empty without debug information."""
    sections = line_table_sections(elf)
    table = sections.get(".debug_line", b"")
    if not table:
        return {}
    rows: list[tuple[int, str]] = []
    try:
        at = 0
        while at + 4 < len(table):
            at = _unit(table, at, sections, rows)
    except (struct.error, IndexError, ValueError):
        return {}
    rows.sort(key=lambda row: row[0])
    starts = [row[0] for row in rows]
    found = {}
    for address in addresses:
        k = bisect.bisect_right(starts, address) - 1
        if k >= 0 and rows[k][1]:
            found[address] = rows[k][1]
    return found


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def number(self, form: str) -> int:
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return int(value)

    def leb(self, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value - (1 << shift) if signed and byte & 64 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return found


def _string(section: bytes, offset: int) -> str:
    return section[offset : section.index(b"\0", offset)].decode(errors="replace")


def _entries(r: _Reader, sections: dict[str, bytes]) -> list[tuple[str, int]]:
    """A directory or file table of version 5: (name, directory)."""
    formats = [(r.leb(), r.leb()) for _ in range(r.number("B"))]
    found = []
    for _ in range(r.leb()):
        name, directory = "", 0
        for content, form in formats:
            value: str | int
            if form == 0x08:
                value = r.text()
            elif form in (0x1F, 0x0E):
                value = _string(sections.get(".debug_line_str" if form == 0x1F else ".debug_str", b"\0"), r.number("I"))
            elif form == 0x1E:
                r.at += 16
                value = 0
            else:
                value = r.leb() if form == 0x0F else r.number({0x0B: "B", 0x05: "H"}[form])
            if content == 1:
                name = str(value)
            elif content == 2:
                directory = int(value)
        found.append((name, directory))
    return found


def _unit(table: bytes, at: int, sections: dict[str, bytes], rows: list[tuple[int, str]]) -> int:
    r = _Reader(table, at)
    length = r.number("I")
    end = r.at + length
    version = r.number("H")
    if version >= 5:
        r.at += 2
    header = r.number("I")
    program = r.at + header
    minimum = r.number("B")
    r.number("B")  # operations an instruction: 1 here
    default_is_statement = r.number("B")
    base, span, opcode_base = r.number("b"), r.number("B"), r.number("B")
    del default_is_statement
    lengths = [r.number("B") for _ in range(opcode_base - 1)]
    if version >= 5:
        _entries(r, sections)
        files = [name for name, _ in _entries(r, sections)]
    else:
        while r.text():
            pass
        files = [""]
        while name := r.text():
            files.append(name)
            r.leb(), r.leb(), r.leb()
    r.at = program
    address, file, line = 0, 1, 1

    def row() -> None:
        name = files[file] if file < len(files) else ""
        rows.append((address, f"{name}:{line}" if name and line else ""))

    while r.at < end:
        op = r.number("B")
        if op >= opcode_base:
            address += (op - opcode_base) // span * minimum
            line += base + (op - opcode_base) % span
            row()
        elif op == 0:
            size = r.leb()
            after = r.at + size
            code = r.number("B")
            if code == 1:
                rows.append((address, ""))
                address, file, line = 0, 1, 1
            elif code == 2:
                address = r.number("Q")
            r.at = after
        elif op == 1:
            row()
        elif op == 2:
            address += r.leb() * minimum
        elif op == 3:
            line += r.leb(signed=True)
        elif op == 4:
            file = r.leb()
        elif op == 8:
            address += (255 - opcode_base) // span * minimum
        elif op == 9:
            address += r.number("H")
        else:
            for _ in range(lengths[op - 1]):
                r.leb()
    return end

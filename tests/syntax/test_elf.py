"""Sections and symbols are read from a file that a compiler made; what is cut short is an error, not a hang."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rocport.syntax import elf
from rocport.syntax.code_object import CodeObjectError, read


def _file() -> bytes:
    """A file with a symbol table and its strings: `f`, a function of section 1, and `g`, which is not defined."""
    names = b"\0.symtab\0.strtab\0f\0g\0"
    symbols = b"".join(
        struct.pack("<IBBHQQ", names.index(name), elf.STT_FUNC, 0, section, value, 8)
        for name, section, value in ((b"f\0", 1, 64), (b"g\0", 0, 0))
    )
    head = struct.pack("<6s34xQ10xHHH", b"\x7fELF\x02\x01", 64, 64, 3, 2)
    body = 64 + 3 * 64
    rows = (
        (0, 0, 0, 0),
        (names.index(b".symtab"), elf.SHT_SYMTAB, body + len(names), len(symbols)),
        (names.index(b".strtab"), 3, body, len(names)),
    )
    table = b"".join(struct.pack("<IIQQQQIIQQ", n, kind, 0, 0, at, size, 2, 0, 0, 0) for n, kind, at, size in rows)
    return head.ljust(64, b"\0") + table + names + symbols


def test_sections_and_symbols() -> None:
    data = _file()
    every = elf.sections(data)
    assert [one.name for one in every] == ["", ".symtab", ".strtab"]
    found = list(elf.symbols(data, every, every[1]))
    assert [(one.name, one.section, one.value, one.size) for one in found] == [("f", 1, 64, 8), ("g", 0, 0, 8)]
    assert elf.is_elf(data) and not elf.is_elf(Path(__file__).read_bytes())


@pytest.mark.parametrize("kept", [40, 100, 64 + 3 * 64, -1])
def test_what_is_cut_short_is_an_error(kept: int) -> None:
    data = _file()[:kept]
    with pytest.raises(elf.MALFORMED):
        every = elf.sections(data)
        list(elf.symbols(data, every, every[1]))


def test_a_place_that_no_file_has_is_an_error_of_the_code_object() -> None:
    data = bytearray(_file())
    data[0x28:0x30] = b"\xff" * 8  # where the sections' table is
    with pytest.raises(CodeObjectError, match="cut short or malformed"):
        read(bytes(data))

# SPDX-License-Identifier: Apache-2.0
"""AMD's instruction tables as tinygrad carries them: decoders, operand types and pseudo-code of three families.

tinygrad 0.14 (MIT) generates them from AMD's machine-readable ISA and ISA documents. Its emulator is not used.
"""

from __future__ import annotations

import functools
import importlib
import re
from dataclasses import dataclass, field
from typing import Any

from rocport.executor.isa.emit import Untranslated
from rocport.facts.targets import listed, running
from rocport.model.targets import GfxTarget


class TablesError(RuntimeError):
    """tinygrad is missing or of another shape, or the target's family has no table; the message says what to do."""


def family(target: str) -> str:
    """`cdna`, `rdna3` or `rdna4`. Raises TablesError for a target without a table.

    CDNA's table is CDNA 4's and serves CDNA 2 and 3, whose common instructions it encodes alike (LLVM's AMDGPU ISA
    pages); RDNA3's is RDNA 3.5's. GCN, RDNA 1 and RDNA 2 have none.
    """
    return tabled(target).isa_table


def tabled(target: str) -> GfxTarget:
    """What is known of a target whose code can be decoded. Raises TablesError for another."""
    known_as = running(target)
    if known_as is None or not known_as.isa_table:
        known = listed(lambda other: bool(other.isa_table))
        raise TablesError(f"{target}: no instruction table; compile for one of {known}")
    return known_as


@dataclass(frozen=True)
class Instruction:
    """One decoded instruction: raw fields by name, and what the tables know of its operands."""

    family: str
    encoding: str
    """Name of the format without its variant: `VOP2`, `GLOBAL`."""
    variant: str
    """`LIT`, `DPP16`, `DPP8`, `SDWA`, or empty; `MFMA` and `SDST` are no variants of the operands."""
    op: Any
    """Member of the table's enumeration, None for VOPD."""
    name: str
    size: int
    fields: dict[str, int]
    bits: dict[str, int]
    """Width of each operand."""
    formats: dict[str, str]
    """Number format of each operand without its prefix: `F32`, `PK2_F16`."""
    literal: int
    names: tuple[str, ...] = ()
    """The two halves of VOPD."""
    kinds: dict[str, str] = field(default_factory=dict)
    """What each operand names: `VGPR`, `SREG`, `SRC_NOLIT`."""

    def has(self, name: str) -> bool:
        return name in self.fields

    def vector_registers(self) -> list[int]:
        """The first vector register of each operand that is one; accumulation registers are 256 and up."""
        found = []
        for name, kind in self.kinds.items():
            code = self.fields.get(name, 0)
            if code < 256 if name.startswith("src") else "VGPR" not in kind:  # nine bits, of which one says which file
                continue
            code &= 255
            if self.bits[name] == 16 and self.family != "cdna":
                code &= 127  # 128 and up are the upper halves
            accumulates = "ACCVGPR" in kind and ("VGPR_OR" not in kind or self._accumulates(name))
            found.append(code + 256 * accumulates)
        return found

    def _accumulates(self, name: str) -> bool:
        if "acc_cd" not in self.fields:
            return bool(self.fields.get("acc"))
        if name in ("src0", "src1"):
            return bool(self.fields["acc"] >> (name == "src1") & 1)
        return bool(self.fields["acc_cd"])


_VARIANTS = re.compile(r"_(LIT|DPP16|DPP8|SDWA|SDST|MFMA)")
_RENAMED = {"VFLAT": "FLAT", "VGLOBAL": "GLOBAL", "VSCRATCH": "SCRATCH", "VBUFFER": "MUBUF", "VDS": "DS"}


@functools.cache
def _tables() -> Any:
    try:
        return importlib.import_module("tinygrad.renderer.amd")
    except ImportError as error:
        raise TablesError(
            f"the ISA executor needs tinygrad's instruction tables ({error}); `pip install 'rocport[isa]'`"
        ) from error


@functools.cache
def pseudocode(table: str) -> tuple[dict[Any, str], dict[str, str]]:
    """Texts by operation, and by name without the encoding's suffix."""
    _tables()
    texts = importlib.import_module(f"tinygrad.runtime.autogen.amd.{table}.str_pcode").PCODE
    by_name: dict[str, str] = {}
    for op, text in texts.items():
        by_name.setdefault(plain(op.name), text)
    return texts, by_name


def plain(name: str) -> str:
    """`V_ADD_F32_E64` -> `V_ADD_F32`."""
    return re.sub(r"_E(32|64)$", "", name)


def text_of(table: str, op: Any, name: str) -> str:
    """The pseudo-code of an operation: its own, that of its name, or that of another family. Raises Untranslated."""
    texts, by_name = pseudocode(table)
    found = texts.get(op) or by_name.get(name)
    if found is None:
        for other in ("rdna3", "rdna4", "cdna"):
            if other != table and (found := pseudocode(other)[1].get(name)):
                break
    if found is None:
        raise Untranslated(f"no pseudo-code for {name}")
    return found


@functools.lru_cache(maxsize=65536)
def decode(data: bytes, table: str, operations: tuple[tuple[int, str], ...] = ()) -> Instruction:
    """The instruction at the start of `data` (20 bytes or what is left). Raises Untranslated for an unknown word.

    operations: matrix instructions that the target encodes otherwise (GfxTarget.isa_operations).
    """
    raw, renamed = _raw(data, table, operations)
    kind = type(raw)
    name = kind.__name__
    variants = _VARIANTS.findall(name)
    encoding = _VARIANTS.sub("", name)
    fields = {}
    for field_name, place in kind._fields:
        fields[field_name] = (raw._raw >> place.lo) & place.mask
    operands = raw.operands
    op = None if renamed else getattr(raw, "op", None)
    names: tuple[str, ...] = ()
    if hasattr(raw, "opx"):
        names = (raw.opx.name, raw.opy.name)
    return Instruction(
        table,
        _RENAMED.get(encoding, encoding),
        next((v for v in variants if v in ("LIT", "DPP16", "DPP8", "SDWA")), ""),
        op,
        renamed or (plain(op.name) if op is not None else "+".join(names)),
        raw.size(),
        fields,
        {key: value[1] for key, value in operands.items()},
        {key: value[0].name.removeprefix("FMT_NUM_").removeprefix("FMT_") for key, value in operands.items()},
        fields.get("literal", 0),
        names,
        {key: value[2].name.removeprefix("OPR_") for key, value in operands.items()},
    )


_MAD_F32, _FMA_F32 = 0xD1C1, 0xD1CB
_SCALES = 0xD3AC
"""V_MFMA_LD_SCALE, the first half of a scaled matrix instruction."""


_VOP3P, _ANY_MATRIX = 0b110100111, 0x4D
"""Upper nine bits of that encoding, and an operation whose encoding describes those of all matrix instructions."""


_NOT_LISTED = {
    "cdna": ("MTBUF",),
    "rdna3": ("MUBUF", "MTBUF", "MIMG", "LDSDIR", "EXP"),
    "rdna4": ("VBUFFER", "VIMAGE", "VSAMPLE", "VDSDIR", "VEXPORT"),
}
"""Formats that the decoder's list lacks, though the tables have them: buffers are run, the others named and refused."""


def _raw(data: bytes, table: str, operations: tuple[tuple[int, str], ...]) -> tuple[Any, str]:
    """The decoded instruction, and its name where the table has another for its encoding."""
    first = int.from_bytes(data[:4], "little")
    if operations and first >> 23 == _VOP3P and (name := dict(operations).get(first >> 16 & 127)):
        word = first & ~(127 << 16) | _ANY_MATRIX << 16
        return _tables().decode_inst(word.to_bytes(4, "little") + data[4:8], table), name
    try:
        found = _tables().decode_inst(data, table)
        if type(found).__name__ == "VOP3PX2" and int.from_bytes(data[:4], "little") >> 16 != _SCALES:
            # The table knows that format by its second half only: these are other instructions before such a one.
            found = _tables().decode_inst(data[:8], table)
        return found, ""
    except (ValueError, AssertionError, KeyError) as error:
        # gfx90a has an unfused multiply-add that later targets of its table lack (LLVM's FeatureMadMacF32Insts): the
        # fused one's encoding describes its operands.
        word = int.from_bytes(data[:4], "little")
        if table == "cdna" and word >> 16 == _MAD_F32:
            found = _tables().decode_inst((word & 0xFFFF | _FMA_F32 << 16).to_bytes(4, "little") + data[4:], table)
            return found, "V_MAD_F32"
        module = importlib.import_module(f"tinygrad.runtime.autogen.amd.{table}.ins")
        for name in _NOT_LISTED[table]:
            format_ = getattr(module, name)
            prefix = format_.encoding
            if word >> prefix.lo == prefix.default:
                found = format_.from_bytes(data)
                try:
                    _ = found.op
                except ValueError:
                    break
                return found, ""
        raise Untranslated(f"no instruction of {table} starts with {word:#010x}") from error

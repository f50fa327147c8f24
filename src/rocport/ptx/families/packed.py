"""Bytes in a word: dot products and NVIDIA's video instructions."""

from __future__ import annotations

import re

from rocport.ptx.headers import COMPAT
from rocport.ptx.modifiers import expect, one_block
from rocport.ptx.parse import Instruction
from rocport.ptx.refusals import REASONS
from rocport.ptx.registers import C_TYPE, TYPES
from rocport.ptx.translator import Translator, opcode


@opcode(
    "dp4a",
    "dp2a",
    examples=(
        'asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(oi) : "r"(i0), "r"(i0), "r"(i0));',
        'asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(oi) : "r"(r0), "r"(i0), "r"(i0));',
        'asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(oi) : "r"(i0), "r"(r0), "r"(i0));',
        'asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r0), "r"(r0));',
    ),
)
def _dot(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    types = [part for part in i.modifiers if part in ("s32", "u32")]
    if len(types) != 2:
        raise t.refuse("this type is not translated")
    to, a, b, c = i.operands
    t.need(COMPAT)
    result = "s32" if "s32" in types else "u32"
    name = "dp4a" if i.opcode == "dp4a" else f"dp2a_{'hi' if 'hi' in i.modifiers else 'lo'}"
    if types[0] != types[1]:
        if i.opcode != "dp4a":
            raise t.refuse("operands of mixed sign are not translated")
        if types[0] == "s32":
            (a, b), types = (b, a), types[::-1]
        name = "dp4a_us"
    t.write(to, result, f"rocport::{name}({t.read(a, types[0])}, {t.read(b, types[1])}, {t.read(c, result)})")


@opcode(
    "vabsdiff4",
    examples=('asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',),
)
def _video4(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    if i.modifiers != ("u32", "u32", "u32", "add"):
        raise t.refuse(REASONS["vadd4"])
    to, *values = i.operands
    t.need(COMPAT)
    t.write(to, "u32", f"rocport::sad_u8x4({', '.join(t.read(value, 'u32') for value in values)})")


@opcode(
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    examples=(
        'asm("vadd.s32.s32.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(r0));',
        'asm("vsub.u32.u32.u32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("vabsdiff.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("vmin.u32.u32.s32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("vmax.s32.s32.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(r0));',
    ),
)
def _video(t: Translator, i: Instruction) -> None:
    """Scalar video instructions over whole registers: 33 bits and a sign inside, 32 outside (PTX ISA 9.7.17)."""
    expect(t, i, 3, 4)
    types = [part for part in i.modifiers if part in TYPES]
    second = [part for part in i.modifiers if part not in TYPES]
    if len(types) != 3 or any(part not in ("s32", "u32") for part in types) or len(second) != len(i.operands) - 3:
        raise t.refuse("this form is not translated")
    if any(re.search(r"\.[bh][0-3]", item) for item in i.operands) or (
        second and second[0] not in ("add", "min", "max")
    ):
        raise t.refuse("this form is not translated")
    to, a, b, *c = i.operands
    x, y, z = t.fresh("a"), t.fresh("b"), t.fresh("d")
    t.emit(f"const long long {x} = {t.read(a, types[1])}, {y} = {t.read(b, types[2])};")
    whole = {"vadd": f"{x} + {y}", "vsub": f"{x} - {y}", "vabsdiff": f"{x} < {y} ? {y} - {x} : {x} - {y}",
             "vmin": f"{x} < {y} ? {x} : {y}", "vmax": f"{x} < {y} ? {y} : {x}"}[i.opcode]  # fmt: skip
    t.emit(f"const {C_TYPE[types[0]]} {z} = ({C_TYPE[types[0]]})({whole});")
    result = z
    if c:
        third = t.fresh("c")
        t.emit(f"const {C_TYPE[types[0]]} {third} = {t.read(c[0], types[0])};")
        result = {"add": f"(unsigned){z} + (unsigned){third}", "min": f"{z} < {third} ? {z} : {third}",
                  "max": f"{z} < {third} ? {third} : {z}"}[second[0]]  # fmt: skip
    t.write(to, types[0], f"({C_TYPE[types[0]]})({result})")
    one_block(t)

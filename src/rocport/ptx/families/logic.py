"""Bits: logic, shifts, fields, permutations, tables of three inputs."""

from __future__ import annotations

import re

from rocport.ptx.headers import COMPAT
from rocport.ptx.modifiers import expect, only, type_of
from rocport.ptx.parse import Instruction
from rocport.ptx.registers import C_TYPE
from rocport.ptx.translator import Translator, opcode


@opcode(
    "and",
    "or",
    "xor",
    "not",
    "cnot",
    examples=(
        'asm("and.b32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("or.b64 %0, %1, %2;" : "=l"(ol) : "l"(l0), "l"(l1));',
        'asm("xor.b64 %0, %1, %2;" : "=l"(ol) : "l"(l0), "l"(l1));',
        'asm("not.b32 %0, %1;" : "=r"(o) : "r"(r0));',
        'asm("cnot.b32 %0, %1;" : "=r"(o) : "r"(r0));',
    ),
)
def _logic(t: Translator, i: Instruction) -> None:
    expect(t, i, 2 if i.opcode in ("not", "cnot") else 3)
    only(t, i, "pred")
    type_ = type_of(t, i)
    values = [t.read(item, type_) for item in i.operands[1:]]
    if i.opcode == "not":
        result = f"!{values[0]}" if type_ == "pred" else f"({C_TYPE[type_]})~{values[0]}"
    elif i.opcode == "cnot":
        result = f"({C_TYPE[type_]})({values[0]} == 0)"
    else:
        symbol = {"and": "&", "or": "|", "xor": "^"}[i.opcode]
        if type_ == "pred":
            symbol = {"and": "&&", "or": "||", "xor": "!="}[i.opcode]
        result = f"{values[0]} {symbol} {values[1]}"
    t.write(i.operands[0], type_, result)


@opcode(
    "shl",
    "shr",
    examples=(
        'asm("shl.b32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("shr.u64 %0, %1, 13;" : "=l"(ol) : "l"(l0));',
        'asm("shr.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(r1));',
    ),
)
def _shift(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    only(t, i)
    type_ = type_of(t, i)
    if type_ not in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        raise t.refuse("this type is not translated")
    to, a, b = i.operands
    size = int(type_[1:])
    value = t.read(a, type_)
    if re.fullmatch(r"\d+", b) and int(b) < size:
        t.write(to, type_, f"({C_TYPE[type_]})({value} {'<<' if i.opcode == 'shl' else '>>'} {b})")
        return
    # PTX clamps shift counts at the width, C++ leaves them undefined.
    t.need(COMPAT)
    t.write(to, type_, f"rocport::{i.opcode}_clamp({value}, {t.read(b, 'u32')})")


@opcode(
    "shf",
    examples=(
        'asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("shf.r.clamp.b32 %0, %1, %2, 8;" : "=r"(o) : "r"(r0), "r"(r1));',
    ),
)
def _funnel(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    only(t, i, "l", "r", "clamp", "wrap")
    type_of(t, i, "b32")
    to, low, high, count = i.operands
    name = "__funnelshift_" + ("l" if "l" in i.modifiers else "r") + ("c" if "clamp" in i.modifiers else "")
    t.write(to, "b32", f"{name}({t.read(low, 'u32')}, {t.read(high, 'u32')}, {t.read(count, 'u32')})")


@opcode(
    "bfe",
    "bfi",
    "bfind",
    examples=(
        'asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("bfe.s32 %0, %1, %2, %3;" : "=r"(oi) : "r"(i0), "r"(r1), "r"(r2));',
        'asm("bfe.u64 %0, %1, %2, %3;" : "=l"(ol) : "l"(l0), "r"(r1), "r"(r2));',
        'asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2), "r"(s));',
        'asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(ol) : "l"(l0), "l"(l1), "r"(r2), "r"(s));',
        'asm("bfind.u32 %0, %1;" : "=r"(o) : "r"(r0));',
    ),
)
def _fields(t: Translator, i: Instruction) -> None:
    type_ = type_of(t, i)
    if type_ not in ("u32", "s32", "b32", "u64", "s64", "b64"):
        raise t.refuse("this type is not translated")
    to, *rest = i.operands
    t.need(COMPAT)
    if i.opcode == "bfe":
        expect(t, i, 4)
        t.write(
            to, type_, f"rocport::bfe({t.read(rest[0], type_)}, {t.read(rest[1], 'u32')}, {t.read(rest[2], 'u32')})"
        )
    elif i.opcode == "bfi":
        expect(t, i, 5)
        values = (t.read(rest[0], type_), t.read(rest[1], type_), t.read(rest[2], "u32"), t.read(rest[3], "u32"))
        t.write(to, type_, f"rocport::bfi({', '.join(values)})")
    elif i.opcode == "bfind" and "shiftamt" not in i.modifiers:
        expect(t, i, 2)
        t.write(to, "u32", f"rocport::bfind({t.read(rest[0], type_)})")
    else:
        raise t.refuse("no translation; write what it computes as C++")


@opcode(
    "brev",
    "popc",
    "clz",
    examples=(
        'asm("brev.b32 %0, %1;" : "=r"(o) : "r"(r0));',
        'asm("popc.b32 %0, %1;" : "=r"(o) : "r"(r0));',
        'asm("clz.b32 %0, %1;" : "=r"(o) : "r"(r0));',
    ),
)
def _bits(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    only(t, i)
    type_ = type_of(t, i, "b32 b64")
    name = {"brev": "__brev", "popc": "__popc", "clz": "__clz"}[i.opcode] + ("ll" if type_ == "b64" else "")
    argument = t.read(i.operands[1], type_)
    if i.opcode == "clz":
        argument = t.read(i.operands[1], "s" + type_[1:])
    t.write(i.operands[0], type_ if i.opcode == "brev" else "u32", f"{name}({argument})")


@opcode(
    "prmt",
    examples=(
        'asm("prmt.b32 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(o) : "r"(r0), "r"(r1));',
    ),
)
def _prmt(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    to, a, b, c = i.operands
    arguments = ", ".join(t.read(item, "u32") for item in (a, b, c))
    modes = [part for part in i.modifiers if part != "b32"]
    if modes and modes[0] not in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        raise t.refuse("this mode is not translated")
    t.need(COMPAT)
    t.write(to, "b32", f"rocport::prmt{'_' + modes[0] if modes else ''}({arguments})")


@opcode(
    "lop3",
    examples=(
        'asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm volatile("lop3.b32 %0, %1, %2, %3, %4;\\n" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2), "n"(0xea));',
    ),
)
def _lop3(t: Translator, i: Instruction) -> None:
    expect(t, i, 5)
    only(t, i)
    type_of(t, i, "b32")
    to, a, b, c, table = i.operands
    constant = t.read(table, "u32")
    t.need(COMPAT)
    values = ", ".join(t.read(item, "u32") for item in (a, b, c))
    t.write(to, "b32", f"rocport::lop3<{constant}>({values})")

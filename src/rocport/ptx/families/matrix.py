"""Matrix products and the moves of their fragments, computed per 32-lane warp by rocport_mma.h."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocport.ptx.headers import MMA
from rocport.ptx.modifiers import expect, one_block
from rocport.ptx.parse import Instruction
from rocport.ptx.refusals import REASONS
from rocport.ptx.translator import Translator, opcode

# Element types that go together, and how many of them fill a 32-bit register.
_ELEMENTS = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4, "e4m3": 4, "e5m2": 4}


def _emulated(t: Translator, steps: str) -> None:
    t.need(MMA)
    t.out.emulated = True
    t.note(f"by {steps} on every lane, not by AMD's matrix units")


def _array(t: Translator, stem: str, type_: str, values: Sequence[str]) -> str:
    name = t.fresh(stem)
    t.emit(f"{type_} {name}[{len(values)}] = {{{', '.join(values)}}};")
    return name


@opcode(
    "mma",
    examples=(
        'asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"'
        ' : "+r"(o), "+r"(o1) : "r"(r0), "r"(r1), "r"(r2), "r"(i0), "r"(r0), "r"(r1));',
        'asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%4}, {%4,%5}, '
        '{%0,%1,%2,%3};"'
        ' : "+r"(o), "+r"(o1), "+r"(o2), "+r"(o3) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"'
        ' : "+d"(d0), "+d"(d1) : "d"(d2), "d"(d2));',
        'asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"'
        ' : "+f"(of), "+f"(of1), "+f"(of2), "+f"(of3) : "r"(r0), "r"(r1), "r"(r2));',
    ),
)
def _mma(t: Translator, i: Instruction) -> None:
    """mma.sync (PTX ISA 9.7.14.5): m16n8 of 16-bit floats, tf32, fp8 and bytes; m8n8k4 of doubles."""
    expect(t, i, 4)
    shape = re.fullmatch(r"m(\d+)n8k(\d+)", next((part for part in i.modifiers if re.match(r"m\d+n", part)), ""))
    types = [part for part in i.modifiers if part in (*_ELEMENTS, "f32", "f64", "s32")]
    known = {"sync", "aligned", "row", "col", "satfinite", *types, shape[0] if shape else ""}
    if shape is None or len(types) != 4 or "kind::f8f6f4" in i.modifiers or not known.issuperset(i.modifiers):
        raise t.refuse(REASONS["mma"])
    d, a, b, c = (t.vector(item) for item in i.operands)
    result = types[0]
    if shape[0] == "m8n8k4" and set(types) == {"f64"} and (len(d), len(a), len(b)) == (2, 1, 1):
        sums = _array(t, "d", "double", [t.read(item, "f64") for item in c])
        t.emit(f"rocport::mma::m8n8k4({sums}, {t.read(a[0], 'f64')}, {t.read(b[0], 'f64')});")
        _emulated(t, "12 shuffles and 8 multiply-adds")
    else:
        sums = _m16n8(t, i, int(shape[1]), int(shape[2]), types, (d, a, b, c))
    for number, item in enumerate(d):
        kind = {"f32": "f32", "f64": "f64", "s32": "s32"}.get(result, "b32")
        t.write(item, kind, f"{sums}[{number}]")
    one_block(t)


def _m16n8(
    t: Translator, i: Instruction, m: int, k: int, types: Sequence[str], operands: Sequence[Sequence[str]]
) -> str:
    """The call; the name of the array of sums."""
    d, a, b, c = operands
    result, left, right, addend = types
    per_word = _ELEMENTS.get(left, 0)
    if m != 16 or not per_word or _ELEMENTS.get(right) != per_word or k % (4 * per_word):
        raise t.refuse(REASONS["mma"])
    words = k // (4 * per_word)
    integers = left in ("s8", "u8")
    allowed = ("s32",) if integers else ("f32", "f16") if left in ("f16", "e4m3", "e5m2") else ("f32",)
    sums = 2 if result == "f16" else 4
    if result != addend or result not in allowed or (len(d), len(a), len(b), len(c)) != (sums, 2 * words, words, sums):
        raise t.refuse("the operands do not fit the shape")
    type_ = {"f32": "float", "f16": "unsigned", "s32": "int"}[result]
    total = _array(t, "d", type_, [t.read(item, "b32" if result == "f16" else result) for item in c])
    one = _array(t, "a", "const unsigned", [t.read(item, "b32") for item in a])
    two = _array(t, "b", "const unsigned", [t.read(item, "b32") for item in b])
    name = "m16n8" + ("_half" if result == "f16" else "_satfinite" if "satfinite" in i.modifiers else "")
    if "satfinite" in i.modifiers and not integers:
        raise t.refuse("the modifier .satfinite is for integers")
    t.emit(f"rocport::mma::{name}<rocport::mma::{left}, rocport::mma::{right}, {words}>({total}, {one}, {two});")
    _emulated(t, f"{16 * words} shuffles and {4 * k} multiply-adds")
    return total


@opcode(
    "ldmatrix",
    "stmatrix",
    examples=(
        'asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\\n"'
        ' : "=r"(o), "=r"(o1), "=r"(o2), "=r"(o3) : "r"(s));',
        'asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};"'
        ' :: "r"(s), "r"(r0), "r"(r1));',
    ),
)
def _matrix_memory(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    known = {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"}
    if not known.issuperset(i.modifiers) or "m8n8" not in i.modifiers or "b16" not in i.modifiers:
        raise t.refuse("this form is not translated")
    count = int(next((part[1] for part in i.modifiers if part in ("x1", "x2", "x4")), "1"))
    loads = i.opcode == "ldmatrix"
    fragment, where = i.operands if loads else reversed(i.operands)
    registers = t.vector(fragment)
    if len(registers) != count:
        raise t.refuse("the registers do not fit the count")
    pointer = re.fullmatch(r"\[\s*(%\[\w+\]|[%\w$.]+)\s*(?:\+\s*(-?\w+|%\d+)\s*)?\]", where)
    if pointer is None:
        raise t.refuse(f"address {where} is not understood")
    address = f"(unsigned)({t.register(pointer[1]).text})"
    if pointer[2]:
        address += f" + {t.read(pointer[2], 'u32')}"
    name = f"rocport::mma::{i.opcode}{'_trans' if 'trans' in i.modifiers else ''}"
    _emulated(t, f"{count * (2 if 'trans' in i.modifiers else 1)} shuffles and as many accesses")
    if loads:
        values = t.fresh("m")
        t.emit(f"unsigned {values}[{count}];")
        t.emit(f"{name}({values}, {address});")
        for number, register in enumerate(registers):
            t.write(register, "b32", f"{values}[{number}]")
    else:
        values = _array(t, "m", "const unsigned", [t.read(item, "b32") for item in registers])
        t.emit(f"{name}({address}, {values});")
    one_block(t)


@opcode(
    "movmatrix",
    examples=('asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(o) : "r"(r0));',),
)
def _movmatrix(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    if set(i.modifiers) != {"sync", "aligned", "m8n8", "trans", "b16"}:
        raise t.refuse("this form is not translated")
    _emulated(t, "2 shuffles")
    t.write(i.operands[0], "b32", f"rocport::mma::movmatrix_trans({t.read(i.operands[1], 'b32')})")

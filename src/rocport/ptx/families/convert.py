"""Moves, conversions of values and of addresses."""

from __future__ import annotations

from collections.abc import Sequence

from rocport.ptx.headers import COMPAT, FP8, MMA
from rocport.ptx.modifiers import ROUNDINGS, SUFFIX, expect, one_block, only, type_of
from rocport.ptx.parse import Instruction
from rocport.ptx.registers import C_TYPE, TYPES
from rocport.ptx.translator import Translator, opcode


@opcode(
    "mov",
    examples=(
        'asm("mov.u32 %0, %%smid;" : "=r"(o));',
        'asm("mov.u32 %0, %laneid;" : "=r"(o));',
        'asm("mov.u32 %0, %%warpid;" : "=r"(o));',
        'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ol));',
        'asm volatile("mov.u64 %0, %%clock64;" : "=l"(ol));',
        'asm volatile("mov.u32 %0, %%clock;" : "=r"(o) :: "memory");',
        'asm("mov.b64 {%0,%1}, %2;" : "=r"(o), "=r"(o1) : "l"(l0));',
        'asm("mov.b64 %0, {%1,%2};" : "=l"(ol) : "r"(r0), "r"(r1));',
        'asm("mov.b64 {%0,%1}, %2;" : "=r"(o), "=r"(o1) : "d"(d0));',
        'asm("mov.b64 %0, {%1,%2};" : "=d"(od) : "r"(r0), "r"(r1));',
        'asm("mov.b32 %0, {%1,%2};" : "=r"(o) : "h"(h0), "h"(h1));',
        'asm("mov.b32 %0, 0x3f800000;" : "=f"(of));',
        'asm("mov.f32 %0, 0f3f800000;" : "=f"(of));',
        'asm("mov.u32 %0, %%tid.x;" : "=r"(o));',
    ),
)
def _mov(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    only(t, i, "pred")
    type_ = type_of(t, i)
    to, source = i.operands
    if to.startswith("{") and "," in to:
        parts = t.vector(to)
        bits = {"b16": 16, "b32": 32, "b64": 64}.get(type_)
        if bits is None or bits // len(parts) < 16:
            raise t.refuse("this unpacking is not translated")
        each = bits // len(parts)
        value = t.fresh("value")
        t.emit(f"const {C_TYPE[type_]} {value} = {t.read(source, type_)};")
        for number, part in enumerate(parts):
            if part != "_":
                shifted = f"{value} >> {each * number}" if number else value
                t.write(part, f"b{each}", f"({C_TYPE[f'b{each}']})({shifted})")
        one_block(t)
        return
    if source.startswith("{") and "," in source:
        parts = t.vector(source)
        bits = {"b16": 16, "b32": 32, "b64": 64}.get(type_)
        if bits is None or bits // len(parts) < 16:
            raise t.refuse("this packing is not translated")
        each = bits // len(parts)
        pieces = []
        for number, part in enumerate(parts):
            value = f"({C_TYPE[type_]}){t.read(part, f'b{each}')}"
            pieces.append(f"({value} << {each * number})" if number else value)
        t.write(to, type_, " | ".join(pieces))
        return
    if type_ == "pred":
        t.write(to, "pred", t.read(source, "pred"))
        return
    t.write(to, type_, t.read(source, type_))


_TO_INT = {"rni": "rn", "rzi": "rz", "rmi": "rd", "rpi": "ru"}


@opcode(
    "cvt",
    examples=(
        'asm("cvt.rn.bf16x2.f32 %0, %1, %2;\\n" : "=r"(o) : "f"(f0), "f"(f1));',
        'asm("cvt.rn.f16x2.f32 %0, %1, %2;\\n" : "=r"(o) : "f"(f0), "f"(f1));',
        'asm("cvt.f32.f16 %0, %1;\\n" : "=f"(of) : "h"(h0));',
        'asm("cvt.rn.f16.f32 %0, %1;\\n" : "=h"(oh) : "f"(f0));',
        'asm("cvt.rni.s32.f32 %0, %1;\\n" : "=r"(oi) : "f"(f0));',
        'asm("cvt.rni.sat.s8.f32 %0, %1;\\n" : "=r"(oi) : "f"(f0));',
        'asm("cvt.rni.sat.s8.f16 %0, %1;\\n" : "=h"(oh) : "h"(h0));',
        'asm("cvt.rzi.u32.bf16 %0, %1;\\n" : "=r"(o) : "h"(h0));',
        'asm("cvt.u32.u64 %0, %1;\\n" : "=r"(o) : "l"(l0));',
        'asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\\n" : "=h"(oh) : "f"(f0), "f"(f1));',
        'asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(o) : "h"(h0));',
        'asm("cvt.rna.tf32.f32 %0, %1;\\n" : "=r"(o) : "f"(f0));',
    ),
)
def _cvt(t: Translator, i: Instruction) -> None:
    types = [part for part in i.modifiers if part in TYPES]
    modes = [part for part in i.modifiers if part not in TYPES and part != "ftz"]
    if _cvt_fp8(t, i, types, modes):
        return
    if i.modifiers == ("rna", "tf32", "f32"):
        expect(t, i, 2)
        t.need(MMA)
        value = f"rocport::wmma::__float_to_tf32({t.read(i.operands[1], 'f32')})"
        t.write(i.operands[0], "b32", t.bits("unsigned", value))
        return
    if "pack" in modes or len(types) != 2:
        raise t.refuse("this conversion is not translated")
    to_type, from_type = types
    to, *rest = i.operands
    if to_type in ("f16x2", "bf16x2") and from_type == "f32" and modes == ["rn"]:
        expect(t, i, 3)
        t.half()
        # The first source goes to the upper half.
        low, high = t.read(rest[1], "f32"), t.read(rest[0], "f32")
        name = "__floats2half2_rn" if to_type == "f16x2" else "rocport::floats2bfloat162_rn"
        t.write(to, to_type, f"{name}({low}, {high})")
        return
    expect(t, i, 2)
    value = t.read(rest[0], from_type)
    t.write(to, *_converted(t, to_type, from_type, modes, value))


def _cvt_fp8(t: Translator, i: Instruction, types: Sequence[str], modes: Sequence[str]) -> bool:
    """Conversions of pairs of fp8 numbers; True when the instruction is one."""
    kinds = [part for part in modes if part in ("e4m3x2", "e5m2x2")]
    if len(kinds) != 1:
        return False
    kind = f"rocport::{kinds[0][:4].upper()}"
    rest = [part for part in modes if part != kinds[0]]
    position = i.modifiers.index(kinds[0])
    outward = len(types) == 1 and position < i.modifiers.index(types[0])
    to, *sources = i.operands
    if outward and rest == ["rn", "satfinite"] and types[0] == "f32" and len(sources) == 2:
        # The first source goes to the upper byte.
        pair = f"make_float2({t.read(sources[1], 'f32')}, {t.read(sources[0], 'f32')})"
        t.write(to, "b16", f"rocport::cvt_float2_to_fp8x2({pair}, rocport::SATFINITE, {kind})")
    elif outward and rest == ["rn", "satfinite"] and types[0] == "f16x2" and len(sources) == 1:
        value = f"rocport::cvt_halfraw2_to_fp8x2({t.read(sources[0], 'b32')}, rocport::SATFINITE, {kind})"
        t.write(to, "b16", value)
    elif not outward and rest == ["rn"] and types == ["f16x2"] and len(sources) == 1:
        value = f"rocport::cvt_fp8x2_to_halfraw2({t.read(sources[0], 'b16')}, {kind})"
        t.write(to, "b32", t.bits("unsigned", value))
    else:
        raise t.refuse("this conversion of fp8 numbers is not translated")
    t.need(FP8)
    return True


def _converted(t: Translator, to: str, from_: str, modes: Sequence[str], value: str) -> tuple[str, str]:
    """Type and value of a scalar cvt."""
    floats, halves = ("f32", "f64"), ("f16", "bf16")
    integers = to[0] in "su" and from_[0] in "su"
    if integers and not modes:
        return to, f"({C_TYPE[to]}){value}"
    if integers and modes == ["sat"]:
        t.need(COMPAT)
        return to, f"rocport::convert_sat<{C_TYPE[to]}>({value})"
    if from_ in floats and to in floats:
        if from_ == to and len(modes) == 1 and modes[0] in _TO_INT:
            name = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}[modes[0]]
            return to, f"{name}{'f' if to == 'f32' else ''}({value})"
        if from_ == to and modes == ["sat"] and to == "f32":
            return to, f"rocport::saturatef({value})"
        if from_ == to and not modes:
            return to, value
        if to == "f64" and not modes:
            return to, f"(double){value}"
        if to == "f32" and len(modes) == 1 and modes[0] in ROUNDINGS:
            return to, f"__double2float_{SUFFIX[modes[0]]}({value})"
    if from_ in halves and to[0] in "su" and to[1:] != "64" and modes[:1] and modes[0] in _TO_INT:
        # Every half is a float, so that one rounding is left.
        t.half()
        value = f"{'__half2float' if from_ == 'f16' else '__bfloat162float'}({value})"
        from_ = "f32"
    if from_ in floats and to[0] in "su" and len(modes) >= 1 and modes[0] in _TO_INT and set(modes[1:]) <= {"sat"}:
        # The device conversions clamp, as PTX does; narrower integers clamp to their own range.
        wide = to if to in ("s32", "u32", "s64", "u64") else f"{to[0]}32"
        stem = {"f32": "__float2", "f64": "__double2"}[from_]
        name = stem + {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull"}[wide] + "_" + _TO_INT[modes[0]]
        if wide == to:
            return to, f"{name}({value})"
        t.need(COMPAT)
        return to, f"rocport::convert_sat<{C_TYPE[to]}>({name}({value}))"
    if from_[0] in "su" and to in floats and (len(modes) == 1 and modes[0] in ROUNDINGS):
        if modes == ["rn"]:
            return to, f"({C_TYPE[to]}){value}"
        wide = from_ if from_ in ("s32", "u32", "s64", "u64") else f"{from_[0]}32"
        stem = {"s32": "__int2", "u32": "__uint2", "s64": "__ll2", "u64": "__ull2"}[wide]
        return to, f"{stem}{'float' if to == 'f32' else 'double'}_{SUFFIX[modes[0]]}({value})"
    if from_[0] in "su" and to == "f64" and not modes:
        return to, f"(double){value}"
    if to in halves and from_ == "f32" and modes in (["rn"], ["rz"]):
        t.half()
        if to == "f16":
            return to, f"__float2half_{modes[0]}({value})"
        if modes == ["rn"]:
            return to, f"__float2bfloat16({value})"
    if from_ in halves and to == "f32" and not modes:
        t.half()
        return to, f"{'__half2float' if from_ == 'f16' else '__bfloat162float'}({value})"
    raise t.refuse("this conversion is not translated")


@opcode(
    "cvta",
    examples=(
        'asm("{ .reg .u64 u64addr; cvta.to.shared.u64 u64addr, %1; cvt.u32.u64 %0, u64addr; }\\n" : "=r"(o) : "l"(p));',
        'asm("{.reg .u64 smem_ptr; cvta.to.shared.u64 smem_ptr, %1; cvt.u32.u64 %0, smem_ptr;}" : "=r"(o) : "l"(p));',
    ),
)
def _cvta(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    type_ = type_of(t, i, "u32 u64")
    to, a = i.operands
    if "shared" in i.modifiers:
        t.need(COMPAT)
        if "to" in i.modifiers:
            t.write(to, type_, f"rocport::cvta_generic_to_shared((const void*)({t.register(a).text}))")
        else:
            t.write(to, type_, f"(unsigned long long)rocport::shared_pointer<char>((unsigned)({t.register(a).text}))")
        return
    if "global" in i.modifiers or "const" in i.modifiers or "param" in i.modifiers:
        t.write(to, type_, t.read(a, type_))
        return
    raise t.refuse("this state space is not translated")


@opcode(
    "isspacep",
    examples=('asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(o) : "l"(p));',),
)
def _isspacep(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    space = i.modifiers[0]
    if space not in ("shared", "shared::cta", "global", "local"):
        raise t.refuse("this state space is not translated")
    name = {"shared": "is_shared", "global": "is_global", "local": "is_local"}[space.partition("::")[0]]
    t.need(COMPAT)
    t.write(i.operands[0], "pred", f"rocport::{name}((const void*)({t.register(i.operands[1]).text}))")

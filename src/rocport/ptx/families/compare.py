"""Comparisons, tests and selections."""

from __future__ import annotations

from rocport.ptx.modifiers import expect, type_of
from rocport.ptx.parse import Instruction
from rocport.ptx.registers import TYPES
from rocport.ptx.translator import Translator, opcode


@opcode(
    "testp",
    examples=('asm("{ .reg .pred p; testp.finite.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(o) : "f"(f0));',),
)
def _testp(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    type_ = type_of(t, i, "f32 f64")
    value = t.read(i.operands[1], type_)
    name = {"finite": f"isfinite({value})", "infinite": f"isinf({value})", "number": f"!isnan({value})",
            "notanumber": f"isnan({value})"}.get(i.modifiers[0])  # fmt: skip
    if name is None:
        raise t.refuse("this test is not translated")
    t.write(i.operands[0], "pred", name)


@opcode(
    "selp",
    "slct",
    examples=(
        'asm("{.reg .pred p; setp.lt.f32 p, %1, %2; selp.f32 %0, %1, %2, p;}" : "=f"(of) : "f"(f0), "f"(f1));',
        'asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(i0));',
    ),
)
def _select(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    to, a, b, c = i.operands
    if i.opcode == "selp":
        type_ = type_of(t, i)
        condition = t.read(c, "pred")
    else:
        types = [part for part in i.modifiers if part in TYPES]
        if len(types) != 2:
            raise t.refuse("this type is not translated")
        type_ = types[0]
        condition = f"{t.read(c, types[1])} >= 0"
    t.write(to, type_, f"{condition} ? {t.read(a, type_)} : {t.read(b, type_)}")


_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
            "hs": ">="}  # fmt: skip


def _comparison(t: Translator, i: Instruction, a: str, b: str) -> str:
    name = i.modifiers[0]
    type_ = type_of(t, i)
    left, right = t.read(a, type_), t.read(b, type_)
    if name in _COMPARE:
        if type_ in ("f32", "f64") and name == "ne":
            # Ordered: false when either side is NaN, unlike C++'s.
            return f"({left} < {right} || {left} > {right})"
        return f"({left} {_COMPARE[name]} {right})"
    if type_ in ("f32", "f64"):
        if name == "nan":
            return f"(isnan({left}) || isnan({right}))"
        if name == "num":
            return f"!(isnan({left}) || isnan({right}))"
        opposite = {"equ": None, "neu": "==", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
        if name == "equ":
            return f"!({left} < {right} || {left} > {right})"
        if name in opposite:
            return f"!({left} {opposite[name]} {right})"
    raise t.refuse("this comparison is not translated")


@opcode(
    "setp",
    examples=(
        'asm("{.reg .pred p, q; setp.ge.s32 p, %1, 5; setp.lt.and.s32 q, %1, 9, p; '
        '@q mov.u32 %0, 1; @!q mov.u32 %0, 2;}"'
        ' : "=r"(o) : "r"(i0));',
    ),
)
def _setp(t: Translator, i: Instruction) -> None:
    expect(t, i, 3, 4)
    to, a, b, *third = i.operands
    compared = _comparison(t, i, a, b)
    first, _, second = to.partition("|")
    combine = next((part for part in i.modifiers[1:] if part in ("and", "or", "xor")), None)
    if (combine is None) != (not third):
        raise t.refuse("operands do not fit the combination")
    result, opposite = compared, f"!{compared}"
    if combine:
        symbol = {"and": "&&", "or": "||", "xor": "!="}[combine]
        extra = t.read(third[0], "pred")
        result, opposite = f"({compared}) {symbol} {extra}", f"(!{compared}) {symbol} {extra}"
    if second.strip():
        t.write(second.strip(), "pred", opposite)
    t.write(first.strip(), "pred", result)


@opcode(
    "set",
    examples=('asm("set.lt.u32.f32 %0, %1, %2;" : "=r"(o) : "f"(f0), "f"(f1));',),
)
def _set(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    types = [part for part in i.modifiers if part in TYPES]
    if len(types) != 2 or i.modifiers[0] not in _COMPARE or types[0] not in ("u32", "s32", "f32"):
        raise t.refuse("this comparison is not translated")
    compared = _comparison(t, Instruction("set", (i.modifiers[0], types[1]), i.operands), i.operands[1], i.operands[2])
    result = f"{compared} ? 1.0f : 0.0f" if types[0] == "f32" else f"{compared} ? 0xffffffffu : 0u"
    t.write(i.operands[0], types[0], result)

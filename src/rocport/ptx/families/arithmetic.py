"""Sums, products, quotients and elementary functions, of integers and floats of every width."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocport.ptx.headers import COMPAT
from rocport.ptx.modifiers import ROUNDINGS, SUFFIX, expect, only, rounding_of, type_of
from rocport.ptx.parse import Instruction
from rocport.ptx.registers import C_TYPE
from rocport.ptx.translator import CARRY, Translator, opcode

_SYMBOL = {"add": "+", "sub": "-", "mul": "*"}
_PACKED = {"add": "__hadd2", "sub": "__hsub2", "mul": "__hmul2", "fma": "__hfma2"}
_SCALAR = {"add": "__hadd", "sub": "__hsub", "mul": "__hmul", "fma": "__hfma"}


def rounded(t: Translator, name: str, rounding: str, type_: str, arguments: Sequence[str]) -> str:
    """A float operation that is never contracted, in a rounding mode."""
    prefix = "__f" if type_ == "f32" else "__d"
    stem = prefix + name
    if name == "fma":
        stem = "__fmaf" if type_ == "f32" else "__fma"
    call = f"{stem}_{SUFFIX[rounding]}"
    if rounding != "rn":
        t.need(COMPAT)
        call = f"rocport::{call.lstrip('_')}"
    return f"{call}({', '.join(arguments)})"


@opcode(
    "add",
    "sub",
    "mul",
    examples=(
        'asm("add.f16x2 %0, %1, %2;\\n" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(of) : "f"(f0), "f"(f1));',
        'asm("add.rm.f32 %0, %1, %2;" : "=f"(of) : "f"(f0), "f"(f1));',
        'asm("add.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(i0));',
        'asm("sub.f16x2 %0, %1, %2;\\n" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("sub.u64 %0, %1, %2;" : "=l"(ol) : "l"(l0), "l"(l1));',
        'asm("mul.f16 %0, %1, %2;" : "=h"(oh) : "h"(h0), "h"(h1));',
        'asm("mul.wide.u32 %0, %1, %2;" : "=l"(ol) : "r"(r0), "r"(r1));',
        'asm("mul.hi.u64 %0, %1, %2;" : "=l"(ol) : "l"(l0), "l"(l1));',
        'asm("mul.hi.u32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
    ),
)
def _arithmetic(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    type_ = type_of(t, i)
    if i.opcode != "mul" and "cc" in i.modifiers:
        _carry(t, i)
        return
    to, a, b = i.operands
    if type_ in ("f32", "f64"):
        only(t, i, *ROUNDINGS, "sat")
        left, right = t.read(a, type_), t.read(b, type_)
        rounding = rounding_of(i)
        value = (
            rounded(t, i.opcode, rounding, type_, (left, right)) if rounding else f"{left} {_SYMBOL[i.opcode]} {right}"
        )
        if "sat" in i.modifiers:
            value = f"rocport::saturatef({value})"
        t.write(to, type_, value)
        return
    if type_ in ("f16", "bf16", "f16x2", "bf16x2"):
        only(t, i, "rn")
        t.half()
        name = (_PACKED if type_.endswith("x2") else _SCALAR)[i.opcode]
        t.write(to, type_, f"{name}({t.read(a, type_)}, {t.read(b, type_)})")
        return
    if i.opcode == "mul":
        _multiply(t, i, type_)
        return
    only(t, i, "sat")
    if "sat" in i.modifiers:
        if type_ != "s32":
            raise t.refuse("saturation of this type is not translated")
        t.need(COMPAT)
        t.write(to, type_, f"rocport::{i.opcode}_sat({t.read(a, type_)}, {t.read(b, type_)})")
        return
    unsigned = type_.replace("s", "u").replace("b", "u")
    value = f"({C_TYPE[type_]})({t.read(a, unsigned)} {_SYMBOL[i.opcode]} {t.read(b, unsigned)})"
    t.write(to, type_, value)


def _multiply(t: Translator, i: Instruction, type_: str) -> None:
    only(t, i, "lo", "hi", "wide")
    to, a, b = i.operands
    t.write(to, *_product(t, i, type_, a, b))


def _product(t: Translator, i: Instruction, type_: str, a: str, b: str) -> tuple[str, str]:
    """Type and value of mul.lo, mul.hi or mul.wide."""
    if type_ not in ("s16", "u16", "s32", "u32", "s64", "u64"):
        raise t.refuse("this type is not translated")
    size = int(type_[1:])
    if "wide" in i.modifiers:
        if size == 64:
            raise t.refuse("this type is not translated")
        wide = f"{type_[0]}{size * 2}"
        return wide, f"({C_TYPE[wide]}){t.read(a, type_)} * ({C_TYPE[wide]}){t.read(b, type_)}"
    if "hi" in i.modifiers:
        if size == 16:
            wide = f"{type_[0]}32"
            return type_, f"({C_TYPE[type_]})((({C_TYPE[wide]}){t.read(a, type_)} * {t.read(b, type_)}) >> 16)"
        name = {"s32": "__mulhi", "u32": "__umulhi", "s64": "__mul64hi", "u64": "__umul64hi"}[type_]
        return type_, f"{name}({t.read(a, type_)}, {t.read(b, type_)})"
    unsigned = "u" + type_[1:]
    if size == 16:
        return type_, f"({C_TYPE[type_]})((unsigned){t.read(a, unsigned)} * {t.read(b, unsigned)})"
    return type_, f"({C_TYPE[type_]})({t.read(a, unsigned)} * {t.read(b, unsigned)})"


@opcode(
    "mad",
    examples=(
        'asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(ol) : "r"(r0), "r"(r1), "l"(l0));',
        'asm("mad.lo.u32 %0, %1, %2, %3;" : "+r"(o) : "r"(r0), "r"(r1), "r"(r2));',
    ),
)
def _mad(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    type_ = type_of(t, i)
    to, a, b, c = i.operands
    if type_ in ("f32", "f64"):
        _fma(t, i)
        return
    if "cc" in i.modifiers:
        _carry_mad(t, i)
        return
    only(t, i, "lo", "hi", "wide")
    wide, value = _product(t, i, type_, a, b)
    t.write(to, wide, f"({C_TYPE[wide]})(({C_TYPE['u' + wide[1:]]})({value}) + {t.read(c, 'u' + wide[1:])})")


@opcode(
    "mul24",
    "mad24",
    examples=(
        'asm("mul24.lo.u32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
        'asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(oi) : "r"(i0), "r"(r1), "r"(r2));',
    ),
)
def _mul24(t: Translator, i: Instruction) -> None:
    only(t, i, "lo")
    type_ = type_of(t, i, "s32 u32")
    name = "__mul24" if type_ == "s32" else "__umul24"
    value = f"{name}({t.read(i.operands[1], type_)}, {t.read(i.operands[2], type_)})"
    if i.opcode == "mad24":
        expect(t, i, 4)
        value += f" + {t.read(i.operands[3], type_)}"
    t.write(i.operands[0], type_, value)


@opcode(
    "fma",
    examples=(
        'asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(of) : "f"(f0), "f"(f1), "f"(f2));',
        'asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',
        'asm("fma.rz.f64 %0, %1, %2, %3;" : "=d"(od) : "d"(d0), "d"(d1), "d"(d2));',
        'asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(oh) : "h"(h0), "h"(h1), "h"(h0));',
    ),
)
def _fma(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    type_ = type_of(t, i)
    to, *rest = i.operands
    arguments = [t.read(item, type_) for item in rest]
    if type_ in ("f32", "f64"):
        only(t, i, *ROUNDINGS, "sat")
        value = rounded(t, "fma", rounding_of(i) or "rn", type_, arguments)
        if "sat" in i.modifiers:
            value = f"rocport::saturatef({value})"
    elif type_ in ("f16", "bf16", "f16x2", "bf16x2"):
        only(t, i, "rn", "relu")
        t.half()
        name = (_PACKED if type_.endswith("x2") else _SCALAR)["fma"]
        value = f"{name}({', '.join(arguments)})"
        if "relu" in i.modifiers:
            raise t.refuse("the modifier .relu is not translated")
    else:
        raise t.refuse("this type is not translated")
    t.write(to, type_, value)


def _carry(t: Translator, i: Instruction) -> None:
    """add.cc, sub.cc, addc, subc."""
    type_ = type_of(t, i, "u32 s32 b32 u64 s64 b64")
    to, a, b = i.operands
    unsigned = "u" + type_[1:]
    name = "add_carry" if i.opcode.startswith("add") else "sub_borrow"
    _with_carry(t, i, to, type_, name, lambda: f"{t.read(a, unsigned)}, {t.read(b, unsigned)}")


def _with_carry(t: Translator, i: Instruction, to: str, type_: str, name: str, summands: Callable[[], str]) -> None:
    """A sum that takes the carry or borrow of the one before (addc, subc, madc), or leaves one (.cc), in a local.

    `summands` reads the operands, once it is known whether they stand in locals of this statement.
    """
    incoming = "0u"
    if i.opcode in ("addc", "subc", "madc"):
        if t.carry is None:
            raise t.refuse("its carry comes from another asm statement: write the sum over wider integers")
        incoming = t.carry
        t.carry_open = False
    leaves = "cc" in i.modifiers
    if leaves:
        if t.carry is None:
            t.locals = True
            t.carry = CARRY
            t.prologue.append(f"unsigned {CARRY} = 0;")
        t.carry_open = True
    t.need(COMPAT)
    t.write(to, type_, f"rocport::{name}({summands()}, {incoming}{f', &{CARRY}' if leaves else ''})")


@opcode(
    "addc",
    "subc",
    examples=(
        'asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %4, %5;" : "=r"(o), "=r"(o1) : "r"(r0), "r"(r1), "r"(r2), "r"(s));',
        'asm("sub.cc.u64 %0, %2, %3; subc.u64 %1, %2, %3;" : "=l"(ol), "=l"(l0) : "l"(l0), "l"(l1));',
    ),
)
def _addc(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    only(t, i, "cc")
    _carry(t, i)


def _carry_mad(t: Translator, i: Instruction) -> None:
    type_ = type_of(t, i, "u32 s32 u64 s64")
    to, a, b, c = i.operands
    unsigned = "u" + type_[1:]

    def summands() -> str:
        _, product = _product(t, i, type_, a, b)
        return f"({C_TYPE[unsigned]})({product}), {t.read(c, unsigned)}"

    _with_carry(t, i, to, type_, "add_carry", summands)


@opcode(
    "madc",
    examples=(
        'asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, 0;"'
        ' : "=r"(o), "=r"(o1) : "r"(r0), "r"(r1), "r"(r2));',
    ),
)
def _madc(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    only(t, i, "cc", "lo", "hi")
    _carry_mad(t, i)


@opcode(
    "div",
    examples=(
        'asm("div.rn.f32 %0, %1, %2;" : "=f"(of) : "f"(f0), "f"(f1));',
        'asm("div.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(r0));',
    ),
)
def _div(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    only(t, i, *ROUNDINGS, "approx", "full")
    type_ = type_of(t, i)
    to, a, b = i.operands
    left, right = t.read(a, type_), t.read(b, type_)
    if type_ in ("f32", "f64"):
        rounding = rounding_of(i)
        if rounding:
            t.write(to, type_, rounded(t, "div", rounding, type_, (left, right)))
        elif type_ == "f32":
            t.write(to, type_, f"__fdividef({left}, {right})")
        else:
            raise t.refuse("this type is not translated")
        return
    if type_ not in ("s32", "u32", "s64", "u64", "s16", "u16"):
        raise t.refuse("this type is not translated")
    t.write(to, type_, f"({C_TYPE[type_]})({left} / {right})")


@opcode(
    "rem",
    examples=('asm("rem.u32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',),
)
def _rem(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    only(t, i)
    type_ = type_of(t, i, "s32 u32 s64 u64 s16 u16")
    to, a, b = i.operands
    t.write(to, type_, f"({C_TYPE[type_]})({t.read(a, type_)} % {t.read(b, type_)})")


@opcode(
    "rcp",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "ex2",
    "lg2",
    "tanh",
    examples=(
        'asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("sqrt.approx.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("rsqrt.approx.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("sin.approx.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("cos.approx.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("ex2.approx.f16x2 %0, %1;" : "=r"(o) : "r"(r0));',
        'asm("lg2.approx.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm volatile("tanh.approx.f32 %0, %1;" : "=f"(of) : "f"(f0));',
        'asm("tanh.approx.f16x2 %0, %1;" : "=r"(o) : "r"(r0));',
        'asm("tanh.approx.bf16x2 %0, %1;" : "=r"(o) : "r"(r0));',
    ),
)
def _unary_float(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    only(t, i, *ROUNDINGS, "approx")
    type_ = type_of(t, i)
    to, a = i.operands
    value = t.read(a, type_)
    rounding = rounding_of(i)
    if rounding and i.opcode in ("rcp", "sqrt") and type_ in ("f32", "f64"):
        t.write(to, type_, rounded(t, i.opcode, rounding, type_, (value,)))
        return
    if type_ == "f32":
        name = {"rcp": "__frcp_rn", "sqrt": "__fsqrt_rn", "rsqrt": "rsqrtf", "sin": "__sinf", "cos": "__cosf",
                "ex2": "exp2f", "lg2": "__log2f", "tanh": "tanhf"}[i.opcode]  # fmt: skip
    elif type_ == "f64" and i.opcode in ("rsqrt", "rcp"):
        name = {"rsqrt": "rsqrt", "rcp": "__drcp_rn"}[i.opcode]
    elif type_ in ("f16", "f16x2", "bf16", "bf16x2") and i.opcode in ("ex2", "tanh"):
        t.half()
        wide = "2" if type_.endswith("x2") else ""
        name = {"ex2": f"h{wide}exp2", "tanh": f"rocport::h{wide}tanh"}[i.opcode]
    else:
        raise t.refuse("this type is not translated")
    t.write(to, type_, f"{name}({value})")


@opcode(
    "abs",
    "neg",
    examples=(
        'asm("abs.s32 %0, %1;" : "=r"(oi) : "r"(i0));',
        'asm("neg.f16x2 %0, %1;" : "=r"(o) : "r"(r0));',
    ),
)
def _abs(t: Translator, i: Instruction) -> None:
    expect(t, i, 2)
    only(t, i)
    type_ = type_of(t, i)
    value = t.read(i.operands[1], type_)
    if type_ in ("f32", "f64"):
        name = "fabsf" if type_ == "f32" else "fabs"
        result = f"{name}({value})" if i.opcode == "abs" else f"-{value}"
    elif type_ in ("f16", "bf16", "f16x2", "bf16x2"):
        t.half()
        result = f"__h{i.opcode}{'2' if type_.endswith('x2') else ''}({value})"
    elif type_ in ("s16", "s32", "s64"):
        unsigned = C_TYPE["u" + type_[1:]]
        minus = f"({C_TYPE[type_]})(0 - ({unsigned}){value})"
        result = minus if i.opcode == "neg" else f"({value} < 0 ? {minus} : {value})"
    else:
        raise t.refuse("this type is not translated")
    t.write(i.operands[0], type_, result)


@opcode(
    "min",
    "max",
    examples=(
        'asm("min.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(i0));',
        'asm("max.f32 %0, %1, %2;" : "=f"(of) : "f"(f0), "f"(f1));',
        'asm("max.NaN.f32 %0, %1, %2;" : "=f"(of) : "f"(f0), "f"(f1));',
        'asm("max.f16x2 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',
    ),
)
def _minmax(t: Translator, i: Instruction) -> None:
    expect(t, i, 3, 4)
    only(t, i, "NaN")
    type_ = type_of(t, i)
    values = [t.read(item, type_) for item in i.operands[1:]]
    if type_ in ("f32", "f64"):
        if "NaN" in i.modifiers:
            t.need(COMPAT)
            name = f"rocport::f{i.opcode}_nan"
        else:
            name = f"f{i.opcode}{'f' if type_ == 'f32' else ''}"
        result = f"{name}({values[0]}, {values[1]})"
        if len(values) == 3:
            result = f"{name}({result}, {values[2]})"
    elif type_ in ("f16", "bf16", "f16x2", "bf16x2") and len(values) == 2:
        t.half()
        suffix = "2" if type_.endswith("x2") else ""
        result = f"rocport::h{i.opcode}{suffix}{'_nan' if 'NaN' in i.modifiers else ''}({values[0]}, {values[1]})"
    elif type_[0] in "su" and len(values) == 2 and type_ not in ("s8", "u8"):
        less = "<" if i.opcode == "min" else ">"
        result = f"({values[0]} {less} {values[1]} ? {values[0]} : {values[1]})"
    else:
        raise t.refuse("this type is not translated")
    t.write(i.operands[0], type_, result)


@opcode(
    "copysign",
    examples=('asm("copysign.f32 %0, %1, %2;" : "=f"(of) : "f"(f0), "f"(f1));',),
)
def _copysign(t: Translator, i: Instruction) -> None:
    expect(t, i, 3)
    type_ = type_of(t, i, "f32 f64")
    name = "copysignf" if type_ == "f32" else "copysign"
    # PTX: the sign of the first operand, the magnitude of the second.
    t.write(i.operands[0], type_, f"{name}({t.read(i.operands[2], type_)}, {t.read(i.operands[1], type_)})")


@opcode(
    "sad",
    examples=('asm("sad.u32 %0, %1, %2, %3;" : "=r"(o) : "r"(r0), "r"(r1), "r"(r2));',),
)
def _sad(t: Translator, i: Instruction) -> None:
    expect(t, i, 4)
    only(t, i)
    type_ = type_of(t, i, "u32 s32")
    a, b, c = (t.read(item, type_) for item in i.operands[1:])
    name = "__usad" if type_ == "u32" else "rocport::sad"
    t.write(i.operands[0], "u32", f"{name}({a}, {b}, (unsigned)({c}))")

# SPDX-License-Identifier: Apache-2.0
"""Vector arithmetic: lane loops around the texts, with source modifiers, DPP, SDWA, packed math and VOPD."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rocport.executor.isa.emit import Untranslated, Value, emit
from rocport.executor.isa.forms import EXEC, NULL, VCC, Context, Step, common_scalars, literal
from rocport.executor.isa.scalar import text_and_origin

# Texts whose lanes call the C library or loop: run for active lanes only.
_HEAVY = re.compile(r"\b(sin|cos|pow|log2|exp2|while)\b|\bfor\b")
_CARRY_IN = re.compile(r"V_(ADDC|SUBB|SUBBREV|ADD_CO_CI|SUB_CO_CI|SUBREV_CO_CI|CNDMASK)")
_CARRY_OUT = re.compile(r"V_(ADD|SUB|SUBREV|ADDC|SUBB|SUBBREV|ADD_CO_CI|SUB_CO_CI|SUBREV_CO_CI)_(CO_)?(U32|CI_U32)$")
_SIXTEEN = ("F16", "U16", "I16", "B16", "BF16")
_FLOAT = {"F32": ("as_f32", "float"), "F16": ("as_f16", "f16"), "F64": ("as_f64", "double")}


@dataclass
class _Lane:
    """The parts of a form's lane loop as they are put together."""

    before: str = ""
    body: str = ""
    after: str = ""
    registers: dict[str, int] = field(default_factory=dict)
    masks: list[str] = field(default_factory=list)
    active: str = "ex"
    """Lanes that are written."""


_PLACES = {"S0": 0, "S1": 1, "S2": 2}
"""Bits of S_SET_GPR_IDX_ON."""


def source(
    c: Context, lane: _Lane, name: str, code: int, width: int, number: str, high: bool = False, tag: str = ""
) -> None:
    """Declare `name` with the raw bits of one source operand of a lane."""
    wide = max(32, width)
    words = wide // 32
    if words > 2:
        raise Untranslated(f"operand of {width} bits")
    if code >= 256:
        pointer = f"p{name}{tag}"
        lane.before += f"const u32*{pointer}={c.form.row(code - 256, _PLACES.get(name))};"
        value = f"{pointer}[l]" + (f"|(u64){pointer}[l+W]<<32" if words == 2 else "")
        lane.body += f"u{wide} {name}={value};(void){name};"
    else:
        lane.before += f"const u{wide} c{name}{tag}={c.form.uniform(code, wide, number, c.instruction.literal)};"
        lane.body += f"u{wide} {name}=c{name}{tag};(void){name};"
    if high:
        lane.body += f"{name}>>=16;"
    lane.registers[name] = wide


def modify(lane: _Lane, name: str, width: int, number: str, negate: bool, absolute: bool) -> None:
    """Apply |x| and -x to the raw bits of a source."""
    sign = "0x8000u" if "16" in number else "0x8000000000000000ull" if width == 64 else "0x80000000u"
    if absolute:
        lane.body += f"{name}&=~{sign};"
    if negate:
        lane.body += f"{name}^={sign};"


def valu(c: Context) -> Step:
    """VOP1, VOP2, VOPC, VOP3, VOP3SD and VOP3P."""
    i, name, mode = c.instruction, c.instruction.name, c.mode
    if name in ("V_NOP", "V_PIPEFLUSH", "V_CLREXCP"):
        return c.step("return op+1;", "by hand")
    if name in _BY_HAND:
        return _BY_HAND[name](c)
    if name.startswith("V_S_"):
        return _pseudo_scalar(c)
    if "_MIX" in name:
        text, how = _mix_text(c), "override"
    elif name.startswith("V_BITOP3"):
        text, how = _bitop_text(c), "override"
    else:
        text, how = text_and_origin(name, i.op, mode.family)
    compare = name.startswith("V_CMP")
    exec_compare = name.startswith("V_CMPX")
    packed = i.encoding == "VOP3P"
    dpp, sdwa = i.variant in ("DPP16", "DPP8"), i.variant == "SDWA"
    lane = _Lane()
    lane.before = "const u64 ex=exec_of<W>(w);"
    opsel = c.raw("opsel")
    carry_in = bool(_CARRY_IN.match(name)) or "DIV_FMAS" in name
    mask_operand = ""
    for k, register in enumerate(("S0", "S1", "S2")):
        names = ((f"src{k}",), (f"vsrc{k}",))
        field_name = next((n[0] for n in names if i.has(n[0])), None)
        if k == 0 and (dpp or sdwa):
            field_name = "vsrc0"
        if field_name is None:
            continue
        known = next((n for n in (field_name, field_name.lstrip("v"), "v" + field_name) if n in i.bits), None)
        if known is None:
            continue
        width, number = i.bits[known], i.formats[known]
        code = c.raw(field_name)
        if "_MIX" in name:
            # A constant is a half where opsel_hi says that the operand is one.
            number = "F16" if _high_bits(c) >> k & 1 else "F32"
        if field_name == "vsrc1" or (field_name == "vsrc0" and not (sdwa and c.raw("s0"))):
            code += 256
        if sdwa and field_name == "vsrc1" and c.raw("s1"):
            code -= 256
        if register == "S2" and carry_in and "DIV_FMAS" not in name:
            mask_operand = _mask(c, code)
            continue
        if not re.search(rf"\b{register}\b", text):
            continue
        half = False
        if not mode.cdna and i.encoding in ("VOP1", "VOP2", "VOPC") and number in _SIXTEEN and code >= 256 + 128:
            half, code = True, code - 128  # bit 7 of the register selects the upper half
        accumulate = mode.cdna and name.startswith(("V_ACCVGPR_READ", "V_ACCVGPR_MOV")) and code >= 256
        if k == 0 and dpp:
            _dpp(c, lane, code, width)
        else:
            source(c, lane, register, code + (256 if accumulate else 0), width, number, half)
        if sdwa:
            _sdwa_source(c, lane, register, k)
        _modifiers(c, lane, register, k, code, max(32, width), number, packed, dpp or sdwa, opsel)
    # Destinations
    number = i.formats.get("vdst", "")
    width = 0 if compare else max(32, i.bits.get("vdst", 32))
    half_result = not compare and not packed and number in _SIXTEEN
    destination = c.raw("vdst")
    if compare:
        lane.masks.append("D0")
        lane.before += "alignas(64) u32 tD[W];"
        lane.body += "bool mask_D0=false;"
        if exec_compare:
            lane.masks.append("EXEC")
            lane.body += "bool mask_EXEC=false;"
    else:
        if half_result and not mode.cdna and i.encoding in ("VOP1", "VOP2") and destination >= 128:
            destination, opsel = destination - 128, opsel | 8
        if mode.cdna and name.startswith(("V_ACCVGPR_WRITE", "V_ACCVGPR_MOV")):
            destination += 256
        if width > 64:
            raise Untranslated(f"result of {width} bits")
        lane.registers["D0"] = width
        lane.before += f"u32*pD={c.form.row(destination, 3)};alignas(64) u32 t0[W];"
        lane.body += f"u{width} D0=pD[l]"
        lane.body += ";" if width == 32 else "|(u64)pD[l+W]<<32;"
        if half_result:
            lane.body += f"const u32 was=D0;D0={'D0>>16' if opsel & 8 else 'D0&0xffff'};"
        if width == 64:
            lane.before += "alignas(64) u32 t1[W];"
        if name.startswith("V_DIV_SCALE"):
            lane.body += "D0=S0;"
    uses_vcc = bool(re.search(r"\bVCC\b|\bD1\b", text))
    writes_vcc = uses_vcc and (i.encoding == "VOP3SD" or bool(_CARRY_OUT.match(name)))
    if uses_vcc:
        lane.masks.append("VCC")
        lane.before += f"const u64 vq={mask_operand or 'vcc_of<W>(w)'};alignas(64) u32 tV[W];"
        lane.body += "bool mask_VCC=vq>>l&1;"
        text = text.replace("VCC = 0x0LL", "VCC.u64[laneId] = 0").replace("VCC = 0x1LL", "VCC.u64[laneId] = 1")
        text = re.sub(r"D1\.[ui]1", "VCC.u64[laneId]", text)
    scalars = _scalars(c, opsel)
    lane.body += "{" + emit(_targeted(text, mode.ocp), lane.registers, lane.masks, scalars) + "}"
    if not compare:
        _clamp(c, lane, name, number, width, packed, half_result)
        if half_result:
            keep = "(was&0xffff)" if opsel & 8 else "0" if mode.cdna and i.encoding != "VOP3" else "(was&0xffff0000u)"
            if mode.cdna and i.encoding == "VOP3" and not opsel & 8:
                keep = "(was&0xffff0000u)" if opsel else "0"
            lane.body += f"D0=(D0&0xffff){'<<16' if opsel & 8 else ''}|{keep};"
        if sdwa:
            _sdwa_result(c, lane)
        lane.body += "t0[l]=(u32)D0;" + ("t1[l]=(u32)(D0>>32);" if width == 64 else "")
        lane.after += f"write_row<W>(pD,t0,{lane.active});"
        if width == 64:
            lane.after += f"write_row<W>(pD+W,t1,{lane.active});"
    if writes_vcc:
        lane.body += "tV[l]=mask_VCC;"
        target = c.form.sgpr(c.raw("sdst")) if i.encoding == "VOP3SD" else VCC
        lane.after += f"set_mask<W>(w,{c.form.operand(target)},pack_bits<W>(tV)&ex);"
    if compare:
        lane.body += "tD[l]=mask_D0;" if not (exec_compare and not mode.cdna) else "tD[l]=mask_EXEC;"
        lane.after += "const u64 m=pack_bits<W>(tD)&ex;"
        if not (exec_compare and not mode.cdna):
            target = VCC
            if i.encoding == "VOP3":
                target = c.form.sgpr(c.raw("vdst"))
            elif sdwa and c.raw("sd"):
                target = c.form.sgpr(c.raw("sdst"))
            lane.after += f"set_mask<W>(w,{c.form.operand(target)},m);"
        if exec_compare:
            lane.after += f"set_mask<W>(w,{EXEC},m);"
    heavy = bool(_HEAVY.search(text))
    if heavy:
        # Lanes that do not run must not be read.
        if compare:
            lane.before += "__builtin_memset(tD,0,sizeof tD);"
        if writes_vcc:
            lane.before += "__builtin_memset(tV,0,sizeof tV);"
    loop = "ACTIVE_LANES" if heavy else "EACH_LANE"
    return c.step(_guard(lane, loop, "F64" in "".join(i.formats.values())), how)


def _pseudo_scalar(c: Context) -> Step:
    """gfx12's V_S_RCP and its like: a transcendental of a scalar register, written to a scalar register."""
    i = c.instruction
    text, how = text_and_origin(i.name, i.op, c.mode.family)
    lane = _Lane(registers={"S0": 32, "D0": 32})
    lane.body = f"u32 S0={c.form.uniform(c.raw('src0'), 32, i.formats.get('src0', ''), i.literal)};"
    modify(lane, "S0", 32, i.formats.get("src0", ""), bool(c.raw("neg") & 1), bool(c.raw("abs") & 1))
    if c.raw("opsel") or c.raw("omod") or c.raw("clmp"):
        raise Untranslated(f"{i.name} with output modifiers")
    d = c.form.operand(c.form.sgpr(c.raw("vdst")))
    body = emit(text, lane.registers, (), common_scalars(c.mode) | {"laneId": literal(0)})
    return c.step(f"{lane.body}u32 D0=w->s[{d}];{body}w->s[{d}]=D0;return op+1;", how)


def _guard(lane: _Lane, loop: str, double: bool) -> str:
    body = f"{lane.before}{loop}{{{lane.body}}}{lane.after}return op+1;"
    return f"Doubles doubles(w);{body}" if double else body


def _targeted(text: str, ocp: bool) -> str:
    """8-bit float conversions by the target's format."""
    return (
        re.sub(r"\b(fp8|bf8)_to_f32\b", r"\1o_to_f32", re.sub(r"\bf32_to_(fp8|bf8)\b", r"f32_to_\1o", text))
        if ocp
        else text
    )


def _mask(c: Context, code: int) -> str:
    """Expression of a mask operand."""
    if code < 128:
        index = c.form.sgpr(code)
        return "0ull" if index == NULL else f"get_mask<W>(w,{c.form.operand(index)})"
    if 128 <= code <= 208:
        return "~0ull" if code == 193 else f"{code - 128 if code <= 192 else 0}ull"
    raise Untranslated(f"mask operand {code}")


def _high_bits(c: Context) -> int:
    return c.raw("opsel_hi") | c.raw("opsel_hi2") << 2


def _mix_text(c: Context) -> str:
    """V_FMA_MIX*: each operand a float, or the half of it that opsel and opsel_hi name.

    CDNA's table calls them V_MAD_MIX and multiplies and adds; the hardware since gfx906 has one rounding (LLVM's
    FeatureFmaMixInsts).
    """
    operands = []
    for k in range(3):
        half = f"S{k}[31 : 16]" if c.raw("opsel") >> k & 1 else f"S{k}[15 : 0]"
        operands.append(f"f16_to_f32({half}.f16)" if _high_bits(c) >> k & 1 else f"S{k}.f32")
    result = f"fma({', '.join(operands)})"
    if c.instruction.name.endswith("LO_F16"):
        return f"D0[15 : 0].f16 = f32_to_f16({result})"
    if c.instruction.name.endswith("HI_F16"):
        return f"D0[31 : 16].f16 = f32_to_f16({result})"
    return f"D0.f32 = {result}"


def _bitop_text(c: Context) -> str:
    """V_BITOP3: its truth table stands where other instructions have modifiers."""
    table = c.raw("omod") << 6 | c.raw("abs") << 3 | c.raw("neg")
    u = "u16" if c.instruction.name.endswith("B16") else "u32"
    terms = []
    for row in range(8):
        if table >> row & 1:
            terms.append("(" + " & ".join(f"{'' if row >> 2 - k & 1 else '~'}S{k}.{u}" for k in range(3)) + ")")
    return f"D0.{u} = {' | '.join(terms) or '0U'}"


def _scalars(c: Context, opsel: int) -> dict[str, Value]:
    i = c.instruction
    found = common_scalars(c.mode)
    found["OPSEL"] = Value(f"{opsel}u", "u", 32, opsel)
    high = _high_bits(c)
    found["OPSEL_HI"] = Value(f"{high}u", "u", 32, high)
    found["NEG"] = Value(f"{c.raw('neg')}u", "u", 32, c.raw("neg"))
    if re.search(r"MAD(MK|AK)|FMA(MK|AK)", i.name):
        found["SIMM32"] = Value(f"({c.form.operand(i.literal)})", "u", 32)
        found["SIMM16"] = Value(f"({c.form.operand(i.literal)}&0xffff)", "u", 32)
    return found


def _modifiers(
    c: Context,
    lane: _Lane,
    name: str,
    k: int,
    code: int,
    width: int,
    number: str,
    packed: bool,
    short: bool,
    opsel: int,
) -> None:
    if c.instruction.name.startswith("V_BITOP3"):
        return
    if not packed:
        if opsel >> k & 1 and c.instruction.encoding == "VOP3" and name in lane.registers:
            lane.body += f"{name}>>=16;"
        negate = bool(c.raw(f"src{k}_neg")) if short else bool(c.raw("neg") >> k & 1)
        absolute = bool(c.raw(f"src{k}_abs")) if short else bool(c.raw("abs") >> k & 1)
        modify(lane, name, width, number, negate, absolute)
        return
    op = c.instruction.name
    high = _high_bits(c) >> k & 1
    low = opsel >> k & 1
    negate_low, negate_high = c.raw("neg") >> k & 1, c.raw("neg_hi") >> k & 1
    if "_MIX" in op:
        # neg_hi means |x| here; the operand is a half or a float by opsel_hi.
        sign = "0x80008000u" if high else "0x80000000u"
        lane.body += (f"{name}&=~{sign};" if negate_high else "") + (f"{name}^={sign};" if negate_low else "")
    elif "_DOT4" in op or "_DOT8" in op or op == "V_PK_MOV_B32":
        pass  # V_PK_MOV's text selects by OPSEL itself
    elif width == 64:
        scalar = code < 128 or code >= 256
        lane.body += (
            f"{{const u32 a={name}>>{32 * low if scalar else 0},b={name}>>{32 * high if scalar else 0};"
            f"{name}=(u64)(a^{negate_low << 31}u)|(u64)(b^{negate_high << 31}u)<<32;}}"
        )
    elif "DOT2" in op and k == 2:
        modify(lane, name, width, number, bool(negate_low), False)
    elif (low, high, negate_low, negate_high) != (0, 1, 0, 0):
        lane.body += f"{name}=(({name}>>{16 * low}&0xffff)^{negate_low << 15}u)|(({name}>>{16 * high}&0xffff)^{negate_high << 15}u)<<16;"


def _dpp(c: Context, lane: _Lane, code: int, width: int) -> None:
    """S0 comes from another lane of the row."""
    row = c.form.row(code - 256)
    words = max(1, width // 32)
    i = c.instruction
    gfx9 = "true" if c.mode.cdna else "false"
    lane.before += f"alignas(64) u32 x0[{words}*W];"
    if i.variant == "DPP8":
        selector = sum(c.raw(f"lane_sel_{k}") << 3 * k for k in range(8))
        fetch = int(i.fields.get("src0", 0) == 234)
        lane.before += f"const u64 ok=dpp8<W,{words}>(x0,{row},{c.form.operand(selector)},{fetch}?~0ull:ex);"
    else:
        masks = c.raw("row_mask") | c.raw("bank_mask") << 4 | c.raw("bc") << 8 | c.raw("fi") << 9
        lane.before += (
            f"const u64 ok=dpp16<W,{gfx9},{words}>(x0,{row},{c.form.operand(c.raw('dpp'))},{c.form.operand(masks)},ex);"
        )
    lane.active = "(ex&ok)"
    wide = 32 * words
    lane.body += f"u{wide} S0=x0[l]{'|(u64)x0[l+W]<<32' if words == 2 else ''};(void)S0;"
    lane.registers["S0"] = wide


def _sdwa_source(c: Context, lane: _Lane, name: str, k: int) -> None:
    select, extend = c.raw(f"src{k}_sel"), c.raw(f"src{k}_sext")
    if select < 6:
        low, count = (8 * select, 8) if select < 4 else (16 * (select - 4), 16)
        part = f"({name}>>{low}&{(1 << count) - 1}u)"
        lane.body += f"{name}=" + (f"(u32)sext({part},{count});" if extend else f"{part};")


def _sdwa_result(c: Context, lane: _Lane) -> None:
    select, unused = c.raw("dst_sel", 6), c.raw("dst_unused")
    if select >= 6:
        return
    low, count = (8 * select, 8) if select < 4 else (16 * (select - 4), 16)
    part = f"((u32)D0&{(1 << count) - 1}u)"
    if unused == 2:
        lane.body += f"D0=set_bits(pD[l],{low},{count},D0);"
    elif unused == 1:
        lane.body += f"D0=(u32)sext({part},{count})<<{low};"
    else:
        lane.body += f"D0={part}<<{low};"


def _clamp(c: Context, lane: _Lane, name: str, number: str, width: int, packed: bool, half: bool) -> None:
    """Output modifiers: times 2, 4 or a half, and clamping to [0, 1] or to the integer's range."""
    scale, clamp = (0 if packed else c.raw("omod")), c.raw("clmp")
    if (not scale and not clamp) or name.startswith("V_BITOP3"):
        return
    if number in _FLOAT:
        convert, kind = _FLOAT[number]
        lane.body += f"{{{kind} x={convert}(D0);" + ("", "x*=2;", "x*=4;", f"x=x*({kind})0.5;")[scale]
        lane.body += (f"x=x>0?(x<1?x:({kind})1):({kind})0;" if clamp else "") + "D0=bits(x);}"
        return
    if packed and "F16" in number:
        lane.body += "{f16 a=as_f16(D0),b=as_f16(D0>>16);a=a>0?(a<1?a:(f16)1):(f16)0;b=b>0?(b<1?b:(f16)1):(f16)0;D0=bits(a)|bits(b)<<16;}"
        return
    if packed and "F32" in number:
        lane.body += (
            "{float a=as_f32(D0),b=as_f32(D0>>32);a=a>0?(a<1?a:1):0;b=b>0?(b<1?b:1):0;D0=bits(a)|(u64)bits(b)<<32;}"
        )
        return
    saturating = {
        "V_SUB_U32": "D0=S1>S0?0:D0;",
        "V_SUB_NC_U32": "D0=S1>S0?0:D0;",
        "V_SUBREV_U32": "D0=S0>S1?0:D0;",
        "V_SUBREV_NC_U32": "D0=S0>S1?0:D0;",
        "V_SUBREV_U16": "D0=(S0&0xffff)>(S1&0xffff)?0:D0;",
        "V_ADD_U32": "D0=D0<S0?~0u:D0;",
        "V_ADD_NC_U32": "D0=D0<S0?~0u:D0;",
        "V_SUB_U16": "D0=(S1&0xffff)>(S0&0xffff)?0:D0;",
        "V_ADD_U16": "D0=(S0&0xffff)+(S1&0xffff)>0xffff?0xffff:D0;",
        "V_ADD_I32": "D0=clamp_i32((i64)(i32)S0+(i32)S1);",
        "V_SUB_I32": "D0=clamp_i32((i64)(i32)S0-(i32)S1);",
        "V_ADD_NC_I32": "D0=clamp_i32((i64)(i32)S0+(i32)S1);",
        "V_SUB_NC_I32": "D0=clamp_i32((i64)(i32)S0-(i32)S1);",
        "V_MAD_U32_U24": "{u64 x=(u64)(S0&0xffffff)*(S1&0xffffff)+S2;D0=x>~0u?~0u:(u32)x;}",
        "V_MAD_I32_I24": "D0=clamp_i32((i64)sext(S0,24)*sext(S1,24)+(i32)S2);",
    }
    if name in saturating:
        lane.body += saturating[name]
    elif found := re.match(r"V_DOT(\d)_[IU]32_([IU]{1,2})(\d+)$", name):
        lane.body += _clamped_dot(c, int(found[1]), found[2], int(found[3]))
    elif number.startswith(("U", "I", "B", "PK")):
        raise Untranslated(f"integer clamp of {name}")


def _clamped_dot(c: Context, count: int, sign: str, bits: int) -> str:
    """The sum of products without wrapping, then the nearest number of the result's type."""
    signed = [sign == "I" or (sign == "IU" and bool(c.raw("neg") >> k & 1)) for k in (0, 1)]
    terms = []
    for k in range(count):
        parts = [f"(u64)(S{n}>>{bits * k}&{(1 << bits) - 1}u)" for n in (0, 1)]
        a, b = (f"sext({part},{bits})" if s else f"(i64){part}" for part, s in zip(parts, signed, strict=True))
        terms.append(f"{a}*{b}")
    total = "+".join(terms)
    if sign == "U":
        return f"{{const i64 x=(i64)(u64)S2+{total};D0=x>0xffffffffll?~0u:(u32)x;}}"
    return f"D0=clamp_i32((i64)(i32)S2+{total});"


def vopd(c: Context) -> Step:
    """Two operations at once: both read before either writes."""
    i = c.instruction
    lane = _Lane(before="const u64 ex=exec_of<W>(w);")
    how = "pseudo-code"
    low = c.raw("vdstx")
    destinations = {"x": low, "y": c.raw("vdsty") << 1 | (~low & 1)}
    for half, dual in zip("xy", i.names, strict=True):
        name = dual.replace("V_DUAL_", "V_")
        if name.startswith("V_DOT2ACC"):
            name = name.replace("DOT2ACC", "DOT2")
        text, origin = text_and_origin(name, None, c.mode.family)
        how = origin if origin != "pseudo-code" else how
        part = _Lane(before=lane.before)
        source(c, part, "S0", c.raw(f"src{half}0"), 32, "F32", tag=half)
        row = c.form.row(c.raw(f"vsrc{half}1"))
        pointer = f"p{half}"
        part.before += (
            f"const u32*{pointer}={row};u32*d{half}={c.form.row(destinations[half])};alignas(64) u32 t{half}[W];"
        )
        part.body += f"u32 S1={pointer}[l];u32 D0=d{half}[l];(void)S1;"
        scalars = common_scalars(c.mode)
        if re.search(r"FMA(MK|AK)", name):
            scalars["SIMM32"] = Value(f"({c.form.operand(i.literal)})", "u", 32)
        masks = []
        if "VCC" in text:
            masks = ["VCC"]
            part.body += "bool mask_VCC=vcc_of<W>(w)>>l&1;"
        registers = {"S0": 32, "S1": 32, "D0": 32}
        if "S2" in text and name.startswith("V_DOT2"):
            part.body += "u32 S2=D0;"
            registers["S2"] = 32
        part.body += emit(text, registers, masks, scalars) + f"t{half}[l]=D0;"
        lane.before = part.before
        lane.body += "{" + part.body + "}"
    lane.after = "write_row<W>(dx,tx,ex);write_row<W>(dy,ty,ex);"
    return c.step(_guard(lane, "EACH_LANE", False), how)


# Instructions whose text is about other lanes.


def _uniform32(c: Context, field_name: str) -> str:
    return c.form.uniform(c.raw(field_name), 32, "B32", c.instruction.literal)


def _source_lane(c: Context, lane: str) -> str:
    code = c.raw("src0")
    if code >= 256:
        return f"{c.form.row(code - 256)}[{lane}]"
    return c.form.uniform(code, 32, "B32", c.instruction.literal)


def _readfirstlane(c: Context) -> Step:
    d = c.form.operand(c.form.sgpr(c.raw("vdst")))
    return c.step(
        f"const u64 e=exec_of<W>(w);const int l=e?__builtin_ctzll(e):0;w->s[{d}]={_source_lane(c, 'l')};return op+1;",
        "by hand",
    )


def _readlane(c: Context) -> Step:
    d = c.form.operand(c.form.sgpr(c.raw("vdst")))
    lane = _uniform32(c, "src1")
    return c.step(f"const int l={lane}&(W-1);w->s[{d}]={_source_lane(c, 'l')};return op+1;", "by hand")


def _writelane(c: Context) -> Step:
    value, lane = _uniform32(c, "src0"), _uniform32(c, "src1")
    return c.step(f"{c.form.row(c.raw('vdst'))}[{lane}&(W-1)]={value};return op+1;", "by hand")


def _permlane16(c: Context) -> Step:
    cross = 16 if "X16" in c.instruction.name else 0
    variable = "VAR" in c.instruction.name
    fetch, bound = c.raw("opsel") & 1, c.raw("opsel") >> 1 & 1
    d, s = c.form.row(c.raw("vdst")), c.form.row(c.raw("src0") - 256)
    if variable:
        choose = f"{c.form.row(c.raw('src1') - 256)}[l]&15"
    else:
        choose = f"(({_uniform32(c, 'src2')}*1ull<<32|{_uniform32(c, 'src1')})>>(4*(l&15)))&15"
    return c.step(
        f"const u64 ex=exec_of<W>(w);alignas(64) u32 t[W];u64 ok=0;const u32*s={s};for(int l=0;l<W;l++){{"
        f"const int q=((l&~15)^{cross})|({choose});const bool on={fetch}||(ex>>q&1);"
        f"t[l]=on?s[q]:0;ok|=(u64)(on||{bound})<<l;}}write_row<W>({d},t,ex&ok);return op+1;",
        "by hand",
    )


def _permlane64(c: Context) -> Step:
    d, s = c.form.row(c.raw("vdst")), c.form.row(c.raw("src0") - 256)
    return c.step(
        f"const u64 ex=exec_of<W>(w);alignas(64) u32 t[W];for(int l=0;l<W;l++)t[l]={s}[W==64?l^32:l];"
        f"write_row<W>({d},t,ex);return op+1;",
        "by hand",
    )


def _permlane_swap(c: Context) -> Step:
    """gfx950: rows of 16 or halves of 32 change places between two registers."""
    distance = 16 if "PERMLANE16" in c.instruction.name else 32
    d, s = c.form.row(c.raw("vdst")), c.form.row(c.raw("src0") - 256)
    return c.step(
        f"u32*a={d};u32*b={s};for(int l=0;l<W;l++)if(!(l&{distance})){{const u32 x=a[l+{distance}];"
        f"a[l+{distance}]=b[l];b[l]=x;}}return op+1;",
        "by hand",
    )


def _movrel(c: Context) -> Step:
    """A move from or to the register that M0 counts from the one that is named (RDNA; CDNA has S_SET_GPR_IDX_ON)."""
    name = c.instruction.name
    c.form.indexed = {"V_MOVRELD_B32": 8, "V_MOVRELS_B32": 1, "V_MOVRELSD_B32": 9}[name]
    code = c.raw("src0")
    lane = _Lane(before="const u64 ex=exec_of<W>(w);alignas(64) u32 t0[W];")
    source(c, lane, "S0", code, 32, c.instruction.formats.get("src0", "B32"))
    lane.body += "t0[l]=S0;"
    lane.after = f"write_row<W>({c.form.row(c.raw('vdst'), 3)},t0,ex);"
    return c.step(_guard(lane, "EACH_LANE", False), "by hand")


def _movrel_both(c: Context) -> Step:
    """Source and destination each by half of M0 (RDNA's MOVRELSD_2 and SWAPREL)."""
    code = c.raw("src0")
    if code < 256:
        raise Untranslated(f"scalar operand of {c.instruction.name}")
    a = f"({c.form.row(c.raw('vdst'))}+(w->s[RP_M0]>>16&1023)*W)"
    b = f"({c.form.row(code - 256)}+(w->s[RP_M0]&1023)*W)"
    back = f"write_row<W>({b},a,ex);" if "SWAP" in c.instruction.name else ""
    return c.step(
        f"const u64 ex=exec_of<W>(w);alignas(64) u32 a[W],b[W];__builtin_memcpy(a,{a},sizeof a);"
        f"__builtin_memcpy(b,{b},sizeof b);write_row<W>({a},b,ex);{back}return op+1;",
        "by hand",
    )


def _mqsad(c: Context) -> Step:
    """Four masked sums of byte differences, along eight bytes, added to four words."""
    rows = []
    for k in range(3):
        if c.raw(f"src{k}") < 256:
            raise Untranslated(f"scalar operand of {c.instruction.name}")
        rows.append(c.form.row(c.raw(f"src{k}") - 256))
    d = c.form.row(c.raw("vdst"))
    return c.step(
        f"const u64 ex=exec_of<W>(w);const u32*a={rows[0]};const u32*b={rows[1]};const u32*s={rows[2]};u32*d={d};"
        "ACTIVE_LANES{const u64 x=a[l]|(u64)a[l+W]<<32;u32 t[4];"
        "for(int k=0;k<4;k++)t[k]=x_v_msad_u8((u32)(x>>8*k),b[l],s[l+k*W]);for(int k=0;k<4;k++)d[l+k*W]=t[k];}return op+1;",
        "by hand",
    )


def _swap(c: Context) -> Step:
    d, s = c.form.row(c.raw("vdst")), c.form.row(c.raw("src0") - 256)
    return c.step(
        f"const u64 ex=exec_of<W>(w);alignas(64) u32 a[W],b[W];__builtin_memcpy(a,{d},sizeof a);"
        f"__builtin_memcpy(b,{s},sizeof b);write_row<W>({d},b,ex);write_row<W>({s},a,ex);return op+1;",
        "by hand",
    )


_BY_HAND = {
    "V_READFIRSTLANE_B32": _readfirstlane,
    "V_READLANE_B32": _readlane,
    "V_WRITELANE_B32": _writelane,
    "V_PERMLANE16_B32": _permlane16,
    "V_PERMLANEX16_B32": _permlane16,
    "V_PERMLANE16_VAR_B32": _permlane16,
    "V_PERMLANEX16_VAR_B32": _permlane16,
    "V_PERMLANE64_B32": _permlane64,
    "V_PERMLANE16_SWAP_B32": _permlane_swap,
    "V_PERMLANE32_SWAP_B32": _permlane_swap,
    "V_SWAP_B32": _swap,
    "V_MOVRELD_B32": _movrel,
    "V_MOVRELS_B32": _movrel,
    "V_MOVRELSD_B32": _movrel,
    "V_MOVRELSD_2_B32": _movrel_both,
    "V_SWAPREL_B32": _movrel_both,
    "V_MQSAD_U32_U8": _mqsad,
}

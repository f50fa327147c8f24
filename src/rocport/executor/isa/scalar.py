# SPDX-License-Identifier: Apache-2.0
"""Scalar instructions: arithmetic from the texts, control flow, waits and scalar memory by hand."""

from __future__ import annotations

import re

from rocport.executor.isa.emit import Untranslated, Value, emit
from rocport.executor.isa.forms import (
    EXEC,
    LOAD_SCALAR,
    NULL,
    STORE,
    VCC,
    WAIT,
    Context,
    Step,
    common_scalars,
    literal,
)
from rocport.executor.isa.memory import operation
from rocport.executor.isa.overrides import OVERRIDES
from rocport.executor.isa.tables import Instruction, text_of

_NOTHING = re.compile(
    r"S_(NOP|DELAY_ALU|CLAUSE|SLEEP|SETPRIO|SET_INST|ICACHE|INST_PREFETCH|WAKEUP|CODE_END|SETHALT|TTRACE|DCACHE|ATC_PROBE"
    r"|VERSION|INCPERFLEVEL|DECPERFLEVEL|PREFETCH|GL1_INV|SETVSKIP|BUFFER_GL|SET_GPR_IDX_OFF|WAIT_IDLE|WAIT_EVENT|DENORM_MODE|SLEEP_VAR"
    r"|WAITCNT_DEPCTR|ALLOC_VGPR)"
)


def text_and_origin(name: str, op: object, family: str) -> tuple[str, str]:
    """The text to translate, and `override` or `pseudo-code`."""
    if name in OVERRIDES:
        return OVERRIDES[name], "override"
    return text_of(family, op, name), "pseudo-code"


def sopp(c: Context) -> Step:
    """Branches, barriers, waits, messages."""
    name, immediate = c.instruction.name, c.raw("simm16")
    target = c.next + ((immediate ^ 0x8000) - 0x8000) * 4
    wave = c.mode.wave
    if name in ("S_ENDPGM", "S_ENDPGM_SAVED", "S_ENDPGM_ORDERED_PS_DONE"):
        return c.step("return rp_stop_at(w,op,RP_END);", "by hand", falls=False)
    if name == "S_BRANCH":
        return c.step(c.form.flow("true", target) + "return op;", "by hand", targets=(target,), falls=False)
    conditions = {
        "S_CBRANCH_SCC0": "!w->scc",
        "S_CBRANCH_SCC1": "w->scc",
        "S_CBRANCH_VCCZ": f"!vcc_of<{wave}>(w)",
        "S_CBRANCH_VCCNZ": f"vcc_of<{wave}>(w)",
        "S_CBRANCH_EXECZ": f"!exec_of<{wave}>(w)",
        "S_CBRANCH_EXECNZ": f"exec_of<{wave}>(w)",
    }
    if name in conditions:
        return c.step(c.form.flow(conditions[name], target) + "return op+1;", "by hand", targets=(target,))
    if name.startswith("S_CBRANCH_CDBG"):
        return c.step("return op+1;", "by hand")
    if name == "S_BARRIER_WAIT" and immediate != 0xFFFF:
        raise Untranslated(f"{name} of a named barrier")
    if name in ("S_BARRIER", "S_BARRIER_WAIT"):
        return c.step("w->barrier=op->pc;return rp_stop_at(w,op+1,RP_BARRIER);", "by hand")
    if name == "S_TRAP":
        return c.step(f"w->message={c.form.operand(immediate)};return rp_stop_at(w,op,RP_TRAP);", "by hand")
    if name in ("S_SENDMSG", "S_SENDMSGHALT"):
        return c.step(
            f"if(w->launch&&w->launch->message)w->launch->message(w->launch->user,{c.form.operand(immediate)},w->s[RP_M0]);"
            "return op+1;",
            "by hand",
        )
    if name == "S_ROUND_MODE":
        return c.step(f"w->mode=(w->mode&~15u)|({c.form.operand(immediate)}&15);set_csr(w);return op+1;", "by hand")
    if name == "S_DENORM_MODE":
        return c.step(f"w->mode=(w->mode&~240u)|({c.form.operand(immediate)}&15)<<4;set_csr(w);return op+1;", "by hand")
    if name.startswith("S_WAIT"):
        waits = _waits(name, immediate, c.mode.family)
        if waits is None:
            return c.step("return op+1;", "by hand")
        for count in waits:
            c.form.operand(count)
        return c.step("return op+1;", "by hand", kind=WAIT)
    if name == "S_SET_GPR_IDX_MODE":
        modes = c.form.operand((immediate & 15) << 12)
        return c.step(f"w->s[RP_M0]=(w->s[RP_M0]&~0xf000u)|{modes};return op+1;", "by hand")
    if _NOTHING.match(name):
        return c.step("return op+1;", "by hand")
    raise Untranslated(name)


def indexing(instruction: Instruction, now: int) -> int:
    """The operands that M0 moves behind an instruction, where `now` are those before it."""
    if instruction.name == "S_SET_GPR_IDX_ON":
        return instruction.fields["ssrc1"] & 15
    if instruction.name == "S_SET_GPR_IDX_MODE":
        return instruction.fields["simm16"] & 15
    return 0 if instruction.name == "S_SET_GPR_IDX_OFF" else now


ALL = 0xFFFF
"""A count that waits for nothing."""


def _waits(name: str, value: int, family: str) -> tuple[int, int, int] | None:
    """How many vector, LDS and scalar loads may stay outstanding.

    Field positions: S_WAITCNT in the ISA documents of CDNA3 (vmcnt 3:0 and 15:14, lgkmcnt 11:8) and RDNA3 (vmcnt 15:10,
    lgkmcnt 9:4).
    """
    if name == "S_WAITCNT":
        if family == "cdna":
            vector, lds = (value & 15) | (value >> 14 & 3) << 4, value >> 8 & 15
            return (vector if vector < 63 else ALL), *(2 * (lds if lds < 15 else ALL,))
        vector, lds = value >> 10 & 63, value >> 4 & 63
        return (vector if vector < 63 else ALL), *(2 * (lds if lds < 63 else ALL,))
    single = {
        "S_WAIT_LOADCNT": (value, ALL, ALL),
        "S_WAIT_DSCNT": (ALL, value, ALL),
        "S_WAIT_KMCNT": (ALL, ALL, value),
        "S_WAIT_LOADCNT_DSCNT": (value >> 8 & 63, value & 63, ALL),
        "S_WAIT_STORECNT_DSCNT": (ALL, value & 63, ALL),
        "S_WAITCNT_VMCNT": (value & 63, ALL, ALL),
        "S_WAITCNT_LGKMCNT": (ALL, value & 63, value & 63),
    }
    return single.get(name)


def sop1(c: Context) -> Step:
    """One operand; jumps and calls."""
    name, source, target = c.instruction.name, c.raw("ssrc0"), c.raw("sdst")
    destination = c.form.sgpr(target)
    if name == "S_GETPC_B64":
        d = c.form.operand(destination)
        return c.step(
            f"const u64 p=w->image+op->pc+{c.instruction.size};w->s[{d}]=(u32)p;w->s[{d}+1]=(u32)(p>>32);return op+1;",
            "by hand",
        )
    if name in ("S_SETPC_B64", "S_SWAPPC_B64"):
        s = c.form.operand(source)
        link = ""
        if name == "S_SWAPPC_B64":
            d = c.form.operand(destination)
            link = f"const u64 p=w->image+op->pc+{c.instruction.size};w->s[{d}]=(u32)p;w->s[{d}+1]=(u32)(p>>32);"
        return c.step(
            f"const u64 to=w->s[{s}]|(u64)w->s[{s}+1]<<32;{link}return rp_jump(w,op,to);",
            "by hand",
            falls=name == "S_SWAPPC_B64",
            aux=1,
        )
    if name in ("S_BARRIER_SIGNAL", "S_BARRIER_SIGNAL_ISFIRST"):
        if source != _MINUS_ONE:
            raise Untranslated(f"{name} of a named barrier")
        # The wait gathers the waves.
        first = "w->scc=*w->signals==0;" if name.endswith("ISFIRST") else ""
        return c.step(f"{first}++*w->signals;return op+1;", "by hand")
    if name == "S_SLEEP_VAR":
        return c.step("return op+1;", "by hand")
    if name.startswith("S_MOVREL"):
        return _movrel(c, name, source, destination)
    if name == "S_SET_GPR_IDX_IDX":
        index = c.form.uniform(source, 32, "B32", c.instruction.literal)
        return c.step(f"w->s[RP_M0]=(w->s[RP_M0]&~255u)|({index}&255);return op+1;", "by hand")
    if name in ("S_SENDMSG_RTN_B32", "S_SENDMSG_RTN_B64"):
        d = c.form.operand(destination)
        kind = source
        value = {0x83: "rp_clock(w)", 0x85: "0", 0x80: "0"}.get(kind, "0")
        wide = f"w->s[{d}+1]=(u32)(r>>32);" if name.endswith("64") else ""
        return c.step(f"const u64 r={value};w->s[{d}]=(u32)r;{wide}return op+1;", "by hand")
    return arithmetic(c, {"S0": "ssrc0"}, destination)


_MINUS_ONE = 193
"""The operand -1: the workgroup's own barrier."""


def _movrel(c: Context, name: str, source: int, destination: int) -> Step:
    """Scalar registers that M0 counts from the ones that are named."""
    words = 2 if name.endswith("64") else 1
    at = {"S": "(w->s[RP_M0]&127)", "D": "(w->s[RP_M0]&127)"}
    if "RELSD_2" in name:
        at = {"S": "(w->s[RP_M0]&127)", "D": "(w->s[RP_M0]>>16&127)"}
    moved = {"RELS_": "S", "RELD_": "D", "RELSD_2_": "SD"}[name[5:].rpartition("B")[0]]
    to = f"{c.form.operand(destination)}" + (f"+{at['D']}" if "D" in moved else "")
    if "S" in moved:
        of = f"w->s+{c.form.operand(c.form.sgpr(source))}+{at['S']}"
        return c.step(
            f"u32 t[{words}];__builtin_memcpy(t,{of},{4 * words});__builtin_memcpy(w->s+{to},t,{4 * words});"
            "return op+1;",
            "by hand",
        )
    value = c.form.uniform(source, 32 * words, f"B{32 * words}", c.instruction.literal)
    return c.step(f"const u{32 * words} t={value};__builtin_memcpy(w->s+{to},&t,{4 * words});return op+1;", "by hand")


def sop2(c: Context) -> Step:
    return arithmetic(c, {"S0": "ssrc0", "S1": "ssrc1"}, c.form.sgpr(c.raw("sdst")))


def sopc(c: Context) -> Step:
    if c.instruction.name == "S_SETVSKIP":
        return c.step("return op+1;", "by hand")
    if c.instruction.name == "S_SET_GPR_IDX_ON":
        index = c.form.uniform(c.raw("ssrc0"), 32, "B32", c.instruction.literal)
        modes = c.form.operand((c.raw("ssrc1") & 15) << 12)
        return c.step(f"w->s[RP_M0]=(w->s[RP_M0]&~0xf0ffu)|{modes}|({index}&255);return op+1;", "by hand")
    return arithmetic(c, {"S0": "ssrc0", "S1": "ssrc1"}, None)


def sopk(c: Context) -> Step:
    """A 16-bit immediate; mode registers and calls."""
    name, immediate, destination = c.instruction.name, c.raw("simm16"), c.form.sgpr(c.raw("sdst"))
    if name in ("S_VERSION", "S_SUBVECTOR_LOOP_BEGIN", "S_SUBVECTOR_LOOP_END"):
        return c.step("return op+1;", "by hand")
    if name.startswith("S_WAITCNT_"):
        for count in _waits(name, immediate, c.mode.family) or (ALL, ALL, ALL):
            c.form.operand(count)
        return c.step("return op+1;", "by hand", kind=WAIT)
    if name.startswith(("S_SETREG", "S_GETREG")):
        register, low, count = immediate & 63, immediate >> 6 & 31, (immediate >> 11 & 31) + 1
        place = f"{c.form.operand(register)},{c.form.operand(low)},{c.form.operand(count)}"
        if name.startswith("S_GETREG"):
            return c.step(f"w->s[{c.form.operand(destination)}]=get_hwreg(w,{place});return op+1;", "by hand")
        value = (
            c.form.operand(c.instruction.literal)
            if "IMM32" in name
            else f"w->s[{c.form.operand(c.form.sgpr(c.raw('sdst')))}]"
        )
        return c.step(f"set_hwreg(w,{place},{value});return op+1;", "by hand")
    if name == "S_CALL_B64":
        target = c.next + ((immediate ^ 0x8000) - 0x8000) * 4
        d = c.form.operand(destination)
        return c.step(
            f"const u64 p=w->image+op->pc+4;w->s[{d}]=(u32)p;w->s[{d}+1]=(u32)(p>>32);"
            + c.form.flow("true", target)
            + "return op;",
            "by hand",
            targets=(target,),
            aux=1,
        )
    text, how = text_and_origin(name, c.instruction.op, c.mode.family)
    index = c.form.operand(destination)
    compare = "CMPK" in name
    value = c.form.operand(immediate)
    before = f"u32 D0=w->s[{index}];u32 S0={'D0' if compare else value};u32 S1={value};u32 SIMM16={value};"
    before += "(void)S0;(void)S1;(void)SIMM16;"
    body = emit(text, {"D0": 32, "S0": 32, "S1": 32, "SIMM16": 32}, (), common_scalars(c.mode) | {"laneId": literal(0)})
    return c.step(before + body + ("" if compare else f"w->s[{index}]=D0;") + "return op+1;", how)


def arithmetic(c: Context, sources: dict[str, str], destination: int | None) -> Step:
    """A scalar operation from its text."""
    i = c.instruction
    text, how = text_and_origin(i.name, i.op, c.mode.family)
    registers: dict[str, int] = {}
    before = after = ""
    for name, field_name in sources.items():
        width = max(32, i.bits.get(field_name, 32))
        code = c.form.uniform(c.raw(field_name), width, i.formats.get(field_name, ""), i.literal)
        registers[name] = width
        before += f"u{width} {name}={code};(void){name};"
    if destination is not None and "sdst" in i.bits:
        width = max(32, i.bits["sdst"])
        registers["D0"] = width
        d = c.form.operand(destination)
        before += f"u{width} D0=w->s[{d}]" + (f"|(u64)w->s[{d}+1]<<32;" if width == 64 else ";")
        after = f"w->s[{d}]=(u32)D0;" + (f"w->s[{d}+1]=(u32)(D0>>32);" if width == 64 and destination != NULL else "")
    elif destination is not None:
        raise Untranslated(i.name)
    for name, index in (("EXEC", EXEC), ("VCC", VCC), ("EXEC_LO", EXEC), ("VCC_LO", VCC)):
        if re.search(rf"\b{name}\b", text):
            width = 32 if name.endswith("_LO") else 64
            registers[name] = width
            before += f"u{width} {name}=w->s[{index}]" + (f"|(u64)w->s[{index + 1}]<<32;" if width == 64 else ";")
            write = f"w->s[{index}]=(u32){name};"
            if width == 64:
                write += f"w->s[{index + 1}]=(u32)({name}>>32);"
            if re.search(rf"\b{name}\b[^;]*=[^=]", text):
                after = write + after
    scalars = common_scalars(c.mode) | {"laneId": literal(0), "SIMM32": Value(f"(u32){i.literal}u", "u", 32, i.literal)}
    return c.step(before + emit(text, registers, (), scalars) + after + "return op+1;", how)


def smem(c: Context) -> Step:
    """Scalar memory; what is about caches does nothing."""
    name = c.instruction.name
    if re.match(r"S_(MEMTIME|MEMREALTIME)", name):
        d = c.form.operand(c.raw("sdata"))
        return c.step(f"const u64 r=rp_clock(w);w->s[{d}]=(u32)r;w->s[{d}+1]=(u32)(r>>32);return op+1;", "by hand")
    if _NOTHING.match(name) or name.startswith("S_DCACHE"):
        return c.step("return op+1;", "by hand")
    if "_STORE_" in name or "_ATOMIC_" in name:
        return _scalar_write(c, name)
    found = re.match(r"S_(BUFFER_)?LOAD_(?:DWORD(?:X(\d+))?|([BUI])(\d+))$", name)
    if found is None:
        raise Untranslated(name)
    size = int(found[4]) if found[4] else 32 * int(found[2] or 1)
    base, address = _scalar_address(c)
    d = c.form.operand(c.form.sgpr(c.raw("sdata")))
    words = max(1, size // 32)
    if found[1]:
        text = (
            f"const u64 off={address},b=(w->s[{base}]|(u64)w->s[{base}+1]<<32)&0xffffffffffffull;"
            f"const u32 stride=w->s[{base}+1]>>16&0x3fff;const u64 n=(u64)w->s[{base}+2]*(stride?stride:1);"
            f"for(int k=0;k<{words};k++){{u64 a=(off&~{3 if size >= 32 else 0}ull)+4*k;"
        )
        load = "peek<u32>((u8*)(b+a))" if size >= 32 else _narrow(size, found[3], "(u8*)(b+a)")
        text += f"w->s[{d}+k]=a+{min(size, 32) // 8}<=n?{load}:0;}}return op+1;"
    else:
        align = 3 if size >= 32 else 0
        text = f"const u8*p=(u8*)(((w->s[{base}]|(u64)w->s[{base}+1]<<32)+{address})&~{align}ull);"
        if size >= 32:
            text += f"u32 t[{words}];__builtin_memcpy(t,p,{4 * words});__builtin_memcpy(w->s+{d},t,{4 * words});"
        else:
            text += f"w->s[{d}]={_narrow(size, found[3], 'p')};"
        text += "return op+1;"
    c.form.operands += [0] * (11 - len(c.form.operands))
    c.form.operands.append(c.form.sgpr(c.raw("sdata")))
    return c.step(text, "by hand", kind=LOAD_SCALAR, aux=words)


def _scalar_address(c: Context) -> tuple[str, str]:
    """The operand of the base's register, and the expression of what is added to it."""
    base = c.form.operand(c.raw("sbase") * 2)
    offset = c.first("offset", "ioffset")
    bits = 24 if "ioffset" in c.instruction.fields else 21
    offset -= (offset >> (bits - 1)) << bits
    soffset = c.raw("soffset")
    plus = "0"
    if c.mode.cdna:
        if not c.raw("imm"):
            # Without an immediate the offset's low bits may name a register.
            offset = 0
        if c.raw("soffset_en"):
            plus = f"(u64)w->s[{c.form.operand(c.form.sgpr(soffset))}]"
    elif soffset != 124:
        plus = f"(u64)w->s[{c.form.operand(c.form.sgpr(soffset))}]"
    return base, f"(i64)(i32){c.form.operand(offset)}+{plus}"


def _scalar_write(c: Context, name: str) -> Step:
    """Scalar stores and atomics of GFX9, to memory or through a buffer's base and bounds."""
    found = re.match(r"S_(BUFFER_)?(?:STORE_DWORD(?:X(\d))?|ATOMIC_(\w+))$", name)
    if found is None:
        raise Untranslated(name)
    base, address = _scalar_address(c)
    d = c.form.operand(c.form.sgpr(c.raw("sdata")))
    atomic = operation(found[3]) if found[3] else None
    words = atomic.bits // 32 if atomic else int(found[2] or 1)
    place = f"u64 a=({address})&~3ull,b=w->s[{base}]|(u64)w->s[{base}+1]<<32;"
    if found[1]:
        place += (
            f"const u32 stride=w->s[{base}+1]>>16&0x3fff;b&=0xffffffffffffull;"
            f"if(a+{4 * words}>(u64)w->s[{base}+2]*(stride?stride:1))return op+1;"
        )
    place += "u8*p=(u8*)(b+a);"
    if atomic is None:
        return c.step(f"{place}__builtin_memcpy(p,w->s+{d},{4 * words});return op+1;", "by hand", kind=STORE)

    def data(at: int) -> str:
        return f"(w->s[{d}+{at}]" + (f"|(u64)w->s[{d}+{at + 1}]<<32)" if words == 2 else ")")

    text = f"{place}const {atomic.type} x=({atomic.type}){data(0)};"
    if atomic.compare:
        text += f"const {atomic.type} y=({atomic.type}){data(words)};"
    text += (
        f"const u{atomic.bits} old=(u{atomic.bits})update<{atomic.type}>(p,true,[&]({atomic.type} m)"
        f"{{return ({atomic.type})({atomic.expression});}});(void)old;"
    )
    if c.raw("glc"):
        text += f"w->s[{d}]=(u32)old;" + (f"w->s[{d}+1]=(u32)(old>>32);" if words == 2 else "")
    return c.step(text + "return op+1;", "by hand", kind=STORE)


def _narrow(size: int, letter: str, pointer: str) -> str:
    kind = "i" if letter == "I" else "u"
    return f"(u32)(i32)peek<{kind}{size}>({pointer})"

"""Loads, stores, atomics, fences, asynchronous copies and cache hints."""

from __future__ import annotations

import re

from rocport.ptx.headers import COMPAT
from rocport.ptx.modifiers import expect, one_block, type_of
from rocport.ptx.parse import Instruction
from rocport.ptx.refusals import REASONS
from rocport.ptx.registers import C_TYPE, TYPES, VECTOR
from rocport.ptx.translator import Translator, opcode

_SPACES = {"global": "global", "shared": "shared", "shared::cta": "shared", "const": "global"}
_SCOPES = {"cta": "__HIP_MEMORY_SCOPE_WORKGROUP", "cluster": "__HIP_MEMORY_SCOPE_AGENT",
           "gpu": "__HIP_MEMORY_SCOPE_AGENT", "sys": "__HIP_MEMORY_SCOPE_SYSTEM"}  # fmt: skip
_ORDERS = {"relaxed": "__ATOMIC_RELAXED", "acquire": "__ATOMIC_ACQUIRE", "release": "__ATOMIC_RELEASE",
           "acq_rel": "__ATOMIC_ACQ_REL"}  # fmt: skip
_LOAD_HINTS = frozenset({"nc", "ca", "lu", "weak"})
_POLICY = re.compile(r"L[12]::")


def _memory(t: Translator, i: Instruction) -> tuple[str, str, int, set[str]]:
    """State space, type, vector length and the remaining modifiers of a load or store."""
    type_ = type_of(t, i)
    space, length, rest = "generic", 1, set()
    for part in i.modifiers:
        if part in _SPACES:
            space = _SPACES[part]
        elif part in ("v2", "v4"):
            length = int(part[1:])
        elif part not in TYPES:
            rest.add(part)
    if rest & {"local", "param", "shared::cluster", "param::entry", "param::func", "mmio", "v8"}:
        raise t.refuse("this state space or vector is not translated")
    return space, type_, length, rest


def _pointee(type_: str, length: int) -> str:
    if length == 1:
        return {"f16": "unsigned short", "bf16": "unsigned short", "f16x2": "unsigned", "bf16x2": "unsigned"}.get(
            type_, C_TYPE[type_]
        )
    return f"{VECTOR[type_]}{length}"


def _element(type_: str) -> str:
    return {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}.get(type_, type_)


def _is_poll(t: Translator, i: Instruction, type_: str, length: int) -> bool:
    """True for a volatile scalar load that clobbers memory and asks for no cache."""
    hints = {"nc", "lu"}.intersection(i.modifiers)
    return (
        "memory" in t.asm.clobbers and length == 1 and type_ in ("b32", "u32", "s32", "b64", "u64", "s64") and not hints
    )


@opcode(
    "ld",
    "ldu",
    examples=(
        'asm("ld.global.nc.f32 %0, [%1];" : "=f"(of) : "l"(g));',
        'asm("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(of), "=f"(of1), "=f"(of2), "=f"(of3) : "l"(g));',
        'asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.s32 {%0, %1, %2, %3}, [%4];"'
        ' : "=r"(o), "=r"(o1), "=r"(o2), "=r"(o3) : "l"(p));',
        'asm volatile("ld.volatile.global.v4.f32 {%0,%1,%2,%3}, [%4];"'
        ' : "=f"(of), "=f"(of1), "=f"(of2), "=f"(of3) : "l"(g));',
        'asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(o) : "l"(p));',
        'asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\\n" : "=r"(o) : "l"(p));',
        'asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(o) : "l"(p));',
        'asm volatile("ld.global.cs.v2.u64 {%0,%1}, [%2];" : "=l"(ol), "=l"(l0) : "l"(p));',
        'asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(o), "=r"(o1), "=r"(o2), "=r"(o3) : "r"(s));',
        'asm volatile("ld.shared.f32 %0, [%1+16];" : "=f"(of) : "r"(s));',
        'asm volatile("ld.global.ca.u32 {%0}, [%1];" : "=r"(o) : "l"(p));',
        'asm volatile("ldu.global.u32 %0, [%1];" : "=r"(o) : "l"(p));',
    ),
)
def _ld(t: Translator, i: Instruction) -> None:
    space, type_, length, rest = _memory(t, i)
    if "L2::cache_hint" in rest:
        expect(t, i, 3)
    else:
        expect(t, i, 2)
    pointer = t.address(i.operands[1], space, _pointee(type_, length), const=True)
    rest = {part for part in rest if part not in _LOAD_HINTS}
    orders = rest & {"relaxed", "acquire", "volatile", "cv"}
    scope = next((part for part in rest if part in _SCOPES), "sys" if orders & {"volatile", "cv"} else "gpu")
    policies = {part for part in rest if _POLICY.match(part)}
    rest -= orders | policies | set(_SCOPES)
    if orders:
        t.need(COMPAT)
        order = "__ATOMIC_ACQUIRE" if "acquire" in orders else "__ATOMIC_RELAXED"
        value = f"rocport::load<{order}, {_SCOPES[scope]}>({pointer})"
    elif rest == {"cg"}:
        t.need(COMPAT)
        value = f"rocport::ldcg({pointer})"
    elif rest == {"cs"} or policies & {"L1::no_allocate", "L1::evict_first"}:
        t.need(COMPAT)
        value = f"rocport::ldcs({pointer})"
    elif not rest and _is_poll(t, i, type_, length):
        # asm volatile that clobbers memory reads each time; plain C++ may keep the value of the first time.
        t.need(COMPAT)
        value = f"rocport::load<__ATOMIC_RELAXED, {_SCOPES['cta' if space == 'shared' else 'gpu']}>({pointer})"
    elif not rest:
        value = f"*{pointer}"
    else:
        raise t.refuse(f"the modifier .{sorted(rest)[0]} is not translated")
    if length == 1:
        t.write(i.operands[0], _element(type_), value)
        return
    parts = t.vector(i.operands[0])
    if len(parts) != length:
        raise t.refuse("the vector does not fit its length")
    name = t.fresh("value")
    t.emit(f"const {_pointee(type_, length)} {name} = {value};")
    for axis, part in zip("xyzw", parts, strict=False):
        if part != "_":
            t.write(part, _element(type_), f"{name}.{axis}")
    one_block(t)


@opcode(
    "st",
    examples=(
        'asm volatile("st.global.cs.v4.f32 [%0], {%1,%2,%3,%4};" :: "l"(p), "f"(f0), "f"(f1), "f"(f2), "f"(f0));',
        'asm volatile("st.release.sys.global.u32 [%1], %0;" :: "r"(r0), "l"(p));',
        'asm volatile("st.global.wt.u32 [%0], %1;" :: "l"(p), "r"(r0));',
        'asm volatile("st.global.u16 [%0], %1;" :: "l"(p), "h"(h0));',
        'asm volatile("st.global.L1::no_allocate.v4.s32 [%0], {%1,%2,%3,%4};"'
        ' :: "l"(p), "r"(i0), "r"(i0), "r"(i0), "r"(i0));',
        'asm volatile("st.shared.v2.f32 [%0], {%1,%2};" :: "r"(s), "f"(f0), "f"(f1));',
    ),
)
def _st(t: Translator, i: Instruction) -> None:
    space, type_, length, rest = _memory(t, i)
    expect(t, i, 3 if "L2::cache_hint" in rest else 2)
    pointee = _pointee(type_, length)
    pointer = t.address(i.operands[0], space, pointee)
    element = _element(type_)
    parts = t.vector(i.operands[1])
    if len(parts) != length:
        raise t.refuse("the vector does not fit its length")
    values = [t.read(part, element) for part in parts]
    value = values[0] if length == 1 else f"make_{pointee}({', '.join(values)})"
    orders = rest & {"relaxed", "release", "volatile", "wt"}
    scope = next((part for part in rest if part in _SCOPES), "sys" if orders & {"volatile", "wt"} else "gpu")
    policies = {part for part in rest if _POLICY.match(part)}
    rest -= orders | policies | set(_SCOPES) | {"wb", "weak"}
    if orders:
        t.need(COMPAT)
        order = "__ATOMIC_RELEASE" if "release" in orders else "__ATOMIC_RELAXED"
        t.emit(f"rocport::store<{order}, {_SCOPES[scope]}>({pointer}, {value});")
    elif rest == {"cg"}:
        t.need(COMPAT)
        t.emit(f"rocport::stcg({pointer}, {value});")
    elif rest == {"cs"} or policies & {"L1::no_allocate", "L1::evict_first"}:
        t.need(COMPAT)
        t.emit(f"rocport::stcs({pointer}, {value});")
    elif not rest:
        t.emit(f"*{pointer} = {value};")
    else:
        raise t.refuse(f"the modifier .{sorted(rest)[0]} is not translated")


@opcode(
    "atom",
    "red",
    examples=(
        'asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(o) : "l"(p), "r"(r0));',
        'asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(o) : "l"(p), "r"(r0), "r"(r1));',
        'asm volatile("red.global.add.f32 [%0], %1;" :: "l"(p), "f"(f0));',
        'asm volatile("red.release.gpu.global.add.s32 [%0], %1;\\n" : : "l"(p), "r"(i0));',
        'asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(p), "r"(r0));',
        'asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" :: "l"(p), "r"(r0));',
    ),
)
def _atom(t: Translator, i: Instruction) -> None:
    type_ = type_of(t, i)
    space = next((_SPACES[part] for part in i.modifiers if part in _SPACES), "generic")
    operation = next(
        (
            part
            for part in i.modifiers
            if part in ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
        ),
        "",
    )
    known = {*_SPACES, *_SCOPES, *_ORDERS, operation, "noftz"}
    if not operation or any(part not in known and part not in TYPES for part in i.modifiers):
        raise t.refuse("this operation is not translated")
    scope = _SCOPES[next((part for part in i.modifiers if part in _SCOPES), "gpu")]
    order = _ORDERS[next((part for part in i.modifiers if part in _ORDERS), "relaxed")]
    operands = list(i.operands)
    to = operands.pop(0) if i.opcode == "atom" else "_"
    expect(t, i, (2 if i.opcode == "red" else 3) + (operation == "cas"))
    address, *values = operands
    if type_ in ("f16", "f16x2", "bf16", "bf16x2"):
        if operation != "add" or order != "__ATOMIC_RELAXED":
            raise t.refuse("this operation is not translated")
        t.half()
        result = f"rocport::atomic_add({t.address(address, space, C_TYPE[type_])}, {t.read(values[0], type_)})"
    else:
        t.need(COMPAT)
        pointer = t.address(address, space, C_TYPE[type_])
        arguments = ", ".join([pointer, *(t.read(value, type_) for value in values)])
        result = f"rocport::atomic_{operation}<{order}, {scope}>({arguments})"
    if to == "_":
        t.emit(f"{result};")
    else:
        t.write(to, type_, result)


@opcode(
    "membar",
    "fence",
    examples=(
        'asm volatile("membar.gl;" ::: "memory");',
        'asm volatile("membar.sys;");',
        'asm volatile("fence.acq_rel.gpu;\\n");',
    ),
)
def _fence(t: Translator, i: Instruction) -> None:
    scope = next((part for part in i.modifiers if part in ("cta", "gl", "gpu", "sys", "cluster")), "")
    if not scope or any(part not in (scope, "sc", "acq_rel", "acquire", "release") for part in i.modifiers):
        raise t.refuse("this fence orders memory that AMD GPUs do not have")
    name = {"cta": "__threadfence_block", "sys": "__threadfence_system"}.get(scope, "__threadfence")
    t.emit(f"{name}();")


@opcode(
    "prefetch",
    "prefetchu",
    examples=(
        'asm volatile("prefetch.global.L2 [%0];" :: "l"(p));',
        'asm volatile("prefetchu.L1 [%0];" :: "l"(p));',
    ),
)
def _prefetch(t: Translator, i: Instruction) -> None:
    expect(t, i, 1)
    t.emit(f"__builtin_prefetch({t.address(i.operands[0], 'global', 'void', const=True)});")


@opcode(
    "applypriority",
    "discard",
    examples=(
        'asm volatile("applypriority.global.L2::evict_normal [%0], 128;" :: "l"(p));',
        'asm volatile("discard.global.L2 [%0], 128;" :: "l"(p));',
    ),
)
def _hint(t: Translator, i: Instruction) -> None:
    t.emit("(void)0;")
    t.remark("the cache hint is left out")


@opcode(
    "createpolicy",
    examples=('asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(ol));',),
)
def _createpolicy(t: Translator, i: Instruction) -> None:
    t.write(i.operands[0], "b64", "0ull")
    t.remark("cache policies are left out")


@opcode(
    "cp",
    examples=(
        'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\\n" :: "r"(s), "l"(p));',
        'asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;\\n"'
        ' :: "r"(s), "l"(p), "n"(16), "r"(r0));',
        'asm volatile("cp.async.commit_group;\\n" ::);',
        'asm volatile("cp.async.wait_group %0;\\n" :: "n"(2));',
        'asm volatile("cp.async.wait_all;\\n" ::);',
    ),
)
def _cp(t: Translator, i: Instruction) -> None:
    if not i.modifiers or i.modifiers[0] != "async" or "bulk" in i.modifiers:
        raise t.refuse("bulk asynchronous copy (TMA): AMD GPUs have none; copy with plain loads and stores")
    note = "cp.async becomes a plain copy that is complete at once: the same result, without the overlap"
    if i.modifiers[1:2] in (("commit_group",), ("wait_group",), ("wait_all",)):
        t.emit("(void)0;")  # what the copies say is said there
        return
    if "mbarrier" in i.modifiers or i.modifiers[1:2] not in (("ca",), ("cg",)):
        raise t.refuse(REASONS["mbarrier"])
    operands = list(i.operands)
    if "L2::cache_hint" in i.modifiers:
        operands.pop()
    if len(operands) not in (3, 4):
        raise t.refuse("this form is not translated")
    to, source, size = operands[:3]
    t.need(COMPAT)
    t.remark(note)
    target = t.address(to, "shared", "void")
    origin = t.address(source, "global", "void", const=True)
    bytes_ = t.read(size, "u32")
    if len(operands) == 4 and t.register(operands[3].lstrip("!").strip()).kind == "pred":
        # ignore-src: zeros are written where the predicate holds.
        t.emit(f"rocport::copy_async<{bytes_}>({target}, {origin}, {t.read(operands[3], 'pred')} ? 0u : {bytes_});")
    elif len(operands) == 4:
        t.emit(f"rocport::copy_async<{bytes_}>({target}, {origin}, {t.read(operands[3], 'u32')});")
    else:
        t.emit(f"rocport::copy_async<{bytes_}>({target}, {origin});")

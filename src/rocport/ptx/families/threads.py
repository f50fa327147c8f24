"""Barriers, votes, shuffles, reductions over a warp, and the end of a thread."""

from __future__ import annotations

from rocport.ptx.headers import COMPAT, WARP
from rocport.ptx.modifiers import expect, only, type_of
from rocport.ptx.parse import Instruction
from rocport.ptx.translator import Translator, opcode


@opcode(
    "bar",
    "barrier",
    examples=(
        'asm volatile("bar.sync 0;");',
        'asm volatile("barrier.sync 0;");',
    ),
)
def _bar(t: Translator, i: Instruction) -> None:
    if "cluster" in i.modifiers:
        raise t.refuse("AMD GPUs have no thread-block clusters")
    kind = next((part for part in i.modifiers if part in ("sync", "arrive", "red", "warp")), "")
    if kind == "warp":
        t.need(WARP)
        t.emit(f"rocport::syncwarp({t.read(i.operands[0], 'u32')});")
        return
    if kind == "sync" and len(i.operands) == 1 and i.operands[0] == "0":
        t.emit("__syncthreads();")
        return
    if kind == "red" and i.operands[1] == "0" and len(i.operands) == 3:
        name = next((part for part in i.modifiers if part in ("popc", "and", "or")), "")
        function = {"popc": "__syncthreads_count", "and": "__syncthreads_and", "or": "__syncthreads_or"}.get(name)
        if function:
            call = f"{function}({t.read(i.operands[2], 'pred')})"
            t.write(i.operands[0], "u32" if name == "popc" else "pred", call if name == "popc" else f"{call} != 0")
            return
    raise t.refuse("named barrier or barrier of part of a block: AMD GPUs have one barrier for the whole block")


@opcode(
    "vote",
    examples=('asm("vote.sync.ballot.b32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',),
)
def _vote(t: Translator, i: Instruction) -> None:
    only(t, i, "sync", "ballot", "any", "all", "uni", "pred")
    mode = next((part for part in i.modifiers if part in ("ballot", "any", "all", "uni")), "")
    mask = "rocport::full_warp_mask"
    operands = list(i.operands)
    if "sync" in i.modifiers:
        mask = t.read(operands.pop(), "u32")
    if len(operands) != 2:
        raise t.refuse("operands are not understood")
    predicate = t.read(operands[1], "pred")
    t.need(WARP)
    if mode == "ballot":
        t.write(operands[0], "b32", f"rocport::ballot_sync({mask}, {predicate})")
    elif mode in ("any", "all"):
        t.write(operands[0], "pred", f"rocport::{mode}_sync({mask}, {predicate}) != 0")
    elif mode == "uni":
        both = f"rocport::all_sync({mask}, {predicate}) != 0 || rocport::any_sync({mask}, {predicate}) == 0"
        t.write(operands[0], "pred", f"({both})")
    else:
        raise t.refuse("this vote is not translated")


@opcode(
    "activemask",
    examples=('asm("activemask.b32 %0;" : "=r"(o));',),
)
def _activemask(t: Translator, i: Instruction) -> None:
    t.need(WARP)
    t.write(i.operands[0], "b32", "rocport::activemask()")


@opcode(
    "match",
    examples=('asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(o) : "r"(r0), "r"(r1));',),
)
def _match(t: Translator, i: Instruction) -> None:
    type_ = type_of(t, i, "b32 b64")
    expect(t, i, 3)
    to, a, mask = i.operands
    t.need(WARP)
    if "any" not in i.modifiers:
        raise t.refuse("use rocport::match_all_sync")
    t.write(to, "b32", f"rocport::match_any_sync({t.read(mask, 'u32')}, {t.read(a, type_)})")


@opcode(
    "redux",
    examples=('asm volatile("redux.sync.add.s32 %0, %1, %2;" : "=r"(oi) : "r"(i0), "r"(r1));',),
)
def _redux(t: Translator, i: Instruction) -> None:
    type_ = type_of(t, i, "b32 u32 s32")
    expect(t, i, 3)
    operation = next((part for part in i.modifiers if part in ("add", "min", "max", "and", "or", "xor")), "")
    if not operation:
        raise t.refuse("this reduction is not translated")
    to, a, mask = i.operands
    t.need(WARP)
    t.write(to, type_, f"rocport::reduce_{operation}_sync({t.read(mask, 'u32')}, {t.read(a, type_)})")


@opcode(
    "shfl",
    examples=('asm("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(of) : "f"(f0), "r"(r0));',),
)
def _shfl(t: Translator, i: Instruction) -> None:
    type_of(t, i, "b32")
    mode = next((part for part in i.modifiers if part in ("idx", "up", "down", "bfly")), "")
    operands = list(i.operands)
    if "sync" in i.modifiers:
        operands.pop()
    if not mode or len(operands) != 4:
        raise t.refuse("operands are not understood")
    to, a, b, c = operands
    first, _, predicate = to.partition("|")
    t.need(WARP)
    arguments = [t.read(a, "b32"), t.read(b, "u32"), t.read(c, "u32")]
    if predicate.strip():
        arguments.append(f"&{t.register(predicate.strip()).text}")
    t.write(first.strip(), "b32", f"rocport::ptx_shfl_{mode}({', '.join(arguments)})")


@opcode(
    "nanosleep",
    examples=('asm volatile("nanosleep.u32 %0;" :: "r"(r0));',),
)
def _nanosleep(t: Translator, i: Instruction) -> None:
    expect(t, i, 1)
    t.need(COMPAT)
    t.emit(f"rocport::nanosleep({t.read(i.operands[0], 'u32')});")


@opcode(
    "griddepcontrol",
    examples=('asm volatile("griddepcontrol.launch_dependents;");',),
)
def _griddepcontrol(t: Translator, i: Instruction) -> None:
    t.emit("(void)0;")
    t.remark("HIP starts a kernel after the one before it has ended, so there is nothing to wait for or to announce")


@opcode(
    "trap",
    examples=('asm volatile("trap;");',),
)
def _trap(t: Translator, i: Instruction) -> None:
    t.emit("__builtin_trap();")


@opcode(
    "brkpt",
    examples=('asm volatile("brkpt;");',),
)
def _brkpt(t: Translator, i: Instruction) -> None:
    t.emit("__builtin_debugtrap();")


@opcode(
    "exit",
    "ret",
    examples=(
        'asm volatile("exit;");',
        'asm volatile("ret;");',
    ),
)
def _exit(t: Translator, i: Instruction) -> None:
    if not t.in_kernel:
        raise t.refuse("ends the thread from inside a function: return through its callers")
    t.emit("return;")


@opcode(
    "pmevent",
    examples=('asm volatile("pmevent 1;");',),
)
def _pmevent(t: Translator, i: Instruction) -> None:
    t.emit("(void)0;")
    t.remark("profiler events are left out")

"""Threads that wait for other threads in a loop: locks and flags.

Since Volta every thread of a CUDA warp makes progress by itself. Lanes of an AMD wavefront that are on different
branches run one branch to its end before the other: a lane that spins on a lock or a flag which another lane of the
same wavefront has to release waits for ever. On 64-lane wavefronts this includes locks between two warps that CUDA
keeps apart.

A wait by one thread of the block is listed for review: it waits for other blocks, which works where those blocks are
resident, as on CUDA. Lock-free updates (`do { ... } while (atomicCAS(...) != old)`) finish by themselves and are no
finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-spinlock",
    summary="threads wait for one another in a loop",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset({b"while"}),
    examples=(
        Example("__device__ void lock(int *m) { while (atomicCAS(m, 0, 1) != 0); }\n"),
        Example("__device__ void lock(int *m) { do {} while (atomicCAS(m, 0, 1)); }\n"),
        Example("__global__ void k(int *m) { while (atomicExch(&m[threadIdx.x], 1) == 1) { } }\n"),
        Example("__global__ void k(volatile int *flag) { while (flag[blockIdx.x] == 0) {} }\n"),
        Example("__global__ void k(int *f) { if (threadIdx.x == 0) { while (atomicAdd(f, 0) < 3) ; } }\n"),
        Example("__device__ int f(volatile int *s) { int v; do { v = s[1]; } while (v < 0); return v; }\n"),
        Example(
            "__device__ int load_acquire(int *p);\n__device__ int f(int *ready, int n) {\n"
            "  int i = 0; while (i < n) { if (load_acquire(&ready[i]) == 1) i++; } return i; }\n"
        ),
    ),
    clean=(
        "__device__ void add(unsigned *p, unsigned v) { unsigned o = *p, a; do { a = o; o = atomicCAS(p, a, a + v); }"
        " while (a != o); }\n",
        "__device__ void add(int *p, int v) { int o; do { o = *p; } while (atomicCAS(p, o, o + v) != o); }\n",
        "__device__ int f(int *p, int n) { while (p[n] != 0) n++; return n; }\n",
        "void host(std::atomic<int> &f) { while (f.load() == 0) {} }\n",
        "__global__ void k(int *used, int i) { while (atomicExch(&used[i], 1) == 1) { i = i + 1; } }\n",
        "__device__ int take(int *head, int n) { int i; while ((i = atomicAdd(head, 1)) < n) { n--; } return i; }\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (independent thread scheduling)",
        "https://rocm.docs.amd.com/projects/HIP/ (threads of a wavefront make no independent progress)",
    ),
)

_LOCKS = frozenset((b"atomicCAS", b"atomicExch", b"atomicCAS_block", b"atomicCAS_system", b"atomicExch_system"))
_READS = frozenset((b"atomicAdd", b"atomicOr", b"atomicAdd_system", b"atomicOr_system", b"atomicMax"))
_LOAD = re.compile(
    rb"(?i)\w*(?:atomic_?load|load_?acquire|ld_?acquire|ld_?acq|load_?volatile|volatile_?load|ld_?volatile)\w*"
)
_IDLE = frozenset(
    (b"__nanosleep", b"__threadfence", b"__threadfence_block", b"__threadfence_system", b"__syncwarp", b"continue")
)
_LEADER = re.compile(rb"threadIdx|thread_rank|t_?idx?|thread_?id|threadid\w*|TID")


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(b"while"):
        close = source.pairs.get(position + 1)
        if close is None or amd_only(source, position):
            continue
        if not source.in_device(position) and source.directive_of(position) is None:
            continue
        what = _waits(source, position, close)
        if what is None:
            continue
        alone = _by_block_leader(source, position)
        yield finding(
            RULE,
            source,
            position,
            f"{what} by one thread of the block: the other side must be resident on the GPU, as on CUDA"
            if alone
            else f"{what}: lanes of one wavefront that wait for each other never finish on AMD",
            last=close,
            applicability=Applicability.REVIEW if alone else Applicability.MANUAL,
            confidence=Confidence.MEDIUM,
            fix="make sure that all blocks fit on the GPU, or launch with hipLaunchCooperativeKernel"
            if alone
            else "let one lane of the wavefront take the lock, or do the work inside the loop where the lock was taken",
        )


def _waits(source: CudaSource, position: int, close: int) -> str | None:
    """What the loop waits for, or None when it makes progress by itself."""
    condition = range(position + 2, close)
    body = _do_body(source, position)
    if body is not None:
        lock = next((at for at in condition if source.at(at) in _LOCKS), None)
        if lock is not None:
            return "a lock is taken in a loop" if _takes_lock(source, lock) else None
        return "a flag is polled in a loop" if _only_polls(source, body, condition) else None
    last = _body_end(source, close + 1)
    if any(source.at(at) in _LOCKS for at in condition):
        asked = {source.at(at) for at in condition if source.is_ident(at)}
        given = {source.at(at - 1) for at in range(close + 1, last) if source.at(at) == b"="}
        return None if asked & given else "a lock is taken in a loop"  # else: another place is tried each time
    if any(_reads_flag(source, at) for at in condition):
        return "a flag is polled in a loop"
    idle = _is_idle(source, close + 1, last)
    if idle and any(source.at(at) in (b"[", b"*") for at in condition):
        return "a flag is polled in a loop"
    for at in range(close + 1, last):
        if source.at(at) == b"if" and at + 1 in source.pairs:
            inside = range(at + 2, source.pairs[at + 1])
            if any(_LOAD.fullmatch(source.at(i)) and source.at(i + 1) == b"(" for i in inside):
                return "flags are polled in a loop"
    return None


def _do_body(source: CudaSource, position: int) -> tuple[int, int] | None:
    """Tokens of the body of `do { ... } while (...)`, for its `while`."""
    if source.at(position - 1) != b"}":
        return None
    opening = source.pairs.get(position - 1)
    if opening is None or source.at(opening - 1) != b"do":
        return None
    return opening + 1, position - 1


def _takes_lock(source: CudaSource, call_at: int) -> bool:
    """True for `atomicCAS(lock, 0, 1)` and `atomicExch(lock, 1)`: constants, not a value computed from the old one."""
    call = source.call(call_at)
    if call is None or len(call.args) < 2:
        return False
    return all(
        last - first == 1 and (source.at(first).isdigit() or source.at(first).isupper())
        for first, last in call.args[1:]
    )


def _reads_flag(source: CudaSource, at: int) -> bool:
    """True for `atomicAdd(p, 0)` and for calls named like atomic loads."""
    name = source.at(at)
    if name in _READS:
        call = source.call(at)
        return call is not None and len(call.args) == 2 and source.text(*call.args[1]) in (b"0", b"0u", b"0U")
    return source.is_ident(at) and _LOAD.fullmatch(name) is not None and source.at(at + 1) == b"("


def _only_polls(source: CudaSource, body: tuple[int, int], condition: range) -> bool:
    """True for `do { v = flag[i]; } while (v < 0)` where `flag` is volatile in this file."""
    text = [source.at(at) for at in range(*body)]
    if text.count(b"=") != 1 or len(text) > 24 or b"++" in text or b"+=" in text:
        return False
    target = text[text.index(b"=") - 1]
    if not any(source.at(at) == target for at in condition):
        return False
    return any(_is_volatile(source, name) for name in text[text.index(b"=") + 1 :])


def _is_volatile(source: CudaSource, name: bytes) -> bool:
    return any(
        b"volatile" in (source.at(at - back) for back in range(1, 7))
        and source.at(at - 1) in (b"*", b"const", b"__restrict__")
        for at in source.find(name)
    )


def _body_end(source: CudaSource, first: int) -> int:
    if source.at(first) == b"{":
        return source.pairs.get(first, first)
    at = first
    while at < len(source.texts) and source.at(at) != b";":
        at = source.pairs.get(at, at) + 1 if source.at(at) in (b"(", b"[", b"{") else at + 1
    return at


def _is_idle(source: CudaSource, first: int, last: int) -> bool:
    """True when the body does nothing but wait."""
    return all(not source.is_ident(at) or source.at(at) in _IDLE for at in range(first, last)) and not any(
        source.at(at) in (b"++", b"--", b"=", b"+=", b"-=") for at in range(first, last)
    )


def _by_block_leader(source: CudaSource, position: int) -> bool:
    """True inside `if (threadIdx.x == 0) ...`."""
    function = source.enclosing(position)
    first = function.body[0] if function is not None and function.body is not None else max(0, position - 400)
    for at in range(first, position):
        if source.at(at) != b"if" or at + 1 not in source.pairs:
            continue
        close = source.pairs[at + 1]
        if not close < position <= _body_end(source, close + 1):
            continue
        inside = [source.at(i) for i in range(at + 2, close)]
        if ((b"==" in inside and b"0" in inside) or inside[:1] == [b"!"]) and any(map(_LEADER.fullmatch, inside)):
            return True
    return False

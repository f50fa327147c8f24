"""Threads that wait for other threads in a loop: locks and flags, in whatever loop they are written.

Since Volta every thread of a CUDA warp makes progress by itself. Lanes of an AMD wavefront that are on different
branches run one branch to its end before the other: a lane that spins on a lock or a flag which another lane of the
same wavefront has to release waits for ever. On 64-lane wavefronts this includes locks between two warps that CUDA
keeps apart.

Where a lock is taken and given back in one list of statements, the lanes of the wavefront go through the critical
section one after another (`rocport::lane_turns`), which costs the lanes' parallelism where they hold different locks:
REVIEW. Other locks, and flags that lanes poll, are MANUAL.

A flag polled by one thread of the block, or by all of it together (CUTLASS's semaphore), is listed for review: it
waits for other blocks, which works where those blocks are resident, as on CUDA. A lock taken by one thread of the block
is held by a block that runs, and is no finding; one
thread of each warp is two lanes of a 64-lane wavefront. Lock-free updates (`do { ... } while (atomicCAS(...) != old)`),
and loops that count their attempts or try another place finish by themselves and are no finding.

A loop that does the work in the branch where the lock was taken and gives it back there finishes only where the branch
stays in the loop: clang moves what nothing but leaving follows behind the loop, and the lane with the lock waits there
for those that want it. A warp operation at the end of the loop keeps the branch inside (SAFE); where the branch leaves
by `break`, the lanes go through the loop one after another (REVIEW); by `return` or `goto`, MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.convergence import (
    FLAG,
    LANE,
    LOCK,
    SECTION,
    TOGETHER,
    Body,
    Guard,
    Region,
    Statement,
    Unit,
    Wait,
    regions,
    section,
    unit_of,
    waits,
)  # fmt: skip
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.warp_common import HEADER, amd_only
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-spinlock",
    summary="threads wait for one another in a loop",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset({b"while", b"for", b"goto", b"atomicCAS", b"atomicExch"}),
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
        Example(
            "__global__ void k(int *m, int *c) {\n  while (atomicCAS(m, 0, 1) != 0) ;\n  *c += 1;\n"
            "  atomicExch(m, 0);\n}\n",
            contains=(
                "for (rocport::lane_turns rocport_turns; rocport_turns.next();) if (rocport_turns.mine()) { while",
                "atomicExch(m, 0); }",
            ),
        ),
        Example(
            "struct Mutex { int s; __device__ bool try_lock() { return atomicCAS(&s, 0, 1) == 0; }\n"
            "  __device__ void lock() { while (!try_lock()) { } }\n"
            "  __device__ void unlock() { __threadfence(); atomicExch(&s, 0); } };\n"
            "__global__ void k(Mutex *m, int *c) { m->lock(); ++*c; m->unlock(); }\n",
            contains=("if (rocport_turns.mine()) { m->lock(); __threadfence(); ++*c; m->unlock(); }",),
        ),
        Example(
            "__global__ void k(int *m, int *c) {\n  while (atomicCAS(m, 0, 1) != 0) ;\n#if A\n  *c += 1;\n"
            "  atomicExch(m, 0);\n#else\n  atomicExch(m, 0);\n#endif\n}\n",
            absent=("lane_turns",),
        ),
        Example(
            "struct S { int *lock; bool one; int state;\n"
            '  __device__ void fetch() { if (one) { asm volatile ("ld.global.acquire.gpu.b32 %0, [%1];" : '
            '"=r"(state) : "l"(lock)); } }\n'
            "  __device__ void wait(int turn) { while (__syncthreads_and(state != turn)) { fetch(); } } };\n"
        ),
        Example(
            "__device__ void f(int *m, int *c) { bool done = false; while (!done) { if (atomicCAS(m, 0, 1) == 0) {\n"
            "  *c += 1; atomicExch(m, 0); done = true; } } }\n",
            contains=("done = true; } rocport::syncwarp(); } }",),
        ),
        Example(
            "__device__ void f(int *m, int *c) { for (;;) { bool mine = atomicExch(m, 1) == 0; if (mine) {\n"
            "  *c += 1; atomicExch(m, 0); break; } } }\n",
            contains=("if (rocport_turns.mine()) { for (;;) {", "break; } } }"),
        ),
        Example(
            "__device__ void f(int *m, int *c) { while (true) if (!atomicCAS(m, 0, 1)) {\n"
            "  *c += 1; atomicExch(m, 0); return; } }\n",
            absent=("lane_turns", "syncwarp"),
        ),
        Example("__device__ void lock(int *m) { for (;;) { if (atomicCAS(m, 0, 1) == 0) break; } }\n"),
        Example(
            "__device__ int m;\n__device__ bool try_lock() { return atomicExch(&m, 1) == 0; }\n"
            "__device__ void f(int *c) { bool done = false; while (!done) { if (try_lock()) {\n"
            "  *c += 1; atomicExch(&m, 0); done = true; } } }\n",
            contains=("done = true; } rocport::syncwarp(); } }",),
        ),
        Example("__device__ void lock(int *m) { if (atomicExch(m, 1) != 0) lock(m); }\n"),
        Example("__device__ void lock(int *m) { again: if (atomicExch(m, 1) != 0) goto again; }\n"),
        Example("__global__ void k(int *m) { if (threadIdx.x % 32 == 0) { while (atomicCAS(m, 0, 1)) ; } }\n"),
        Example(
            "__device__ int peek(volatile int *p) { return *p; }\n"
            "__global__ void k(int *f) { while (peek(f) == 0) { } }\n"
        ),
    ),
    clean=(
        "__device__ void add(unsigned *p, unsigned v) { unsigned o = *p, a; do { a = o; o = atomicCAS(p, a, a + v); }"
        " while (a != o); }\n",
        "__device__ void add(int *p, int v) { int o; do { o = *p; } while (atomicCAS(p, o, o + v) != o); }\n",
        "__device__ int f(int *p, int n) { while (p[n] != 0) n++; return n; }\n",
        "void host(std::atomic<int> &f) { while (f.load() == 0) {} }\n",
        "__global__ void k(int *used, int i) { while (atomicExch(&used[i], 1) == 1) { i = i + 1; } }\n",
        "__device__ void f(int *m, int *c) { bool done = false; while (!done) { if (atomicCAS(m, 0, 1) == 0) {\n"
        "  *c += 1; atomicExch(m, 0); done = true; } __syncwarp(); } }\n",
        "__global__ void k(int *m, int *c) { if (threadIdx.x == 0) { while (true) { if (atomicCAS(m, 0, 1) == 0) {\n"
        "  *c += 1; atomicExch(m, 0); break; } } } }\n",
        "__device__ void add(cuda::atomic_ref<float> r, float v) { float o = r.load();\n"
        "  while (!r.compare_exchange_strong(o, o + v)) { } }\n"
        "__device__ void f(float *p, float v) {\n#if N\n  add(p, v);\n#else\n  atomicAdd(p, v);\n#endif\n}\n",
        "__device__ void push(int *head, int *next, int i) { int old = *(volatile int *)head, seen; do { seen = old;\n"
        "  next[i] = seen; old = atomicCAS(head, seen, i); } while (old != seen); }\n",
        "__device__ bool f(int *m) { for (int i = 0; i < 100; ++i) { if (atomicCAS(m, 0, 1) == 0) return true; }\n"
        "  return false; }\n",
        "__device__ void put(unsigned *t, unsigned n, unsigned k) { unsigned i = k % n;\n"
        "  while (true) { unsigned o = atomicCAS(&t[i], 0, k); if (o == 0 || o == k) return; i = (i + 1) % n; } }\n",
        "__global__ void k(int *m, int *c) { if (threadIdx.x == 0) { while (atomicCAS(m, 0, 1)) ; *c += 1;\n"
        "  atomicExch(m, 0); } }\n",
        "__global__ void k(int *label, int *next) { int again; do { again = label[threadIdx.x] != next[threadIdx.x];\n"
        "  label[threadIdx.x] = next[threadIdx.x]; } while (__syncthreads_or(again)); }\n",
        "__device__ int take(int *head, int n) { int i; while ((i = atomicAdd(head, 1)) < n) { n--; } return i; }\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (independent thread scheduling)",
        "https://rocm.docs.amd.com/projects/HIP/ (threads of a wavefront make no independent progress)",
    ),
)

_NAMES = frozenset(
    b"atomicCAS atomicExch atomicCAS_block atomicExch_block atomicCAS_system atomicExch_system atomicAdd atomicOr "
    b"volatile asm __asm__ __asm load exchange compare_exchange_weak compare_exchange_strong test_and_set".split()
)
_TURNS = "one lane of a wavefront after another takes the lock"


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not {b"__global__", b"__device__", b"define"} & source.meant:
        return
    unit = unit_of(source, context.project)
    view = branches(source, context.project.torch_extension)
    for body in unit.bodies:
        if amd_only(source, body.name_at) or (body.is_macro and not _for_threads(unit, body)):
            continue
        turning = [region for region in regions(unit, body) if not _alone(unit, body, region.guards)]
        for region in turning:
            if not amd_only(source, region.first.first):
                yield _section(source, region)
        begun = {region.first for region in turning}
        for wait in waits(unit, body):
            if wait.statement in begun or amd_only(source, wait.at):
                continue
            if view.is_dead(source.starts[wait.at], device_only=not body.is_macro):
                continue
            found = _inside(unit, body, wait) if wait.kind == SECTION else _wait(unit, body, wait)
            if found is not None:
                yield found


def _for_threads(unit: Unit, body: Body) -> bool:
    """True for a macro that names something only device code has."""
    words = {unit.source.at(at) for statement in body.statements for at in range(statement.first, statement.last)}
    return bool(words & _NAMES - {b"load", b"exchange", b"volatile"})


def _section(source: CudaSource, region: Region) -> Finding:
    first, last = region.first, region.last
    if not region.movable:
        return finding(
            RULE,
            source,
            first.first,
            f"a lock is taken by lanes of one wavefront, which wait for each other for ever on AMD; {region.why}",
            last=last.last - 1,
            confidence=Confidence.MEDIUM,
            fix=_fix(LOCK),
        )
    return finding(
        RULE,
        source,
        first.first,
        f"{_TURNS}: lanes that wait for each other never finish on AMD",
        last=last.last - 1,
        applicability=Applicability.REVIEW,
        confidence=Confidence.MEDIUM,
        edits=[*_in_turns(source, first, last), insert(source.end(first.last - 1), b" __threadfence();")],
        headers=[HEADER],
        fix="where lanes mostly hold different locks, do the work in the branch of the loop that takes the lock",
    )


_LEAVING = ("break", "continue", "return", "goto")


def _inside(unit: Unit, body: Body, wait: Wait) -> Finding | None:
    """A loop whose branch holds the lock: what keeps the branch in the loop."""
    source, loop = unit.source, wait.statement
    held = section(unit, loop)
    if held is None or _alone(unit, body, wait.guards) or _ends_in_warp_operation(unit, loop):
        return None
    leaves = {inner.kind for inner in held[0].walk() if inner.kind in _LEAVING}
    whole = {inner.kind for inner in loop.walk()} & {"return", "goto"}
    meets = any(True for _ in unit.operations((loop,)))
    edits, applicability = [], Applicability.MANUAL
    if not leaves:
        edits, applicability = _kept_inside(source, loop), Applicability.SAFE
    elif not whole and not meets and not source.directive_between(loop.first, loop.last):
        edits, applicability = _in_turns(source, loop, loop), Applicability.REVIEW
    what = {
        Applicability.SAFE: "a warp operation at the end of the loop keeps the work of the lane with the lock inside",
        Applicability.REVIEW: _TURNS,
        Applicability.MANUAL: "the lane with the lock leaves the loop with its work, which clang puts behind the loop",
    }[applicability]
    return finding(
        RULE,
        source,
        wait.at,
        f"{what}: lanes that wait for each other never finish on AMD",
        last=wait.last,
        applicability=applicability,
        confidence=Confidence.MEDIUM,
        edits=edits,
        headers=[HEADER] if edits else [],
        fix="" if applicability is Applicability.SAFE else "end the loop by a flag that the branch sets",
    )


def _ends_in_warp_operation(unit: Unit, loop: Statement) -> bool:
    return any(operation.kind == "warp" for operation in unit.operations(loop.inner[-1:]))


def _kept_inside(source: CudaSource, loop: Statement) -> list[Edit]:
    """`rocport::syncwarp();` as the last statement of the loop."""
    inner = loop.body[0]
    if inner.kind == "block":
        return [insert(source.starts[inner.last - 1], b"rocport::syncwarp(); ")]
    return [insert(source.starts[inner.first], b"{ "), insert(source.end(inner.last - 1), b" rocport::syncwarp(); }")]


def _in_turns(source: CudaSource, first: Statement, last: Statement) -> list[Edit]:
    """From one statement to the other one lane after another."""
    turns = b"for (rocport::lane_turns rocport_turns; rocport_turns.next();) if (rocport_turns.mine()) { "
    return [insert(source.starts[first.first], turns), insert(source.end(last.last - 1), b" }")]


def _wait(unit: Unit, body: Body, wait: Wait) -> Finding | None:
    together = wait.kind == TOGETHER
    alone = together or _alone(unit, body, wait.guards)
    what = "a lock is taken in a loop" if wait.kind == LOCK else "a flag is polled in a loop"
    who = "the whole" if together else "one thread of the"
    if wait.kind == LOCK and alone:
        return None
    if wait.kind == LOCK and _only_in_turns(unit, body):
        return finding(
            RULE,
            unit.source,
            wait.at,
            f"{what}: the callers in this file let one lane of a wavefront after another take it",
            last=wait.last,
            applicability=Applicability.REVIEW,
            confidence=Confidence.MEDIUM,
            fix="let callers in other files do the same",
        )
    return finding(
        RULE,
        unit.source,
        wait.at,
        f"{what} by {who} block: the other side must be resident on the GPU, as on CUDA"
        if alone
        else f"{what}: lanes of one wavefront that wait for each other never finish on AMD",
        last=wait.last,
        applicability=Applicability.REVIEW if alone else Applicability.MANUAL,
        confidence=Confidence.MEDIUM,
        fix="make sure that all blocks fit on the GPU, or launch with hipLaunchCooperativeKernel"
        if alone
        else _fix(wait.kind),
    )


def _fix(kind: str) -> str:
    if kind == FLAG:
        return "let one thread of the block wait, then __syncthreads(); or order the work so that no lane waits"
    return "let one lane of the wavefront take the lock, or do the work inside the loop where the lock was taken"


def _alone(unit: Unit, body: Body, guards: tuple[Guard, ...]) -> bool:
    """True where one thread of the block gets to: by a condition over the place, or over every call of the function."""
    if any(_leads_block(unit, body, guard) for guard in guards):
        return True
    calls = [(caller, call) for caller in unit.bodies for call in caller.calls if call.name == body.name]
    return bool(calls) and all(
        any(_leads_block(unit, caller, guard) for guard in call.guards) for caller, call in calls
    )


def _leads_block(unit: Unit, body: Body, guard: Guard) -> bool:
    """True for `threadIdx.x == 0`, unless the function's threads are counted in another direction as well."""
    if not guard.taken or guard.value.single != "block" or guard.value.level != LANE:
        return False
    axes = {
        unit.source.at(at + 2)
        for statement in body.statements
        for at in range(statement.first, statement.last)
        if unit.source.at(at) == b"threadIdx" and unit.source.at(at + 1) == b"."
    }
    return all(axis in guard.value.axis for axis in axes & {b"y", b"z"})


def _only_in_turns(unit: Unit, body: Body) -> bool:
    """True for a function whose every call in this file begins a critical section that lanes go through in turn."""
    calls = [(caller, call.at) for caller in unit.bodies for call in caller.calls if call.name == body.name]
    if not calls:
        return False
    for caller, at in calls:
        taken = [region for region in regions(unit, caller) if region.first.first <= at < region.last.last]
        if not taken or not (taken[0].movable or _alone(unit, caller, taken[0].guards)):
            return False
    return True

"""`__syncthreads` where threads of one wavefront stand on different branches.

A CUDA GPU counts threads at a barrier, wherever in the code they are: since Volta, warp 0 may wait in one branch of an
`if` and the other warps in the other. An AMD GPU counts wavefronts: a wavefront whose lanes are on both sides runs one
side with its barriers and then the other with its barriers, while the rest of the block passes each only once. Data is
read before it is written, or the block hangs. A wavefront of 64 lanes holds two CUDA warps, so that code which gives
each warp a role is hit on CDNA; a condition that differs between lanes is hit everywhere.

Where both sides meet at the same barriers, the sides become phases with the barrier between them, outside of the
branch: REVIEW. Where barriers stand in loops or functions of the sides, MANUAL.

A barrier in a loop that threads leave at different times is REVIEW: those that have left stand at another barrier.

An early `return` of a kernel is no finding: wavefronts that have ended no longer count, on either GPU. Conditions that
are the same for the whole block (block indices, kernel arguments, template parameters, votes of the block) are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rocport.binding.branches import branches
from rocport.convergence import LANE, LOOPS, WARP, Body, Guard, Place, Rest, Statement, Unit, Value, tokens, unit_of
from rocport.facts.targets import load_target, target_names
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.phases import phases
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_TWO_SIDES = (
    "__global__ void k(float *s, float *o) {\n  int warp = threadIdx.x / 32;\n"
    "  if (warp == 0) { s[threadIdx.x] = 1; __syncthreads(); } else { __syncthreads(); o[threadIdx.x] = s[0]; }\n}\n"
)

RULE = Rule(
    name="divergent-barrier",
    summary="barrier of the block that threads reach on different branches",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset({b"__global__", b"__device__"}),
    examples=(
        Example(
            _TWO_SIDES,
            contains=(
                "if (rocport_phase == 0) { s[threadIdx.x] = 1; } if (rocport_phase == 1) { }",
                "if (rocport_phase < 1) __syncthreads();",
            ),
        ),
        Example(
            "__device__ void put(int n) { for (int i = 0; i < n; ++i) __syncthreads(); }\n"
            "__device__ void get(int n) { for (int i = 0; i < n; ++i) { __syncthreads(); } }\n"
            "__global__ void k(int n) { if (threadIdx.y == 0) put(n); else get(n); }\n"
        ),
        Example(
            "__global__ void k(int *p) {\n  if (threadIdx.x < 32) { p[0] = 1; __syncthreads(); return; }\n"
            "  p[1] = 2;\n  __syncthreads();\n  p[2] = 3;\n}\n"
        ),
        Example(
            "__global__ void k(int *p) { switch (threadIdx.x / 32) {\n  case 0: __syncthreads(); break;\n"
            "  default: __syncthreads(); } }\n"
        ),
        Example(
            "__global__ void k(const int *n, float *s) {\n"
            "  for (int i = 0; i < n[threadIdx.x]; ++i) { s[threadIdx.x] += i; __syncthreads(); }\n}\n"
        ),
        Example(
            '__global__ void k(int *p) {\n  if (threadIdx.x < 32) asm volatile("bar.sync 0;");\n'
            '  else asm volatile("bar.sync 0;");\n}\n'
        ),
        Example(
            "__global__ void k(int *p) {\n  if (threadIdx.x >= 32) goto other;\n  p[0] = 1;\n  __syncthreads();\n"
            "  return;\nother:\n  __syncthreads();\n  p[1] = p[0];\n}\n"
        ),
        Example(
            "__global__ void k(int *p) {\n  auto meet = [&] { __syncthreads(); };\n"
            "  if (threadIdx.x < 32) { p[0] = 1; meet(); } else { meet(); p[1] = p[0]; }\n}\n"
        ),
        Example(
            "__global__ void k(int *x, int *s, int n, int c) {\n  int i = threadIdx.x;\n"
            "  for (int t = i, end = n + i; t < end; t += c) { if (x[t] > 0) end = t; __syncthreads(); s[i] = 1; }\n}\n"
        ),
        Example(
            "__global__ void k(int *x, int *s, int n, int c) {\n  int i = threadIdx.x;\n"
            "  for (int t = n + i >> 5; t < c + i >> 5; t += 1) { s[i] = x[t]; __syncthreads(); }\n}\n"
        ),
        Example(
            "__global__ void k(int *x, int *s, int n, int c) {\n  int i = threadIdx.x;\n"
            "  for (int t = i; t < n + i; t += c) { t >>= int(x[t]); __syncthreads(); s[i] = 1; }\n}\n"
        ),
        Example(
            "__global__ void k(int *p) {\n  int warp = (threadIdx.x + 32) / 64;\n"
            "  if (warp == 1) { p[0] = 1; __syncthreads(); } else { p[1] = 2; __syncthreads(); }\n}\n",
        ),
        Example(
            "template <class F> __device__ void both(F &&f) { if (threadIdx.x < 32) f(1); else f(2); }\n"
            "__global__ void k(int *x) { both([&](int i) { x[i] = 1; __syncthreads(); }); }\n"
        ),
        Example(
            "struct Meet { __device__ void operator()() const { __syncthreads(); } };\n"
            "template <class M> __device__ void f(M meet) { if (threadIdx.x < 32) meet(); else { g(); meet(); } }\n"
            "__global__ void k(int *x) { f(Meet{}); }\n"
        ),
    ),
    clean=(
        "__global__ void k(int *p, int m) {\n  int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp / 2 * 32;\n"
        "  if (row + 32 <= m) { for (int i = 0; i < 4; ++i) { p[i] = 1; __syncthreads(); } }\n"
        "  else { for (int i = 0; i < 4; ++i) { p[i] = 2; __syncthreads(); } }\n}\n",
        "__global__ void k(float *x, int n, int c) { __shared__ float s[64]; int i = threadIdx.x;\n"
        "for (int t = n * c + i, end = i; t >= end; t -= c) { s[i] = x[t]; __syncthreads(); x[t] = s[63 - i]; "
        "__syncthreads(); } }\n",
        "__global__ void k(float *x, int n, int c) { __shared__ float s[64]; int i = threadIdx.x;\n"
        "for (int t = static_cast<int>(threadIdx.x); t < n + static_cast<int>(threadIdx.x); t += c) { "
        "s[i] = x[t]; __syncthreads(); x[t] = s[63 - i]; __syncthreads(); } }\n",
        "__global__ void k(int *p, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
        "  __shared__ int s[64]; s[threadIdx.x] = p[i]; __syncthreads(); p[i] = s[0];\n}\n",
        "__global__ void k(int *p, int n) {\n  if (n > 4) { p[0] = 1; __syncthreads(); } else __syncthreads();\n}\n",
        "__global__ void k(int *p, unsigned n) {\n"
        "  for (unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / blockDim.x; row < n; row += gridDim.x) {\n"
        "    p[row] = 1; __syncthreads();\n  }\n}\n",
        "__global__ void k(int *p, unsigned n) {\n  unsigned end = (n / blockDim.x + 1) * blockDim.x;\n"
        "  for (unsigned i = threadIdx.x; i < end; i += blockDim.x) { p[i] = 1; __syncthreads(); }\n}\n",
        "__global__ void k(int *p) {\n  if (blockIdx.x == 0) { __syncthreads(); } else { __syncthreads(); }\n}\n",
        "__global__ void k(int *p, int n) {\n  for (int t = 0; t < n; ++t) { if (threadIdx.x == 0) p[t] = t;\n"
        "    __syncthreads(); }\n}\n",
        "__global__ void k(int *p, int n) {\n  for (int i = blockIdx.x; i < n; i += gridDim.x) { p[i] = 1; "
        "__syncthreads(); }\n}\n",
        "__global__ void k(int *p) {\n  for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (threadIdx.x < o) p[0] = o; "
        "__syncthreads(); }\n}\n",
        "template <bool B> __global__ void k(int *p) {\n  if (B) { __syncthreads(); } else { __syncthreads(); }\n}\n",
        "__global__ void k(int *p) {\n  __shared__ int go; if (threadIdx.x == 0) go = p[0];\n  __syncthreads();\n"
        "  if (go) { __syncthreads(); } else { __syncthreads(); }\n}\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (synchronization functions, independent thread "
        "scheduling)",
        "AMD CDNA3 ISA, S_BARRIER: synchronizes the waves of a workgroup; ended waves do not count",
    ),
)

_STEP = (
    "let each side do its part and put one barrier for all threads behind the branch, or make the roles wavefronts "
    "(threadIdx.x / 64)"
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not {b"__global__", b"__device__"} & source.meant:
        return
    unit = unit_of(source, context.project)
    view = branches(source, context.project.torch_extension)
    least = LANE if only_wave32(context) else WARP
    for body in unit.bodies:
        if amd_only(source, body.name_at):
            continue
        for place, value, rest in body.branches:
            if value.level >= least and not view.is_dead(source.starts[place.statement.first], device_only=True):
                yield from _branch(unit, body, place, value, rest)
        yield from _uneven(unit, body, least)
        if not body.is_kernel:
            yield from _early_returns(unit, body, least)


def only_wave32(context: Context) -> bool:
    """True when targets were named and all of them have wavefronts of 32 lanes: a wavefront is then one warp."""
    named = context.options.targets
    return bool(named) and all(name in target_names() and load_target(name).wavefront == 32 for name in named)


Side = tuple[tuple[int, int], ...]
"""What one side of a branch runs, as ranges of tokens [first, last)."""


def sides(unit: Unit, place: Place, rest: Rest) -> list[Side]:
    """What the two sides of a branch run: the `else`, or what follows a side that returns; the cases of a `switch`."""
    statement = place.statement
    if statement.kind == "switch":
        return list(_cases(statement))
    body = tokens(statement.body, 0, len(statement.body))
    if statement.other:
        return [(body,), (tokens(statement.other, 0, len(statement.other)),)]
    if _returns(statement.body):
        return [(body,), (rest.tokens(),)]
    label = _jumps_to(unit.source, statement.body)
    number = unit.labelled(rest, label) if label else None
    return [] if number is None else [(rest.tokens(last=number),), (body, rest.tokens(first=number))]


def _jumps_to(source: CudaSource, items: tuple[Statement, ...]) -> bytes:
    """The label of a side that ends in a `goto`; empty for others."""
    if len(items) == 1 and items[0].kind == "block":
        items = items[0].body
    return source.at(items[-1].first + 1) if items and items[-1].kind == "goto" else b""


def _returns(items: tuple[Statement, ...]) -> bool:
    if len(items) == 1 and items[0].kind == "block":
        items = items[0].body
    return bool(items) and items[-1].kind == "return"


def _cases(statement: Statement) -> Iterator[Side]:
    items = statement.inner
    starts = [number for number, item in enumerate(items) if item.kind == "case"]
    for first, last in pairwise([*starts, len(items)]):
        if last - first > 1:
            yield (tokens(items, first + 1, last),)


def _branch(unit: Unit, body: Body, place: Place, value: Value, rest: Rest) -> Iterator[Finding]:
    source, statement = unit.source, place.statement
    holding = [side for side in sides(unit, place, rest) if any(unit.within(side, "block"))]
    who = "lanes" if value.level == LANE else "warps"
    condition = _shown(source, statement)
    if len(holding) > 1:
        edits = phases(unit, statement, "block", b"__syncthreads()")
        yield finding(
            RULE,
            source,
            statement.first,
            f"barriers on more than one side of `{condition}`, which differs between {who}: a wavefront with lanes on "
            "both sides runs each side with its barriers, one after the other"
            + ("; written as phases with one barrier between them" if edits else ""),
            last=statement.last - 1,
            applicability=Applicability.REVIEW if edits else Applicability.MANUAL,
            confidence=Confidence.HIGH if value.exact else Confidence.MEDIUM,
            edits=edits or (),
            fix="check that the sides' barriers pair up in their order" if edits else _STEP,
            holds="" if value.level == LANE else "wavefronts of 64 lanes",
        )
        return
    inside = [tokens(items, 0, len(items)) for items in (statement.body, statement.other)]
    if not value.exact or not any(unit.within(inside, "block")):
        return
    later = (
        any(unit.within((rest.tokens(),), "block"))
        or any(guard.statement.kind in LOOPS for guard in place.guards)
        or _follows(unit, body, place)
    )
    if later:
        yield finding(
            RULE,
            source,
            statement.first,
            f"a barrier that only threads with `{condition}` reach, while the others go on to another barrier: "
            "CUDA leaves this undefined, and wavefronts do not pair up as warps do",
            last=statement.last - 1,
            confidence=Confidence.MEDIUM,
            fix=_STEP,
        )


def _follows(unit: Unit, body: Body, place: Place) -> bool:
    """True when a barrier stands behind the statements or the lambda around a branch that holds one itself, or behind a
    call of its function."""
    own = [item.at for item, _ in body.operations if item.kind == "block" and not item.via]
    around = [guard.statement for guard in place.guards if guard.statement.kind in ("if", "switch")]
    returns = any(_returns(side) for item in around for side in (item.body, item.other))
    # the others have ended, or a branch around this one parts them already
    if returns or any(guard.value.exact for guard in place.guards):
        return False
    if not any(place.statement.first <= at < place.statement.last for at in own):
        return False
    end = max((item.last for item in around), default=place.statement.last)
    return any(at >= end for at in own) or (not body.is_kernel and _meets_again(unit, body))


def _uneven(unit: Unit, body: Body, least: int) -> Iterator[Finding]:
    """A barrier in a loop that some threads leave earlier than others."""
    source = unit.source
    found: dict[int, tuple[Statement, Value]] = {}
    calls = [(call.at, call.guards) for call in body.calls if unit.operations_of(call.name, "block")]
    for at, guards in [*((item.at, guards) for item, guards in body.operations if item.kind == "block"), *calls]:
        for loop in (guard for guard in guards if guard.statement.kind in LOOPS):
            # What leaves the loop or its round: its condition, or an `if` in it whose side does not reach the barrier.
            leaving = [loop, *(guard for guard in guards if _breaks(guard, loop.statement, at))]
            worst = max(leaving, key=lambda guard: guard.value.level)
            if worst.value.level >= least:
                found.setdefault(loop.statement.first, (worst.statement, worst.value))
                break  # the loops inside go round together once this one does
    for statement, value in found.values():
        yield finding(
            RULE,
            source,
            statement.first,
            f"a barrier in a loop that threads leave at different times, by `{_shown(source, statement)}`: those that "
            "have left go on to other barriers, which wavefronts do not pair up as warps do",
            last=statement.condition[1] if statement.condition is not None else statement.first,
            applicability=Applicability.REVIEW,
            confidence=Confidence.MEDIUM,
            fix="let every thread of the block go round as often as the longest, with the work under a condition",
            holds="" if value.level == LANE else "wavefronts of 64 lanes",
        )


def _breaks(guard: Guard, loop: Statement, at: int) -> bool:
    """True for an `if` in the loop, before a place, whose side leaves the round."""
    inner = guard.statement
    if inner.kind != "if" or not loop.first < inner.first < inner.last <= at:
        return False
    return any(item.kind in ("break", "continue") for side in (*inner.body, *inner.other) for item in side.walk())


def _early_returns(unit: Unit, body: Body, least: int) -> Iterator[Finding]:
    """`if (lane dependent) return;` before a barrier, in a function after which the caller has barriers of its own."""
    source = unit.source
    for place in body.exits:
        own = [guard for guard in place.guards if guard.value.level >= least and guard.statement.kind == "if"]
        if place.statement.kind != "return" or not own or amd_only(source, place.statement.first):
            continue
        after = [item for item, _ in body.operations if item.kind == "block" and item.at > place.statement.first]
        inside = own[-1].statement
        after = [item for item in after if not inside.first <= item.at < inside.last]
        if after and _meets_again(unit, body):
            yield finding(
                RULE,
                source,
                inside.first,
                f"threads with `{_shown(source, inside)}` return before a barrier of this function and go on to the "
                "next barrier of its caller: CUDA pairs them up thread by thread, wavefronts do not",
                last=place.statement.last - 1,
                confidence=Confidence.MEDIUM,
                fix="put the work in an `if` and let every thread of the block reach each barrier",
            )


def _meets_again(unit: Unit, body: Body) -> bool:
    """True when a caller in this file has a barrier after its call, or calls in a loop."""
    for caller in unit.bodies:
        for call in caller.calls:
            if call.name != body.name:
                continue
            if any(item.kind == "block" and item.at > call.at for item, _ in caller.operations):
                return True
            for place in caller.loops:
                if place.statement.first < call.at < place.statement.last:
                    return True
    return False


def _shown(source: CudaSource, statement: Statement) -> str:
    assert statement.condition is not None, "if and switch have a condition"
    text = source.text(*statement.condition).decode("utf-8", "replace")
    return " ".join(text.split())[:60]

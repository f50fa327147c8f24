"""Reductions and scans in shared memory that count on the lanes of a warp running in step, without a barrier.

`s[t] += s[t + 16]; s[t] += s[t + 8]; ...` with nothing between the lines was how warps were reduced before Volta;
since then it is a race on NVIDIA as well, unless each line is followed by `__syncwarp()`. Lanes of an AMD wavefront
do run in step, and through a volatile pointer every access is made in the order of the source, so the code gives the
same result on wavefronts of both widths. Without `volatile` the compiler may keep values in registers and reorder,
and the result is wrong without any message. What is volatile is SAFE, for a CUDA warp is part of one wavefront: in a
kernel, and in a function that the file calls or that stands in a header. In one whose callers are not seen it is
REVIEW. A volatile array through which lanes hand each other values in another order, a queue for instance, is SAFE as
well. A shared one that is not volatile, where a leader writes what all read or a lane reads its neighbour's element
with no barrier between, is REVIEW: clang reads before the write. An array of one thread, in registers or in a loop
over its elements, is none of this.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from rocport.binding.branches import branches
from rocport.convergence import unit_of
from rocport.convergence.elsewhere import BLOCK, WARP_MEETS, meets_of
from rocport.convergence.values import by_name, integer
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource, Function, between

RULE = Rule(
    name="warp-lockstep",
    summary="warp-synchronous code without a barrier",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset({b"__device__", b"__global__"}),
    examples=(
        Example(
            "__device__ void r(volatile float *s, int t) {\n  s[t] += s[t + 8];\n  s[t] += s[t + 4];\n"
            "  s[t] += s[t + 2];\n}\n"
        ),
        Example(
            "__global__ void k(int t) {\n  __shared__ int s[64];\n  if (t < 32) {\n    s[t] = max(s[t], s[t + 32]);\n"
            "    s[t] = max(s[t], s[t + 16]);\n    s[t] = max(s[t], s[t + 8]);\n  }\n}\n"
        ),
        Example(
            "__global__ void k(int *p) {\n  int t = threadIdx.x;\n  if (t < 32) {\n    volatile int *s = p;\n"
            "    s[t] += s[t + 8];\n"
            "    s[t] += s[t + 4];\n    s[t] += s[t + 2];\n  }\n}\n"
        ),
        Example(
            "__device__ int scan(volatile int *s, int i) {\n  s[i] += s[i - 1];\n  s[i] += s[i - 2];\n"
            "  s[i] += s[i - 4];\n  return s[i];\n}\n"
        ),
        Example(
            "__device__ int scan(volatile int *s, int v, int i) {\n  s[i] = v;\n  v += s[i - 1]; s[i] = v;\n"
            "  v += s[i - 2]; s[i] = v;\n  v += s[i - 4]; s[i] = v;\n  return v;\n}\n"
        ),
        Example(
            "__global__ void k(int *p) {\n  __shared__ volatile int queue[4][64], tail[4];\n"
            "  int w = threadIdx.x / 32, lane = threadIdx.x % 32;\n  if (lane == 0) tail[w] = 0;\n"
            "  if (p[lane] > 0) queue[w][atomicAdd((int *)&tail[w], 1)] = lane;\n"
            "  if (lane < tail[w]) p[lane] = queue[w][lane];\n}\n"
        ),
        Example(
            "__global__ void k(int *p, int lane) {\n  __shared__ int base[4]; int w = threadIdx.x / 32;\n"
            "  if (lane == 0) { int v = p[w]; base[w] = v; }\n  p[lane] = base[w];\n}\n"
        ),
        Example(
            "__global__ void k(int *p) {\n  __shared__ int s[32]; int t = threadIdx.x;\n  s[t] = p[t];\n"
            "  p[t] = s[t ^ 1];\n}\n"
        ),
        Example(
            "__device__ int scan(volatile int *s, int v, int t) {\n"
            "  for (int d = 1; d < 32; d <<= 1) s[t] = v = v + s[t - d];\n  return v;\n}\n"
        ),
    ),
    clean=(
        "__global__ void k(volatile int *s, int t) {\n#if __CUDA_ARCH__ >= 300\n  s[t] = 0;\n#else\n"
        "  s[t] += s[t + 4];\n  s[t] += s[t + 2];\n  s[t] += s[t + 1];\n#endif\n}\n",
        "__global__ void k(int *p, int t) {\n  __shared__ int s[32];\n"
        "  for (int d = 16; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }\n}\n",
        "__device__ void r(float *s, int t) {\n  s[t] += s[t + 4]; __syncwarp();\n  s[t] += s[t + 2]; __syncwarp();\n"
        "  s[t] += s[t + 1]; __syncwarp();\n}\n",
        "__global__ void k(float *s, int t) {\n  s[t] += s[t + 64]; __syncthreads();\n  s[t] += s[t + 32];\n"
        "  __syncthreads();\n  s[t] += s[t + 16];\n}\n",
        "__global__ void k(int *p) {\n  __shared__ volatile int s[64]; int t = threadIdx.x;\n  s[t] = p[t];\n"
        "  __syncwarp();\n  p[t] = s[t ^ 1];\n  s[t] = 0; s[t] += p[t];\n}\n",
        "__device__ void meet() { __syncthreads(); }\n__global__ void k(int *p) {\n  __shared__ int s, q[64];\n"
        "  int t = threadIdx.x; q[t * 2] = t; q[t * 2 + 1] = q[t * 2];\n"
        "  if (t == 0) { s = p[0]; if (s) p[1] = s; }\n  meet();\n  p[t] = s;\n}\n",
        "__device__ float f(const float *x, int i) { return x[i + 4] + x[i + 2] + x[i + 1]; }\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/volta-tuning-guide/ (warp-synchronous code)",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (independent thread scheduling)",
    ),
)

_INDEX = re.compile(rb"[+-]\s*(?:32|16|8|4|2|1)\s*\]")
_DISTANCES = (b"32", b"16", b"8", b"4", b"2", b"1")
_MEETS = re.compile(rb"(?i)\w*(?:sync|barrier|fence)\w*")
_ASSIGNMENTS = frozenset((b"=", b"+=", b"*=", b"|=", b"&=", b"^="))
_LEAST_STEPS = 3


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    chains = [*_loops(source, context), *_chains(source, context)]
    view = branches(source, context.project.torch_extension)
    for item in (*(item for _, item in chains), *_exchanges(source, context, chains)):
        if not view.is_dead(item.span.end - 1, device_only=True):
            yield item


def _chains(source: CudaSource, context: Context) -> Iterator[tuple[bytes, Finding]]:
    """What is combined step by step in a function: the arrays, and what is said of each."""
    candidates = [source.token_at(match.start()) for match in _INDEX.finditer(source.data)]
    if len(candidates) < _LEAST_STEPS:
        return
    for function in source.functions:
        device = bool(function.specifiers & _DEVICE)
        if function.body is None or not device or amd_only(source, function.name):
            continue
        inside = bisect_left(candidates, function.body[1]) - bisect_left(candidates, function.body[0])
        if inside < _LEAST_STEPS:
            continue
        steps: list[tuple[int, int, int, bytes]] = []
        for at in range(*function.body):
            if _meets(source, at):
                yield from _finding(source, context, steps)
                steps = []
                continue
            step = _step(source, at)
            if step is None:
                continue
            if steps and (step[3] != steps[-1][3] or not _continues(step[1], steps[-1][1])):
                yield from _finding(source, context, steps)
                steps = []
            steps.append(step)
        yield from _finding(source, context, steps)


def _loops(source: CudaSource, context: Context) -> Iterator[tuple[bytes, Finding]]:
    """`for (int d = 1; d < 32; d <<= 1) s[t] += s[t - d];`: the same with the distance in a variable."""
    steps = [at for word in (b"<<=", b"*=", b"/=") for at in source.index.get(word, ())]
    # The lexer gives `>>=` as three tokens, because templates close with the first two.
    steps += [at for at in source.index.get(b">", ()) if source.texts[at + 1 : at + 3] == [b">", b"="]]
    loops: dict[int, tuple[int, int] | None] = {}
    tried: set[tuple[int, bytes]] = set()
    for at in sorted(steps):
        name, head = source.at(at - 1), source.since(at, b"for", b"{", b"}") - 1
        if (head, name) in tried:
            continue
        tried.add((head, name))
        if head not in loops:
            loops[head] = _without_barrier(source, head)
        loop = loops[head]
        if loop is None or not head < at < loop[0]:
            continue
        close, inside = loop[0], range(loop[0] + 1, loop[1])
        for i in between(source.index.get(name, []), inside.start, inside.stop):
            opening = source.pairs.get(i + 1) if source.at(i + 1) == b"]" else None
            if opening is None or source.at(i - 1) not in (b"+", b"-", b"^") or not source.is_ident(opening - 1):
                continue
            array = source.at(opening - 1)
            if _is_written(source, array, inside) and not _is_private(source, array, opening - 1):
                yield array, _report(source, context, head, array, close)
                break


def _without_barrier(source: CudaSource, head: int) -> tuple[int, int] | None:
    """The closing parenthesis of a `for` over a warp's lanes and the end of its body; None for others, and for one with
    a barrier."""
    close = source.pairs.get(head + 1)
    if source.at(head) != b"for" or close is None or not source.in_device(head) or amd_only(source, head):
        return None
    if not _WARP_WIDE.intersection(source.texts[head:close]):
        return None
    end = _body_end(source, close)
    return None if any(_meets(source, i) for i in range(close + 1, end)) else (close, end)


def _exchanges(source: CudaSource, context: Context, chains: list[tuple[bytes, Finding]]) -> Iterator[Finding]:
    """Shared memory that one lane writes and another reads with no barrier between: a warp's queue, a leader's word."""
    declared = _declared(source)
    if not declared:
        return
    kinds = {at: (number, volatile) for number, (at, volatile) in enumerate(declared)}
    reported: dict[int, set[bytes]] = {}
    for array, item in chains:
        reported.setdefault(item.span.start, set()).add(array)
    places, starts = sorted(kinds), sorted(reported)
    meetings = unit_of(source, context.project).meetings
    barriers = sorted(at for name in filter(_MEETS.fullmatch, source.index) for at in source.index[name])
    own = {name for name, kinds in meets_of(source.data)[0].items() if not kinds.isdisjoint((BLOCK, WARP_MEETS))}
    meetings = sorted({*meetings, *(at for name in own for at in source.index.get(name, ()))})
    for function in source.functions:
        if function.body is None or not function.specifiers & _DEVICE or amd_only(source, function.name):
            continue
        first, last = function.params[0], function.body[1]
        inside = sorted(between(places, first, last), key=kinds.__getitem__)
        arrays = {source.at(at): kinds[at][1] for at in inside}
        for start in between(starts, source.starts[first], source.starts[last]):
            for array in reported[start]:
                arrays.pop(array, None)
        if not arrays:
            continue
        leaders = _leaders(source, *function.body)
        apart = _apart(source, function)
        named = (at for at in between(barriers, *function.body) if _meets(source, at))
        orders = {*between(meetings, *function.body), *named}
        for name, volatile in sorted(arrays.items()):
            names = set(between(source.index[name], *function.body))
            found = _exchange(source, names, orders, leaders, apart, volatile)
            if found is not None:
                yield _exchanged(source, found, volatile)


_DEVICE = frozenset((b"__device__", b"__global__"))


@lru_cache(maxsize=2)
def _declared(source: CudaSource) -> list[tuple[int, bool]]:
    """Names of shared arrays and scalars, of volatile ones and of volatile pointers: (token, whether volatile)."""
    found: list[tuple[int, bool]] = []
    for word in (b"__shared__", b"volatile"):
        for start in source.index.get(word, ()):
            end = start
            while end < start + 40 and source.at(end) not in (b";", b"{", b")", b""):
                names = source.is_ident(end) and source.at(end + 1) in (b"[", b"=", b",", b")", b";")
                kind = source.at(end - 1)
                if names and end > start + 1 and (source.is_ident(end - 1) or kind in (b"*", b">", b",")):
                    around = source.texts[max(0, start - 2) : end]
                    if kind == b"*" and b"volatile" in around:
                        found.append((end, True))
                    elif kind != b"*" and b"__shared__" in around:
                        found.append((end, b"volatile" in around))
                end = source.pairs.get(end, end) + 1 if source.at(end) in (b"[", b"(", b"<") else end + 1
    return found


def _leaders(source: CudaSource, first: int, last: int) -> list[tuple[int, int]]:
    """Where one lane acts for others, `if (lane == 0) ...`: token ranges in order, none inside another."""
    found: list[tuple[int, int]] = []
    for at in between(source.index.get(b"if", []), first, last):
        close = source.pairs.get(at + 1)
        if close is None or (found and at < found[-1][1]):
            continue
        words = source.texts[at + 2 : close]
        if (b"==" in words or b"!" in words) and any(
            word in (b"threadIdx", b"thread_rank") or by_name(word) is not None for word in words
        ):
            end = source.pairs.get(close + 1) if source.at(close + 1) == b"{" else source.until(close + 1, *_ENDS)
            found.append((close, end if end is not None else close))
    return found


def _apart(source: CudaSource, function: Function) -> dict[int, str]:
    """Where the sides begin and end of each `if (COUNTS) { ... } else { ... }` that goes one way in a whole launch: by
    parameters of a template or a kernel that nothing in the body assigns. Token -> `if`, `else` or `end`."""
    assert function.body is not None
    first, last = function.body
    given = {source.at(at) for at in range(*function.params) if source.at(at + 1) in (b",", b")", b"=")}
    if b"__global__" not in function.specifiers:
        given = set()
    for head in between(
        source.index.get(b"template", []), source.since(function.name, b";", b"}", b"{"), function.name
    ):
        close = source.angle_end(head + 1) if source.at(head + 1) == b"<" else None
        given.update(source.at(at) for at in range(head + 2, close or 0) if source.at(at + 1) in (b",", b">", b"="))
    found: dict[int, str] = {}
    for at in between(source.index.get(b"if", []), first, last) if given else ():
        open_ = at + 1 + (source.at(at + 1) == b"constexpr")
        close = source.pairs.get(open_, at)
        side = source.pairs.get(close + 1, at) if source.at(close + 1) == b"{" else at
        other = source.pairs.get(side + 2) if source.texts[side + 1 : side + 3] == [b"else", b"{"] else None
        words = source.texts[open_ + 1 : close]
        names = {word for place, word in enumerate(words, open_ + 1) if source.is_ident(place)}
        if other is None or not names or names - given or not _ASKING.issuperset(set(words) - names - _numbers(words)):
            continue
        if any(_is_changed(source, place) for name in names for place in between(source.index[name], first, last)):
            continue
        found[at], found[side + 1], found[other] = "if", "else", "end"
    return found


_ASKING = frozenset((b"!", b"(", b")", b"==", b"!=", b"<", b">", b"<=", b">=", b"=", b"&&", b"||", b"true", b"false"))


def _numbers(words: list[bytes]) -> set[bytes]:
    return {word for word in words if word[:1].isdigit()}


def _is_changed(source: CudaSource, at: int) -> bool:
    """True for a name that is assigned there, stepped, or handed on by its address."""
    return source.at(at + 1) in _WRITES or source.at(at - 1) in (b"++", b"--", b"&") or source.is_ident(at - 1)


def _exchange(
    source: CudaSource,
    names: set[int],
    orders: set[int],
    leaders: list[tuple[int, int]],
    apart: dict[int, str],
    volatile: bool,
) -> int | None:
    """Where an element is read that another lane may have written since the last barrier. What is not volatile is
    asked only for a leader's word and a neighbour's element: threads have parts of their own in shared memory."""
    written: dict[bytes, bool] = {}
    stored: tuple[int, bytes, bool] | None = None  # what a statement writes stands there when it ends
    sides: list[tuple[dict[bytes, bool], dict[bytes, bool]]] = []  # before the `if`, and at the end of its first side
    for at in sorted(names | orders | apart.keys()):
        if stored is not None and at > stored[0]:
            written[stored[1]] = written.get(stored[1], False) or stored[2]
            stored = None
        if at in apart:
            if apart[at] == "if":
                sides.append((dict(written), {}))
            elif apart[at] == "else":
                before, _ = sides.pop()
                sides.append((before, written))
                written = dict(before)
            else:
                _, first = sides.pop()
                written = {key: written.get(key, False) or first.get(key, False) for key in (*first, *written)}
            continue
        if at in orders:
            written = {}
            continue
        if source.at(at - 1) in (b".", b"->"):
            continue
        end = at + 1
        while source.at(end) == b"[" and end in source.pairs:
            end = source.pairs[end] + 1
        index = _of_stride(source, source.text(at + 1, end), at)
        if source.is_ident(at - 1) or (not index and source.at(at - 1) in (b"*", b"(", b",", b"&")):
            continue  # declared, or a pointer on its way
        number = bisect_left(leaders, (at, at)) - 1
        led = number >= 0 and at < leaders[number][1]
        by_all = _in_atomic(source, at)
        if by_all or source.at(end) in _WRITES:
            stored = source.until(at, *_ENDS), index, led or (by_all and volatile)
            if source.at(end) == b"=" or by_all:
                continue
        if led or not written:
            continue
        if written.get(index, volatile or _beside(index, written)):
            return at
    return None


_WRITES = _ASSIGNMENTS | {b"-=", b"++", b"--"}
_BESIDE = re.compile(rb"\[\s*(\w+(?:\.x)?)\s*(?:\^|[+-]\s*\d+\s*\])")


def _beside(index: bytes, written: dict[bytes, bool]) -> bool:
    """True for `[t ^ d]` and `[t + 1]` where `[t]` alone is written."""
    match = _BESIDE.match(index)
    return match is not None and set(written) == {b"[" + match[1] + b"]"}


def _of_stride(source: CudaSource, index: bytes, at: int) -> bytes:
    """`[k]` for `[k + 1]` where `k` goes by whole parts of a thread's own, `k = threadIdx.x * 4`; else the index."""
    match = _AHEAD.match(index)
    places = between(source.index.get(match[1], []), max(0, at - _NEAR), at) if match else []
    set_at = next((place for place in reversed(places) if source.at(place + 1) == b"="), None)
    if match is None or set_at is None:
        return index
    value = source.texts[set_at + 2 : source.until(set_at, b";")]
    width = integer(value[-1]) if len(value) > 2 and value[-2] == b"*" else None
    # Of `threadIdx.x / 8 * 4` eight threads have one part, of `threadIdx.y * 4` a whole row.
    numbered = any(word == b"threadIdx" and value[at + 2 : at + 3] == [b"x"] for at, word in enumerate(value))
    own = numbered and _DIVIDES.isdisjoint(value) and width is not None and width > int(match[2])
    return b"[" + match[1] + b"]" if own else index


_DIVIDES = frozenset((b"/", b"%", b">>", b"&"))
_NEAR = 400
"""Tokens in which a loop's head is looked for."""
_AHEAD = re.compile(rb"\[\s*(\w+)\s*\+\s*(\d+)\s*\]")


def _in_atomic(source: CudaSource, at: int) -> bool:
    """True for `atomicAdd((int *)&q[i], 1)`."""
    back = at - 1
    while back > at - 8 and source.at(back) in (b"&", b")", b"*", b"int", b"unsigned", b"(", b"float", b"uint"):
        back -= 1
    return source.at(back).startswith(b"atomic")


def _meets(source: CudaSource, at: int) -> bool:
    """True at what orders accesses, by its name: `__syncwarp()`, `SYNC_WARP;`, another file's `bar_sync()`."""
    called = source.at(at + 1) == b"(" or (source.at(at + 1) == b";" and source.at(at - 1) in (b";", b"{", b"}"))
    if not called or _MEETS.fullmatch(source.at(at)) is None:
        return False
    return source.at(at) not in _own_functions(source)


@lru_cache(maxsize=2)
def _own_functions(source: CudaSource) -> frozenset[bytes]:
    return frozenset(source.at(function.name) for function in source.functions if function.body is not None)


def _exchanged(source: CudaSource, at: int, volatile: bool) -> Finding:
    return finding(
        RULE,
        source,
        at,
        f"{source.at(at).decode('utf-8', 'replace')} passes values between lanes with no barrier between write and "
        + (
            "read: its accesses are volatile and the lanes of a wavefront run in step, so the result is kept"
            if volatile
            else "read: clang may read before the other lane writes, as it is not volatile"
        ),
        applicability=Applicability.SAFE if volatile else Applicability.REVIEW,
        confidence=Confidence.MEDIUM,
        fix="put __syncwarp() between the write and the read, in the CUDA source as well",
    )


_ENDS = (b";", b"}")
_WARP_WIDE = frozenset((b"32", b"16", b"warpSize", b"WARP_SIZE", b"WARPSIZE", b"kWarpSize"))


def _is_written(source: CudaSource, array: bytes, inside: range) -> bool:
    """True for `array[...] = ...` or `array[...] += ...` among the tokens."""
    return any(
        source.at(i + 1) == b"[" and source.at(source.pairs.get(i + 1, i) + 1) in _ASSIGNMENTS
        for i in between(source.index.get(array, []), inside.start, inside.stop)
    )


def _step(source: CudaSource, at: int) -> tuple[int, int, int, bytes] | None:
    """(first token, signed distance, last token, array) of `s[i] ... s[i + 8] ... ;` at the distance's number."""
    if source.at(at) not in _DISTANCES or source.at(at + 1) != b"]" or source.at(at - 1) not in (b"+", b"-"):
        return None
    opening = source.pairs.get(at + 1)
    if opening is None or not source.is_ident(opening - 1):
        return None
    array = source.at(opening - 1)
    first = source.since(opening - 1, b";", b"{", b"}")
    # Only where the statement writes the array, `s[i] += ...` or `s[i] = ... s[i] ...`, or the next one does:
    # `v += s[i - 1]; s[i] = v;`.
    end = source.until(at, *_ENDS)
    after = range(end + 1, source.until(end + 1, *_ENDS)) if source.at(end) == b";" else range(0)
    writes = _is_written(source, array, range(first, opening - 1)) or _is_written(source, array, after)
    distance = int(source.at(at)) * (1 if source.at(at - 1) == b"+" else -1)
    return (first, distance, at + 1, array) if writes else None


def _continues(distance: int, last: int) -> bool:
    """Halving for a reduction, doubling for a scan; the same distance twice is one step written for two arrays."""
    return distance == last or (distance > 0 and 2 * distance == last) or (distance < 0 and distance == 2 * last)


def _finding(
    source: CudaSource, context: Context, steps: list[tuple[int, int, int, bytes]]
) -> Iterator[tuple[bytes, Finding]]:
    if len({distance for _, distance, _, _ in steps}) < _LEAST_STEPS:
        return
    first, array = steps[0][0], steps[0][3]
    if not _is_private(source, array, first):
        yield array, _report(source, context, first, array, steps[-1][2])


def _report(source: CudaSource, context: Context, first: int, array: bytes, last: int) -> Finding:
    volatile = _is_volatile(source, array, first)
    kept = volatile and _is_called(source, context, first)
    return finding(
        RULE,
        source,
        first,
        f"{array.decode('utf-8', 'replace')} is combined across a warp without barriers: "
        + (
            "its accesses are volatile and the lanes of a wavefront run in step, so the result is kept"
            + ("" if kept else " where the threads that call this are those of one warp")
            if volatile
            else "the compiler may reorder these accesses, which are not volatile"
        ),
        last=last,
        applicability=Applicability.SAFE if kept else Applicability.REVIEW,
        confidence=Confidence.MEDIUM if volatile else Confidence.HIGH,
        fix="put rocport::syncwarp() after each step (and read before it what the step writes), or use a shuffle",
    )


def _is_called(source: CudaSource, context: Context, at: int) -> bool:
    """True in a kernel, and in a function that the file calls or that a file which includes this one may call."""
    function = source.enclosing(at)
    if function is None or b"__global__" in function.specifiers:
        return True
    if source.path.rpartition("/")[2] in context.project.included:
        return True
    places = source.find(source.at(function.name))
    return any(place != function.name and source.at(place + 1) in (b"(", b"<") for place in places)


def _is_volatile(source: CudaSource, array: bytes, before: int) -> bool:
    """True when the last declaration of the array before the place says volatile: of its function, or of the file
    where the function has none among its parameters."""
    function = source.enclosing(before)
    begin = function.params[0] if function is not None and function.body is not None else 0
    known = [
        (at, volatile) for at, volatile in _declared(source) if source.at(at) == array and (at < before or at < begin)
    ]
    inside = [volatile for at, volatile in known if at >= begin]
    if inside or function is None:
        return bool(inside) and inside[-1]
    parameters = source.texts[slice(*function.params)]
    return bool(known) and known[-1][1] and array not in parameters


def _is_private(source: CudaSource, array: bytes, at: int) -> bool:
    """True where a thread combines what it has for itself: an array of its function, `float sum[32];`, or the elements
    that a loop counts through, `for (int i = 0; i < 8; i++) sum[i] += sum[i + 8];`."""
    function = source.enclosing(at)
    if function is None or function.body is None:
        return False
    for place in between(source.index.get(array, []), function.body[0], at):
        if source.at(place + 1) == b"[" and source.is_ident(place - 1):
            words = source.texts[source.since(place, b";", b"{", b"}") : place]
            return _SHARED.isdisjoint(words)
    index = source.at(source.until(at, b"[") + 1)
    for head in between(source.index.get(b"for", []), function.body[0], at):
        close = source.pairs.get(head + 1, head)
        counted = source.texts[close - 2 : close] in ([b"++", index], [index, b"++"])
        start = source.until(head + 2, b"=", b";")
        if counted and source.at(start) == b"=" and source.at(start + 1).isdigit() and at <= _body_end(source, close):
            return True
    return False


def _body_end(source: CudaSource, close: int) -> int:
    """The last token of what follows a head that closes there: a block, or one statement."""
    return source.pairs.get(close + 1, close) if source.at(close + 1) == b"{" else source.until(close + 1, *_ENDS)


_SHARED = frozenset((b"__shared__", b"extern", b"volatile", b"return"))

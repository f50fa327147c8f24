"""A shift by 32: 0 on NVIDIA GPUs, unchanged on AMD's, undefined in C++.

NVIDIA's shifts take the amount as it is, so that `1u << 32` is 0, `(1u << n) - 1u` names all lanes for n = 32, and
`a >> s | b << (32 - s)` is `a` for s = 0. AMD's take the amount modulo 32: the mask is empty, and all of `b` is in. The
port calls a function that shifts as NVIDIA's instructions do. Found are shifts by `32 - n` and `64 - n`, but those of a
rotation, and masks of the first or last lanes whose number nothing bounds below 32; a lane's own number (`1u << lane`)
never is 32, and `x & ((1 << n) - 1)` takes bits of a number where `x` is an int and no ballot. SAFE; REVIEW where what
is shifted has no plain bounds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert, operand_before
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource, between

_ONE = frozenset({b"1", b"1u", b"1U", b"0x1", b"1ul", b"1UL"})
_FULL = re.compile(rb"(?:0[xX][fF]{8}|0)[uU][lL]?\Z|0[xX][fF]{8}\Z")
_AFTER = (b")", b"]", b"}", b",", b";", b"?", b":", b"&", b"|", b"^", b"&&", b"||")
_BEFORE = (
    *(
        b"(",
        b"{",
        b"[",
        b",",
        b";",
        b"}",
        b"=",
        b"|=",
        b"&=",
        b"^=",
        b"|",
        b"&",
        b"^",
        b"||",
        b"&&",
        b"?",
        b":",
        b"return",
    ),
)
"""What a shift may stand behind, so that its first operand is no part of a product or a sum."""
_COMPARISONS = frozenset({b"==", b"!=", b"<", b">", b"<=", b">=", b"?", b"%", b"&"})
_SMALL = re.compile(rb"(?i)&\s*(?:31|0x1f|\(?\w+\s*-\s*1)\b|%\s*(?:32|\w*warp\w*)|__(?:ffs|clz)|lane|threadIdx")
_BELOW = re.compile(rb"(?i)lane|tid|thread|rank|bit|shift|idx|index|digit|log|pos|offset|^[ijk]$")
_LANES = re.compile(rb"(?i)ballot|mask|active|match|vote|lanes|peers|0[xX][fF]{8}")

RULE = Rule(
    name="shift-width",
    summary="shift by a number that may be 32",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset({b"__device__", b"__global__"}),
    examples=(
        Example(
            "__device__ unsigned first(int n) { return (1u << n) - 1u; }\n",
            contains=("(rocport::shift_left(1u, n)) - 1u",),
        ),
        Example(
            "__device__ unsigned last(int n) { return 0xffffffffu >> (32 - n); }\n",
            contains=("rocport::shift_right(0xffffffffu, (32 - n))",),
        ),
        Example(
            "__device__ unsigned take(const unsigned *w, int i, int s) {\n"
            "  return (w[i] >> s) | (w[i + 1] << (32 - s));\n}\n",
            contains=("(w[i] >> s) | (rocport::shift_left(w[i + 1], (32 - s)))",),
        ),
        Example(
            "__device__ uint64_t take(uint64_t a, uint32_t b, int s) { return a | (uint64_t)b << (64 - s); }\n",
            contains=("a | rocport::shift_left((uint64_t)b, (64 - s))",),
        ),
        Example("__device__ int f(int a, int s) { return a + 1 << (32 - s); }\n"),
        Example(
            "__device__ unsigned above(int n) { return ~0u << n | 0xffffffffu >> n; }\n",
            contains=("rocport::shift_left(~0u, n) | rocport::shift_right(0xffffffffu, n)",),
        ),
        Example("__device__ int f(int n) { unsigned b = __ballot_sync(~0u, n); return __popc(b & ((1 << n) - 1)); }\n"),
        Example("__device__ int f(int n) { unsigned b = __ballot_sync(~0u, n); return __popc(((1 << n) - 1) & b); }\n"),
        Example("__device__ bool f(int m, int n) { m = __activemask(); return m == (m & ((1 << n) - 1)); }\n"),
        Example("__device__ int f(int m, int n) { return m >> n | ((1 << n) - 1); }\n"),
    ),
    clean=(
        "__device__ int f(int i, int e) { return __popc(((1 << e) - 1) & i); }\n",
        "__device__ unsigned below(int lane) { return (1u << lane) - 1u; }\n",
        "__device__ unsigned f(int n) { return (1u << (n & 31)) - 1u; }\n",
        "__device__ unsigned f() { return (1u << 5) - 1u; }\n",
        "__device__ int f(int i, int e) { return __popc(i & ((1 << e) - 1)); }\n",
        "unsigned f(int n) { return (1u << n) - 1u; }\n",
        "__device__ unsigned rotated(unsigned x, int n) { return (x << n) | (x >> (32 - n)); }\n",
        "__device__ unsigned above(int lane) { return ~0u << lane; }\n",
        "__device__ unsigned f(int n) { return 0u << n; }\n",
        "template <int N> __device__ unsigned f(unsigned x) { return x >> (32 - 5); }\n",
        "constexpr int BITS = 5;\n__device__ unsigned f(unsigned x) { return x >> (32 - BITS); }\n",
        "__device__ unsigned long long f(int n) { return (1ull << n) - 1; }\n",
        "__device__ unsigned f() { int l = threadIdx.x & 31, n = 3; return (1u << l) - 1u; }\n",
        "__device__ unsigned f() { int l = threadIdx.x % warpSize; return (1u << l) - 1u; }\n",
        "__device__ unsigned f(int n) { return n == 32 ? ~0u : (1u << n) - 1u; }\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/parallel-thread-execution/#logic-and-shift-instructions-shl (clamped)",
        "AMD CDNA3 ISA: V_LSHLREV_B32 takes the low 5 bits of the amount",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.positions(b"<<"):
        if source.at(position - 1) not in _ONE or source.at(position - 2) != b"(":
            continue
        close = source.pairs.get(position - 2)
        if close is None or source.at(close + 1) != b"-" or source.at(close + 2) not in _ONE:
            continue
        if _is_unbounded(source, position + 1, close) and not _takes_low_bits(source, position, close + 2):
            yield from _report(source, (position - 1, position), position, close - 1)
    for number in sorted(at for width in (b"32", b"64") for at in source.index.get(width, ())):
        open_ = number - 1
        close = source.pairs.get(open_)
        operator = source.operator_before(open_)
        if source.at(open_) != b"(" or close is None or source.at(number + 1) != b"-" or operator not in (b"<<", b">>"):
            continue
        shift = open_ - (2 if source.at(open_ - 1) == b">" else 1)
        if _is_asked(source, number + 2, close) and not _rotates(source, shift, operator):
            yield from _report(source, _shifted(source, shift), shift, close)

    for full in sorted(at for text, places in source.index.items() if _FULL.match(text) for at in places):
        operator = source.operator(full + 1)
        amount = full + (3 if operator == b">>" else 2)
        if source.at(full)[:2] not in (b"0x", b"0X") and source.at(full - 1) != b"~":
            continue
        if operator in (b"<<", b">>") and source.at(amount + 1) in _AFTER and _is_unbounded(source, amount, amount + 1):
            yield from _report(source, _shifted(source, full + 1), full + 1, amount)


def _is_asked(source: CudaSource, first: int, last: int) -> bool:
    """True for an amount that the program computes: more than numbers and names of constants."""
    return any(source.is_ident(at) and not source.at(at).isupper() for at in range(first, last))


def _shifted(source: CudaSource, shift: int) -> tuple[int, int] | None:
    """The tokens [first, last) of what is shifted, its cast with it; None where more may belong to it."""
    if source.at(shift - 1)[:1].isdigit():
        found: tuple[int, int] | None = (shift - 1 - (source.at(shift - 2) == b"~"), shift)
    else:
        found = operand_before(source, shift)
    if found is None:
        return None
    first = found[0]
    open_ = source.pairs.get(first - 1)
    if source.at(first - 1) == b")" and open_ is not None and all(map(source.is_ident, range(open_ + 1, first - 1))):
        first = open_
    return (first, shift) if source.operator_before(first) in _BEFORE else None


def _rotates(source: CudaSource, shift: int, operator: bytes) -> bool:
    """True where the statement shifts the same operand the other way: all of it is there for an amount of 32, too."""
    shifted = operand_before(source, shift)
    if shifted is None or shifted[1] - shifted[0] > _FAR:
        return False
    other = b"<<" if operator == b">>" else b">>"
    words = tuple(source.texts[shifted[0] : shifted[1]])
    return (other, words) in _shifts(source, source.since(shift, *_ENDS))


_ENDS = (b";", b"{", b"}")
_FAR = 64
"""Tokens: an operand or a value that is longer is not read to its end."""


def _statement(source: CudaSource, first: int) -> range:
    """The tokens from one to the next semicolon or brace."""
    last = first
    while source.at(last) not in (*_ENDS, b""):
        last += 1
    return range(first, last)


@lru_cache(maxsize=16)
def _shifts(source: CudaSource, first: int) -> set[tuple[bytes, tuple[bytes, ...]]]:
    """What the statement that begins at a token shifts, and by which operator."""
    found: set[tuple[bytes, tuple[bytes, ...]]] = set()
    for at in _statement(source, first):
        operator = source.operator(at) if source.at(at) in (b"<<", b">") else b""
        shifted = operand_before(source, at) if operator in (b"<<", b">>") else None
        if shifted is not None and shifted[1] - shifted[0] <= _FAR:
            found.add((operator, tuple(source.texts[shifted[0] : shifted[1]])))
    return found


def _takes_low_bits(source: CudaSource, position: int, last: int) -> bool:
    """True for `x & ((1 << n) - 1)`, the last n bits of an int of the function's: it has no 32 of them to give.

    An unsigned number, a ballot or a mask of lanes, and what is no plain name, may have 32.
    """
    open_ = position - 3
    if source.at(position - 1) != b"1" or source.at(open_) != b"(" or source.at(last + 1) != b")":
        return False
    before, behind = source.at(open_ - 1), source.at(last + 2)
    name = source.at(open_ - 2) if before == b"&" else source.at(last + 3) if behind == b"&" else b""
    return name != b"" and not _LANES.search(name) and _is_int(source, name, position)


def _is_int(source: CudaSource, name: bytes, before: int) -> bool:
    """True where the function declares the name as an int, and nothing that names lanes is given to it."""
    function = source.enclosing(before)
    begin = function.params[0] if function is not None else 0
    ints, lanes = _declared(source, name)
    return bool(between(ints, begin + 1, before)) and not between(lanes, begin + 1, before)


@lru_cache(maxsize=16)
def _declared(source: CudaSource, name: bytes) -> tuple[list[int], list[int]]:
    """Where a name is declared as an int, and where what names lanes is given to it."""
    places = source.index.get(name, ())
    given = [at for at in places if source.at(at + 1) in (b"=", b"|=", b"&=", b"^=")]
    ints = [at for at in places if source.at(at - 1) == b"int" and source.at(at - 2) != b"unsigned"]
    return ints, [at for at in given if _LANES.search(_value(source, at + 2))]


def _value(source: CudaSource, first: int) -> bytes:
    """What stands from a token to the end of its statement."""
    last = next((at for at in range(first, first + _FAR) if source.at(at) in (*_ENDS, b"")), first + _FAR)
    return source.text(first, last) if first < last else b""


def _is_unbounded(source: CudaSource, first: int, last: int) -> bool:
    """True for one plain name that is no lane's number and that nothing in the statement compares with 32."""
    if last - first != 1 or not source.is_ident(first) or _BELOW.search(source.at(first)):
        return False
    name = source.at(first)
    compared = _compared(source, source.since(first, *_ENDS))
    return compared.get(name, first + 1) > first and not _is_bounded(source, name, first)


@lru_cache(maxsize=16)
def _compared(source: CudaSource, first: int) -> dict[bytes, int]:
    """Where the statement that begins at a token first compares a name, or takes some of its bits."""
    found: dict[bytes, int] = {}
    for at in _statement(source, first):
        if source.is_ident(at) and {source.operator_before(at), source.operator(at + 1)} & _COMPARISONS:
            found.setdefault(source.at(at), at)
    return found


def _is_bounded(source: CudaSource, name: bytes, before: int) -> bool:
    """True where the function gives the name a lane's number or a bit's: `l = threadIdx.x & 31`, `__ffs(m) - 1`."""
    function = source.enclosing(before)
    begin = function.params[0] if function is not None else 0
    given, bounded = _bounds(source, name)
    near = bisect_right(given, begin)
    return near < len(given) and bounded[near] <= source.starts[before]


@lru_cache(maxsize=16)
def _bounds(source: CudaSource, name: bytes) -> tuple[list[int], list[int]]:
    """Where a name is given something, and from which byte on it is bounded by what stands there or after."""
    given = [at for at in source.index.get(name, ()) if source.at(at + 1) == b"="]
    bounded: list[int] = []
    least = len(source.data)
    for at in reversed(given):
        match = _SMALL.search(_value(source, at + 2))
        if match is not None:
            least = min(least, source.starts[at + 2] + match.end())
        bounded.append(least)
    return given, bounded[::-1]


def _report(source: CudaSource, shifted: tuple[int, int] | None, shift: int, last: int) -> Iterator[Finding]:
    """The shift at a token by what ends with `last`, of what stands in [first, last)."""
    if not source.in_device(shift) or amd_only(source, shift):
        return
    right = source.at(shift) == b">"
    edits = (
        []
        if shifted is None
        else [
            insert(source.starts[shifted[0]], b"rocport::shift_right(" if right else b"rocport::shift_left("),
            Edit(Span(source.end(shift - 1), source.end(shift + right)), b","),
            insert(source.end(last), b")"),
        ]
    )
    yield finding(
        RULE,
        source,
        shift if shifted is None else shifted[0],
        "a shift by 32 is 0 on NVIDIA GPUs and leaves the value on AMD's, which take the amount modulo 32",
        last=last,
        edits=edits,
        headers=["rocport_compat.h"] if edits else [],
        applicability=Applicability.SAFE if edits else Applicability.REVIEW,
        confidence=Confidence.MEDIUM,
        fix="" if edits else "treat 32 by itself, or shift 1ull",
    )

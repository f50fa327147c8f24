"""A shift by 32: 0 on NVIDIA GPUs, unchanged on AMD's, undefined in C++.

NVIDIA's shifts take the amount as it is, so that `1u << 32` is 0 and `(1u << n) - 1u` names all lanes for n = 32. AMD's
take the amount modulo 32: `1u << 32` is 1 and the mask is empty. Found are masks of the first lanes whose number of
lanes nothing bounds below 32; a lane's own number (`1u << lane`) never is 32, and `x & ((1 << n) - 1)` takes bits of a
number where `x` is an int and no ballot. REVIEW.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_ONE = frozenset({b"1", b"1u", b"1U", b"0x1", b"1ul", b"1UL"})
_FULL = re.compile(rb"0[xX][fF]{8}[uU]?[lL]?\Z")
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
        Example("__device__ unsigned first(int n) { return (1u << n) - 1u; }\n"),
        Example("__device__ unsigned last(int n) { return 0xffffffffu >> (32 - n); }\n"),
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
        "__device__ unsigned f(int n) { return n < 32 ? 0xffffffffu >> (32 - n) : 0u; }\n",
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
            yield from _report(source, position - 2, close + 2)
    for position in sorted(at for text, places in source.index.items() if _FULL.match(text) for at in places):
        if source.at(position + 1) == b">" and source.at(position + 2) == b">" and source.at(position + 3) == b"(":
            close = source.pairs.get(position + 3)
            inside = source.texts[position + 4 : close] if close is not None else []
            if inside[:2] == [b"32", b"-"] and close is not None and _is_unbounded(source, position + 6, close):
                yield from _report(source, position, close)


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
    places = [at for at in source.index.get(name, ()) if begin < at < before]
    for at in places:
        end = next((to for to in range(at, before) if source.at(to) in (b";", b"{", b"}")), before)
        if source.at(at + 1) in (b"=", b"|=", b"&=", b"^=") and _LANES.search(source.text(at + 2, end)):
            return False
    return any(source.at(at - 1) == b"int" and source.at(at - 2) != b"unsigned" for at in places)


def _is_unbounded(source: CudaSource, first: int, last: int) -> bool:
    """True for one plain name that is no lane's number and that nothing in the statement compares with 32."""
    if last - first != 1 or not source.is_ident(first) or _BELOW.search(source.at(first)):
        return False
    name = source.at(first)
    at = first
    while at > 0 and source.at(at) not in (b";", b"{", b"}"):
        if source.at(at) == name and {source.operator_before(at), source.operator(at + 1)} & _COMPARISONS:
            return False
        at -= 1
    return not _is_bounded(source, name, first)


def _is_bounded(source: CudaSource, name: bytes, before: int) -> bool:
    """True where the function gives the name a lane's number or a bit's: `l = threadIdx.x & 31`, `__ffs(m) - 1`."""
    function = source.enclosing(before)
    begin = function.params[0] if function is not None else 0
    for at in source.index.get(name, ()):
        if begin < at < before and source.at(at + 1) == b"=":
            end = at + 2
            while end < before and source.at(end) not in (b";", b"{", b"}"):
                end += 1
            if _SMALL.search(source.text(at + 2, end)):
                return True
    return False


def _report(source: CudaSource, first: int, last: int) -> Iterator[Finding]:
    if source.in_device(first) and not amd_only(source, first):
        yield finding(
            RULE,
            source,
            first,
            "a shift by 32 is 0 on NVIDIA GPUs and leaves the value on AMD's, which take the amount modulo 32",
            last=last,
            confidence=Confidence.MEDIUM,
            fix="treat 32 by itself, or shift 1ull",
        )

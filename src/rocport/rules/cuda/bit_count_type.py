"""`__popc(m) - 1 < lane`: CUDA's `__popc` is an int, HIP's an unsigned number, and its `__umul24` an int.

`__popc` and `__popcll` return `int` in CUDA and `unsigned int` in HIP, `__umul24` returns `unsigned int` in CUDA and
`int` in HIP. Where such a value is subtracted from, divided, compared with a variable, becomes a float or chooses an
overload, the type decides the result: `float(__popc(a) - __popc(b))` is 4294967295 for -1. The port converts the value
to CUDA's type there: SAFE, the bits are the same. Where it is only stored, added up or counts as an index, nothing is
edited. A pointer to one of these functions, or a template argument, has another type in HIP: REVIEW.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.bind import Owner, binder
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_TYPES = {b"__popc": b"(int)", b"__popcll": b"(int)", b"__umul24": b"(unsigned int)"}
_DECIDES = frozenset(
    b"- / % < > <= >= << >> * auto float double min max fmin fmax fminf fmaxf fabsf abs decltype static_cast".split()
)
_ENDS = frozenset(b"; { }".split())
_FAR = 100
"""Tokens of a statement that are looked through on each side."""

RULE = Rule(
    name="bit-count-type",
    summary="number of another type than CUDA's",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(_TYPES),
    examples=(
        Example(
            "__device__ bool f(unsigned m, int lane) { return __popc(m) - 1 < lane; }\n",
            contains=("return (int)__popc(m) - 1 < lane;",),
        ),
        Example(
            "__device__ float f(unsigned a, unsigned long long b) { return float(__popc(a) - __popcll(b)); }\n",
            contains=("float((int)__popc(a) - (int)__popcll(b))",),
        ),
        Example(
            "#define LAST(m) (__popc(m) - 1)\n"
            "__device__ int f(unsigned m) { auto n = __popc(m); return max(n, -1); }\n",
            contains=("#define LAST(m) ((int)__popc(m) - 1)", "auto n = (int)__popc(m);"),
        ),
        Example(
            "__device__ size_t f(unsigned a, unsigned b) { size_t n = __umul24(a, b); return n; }\n",
            contains=("size_t n = (unsigned int)__umul24(a, b);",),
        ),
        Example("__device__ int (*count)(unsigned) = __popc;\n"),
    ),
    clean=(
        "__device__ int f(unsigned m, int lane) { int n = __popc(m & ((1u << lane) - 1)); return n; }\n",
        "__device__ int f(unsigned m, int base) { return base + __popc(m); }\n",
        "__device__ bool f(unsigned m) { return __popc(m) > 3; }\n",
        "struct S { int __popc(int m); };\n__device__ int f(S s, int m) { return s.__popc(m) - 1; }\n",
        "__device__ int f(unsigned m) { return (int)__popc(m) - 1; }\n",
    ),
    sources=(
        "hip/amd_detail/amd_device_functions.h of ROCm 6.4",
        "https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/group__CUDA__MATH__INTRINSIC__INT.html",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = binder(source, context)
    for position in source.find(*_TYPES):
        name = source.at(position)
        if source.at(position - 1) in (b".", b"->") or amd_only(source, position):
            continue
        if bound.bind(position).owner is not Owner.CUDA or _declares(source, position):
            continue
        call = source.call(position)
        said = name.decode()
        mine = _TYPES[name].decode().strip("()")
        if call is None:
            message = f"{said} returns {mine} in CUDA and not in HIP: a pointer to it has another type"
            yield finding(RULE, source, position, message, fix="pass a function of your own that calls it")
        elif source.texts[position - 1 : position] != [b")"] and _decides(source, position, call.close):
            message = f"{said} is {mine} in CUDA and not in HIP: converted, as its type decides the result"
            yield finding(
                RULE,
                source,
                position,
                message,
                last=call.close,
                edits=[insert(source.starts[position], _TYPES[name])],
                applicability=Applicability.SAFE,
            )


def _declares(source: CudaSource, position: int) -> bool:
    """True for a declaration `int __popc(unsigned)`, a directive's own name, and what is no use."""
    directive = source.directive_of(position)
    if directive is not None and position == directive.first + 2:
        return True
    before = source.at(position - 1)
    return source.is_ident(position - 1) and before not in (b"return", b"else", b"case")


def _decides(source: CudaSource, position: int, close: int) -> bool:
    """True where something in the statement, outside of the call, takes the type into account."""
    if source.at(position) == b"__umul24":
        return True  # what it is stored in may be wider
    directive = source.directive_of(position)
    found: set[bytes] = set()
    at = position - 1
    while position - at < _FAR and source.at(at) not in _ENDS and source.directive_of(at) is directive:
        if source.at(at) == b")" and source.at(source.pairs.get(at, at) - 1) in _TYPES:
            at = source.pairs[at]
        found.add(source.at(at))
        at -= 1
    at = close + 1
    while at - close < _FAR and source.at(at) not in _ENDS | {b""} and source.directive_of(at) is directive:
        if source.at(at) in _TYPES and source.at(at + 1) == b"(":
            at = source.pairs.get(at + 1, at)
        elif not (source.at(at) in (b"<", b">", b"<=", b">=") and source.at(at + 1)[:1].isdigit()):
            found.add(source.at(at))
        at += 1
    return bool(found & _DECIDES)

"""`atomicAdd` on half and bfloat16, `__ldg` on bfloat16, `ushort4` and PyTorch's halves are overloads that HIP lacks.
The names exist for other types, so the calls stay as they are and the port includes a header with the missing
overloads: compare-and-swap loops with CUDA's result. A HIP release, or the program itself, that declares such an
overload is preferred to the header's. A program's own `fma` or `pow` for these types meets templates of clang's, which
the header keeps out of the way. Right everywhere; slower than a hardware atomic where a target has one.

A cast from half to bfloat16, or back, is ambiguous in HIP. Where a file's units have both types, a cast of a variable
of one of them, or of a template parameter's type, to the other or to another parameter goes through the header.

HIP's functions of half lie in a namespace without a name, those of bfloat16 at file scope, so that `::hexp(h)` finds
the latter alone: the port calls `hexp(h)`, which finds both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from rocport.binding import Binder, binder
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace, replace_range
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import include_names

_ATOMIC = (b"atomicAdd",)
_LOAD = (b"__ldg",)
# Templates of clang's for mixed types (__clang_hip_cmath.h).
_MATH = tuple(b"atan2 copysign fdim fma fmax fmin fmod hypot nextafter pow remainder".split())
_BFLOAT16 = frozenset(
    {b"__nv_bfloat16", b"__nv_bfloat162", b"nv_bfloat16", b"nv_bfloat162", b"__hip_bfloat16", b"__hip_bfloat162"}
)
# Where one of these stands, what is loaded may be of a type that HIP has no __ldg for: bfloat16, c10::Half, ushort4.
_ANY = _BFLOAT16 | {b"template", b"c10", b"at", b"scalar_t", b"ushort4"}
_HALF = frozenset({b"__half", b"__half2", b"half", b"half2"}) | _BFLOAT16
# Functions of both types by the same name (amd_hip_fp16.h, amd_hip_bf16.h).
_PLAIN = "ceil cos exp exp10 exp2 floor log log10 log2 rcp rint rsqrt sin sqrt trunc"
_PACKED = (
    "add sub mul div fma neg max min abs eq ge gt le lt equ geu gtu leu ltu neu add2 sub2 mul2 fma2 neg2 abs2 isnan "
    "isnan2 isinf eq2 ge2 gt2 le2 lt2 beq2 bge2 bgt2 ble2 blt2 bequ2 bgeu2 bgtu2 bleu2 bltu2 bneu2"
)
_HIDDEN = frozenset(
    {f"{kind}{name}".encode() for name in _PLAIN.split() for kind in ("h", "h2")}
    | {f"__h{name}".encode() for name in _PACKED.split()}
)

RULE = Rule(
    name="half-overload",
    summary="overload for half or bfloat16 that HIP lacks",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_HALF | _HIDDEN | {*_LOAD},
    examples=(
        Example(
            "#include <cuda_fp16.h>\n__device__ void f(__half2 *a, __half2 v) { atomicAdd(a, v); }\n",
            contains=('#include "rocport_half.h"', "atomicAdd(a, v)"),
        ),
        Example(
            "#include <cuda_bf16.h>\n__device__ __nv_bfloat16 f(const __nv_bfloat16 *a) { return __ldg(a); }\n",
            contains=('#include "rocport_half.h"',),
        ),
        Example(
            "#include <cuda_bf16.h>\ntemplate <class T> __device__ T fma(T a, T b, T c) { return a * b + c; }\n"
            "template <> __device__ __nv_bfloat162 fma(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) "
            "{ return __hfma2(a, b, c); }\n",
            contains=('#include "rocport_half.h"', "__hip_bfloat162 fma(__hip_bfloat162 a"),
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ __half fma(__half a, __half b, __half c) noexcept { return a * b; }\n",
            contains=('#include "rocport_half.h"',),
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ auto pow(__half a, __half b) -> __half { return a; }\n",
            contains=('#include "rocport_half.h"',),
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ __half fmod(__half a, __half b);\n",
            contains=('#include "rocport_half.h"',),
        ),
        Example(
            "template <class T> __device__ T f(const T *a) { return __ldg(a + 1); }\n",
            contains=('#include "rocport_half.h"', "__ldg(a + 1)"),
        ),
        Example(
            "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\ntemplate <class T, class U> __device__ T f(U v, U *p) {\n"
            "  T a = (T)v, b = T(p[0]);\n  return a + static_cast<T>(*p) + b;\n}\n"
            "__device__ __half g(__nv_bfloat16 v) { return __half(v); }\n",
            contains=("T a = rocport::cast<T>(v), b = rocport::cast<T>(p[0]);", "cast<T>(*p)", "cast<__half>(v)"),
        ),
        Example("__device__ ushort4 f(const ushort4 *a) { return __ldg(a); }\n", contains=("rocport_half.h",)),
        Example(
            "struct Exp { __device__ __half operator()(__half h) { return ::hexp(h); } };\n",
            contains=("return hexp(h);",),
        ),
    ),
    clean=(
        "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\ntemplate <class T> __device__ T f(T a, float b, __half h) {\n"
        "  return T(a) + T(b) + static_cast<__half>(h) + (T)(a + b) + static_cast<float>(h);\n}\n",
        "#include <cuda_fp16.h>\ntemplate <class T, class U> __device__ T f(U v) { return static_cast<T>(v); }\n",
        "#include <cuda_fp16.h>\n__device__ float f(__half a) { float x = 1; x += fma(float(a), x, x); return x; }\n",
        "#include <cuda_bf16.h>\n__device__ float f(__nv_bfloat16 a) { return fma(float(a), 2.f, 1.f); }\n",
        "#include <cuda_fp16.h>\n__device__ __half f(const __half *a) { return __ldg(a); }\n",
        "__device__ void f(float *a) { atomicAdd(a, 1.0f); }\n",
        "namespace my { __device__ float hexp(float); }\n__device__ float f(float a) { return my::hexp(a); }\n",
        "struct S { __device__ float hexp(float a) { return ::hexp(a); } };\n",
    ),
    sources=("hip/amd_detail/amd_hip_atomic.h, amd_hip_fp16.h and amd_hip_bf16.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from _qualified(source)
    yield from _casts(source, context)
    for position in sorted(source.find(*_MATH)) if not _HALF.isdisjoint(source.names) else ():
        call = source.call(position)
        if call is not None and source.directive_of(position) is None and _is_declared(source, position, call.close):
            yield finding(
                RULE,
                source,
                position,
                f"{source.texts[position].decode()} of the project's: the port keeps clang's templates out of its way",
                headers=["rocport_half.h"],
            )
            return
    wanted = list(_ATOMIC) if not _HALF.isdisjoint(source.names) else []
    if not _ANY.isdisjoint(source.names):
        wanted += _LOAD
    for position in sorted(source.find(*wanted)):
        if source.at(position + 1) == b"(" and source.at(position - 1) not in (b".", b"->"):
            yield finding(
                RULE,
                source,
                position,
                f"{source.texts[position].decode()}: the port brings the overloads that HIP lacks",
                headers=["rocport_half.h"],
            )
            return


_NARROW = {name: name.lstrip(b"_")[:2] for name in (b"__half", b"half", b"__nv_bfloat16", b"nv_bfloat16")}
_BESIDE_TYPE = frozenset({b"*", b"&", b"const", b"__restrict__", b"__restrict"})
_BEHIND_CAST = frozenset({b";", b",", b")", b"+", b"-", b"*", b"/"})
_BEFORE_CAST = frozenset({b"return", b"=", b",", b"(", b"{", b"?", b":", b"+", b"-", b"*", b"/", b"+="})


def _casts(source: CudaSource, context: Context) -> Iterator[Finding]:
    """Casts whose operand is a name, or an element of one, and whose type may be the other of the two."""
    if not _has_both(source, context):
        return
    bound, parameters = binder(source, context), _parameters(source)
    for to in sorted(source.find(*parameters, *(_NARROW.keys() & source.index.keys()))):
        spelled = _cast(source, to)
        if spelled is None:
            continue
        start, first, last = spelled
        wanted, given = source.at(to), _declared_type(source, bound, first, last)
        kinds = [_NARROW.get(name) or (b"" if name in parameters else None) for name in (wanted, given)]
        if None in kinds or wanted == given or (kinds[0] == kinds[1] != b""):
            continue
        closed = source.at(last) == b")" and source.at(first - 1) == b"("
        edits = [replace_range(source, start, first, b"rocport::cast<" + _HIP.get(wanted, wanted) + b">(")]
        yield finding(
            RULE,
            source,
            start,
            f"a cast to {wanted.decode()} may be one between half and bfloat16, which is ambiguous in HIP",
            last=last - 1 + closed,
            edits=edits if closed else [*edits, insert(source.end(last - 1), b")")],
            headers=["rocport_half.h"],
        )


def _cast(source: CudaSource, to: int) -> tuple[int, int, int] | None:
    """`static_cast<T>(v)`, `T(v)`, `(T)v` or `(T)(v)` at the type: its first token, and the operand's [first, last)."""
    before, after = source.at(to - 1), source.at(to + 1)
    if (before, after) == (b"<", b">"):
        start, open_ = to - 2, to + 2
        spelled = source.at(start) == b"static_cast"
    elif (before, after) == (b"(", b")"):
        start, open_ = to - 1, to + 2
        spelled = source.at(start - 1) in _BEFORE_CAST
    else:
        start, open_ = to, to + 1
        spelled = before in _BEFORE_CAST
    if not spelled:
        return None
    if source.at(open_) == b"(" and open_ in source.pairs:
        return start, open_ + 1, source.pairs[open_]
    last = open_ + 1 if before == b"(" and source.is_ident(open_) else open_
    last = source.pairs.get(last, last) + 1 if source.at(last) == b"[" else last
    return (start, open_, last) if last > open_ and source.at(last) in _BEHIND_CAST else None


_HIP = {b"__nv_bfloat16": b"__hip_bfloat16", b"nv_bfloat16": b"__hip_bfloat16"}


def _parameters(source: CudaSource) -> frozenset[bytes]:
    """Types that templates of the file take."""
    heads = source.find(b"class", b"typename")
    return frozenset(
        source.at(at + 1) for at in heads if source.at(at + 2) in (b",", b">", b"=") and source.is_ident(at + 1)
    )


def _has_both(source: CudaSource, context: Context) -> bool:
    """True where the units of the file include half's header and bfloat16's."""
    project = context.project
    seen = include_names(source.data)
    for path, headers in project.includes.items():
        if any("fp16" in name or "bf16" in name for name in headers) and project.together(source.path, path):
            seen.extend(headers)
    return {"cuda_fp16", "cuda_bf16"} <= {name.rpartition("/")[2].partition(".")[0] for name in seen}


def _declared_type(source: CudaSource, bound: Binder, first: int, last: int) -> bytes:
    """The word before the name in the declaration of `v`, of `p[i]` or of `*p`; empty for all else."""
    first += source.at(first) == b"*"
    whole = first + 1 == last or (source.at(first + 1) == b"[" and source.pairs.get(first + 1) == last - 1)
    if not whole or not source.is_ident(first):
        return b""
    seen = bound.scopes.visible(first)
    at = seen.position - 1 if seen is not None else _pointer(source, first) - 1
    while at > 0 and source.at(at) in _BESIDE_TYPE:
        at -= 1
    return source.at(at) if at > 0 else b""


def _pointer(source: CudaSource, position: int) -> int:
    """The last `T *p,` or `T &p)` before a token of the name: for `Scopes` it may be a product."""
    places = _pointers(source, source.at(position))
    number = bisect_left(places, position)
    return places[number - 1] if number else 0


@lru_cache(maxsize=256)
def _pointers(source: CudaSource, name: bytes) -> list[int]:
    return [
        at
        for at in source.index[name]
        if source.at(at - 1) in (b"*", b"&") and source.is_ident(at - 2) and source.at(at + 1) in (b",", b")")
    ]


def _qualified(source: CudaSource) -> Iterator[Finding]:
    positions = [position for position in source.find(*_HIDDEN) if source.at(position + 1) == b"("]
    # A name that stands without `::` too may be the project's own, which the plain call would find.
    own = {source.texts[position] for position in positions if source.at(position - 1) != b"::"}
    for position in sorted(positions):
        unscoped = source.at(position - 1) == b"::" and not source.qualified(position)
        if unscoped and source.texts[position] not in own:
            yield finding(
                RULE,
                source,
                position,
                f"::{source.texts[position].decode()} finds HIP's function of bfloat16 alone: called without ::",
                edits=[replace(source, position - 1, b"")],
            )


_NO_TYPES = frozenset(b"return else case throw and or not do co_return new delete".split())


def _is_declared(source: CudaSource, position: int, close: int) -> bool:
    """True for a definition, and for a declaration: a type stands in front, `noexcept`, `-> T`, `{` or `;` behind."""
    before = source.at(position - 1)
    typed = (source.is_ident(position - 1) and before not in _NO_TYPES) or before in (b"*", b"&", b">")
    behind = source.at(close + 1)
    if behind == b"{":
        return True
    ends = source.is_ident(position - 1) and behind == b";"
    return typed and (ends or behind in (b"noexcept", b"->", b"requires"))

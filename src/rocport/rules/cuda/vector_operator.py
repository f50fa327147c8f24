"""Programs define operators on `float3`, `int4`, ... because CUDA has none; HIP has them, and calls become ambiguous.
HIP declares the compound assignments (`+=` and so on) as members and `*` and `/` of two vectors as friends, so a
program's own operator of the same types fits a call equally well. (`+`, `-` and operators with a scalar are templates
in HIP: there the program's own is preferred, and nothing is changed.)

A definition that works component by component, as HIP's does, is left out when Clang compiles it for AMD: SAFE. (HIP's
headers give the vector types their operators only there; a host file that g++ compiles keeps the program's.) One that
computes something else, a product of quaternions, one that clamps or spares a component, is MANUAL: call it by a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import PLATFORM, leave_out_on_hip, parameters
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start
from rocport.syntax.vectors import SCALARS

_VECTOR = re.compile(rb"(?:%b)[1-4]\Z" % b"|".join(SCALARS))
_AMBIGUOUS = frozenset(
    {b"*", b"/", b"+=", b"-=", b"*=", b"/=", b"%=", b"^=", b"|=", b"&="},
)
_COUNTING = frozenset({b"++", b"--"})

RULE = Rule(
    name="vector-operator",
    summary="operator on a CUDA vector type that HIP defines too",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"operator"}),
    examples=(
        Example(
            "inline __host__ __device__ void operator+=(float2 &a, float2 b)\n{\n  a.x += b.x;\n  a.y += b.y;\n}\n",
            contains=("#if !ROCPORT_HIP", "#endif", '#include "rocport_platform.h"'),
        ),
        Example(
            "inline __device__ float3 operator*(const float3 &a, const float3 &b) {\n"
            "  return make_float3(a.x * b.x, a.y * b.y, a.z * b.z);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ void operator+=(int2 &a, int2 b) { a.x += b.x; a.y += b.y; a.x = max(a.x, 0); }\n",
            absent=("ROCPORT_HIP",),
        ),
        Example(
            "using Real3 = float3;\ntypedef float2 Complex;\n"
            "inline __device__ void operator-=(Real3 &a, Real3 b) { a.x -= b.x; a.y -= b.y; a.z -= b.z; }\n"
            "__device__ Complex operator*(Complex a, Complex b) { return make_float2(a.x * b.x, a.y * b.x); }\n",
            contains=(
                "#if !ROCPORT_HIP || !defined(__clang__)  // HIP has the same operator\ninline",
                "#endif\n__device__ Complex",
            ),
        ),
        Example("__device__ int3 &operator++(int3 &a) { ++a.x; return a; }\n", absent=("ROCPORT_HIP",)),
        Example(
            "__device__ float4 operator*(float4 p, float4 q) { return make_float4(p.w * q.x, p.x * q.y, 0, 0); }\n",
            absent=("ROCPORT_HIP",),
        ),
    ),
    clean=(
        "__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }\n",
        "__device__ float3 operator*(float3 a, float b) { return make_float3(a.x * b, a.y * b, a.z * b); }\n",
        "struct V { float x; };\n__device__ V operator*(V a, V b) { return V{a.x * b.x}; }\n",
    ),
    sources=("hip/amd_detail/amd_hip_vector_types.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    aliases: dict[bytes, bytes] | None = None
    for position in source.find(b"operator"):
        symbol, open_ = source.at(position + 1), position + 2
        if symbol not in _AMBIGUOUS | _COUNTING or source.at(open_) != b"(" or open_ not in source.pairs:
            continue
        close = source.pairs[open_]
        types = parameters(source, open_, close)
        if symbol in _COUNTING and _counts(types) and source.directive_of(position) is None:
            name = f"operator{symbol.decode()} of {types[0][0].rstrip(b'&').decode()}"
            yield finding(
                RULE,
                source,
                position,
                f"HIP's class has an {name}, which changes every component: calls are ambiguous",
                last=close,
                fix="give the function a name and call it by that",
            )
            continue
        if len(types) != 2 or source.directive_of(position) is not None:
            continue
        first, second = (type_.rstrip(b"&") for type_, _ in types)
        if aliases is None:
            aliases = _aliases(source)
        vector = _VECTOR.match(aliases.get(first, first))
        if vector is None or first != second or source.at(close + 1) not in (b"{", b";"):
            continue
        body = close + 1
        last = source.pairs.get(body, body) if source.at(body) == b"{" else body
        start = definition_start(source, position)
        name = f"operator{symbol.decode()}({first.decode()}, {first.decode()})"
        if source.at(body) == b"{" and not _componentwise(source, body, last, symbol, types, vector.group(0)):
            yield finding(
                RULE,
                source,
                position,
                f"HIP has a {name} of its own, component by component, and this one computes something else: "
                "calls are ambiguous",
                last=close,
                fix="give the function a name and call it by that",
            )
            continue
        yield finding(
            RULE,
            source,
            position,
            f"HIP has the same {name}; this one is left out on AMD, where calls would be ambiguous",
            last=close,
            applicability=Applicability.SAFE,
            edits=leave_out_on_hip(source, start, last, b"HIP has the same operator", b"defined(__clang__)"),
            headers=[PLATFORM],
        )


def _aliases(source: CudaSource) -> dict[bytes, bytes]:
    """Names the file gives vector types: `using Real3 = float3;`, `typedef float2 Complex;`."""
    found: dict[bytes, bytes] = {}
    for position in source.find(b"using", b"typedef"):
        words = source.texts[position + 1 : position + 5]
        if source.at(position) == b"using" and words[1:2] == [b"="] and words[3:] == [b";"]:
            name, of = words[0], words[2]
        elif source.at(position) == b"typedef" and words[2:3] == [b";"]:
            of, name = words[:2]
        else:
            continue
        if _VECTOR.match(of) is not None:
            found[name] = of
    return found


def _counts(types: list[tuple[bytes, bytes]]) -> bool:
    """True for the parameters of `++v` and `v++` of a vector type."""
    return bool(types) and _VECTOR.match(types[0][0].rstrip(b"&")) is not None and types[1:] in ([], [(b"int", b"")])


_MARKS = (b"{", b"}", b"(", b")", b",", b";", b".", b"const", b"&")


def _componentwise(
    source: CudaSource, first: int, last: int, symbol: bytes, types: list[tuple[bytes, bytes]], vector: bytes
) -> bool:
    """True when the body combines each component of one operand with the same of the other, and does no more."""
    left, right = types[0][1], types[1][1]
    plain = symbol.rstrip(b"=")
    texts = source.texts[first : last + 1]
    made = {types[0][0].rstrip(b"&"), b"make_" + types[0][0].rstrip(b"&"), vector, b"make_" + vector}
    allowed = {left, right, symbol, plain, b"=", b"return", *made, b"x", b"y", b"z", b"w", *_MARKS}
    if not allowed.issuperset(texts):
        return False
    words = b" ".join(texts)
    if words.startswith(b"{ %s = %s %s %s ;" % (left, left, plain, right)):
        return True
    size = int(vector[-1:])
    components = b"xyzw"[:size]
    for axis in components:
        c = bytes([axis])
        assigned = b"%s . %s %s %s . %s" % (left, c, symbol, right, c)
        combined = b"%s . %s %s %s . %s" % (left, c, plain, right, c)
        if words.count(combined) + (words.count(assigned) if plain != symbol else 0) != 1:
            return False
    return words.count(right + b" .") == size

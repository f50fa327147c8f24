"""Math functions that CUDA declares for the host, too, and HIP for the device only, or not at all.
`rsqrtf`, `sinpi`, `normcdf` and others in host code, and unqualified `isfinite`, `isnan`, `isinf` and `signbit`, find
no function to call; `sincos` and `sincospi` of floats are unknown on both sides, as `umin`, `llmax` and their like are.
The port includes a header that has them. Right everywhere; the host functions are computed in double, to within a unit
in the last place of CUDA's.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.project.languages import CUDA_SOURCES, HEADERS, suffix_of
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

_HEADER = "rocport_math.h"
_HOST = frozenset(
    {
        *(b"rsqrt", b"rsqrtf", b"rcbrt", b"rcbrtf", b"rhypot", b"rhypotf", b"norm3d", b"norm3df", b"sinpi", b"sinpif"),
        *(b"cospi", b"cospif", b"normcdf", b"normcdff", b"fdividef", b"isfinite", b"isnan", b"isinf", b"signbit"),
    }
)
# C++ overloads that HIP has for double alone.
_OVERLOADS = frozenset({b"sincos", b"sincospi"})
_RENAMED = frozenset({b"umin", b"umax", b"llmin", b"llmax", b"ullmin", b"ullmax"})

RULE = Rule(
    name="host-math",
    summary="math function HIP lacks on the host",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_HOST | _OVERLOADS | _RENAMED,
    claims=_RENAMED,
    examples=(
        Example("float f(int n) { return rsqrtf(n); }\n", contains=('#include "rocport_math.h"', "rsqrtf(n)")),
        Example(
            "__device__ void f(float x, float *s, float *c) { sincos(x, s, c); }\n",
            contains=('#include "rocport_math.h"', "{ sincos(x, s, c); }"),
        ),
        Example("__device__ void f(float x, float *s) { sincospi(x, s, s + 1); }\n", contains=("rocport_math.h",)),
        Example(
            "template <class T> __device__ void f(T x, T *s, T *c) { sincos(x, s, c); }\n",
            path="f.h",
            contains=('#include "rocport_math.h"',),
        ),
        Example(
            "namespace my { void sincos(V v, V *s, V *c); }\n"
            "__device__ void f(float x, float *s, float *c) { sincos(x, s, c); }\n",
            contains=('#include "rocport_math.h"',),
        ),
        Example("__device__ unsigned f(unsigned a) { return umin(a, 3u); }\n", contains=("rocport::umin(a, 3u)",)),
    ),
    clean=(
        "namespace my {\nunsigned umin(unsigned a, unsigned b);\nunsigned g(unsigned a) { return umin(a, 3u); }\n}\n",
        "__device__ float f(float x) { return rsqrtf(x); }\n",
        "float rsqrtf(float x) { return x; }\nfloat g(float x) { return rsqrtf(x); }\n",
        "bool f(float x) { return std::isfinite(x); }\n",
        "unsigned umin(unsigned a, unsigned b);\nunsigned g(unsigned a) { return umin(a, 3u); }\n",
        Example("float f(float x) { return isnan(x); }\n", path="host.cpp"),
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-math-api/", "hip/amd_detail/amd_hip_math_functions.h of ROCm 6.4"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    included = False
    for name in sorted(source.names & (_HOST | _OVERLOADS | _RENAMED)):
        if name in context.project.macros or name in context.project.device_functions:
            continue
        uses = [position for position in source.find(name) if _is_call(source, position)]
        own = [position for position in uses if _declares(source, position)]
        if any(name not in _OVERLOADS or _reaches_all(source, position) for position in own):
            continue
        uses = [position for position in uses if position not in own]
        for position in uses:
            if name in _RENAMED:
                yield finding(
                    RULE,
                    source,
                    position,
                    f"{name.decode()} is not in HIP; the port brings it",
                    edits=[replace(source, position, b"rocport::" + name)],
                    headers=[_HEADER],
                )
            elif (
                not included
                and _compiled_as_hip(source, name)
                and (name in _OVERLOADS or not source.in_device(position))
            ):
                included = True
                lacks = (
                    "of floats: HIP has it for double"
                    if name in _OVERLOADS
                    else "in host code: HIP has it for the device"
                )
                yield finding(
                    RULE,
                    source,
                    position,
                    f"{name.decode()} {lacks} only; the port brings it",
                    headers=[_HEADER],
                )


def _compiled_as_hip(source: CudaSource, name: bytes) -> bool:
    """True for a file of device code; a header's functions for the device need the overloads that HIP lacks there."""
    suffix = suffix_of(source.path)
    marks = {b"__host__", b"__device__", b"__global__"} if name in _OVERLOADS else {b"__host__"}
    return suffix in (*CUDA_SOURCES, ".cuh") or (suffix in HEADERS and not marks.isdisjoint(source.names))


def _reaches_all(source: CudaSource, position: int) -> bool:
    """True for a declaration outside namespaces and classes; one inside is another function."""
    return all(
        scope.kind not in (Kind.NAMESPACE, Kind.CLASS) or not scope.name for scope in Scopes(source).enclosing(position)
    )


def _is_call(source: CudaSource, position: int) -> bool:
    directive = source.directive_of(position)
    if directive is not None and directive.name != b"define":
        return False
    before = source.at(position - 1)
    if before in (b".", b"->") or source.qualified(position):
        return False
    return source.at(position + 1) == b"("


def _declares(source: CudaSource, position: int) -> bool:
    """A type in front of the name: a declaration of the program's own."""
    before = source.at(position - 1)
    words = (b"return", b"else", b"case", b"throw", b"and", b"or", b"not", b"do")
    return source.is_ident(position - 1) and before not in words

"""`warpSize` as a constant, or on the host, in a HIP source: it was `constexpr` up to ROCm 6 and is none since ROCm 7.
In device code it is a value known late, so `WarpReduce<float, warpSize>`, `int a[N / warpSize]`, `constexpr` and `#if`
of it do not compile any more; on the host it is not there, or said 64 whatever the GPU. Right: a macro by target in
device code (`__GFX9__`: 64, else 32), and the device's property on the host.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.project.build import BuildSource, Line
from rocport.rules.build.common import found
from rocport.syntax.cuda import CudaSource

_NAME = b"warpSize"

RULE = Rule(
    name="hip-warp-size-constant",
    summary="warpSize as a constant or on the host",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"hip"}),
    triggers=frozenset({_NAME}),
    phase=3,
    where=Range(rocm=">=7.0"),
    examples=(
        Example("int blocks(int m) { return warpSize == 64 ? m / 2 : m / 4; }\n", path="ops.hip"),
        Example("__global__ void f() { typedef hipcub::WarpReduce<float, warpSize> R; }\n", path="k.hip"),
        Example("__global__ void f() { __shared__ float s[256 / warpSize]; }\n", path="k.hip"),
    ),
    clean=(
        Example("__global__ void f(int* p) { p[0] = threadIdx.x % warpSize; }\n", path="k.hip"),
        Example("int f(hipDeviceProp_t p) { return p.warpSize; }\n", path="ops.hip"),
        Example("// warpSize is 64\nint x;\n", path="ops.hip"),
    ),
    sources=("https://github.com/ROCm/apex/pull/231",),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    code = CudaSource(source.path, source.data)
    lines = {line.number: line for line in source.lines}
    said: set[int] = set()
    for position in code.positions(_NAME):
        if code.at(position - 1) in (b".", b"->", b"::"):
            continue
        what = _use(code, position)
        number = code.line(code.starts[position])
        if not what or number in said:
            continue
        said.add(number)
        line = lines.get(number) or Line(number, code.starts[position], _NAME.decode(), False)
        yield found(
            RULE,
            source,
            line,
            f"warpSize {what}: no constant since ROCm 7",
            fix="a macro by target in device code, the device's warpSize property on the host",
            confidence=Confidence.MEDIUM,
            holds="ROCm >= 7.0",
        )


def _use(code: CudaSource, position: int) -> str:
    """How a constant is asked for; empty for a value in device code."""
    directive = code.directive_of(position)
    if directive is not None:
        return "in a conditional of the preprocessor" if directive.name in (b"if", b"elif") else ""
    if not code.in_device(position):
        return "on the host"
    if code.at(position + 1) == b">" and code.at(position - 1) in (b",", b"<"):
        return "as a template argument"
    at = position
    while at > 0 and code.at(at) not in (b";", b"{", b"}", b"("):
        at -= 1
        if code.at(at) == b"constexpr":
            return "in a constexpr"
        if code.at(at) == b"[" and code.is_ident(at - 1) and code.is_ident(at - 2):
            return "as the length of an array"
    return ""

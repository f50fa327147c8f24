"""A project's own `float lerp(float, float, float)`, as `helper_math.h` of CUDA's samples has it, and C++20's.

Since C++20 the library's math.h declares `lerp` for three floats outside of `std`, too, and clang and gcc refuse a
second function of that name and those parameters. PyTorch 2.13 compiles its extensions as C++20, so that one with the
samples' header stops there. The port leaves the project's function out where the library has its own, which
computes the same with other roundings and keeps `lerp(a, b, 1)` at `b`: REVIEW for an extension of PyTorch's. A project
that is none compiles as it did, with its own function where it has not chosen C++20: SAFE. Overloads for vectors stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import PLATFORM, leave_out_on_hip, parameters
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start

_NUMBERS = (b"float", b"double")

RULE = Rule(
    name="standard-lerp",
    summary="lerp of C++20 declared again",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset({b"lerp"}),
    examples=(
        Example(
            "#include <cuda_runtime.h>\n"
            "inline __device__ __host__ float lerp(float a, float b, float t)\n{\n    return a + t*(b-a);\n}\n"
            "inline __device__ __host__ float2 lerp(float2 a, float2 b, float t) { return a + t*(b-a); }\n",
            contains=(
                "#if !ROCPORT_HIP || !defined(__cpp_lib_interpolate)",
                "    return a + t*(b-a);\n}\n#endif\ninline __device__ __host__ float2 lerp",
            ),
        ),
    ),
    clean=(
        "namespace my { float lerp(float a, float b, float t) { return a + t*(b-a); } }\n",
        "struct S { float lerp(float a, float b, float t) { return a; } };\n",
        "float lerp(float a, float b, double t) { return a; }\n",
        "float f(float a) { return lerp(a, a, a); }\n",
    ),
    sources=("https://en.cppreference.com/w/cpp/numeric/lerp",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    scopes = Scopes(source)
    for position in sorted(source.find(b"lerp")):
        call = source.call(position)
        if call is None or source.at(position - 1) not in _NUMBERS or source.at(call.close + 1) != b"{":
            continue
        types = [kind for kind, _ in parameters(source, call.open, call.close)]
        end = source.pairs.get(call.close + 1)
        nested = next(scopes.enclosing(position), None) is not None
        if end is None or nested or types != [source.at(position - 1)] * 3:
            continue
        first = definition_start(source, position)
        yield finding(
            RULE,
            source,
            position,
            "C++20 declares lerp for these types itself, where PyTorch asks for C++20: its own stands for this one",
            edits=leave_out_on_hip(source, first, end, b"C++20 has it", b"defined(__cpp_lib_interpolate)"),
            headers=[PLATFORM],
            applicability=Applicability.REVIEW if context.project.torch_extension else Applicability.SAFE,
            fix="std::lerp rounds otherwise than a + t * (b - a); rename the function where its bits matter",
        )

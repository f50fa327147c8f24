"""A local `constexpr half` that is made of bits: `constexpr half minus_one = std::bit_cast<__half>(uint16_t(0xbc00));`.

HIP's half types hold a union, which is no constant to the compiler; CUDA's hold a number. The port says `const`: SAFE,
the value is the same, and nothing else that has to be a constant can be computed from a half.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource
from rocport.syntax.vectors import HALVES

_TYPES = HALVES | {b"bf16", b"bf16_2"}

RULE = Rule(
    name="half-constant",
    summary="constexpr half made of bits",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"bit_cast"}),
    examples=(
        Example(
            "__device__ half f() {\n  constexpr half x = std::bit_cast<__half>(uint16_t(0x3c00));\n  return x;\n}\n",
            contains=("  const half x = std::bit_cast<",),
        ),
    ),
    clean=(
        "__device__ constexpr half one() { return std::bit_cast<__half>(uint16_t(0x3c00)); }\n",
        "void f() { constexpr float one = std::bit_cast<float>(0x3f800000); }\n",
        "void f() { static constexpr half one = std::bit_cast<__half>(uint16_t(0x3c00)); }\n",
        "constexpr half one = std::bit_cast<__half>(uint16_t(0x3c00));\n",
    ),
    sources=("hip/amd_detail/amd_hip_fp16.h of ROCm 6.4, cuda_fp16.hpp of CUDA 13.0",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for cast in source.find(b"bit_cast"):
        name = cast - (3 if source.at(cast - 1) == b"::" else 1) - 1
        type_, word = name - 1, name - 2
        if source.at(name + 1) != b"=" or source.at(type_) not in _TYPES or source.at(word) != b"constexpr":
            continue
        begins = source.at(word - 1) in (b"{", b"}", b";", b")")
        if begins and source.directive_of(word) is None and source.enclosing(word) is not None:
            yield finding(
                RULE,
                source,
                word,
                f"{source.at(type_).decode()} is no constant to HIP's compiler: const in its place",
                edits=[replace(source, word, b"const")],
            )

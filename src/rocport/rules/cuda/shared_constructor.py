"""A `__shared__` variable of a class whose constructor does something.

Nobody constructs what a block shares: nvcc warns ("dynamic initialization is not supported") and leaves the memory as
it is, clang refuses the declaration. The port declares the memory, and the variable as a reference to it: the same
bytes, not initialized, as in the CUDA build. SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.syntax.cuda import CudaSource

_PAIR = "struct Pair { float d; __host__ __device__ Pair() : d(0) {} };\n"

RULE = Rule(
    name="shared-constructor",
    summary="shared variable with a constructor",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"__shared__"}),
    examples=(
        Example(
            _PAIR + "__global__ void k() { __shared__ Pair all[32][2]; __shared__ Pair one; }\n",
            contains=(
                "__shared__ __attribute__((aligned(alignof(Pair)))) unsigned char all_memory[sizeof(Pair[32][2])]; "
                "Pair (&all)[32][2] = reinterpret_cast<Pair (&)[32][2]>(all_memory);",
                "__shared__ __attribute__((aligned(alignof(Pair)))) unsigned char one_memory[sizeof(Pair)]; "
                "Pair &one = reinterpret_cast<Pair &>(one_memory);",
            ),
        ),
    ),
    clean=(
        _PAIR + "__global__ void k() { extern __shared__ Pair all[]; Pair one; }\n",
        _PAIR + "__global__ void k() { __shared__ float all[32]; __shared__ Pair *p; }\n",
        "struct Pair { float d; __device__ Pair() {} };\n__global__ void k() { __shared__ Pair one; }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (device memory space specifiers)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in sorted(source.find(b"__shared__")):
        kind, name = position + 1, position + 2
        if source.at(kind) not in context.project.constructed or not source.is_ident(name):
            continue
        end = name + 1
        while source.at(end) == b"[" and end in source.pairs:
            end = source.pairs[end] + 1
        if source.at(end) != b";" or b"extern" in source.texts[max(0, position - 2) : position]:
            continue
        yield finding(
            RULE,
            source,
            kind,
            f"{source.at(kind).decode()} has a constructor, which nobody calls for shared memory: clang refuses it",
            last=end,
            edits=[replace_range(source, kind, end, _reference(source, kind, name, end))],
        )


def _reference(source: CudaSource, kind: int, name: int, end: int) -> bytes:
    type_, variable = source.at(kind), source.at(name)
    extents = source.text(name + 1, end).strip()
    declared = b"(&" + variable + b")" + extents if extents else b"&" + variable
    referred = type_ + b" " + (b"(&)" + extents if extents else b"&")
    memory = (
        b"__attribute__((aligned(alignof("
        + type_
        + b")))) unsigned char "
        + variable
        + b"_memory[sizeof("
        + type_
        + extents
        + b")]; "
    )
    return memory + type_ + b" " + declared + b" = reinterpret_cast<" + referred + b">(" + variable + b"_memory)"

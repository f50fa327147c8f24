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
        Example(
            "template <class T> struct Box { T v; __device__ Box() : v(0) {} };\n"
            "__global__ void k() { static __shared__ Box<int> a, b[2]; }\n",
            contains=(
                "sizeof(Box<int>)]; Box<int> &a = reinterpret_cast<Box<int> &>(a_memory); __shared__ __attr",
                "Box<int> (&b)[2] = reinterpret_cast<Box<int> (&)[2]>(b_memory);",
            ),
        ),
    ),
    clean=(
        _PAIR + "__global__ void k() { extern __shared__ Pair all[]; Pair one; }\n",
        _PAIR + "__global__ void k() { __shared__ float all[32]; __shared__ Pair *p; __shared__ Pair q = f(); }\n",
        "struct Pair { float d; __device__ Pair() {} };\n__global__ void k() { __shared__ Pair one; }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (device memory space specifiers)",),
)

_ENDS = (b";", b"{", b"}", b"__shared__")
"""The `;` that ends a declaration, or what shows that it is none."""


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in sorted(source.find(b"__shared__")):
        declared = _declared(source, position + 1)
        if declared is None or b"extern" in source.texts[max(0, position - 2) : position]:
            continue
        of_class, kind, variables = declared
        if of_class not in context.project.constructed:
            continue
        references = b"; __shared__ ".join(_reference(kind, name, extents) for name, extents in variables)
        yield finding(
            RULE,
            source,
            position + 1,
            f"{of_class.decode()} has a constructor, which nobody calls for shared memory: clang refuses it",
            edits=[replace_range(source, position + 1, source.until(position + 1, *_ENDS), references)],
        )


def _declared(source: CudaSource, first: int) -> tuple[bytes, bytes, list[tuple[bytes, bytes]]] | None:
    """Class, type as written, and name and extents of each variable of a declaration; None for anything else."""
    at = first
    while source.is_ident(at) and source.at(at + 1) == b"::":
        at += 2
    of_class = source.at(at)
    close = source.angle_end(at + 1) if source.at(at + 1) == b"<" else at
    variables, end = [], source.until(first, *_ENDS)
    if close is None or close >= end or source.at(end) != b";" or not source.is_ident(at):
        return None
    for name, last in source.split(close, end):
        extents = name + 1
        while source.at(extents) == b"[" and source.pairs.get(extents, -1) > extents:
            extents = source.pairs[extents] + 1
        if not source.is_ident(name) or extents != last:
            return None
        variables.append((source.at(name), source.text(name + 1, last).strip()))
    return of_class, source.text(first, close + 1).strip(), variables


def _reference(kind: bytes, name: bytes, extents: bytes) -> bytes:
    """The memory of a variable, and the variable as a reference to it."""
    referred = kind + b" " + (b"(&)" + extents if extents else b"&")
    declared = kind + b" " + (b"(&" + name + b")" + extents if extents else b"&" + name)
    memory = b"__attribute__((aligned(alignof(" + kind + b")))) unsigned char " + name + b"_memory"
    return (
        memory + b"[sizeof(" + kind + extents + b")]; " + declared
        + b" = reinterpret_cast<" + referred + b">(" + name + b"_memory)"
    )  # fmt: skip

"""PTX statements that hand a carry to each other: `add.cc.u64` in one asm statement, `addc.u64` in the next.

The carry becomes a local of the function around them, which what the statements are translated to (inline-ptx) writes
and reads; macros of such statements take the local of the function that uses them. PTX keeps no carry across calls, so
that nothing is lost. Right everywhere, except in a function whose first such statement reads a carry: it counted on its
caller's, which inlining gave it: REVIEW.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.ptx.translator import CARRY
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.inline_ptx import sharing_carry
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="ptx-carry",
    summary="carry between PTX statements",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(),
    examples=(
        Example(
            '#define ADDO(c, a, b) asm volatile ("add.cc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b) : "memory" );\n'
            '#define ADDC(c, a, b) asm volatile ("addc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b));\n'
            "__device__ void f(unsigned long long *r) { ADDO(r[0], r[0], r[2]); ADDC(r[1], r[1], r[3]); }\n",
            contains=(
                "{ [[maybe_unused]] unsigned rocport_carry = 0; ADDO(",
                "0u, &rocport_carry)",
                "rocport_carry)",
            ),
            absent=("asm",),
        ),
        Example(
            "__device__ void f(unsigned *r) {\n"
            '  asm("sub.cc.u32 %0, %0, %1;" : "+r"(r[0]) : "r"(r[2]));\n'
            '  asm("subc.u32 %0, %0, %1;" : "+r"(r[1]) : "r"(r[3]));\n}\n',
            contains=("{ [[maybe_unused]] unsigned rocport_carry = 0;\n", "0u, &rocport_carry)", "rocport_carry)"),
            absent=("asm",),
        ),
        Example(
            "__device__ void f(unsigned *r) {\n"
            '  asm("addc.cc.u32 %0, %0, %1;" : "+r"(r[0]) : "r"(r[2]));\n'
            '  asm("addc.u32 %0, %0, %1;" : "+r"(r[1]) : "r"(r[3]));\n}\n',
            contains=("{ [[maybe_unused]] unsigned rocport_carry = 0;\n",),
        ),
    ),
    clean=(
        '__device__ void f(unsigned *r) { asm("{ add.cc.u32 %0, %0, 1; addc.u32 %1, %1, 0; }"'
        ' : "+r"(r[0]), "+r"(r[1])); }\n',
        '__device__ unsigned addc(unsigned a) { asm("addc.u32 %0, %0, 0;" : "+r"(a)); return a; }\n',
    ),
    sources=(
        "https://docs.nvidia.com/cuda/parallel-thread-execution/#extended-precision-integer-arithmetic-instructions",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    carrying = context.project.carrying
    if not carrying and b".cc." not in source.data:
        return
    uses = [(keyword, function, reads) for keyword, function, reads in sharing_carry(source, context)]
    for position in source.find(*carrying):
        function = source.enclosing(position)
        if function is not None and source.directive_of(position) is None:
            uses.append((position, function, carrying[source.texts[position]]))
    done: set[tuple[int, int]] = set()
    for _, function, reads in sorted(uses, key=lambda use: use[0]):
        if function.body is None or function.body in done:
            continue
        done.add(function.body)
        yield finding(
            RULE,
            source,
            function.name,
            "this function begins with a PTX statement that reads a carry: its caller's, if inlined into it; here 0"
            if reads
            else "PTX statements of this function hand a carry to each other: it is a local of the function",
            applicability=Applicability.REVIEW if reads else Applicability.SAFE,
            edits=[insert(source.end(function.body[0]), f" [[maybe_unused]] unsigned {CARRY} = 0;".encode())],
            fix="give the function the carry as a parameter" if reads else "",
        )

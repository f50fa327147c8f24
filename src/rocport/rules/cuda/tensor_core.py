"""`<mma.h>` and `nvcuda::wmma`, the fragments of NVIDIA's matrix units, are not in HIP.

`rocport_mma.h` has them for each 32-lane warp on wavefronts of both widths: fragments of 16-bit floats, tf32, 8-bit
integers and doubles in every shape of CUDA, by shuffles and multiply-adds. What a fragment holds where is unspecified
in CUDA as well, so `x[i]`, `num_elements` and element-wise work stay right. It computes the same, and much slower than
a matrix unit: REVIEW. Code that lives from its matrix units is to be written for rocWMMA or Composable Kernel.

The experimental types of less than a byte (`wmma::experimental`) are not in the header: MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_mma.h"

RULE = Rule(
    name="tensor-core",
    summary="fragments of the tensor cores",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"mma", b"nvcuda", b"experimental"}),
    examples=(
        Example(
            "#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(const half *p) {\n"
            "  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;\n"
            "  wmma::load_matrix_sync(a, p, 16);\n}\n",
            contains=('#include "rocport_mma.h"', "using namespace nvcuda;", "wmma::load_matrix_sync(a, p, 16)"),
            absent=("<mma.h>",),
        ),
        Example("using F = nvcuda::wmma::experimental::precision::s4;\n"),
    ),
    clean=("// nvcuda::wmma\n", '#ifdef USE_ROCM\n#include <mma.h>\n#endif\n#include "mma_of_mine.h"\n'),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (warp matrix functions)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives if b"mma" in source.names else ():
        text = source.text(directive.first + 2, directive.last).replace(b" ", b"")
        if directive.name != b"include" or text not in (b"<mma.h>", b'"mma.h"', b"<crt/mma.h>"):
            continue
        if "mma.h" in context.project.basenames and text.startswith(b'"'):
            continue
        if amd_only(source, directive.first):
            continue
        yield finding(
            RULE,
            source,
            directive.first,
            f"<mma.h> is {HEADER}: the same results by shuffles and multiply-adds, without AMD's matrix units",
            last=directive.last - 1,
            applicability=Applicability.REVIEW,
            edits=[Edit(Span(directive.start, source.end(directive.last - 1)), b"")],
            headers=[HEADER],
            fix="write kernels that live from their matrix units with rocWMMA or Composable Kernel",
        )
    view = branches(source, context.project.torch_extension)
    for position in source.find(b"experimental"):
        before = source.at(position - 2)
        if source.at(position - 1) == b"::" and before == b"wmma" and not view.is_dead(source.starts[position]):
            yield finding(
                RULE,
                source,
                position,
                f"wmma::experimental: {HEADER} has no elements of less than a byte",
                fix="unpack the elements to 8 bits, or compute with __popc and plain integers",
            )

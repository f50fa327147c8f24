"""OpenACC beside CUDA: no compiler for AMD GPUs that reads HIP offloads `#pragma acc`.

clang passes over the pragma, so that the loop runs on the host: slow, and wrong where its pointers are the device's
(`deviceptr`, `host_data use_device`). `acc_get_cuda_stream` and its kin are NVIDIA's. Nothing is edited: the loop
becomes OpenMP (`#pragma omp target teams loop`, compiled with `-fopenmp --offload-arch=gfx...`), or a kernel. GCC
offloads OpenACC to AMD GPUs, in a build of its own. One finding a file for the pragmas, and one for each call.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_CALLS = frozenset(
    b"acc_get_cuda_stream acc_set_cuda_stream acc_get_current_cuda_device acc_get_current_cuda_context".split()
)

RULE = Rule(
    name="openacc-pragma",
    summary="OpenACC, which compilers for HIP pass over",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"acc"}) | _CALLS,
    examples=(
        Example("void f(float *x, int n) {\n#pragma acc parallel loop\n  for (int i = 0; i < n; ++i) x[i] *= 2;\n}\n"),
        Example("void f() { run((cudaStream_t)acc_get_cuda_stream(1)); }\n", contains=("acc_get_cuda_stream(1)",)),
    ),
    clean=(
        "void f(int acc) { acc += 1; }\n",
        "#pragma omp parallel for\nvoid g();\n",
        "#if 0\n#pragma acc routine seq\n#endif\nvoid g();\n",
    ),
    sources=(
        "https://gcc.gnu.org/wiki/OpenACC",
        "https://rocm.docs.amd.com/projects/llvm-project/en/latest/conceptual/openmp.html",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives:
        if directive.name == b"pragma" and source.at(directive.first + 2) == b"acc":
            if branches(source, context.project.torch_extension).is_dead(directive.start):
                continue
            yield finding(
                RULE,
                source,
                directive.first,
                "OpenACC: the compiler for HIP passes over `#pragma acc`, and the loop runs on the host",
                last=directive.last - 1,
                fix="write it as `#pragma omp target` and compile with -fopenmp --offload-arch, or as a kernel",
            )
            break
    for position in sorted(source.find(*_CALLS)):
        if source.at(position + 1) == b"(" and not amd_only(source, position):
            yield finding(
                RULE,
                source,
                position,
                f"{source.at(position).decode()} is NVIDIA's OpenACC runtime, which is not on an AMD machine",
                fix="give the HIP stream or device that the rest of the program uses",
            )

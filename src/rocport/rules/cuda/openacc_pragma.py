"""OpenACC beside CUDA: no compiler for AMD GPUs that reads HIP offloads `#pragma acc`.

clang passes over the pragma, so that the loop runs on the host: slow, and wrong where its pointers are the device's
(`deviceptr`, `host_data use_device`). `acc_get_cuda_stream` and its kin are NVIDIA's. Nothing is edited: the loop
becomes OpenMP (`#pragma omp target teams loop`, compiled with `-fopenmp --offload-arch=gfx...`), or a kernel. GCC
offloads OpenACC to AMD GPUs, in a build of its own. One finding a file for the pragmas, one for the header, and one for
each call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_CALLS = frozenset(
    b"acc_get_cuda_stream acc_set_cuda_stream acc_get_current_cuda_device acc_get_current_cuda_context "
    b"acc_deviceptr acc_hostptr".split()
)
# Names that a program may have for its own accumulators: OpenACC's where the file says so.
_MORE = frozenset(
    b"acc_malloc acc_free acc_copyin acc_copyout acc_create acc_delete acc_map_data "
    b"acc_unmap_data acc_is_present acc_update_device acc_update_self acc_memcpy_to_device acc_memcpy_from_device "
    b"acc_memcpy_device acc_attach acc_detach acc_async_test acc_wait acc_wait_all acc_wait_async acc_init "
    b"acc_set_device_num acc_get_device_num acc_get_num_devices acc_set_device_type acc_get_device_type "
    b"acc_shutdown acc_on_device acc_get_property".split()
)
_OPERATOR = re.compile(rb'L?R?"(?:\(|\\s)*\s*acc\b')

RULE = Rule(
    name="openacc-pragma",
    summary="OpenACC, which compilers for HIP pass over",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"acc", b"_Pragma", b"openacc"}) | _CALLS,
    examples=(
        Example("void f(float *x, int n) {\n#pragma acc parallel loop\n  for (int i = 0; i < n; ++i) x[i] *= 2;\n}\n"),
        Example("void f() { run((cudaStream_t)acc_get_cuda_stream(1)); }\n", contains=("acc_get_cuda_stream(1)",)),
        Example('#define LOOP _Pragma("acc parallel loop")\nvoid g();\n'),
        Example("#include <openacc.h>\nvoid g();\n"),
        Example("void f(float *x) { run((float *)acc_deviceptr(x)); }\n"),
        Example("#pragma acc routine seq\nvoid g();\n#include <openacc.h>\n#pragma acc routine seq\nvoid h();\n"),
    ),
    clean=(
        "void f(int acc) { acc += 1; }\n",
        "#pragma omp parallel for\nvoid g();\n",
        "void acc_init(int *p);\nvoid g(int *p) { acc_init(p); }\n",
        '#define LOOP _Pragma("omp parallel for")\nvoid g();\n',
        "#if 0\n#pragma acc routine seq\n#endif\nvoid g();\n",
    ),
    sources=(
        "https://gcc.gnu.org/wiki/OpenACC",
        "https://rocm.docs.amd.com/projects/llvm-project/en/latest/conceptual/openmp.html",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    says = (
        b"openacc" in source.names
        or b"_OPENACC" in source.names
        or any(item.name == b"pragma" and source.at(item.first + 2) == b"acc" for item in source.directives)
    )
    dead = branches(source, context.project.torch_extension).is_dead
    first = next((span for span in _pragmas(source) if not dead(source.starts[span[0]])), None)
    if first is not None:
        yield finding(
            RULE,
            source,
            first[0],
            f"OpenACC: the compiler for HIP passes over {_SPELLED[source.at(first[0])]}, and the loop runs on the host",
            last=first[1],
            fix="write it as `#pragma omp target` and compile with -fopenmp --offload-arch, or as a kernel",
        )
    for directive in source.directives:
        texts = source.texts[directive.first + 2 : directive.last]
        included = directive.name == b"include" and b"".join(texts).strip(b'<>"') == b"openacc.h"
        if included and not amd_only(source, directive.first):
            yield finding(
                RULE,
                source,
                directive.first,
                "OpenACC's header is not with the compilers for HIP",
                last=directive.last - 1,
                fix="leave it out where HIP compiles, with the calls that it declares",
            )
    calls = _CALLS | _MORE if says else _CALLS
    for position in sorted(source.find(*calls)):
        if source.at(position + 1) == b"(" and not amd_only(source, position):
            yield finding(
                RULE,
                source,
                position,
                f"{source.at(position).decode()} is of OpenACC's runtime, which compilers for HIP do not bring",
                fix="call the HIP runtime: its streams, devices and memory are what the rest of the program uses",
                cause="OpenACC's runtime",
            )


_SPELLED = {b"#": "`#pragma acc`", b"_Pragma": '`_Pragma("acc ...")`'}


def _pragmas(source: CudaSource) -> Iterator[tuple[int, int]]:
    """First and last token of what asks for OpenACC, the operator in macros first."""
    for position in source.find(b"_Pragma"):
        if _OPERATOR.match(source.at(position + 2)) and not amd_only(source, position):
            yield position, position + 2
    for directive in source.directives:
        if directive.name == b"pragma" and source.at(directive.first + 2) == b"acc":
            yield directive.first, directive.last - 1

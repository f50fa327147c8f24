"""GLM in a CUDA source: a GLM up to 0.9.9.8 knows nvcc and not HIP's compiler, and its functions are the host's alone.

GLM marks its functions `__device__ __host__` where `__CUDACC__` is defined; it learnt of HIP after 0.9.9.8, the release
that Debian 12 and Ubuntu 22.04 and 24.04 have. With that one every `glm::dot` of a kernel has "no matching function".
The port puts clang's pragma about the includes, which gives what they declare both spaces, and includes the C++ library
before it: SAFE. A GLM that knows HIP says the same of its functions itself. A tree that holds such a GLM is left as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.include_header import spelled
from rocport.syntax.cuda import CudaSource, Directive

HEADER = "rocport_glm.h"
_GLM = re.compile(r"(?:.*/)?glm/(?:\w+/)*\w+\.hpp")
_UNITS = (".cu", ".cup")
_PRAGMA = b"force_cuda_host_device"
_KNOWS_HIP = b"GLM_COMPILER_HIP"

RULE = Rule(
    name="glm-space",
    summary="GLM that does not know HIP",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"glm"}),
    examples=(
        Example(
            "#define GLM_FORCE_CUDA\n#include <glm/glm.hpp>\n#include <glm/gtc/type_ptr.hpp>\n\n#include <vector>\n"
            "__global__ void k(float *x) { x[0] = glm::dot(glm::vec3(x[0]), glm::vec3(x[1])); }\n",
            contains=(
                '#include "rocport_glm.h"\n#if defined(__HIPCC__)\n#pragma clang force_cuda_host_device begin\n#endif\n'
                "#include <glm/glm.hpp>\n#include <glm/gtc/type_ptr.hpp>\n"
                "#if defined(__HIPCC__)\n#pragma clang force_cuda_host_device end\n#endif\n\n#include <vector>\n",
            ),
        ),
    ),
    clean=(
        Example("#include <glm/glm.hpp>\nint f();\n", path="host.cpp"),
        Example("#include <glm/glm.hpp>\nint f();\n", path="host.h"),
        "#pragma clang force_cuda_host_device begin\n#include <glm/glm.hpp>\n"
        "#pragma clang force_cuda_host_device end\n__global__ void k() {}\n",
        "#include <glmnet/glm.hpp>\n__global__ void k() {}\n",
    ),
    sources=("glm/simd/platform.h and glm/detail/setup.hpp of GLM 0.9.9.8 and 1.0.1",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    project = context.project
    if _KNOWS_HIP in project.macros or _GLM.fullmatch(source.path) or "/glm/" in f"/{source.path}":
        return
    if not source.path.endswith(".cuh") and not project.reached_by(source.path, _UNITS):
        return
    for first, last in _runs(source):
        newline = source.newline
        begin, end = (
            newline.join((b"#if defined(__HIPCC__)", b"#pragma clang %b %b" % (_PRAGMA, word), b"#endif"))
            for word in (b"begin", b"end")
        )
        yield finding(
            RULE,
            source,
            first.first,
            "GLM up to 0.9.9.8 does not know HIP's compiler: its functions would be the host's alone; what these "
            "headers declare is made both sides'",
            last=last.last - 1,
            edits=[insert(source.line_start(first.first), begin + newline), insert(last.end, newline + end)],
            headers=[HEADER],
            routine=True,
        )


def _runs(source: CudaSource) -> Iterator[tuple[Directive, Directive]]:
    """First and last of each row of GLM's includes that nothing but space parts, outside such a pragma."""
    run: list[Directive] = []
    inside = False
    for directive in source.directives:
        if directive.name == b"pragma" and (words := source.texts[directive.first : directive.last])[3:4] == [_PRAGMA]:
            inside = words[-1] == b"begin"
        found = spelled(source, directive) if directive.name == b"include" else None
        is_glm = found is not None and _GLM.fullmatch(found[0]) is not None
        if run and (not is_glm or directive.first != run[-1].last):
            yield run[0], run[-1]
            run = []
        if is_glm and not inside:
            run.append(directive)
    if run:
        yield run[0], run[-1]

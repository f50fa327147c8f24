"""Eigen's tensors on a GPU: `EIGEN_USE_GPU` takes CUDA's runtime unless `EIGEN_USE_HIP` is defined, too.

The source or its build defines `EIGEN_USE_GPU`; `unsupported/Eigen/CXX11/Tensor` then includes `cuda_runtime.h`, or,
with `EIGEN_USE_HIP`, HIP's header. The port defines it in front of the include where `EIGEN_USE_GPU` is. Right for
Eigen from 3.4 on; an older copy in the tree knows no HIP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.include_header import spelled
from rocport.syntax.cuda import CudaSource

_TENSOR = re.compile(r"(?:.*/)?unsupported/Eigen/CXX11/\w+")
_DEFINE = b"#if defined(EIGEN_USE_GPU) && !defined(EIGEN_USE_HIP)", b"#define EIGEN_USE_HIP", b"#endif", b""

RULE = Rule(
    name="eigen-tensor",
    summary="Eigen's tensors on a GPU",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"Eigen"}),
    examples=(
        Example(
            "#define EIGEN_USE_GPU\n#include <unsupported/Eigen/CXX11/Tensor>\n__global__ void k() {}\n",
            contains=("#define EIGEN_USE_HIP\n#endif\n#include <unsupported/Eigen/CXX11/Tensor>",),
        ),
    ),
    clean=(
        "#include <Eigen/Core>\n__global__ void k() {}\n",
        "#define EIGEN_USE_HIP\n#include <unsupported/Eigen/CXX11/Tensor>\n",
    ),
    sources=("unsupported/Eigen/CXX11/Tensor of Eigen 3.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if next(source.find(b"EIGEN_USE_HIP"), None) is not None:
        return
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        if found is not None and _TENSOR.fullmatch(found[0]):
            yield finding(
                RULE,
                source,
                directive.first,
                f"{found[0]} takes CUDA's runtime for a GPU, HIP's where EIGEN_USE_HIP is defined",
                last=directive.last - 1,
                edits=[insert(directive.start, source.newline.join(_DEFINE))],
            )
            return

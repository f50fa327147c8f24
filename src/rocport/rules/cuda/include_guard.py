"""A test of the include guard of one of CUDA's headers: `#ifdef __DRIVER_TYPES_H__`.

Code asks so whether the header was included: helper_cuda.h of the CUDA samples defines its error names only then. HIP's
headers have guards of other names, so the branch would go away in silence. The name becomes the guard of the HIP header
that stands in its place. Right in conditions; a file that defines such a guard is a copy of the header, and left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

# CUDA's guard -> that of the HIP header the port includes in its place (read in the headers of CUDA 13 and ROCm 6.4).
_GUARDS = {
    b"__CUDA_RUNTIME_H__": b"HIP_INCLUDE_HIP_HIP_RUNTIME_H",
    b"__CUDA_RUNTIME_API_H__": b"HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    b"__DRIVER_TYPES_H__": b"HIP_INCLUDE_HIP_DRIVER_TYPES_H",
    b"__cuda_cuda_h__": b"HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    b"CUBLAS_API_H_": b"HIPBLAS_H",
    b"CUBLAS_V2_H_": b"HIPBLAS_H",
    b"_CUFFT_H_": b"HIPFFT_H_",
    b"CUSPARSEAPI": b"HIPSPARSE_H",
    b"CUSPARSE_H_": b"HIPSPARSE_H",
    b"CURAND_H_": b"HIPRAND_H_",
    b"CUSOLVER_COMMON_H_": b"HIPSOLVER_H",
    b"CUSOLVERDN_H_": b"HIPSOLVER_H",
}
_CONDITIONS = frozenset({b"if", b"ifdef", b"ifndef", b"elif", b"elifdef", b"elifndef"})

RULE = Rule(
    name="include-guard",
    summary="asks for the include guard of a CUDA header",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_GUARDS),
    claims=frozenset(_GUARDS),
    examples=(
        Example(
            "#include <cuda_runtime.h>\n#ifdef __DRIVER_TYPES_H__\nconst char *name(cudaError_t e);\n#endif\n",
            contains=("#ifdef HIP_INCLUDE_HIP_DRIVER_TYPES_H",),
        ),
        Example(
            "#if defined(CUBLAS_API_H_) && !defined(_CUFFT_H_)\nint only_blas;\n#endif\n",
            contains=("#if defined(HIPBLAS_H) && !defined(HIPFFT_H_)",),
            path="helper.h",
        ),
    ),
    clean=(
        Example("#ifndef __DRIVER_TYPES_H__\n#define __DRIVER_TYPES_H__\nstruct own;\n#endif\n", path="driver_types.h"),
        "// __DRIVER_TYPES_H__ is the guard of driver_types.h\nint x;\n",
    ),
    sources=("https://github.com/ROCm/HIP/blob/amd-staging/include/hip/driver_types.h",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    own = {
        source.at(line.first + 2)
        for line in source.directives
        if line.name == b"define" and source.at(line.first + 2) in _GUARDS
    }
    for line in source.directives:
        if line.name not in _CONDITIONS:
            continue
        for position in range(line.first + 2, line.last):
            name = source.at(position)
            if name not in _GUARDS or name in own:
                continue
            message = f"{name.decode()} is a guard of CUDA's headers; in HIP's place stands {_GUARDS[name].decode()}"
            yield finding(RULE, source, position, message, edits=[replace(source, position, _GUARDS[name])])

"""cuBLASLt lets a program set a descriptor's scale type again; hipBLASLt takes it when the descriptor is made.

A call that sets `CUBLASLT_MATMUL_DESC_SCALE_TYPE` becomes success. Right where the descriptor was made with that type,
as programs do that set it to be sure: REVIEW. The name elsewhere is MANUAL, as any name that HIP lacks.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_NAME = b"CUBLASLT_MATMUL_DESC_SCALE_TYPE"
_SETS = b"cublasLtMatmulDescSetAttribute"

RULE = Rule(
    name="blaslt-scale-type",
    summary="scale type of a matmul descriptor, set again",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset({_NAME}),
    examples=(
        Example(
            "#include <cublasLt.h>\nvoid f(cublasLtMatmulDesc_t d, cudaDataType t) {\n"
            "  check(cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &t, sizeof(t)));\n}\n",
            contains=("check(HIPBLAS_STATUS_SUCCESS /* the scale type is given to hipblasLtMatmulDescCreate */);",),
            absent=("CUBLASLT",),
        ),
    ),
    clean=("#ifdef __HIP_PLATFORM_AMD__\nint x = CUBLASLT_MATMUL_DESC_SCALE_TYPE;\n#endif\n",),
    sources=("hipblaslt/hipblaslt.h of ROCm 6.4: hipblasLtMatmulDescAttributes_t, hipblasLtMatmulDescCreate",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in sorted(source.find(_SETS)):
        call = source.call(position)
        if call is None or len(call.args) != 4 or amd_only(source, position):
            continue
        if source.texts[slice(*call.args[1])] != [_NAME]:
            continue
        yield finding(
            RULE,
            source,
            position,
            "hipBLASLt takes the scale type when the descriptor is made, and has no attribute to set it again",
            last=call.close,
            edits=[
                replace_range(
                    source,
                    position,
                    call.close + 1,
                    b"HIPBLAS_STATUS_SUCCESS /* the scale type is given to hipblasLtMatmulDescCreate */",
                )
            ],
            fix="see that cublasLtMatmulDescCreate was given the same scale type",
        )

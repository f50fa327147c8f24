"""CUDA's cache-hint loads and stores (`__ldcs`, `__stcg`, ...) are missing in HIP, except a few for half.

A streaming hint (`__ldcs`, `__stcs`) becomes a nontemporal access. `__ldcg` and `__stcg` bypass the cache of one
multiprocessor, which programs use to see what other blocks wrote: they become relaxed atomic accesses at device scope,
`__ldcv` and `__stwt` at system scope. `__ldca`, `__ldlu` and `__stwb` change no value. Right everywhere: the value is
CUDA's, only the cost may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.shims import carried, rename
from rocport.syntax.cuda import CudaSource

_TABLE = carried(
    "rocport_compat.h",
    *("__ldca", "__ldcg", "__ldcs", "__ldcv", "__ldlu", "__stcg", "__stcs", "__stwb", "__stwt"),
)

RULE = Rule(
    name="cache-hint",
    summary="load or store with a cache hint",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset(_TABLE),
    claims=frozenset(_TABLE),
    examples=(
        Example(
            "__global__ void k(float4 *o, const float4 *i) { __stcs(o, __ldcs(i)); }\n",
            contains=("rocport::stcs(o, rocport::ldcs(i))", '#include "rocport_compat.h"'),
        ),
        Example(
            "#if __CUDACC_VER_MAJOR__ < 12\n__device__ bf16 __ldcs(const bf16 *p) { return *p; }\n#endif\n"
            "__global__ void k(bf16 *o, const bf16 *i) { *o = __ldcs(i); }\n",
            contains=("__device__ bf16 __ldcs(const bf16 *p)", "*o = rocport::ldcs(i)"),
        ),
    ),
    clean=(
        "__global__ void k(float *o, const float *i) { *o = __ldg(i); }\n",
        "int f(S s) { return s.__ldcs; }\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/#load-functions-using-cache-hints",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from rename(RULE, source, context, _TABLE, any_type=True)

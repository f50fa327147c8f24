"""More shared memory than AMD has: a workgroup gets 64 KB of LDS (160 KB on gfx950), a CUDA block up to 227 KB.
Above 48 KB CUDA code asks for it by `cudaFuncAttributeMaxDynamicSharedMemorySize`; HIP takes the request, and the
launch fails where the size is over the limit. A size that is known to be larger is MANUAL, one that is not known
REVIEW; up to 64 KB nothing has to be done.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from rocport.facts.targets import load_target, target_names
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.constants import value_of
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.amd import is_amd_macro
from rocport.syntax.cuda import CudaSource

_ATTRIBUTES = frozenset(
    {b"cudaFuncAttributeMaxDynamicSharedMemorySize", b"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"}
)

RULE = Rule(
    name="shared-memory-limit",
    summary="dynamic shared memory above CUDA's 48 KB",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=_ATTRIBUTES | {b"__global__"},
    examples=(
        Example("void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 * 1024); }\n"),
        Example("void f(int n) { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, n); }\n"),
        Example("__global__ void k();\nvoid f() { k<<<1, 256, 100000>>>(); }\n"),
    ),
    clean=(
        "void f(){OK(cudaFuncSetAttribute(ROCM_ONLY((void *)) k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1)); }\n",
        "void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024); }\n",
        "__global__ void k();\nvoid f() { k<<<1, 256, 48 * 1024>>>(); }\n",
    ),
    sources=("https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html (LDS per CU)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    limit = _limit(context.options.targets)
    ends = sorted(at for text in (b";", b"{", b"}") for at in source.index.get(text, ()))
    amd = sorted(at for text, places in source.index.items() if is_amd_macro(text) for at in places)
    known: dict[bytes, int | None] = {}

    def value(first: int, last: int) -> int | None:
        text = source.text(first, last)
        if text not in known:
            known[text] = value_of(source, first, last, context)
        return known[text]

    for position in source.find(*_ATTRIBUTES):
        at = position + 1
        if source.at(at) != b"," or amd_only(source, position) or source.directive_of(position) is not None:
            continue
        first = ends[at_end - 1] if (at_end := bisect.bisect_left(ends, position)) else -1
        last_amd = amd[at_amd - 1] if (at_amd := bisect.bisect_left(amd, position)) else -1
        if last_amd > first:
            continue  # C10_CUDA_CHECK(cudaFuncSetAttribute(ROCM_ONLY((void *)) kernel, ...): somebody has been here
        last = source.until(at + 1, b")", b",", b";")
        size = value(at + 1, last)
        if size is None or size > limit:
            yield _finding(source, position, last - 1, size, limit)
    for launch in source.launches:
        if len(launch.config) >= 3:
            first, last = launch.config[2]
            size = value(first, last)
            if size is not None and size > limit:
                yield _finding(source, first, last - 1, size, limit)


def _limit(targets: tuple[str, ...]) -> int:
    """Bytes of LDS a workgroup may have on every target."""
    sizes = [load_target(name).lds_bytes for name in targets if name in target_names()]
    return min(sizes) if sizes else 65536


def _finding(source: CudaSource, first: int, last: int, size: int | None, limit: int) -> Finding:
    if size is None:
        return finding(
            RULE,
            source,
            first,
            f"asks for more than 48 KB of shared memory: a workgroup on AMD has {limit // 1024} KB of LDS",
            last=last,
            applicability=Applicability.REVIEW,
            fix="see that the size stays below what hipDeviceAttributeMaxSharedMemoryPerBlock says",
        )
    return finding(
        RULE,
        source,
        first,
        f"{size} bytes of shared memory: a workgroup on AMD has {limit} bytes (64 KB) of LDS, and the launch fails",
        last=last,
        fix="choose a smaller tile for AMD",
    )

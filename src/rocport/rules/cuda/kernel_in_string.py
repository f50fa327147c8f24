"""CUDA source in a string literal is compiled at run time (nvrtc becomes hiprtc) and is not translated with the file.

Plain kernels are the same language in HIP. A string that uses what HIP has not or treats otherwise (warp intrinsics and
masks, inline PTX, CUDA headers, `__CUDA_ARCH__`, names of the CUDA libraries) fails when it is compiled, on the user's
machine, or counts 32 lanes where there are 64. It is left as it is and the constructs are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import STRING, CudaSource, kind_of

CONSTRUCTS = re.compile(
    rb"\b(?:asm|__asm__)\b|\b__\w+_sync\b|\b__(?:ballot|any|all|shfl\w*|activemask|syncwarp)\b|\bwarpSize\b"
    rb"|#\s*include\s*[<\\\"]+[^>\\\"]*cu[^>\\\"]*|\b__CUDA_ARCH__\b|\bCUDA_VERSION\b|\bcu(?:da|blas|rand)\w*|\bnvcuda\b"
    rb"|\b__(?:ld|st)(?:cg|cs|ca|cv|wb|wt)\b|\b__dp[24]a\w*|\b__nanosleep\b|\b__nv_\w+|[&%]\s*31\b"
)

RULE = Rule(
    name="kernel-in-string",
    summary="CUDA source in a string that needs translation",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"__global__", b"__device__"}),
    examples=(
        Example('const char *k = R"(__global__ void f(int *x) { x[0] = __ballot_sync(~0u, 1); })";\n', path="jit.cpp"),
        Example('const char *k = "__global__ void f(int *x) {"\n"  *x = threadIdx.x & 31; }";\n', path="jit.cpp"),
    ),
    clean=(
        Example('const char *k = R"(extern "C" __global__ void f(int *x) { x[threadIdx.x] = 1; })";\n', path="jit.cpp"),
        'void f() { printf("a __global__ function"); }\n',
        "__global__ void f(int *x) { x[0] = __popc(3); }\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_rtc.html",),
)


_QUOTED = re.compile(rb"\"[^\"\n]*__(?:global|device)__")


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if b'R"' not in source.data and _QUOTED.search(source.data) is None:
        return
    texts = source.texts
    reported = -1
    for position in [at for at, text in enumerate(texts) if b"__global__" in text or b"__device__" in text]:
        if position <= reported or kind_of(texts[position]) != STRING:
            continue
        first, last = position, position
        while first > 0 and kind_of(texts[first - 1]) == STRING:
            first -= 1
        while last + 1 < len(texts) and kind_of(texts[last + 1]) == STRING:
            last += 1
        reported = last
        body = b"\n".join(texts[first : last + 1])
        if b"{" not in body:
            continue
        found = sorted({b" ".join(item.split()) for item in CONSTRUCTS.findall(body)})
        if found:
            listed = ", ".join(item.decode("utf-8", "replace") for item in found[:6])
            yield finding(
                RULE,
                source,
                first,
                f"CUDA source in a string uses {listed}: it is compiled at run time and not translated here",
                last=last,
                fix="put the source into a file, port it with rocport, and embed the result",
            )

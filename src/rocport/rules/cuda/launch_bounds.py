"""The second argument of `__launch_bounds__` means something else in HIP, and a third is an error.
CUDA: the least number of blocks a multiprocessor shall hold. HIP: the least number of wavefronts an execution unit (one
of the four SIMD units of a compute unit) shall hold. The port computes one from the other, for four units of 64 lanes:
blocks * threads / 256, rounded up. Both only bound the registers a thread may use; no result depends on them.

The third argument, the largest cluster size, is left out: AMD GPUs have no thread-block clusters. Arguments with a
comma between template brackets are put in parentheses, because HIP's macro counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.rules.cuda.definitions import arguments
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="launch-bounds",
    summary="__launch_bounds__ with a second or third argument",
    severity=Severity.SLOW,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset({b"__launch_bounds__"}),
    claims=frozenset({b"__launch_bounds__"}),
    examples=(
        Example(
            "__global__ void __launch_bounds__(256, 2) k() {}\n",
            contains=("__launch_bounds__(256, ((2) * (256) + 255) / 256)",),
        ),
        Example("__global__ __launch_bounds__(1024, 1, 1) void k() {}\n", contains=("((1) * (1024) + 255) / 256)",)),
        Example("__global__ __launch_bounds__(128, 1, 2) void k() {}\n", contains=("((1) * (128) + 255) / 256)",)),
        Example(
            "template <class T> __global__ void __launch_bounds__(Traits<T, 4>::threads) k() {}\n",
            contains=("__launch_bounds__((Traits<T, 4>::threads))",),
        ),
    ),
    clean=(
        "__global__ void __launch_bounds__(256) k() {}\n",
        "__global__ void __launch_bounds__(BLOCK / 2) k() {}\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_cpp_language_extensions.html#launch-bounds",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(b"__launch_bounds__"):
        call = source.call(position)
        if call is None:
            continue
        given = arguments(source, call.open, call.close)
        if not given or b"__VA_ARGS__" in source.texts[call.open : call.close]:
            continue
        texts = [source.text(first, last) for first, last in given]
        threads = texts[0]
        grouped = [b"(" + text + b")" if b"," in text and b"<" in text else text for text in texts]
        if len(texts) == 1:
            if grouped == texts:
                continue
            new = grouped[0]
        else:
            new = grouped[0] + b", ((" + texts[1] + b") * (" + threads + b") + 255) / 256"
        lines = re.sub(rb"\s*\\?\r?\n\s*", b" ", new)
        clusters = len(texts) > 2 and texts[2].strip() not in (b"0", b"1")
        third = "; the cluster size of the third is left out" if clusters else ""
        message = (
            f"HIP's second argument is wavefronts an execution unit, not blocks a multiprocessor{third}"
            if len(texts) > 1
            else "HIP's macro counts the comma between template brackets"
        )
        yield finding(
            RULE,
            source,
            position,
            message,
            last=call.close,
            applicability=Applicability.REVIEW if clusters else Applicability.SAFE,
            edits=[replace_range(source, call.open + 1, call.close, lines)],
        )

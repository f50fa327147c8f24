"""HIP spellings of PyTorch's C++ names (`c10::hip::HIPCachingAllocator`, `at::hip::...`) are gone since torch 2.11.

PyTorch's ROCm builds once renamed their CUDA classes (`c10::hip::HIPStream`, with `...MasqueradingAsCUDA` wrappers).
Since torch 2.11 they keep the CUDA names (`c10::cuda::CUDAStream`), and only some stream and device functions are left
in `c10::hip`. Sources that spell the CUDA names, as most do, compile with both: the hipify step of `BuildExtension`
writes the HIP names where the installed torch has them. So the port keeps CUDA spellings of `at::`, `c10::` and
`torch::`, and puts them in place of HIP spellings that newer releases lack.

REVIEW: an extension built without `BuildExtension`, for torch before 2.11, has no hipify step and needs the HIP names.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

_KEPT = frozenset(
    {
        b"getStreamFromExternal",
        b"getStreamFromPool",
        b"getDefaultHIPStream",
        b"getCurrentHIPStream",
        b"setCurrentHIPStream",
        b"getStreamFromPoolMasqueradingAsCUDA",
        b"getStreamFromExternalMasqueradingAsCUDA",
        b"getDefaultHIPStreamMasqueradingAsCUDA",
        b"getCurrentHIPStreamMasqueradingAsCUDA",
        b"setCurrentHIPStreamMasqueradingAsCUDA",
        b"HIPStreamMasqueradingAsCUDA",
        b"HIPGuardMasqueradingAsCUDA",
        b"OptionalHIPGuardMasqueradingAsCUDA",
        b"HIPStreamGuardMasqueradingAsCUDA",
        b"OptionalHIPStreamGuardMasqueradingAsCUDA",
        b"HIPMultiStreamGuardMasqueradingAsCUDA",
        b"current_device",
        b"device_count",
        b"device_count_ensure_non_zero",
        b"device_synchronize",
        b"ExchangeDevice",
        b"GetDevice",
        b"GetDeviceCount",
        b"getDeviceIndexWithPrimaryContext",
        b"hasPrimaryContext",
        b"MaybeExchangeDevice",
        b"MaybeSetDevice",
        b"memcpy_and_sync",
        b"set_device",
        b"SetDevice",
        b"SetTargetDevice",
        b"stream_synchronize",
        b"warn_or_error_on_sync",
    }
)

RULE = Rule(
    name="torch-hip-name",
    summary="HIP spelling of a PyTorch name that torch 2.11 dropped",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset({b"hip"}),
    examples=(
        Example(
            "void f() { c10::hip::HIPCachingAllocator::emptyCache(); }\n",
            contains=("c10::cuda::CUDACachingAllocator::emptyCache()",),
        ),
        Example(
            "auto p = at::hip::getCurrentDeviceProperties();\n", contains=("at::cuda::getCurrentDeviceProperties()",)
        ),
    ),
    clean=(
        "auto s = c10::hip::getCurrentHIPStream();\n",
        "auto s = at::cuda::getCurrentCUDAStream();\nc10::cuda::CUDAGuard g(d);\n",
        "namespace mine { namespace hip { int x; } }\nint y = mine::hip::x;\n",
    ),
    sources=(
        "https://github.com/pytorch/pytorch/pull/174087",
        "https://github.com/WebODM/OpenSplat/issues/228",
        "c10/cuda/CUDAStream.h and CUDAFunctions.h of torch 2.13: what is left in c10::hip",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(b"hip"):
        if source.at(position - 1) != b"::" or source.at(position - 2) not in (b"at", b"c10"):
            continue
        if source.at(position + 1) != b"::" or not source.is_ident(position + 2):
            continue
        outer, name = source.texts[position - 2], source.texts[position + 2]
        if outer == b"c10" and name in _KEPT:
            continue
        new = name.replace(b"MasqueradingAsCUDA", b"").replace(b"HIP", b"CUDA")
        edits = [replace(source, position, b"cuda")]
        if new != name:
            edits.append(replace(source, position + 2, new))
        old = b"::".join((outer, b"hip", name)).decode()
        yield finding(
            RULE,
            source,
            position - 2,
            f"{old} is gone since torch 2.11; {outer.decode()}::cuda::{new.decode()} is right with every torch that "
            "BuildExtension hipifies for",
            last=position + 2,
            edits=edits,
            fix="without BuildExtension and before torch 2.11, keep the HIP name",
            holds="torch >= 2.11",
        )

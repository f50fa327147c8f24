"""PyTorch's own warp functions span the wavefront on ROCm: `WARP_SHFL`, `WARP_BALLOT`, `WarpReduceSum`.

`ATen/cuda/DeviceUtils.cuh` gives them the default width `warpSize`, 64 lanes on CDNA, and a ballot of 64 bits, beside
code that the port keeps at 32-lane warps, and so do `cub::WARP_ANY` and its like of hipCUB. The shuffles and votes
become those of `rocport_warp.h`: SAFE, as their arguments say the same. `WarpReduceSum` and its like of
`ATen/native/cuda/block_reduce.cuh` reduce 64 lanes: REVIEW, right where a whole block is reduced by `BlockReduceSum`,
wrong where each 32 lanes shall have their own result.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import HEADER, amd_only
from rocport.syntax.cuda import Call, CudaSource

_SHUFFLES = {
    b"WARP_SHFL": b"shfl",
    b"WARP_SHFL_UP": b"shfl_up",
    b"WARP_SHFL_DOWN": b"shfl_down",
    b"WARP_SHFL_XOR": b"shfl_xor",
}
_OTHERS = {b"WARP_BALLOT": b"ballot", b"ACTIVE_MASK": b"activemask", b"WARP_SYNC": b"syncwarp"}
_OF_CUB = {b"WARP_ANY": b"any", b"WARP_ALL": b"all"}
_REDUCTIONS = frozenset(b"WarpReduce WarpReduceSum WarpReduceMax WarpReduceMin warpReduceSum warp_reduce".split())

RULE = Rule(
    name="torch-warp",
    summary="warp function of PyTorch",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset({*_SHUFFLES, *_OTHERS, *_OF_CUB, *_REDUCTIONS}),
    examples=(
        Example("__device__ int f(int v) { return WARP_SHFL(v, 31); }\n", contains=("rocport::shfl(v, 31)",)),
        Example(
            "__device__ int f(int v, unsigned m) { return WARP_SHFL_DOWN(v, 1, 16, m); }\n",
            contains=("rocport::shfl_down_sync(m, v, 1, 16)",),
        ),
        Example("__device__ int f(int p) { return WARP_BALLOT(p); }\n", contains=("rocport::ballot(p)",)),
        Example(
            "__device__ int f(int p) { cub::WARP_SYNC(~0u); return cub::WARP_ANY(p, m) + cub::WARP_BALLOT(p, m); }\n",
            contains=("rocport::syncwarp(~0u); return rocport::any_sync(m, p) + rocport::ballot_sync(m, p);",),
        ),
        Example(
            "#include <ATen/native/cuda/block_reduce.cuh>\n"
            "__device__ float f(float v) { return at::native::cuda_utils::WarpReduceSum(v); }\n",
            contains=("cuda_utils::WarpReduceSum(v)",),
        ),
    ),
    clean=(
        "__device__ int WarpReduceSum(int v) { return v; }\n__device__ int f(int v) { return WarpReduceSum(v); }\n",
        "#define WARP_SHFL(v, l) mine(v, l)\n__device__ int f(int v) { return WARP_SHFL(v, 1); }\n",
    ),
    sources=("ATen/cuda/DeviceUtils.cuh and ATen/native/cuda/block_reduce.cuh of torch 2.13",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if context.options.warp == "native":
        return
    for position in source.find(*_SHUFFLES, *_OTHERS, *_OF_CUB):
        call = source.call(position)
        if source.at(position) in _OF_CUB and not _of_cub(source, position):
            continue
        if call is None or _is_own(source, position, context) or amd_only(source, position):
            continue
        yield from _shuffle(source, position, call)
    for position in source.find(*_REDUCTIONS):
        of_torch = source.at(position - 2) == b"cuda_utils" or b"block_reduce" in source.names
        if not of_torch or source.call(position) is None or source.at(position - 2) in (b"cub", b"hipcub"):
            continue
        if _is_own(source, position, context):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"PyTorch's {source.at(position).decode()} reduces the wavefront, 64 lanes on CDNA, beside code that keeps "
            "32-lane warps",
            fix="call a reduction over 32 lanes (rocport::shfl_xor) where each CUDA warp shall have its own result",
        )


def _of_cub(source: CudaSource, position: int) -> bool:
    """True for `cub::WARP_BALLOT`, which spans the wavefront in hipCUB, too."""
    return source.at(position - 1) == b"::" and source.at(position - 2) in (b"cub", b"hipcub")


def _is_own(source: CudaSource, position: int, context: Context) -> bool:
    name = source.at(position)
    if source.at(position - 1) in (b".", b"->") or name in context.project.device_functions:
        return True
    defined = any(
        (directive := source.directive_of(at)) is not None and directive.name == b"define" and at == directive.first + 2
        for at in source.find(name)
    )
    return defined or any(function.name == at for function in source.functions for at in source.find(name))


def _shuffle(source: CudaSource, position: int, call: Call) -> Iterator[Finding]:
    name = source.at(position)
    given = [source.text(*part) for part in call.args]
    masked = 4 if name in _SHUFFLES else 2
    new = _SHUFFLES.get(name) or _OTHERS.get(name) or _OF_CUB[name]
    start = source.starts[position - 2 if _of_cub(source, position) else position]
    edits = [Edit(Span(start, source.end(position)), b"rocport::" + new)]
    if len(given) == masked and name != b"WARP_SYNC":
        first = (given[-1], *given[:-1])
        whole = b"rocport::" + new + b"_sync(" + b", ".join(first) + b")"
        edits = [Edit(Span(start, source.end(call.close)), whole)]
    yield finding(
        RULE,
        source,
        position,
        f"{name.decode()} of PyTorch spans the wavefront on ROCm; rocport::{new.decode()} keeps the 32 lanes of a warp",
        last=call.close,
        applicability=Applicability.SAFE,
        edits=edits,
        headers=[HEADER],
    )

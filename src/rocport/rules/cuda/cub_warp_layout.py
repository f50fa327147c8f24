"""CUB's warp-striped layouts follow the warp: 32 threads in CUB, the wavefront in hipCUB.

`BlockedToWarpStriped`, `BLOCK_LOAD_WARP_TRANSPOSE` and `StoreDirectWarpStriped` place item `i` of a thread at
`i * warp + lane` of its warp's part. With 64-lane wavefronts the items lie elsewhere than code that indexes by
`threadIdx.x / 32` looks for them, and a block of 32 threads, or of an odd number of warps, is no multiple of the warp,
which the layouts ask for. A load and a store of the same kind cancel each other out. REVIEW, once a line.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_LAYOUTS = frozenset(
    {
        b"BLOCK_LOAD_WARP_TRANSPOSE",
        b"BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED",
        b"BLOCK_STORE_WARP_TRANSPOSE",
        b"BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED",
        b"BlockedToWarpStriped",
        b"WarpStripedToBlocked",
        b"ScatterToWarpStriped",
        b"LoadDirectWarpStriped",
        b"StoreDirectWarpStriped",
        b"WARP_LOAD_STRIPED",
        b"WARP_LOAD_TRANSPOSE",
        b"WARP_STORE_STRIPED",
        b"WARP_STORE_TRANSPOSE",
    }
)
_OF_WARP = (b"WARP_LOAD", b"WARP_STORE")

RULE = Rule(
    name="cub-warp-layout",
    summary="CUB layout that follows the warp",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=_LAYOUTS,
    examples=(
        Example("using L = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;\n"),
        Example("__device__ void f(X &x, int (&v)[4]) { x.BlockedToWarpStriped(v, v); }\n"),
    ),
    clean=("using L = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;\n",),
    sources=("hipcub/backend/rocprim/block/block_exchange.hpp of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    lines: set[int] = set()
    for position in sorted(source.find(*_LAYOUTS)):
        name = source.at(position)
        line = source.line(source.starts[position])
        if line in lines or amd_only(source, position) or source.at(position + 1) == b"=":
            continue
        if name.startswith(_OF_WARP) and b"32" in source.texts[position : position + 6]:
            continue
        lines.add(line)
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} lays items out by warps of 32 threads in CUB and by wavefronts, 64 on CDNA, in hipCUB",
            fix="index the items by the wavefront's width, or take a layout of the block (BLOCK_LOAD_TRANSPOSE, "
            "BlockedToStriped); let the block be a multiple of 64 threads",
        )

"""CUB's warp-striped layouts follow the warp: 32 threads in CUB, the wavefront in hipCUB.

`BlockedToWarpStriped`, `BLOCK_LOAD_WARP_TRANSPOSE` and `StoreDirectWarpStriped` place item `i` of a thread at
`i * warp + lane` of its warp's part. With 64-lane wavefronts the items lie elsewhere than code that indexes by
`threadIdx.x / 32` looks for them, and a block of 32 threads, or of an odd number of warps, is no multiple of the warp,
which the layouts ask for. REVIEW, once a line.

`BLOCK_LOAD_WARP_TRANSPOSE` and `BLOCK_STORE_WARP_TRANSPOSE` use the warp on the way only: what a thread gets is the
same for `BLOCK_LOAD_TRANSPOSE`, which takes a block of any size. Where the size is a multiple of 64 threads they stay;
otherwise the port takes the latter, which costs a barrier, and whose TempStorage has a size of its own: REVIEW where a
number says that it is taken, SAFE where the size is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import arguments
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
# What gives a thread the same items without a part for the warp.
_ON_THE_WAY = {
    b"BLOCK_LOAD_WARP_TRANSPOSE": b"BLOCK_LOAD_TRANSPOSE",
    b"BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED": b"BLOCK_LOAD_TRANSPOSE",
    b"BLOCK_STORE_WARP_TRANSPOSE": b"BLOCK_STORE_TRANSPOSE",
    b"BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED": b"BLOCK_STORE_TRANSPOSE",
}
_OF_WARP = (b"WARP_LOAD", b"WARP_STORE")

RULE = Rule(
    name="cub-warp-layout",
    summary="CUB layout that follows the warp",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=_LAYOUTS,
    examples=(
        Example(
            "using L = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;\n",
            contains=("((32) % 64 ? hipcub::BLOCK_LOAD_TRANSPOSE : hipcub::BLOCK_LOAD_WARP_TRANSPOSE)>;",),
        ),
        Example(
            "template <class T, int N, bool E> struct S { using L = cub::BlockStore<vec<T, 2>, N, 1, "
            "E ? cub::BLOCK_STORE_WARP_TRANSPOSE : cub::BLOCK_STORE_DIRECT>; };\n",
            contains=("E ? ((N) % 64 ? hipcub::BLOCK_STORE_TRANSPOSE : hipcub::BLOCK_STORE_WARP_TRANSPOSE) :",),
        ),
        Example(
            "using L = ::cub::BlockLoad<int, 32, 4, ::cub::BLOCK_LOAD_WARP_TRANSPOSE>;\n",
            contains=("((32) % 64 ? ::hipcub::BLOCK_LOAD_TRANSPOSE : ::hipcub::BLOCK_LOAD_WARP_TRANSPOSE)>;",),
        ),
        Example(
            "using L = cub::BlockLoad<int, 32, 4, cub::BlockLoadAlgorithm::BLOCK_LOAD_WARP_TRANSPOSE>;\n",
            contains=(
                "4, ((32) % 64 ? hipcub::BlockLoadAlgorithm::BLOCK_LOAD_TRANSPOSE : hipcub::BlockLoadAlgorithm::",
            ),
        ),
        Example(
            "using L = at_cuda_detail::cub::BlockLoad<int, 32, 4, at_cuda_detail::cub::BLOCK_LOAD_WARP_TRANSPOSE>;\n",
            contains=(
                "((32) % 64 ? at_cuda_detail::cub::BLOCK_LOAD_TRANSPOSE : ",
                "_TRANSPOSE : at_cuda_detail::cub::BLOCK_LOAD_WARP_TRANSPOSE)>;",
            ),
        ),
        Example(
            "#ifdef USE_ROCM\nnamespace cub = hipcub;\n#endif\n"
            "template <int N> struct S { using L = cub::BlockLoad<int, N, 1, cub::BLOCK_LOAD_WARP_TRANSPOSE>; };\n",
            contains=("((N) % 64 ? ",),
        ),
        Example("__device__ void f(X &x, int (&v)[4]) { x.BlockedToWarpStriped(v, v); }\n"),
    ),
    clean=(
        "using L = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;\n",
        "enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_WARP_TRANSPOSE };\n",
        "using L = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;\n",
    ),
    sources=("hipcub/backend/rocprim/block/block_exchange.hpp of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    tried = b"hipcub" in source.names  # `namespace cub = hipcub` is that of an author who has built this for AMD
    lines: set[int] = set()
    scopes = Scopes(source)
    for position in sorted(source.find(*_LAYOUTS)):
        name = source.at(position)
        line = source.line(source.starts[position])
        if line in lines or amd_only(source, position) or source.at(position + 1) == b"=":
            continue
        if (scope := next(scopes.enclosing(position), None)) is not None and scope.kind is Kind.ENUM:
            continue  # a copy of CUB in the tree
        if name.startswith(_OF_WARP) and b"32" in source.texts[position : position + 6]:
            continue
        threads = _block(source, position) if name in _ON_THE_WAY else b""
        if threads.isdigit() and int(threads) % 64 == 0:
            continue
        start = _qualifier(source, position)
        if threads and start < position and source.at(start) != b">":
            words = source.texts[start:position]
            outermost = 1 if words[0] == b"::" else 0
            if words[outermost:][:1] == [b"cub"]:
                words[outermost] = b"hipcub"
            instead = b"".join(words) + _ON_THE_WAY[name]
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()} asks for a block of whole wavefronts; {_ON_THE_WAY[name].decode()} gives each thread "
                "the same items with a block of any size, through one exchange in shared memory of its own size",
                applicability=Applicability.REVIEW if threads.isdigit() and not tried else Applicability.SAFE,
                fix="see that nothing else counts on the size of its TempStorage",
                edits=[
                    insert(source.starts[start], b"((" + threads + b") % 64 ? " + instead + b" : "),
                    insert(source.end(position), b")"),
                ],
            )
            continue
        lines.add(line)
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} lays items out by warps of 32 threads in CUB and by wavefronts, 64 on CDNA, in hipCUB",
            fix="index the items by the wavefront's width, or take a layout of the block (BLOCK_LOAD_TRANSPOSE, "
            "BlockedToStriped); let the block be a multiple of 64 threads",
            cause="layouts of CUB by warps",
        )


def _qualifier(source: CudaSource, position: int) -> int:
    """First token of the `::a::b::` before a name."""
    while source.at(position - 1) == b"::":
        position -= 2 if source.qualified(position) else 1
    return position


def _block(source: CudaSource, position: int) -> bytes:
    """The text of the block size in `BlockLoad<T, size, items, ... position ...>`; empty outside of such a list."""
    for start in range(position - 1, max(position - 200, 0), -1):
        if source.at(start) != b"<" or source.at(start - 1) not in (b"BlockLoad", b"BlockStore"):
            continue
        close = source.angle_end(start)
        if close is None or close < position:
            continue
        parts = arguments(source, start, close)
        if len(parts) < 2:
            return b""
        first, last = parts[1]
        return source.text(first, last).strip() if first < last <= position else b""
    return b""

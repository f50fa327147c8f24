"""CUB's warp collectives span 32 threads by default; hipCUB's span the wavefront, 64 threads on CDNA.

`cub::WarpReduce<float>` therefore reduces two CUDA warps as one, with one temporary storage for both. In the default
mode the width is written out (`WarpReduce<float, 32>`), which hipCUB takes on wavefronts of both widths.
`cub::LaneId()` and `cub::WarpId()` count in wavefronts on HIP and go to `rocport_warp.h`; `CUB_PTX_WARP_THREADS`
and CUB's older `CUB_WARP_THREADS(arch)` are 32 in the port. hipCUB's `HIPCUB_WARP_THREADS` takes no argument.

With `--warp=native` nothing is edited; each site is for review.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding import Binder, binder
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace_range
from rocport.rules.cuda.warp_common import HEADER, amd_only
from rocport.syntax.cuda import CudaSource

_COLLECTIVES = {
    # name: arguments that stand before LOGICAL_WARP_THREADS
    b"WarpReduce": 1,
    b"WarpScan": 1,
    b"WarpExchange": 2,
    b"WarpMergeSort": 2,
    b"WarpLoad": 3,
    b"WarpStore": 3,
}
_IDS = {b"LaneId": b"rocport::lane_id", b"WarpId": b"rocport::warp_id"}
_CONSTANTS = {b"CUB_PTX_WARP_THREADS": b"rocport::warp_size", b"CUB_PTX_LOG_WARP_THREADS": b"5"}
_CALLED = {b"CUB_WARP_THREADS": b"rocport::warp_size", b"CUB_LOG_WARP_THREADS": b"5"}

RULE = Rule(
    name="warp-cub-width",
    summary="CUB warp collective",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset((*_COLLECTIVES, *_IDS, *_CONSTANTS, *_CALLED)),
    examples=(
        Example(
            "#include <cub/cub.cuh>\n__device__ void f() { typedef cub::WarpReduce<float> Reduce; }\n",
            contains=("WarpReduce<float, 32>",),
        ),
        Example(
            "#include <cub/cub.cuh>\nusing namespace cub;\ntemplate <class T> using S = WarpScan<std::pair<T, int>>;\n",
            contains=("WarpScan<std::pair<T, int>, 32>",),
        ),
        Example(
            "#include <cub/cub.cuh>\n__device__ int f() { return cub::LaneId() + CUB_PTX_WARP_THREADS; }\n",
            contains=("rocport::lane_id() + rocport::warp_size",),
        ),
        Example(
            "enum { WARPS = 128 / CUB_WARP_THREADS(PTX_ARCH), LOG = CUB_LOG_WARP_THREADS(0) };\n",
            contains=("WARPS = 128 / rocport::warp_size, LOG = 5 }",),
        ),
        Example(
            "namespace c = cub;\n__device__ int f() { using R = c::WarpReduce<int>; return c::LaneId(); }\n",
            contains=("c::WarpReduce<int, 32>", "return rocport::lane_id()"),
        ),
        Example(
            "#include <cub/cub.cuh>\nusing cub::WarpScan;\nusing S = WarpScan<int>;\n", contains=("WarpScan<int, 32>",)
        ),
        Example("using L = cub::WarpLoad<int, 4>;\n", contains=("WarpLoad<int, 4>",)),
        Example(
            "namespace prim { using cub::WarpReduce; }\nusing R = prim::WarpReduce<float>;\n",
            contains=("prim::WarpReduce<float, 32>",),
        ),
    ),
    clean=(
        "using R = cub::WarpReduce<float, 16>;\n",
        "using B = cub::BlockReduce<float, 128>;\n",
        "struct WarpReduce {};\ntemplate <class T> struct WarpScan {};\nWarpScan<int> s;\n",
    ),
    sources=("hipCUB 3.4 warp/warp_reduce.hpp: LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    bound = binder(source, context)
    for position in sorted(source.find(*_COLLECTIVES)):
        if not _is_cub(source, bound, position):
            continue
        if source.at(position + 1) == b"<":
            yield from _collective(source, position, native)
        elif source.at(position - 1) == b"::" and source.at(position + 1) in (b",", b">") and not native:
            yield finding(
                RULE,
                source,
                position,
                f"{source.at(position).decode()} is passed on as a template: whoever names its arguments gets the "
                "wavefront's width",
                fix="pass an alias that writes out LOGICAL_WARP_THREADS = 32",
            )
    for position in sorted(source.find(*_IDS)):
        if source.at(position + 1) == b"(" and _is_cub(source, bound, position):
            yield _name(source, position, _IDS[source.at(position)], native)
    for position in sorted(source.find(*_CONSTANTS)):
        directive = source.directive_of(position)
        if (directive is None or directive.name == b"define") and not amd_only(source, position):
            yield _name(source, position, _CONSTANTS[source.at(position)], native)
    for position in sorted(source.find(*_CALLED)):
        close = source.pairs.get(position + 1) if source.at(position + 1) == b"(" else None
        if close is not None and source.directive_of(position) is None and not amd_only(source, position):
            yield _called(source, position, close, native)


def _is_cub(source: CudaSource, bound: Binder, position: int) -> bool:
    if amd_only(source, position):
        return False
    if source.qualified(position):
        if source.at(position - 2) == b"hipcub" or bound.stands_for(position - 2) == b"cub":
            return True
        # `namespace prim { using cub::WarpReduce; }`, and prim::WarpReduce
        return bound.stands_for(position).startswith(b"cub::") and not bound.definitions(source.at(position), "type")
    if source.at(position - 1) in (b"struct", b"class", b".", b"->", b"::"):
        return False
    return bound.stands_for(position).startswith(b"cub::") or bool(bound.definitions(b"", "alias"))


def _collective(source: CudaSource, position: int, native: bool) -> Iterator[Finding]:
    name = source.at(position)
    close = source.angle_end(position + 1)
    if close is None:
        return
    given, wanted = _argument_count(source, position + 1, close), _COLLECTIVES[name]
    if given > wanted:
        return
    if native:
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} spans the wavefront: 64 threads on CDNA, 32 on RDNA",
            applicability=Applicability.REVIEW,
            fix="check the storage for each warp and who reads the result",
        )
    elif given == wanted:
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} spans 32 threads in CUB and the wavefront in hipCUB: the width is written out",
            applicability=Applicability.SAFE,
            edits=[insert(source.starts[close], b", 32")],
        )
    else:
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} spans 32 threads in CUB and the wavefront in hipCUB",
            fix=f"write out the arguments of {name.decode()} up to LOGICAL_WARP_THREADS = 32",
        )


def _argument_count(source: CudaSource, open_: int, close: int) -> int:
    """Template arguments between `<` and `>`, nested ones not counted."""
    count, depth, at = 1, 0, open_ + 1
    while at < close:
        text = source.at(at)
        if text in (b"(", b"[", b"{"):
            at = source.pairs.get(at, at)
        elif text in (b"<", b">"):
            depth += 1 if text == b"<" else -1
        elif text == b"," and depth == 0:
            count += 1
        at += 1
    return count


def _called(source: CudaSource, position: int, close: int, native: bool) -> Finding:
    name = source.at(position)
    if native and name == b"CUB_WARP_THREADS":
        becomes, what = b"HIPCUB_WARP_THREADS", "the wavefront's width, without an argument"
    else:
        becomes, what = _CALLED[name], f"{_CALLED[name].decode()}, as warps of 32 lanes have it"
    return finding(
        RULE,
        source,
        position,
        f"{name.decode()}(...) is {what}",
        last=close,
        applicability=Applicability.REVIEW if native else Applicability.SAFE,
        edits=[replace_range(source, position, close + 1, becomes)],
        headers=[] if native else [HEADER],
        fix="HIPCUB_WARP_THREADS is no constant where the wavefront's width is not known" if native else "",
    )


def _name(source: CudaSource, position: int, becomes: bytes, native: bool) -> Finding:
    first = position - 2 if source.at(position - 1) == b"::" else position
    name = source.text(first, position + 1).decode()
    if native:
        return finding(
            RULE,
            source,
            first,
            f"{name} counts in wavefronts: 64 lanes on CDNA, 32 on RDNA",
            last=position,
            applicability=Applicability.REVIEW,
        )
    return finding(
        RULE,
        source,
        first,
        f"{name} counts in warps of 32 lanes in the port: {becomes.decode()}",
        last=position,
        applicability=Applicability.SAFE,
        edits=[replace_range(source, first, position + 1, becomes)],
        headers=[HEADER],
    )

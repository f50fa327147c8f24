"""Cooperative groups: tiles of a warp, coalesced threads, reduce and scan.

HIP has no `cooperative_groups/reduce.h`, no scans, no operators and no tiles of tiles; its tiles shuffle arithmetic
types only, and `coalesced_threads()` gives up to 64 lanes where the wavefront has 64, beside `tiled_partition<32>`
that gives 32. In the default mode the namespace `cooperative_groups` becomes `rocport::cg` (`rocport_cg.h`): groups
within a warp keep to its 32 lanes; blocks and grids synchronize through HIP.

Clusters, tiles of more than 32 threads and `reduce_*_async` have no counterpart and are left to the user. With
`--warp=native` HIP's own groups are used, for review.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, replace
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource, Directive

HEADER = "rocport_cg.h"

RULE = Rule(
    name="warp-cooperative-groups",
    summary="cooperative groups",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=3,
    triggers=frozenset({b"cooperative_groups"}),
    examples=(
        Example(
            "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
            "namespace cg = cooperative_groups;\n"
            "__device__ float f(float v) {\n  auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
            "  return cg::reduce(tile, v, cg::plus<float>());\n}\n",
            contains=('#include "rocport_cg.h"', "namespace cg = rocport::cg;", "cg::tiled_partition<32>"),
            absent=("cooperative_groups",),
        ),
        Example(
            "#include <cooperative_groups.h>\nusing namespace cooperative_groups;\n"
            "__device__ void f(thread_block b) { coalesced_threads().sync(); }\n",
            contains=("using namespace rocport::cg;",),
        ),
        Example(
            "namespace cg = cooperative_groups;\n__device__ void f() { cg::this_cluster().sync(); }\n",
            contains=("cg::this_cluster()",),
        ),
        Example(
            "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n",
            contains=("#include <hip/hip_cooperative_groups.h>", "namespace cg = cooperative_groups;"),
            options={"warp": "native"},
        ),
    ),
    clean=(
        "// cooperative_groups::this_grid\n",
        "#ifdef __HIPCC__\n#include <hip/hip_cooperative_groups.h>\nnamespace cg = cooperative_groups;\n#endif\n",
        "int coalesced_threads();\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (cooperative groups)",
        "HIP 6.4 amd_hip_cooperative_groups.h",
    ),
)

_ABSENT = {
    b"this_cluster": "thread block clusters",
    b"cluster_group": "thread block clusters",
    b"reduce_update_async": "asynchronous reduction into memory; use reduce and an atomic operation",
    b"reduce_store_async": "asynchronous reduction into memory; use reduce and a store",
    b"block_tile_memory": "tiles of more than 32 threads; use the block and shared memory",
}
_TILES = (b"tiled_partition", b"thread_block_tile")


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    in_use = False
    for directive in source.directives:
        if directive.name == b"include" and not amd_only(source, directive.first):
            found = _include(source, directive, native)
            if found is not None:
                in_use = True
                yield found
    for position in source.find(b"cooperative_groups"):
        directive_of = source.directive_of(position)
        if amd_only(source, position) or (directive_of is not None and directive_of.name == b"include"):
            continue
        in_use = True
        if not native:
            yield _namespace(source, position)
    if in_use:
        yield from _groups(source, native)


def _include(source: CudaSource, directive: Directive, native: bool) -> Finding | None:
    text = source.text(directive.first + 2, directive.last).strip()
    name = text.strip(b'<>" ')
    if name != b"cooperative_groups.h" and not name.startswith(b"cooperative_groups/"):
        return None
    span = Span(directive.start, source.end(directive.last - 1))
    if native:
        whole = name == b"cooperative_groups.h"
        return finding(
            RULE,
            source,
            directive.first,
            "HIP's own cooperative groups: coalesced groups have the wavefront's width"
            if whole
            else f"<{name.decode()}> has no counterpart in HIP",
            last=directive.last - 1,
            edits=[Edit(span, b"#include <hip/hip_cooperative_groups.h>")] if whole else [],
            applicability=Applicability.REVIEW if whole else Applicability.MANUAL,
            fix="" if whole else "use the default --warp=logical32, whose rocport_cg.h has reduce and scans",
        )
    return finding(
        RULE,
        source,
        directive.first,
        f"<{name.decode()}> is {HEADER} in the port",
        last=directive.last - 1,
        edits=[Edit(span, b"")],
        applicability=Applicability.SAFE,
        headers=[HEADER],
    )


def _namespace(source: CudaSource, position: int) -> Finding:
    return finding(
        RULE,
        source,
        position,
        "cooperative_groups is rocport::cg: groups within a warp keep to its 32 lanes on any wavefront",
        edits=[replace(source, position, b"rocport::cg")],
        applicability=Applicability.SAFE,
        headers=[HEADER],
    )


def _groups(source: CudaSource, native: bool) -> Iterator[Finding]:
    for name, what in _ABSENT.items():
        for position in source.find(name):
            if not amd_only(source, position):
                yield finding(
                    RULE, source, position, f"{name.decode()}: HIP has no {what}", fix="write this part again"
                )
    for position in sorted(source.find(*_TILES)):
        if source.at(position + 1) != b"<" or amd_only(source, position):
            continue
        size = source.at(position + 2)
        if size.isdigit() and int(size) > 32:
            yield finding(
                RULE,
                source,
                position,
                f"a tile of {size.decode()} threads spans several warps, which neither HIP nor {HEADER} has",
                fix="synchronize and exchange through the block and shared memory",
            )
        elif size == b"32":
            yield _kept(source, position, "a tile of 32 threads is one warp", native)
    for position in source.find(b"coalesced_threads"):
        if source.at(position + 1) == b"(" and not amd_only(source, position):
            yield _kept(source, position, "coalesced_threads() is the active lanes of one warp", native)


def _kept(source: CudaSource, position: int, what: str, native: bool) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{what} in CUDA: on a 64-lane wavefront HIP's tile is half of it, its coalesced group all of it"
        if native
        else f"{what}: kept at up to 32 lanes on any wavefront",
        applicability=Applicability.REVIEW if native else Applicability.SAFE,
        confidence=Confidence.MEDIUM if native else Confidence.HIGH,
        severity=Severity.WRONG_RESULT,
        fix="check code that mixes tiles of 32 with coalesced groups" if native else "",
    )

"""Warp shuffles exchange values between the 32 lanes of a CUDA warp.

HIP's own shuffles span the whole wavefront (64 lanes on CDNA) unless each call names a width, its `_sync` forms want
a 64-bit mask and are not declared by every ROCm, and they do not take every type CUDA code passes. In the default
mode each call goes to `rocport_warp.h`, which keeps CUDA's 32 lanes, its default width and its behaviour out of range
on wavefronts of both widths. A mask written as a literal becomes `rocport::full_warp_mask`; any other mask stays.

In a branch that only an AMD build takes (`#ifdef USE_ROCM`) nothing is edited. A shuffle there that names no width
spans 64 lanes beside code that works in 32: it is listed for review.

A shuffle the project defines itself (an overload for `double` or `float2` that older CUDA lacked) is renamed, because
HIP declares the same function: calls go to the header, which moves any type. One that a branch for AMD calls keeps
its name: builds for AMD have compiled it beside HIP's, and the branch means it.

With `--warp=native` the calls become HIP's shuffles over the wavefront's own width, each for review: the masks are
dropped and the algorithm around the call must not count on 32 lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert, replace
from rocport.rules.cuda.warp_common import HEADER, MASKED, OF_WAVEFRONTS, SHUFFLES, Use, definitions, rename, uses
from rocport.syntax.cuda import CudaSource, between

RULE = Rule(
    name="warp-shuffle-sync",
    summary="warp shuffle",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset(SHUFFLES),
    examples=(
        Example(
            "__global__ void k(float *p) { p[0] = __shfl_xor_sync(0xffffffff, p[1], 16); }\n",
            contains=(
                "rocport::shfl_xor_sync(rocport::full_warp_mask, p[1], 16)",
                '#include "rocport_warp.h"',
            ),
            absent=("__shfl", "0xffffffff"),
        ),
        Example(
            "#define SHFL(v, l) __shfl_sync(0xffffffffu, v, l)\n#define DOWN __shfl_down\n",
            contains=("rocport::shfl_sync(rocport::full_warp_mask, v, l)", "#define DOWN rocport::shfl_down"),
        ),
        Example(
            "template <unsigned mask> __device__ int f(int v) { return __shfl_up_sync(mask, v, 1, 8); }\n",
            contains=("rocport::shfl_up_sync(mask, v, 1, 8)",),
        ),
        Example(
            "#if CUDART_VERSION < 9000\n#define __shfl_sync(mask, v, l) __shfl(v, l)\n#endif\n"
            "__device__ int f(int v) { return __shfl_sync(~0u, v, 0); }\n",
            contains=(
                "#define __shfl_sync(mask, v, l) rocport::shfl(v, l)",
                "return rocport::shfl_sync(rocport::full_warp_mask, v, 0)",
            ),
        ),
        Example(
            "__device__ double __shfl_down(double v, unsigned d) { return v; }\n"
            "__device__ double g(double v) { return __shfl_down(v, 1); }\n",
            contains=("double project_shfl_down(double v", "return rocport::shfl_down(v, 1)"),
        ),
        Example(
            "__device__ int f(unsigned char c) { auto s = __shfl_xor_sync(~0u, c, 1); s += c; return s; }\n",
            contains=("rocport::shfl_xor_sync(rocport::full_warp_mask, (int)c, 1)",),
        ),
        Example(
            "__device__ float f(float v) { return ::__shfl_down(v, 1); }\n",
            contains=("return ::rocport::shfl_down(v, 1)",),
        ),
        Example(
            "#ifdef USE_ROCM\n#define UP(mask, v, d) __shfl_up(v, d)\n#else\n#define UP __shfl_up_sync\n#endif\n",
            contains=("#define UP(mask, v, d) __shfl_up(v, d)", "#define UP rocport::shfl_up_sync"),
        ),
        Example(
            "__device__ at::Half __shfl_up(at::Half v, unsigned d) { return __shfl_up(v.operator __half(), d); }\n"
            "#ifdef USE_ROCM\n#define UP(mask, v, d) __shfl_up(v, d)\n#endif\n",
            contains=("at::Half __shfl_up(at::Half v", "return rocport::shfl_up(v.operator", ") __shfl_up(v, d)"),
        ),
        Example(
            "__device__ int f(int v) { return __shfl_down_sync(0xffffffff, v, 16); }\n",
            contains=("__shfl_down(v, 16)",),
            absent=("rocport",),
            options={"warp": "native"},
        ),
    ),
    clean=(
        "// __shfl_sync in a comment\n",
        "#ifdef __HIP_PLATFORM_AMD__\n__device__ int f(int v) { return __shfl(v, 0, 32); }\n#endif\n",
        "#ifdef __HIP_PLATFORM_AMD__\n__device__ int f(int v) { return v + __shfl_xor(v, 16); }\n#endif\n",
        "struct T { int __shfl(int); };\nint g(T t) { return t.__shfl(1); }\n",
        "__device__ int my__shfl_sync(int v);\n",
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (warp shuffle functions)",
        "HIP 6.4 amd_warp_functions.h, amd_warp_sync_functions.h",
    ),
)


def _stays_in_a_warp(source: CudaSource, name: bytes, distance: tuple[int, int]) -> bool:
    """True for an exclusive or with a number below 32: it pairs the same lanes whatever the width."""
    number = source.text(*distance).strip()
    return name == b"__shfl_xor" and number.isdigit() and int(number) < 32


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    for use in uses(source, SHUFFLES):
        yield _native(source, use) if native else _logical(source, use)
    by_hand = list(uses(source, SHUFFLES, by_hand=True))
    for use in by_hand:
        if not native and use.call is not None and len(use.call.args) == (3 if use.name in MASKED else 2):
            if _stays_in_a_warp(source, use.name, use.call.args[-1]):
                continue
            yield finding(
                RULE,
                source,
                use.position,
                f"{use.name.decode()} without a width in a branch written for AMD spans the wavefront "
                "(64 lanes on CDNA), beside code that keeps 32-lane warps",
                fix="give it the width 32, or use rocport_warp.h in this branch too",
                cause=OF_WAVEFRONTS,
            )
    for position in definitions(source, SHUFFLES):
        name = source.at(position)
        if any(use.name == name for use in by_hand):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"the project defines {name.decode()} itself, as HIP does; renamed, and its calls go to rocport_warp.h",
            severity=Severity.BREAKS_BUILD,
            edits=[replace(source, position, b"project" + name[1:])],
            fix="compare what the project's own function does with CUDA's; delete it if they agree",
        )


def _logical(source: CudaSource, use: Use) -> Finding:
    name = use.name.decode()
    return finding(
        RULE,
        source,
        use.position,
        f"{name} stays among the 32 lanes of a CUDA warp on any wavefront: rocport::{name[2:]}",
        applicability=Applicability.SAFE,
        edits=(*rename(source, use), *_as_int(source, use)),
        headers=[HEADER],
    )


_NARROW = frozenset(b"bool char short int8_t uint8_t int16_t uint16_t uchar ushort".split())


def _as_int(source: CudaSource, use: Use) -> list[Edit]:
    """CUDA's overloads begin at int: a variable of a narrower type is passed, and comes back, as one."""
    if use.call is None:
        return []
    number = 1 if use.name in MASKED else 0
    first, last = use.call.args[number] if number < len(use.call.args) else (0, 0)
    function = source.enclosing(use.position)
    if last - first != 1 or function is None:
        return []
    declared = between(_declared(source, source.at(first)), function.params[0] + 1, first)
    if not declared or source.at(declared[-1] - 1) not in _NARROW:
        return []
    return [insert(source.starts[first], b"(int)")]


@lru_cache(maxsize=16)
def _declared(source: CudaSource, name: bytes) -> list[int]:
    """Where a name stands behind another one, which is its type."""
    return [at for at in source.index.get(name, ()) if source.is_ident(at - 1) and source.at(at - 1) != b"return"]


def _native(source: CudaSource, use: Use) -> Finding:
    name = use.name.decode()
    edits: list[Edit] = []
    if use.name in MASKED:
        if use.call is None or len(use.call.args) < 3:
            return finding(
                RULE,
                source,
                use.position,
                f"{name} is used without its arguments here; name the shuffle of the native width by hand",
                applicability=Applicability.MANUAL,
            )
        value = use.call.args[1][0]
        edits = [
            replace(source, use.position, use.name.removesuffix(b"_sync")),
            Edit(Span(source.starts[use.call.open + 1], source.starts[value]), b""),
        ]
    return finding(
        RULE,
        source,
        use.position,
        f"{name} now spans the wavefront's own width (64 lanes on CDNA, 32 on RDNA)",
        edits=edits,
        fix="check start and step of the loop around it, the width argument, and who reads the result",
    )

"""Votes and ballots: one bit a lane of a 32-lane CUDA warp.

HIP's `__ballot` and `__activemask` return 64 bits, with the lanes of two CUDA warps where the wavefront has 64 lanes;
kept in a 32-bit variable, half of them are lost and nothing warns. `__any` and `__all` ask all 64 lanes. In the
default mode each call goes to `rocport_warp.h`: 32 bits, the caller's own 32 lanes, the lanes that the mask names.
`__popc`, `__ffs` and shifts of the result then stay right as they are.

Votes in a branch that only an AMD build takes are not edited, but listed for review: they ask the whole wavefront.

With `--warp=native` the result has 64 bits, each site for review; `__popc`, `__ffs` and `__clz` wrapped around a vote
take their 64-bit forms.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, replace, replace_range
from rocport.rules.cuda.warp_common import (
    HEADER,
    MASKED,
    OF_WAVEFRONTS,
    VOTES,
    Use,
    argument,
    is_full_mask,
    rename,
    uses,
)
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-vote",
    summary="warp vote",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=frozenset(VOTES),
    examples=(
        Example(
            "__device__ int f(int p) { return __popc(__ballot_sync(0xFFFFFFFF, p > 0)); }\n",
            contains=("__popc(rocport::ballot_sync(rocport::full_warp_mask, p > 0))",),
            absent=("__ballot",),
        ),
        Example(
            "__device__ int f(int p) { unsigned m = __activemask(); return __any_sync(m, p) + __all(p); }\n",
            contains=("rocport::activemask()", "rocport::any_sync(m, p)", "rocport::all(p)"),
        ),
        Example(
            "#if CUDART_VERSION >= 9000\n#define BALLOT(p) __ballot_sync(0xffffffff, p)\n#else\n"
            "#define BALLOT(p) __ballot(p)\n#endif\n",
            contains=("rocport::ballot_sync(rocport::full_warp_mask, p)", "rocport::ballot(p)"),
        ),
        Example(
            "#if defined(USE_ROCM)\n__device__ auto f(int p) { return __ballot(p); }\n#endif\n",
            contains=("return __ballot(p)",),
        ),
        Example(
            "__device__ int f(int p) { return __popc(__ballot_sync(0xffffffff, p)) + __any_sync(0xffffffff, p); }\n",
            contains=("__popcll(__ballot(p))", "__any(p)"),
            options={"warp": "native"},
        ),
    ),
    clean=(
        "struct T { bool __any(int); };\nbool g(T t) { return t.__any(1); }\n",
        'const char *s = "__ballot_sync";\n',
    ),
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (warp vote functions)",
        "HIP 6.4 amd_warp_functions.h: __ballot returns unsigned long long",
    ),
)

_WIDE = {b"__popc": b"__popcll", b"__ffs": b"__ffsll", b"__clz": b"__clzll", b"__brev": b"__brevll"}


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    for use in uses(source, VOTES, by_hand=True):
        if not native:
            yield finding(
                RULE,
                source,
                use.position,
                f"{use.name.decode()} in a branch written for AMD asks the wavefront (64 lanes on CDNA), "
                "beside code that keeps 32-lane warps",
                fix="use rocport_warp.h in this branch too, or check that its result never meets 32-lane code",
                cause=OF_WAVEFRONTS,
            )
    for use in uses(source, VOTES):
        if native:
            yield _native(source, use)
            continue
        name = use.name.decode()
        yield finding(
            RULE,
            source,
            use.position,
            f"{name} asks the 32 lanes of a CUDA warp on any wavefront: rocport::{name[2:]}",
            applicability=Applicability.SAFE,
            edits=rename(source, use),
            headers=[HEADER],
        )


def _native(source: CudaSource, use: Use) -> Finding:
    name = use.name.decode()
    edits = _native_edits(source, use)
    if edits is None:
        return finding(
            RULE,
            source,
            use.position,
            f"{name} is used without its arguments here; write the vote of the native width by hand",
            applicability=Applicability.MANUAL,
        )
    return finding(
        RULE,
        source,
        use.position,
        f"{name} now asks the whole wavefront; a ballot has 64 bits",
        edits=edits,
        fix="keep the result in unsigned long long; use __popcll, __ffsll and 64-bit shifts on it",
    )


def _native_edits(source: CudaSource, use: Use) -> list[Edit] | None:
    if use.name == b"__activemask":
        if use.call is None:
            return None
        edits = [replace_range(source, use.position, use.call.close + 1, b"__ballot(1)")]
    elif use.name in MASKED:
        if use.call is None or len(use.call.args) != 2:
            return None
        mask, (value, _) = argument(source, use, 0), use.call.args[1]
        old = use.name.removesuffix(b"_sync")
        if is_full_mask(mask):
            edits = [_opening(source, use, value, old + b"(")]
        elif old == b"__all":
            edits = [
                _opening(source, use, value, b"((__ballot(!("),
                replace(source, use.call.close, b")) & (%s)) == 0)" % mask),
            ]
        else:
            end = b") & (%s)) != 0)" % mask if old == b"__any" else b") & (%s))" % mask
            opening = b"((__ballot(" if old == b"__any" else b"(__ballot("
            edits = [_opening(source, use, value, opening)]
            edits.append(replace(source, use.call.close, end))
    else:
        edits = []
    wrapper = source.at(use.position - 2)
    if source.at(use.position - 1) == b"(" and wrapper in _WIDE:
        edits.append(replace(source, use.position - 2, _WIDE[wrapper]))
    return edits


def _opening(source: CudaSource, use: Use, value: int, text: bytes) -> Edit:
    """Replace everything from the name up to the argument that starts at token `value`."""
    return Edit(Span(source.starts[use.position], source.starts[value]), text)

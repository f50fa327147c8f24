"""32-bit masks of lanes that have a name, or travel: `FULL_MASK 0xffffffff`, `unsigned mask = __ballot_sync(...)`.

The default port keeps 32-bit masks, so `0xffffffff` names all lanes of a warp, a ballot fits into `unsigned`, and
`__popc`, `__ffs` and shifts of it are right: nothing is edited, and the place is named. A mask that is stored in
memory or in a structure is named too: whoever reads it, the host included, reads the 32 bits that CUDA would have
stored.

With `--warp=native` a mask has 64 bits: constants and variables that hold one are widened, and `__popc`, `__ffs`,
`__clz` of such a variable take their 64-bit forms; every site is for review.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, replace
from rocport.rules.cuda.warp_common import INTRINSICS, MASKED, MATCHES, VOTES, amd_only, speaks_of_warps
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="warp-mask-constant",
    summary="32-bit mask of lanes",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    examples=(
        Example("#define FULL_MASK 0xffffffff\n", contains=("#define FULL_MASK 0xffffffff",)),
        Example("constexpr unsigned kWarpMask = 0xFFFFFFFFu;\n"),
        Example("__device__ int f(int v) { unsigned m = ~0u; return __shfl_sync(m, v, 0); }\n"),
        Example("#define ALL -1\n__device__ int f(int v) { return __any_sync(ALL, v); }\n"),
        Example("__global__ void k(unsigned *out, int p) { out[threadIdx.x] = __ballot_sync(0xffffffff, p); }\n"),
        Example("void f() { warpReduce(0xffffffff, 1); }\n"),
        Example(
            "__device__ int f(int p) { unsigned m = __ballot_sync(0xffffffff, p); return __popc(m); }\n",
            contains=("unsigned long long m = __ballot(p)", "__popcll(m)"),
            options={"warp": "native"},
        ),
        Example(
            "template <unsigned mask> __device__ int f(int v) { return __ballot_sync(mask, v); }\n",
            contains=("template <unsigned long long mask>", "(__ballot(v) & (mask))"),
            options={"warp": "native"},
        ),
        Example(
            "#define FULL_MASK 0xffffffff\n",
            contains=("#define FULL_MASK 0xffffffffffffffffull",),
            options={"warp": "native"},
        ),
    ),
    clean=(
        "const unsigned crc_mask = 0xffffffff;\nunsigned x = 0xffffffff;\n",
        "#define FULL_MASK_COUNT 12\n",
        "// FULL_MASK 0xffffffff\n",
        "#ifdef __HIP_PLATFORM_AMD__\n#define FULL_MASK 0xffffffff\n#endif\n",
    ),
    sources=("HIP 6.4 amd_warp_sync_functions.h: masks of 64 bits",),
)

_VALUE = re.compile(
    rb"0[xX][fF]{8}(?:[fF]{8})?[uUlL]*(?![\w.])|~\s*0[xX]?0*[uUlL]*(?![\w.])|-\s*1(?![\w.])|4294967295[uUlL]*|UINT(?:32)?_MAX"
)
_NAME = re.compile(
    rb"[a-z0-9]*(?:full|warp|final|shfl|shuffle|sync|lane|allthreads|activethreads|wholewarp)(?:warp|lane|threads?)?masks?|"
    rb"[a-z0-9]*mask(?:s|for)?(?:full|warp|lanes?|all|sync|shfl)|(?:k|c)?(?:all|full)(?:lanes?|threads?|warp)"
)
_WARP_WORD = re.compile(rb"(?i)warp|shfl|shuffle|ballot|lane")
_WIDE = {b"__popc": b"__popcll", b"__ffs": b"__ffsll", b"__clz": b"__clzll", b"__brev": b"__brevll"}
_NARROW = frozenset((b"unsigned", b"int", b"uint", b"uint32_t", b"int32_t", b"auto"))
_GIVES_MASK = frozenset((*VOTES, *MATCHES[:2])) - {b"__any", b"__all", b"__any_sync", b"__all_sync"}


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    masks = _names_given_as_mask(source)
    for position, value in _constants(source, masks):
        yield _constant(source, position, value, native)
    if native:
        yield from _parameters(source, masks)
    for position in sorted(source.find(*_GIVES_MASK)):
        if source.directive_of(position) is None and not amd_only(source, position):
            yield from _holder(source, position, native)


def _names_given_as_mask(source: CudaSource) -> frozenset[bytes]:
    """Identifiers the file gives to an intrinsic as its mask."""
    names = set()
    for position in source.find(*MASKED, b"__syncwarp"):
        call = source.call(position)
        if call is not None and call.args and call.args[0][1] - call.args[0][0] == 1:
            names.add(source.at(call.args[0][0]))
    return frozenset(names)


def _constants(source: CudaSource, masks: frozenset[bytes]) -> Iterator[tuple[int, tuple[int, int]]]:
    """(token, byte range of the value) of each full mask that is given a name or handed to a warp function."""
    if not masks and not speaks_of_warps(source):
        return
    for match in _VALUE.finditer(source.data):
        value = source.token_at(match.start())
        if value >= len(source.starts) or source.starts[value] != match.start():
            continue
        position = _name_before(source, value)
        if position is None or amd_only(source, position):
            continue
        name = source.at(position)
        called = source.at(position + 1) == b"(" and source.directive_of(position) is None
        if called and not source.is_ident(position - 1):
            if name not in INTRINSICS and _WARP_WORD.search(name):
                yield position, match.span()
        elif name in masks or _NAME.fullmatch(name.lower().replace(b"_", b"")):
            yield position, match.span()


def _name_before(source: CudaSource, value: int) -> int | None:
    """The identifier a value is given to: `NAME 1`, `NAME = (1)`, `NAME(1`, `NAME = (unsigned)1`."""
    at = value - 1
    if source.at(at) == b")":  # a cast
        at = source.pairs.get(at, 0) - 1
    while source.at(at) in (b"(", b"=", b"{") and at > value - 5:
        at -= 1
    return at if source.is_ident(at) and source.at(at) != b"return" else None


def _constant(source: CudaSource, position: int, value: tuple[int, int], native: bool) -> Finding:
    name = source.at(position).decode()
    text = source.data[value[0] : value[1]].decode("utf-8", "replace").strip()
    if not native:
        return finding(
            RULE,
            source,
            position,
            f"{name}: {text} names all 32 lanes, and a mask has 32 bits in the port",
            applicability=Applicability.SAFE,
        )
    literal = re.search(
        rb"0[xX][fF]{8}[uUlL]*(?![fF])|4294967295[uUlL]*|UINT32_MAX|UINT_MAX", source.data[slice(*value)]
    )
    edits = []
    if literal is not None:
        start = value[0] + literal.start()
        edits = [Edit(Span(start, value[0] + literal.end()), b"0xffffffffffffffffull"), *_widened(source, position)]
    return finding(
        RULE,
        source,
        position,
        f"{name}: {text} names half of a 64-lane wavefront",
        edits=edits,
        fix="give it 64 bits, and every variable and parameter it reaches",
    )


def _widened(source: CudaSource, name: int) -> list[Edit]:
    """`unsigned`, `uint32_t` ... before a variable becomes `unsigned long long`."""
    first = name
    while source.at(first - 1) in _NARROW:
        first -= 1
    if first == name or source.at(first) == b"auto":
        return []
    return [Edit(Span(source.starts[first], source.end(name - 1)), b"unsigned long long")]


def _parameters(source: CudaSource, masks: frozenset[bytes]) -> Iterator[Finding]:
    """Function and template parameters that carry a mask."""
    for position in sorted(source.find(*masks)):
        edits = _widened(source, position)
        if edits and source.at(position + 1) in (b",", b")", b">", b"=") and not amd_only(source, position):
            yield finding(
                RULE,
                source,
                position,
                f"{source.at(position).decode()} carries a mask, which has 64 bits now",
                edits=edits,
                fix="check what its callers give it",
            )


def _holder(source: CudaSource, position: int, native: bool) -> Iterator[Finding]:
    """Where the result of a vote is kept."""
    if source.at(position - 1) != b"=":
        return
    at = position - 2
    if source.is_ident(at) and source.at(at - 1) not in (b".", b"->", b"*"):
        if not native:
            return
        variable = source.at(at)
        edits = _widened(source, at)
        for use in source.find(variable):
            if source.at(use - 1) == b"(" and source.at(use - 2) in _WIDE and source.at(use + 1) == b")":
                edits.append(replace(source, use - 2, _WIDE[source.at(use - 2)]))
        yield finding(
            RULE,
            source,
            at,
            f"{variable.decode()} holds a ballot, which has 64 bits now",
            edits=edits,
            fix="check shifts, comparisons and calls this mask goes into",
        )
        return
    yield finding(
        RULE,
        source,
        position,
        "a mask of lanes is stored: it has 64 bits now, and its reader must know"
        if native
        else "a mask of lanes is stored: it has the 32 bits CUDA stores",
        applicability=Applicability.REVIEW if native else Applicability.SAFE,
        fix="widen the memory and its readers, on the host too" if native else "",
    )

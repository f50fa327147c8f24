"""What the warp rules share: where an intrinsic is really used, full masks, and branches that are AMD's already."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rocport.binding.branches import branches
from rocport.model import Edit, Span
from rocport.rules.cuda.common import replace
from rocport.syntax.amd import is_amd_macro
from rocport.syntax.cuda import Call, CudaSource

HEADER = "rocport_warp.h"
LANES = 32

_SYNC_SHUFFLES = (b"__shfl_sync", b"__shfl_up_sync", b"__shfl_down_sync", b"__shfl_xor_sync")
_OLD_SHUFFLES = (b"__shfl", b"__shfl_up", b"__shfl_down", b"__shfl_xor")
_SYNC_VOTES = (b"__ballot_sync", b"__any_sync", b"__all_sync")
_OLD_VOTES = (b"__ballot", b"__any", b"__all")
_MATCHES = (b"__match_any_sync", b"__match_all_sync")
_REDUCES = tuple(b"__reduce_%s_sync" % op for op in (b"add", b"min", b"max", b"and", b"or", b"xor"))

SHUFFLES = _SYNC_SHUFFLES + _OLD_SHUFFLES
VOTES = (*_SYNC_VOTES, *_OLD_VOTES, b"__activemask")
MATCHES = _MATCHES + _REDUCES
MASKED = frozenset((*_SYNC_SHUFFLES, *_SYNC_VOTES, *MATCHES))
"""Intrinsics whose first argument is a mask."""
INTRINSICS = frozenset((*SHUFFLES, *VOTES, *MATCHES, b"__syncwarp"))

_FULL_MASK = re.compile(
    rb"(?:\(\s*(?:unsigned(?:\s+(?:int|long|long\s+long))?|int|uint|uint32_t|std::uint32_t)\s*\)\s*)?"
    rb"(?:0[xX](?:[fF]'?){8}[uUlL]*|0[xX](?:[fF]'?){16}[uUlL]*|4294967295[uUlL]*|~\s*0[xX]?0*[uUlL]*|-\s*1[uUlL]*"
    rb"|UINT_MAX|UINT32_MAX)"
)
_WORDS = (b"warp", b"WARP", b"Warp", b"lane", b"LANE", b"Lane", b"mask", b"MASK", b"Mask")
_KEYWORDS_BEFORE_CALL = frozenset(
    (b"return", b"else", b"case", b"do", b"throw", b"goto", b"and", b"or", b"not", b"sizeof", b"co_return", b"in")
)


def is_full_mask(text: bytes) -> bool:
    """True for a literal that names all 32 (or 64) lanes: 0xffffffff, ~0u, -1, UINT_MAX, with or without a cast."""
    stripped = text.strip()
    while stripped.startswith(b"(") and stripped.endswith(b")") and _balanced(stripped[1:-1]):
        stripped = stripped[1:-1].strip()
    return _FULL_MASK.fullmatch(stripped) is not None


def _balanced(text: bytes) -> bool:
    depth = 0
    for byte in text:
        depth += (byte == 40) - (byte == 41)
        if depth < 0:
            return False
    return depth == 0


@dataclass(frozen=True)
class Use:
    """One use of an intrinsic: its token, and its call where it is one (an alias in a macro body is none)."""

    position: int
    name: bytes
    call: Call | None


def uses(source: CudaSource, names: tuple[bytes, ...] | frozenset[bytes], by_hand: bool = False) -> Iterator[Use]:
    """Uses of the names, in order; definitions and macro names are left out.

    `by_hand`: those in branches that only an AMD build takes, instead of all others.
    """
    for position in sorted(source.find(*names)):
        if is_name_only(source, position) or is_definition(source, position):
            continue
        if amd_only(source, position) == by_hand:
            yield Use(position, source.at(position), source.call(position))


def is_name_only(source: CudaSource, position: int) -> bool:
    """True where the identifier names a member, a macro being defined, or stands in a conditional."""
    before = source.at(position - 1)
    if before in (b".", b"->") or source.qualified(position):
        return True
    directive = source.directive_of(position)
    if directive is None:
        return False
    if directive.name == b"define":
        return position == directive.first + 2
    return directive.name != b"pragma"


def is_definition(source: CudaSource, position: int) -> bool:
    """True where the identifier is declared or defined as a function: `T __shfl(T var, int lane)`."""
    if source.at(position + 1) != b"(":
        return False
    before = source.at(position - 1)
    if source.is_ident(position - 1) and before not in _KEYWORDS_BEFORE_CALL:
        directive = source.directive_of(position)
        if directive is None:
            return source.directive_of(position - 1) is None  # else the token before is an `#endif`
        # In `#define SHFL(v) __shfl(v)` the token before is the macro's name or its parameters, not a type.
        return position - 1 > directive.first + 2
    if before in (b"*", b"&", b">"):
        return any(function.name == position for function in source.functions)
    return False


def definitions(source: CudaSource, names: tuple[bytes, ...]) -> Iterator[int]:
    """Where the file declares or defines device functions of the names itself."""
    found = set(source.find(*names))
    for function in source.functions:
        if function.name in found and is_definition(source, function.name) and not amd_only(source, function.name):
            yield function.name


OF_WAVEFRONTS = "wavefronts in branches written for AMD"
"""The cause of what counts in wavefronts there, beside code that the port keeps at 32-lane warps."""


def amd_only(source: CudaSource, position: int) -> bool:
    """True in a branch of the preprocessor that only an AMD build takes: it is ported by hand already."""
    ranges = amd_ranges(source)
    at = bisect_right(ranges, (position, len(source.texts))) - 1
    return at >= 0 and position < ranges[at][1]


_WIDTH_OF_AMD = frozenset({b"warpSize", b"__AMDGCN_WAVEFRONT_SIZE", b"__AMDGCN_WAVEFRONT_SIZE__"})
_WIDTH_NAME = re.compile(rb"warp|wave", re.I)


def counts_in_wavefronts(source: CudaSource) -> bool:
    """True where a branch of the file's own for AMD says how wide a wavefront is, and code both platforms compile uses
    warp intrinsics: the author has taken the file to the wavefront's width already.

    The width belongs to the whole of a kernel. 32-lane intrinsics beside such a branch sum a part of the lanes.
    """
    if not amd_ranges(source):
        return False
    says = any(amd_only(source, position) for position in source.find(*_WIDTH_OF_AMD))
    if not says:
        says = any(
            source.texts[position] == b"64"
            and amd_only(source, position)
            and _WIDTH_NAME.search(b" ".join(source.texts[max(0, position - 3) : position])) is not None
            for position in source.positions(b"64")
        )
    return says and any(
        not amd_only(source, position) and not beside_amd(source, source.starts[position])
        for position in source.find(*INTRINSICS)
    )


def beside_amd(source: CudaSource, offset: int) -> bool:
    """True in a branch that has one for AMD beside it: it is CUDA's alone, its 32 lanes with it."""
    return any(start <= offset < end for start, end in _arms_beside_amd(source))


@lru_cache(maxsize=2)
def _arms_beside_amd(source: CudaSource) -> list[tuple[int, int]]:
    """Bytes of the branches beside one that is for AMD and holds code; one that refuses is none."""
    if not amd_ranges(source):
        return []
    refused = [source.starts[one.first] for one in source.directives if one.name == b"error"]
    found: list[tuple[int, int]] = []
    for chain in branches(source, False).chains:
        ours = [arm for arm in chain.branches if amd_only(source, arm.directive.last)]
        held = [arm for arm in ours if source.data[arm.start : arm.end].strip()]
        if any(not any(arm.start <= at < arm.end for at in refused) for arm in held):
            found += [(arm.start, arm.end) for arm in chain.branches if arm not in ours]
    return found


@lru_cache(maxsize=2)
def amd_ranges(source: CudaSource) -> list[tuple[int, int]]:
    """Token ranges of the branches that only an AMD build takes, in order, without those inside another."""
    ranges: list[tuple[int, int]] = []
    for first, last in sorted(_find_amd_ranges(source)):
        if not ranges or last > ranges[-1][1]:
            ranges.append((first, last))
    return ranges


def _find_amd_ranges(source: CudaSource) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    # One entry an open conditional: (start of the branch if it is AMD's, whether `#else` would be).
    stack: list[tuple[int | None, bool]] = []
    for directive in source.directives:
        name = directive.name
        if name in (b"if", b"ifdef", b"ifndef"):
            mine, other = _asks_for_amd(source, directive.first + 2, directive.last, name)
            stack.append((directive.last if mine else None, other))
        elif name in (b"elif", b"else", b"endif") and stack:
            start, other = stack.pop()
            if start is not None:
                ranges.append((start, directive.first))
            if name == b"elif":
                mine, _ = _asks_for_amd(source, directive.first + 2, directive.last, b"if")
                stack.append((directive.last if mine else None, False))
            elif name == b"else":
                stack.append((directive.last if other else None, False))
    return ranges


def _asks_for_amd(source: CudaSource, first: int, last: int, kind: bytes) -> tuple[bool, bool]:
    """(the branch is AMD's only, its `#else` is AMD's only)"""
    names = [at for at in range(first, last) if source.is_ident(at) and source.at(at) != b"defined"]
    amd = [at for at in names if is_amd_macro(source.at(at))]
    if not amd:
        return False, False
    if kind == b"ifdef":
        return True, False
    if kind == b"ifndef":
        return False, True
    operators = {source.at(at) for at in range(first, last)} & {b"&&", b"||"}
    negated = [at for at in amd if _is_negated(source, at, first)]
    if len(amd) == len(names) and len(negated) == len(amd) and operators <= {b"&&"}:
        return False, len(amd) == 1 or operators == {b"&&"}
    if negated:
        return False, False
    return b"||" not in operators or len(amd) == len(names), False


def _is_negated(source: CudaSource, position: int, first: int) -> bool:
    at = position - 1
    while at >= first and source.at(at) in (b"(", b"defined"):
        at -= 1
    return at >= first and source.at(at) == b"!"


def mask_edits(source: CudaSource, use: Use) -> tuple[Edit, ...]:
    """A full mask given as a literal becomes the header's name for it."""
    if use.call is None or use.name not in MASKED or not use.call.args:
        return ()
    first, last = use.call.args[0]
    if not is_full_mask(source.text(first, last)):
        return ()
    span = Span(source.starts[first], source.end(last - 1))
    return (Edit(span, b"rocport::full_warp_mask"),)


def rename(source: CudaSource, use: Use) -> tuple[Edit, ...]:
    """`__shfl_sync` becomes `rocport::shfl_sync`, and a literal full mask the header's name for it."""
    return (replace(source, use.position, b"rocport::" + use.name[2:]), *mask_edits(source, use))


@lru_cache(maxsize=2)
def speaks_of_warps(source: CudaSource) -> bool:
    """True when the text holds a word of warps, lanes or masks anywhere: a cheap test before searching for names."""
    data = source.data
    return any(word in data for word in _WORDS)


def argument(source: CudaSource, use: Use, number: int) -> bytes:
    """Text of an argument; empty when there is none."""
    if use.call is None or number >= len(use.call.args):
        return b""
    return source.text(*use.call.args[number])

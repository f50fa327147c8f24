"""What the device functions of one file hold, for the files that call them: one pass over bytes, kept in the index.

The walk over a file (`flow`) knows its own functions; of those in headers and other files it knows what is told here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from rocport.convergence.clues import IDLE_READS, LOAD, SWAPS

BLOCK, WARP_MEETS, POLLS, TRIES, VOTES = "block", "warp", "poll", "try", "vote"
"""A barrier of the block; an operation of the whole warp; a flag that is read; a lock that is tried once; a vote of the
whole block is what it returns."""

BLOCK_BARRIER = re.compile(rb"\b(?:bar|barrier)\.(?:cta\.)?sync(?:\.aligned)?(?:\.all)?\s+(?:0|0x0)\s*;")
"""A barrier of the whole block in PTX; one with another number or a count of threads is a named barrier."""

_FUNCTION = re.compile(
    rb"__(?:device|global)__(?<=\b__(?:device|global)__)\b"
    rb"|(?m:^)[ \t]*(?:(?:static|inline|constexpr)[ \t]+)*[A-Z_][A-Z0-9_]+(?=\s+[a-zA-Z_])"
)
"""Where a function of the device may begin: at its execution space, or at a macro before a type, which may be one."""
_NAME = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_DEFINE = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)")
_NOT_NAMES = frozenset({b"__launch_bounds__", b"__attribute__", b"__align__", b"alignas", b"decltype", b"if", b"for"})
_BARRIER = re.compile(
    rb"\b(?:__syncthreads(?:_and|_or|_count)?|__barrier_sync)\s*\(|\bthis_thread_block\s*\(\s*\)\s*\.\s*sync\b"
)
WHOLE_WARP = re.compile(
    rb"0[xX][fF]{8}[uUlL]*|~\s*0[uUlL]*|-\s*1|[A-Z][A-Z0-9_]*|k[A-Z]\w*|\(\s*unsigned(?:\s+int)?\s*\)\s*-\s*1|UINT_MAX"
)
"""A mask that names the whole warp, or a constant that may."""
_WARP = re.compile(
    rb"\b__(?:syncwarp\s*\(\s*\)|(?:syncwarp|(?:shfl(?:_up|_down|_xor)?|ballot|any|all|reduce_\w+|match_\w+)_sync)"
    rb"\s*\(\s*(?:%s)\s*[,)])" % WHOLE_WARP.pattern
)
_VOTE = re.compile(rb"\breturn\s*[!(]*__syncthreads_(?:and|or|count)\s*\(")
_ASKED = re.compile(rb"\bif\s*(?:constexpr\s*)?\(([^()]*)\)")
_OF_BLOCK = re.compile(rb"\s*[A-Z][A-Z0-9_]*\s*[<>=!]=?\s*(?:\d+|[A-Z][A-Z0-9_]*)\s*")
"""`NUM_WARPS > 1`: template parameters and macros, which are the same in the block."""
_READS = re.compile(
    rb"\bvolatile\b[^;]*\*|[.>]\s*load\s*\(|\bld\.(?:volatile|acquire|relaxed)|\b(?i:%s)\s*\("
    % LOAD.pattern.removeprefix(b"(?i)")
)
_SWAP = re.compile(rb"\b(?:%s)\s*\(|\batom\.[\w.:]*(?:cas|exch)" % SWAPS.pattern)
_IDLE = re.compile(rb"\b(?:%s)\s*\([^;]*,\s*0[uUlL]*\s*\)" % IDLE_READS.pattern)
_LOOP = re.compile(rb"\b(?:for|while|do|goto)\b")
_BRACE = re.compile(rb"[{}]")
_MARK = re.compile(rb"[();{]")
_NOT_CALLS = frozenset(
    b"if for while switch return sizeof static_cast reinterpret_cast min max atomicAdd assert".split()
)
_MOST = 6
"""Statements of a function that does no more than read a flag or try a lock."""


Meets = dict[bytes, frozenset[str]]
Calls = dict[bytes, frozenset[bytes]]


def meets_of(data: bytes) -> tuple[Meets, Calls]:
    """Device functions and macros a file defines -> what they hold, themselves or in another of the file; and the names
    of other files that they call."""
    bodies: dict[bytes, list[bytes]] = {}
    for name, body in (*_functions(data), *_macros(data)):
        bodies.setdefault(name, []).append(body)
    found = {name: frozenset(kind for body in own for kind in _kinds(body)) for name, own in bodies.items()}
    every = {name: {call for body in own for call in _NAME.findall(body)} for name, own in bodies.items()}
    callers: dict[bytes, list[bytes]] = {}
    for name, called in every.items():
        for call in called:
            if call in found:
                callers.setdefault(call, []).append(name)
    for kind in (BLOCK, WARP_MEETS):
        fresh = [name for name, kinds in found.items() if kind in kinds]
        while fresh:
            for caller in callers.get(fresh.pop(), ()):
                if kind not in found[caller]:
                    found[caller] |= {kind}
                    fresh.append(caller)
    outward = {
        name: frozenset(call for call in called if call not in found and call[:2] != b"__")
        for name, called in every.items()
    }
    return found, {name: called - _NOT_CALLS for name, called in outward.items() if called - _NOT_CALLS}


def _functions(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name, body) of the device functions; comments and strings are not told from code. Each byte of what stands
    before a body is looked at once, however many heads are open."""
    if _FUNCTION.search(data) is None:
        return
    behind, marks = _partners(data)
    end, named = 0, None
    for match in _FUNCTION.finditer(data):
        if match.start() < end:
            continue
        if named is None or named.start() < match.end():
            named = _NAME.search(data, match.end())
            while named is not None and named.group(1) in _NOT_NAMES:
                named = _NAME.search(data, behind.get(named.end() - 1, len(data)))
            if named is None:
                return
        if marks[bisect_left(marks, match.end())] < named.start():
            continue
        at = behind.get(named.end() - 1, len(data))
        open_ = marks[bisect_left(marks, at)]
        if data[open_ : open_ + 1] != b"{":
            continue
        end = _body_end(data, open_)
        yield named.group(1), data[open_:end]


def _macros(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name, text) of the macros that hold something."""
    for match in _DEFINE.finditer(data) if b"sync" in data else ():
        if b"sync" in match.group(2):
            yield match.group(1), match.group(2)


def _partners(data: bytes) -> tuple[dict[int, int], list[int]]:
    """Position of `(` -> behind its partner, for those that have one; where `;` and `{` are, then the end."""
    behind: dict[int, int] = {}
    marks: list[int] = []
    opened: list[int] = []
    for match in _MARK.finditer(data):
        if match.group() == b"(":
            opened.append(match.start())
        elif match.group() != b")":
            marks.append(match.start())
        elif opened:
            behind[opened.pop()] = match.end()
    return behind, [*marks, len(data)]


def _body_end(data: bytes, at: int) -> int:
    """Behind the partner of the brace at `at`, or the end."""
    depth = 0
    for match in _BRACE.finditer(data, at):
        depth += 1 if match.group() == b"{" else -1
        if depth == 0:
            return match.end()
    return len(data)


def _kinds(body: bytes) -> Iterator[str]:
    if b"sync" in body:
        if _BARRIER.search(body) or BLOCK_BARRIER.search(body):
            yield BLOCK
        if _WARP.search(body):
            yield WARP_MEETS
        if _is_vote(body):
            yield VOTES
    if len(body) < 600 and b"return" in body and body.count(b";") <= _MOST and not _LOOP.search(body):
        if _SWAP.search(body):
            yield TRIES
        elif _READS.search(body) or _IDLE.search(body):
            yield POLLS


def _is_vote(body: bytes) -> bool:
    """True where all that a function does is to vote: `if (WARPS > 1) return __syncthreads_or(p); else return any(p);`,
    with one warp to a block where it asks that, and votes of the block else."""
    if _VOTE.search(body) is None or b"threadIdx" in body or _LOOP.search(body):
        return False
    asked = _ASKED.findall(body)
    statements = body.strip(b"{} \t\r\n").split(b";")
    votes = sum(1 for item in statements if _VOTE.search(item))
    returns = sum(1 for item in statements if re.search(rb"\breturn\b", item))
    if len(asked) != len(re.findall(rb"\bif\b", body)) or any(not _OF_BLOCK.fullmatch(item) for item in asked):
        return False
    plain = all(not item.strip(b"} \t\r\n") or re.search(rb"\breturn\b", item) for item in statements)
    return plain and (votes == returns or (len(asked) == 1 and votes + 1 == returns))

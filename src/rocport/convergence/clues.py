"""Where a file could hold what the rules ask for, from tokens alone: nothing is walked that shows no clue.

Every answer here is a superset of what a walk would find: a place that is no clue is no finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rocport.convergence.structure import Statement
from rocport.syntax.cuda import CudaSource

SWAPS = re.compile(rb"atomic(?:CAS|Exch)(?:_block|_system)?|compare_exchange_(?:weak|strong)|test_and_set|exchange")
IDLE_READS = re.compile(rb"atomic(?:Add|Or|Max|Xor|Sub)(?:_block|_system)?|fetch_(?:add|or|sub)")
LOAD = re.compile(
    rb"(?i)\w*(?:atomic_?load|load_?acquire|ld_?acquire|ld_?acq|load_?volatile|volatile_?load|ld_?volatile)\w*"
    rb"|__ldcv|__ldcg"
)
ASM = (b"asm", b"__asm__", b"__asm")
ASM_LOAD = re.compile(rb"\b(?:ld|ldu)\.(?!param)[\w.:]*|\batom\.[\w.]*(?:or|add|cas|exch)")
ASM_SWAP = re.compile(rb"\batom\.[\w.:]*(?:cas|exch)")
WRITES = frozenset((b"=", b"+=", b"-=", b"*=", b"/=", b"|=", b"&=", b"^=", b"<<=", b"++", b"--"))
ZERO = (b"0", b"0u", b"0U", b"0ull", b"0ULL", b"0ll")
_IDLE = re.compile(rb"__nanosleep|nanosleep|__threadfence\w*|__syncwarp|continue|clock\w*|__builtin_\w*sleep\w*|usleep")
_DECLARATION = 8
"""Tokens of a declaration that its qualifiers stand in."""

LOCK, FLAG, TOGETHER, SECTION = "lock", "flag", "together", "section"


def polling(source: CudaSource, inside: Iterable[tuple[int, int]]) -> list[int]:
    """Tokens at which another thread's word may be read: atomics, volatile names, PTX. In order.

    `inside` are the token ranges of the bodies that will be walked.
    """
    found: set[int] = set()
    for name, places in source.index.items():
        if _may_poll(name):
            found.update(at for at in places if _polls(source, name, at))
    for name in _volatile_names(source, inside):
        found.update(source.index.get(name, ()))
    return sorted(found)


@lru_cache(1 << 16)
def _may_poll(name: bytes) -> bool:
    return (
        name in ASM
        or name == b"load"
        or SWAPS.fullmatch(name) is not None
        or IDLE_READS.fullmatch(name) is not None
        or LOAD.fullmatch(name) is not None
    )


def _polls(source: CudaSource, name: bytes, at: int) -> bool:
    if name in ASM:
        text = source.text(at, asm_close(source, at) + 1)
        return ASM_SWAP.search(text) is not None or ASM_LOAD.search(text) is not None
    call = source.call(at)
    if call is None:
        return False
    if IDLE_READS.fullmatch(name):
        return len(call.args) == 2 and source.text(*call.args[1]).strip() in ZERO
    return name != b"load" or source.at(at - 1) in (b".", b"->")


def _volatile_names(source: CudaSource, inside: Iterable[tuple[int, int]]) -> set[bytes]:
    """Names that a declaration with `volatile` in it may declare."""
    found: set[bytes] = set()
    places = source.index.get(b"volatile", [])
    for at in places:
        found.update(source.at(i) for i in range(at + 1, at + 7) if source.is_ident(i))
    for first, last in inside if places else ():
        for at in places:
            if first <= at < last:
                found.update(_declared(source, max(first, at - _DECLARATION), at, last))
    return found


def _declared(source: CudaSource, first: int, volatile: int, last: int) -> Iterator[bytes]:
    end = volatile
    while end < last and source.at(end) != b";":
        end = source.pairs.get(end, end) + 1 if source.at(end) in (b"(", b"[", b"{") else end + 1
    for at in range(first, min(end, last)):
        if (
            source.is_ident(at)
            and source.at(at + 1) in (b";", b",", b"=", b"[", b"{", b"(")
            and (source.is_ident(at - 1) or source.at(at - 1) in (b"*", b"&", b">", b","))
        ):
            yield source.at(at)


def written_in(source: CudaSource, loop: Statement) -> set[bytes]:
    """Variables that the loop changes."""
    found = set()
    first = loop.condition[0] if loop.kind == "for" and loop.condition is not None else loop.first
    for at in range(first, loop.last):
        if source.at(at) in WRITES:
            # The lexer gives `>>=` as three tokens, because templates close with the first two.
            before = at - 3 if source.texts[at - 2 : at] == [b">", b">"] else at - 1
            for side in (before, at + 1) if source.at(at) in (b"++", b"--") else (before,):
                if source.is_ident(side):
                    found.add(source.at(side))
        elif source.at(at) == b"&" and source.at(at - 1) in (b"(", b",") and source.at(at + 2) in (b")", b","):
            if not source.at(at - 2).startswith(b"atomic"):
                found.add(source.at(at + 1))
        elif (
            source.at(at) in (b".", b"->")
            and source.at(at + 2) == b"("
            and source.at(at - 2) in (b";", b"{", b"}", b")")
        ):
            found.add(source.at(at - 1))  # a method called for what it changes
        elif source.at(at).startswith((b'"=', b'"+')) and source.at(at + 1) == b"(":
            found.add(source.at(at + 2))
    return found


def by_thread(source: CudaSource, loop: Statement, begin: int) -> bool:
    """True where a thread's index, or memory, may decide how often a loop goes round; `begin` is the function's."""
    assert loop.condition is not None, "a loop has a condition"
    first, last = loop.head or loop.condition
    words = set(source.texts[first:last])
    if b"threadIdx" in words or b"[" in words or b"->" in words:
        return True
    places = source.index.get(b"threadIdx", ())
    return any(_assigned(source, at, begin) in words for at in places if begin <= at < loop.last)


def _assigned(source: CudaSource, at: int, begin: int) -> bytes:
    """The variable that the expression around a token is assigned to."""
    while at > begin and source.at(at) not in (b";", b"{", b"}"):
        if source.at(at) == b"=":
            return source.at(at - 1)
        at -= 1
    return b""


def asm_close(source: CudaSource, at: int) -> int:
    """The closing parenthesis of an asm statement, from its keyword."""
    open_ = at + 1
    while source.at(open_) in (b"volatile", b"__volatile__", b"__volatile") and open_ < at + 4:
        open_ += 1
    return source.pairs.get(open_, at)


def idle(source: CudaSource, loop: Statement, written: set[bytes] | None = None) -> tuple[str, bytes] | None:
    """`while (flag[i] == 0) ;`: nothing in the loop changes what it asks."""
    assert loop.condition is not None, "a loop has a condition"
    condition = range(*loop.condition)
    if not any(source.at(at) in (b"[", b"*", b"->") for at in condition):
        return None
    for part in loop.body:
        for at in range(part.first, part.last):
            if source.is_ident(at) and _IDLE.fullmatch(source.at(at)) is None and source.at(at + 1) != b")":
                return None
    if written is None:
        written = written_in(source, loop)
    if any(source.at(at) in written for at in condition):
        return None
    if loop.kind == "for" and loop.condition is not None and loop.head is not None and written:
        return None
    names = [source.at(at) for at in condition if source.is_ident(at)]
    return (
        (FLAG, names[0]) if names and not any(source.at(at) == b"(" for at in condition if at > condition[0]) else None
    )

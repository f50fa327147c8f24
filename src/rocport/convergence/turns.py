"""Loops that every thread goes round as often although the bounds differ: `for (t = a + i; t < b + i; t += step)`, and
`for (t = i; t < round_up(n, step); t += step)`, where a block has at most `step` threads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from rocport.convergence.structure import Statement
from rocport.convergence.values import UNIFORM, Value
from rocport.syntax.cuda import CudaSource, between

_RELATIONS = (b"<", b"<=", b">", b">=")
_CHANGES = (b"=", b"+=", b"-=", b"*=", b"/=", b"%=", b"|=", b"&=", b"^=", b"<<=", b">>=", b"++", b"--")


def equal(source: CudaSource, loop: Statement, read: Callable[[int, int], Value]) -> bool:
    """True for a `for` whose counter begins and ends with the same terms that differ between threads, changed by a step
    that does not. `read` gives the value of an expression, as tokens [first, last)."""
    if loop.kind != "for" or loop.head is None or loop.condition is None:
        return False
    first, last = loop.condition
    if last - first < 3 or source.at(first + 1) not in _RELATIONS or not source.is_ident(first):
        return False
    counter = source.at(first)
    begin = _initial(source, loop.head[0], first, counter)
    behind = first + 3 if source.at(first + 1) == b">" and source.at(first + 2) == b"=" else first + 2  # `>=` is two
    bound, names = (behind, last), {counter}
    if last - behind == 1 and source.is_ident(behind):
        bound = _initial(source, loop.head[0], first, source.at(behind)) or bound
        names.add(source.at(behind))
    step = _step(source, last, loop.head[1], counter)
    if begin is None or step is None or read(*step).level != UNIFORM:
        return False
    starts, ends = _differing(source, *begin, read), _differing(source, *bound, read)
    if starts is None or ends is None:
        return False
    if starts != ends and (
        ends or source.texts[first + 1 : behind] != [b"<"] or not _whole(source, begin, bound, step, read)
    ):
        return False
    kept = {*names, *(word for _, text in starts for word in text)}
    inside = range(loop.head[1] + 1, loop.last)
    return not any(source.at(at) in kept and _changes(source, at) for at in inside)


def _whole(
    source: CudaSource,
    begin: tuple[int, int],
    bound: tuple[int, int],
    step: tuple[int, int],
    read: Callable[[int, int], Value],
) -> bool:
    """True where the counter begins with the thread's index, and the bound lies whole steps behind what is added."""
    by = _plain(source, *step)
    terms, ends = _terms(source, *begin), _terms(source, *_meant(source, *bound))
    threads = [term for term in terms if read(*term[1]).level != UNIFORM]
    if len(threads) != 1 or threads[0][0] != b"+" or read(*threads[0][1]).index != "thread" or not by:
        return False
    rest = Counter((sign, _plain(source, *part)) for sign, part in terms if (sign, part) != threads[0])
    for sign, part in ends:
        if rest[sign, _plain(source, *part)]:
            rest[sign, _plain(source, *part)] -= 1
        elif not _is_multiple(source, *_meant(source, *part), by):
            return False
    return not rest.total()


_ROUNDS = re.compile(rb"(?i)\w*(?:round|align|pad|ceil)_?(?:up|to|mul\w*)\w*|\w*next_?multiple\w*")


def _is_multiple(source: CudaSource, first: int, last: int, by: bytes) -> bool:
    """True for `round_up(n, step)` and for a product with the step."""
    close = source.pairs.get(first + 1, 0)
    if close == last - 1 and source.at(first + 1) == b"(" and _ROUNDS.fullmatch(source.at(first)):
        return _plain(source, *source.split(first + 1, close)[-1]) == by
    start, at, factors = first, first, []
    while at <= last:
        if at == last or source.at(at) in (b"*", b"/", b"%"):
            factors.append((source.at(start - 1) if start > first else b"*", _plain(source, start, at)))
            start = at + 1
        at = source.pairs.get(at, at) + 1 if source.at(at) in (b"(", b"[") and at < last else at + 1
    # What is divided or taken apart behind it is no multiple any more.
    return factors[-1] == (b"*", by) or (all(sign == b"*" for sign, _ in factors) and (b"*", by) in factors)


def _meant(source: CudaSource, first: int, last: int) -> tuple[int, int]:
    """The tokens that a name stands for where its function gives it one value, before the place."""
    function = source.enclosing(first)
    if last - first != 1 or not source.is_ident(first) or function is None or function.body is None:
        return first, last
    places = between(source.index[source.at(first)], *function.body)
    given = [at for at in places if _changes(source, at)]
    if len(given) != 1 or given[0] > first or source.at(given[0] + 1) != b"=":
        return first, last
    return given[0] + 2, source.until(given[0] + 2, b";", b",")


def _plain(source: CudaSource, first: int, last: int) -> bytes:
    """The text without casts and brackets around it."""
    while last - first > 2:
        close = source.pairs.get(first)
        if source.at(first) == b"(" and close == last - 1:
            first, last = first + 1, last - 1
        elif (
            source.at(first) == b"(" and close is not None and close < last - 1 and source.at(close + 1) not in _BINARY
        ):
            first = close + 1
        elif source.at(first) == b"static_cast" and source.pairs.get(last - 1, 0) > first:
            first = source.pairs[last - 1]
        else:
            break
    return b" ".join(source.texts[first:last])


_BINARY = frozenset((b"*", b"/", b"%", b"+", b"-", b".", b"->", b"["))


def _terms(source: CudaSource, first: int, last: int) -> list[tuple[bytes, tuple[int, int]]]:
    """The terms of a sum, with their signs."""
    found, sign, start, at = [], b"+", first, first
    while at <= last:
        if at == last or (source.at(at) in (b"+", b"-") and at > start):
            found.append((sign, (start, at)))
            sign, start = source.at(at), at + 1
        at = source.pairs.get(at, at) + 1 if source.at(at) in (b"(", b"[") and at < last else at + 1
    return found


def _changes(source: CudaSource, at: int) -> bool:
    """True for a name that is assigned, stepped, or whose address is taken. `>>=` is three tokens."""
    behind = source.at(at + 1)
    shifted = behind == b">" and source.texts[at + 2 : at + 4] == [b">", b"="]
    return shifted or behind in _CHANGES or source.at(at - 1) in (b"++", b"--", b"&")


def _initial(source: CudaSource, first: int, last: int, name: bytes) -> tuple[int, int] | None:
    """The tokens behind `name =` in the first part of the head."""
    for at in range(first, last):
        if source.at(at) == name and source.at(at + 1) == b"=":
            end = at + 2
            while end < last and source.at(end) not in (b",", b";"):
                end = source.pairs.get(end, end) + 1 if source.at(end) in (b"(", b"[") else end + 1
            return at + 2, end
    return None


def _step(source: CudaSource, first: int, last: int, counter: bytes) -> tuple[int, int] | None:
    """The tokens of what the counter changes by; those of the counter itself count as none: `++t` is an empty range."""
    at = first + 1 if source.at(first) == b";" else first
    while last > at and source.at(last - 1) == b")" and source.pairs.get(last - 1, last) < at:
        last -= 1
    if source.at(at) in (b"++", b"--") and source.at(at + 1) == counter and last == at + 2:
        return at, at
    if source.at(at) != counter:
        return None
    if source.at(at + 1) in (b"++", b"--") and last == at + 2:
        return at, at
    return (at + 2, last) if source.at(at + 1) in (b"+=", b"-=") else None


def _differing(
    source: CudaSource, first: int, last: int, read: Callable[[int, int], Value]
) -> Counter[tuple[bytes, tuple[bytes, ...]]] | None:
    """The terms of a sum that differ between threads, with their signs; None where it is no sum of terms."""
    found: Counter[tuple[bytes, tuple[bytes, ...]]] = Counter()
    sign, start, at = b"+", first, first
    while at <= last:
        text = source.at(at) if at < last else b"+"
        if text == b"<" and source.is_ident(at - 1) and (end := source.angle_end(at)) is not None and end < last:
            at = end + 1
            continue
        if text in (b"?", b"<", b">", b"<<", b"&", b"|", b"^", b"&&", b"||"):  # `>>` and `>=` begin with `>`
            return None
        if at == last or (text in (b"+", b"-") and at > start):
            if read(start, at).level != UNIFORM:
                found[sign, tuple(source.texts[start:at])] += 1
            sign, start = text, at + 1
        at = source.pairs.get(at, at) + 1 if text in (b"(", b"[") and at < last else at + 1
    return found

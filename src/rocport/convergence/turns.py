"""Loops that every thread goes round as often although the bounds differ: `for (t = a + i; t < b + i; t += step)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rocport.convergence.structure import Statement
from rocport.convergence.values import UNIFORM, Value
from rocport.syntax.cuda import CudaSource

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
    if starts is None or starts != ends:
        return False
    kept = {*names, *(word for _, text in starts for word in text)}
    inside = range(loop.head[1] + 1, loop.last)
    return not any(source.at(at) in kept and _changes(source, at) for at in inside)


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

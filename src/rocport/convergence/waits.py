"""Loops in device code that wait for another thread: locks that are taken, flags that are polled.

A loop waits when nothing but what another thread writes can end it. A lock is taken by a compare-and-swap (or an
exchange) of a value that the loop itself does not compute, at a place that stays the same; a flag is read by an atomic
load, through a volatile name, by PTX, or by a function that does no more than that. A loop that counts its attempts,
tries another place each time, or does the work and gives the lock back inside the branch where it was taken, ends by
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from rocport.convergence.clues import (
    ASM,
    ASM_LOAD,
    ASM_SWAP,
    FLAG,
    IDLE_READS,
    LOAD,
    LOCK,
    SECTION,
    SWAPS,
    TOGETHER,
    WRITES,
    ZERO,
    asm_close,
    idle,
    written_in,
)
from rocport.convergence.elsewhere import POLLS, TRIES
from rocport.convergence.flow import Body, Guard, Unit
from rocport.convergence.structure import LOOPS, Statement
from rocport.syntax.cuda import CudaSource

_UNLOCKS = re.compile(rb"(?i)\w*(?:unlock|release|leave|give_?back)\w*")


@dataclass(frozen=True)
class Wait:
    """One loop that waits: `kind` is LOCK, FLAG, TOGETHER where a block goes round with a barrier until a flag of
    another block says so, or SECTION where a branch of the loop takes a lock and gives it back; `at` the first token,
    `last` the last one of its condition."""

    kind: str
    statement: Statement
    at: int
    last: int
    guards: tuple[Guard, ...]
    place: bytes = b""
    """The lock as written, where it is known."""


@dataclass(frozen=True)
class Region:
    """From a statement that takes a lock to the one that gives it back, in the same list of statements."""

    first: Statement
    last: Statement
    guards: tuple[Guard, ...]
    movable: bool
    """False where control leaves the region or a name declared in it is used behind it."""
    why: str = ""


def waits(unit: Unit, body: Body) -> Iterator[Wait]:
    """Loops of the function that wait, in order."""
    for place in body.loops:
        loop = place.statement
        found = _loop(unit, body, loop)
        if found is not None:
            kind, where = found
            last = loop.head[1] if loop.head is not None else loop.first
            yield Wait(kind, loop, loop.first, max(loop.first, last), place.guards, where)
    yield from _jumps(unit, body)


def takes_lock(unit: Unit, name: bytes) -> bool:
    """True for a function of this file that returns with a lock taken."""
    return any(wait.kind == LOCK for body in unit.named(name) for wait in waits(unit, body))


def regions(unit: Unit, body: Body) -> Iterator[Region]:
    """Critical sections whose beginning and end stand in one list of statements, the outermost of each list."""
    for items, guards in _lists(body):
        number = 0
        while number < len(items):
            place = _taken(unit, body, items[number])
            end = None
            if place is not None:
                end = next((at for at in range(number + 1, len(items)) if _gives_back(unit, items[at], place)), None)
            if end is None:
                number += 1
                continue
            # `lock(a); lock(b); ...; unlock(b); unlock(a);` is one region up to the last of them.
            why = _immovable(unit, items[number : end + 1], items[end + 1 :])
            yield Region(items[number], items[end], guards, not why, why)
            number = end + 1


def _lists(body: Body) -> Iterator[tuple[tuple[Statement, ...], tuple[Guard, ...]]]:
    known = {place.statement: place.guards for place in (*body.loops, *(place for place, _, _ in body.branches))}
    values = {place.statement: value for place, value, _ in body.branches}

    def inside(
        items: tuple[Statement, ...], guards: tuple[Guard, ...]
    ) -> Iterator[tuple[tuple[Statement, ...], tuple[Guard, ...]]]:
        yield items, guards
        for item in items:
            if item.kind == "if":
                own = (*known.get(item, guards), *([Guard(item, values[item])] if item in values else []))
                yield from inside(item.body, own)
                yield from inside(item.other, known.get(item, guards))
            elif item.body:
                yield from inside(item.body, known.get(item, guards))

    yield from inside(body.statements, ())


# ---- one loop --------------------------------------------------------------------------------------------------------


def _loop(unit: Unit, body: Body, loop: Statement) -> tuple[str, bytes] | None:
    if loop not in unit.loops:
        unit.loops[loop] = None  # for a function that calls itself in the loop
        unit.loops[loop] = _waits_for(unit, body, loop)
    return unit.loops[loop]


def _waits_for(unit: Unit, body: Body, loop: Statement) -> tuple[str, bytes] | None:
    source = unit.source
    assert loop.condition is not None
    condition = range(*loop.condition)
    inside = [item for part in loop.body for item in part.walk()]
    if any(operation.kind == "block" for operation in unit.operations((loop,))):
        return _together(unit, body, loop, inside)
    if not unit.may_wait(loop):
        return idle(source, loop)
    held = section(unit, loop)
    if held is not None:
        return SECTION, held[1]
    written = written_in(source, loop)
    asked = [condition, *_exit_conditions(loop, inside)]
    polls = [found for tokens in asked for found in [_poll(unit, body, tokens, loop, written)] if found is not None]
    if not polls:
        return idle(source, loop, written)
    if _gives_back_inside(unit, loop, inside):
        return None
    polls = [found for found in polls if not _stores(source, loop, found[1])]
    if not polls:
        return None  # it writes what it reads until its own value stays
    if any(_counts(unit, body, tokens, loop, written) for tokens in asked):
        return None
    lock = next((found for found in polls if found[0] == LOCK), None)
    return lock or polls[0]


def _together(unit: Unit, body: Body, loop: Statement, inside: list[Statement]) -> tuple[str, bytes] | None:
    """What a block waits for that goes round with a barrier: `while (__syncthreads_and(state != turn)) fetch();`."""
    assert loop.condition is not None
    source, written = unit.source, written_in(unit.source, loop)
    for tokens in (range(*loop.condition), *_exit_conditions(loop, inside)):
        found = _poll(unit, body, tokens, loop, written) or _fetched(unit, loop, tokens)
        if found is None or _stores(source, loop, found[1]):
            continue
        return None if _counts(unit, body, tokens, loop, written) else (TOGETHER, found[1])
    return None


def _fetched(unit: Unit, loop: Statement, tokens: range) -> tuple[str, bytes] | None:
    """A name in a condition that a function called in the loop reads from memory another block writes."""
    source = unit.source
    asked = {source.at(at) for at in tokens if source.is_ident(at)}
    for at in range(loop.first, loop.last):
        for called in unit.named(source.at(at)) if source.at(at + 1) == b"(" else ():
            for statement in (item for outer in called.statements for item in outer.walk()):
                words = range(statement.first, statement.last)
                if asked.isdisjoint(source.texts[statement.first : statement.last]):
                    continue
                if any(_read_at(unit, called, i, set()) is not None for i in words if source.is_ident(i)):
                    return FLAG, source.at(at)
    return None


def _stores(source: CudaSource, loop: Statement, name: bytes) -> bool:
    """True for `name[i] = ...` in the loop."""
    for part in loop.body:
        for at in range(part.first, part.last):
            close = source.pairs.get(at + 1) if source.at(at) == name and source.at(at + 1) == b"[" else None
            if close is not None and source.at(close + 1) == b"=":
                return True
    return False


def _exit_conditions(loop: Statement, inside: list[Statement]) -> Iterator[range]:
    """Conditions of the `if`s that leave the loop, or that alone let it go on."""
    nested: set[Statement] = set()
    for item in inside:
        if item.kind in (*LOOPS, "switch"):
            nested.update(inner for inner in item.walk() if inner is not item and inner.kind == "break")
    for item in inside:
        if item.kind != "if" or item.condition is None:
            continue
        leaving = any(
            (inner.kind == "break" and inner not in nested) or inner.kind in ("return", "goto")
            for part in (*item.body, *item.other)
            for inner in part.walk()
        )
        if leaving or _only_progress(loop, item):
            yield range(*item.condition)


def _only_progress(loop: Statement, item: Statement) -> bool:
    """True where the `if` is all there is in the loop: `while (i < n) { if (ready(i)) ++i; }`."""
    return (
        loop.kind == "while"
        and item in loop.inner
        and all(other is item or other.kind == "expression" for other in loop.inner)
    )


def _poll(unit: Unit, body: Body, tokens: range, loop: Statement, written: set[bytes]) -> tuple[str, bytes] | None:
    """What a condition waits for: through the expression itself or a variable that the loop loads."""
    source = unit.source
    for at in tokens:
        if not source.is_ident(at):
            continue
        found = _read_at(unit, body, at, written)
        if found is not None:
            return found
        if source.at(at) in written and source.at(at - 1) not in (b".", b"->"):
            for place in _assignments(unit, loop, source.at(at)):
                for inner in place:
                    if source.is_ident(inner):
                        found = _read_at(unit, body, inner, written)
                        if found is not None and not _feeds_back(source, inner, source.at(at), loop):
                            return found
    return None


def _assignments(unit: Unit, loop: Statement, name: bytes) -> Iterator[range]:
    """Right sides of `name = ...` in the loop; the keyword of an asm statement that writes it."""
    source = unit.source
    if loop not in unit.assigned:
        unit.assigned[loop] = _assigned(source, loop)
    for at in unit.assigned[loop].get(name, ()):
        if source.at(at) in ASM:
            yield range(at, at + 1)
            continue
        end = at + 2
        while end < loop.last and source.at(end) not in (b";", b"{", b"}"):
            end = source.pairs.get(end, end) + 1 if source.at(end) in (b"(", b"[") else end + 1
        yield range(at + 2, min(end, loop.last))


def _assigned(source: CudaSource, loop: Statement) -> dict[bytes, list[int]]:
    """For each name the places of `name = ...` in the loop, then the keywords of the asm statements that write it."""
    found: dict[bytes, list[int]] = {}
    first = loop.condition[0] if loop.kind == "for" and loop.condition is not None else loop.first
    for at in range(first, loop.last):
        if source.at(at + 1) == b"=":
            found.setdefault(source.at(at), []).append(at)
    for at in range(loop.first, loop.last):
        if source.at(at) in ASM:
            operands = range(at, asm_close(source, at))
            for name in {source.at(i) for i in operands if source.at(i - 2)[:2] in (b'"=', b'"+')}:
                found.setdefault(name, []).append(at)
    return found


def _feeds_back(source: CudaSource, at: int, name: bytes, loop: Statement) -> bool:
    """True for `old = atomicCAS(p, assumed, ...)` where `assumed` comes from `old`: it retries with what it saw."""
    call = source.call(at)
    if call is None or len(call.args) < 2 or SWAPS.fullmatch(source.at(at)) is None:
        return False
    given = {source.at(i) for first, last in call.args[1:] for i in range(first, last) if source.is_ident(i)}
    if name in given:
        return True
    return any(
        source.at(i) == b"=" and source.at(i - 1) in given and name in source.texts[i + 1 : i + 4]
        for i in range(loop.first, loop.last)
    )


def _read_at(unit: Unit, body: Body, at: int, written: set[bytes]) -> tuple[str, bytes] | None:
    """The lock taken, or the flag read, by the name at a token; the place must stay the same."""
    source = unit.source
    name = source.at(at)
    if name in ASM:
        text = source.text(at, asm_close(source, at) + 1)
        if ASM_SWAP.search(text):
            return LOCK, b""
        return (FLAG, b"") if ASM_LOAD.search(text) and b".nc" not in text else None
    call = source.call(at)
    if call is None:
        if name in body.volatile or _declared_volatile(source, name, at):
            index = source.pairs.get(at + 1) if source.at(at + 1) == b"[" else None
            if index is not None and written.intersection(source.texts[at + 2 : index]):
                return None
            return (FLAG, name) if name not in written else None
        return None
    place = source.text(*call.args[0]).strip() if call.args else b""
    moving = bool(call.args) and bool(written.intersection(source.texts[slice(*call.args[0])]))
    if source.at(at - 1) in (b".", b"->"):
        place = source.at(at - 2)
    if SWAPS.fullmatch(name):
        if moving or not _takes(source, name, call.args, written):
            return None
        if (
            name.startswith(b"atomicCAS")
            and len(call.args) == 3
            and len({source.text(*part).strip() for part in call.args[1:]}) == 1
        ):
            return FLAG, place  # atomicCAS(p, 0, 0) reads
        return LOCK, place
    if IDLE_READS.fullmatch(name) and len(call.args) == 2 and source.text(*call.args[1]).strip() in ZERO:
        return None if moving else (FLAG, place)
    if LOAD.fullmatch(name) or (name == b"load" and source.at(at - 1) in (b".", b"->")):
        return FLAG, place
    return _through(unit, name, place, moving)


def _takes(source: CudaSource, name: bytes, arguments: tuple[tuple[int, int], ...], written: set[bytes]) -> bool:
    """True where the values given are not computed by the loop, or from what the attempt before has seen."""
    if name.startswith(b"compare_exchange") and len(arguments) > 1:
        # The first argument comes back with the value found.
        seen = {source.at(i) for i in range(*arguments[0]) if source.is_ident(i)}
        return not seen & {source.at(i) for i in range(*arguments[1]) if source.is_ident(i)}
    given = {source.at(i) for first, last in arguments[1:] for i in range(first, last) if source.is_ident(i)}
    return not given & written


def _through(unit: Unit, name: bytes, place: bytes, moving: bool) -> tuple[str, bytes] | None:
    """A function that tries a lock once, or reads a flag."""
    if moving:
        return None
    kinds_elsewhere = unit.elsewhere.get(name, frozenset())
    if TRIES in kinds_elsewhere or POLLS in kinds_elsewhere:
        return (LOCK if TRIES in kinds_elsewhere else FLAG), place
    for body in unit.named(name):
        if body.loops or len(body.statements) > 6:
            continue
        own = [
            found
            for statement in body.statements
            for at in range(statement.first, statement.last)
            if unit.source.is_ident(at)
            for found in [_read_at(unit, body, at, set()) if unit.source.at(at) != name else None]
            if found is not None
        ]
        if own and any(statement.kind == "return" for statement in body.statements):
            kind, inner = next((found for found in own if found[0] == LOCK), own[0])
            return kind, place or inner
    return None


def _declared_volatile(source: CudaSource, name: bytes, before: int) -> bool:
    """True where a declaration of the name before the place says volatile: in its function, or outside of any."""
    if b"volatile" not in source.index:
        return False
    function = source.enclosing(before)
    for at in source.index.get(name, ()):
        if at >= before:
            return False
        local = function is not None and at > function.params[0]
        shared = source.at(at + 1) in (b";", b"=", b"[") and source.enclosing(at) is None
        if not local and function is not None and not shared:
            continue
        around = source.texts[max(0, at - 6) : at]
        for stop in (b";", b"{", b"}", b"(", b")", b","):
            if stop in around:
                around = around[len(around) - around[::-1].index(stop) :]
        if b"volatile" in around and source.at(at + 1) in (b";", b",", b"=", b"[", b")", b"{"):
            return True
    return False


def _counts(unit: Unit, body: Body, tokens: range, loop: Statement, written: set[bytes]) -> bool:
    """True when a condition also ends the loop by something that changes without another thread."""
    source = unit.source
    for at in tokens:
        if not source.is_ident(at) or source.at(at) not in written:
            continue
        name = source.at(at)
        if source.at(at - 1) in (b".", b"->"):
            continue
        if {b"<", b">", b"<=", b">="}.isdisjoint(source.texts[max(tokens[0], at - 2) : at + 3]):
            continue
        loaded = any(
            source.is_ident(inner) and _read_at(unit, body, inner, written) is not None
            for place in _assignments(unit, loop, name)
            for inner in place
        )
        if not loaded and not _only_under_poll(unit, body, loop, name, written):
            return True
    return False


def _only_under_poll(unit: Unit, body: Body, loop: Statement, name: bytes, written: set[bytes]) -> bool:
    """True when the loop changes the variable only in an `if` that reads a flag."""
    source = unit.source
    places = [
        at
        for at in range(loop.first, loop.last)
        if source.at(at) in WRITES and name in (source.at(at - 1), source.at(at + 1))
    ]
    inside = [item for part in loop.body for item in part.walk() if item.kind == "if" and item.condition is not None]
    under = [
        item
        for item in inside
        if item.condition is not None and _poll(unit, body, range(*item.condition), loop, written - {name}) is not None
    ]
    return bool(places) and all(any(item.first < at < item.last for item in under) for at in places)


def section(unit: Unit, loop: Statement) -> tuple[Statement, bytes] | None:
    """The `if` of a loop whose condition takes a lock, or took it in the loop, and whose branch does the work and
    gives it back; and the lock."""
    source, tries = unit.source, _tries(unit, loop)
    if not tries:
        return None

    @cache
    def assigned(name: bytes) -> tuple[bytes, ...]:
        """The locks whose tries a variable tells of, each once."""
        tokens = chain.from_iterable(_assignments(unit, loop, name))
        return tuple(dict.fromkeys(tries[at] for at in tokens if at in tries))

    for item in (inner for part in loop.body for inner in part.walk() if inner.kind == "if"):
        assert item.condition is not None, "an if has a condition"
        asked = range(*item.condition)
        own = (at for at in asked if source.is_ident(at) and source.at(at - 1) not in (b".", b"->"))
        names = dict.fromkeys(source.at(at) for at in own)
        taken = [*(tries[at] for at in asked if at in tries), *(place for name in names for place in assigned(name))]
        branch = [inner for part in (*item.body, *item.other) for inner in part.walk()] if taken else []
        for place in taken:
            if any(_gives_back(unit, inner, place) for inner in branch):
                return item, place
    return None


def _tries(unit: Unit, loop: Statement) -> dict[int, bytes]:
    """The calls in a loop that try a lock once, and the lock of each."""
    source = unit.source
    calls = [at for at in range(loop.first, loop.last) if source.at(at + 1) == b"(" and source.is_ident(at)]
    trying = {
        name
        for name in {source.at(at) for at in calls}
        if SWAPS.fullmatch(name) is not None or _through(unit, name, b"", False) is not None
    }
    return {at: _lock(unit, at) for at in calls if source.at(at) in trying}


def _gives_back_inside(unit: Unit, loop: Statement, inside: list[Statement]) -> bool:
    """True where the lock is given back in the branch of the loop that took it."""
    source = unit.source
    for item in inside:
        if item.kind != "if" or item.condition is None:
            continue
        if not any(SWAPS.fullmatch(source.at(at)) or source.at(at) in ASM for at in range(*item.condition)) and not any(
            source.is_ident(at) and _through(unit, source.at(at), b"", False) for at in range(*item.condition)
        ):
            continue
        for part in (*item.body, *item.other):
            if any(
                (SWAPS.fullmatch(source.at(at)) and source.at(at + 1) == b"(") or _UNLOCKS.fullmatch(source.at(at))
                for at in range(part.first, part.last)
                if source.is_ident(at)
            ):
                return True
    return False


_AFTER_A_RETRY = frozenset({b"}", b"return", b"else"})


def _jumps(unit: Unit, body: Body) -> Iterator[Wait]:
    """`again: if (...) goto again;`, `void lock() { if (...) lock(); }`."""
    source = unit.source
    labels: dict[bytes, int] = {}
    guards = {place.statement: place.guards for place, _, _ in body.branches}
    for statement in (inner for item in body.statements for inner in item.walk()):
        if statement.kind == "label":
            labels[source.at(statement.first)] = statement.first
        if statement.kind != "if" or statement.condition is None:
            continue
        for inner in (inner for part in statement.body for inner in part.walk()):
            again = inner.first + (inner.kind in ("goto", "return"))
            if inner.kind in ("return", "expression") and source.at(again) == body.name:
                if source.at(inner.last) not in _AFTER_A_RETRY:
                    continue  # it works on: a section that calls its own function
                first = statement.first
            elif inner.kind == "goto" and source.at(again) in labels:
                first = labels[source.at(again)]
            else:
                continue
            loop = Statement("while", first, statement.last, statement.condition, statement.condition)
            written = written_in(source, loop)
            found = _poll(unit, body, range(*statement.condition), loop, written)
            if found is not None and not _counts(unit, body, range(*statement.condition), loop, written):
                yield Wait(found[0], loop, first, statement.condition[1], guards.get(statement, ()), found[1])


# ---- critical sections -----------------------------------------------------------------------------------------------


def _taken(unit: Unit, body: Body, item: Statement) -> bytes | None:
    """The lock that a statement takes: by its own loop, or by calling a function that does."""
    source = unit.source
    if item.kind in LOOPS:
        found = _loop(unit, body, item)
        return found[1] if found is not None and found[0] == LOCK else None
    if item.kind != "expression":
        return None
    for at in range(item.first, item.last):
        if source.is_ident(at) and source.at(at + 1) == b"(" and takes_lock(unit, source.at(at)):
            return _lock(unit, at)
    return None


def _lock(unit: Unit, at: int) -> bytes:
    """The lock that a call takes, tries or gives back: what it is about, or of `try_lock()` what its body swaps."""
    source = unit.source
    if own := _object(source, at):
        return own
    swaps = (_swap(unit, body) for body in unit.named(source.at(at)))
    return next((_object(source, swap) for swap in swaps if swap is not None), b"")


def _object(source: CudaSource, at: int) -> bytes:
    """What a call is about: its object, or its first argument."""
    if source.at(at - 1) in (b".", b"->"):
        first = at - 2
        while source.at(first - 1) in (b".", b"->", b"::") and source.is_ident(first - 2):
            first -= 2
        if source.at(first) in (b"]", b")") and first in source.pairs:
            first = source.pairs[first] - 1
        return source.text(first, at - 1)
    call = source.call(at)
    return source.text(*call.args[0]).strip() if call is not None and call.args else b""


def _gives_back(unit: Unit, item: Statement, place: bytes) -> bool:
    """True for `atomicExch(place, 0)`, `place = 0`, `unlock(place)`, `place.unlock()`."""
    if item not in unit.given_back:
        unit.given_back[item] = _given_back(unit, item)
    return _plain(place) in unit.given_back[item]


def _plain(place: bytes) -> bytes:
    return place.removeprefix(b"&").strip()


def _given_back(unit: Unit, item: Statement) -> set[bytes]:
    """What a statement may give back, as written; of `*place = 0` both `*place` and `place`."""
    source = unit.source
    if item.kind != "expression" or item.body:
        return set()
    for at in range(item.first, item.last):
        if not source.is_ident(at):
            continue
        name = source.at(at)
        call = source.call(at)
        if call is not None and (
            SWAPS.fullmatch(name)
            or _UNLOCKS.fullmatch(name)
            or name in (b"store", b"__stcg")
            or (IDLE_READS.fullmatch(name) and source.text(*call.args[-1]).strip().lstrip(b"-").isdigit())
            or any(not takes_lock(unit, name) and _swap(unit, body) is not None for body in unit.named(name))
        ):
            return {_plain(_lock(unit, at))}
        if call is None and source.at(at + 1) in (b"=", b"[") and source.at(item.first) in (b"*", name):
            stop = next((i for i in range(item.first, item.last) if source.at(i) == b"="), item.first)
            target = source.text(item.first, stop).strip()
            return {target, target.removeprefix(b"*")}
    return set()


def _swap(unit: Unit, body: Body) -> int | None:
    """The first exchange or compare-and-swap in a function."""
    tokens = chain.from_iterable(range(statement.first, statement.last) for statement in body.statements)
    return next((at for at in tokens if SWAPS.fullmatch(unit.source.at(at)) is not None), None)


def _immovable(unit: Unit, items: tuple[Statement, ...], after: tuple[Statement, ...]) -> str:
    """Why the region cannot be repeated lane by lane; empty where it can."""
    source = unit.source
    if source.directive_between(items[0].first, items[-1].last):
        return "a preprocessor conditional stands in it"
    declared: set[bytes] = set()
    for item in items:
        loop_depth = item.kind in LOOPS
        for inner in item.walk():
            if inner.kind in ("goto", "return"):
                return "control leaves it"
            if inner.kind in ("break", "continue") and not loop_depth and not _in_loop(item, inner):
                return "control leaves it"
        if item.kind == "expression":
            for at in range(item.first + 1, item.last - 1):
                if (
                    source.is_ident(at)
                    and (source.is_ident(at - 1) or source.at(at - 1) in (b"*", b"&", b">"))
                    and source.at(at + 1) in (b"=", b";", b"[", b"{", b",")
                ):
                    declared.add(source.at(at))
        if any(operation.kind in ("block", "warp") for operation in unit.operations((item,))):
            return "a barrier or warp operation stands in it"
    for item in after:
        if declared.intersection(source.texts[item.first : item.last]):
            return "a name declared in it is used behind it"
    return ""


def _in_loop(outer: Statement, inner: Statement) -> bool:
    return any(
        item.kind in (*LOOPS, "switch") and item.first < inner.first < item.last
        for item in outer.walk()
        if item is not inner
    )

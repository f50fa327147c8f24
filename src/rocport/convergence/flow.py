"""Which threads reach a place of device code, and which barriers and warp operations stand there.

Every device function of a file is walked with what is known of its variables (`values`). Functions of the same file are
followed: what an argument holds is joined over the calls, and a call of a function that holds a barrier counts as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from rocport.convergence import clues
from rocport.convergence.elsewhere import BLOCK_BARRIER, VOTES, WHOLE_WARP, meets_of
from rocport.convergence.structure import LOOPS, Statement, statements
from rocport.convergence.turns import equal
from rocport.convergence.values import PLAIN, UNIFORM, Reader, Value, block_size, by_name, either, integer, joined
from rocport.model import ProjectIndex
from rocport.syntax.cuda import CudaSource, between

BARRIERS = frozenset(
    (b"__syncthreads", b"__syncthreads_and", b"__syncthreads_or", b"__syncthreads_count", b"__barrier_sync")
)
WARP_OPERATIONS = frozenset(
    b"__syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync "
    b"__reduce_add_sync __reduce_min_sync __reduce_max_sync __reduce_and_sync __reduce_or_sync __reduce_xor_sync "
    b"__match_any_sync __match_all_sync".split()
)
_BLOCK_GROUPS = (b"this_thread_block", b"thread_block", b"this_grid", b"grid_group")
_OBJECT_WAITS = frozenset({b"arrive_and_wait", b"consumer_wait", b"producer_acquire", b"wait"})
_OPERATIONS = BARRIERS | WARP_OPERATIONS | _OBJECT_WAITS | {b"sync"}
_EXITS = frozenset({"return", "break", "continue"})


@dataclass(frozen=True)
class Guard:
    """A condition a place stands under: the statement that asks, what its condition is, and which side is meant."""

    statement: Statement
    value: Value
    taken: bool = True


@dataclass(frozen=True)
class Operation:
    """A barrier of the block (`block`) or an operation that lanes of a warp meet at (`warp`), at a token."""

    kind: str
    at: int
    mask: bytes = b""
    via: bytes = b""
    """The function called here that holds it."""


@dataclass(frozen=True)
class Place:
    """A statement with the guards over it, from the outside in."""

    statement: Statement
    guards: tuple[Guard, ...]


@dataclass(frozen=True)
class Rest:
    """What follows a statement in its list of statements: those from `first` on, none of them copied."""

    items: tuple[Statement, ...]
    first: int

    def tokens(self, first: int | None = None, last: int | None = None) -> tuple[int, int]:
        """The tokens of the statements [first, last) of the list; of all that follow unless told."""
        return tokens(self.items, self.first if first is None else first, len(self.items) if last is None else last)


def tokens(items: tuple[Statement, ...], first: int, last: int) -> tuple[int, int]:
    """The tokens [first, last) of some statements that follow one another in a list."""
    return (items[first].first, items[last - 1].last) if first < last else (0, 0)


@dataclass(frozen=True)
class Called:
    """A call of a function of this file: the token of its name, the arguments, and the guards over it."""

    at: int
    name: bytes
    arguments: tuple[Value, ...]
    guards: tuple[Guard, ...]


@dataclass
class Body:
    """One device function (or macro with a body), walked."""

    name: bytes
    name_at: int
    is_kernel: bool
    parameters: tuple[bytes, ...]
    span: tuple[int, int]
    source: CudaSource
    is_macro: bool = False
    branches: list[tuple[Place, Value, Rest]] = field(default_factory=list)
    """Every `if` and `switch`: where it stands, its condition, and what follows it in its list of statements."""
    loops: list[Place] = field(default_factory=list)
    exits: list[Place] = field(default_factory=list)
    operations: list[tuple[Operation, tuple[Guard, ...]]] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    result: Value = PLAIN
    volatile: set[bytes] = field(default_factory=set)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """What stands in the body, read on first use."""
        return statements(self.source, *self.span)


class Unit:
    """The device code of one file of a project."""

    def __init__(self, source: CudaSource, project: ProjectIndex) -> None:
        self.source = source
        self.project = project
        self.macros = project.macros_at(source.path)
        self.loops: dict[Statement, tuple[str, bytes] | None] = {}
        """What each loop that was asked about waits for, and where."""
        self.assigned: dict[Statement, dict[bytes, list[int]]] = {}
        """Where each loop that was asked about assigns a name."""
        self.given_back: dict[Statement, set[bytes]] = {}
        """What each statement that was asked about may give back of locks."""
        self._polling: list[int] = []
        self._labels: dict[int, dict[bytes, list[int]]] = {}
        """By the `id` of a list of statements, which the bodies keep, the labels in it."""

    def may_wait(self, loop: Statement) -> bool:
        """False where nothing in a loop could read what another thread writes; its condition may still."""
        return bool(between(self._polling, loop.first, loop.last))

    @cached_property
    def bodies(self) -> list[Body]:
        """Device functions and function-like macros that a rule may have something to say of, walked, and all that
        they call or are called from; operations of called functions are known."""
        every = [*self._functions(), *self._macro_bodies()]
        bodies = self._of_interest(every) if every else []
        self._by_name: dict[bytes, list[Body]] = {}
        for body in bodies:
            self._by_name.setdefault(body.name, []).append(body)
        arguments: dict[bytes, list[Value]] = {}
        related = self._related(bodies)
        seen: dict[int, tuple[object, ...]] = {}

        def walk(body: Body) -> None:
            """Once more would change nothing where what callers pass and what called functions return is the same."""
            given = [self.argument(body.name, index) for index in range(len(body.parameters))]
            returned = [other.result for name in related.get(id(body), ()) for other in self.named(name)]
            if seen.get(id(body)) != (given, returned):
                seen[id(body)] = given, returned
                _Walk(self, body).run()

        again = [body for body in bodies if id(body) in related]
        for walked in (bodies, again):
            self._arguments = arguments
            arguments = {}
            for body in walked:
                walk(body)
            for body in bodies:
                for call in body.calls:
                    known = arguments.setdefault(call.name, list(call.arguments))
                    for index, value in enumerate(call.arguments[: len(known)]):
                        if known[index] != value:
                            known[index] = joined(known[index], value)
        self._arguments = arguments
        for body in again:
            walk(body)
        return bodies

    def _of_interest(self, bodies: list[Body]) -> list[Body]:
        """Those with an operation under a branch or a loop that may wait, and all that are named by, or name, one of
        them: what is known of a variable comes from calls and callers only."""
        source = self.source
        by_name: dict[bytes, list[Body]] = {}
        for body in bodies:
            by_name.setdefault(body.name, []).append(body)
        spans = [body.span for body in bodies]
        naming = sorted(at for name in by_name for at in source.index.get(name, ()))
        distant = (at for name in self.elsewhere for at in source.index[name] if source.at(at + 1) in (b"(", b"<"))
        polling = sorted({*clues.polling(source, spans), *distant})
        meeting = list(self._operations)
        if not polling and not meeting and not {b"while", b"for"} & source.index.keys():
            return []
        named = {
            id(body): {source.texts[at] for at in between(naming, *span)}
            for body, span in zip(bodies, spans, strict=True)
        }
        polls = _reaching(bodies, named, polling)
        meets = _reaching(bodies, named, meeting)
        polling = self._polling = sorted({*polling, *(at for at in naming if source.texts[at] in polls)})
        meeting = sorted({*meeting, *(at for at in naming if source.texts[at] in meets)})
        called = {name for names in named.values() for name in names}
        wanted = {body.name for body in bodies if self._interests(body, polling, meeting, called)}
        if not wanted:
            return []
        beside: dict[bytes, set[bytes]] = {name: set() for name in by_name}
        for body in bodies:
            for name in named[id(body)]:
                beside[name].add(body.name)
                beside[body.name].add(name)
        reached, waiting = set(wanted), list(wanted)
        while waiting:
            new = beside[waiting.pop()] - reached
            reached |= new
            waiting += new
        return [body for body in bodies if body.name in reached]

    def _interests(self, body: Body, polling: list[int], meeting: list[int], called: set[bytes]) -> bool:
        """True where a rule may find something in a body, by where it branches, loops and jumps."""
        first, last = body.span
        own = between(meeting, first, last)
        polls = bool(between(polling, first, last))
        branches = returns = False
        if polls and between(self.source.index.get(body.name, []), first, last):
            return True  # it calls itself until it has the lock
        if len(own) > 1 and between(self.source.index.get(b"?", []), first, last):
            return True
        for outer in body.statements:
            for item in outer.walk():
                if item.kind in ("if", "switch"):
                    if own and between(meeting, item.first, item.last):
                        return True
                    branches = True
                elif item.kind in LOOPS:
                    if (polls and between(polling, item.first, item.last)) or clues.idle(self.source, item):
                        return True
                    if own and between(meeting, item.first, item.last):
                        leaves = any(inner.kind in ("break", "continue") for inner in item.walk())
                        if leaves or clues.by_thread(self.source, item, first):
                            return True
                elif item.kind == "goto" and (polls or own):
                    return True
                elif item.kind == "return" and own and item.first < own[-1]:
                    returns = True
        return branches and returns and not body.is_kernel and body.name in called

    @cached_property
    def elsewhere(self) -> dict[bytes, frozenset[str]]:
        """Functions that the file calls and other files define -> what threads share in them."""
        meets = self.project.meets
        functions = self.source.functions
        own = {self.source.at(function.name) for function in functions if function.body is not None}
        declared = {self.source.at(function.name) for function in functions if function.body is None}
        found = {
            name: self.project.meets_elsewhere(name, self.source.path, name in declared)
            for name in meets.keys() & self.source.index.keys() - own
            if any(kinds for _, kinds in meets[name])
        }
        return {name: kinds for name, kinds in found.items() if kinds}

    @cached_property
    def _operations(self) -> dict[int, Operation]:
        """Barriers and warp operations by the token of their name, in order; calls of functions of other files and of
        lambdas that hold one."""
        source = self.source
        places = sorted(at for name in _OPERATIONS for at in source.index.get(name, ()))
        found = {at: operation for at in places if (operation := operation_at(source, at)) is not None}
        found.update((at, Operation("block", at)) for at in self._barriers_in_asm())
        for name, kinds in self.elsewhere.items():
            kind = next((kind for kind in ("block", "warp") if kind in kinds), None)
            for at in source.index[name] if kind is not None else ():
                if source.at(at + 1) in (b"(", b"<") and kind is not None:
                    found[at] = Operation(kind, at, via=name)
        lambdas = list(self._lambdas())
        own = meets_of(source.data)[0] if lambdas else {}
        for name, (first, last) in lambdas:
            inside = {found[at].kind for at in found if first <= at < last}
            inside |= {kind for word in own.keys() & source.texts[first:last] for kind in own[word]}
            kind = next((kind for kind in ("block", "warp") if kind in inside), None)
            for at in source.index[name] if kind is not None else ():
                if at > last and source.at(at + 1) == b"(" and kind is not None:
                    found[at] = Operation(kind, at, via=name)
        barriers = sorted(at for at, operation in found.items() if operation.kind == "block")
        if any(between(barriers, *span) for span in (self._passed_on() if barriers else ())):
            found.update((at, Operation("block", at, via=source.at(at))) for at in self._calls_of_what_is_passed())
        return dict(sorted(found.items()))

    def _lambdas(self) -> Iterator[tuple[bytes, tuple[int, int]]]:
        """`auto name = [...](...) { ... }`: the name and the tokens of the body."""
        source = self.source
        for at in source.index.get(b"auto", ()):
            open_ = at + 3
            if source.at(at + 2) != b"=" or source.at(open_) != b"[" or open_ not in source.pairs:
                continue
            brace = source.pairs[open_] + 1
            while source.at(brace) not in (b"{", b";", b"}", b""):
                brace = source.pairs.get(brace, brace) + 1
            if source.at(brace) == b"{" and brace in source.pairs:
                yield source.at(at + 1), (brace, source.pairs[brace])

    def _passed_on(self) -> Iterator[tuple[int, int]]:
        """The bodies of `operator()` and of lambdas among arguments: what a template's parameter may call."""
        source = self.source
        for function in source.functions:
            if source.at(function.name) == b"operator" and function.body is not None:
                yield function.body
        for at in source.positions(b"["):
            if source.at(at - 1) not in (b"(", b",") or at not in source.pairs:
                continue
            brace = source.pairs[at] + 1
            while source.at(brace) in _OF_LAMBDA or (source.at(brace) == b"(" and brace in source.pairs):
                brace = source.pairs.get(brace, brace) + 1
            if source.at(brace) == b"{" and brace in source.pairs:
                yield brace, source.pairs[brace]

    def _calls_of_what_is_passed(self) -> Iterator[int]:
        """Calls of names that are declared with the type of a template's parameter: `template <class F> ... F f`."""
        source = self.source
        types = {source.at(at + 1) for at in source.find(b"class", b"typename") if source.at(at - 1) in (b"<", b",")}
        places = (at + 1 for name in types for at in source.index.get(name, ()))
        named = {source.at(at + (source.at(at) in _OF_PARAMETER)) for at in places}
        for name in named:
            declared = [at for at in source.index.get(name, ()) if source.at(at + 1) in (b",", b")")]
            yield from (at for at in source.index.get(name, ()) if declared and source.at(at + 1) == b"(")

    @cached_property
    def _operation_places(self) -> list[int]:
        return list(self._operations)

    def operations_in(self, first: int, last: int) -> list[Operation]:
        """The operations written in the tokens [first, last)."""
        return [self._operations[at] for at in between(self._operation_places, first, last)]

    def _barriers_in_asm(self) -> Iterator[int]:
        for name in clues.ASM:
            for at in self.source.index.get(name, ()):
                if BLOCK_BARRIER.search(self.source.text(at, clues.asm_close(self.source, at) + 1)):
                    yield at

    def _related(self, bodies: list[Body]) -> dict[int, Set[bytes]]:
        """By their `id` the bodies that name another body of the file, or are named in one, with the names in each.
        Only they learn from a second walk."""
        spans = [(body, body.statements[0].first, body.statements[-1].last) for body in bodies if body.statements]
        naming = [(body, self._by_name.keys() & self.source.texts[first:last]) for body, first, last in spans]
        named = {name for _, names in naming for name in names}
        return {id(body): names for body, names in naming if names or body.name in named}

    @cached_property
    def constants(self) -> Mapping[bytes, Value]:
        """Names of the file that are integer constants: `constexpr int kWarp = 32`, enumerators, template defaults."""
        found: dict[bytes, Value] = {}
        texts = self.source.texts
        for at in self.source.positions(b"="):
            number = integer(texts[at + 1]) if at + 1 < len(texts) else None
            if number is None or texts[at + 2 : at + 3] not in ([b";"], [b","], [b"}"], [b">"]):
                continue
            words = texts[max(0, at - 6) : at]
            if b"constexpr" in words or b"const" in words or b"enum" in texts[max(0, at - 40) : at]:
                found[texts[at - 1]] = Value(constant=number)
        return found

    @property
    def names(self) -> Set[bytes]:
        """Names of the device functions and macros that are walked."""
        return self._by_name.keys()

    def named(self, name: bytes) -> list[Body]:
        """Device functions and macros of this file with the name."""
        return self._by_name.get(name, [])

    @cached_property
    def _holding(self) -> dict[str, set[bytes]]:
        """Names of functions that hold an operation of a kind, themselves or in what they call."""
        called = {id(body): {call.name for call in body.calls} for body in self.bodies}
        return {kind: _closure(self.bodies, called, partial(_holds, kind)) for kind in ("block", "warp")}

    def argument(self, name: bytes, index: int) -> Value | None:
        """What the calls of this file pass; None without a call."""
        values = self._arguments.get(name)
        return values[index] if values is not None and index < len(values) else None

    def operations(self, inside: Iterable[Statement]) -> Iterator[Operation]:
        """The operations in statements, those of the functions they call included."""
        for statement in inside:
            yield from self._in(statement.first, statement.last)

    def operations_of(self, name: bytes, kind: str) -> bool:
        """True for a function of this file that holds an operation of the kind, itself or in what it calls."""
        return name in self._holding[kind]

    @cached_property
    def meetings(self) -> list[int]:
        """Tokens of the operations and of the functions that hold one, in order."""
        names = {name for names in self._holding.values() for name in names}
        return sorted({*self._operations, *(at for name in names for at in self.source.index.get(name, ()))})

    def _in(self, first: int, last: int) -> Iterator[Operation]:
        for at in between(self.meetings, first, last):
            yield from self._met.get(at, ())

    @cached_property
    def _met(self) -> dict[int, list[Operation]]:
        """The operations at a token, in order: its own, or those that a function called there holds."""
        found: dict[int, list[Operation]] = {}
        for at in self.meetings:
            operation = self._operations.get(at)
            if operation is not None:
                found[at] = [operation]
            elif self.source.is_ident(at) and self.source.at(at + 1) in (b"(", b"<"):
                name = self.source.at(at)
                found[at] = [Operation(kind, at, via=name) for kind, names in self._holding.items() if name in names]
        return found

    @cached_property
    def _met_by_kind(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {"block": [], "warp": []}
        for at, operations in self._met.items():
            for kind in {operation.kind for operation in operations}:
                found[kind].append(at)
        return found

    def within(self, side: Iterable[tuple[int, int]], kind: str) -> Iterator[Operation]:
        """The operations of a kind in ranges of tokens, those of called functions included; not those that a directive
        in between holds."""
        for first, last in side:
            around = self.source.directive_of(first)
            for at in between(self._met_by_kind[kind], first, last):
                if self.source.directive_of(at) is around:
                    yield from (operation for operation in self._met[at] if operation.kind == kind)

    def labelled(self, rest: Rest, name: bytes) -> int | None:
        """The number of the first statement of the rest of a list that is a label of this name."""
        known = self._labels.get(id(rest.items))
        if known is None:
            known = self._labels[id(rest.items)] = {}
            for number, item in enumerate(rest.items):
                if item.kind == "label":
                    known.setdefault(self.source.at(item.first), []).append(number)
        return next(iter(between(known.get(name, []), rest.first, len(rest.items))), None)

    # ---- what there is -----------------------------------------------------------------------------------------------

    def _functions(self) -> Iterator[Body]:
        source = self.source
        for function in source.functions:
            if function.body is None or not function.specifiers & {b"__global__", b"__device__"}:
                continue
            open_, close = function.params
            names = tuple(self._parameter(*part) for part in source.split(open_, close))
            span = function.body[0] + 1, function.body[1]
            kernel = b"__global__" in function.specifiers
            yield Body(source.at(function.name), function.name, kernel, names, span, source)

    def _macro_bodies(self) -> Iterator[Body]:
        """Macros that hold a loop, a barrier or a warp operation."""
        source = self.source
        for directive in source.directives:
            if directive.name != b"define":
                continue
            words = source.texts[directive.first + 3 : directive.last]
            if not {b"while", b"for", *BARRIERS, *WARP_OPERATIONS}.intersection(words):
                continue
            name = directive.first + 2
            first = name + 1
            names: tuple[bytes, ...] = ()
            if source.at(first) == b"(" and source.starts[first] == source.end(name) and first in source.pairs:
                close = source.pairs[first]
                names = tuple(source.at(at) for at in range(first + 1, close) if source.is_ident(at))
                first = close + 1
            yield Body(source.at(name), name, False, names, (first, directive.last), source, is_macro=True)

    def _parameter(self, first: int, last: int) -> bytes:
        names = [at for at in range(first, last) if self.source.is_ident(at)]
        for at in range(first, last):
            if self.source.at(at) == b"=":
                names = [name for name in names if name < at]
        return self.source.at(names[-1]) if len(names) > 1 else b""


_OF_LAMBDA = frozenset({b"__device__", b"__host__", b"mutable", b"noexcept", b"__forceinline__"})
_OF_PARAMETER = frozenset({b"&", b"&&", b"const"})


def _reaching(bodies: list[Body], named: Mapping[int, set[bytes]], places: list[int]) -> set[bytes]:
    """Names of the bodies that hold one of the places, or name one that does."""
    return _closure(bodies, named, lambda body: bool(between(places, *body.span)))


def _holds(kind: str, body: Body) -> bool:
    """True where a body holds an operation that its callers' lanes meet at: not one of the lanes a variable names."""
    return any(
        operation.kind == kind and (not operation.mask or WHOLE_WARP.fullmatch(operation.mask.strip()) is not None)
        for operation, _ in body.operations
    )


def _closure(bodies: list[Body], named: Mapping[int, set[bytes]], holds: Callable[[Body], bool]) -> set[bytes]:
    """Names of the bodies that hold something, themselves or in a body they name; `named` by the `id` of a body."""
    by: dict[bytes, set[bytes]] = {}
    for body in bodies:
        for name in named[id(body)]:
            by.setdefault(name, set()).add(body.name)
    found = {body.name for body in bodies if holds(body)}
    waiting = list(found)
    while waiting:
        new = by.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def operation_at(source: CudaSource, at: int) -> Operation | None:
    """The barrier or warp operation called at an identifier."""
    name = source.at(at)
    if name in BARRIERS and source.at(at + 1) == b"(":
        return Operation("block", at)
    if name in WARP_OPERATIONS and source.at(at + 1) == b"(":
        call = source.call(at)
        mask = source.text(*call.args[0]) if call is not None and call.args else b""
        return Operation("warp", at, mask)
    if name == b"sync" and source.at(at - 1) in (b".", b"->") and _is_block(source, at - 2):
        return Operation("block", at)
    if name in _OBJECT_WAITS and source.at(at - 1) in (b".", b"->") and source.at(at + 1) == b"(":
        return Operation("block", at) if _object_meets(source, at) else None
    if name == b"sync" and source.at(at - 1) == b"::" and source.call(at) is not None:
        call = source.call(at)
        inside = {source.at(i) for i in range(at, call.close)} if call is not None else set()
        if inside & set(_BLOCK_GROUPS) or any(_declared_block(source, word, at) for word in inside):
            return Operation("block", at)
    return None


def _object_meets(source: CudaSource, at: int) -> bool:
    """True where a wait of one of libcu++'s objects is for as many threads as come: each of them arrives there.

    One thread may wait for a token, or for an atomic's value; a pipeline of a thread has no others.
    """
    call = source.call(at)
    if call is None:
        return False
    if source.at(at) == b"wait":  # b.wait(b.arrive())
        return b"arrive" in source.texts[call.open : call.close]
    if source.at(at) == b"arrive_and_wait":
        return True
    return not call.args and not _of_a_thread(source, source.at(at - 2), at)


def _of_a_thread(source: CudaSource, name: bytes, before: int) -> bool:
    """True for `auto p = make_pipeline()` and `pipeline<thread_scope_thread> p`, by the last that is declared."""
    found = False
    for at in source.index.get(name, ()):
        if at >= before:
            break
        tokens = source.texts
        if source.at(at + 1) in (b"=", b"(", b"{") and b"make_pipeline" in tokens[at + 2 : at + 6]:
            made = source.call(tokens.index(b"make_pipeline", at + 2))
            found = made is not None and not made.args
        elif b"pipeline" in tokens[max(at - 9, 0) : at] and not {b";", b"{", b"}"} & set(tokens[at - 3 : at]):
            found = b"thread_scope_thread" in tokens[at - 5 : at]
    return found


def _is_block(source: CudaSource, at: int) -> bool:
    """True where the object before `.sync()` is the block or the grid."""
    if source.at(at) == b")" and at in source.pairs:
        return source.at(source.pairs[at] - 1) in _BLOCK_GROUPS
    return source.is_ident(at) and _declared_block(source, source.at(at), at)


def _declared_block(source: CudaSource, name: bytes, before: int) -> bool:
    """True for `thread_block b = ...` and `auto b = this_thread_block()`."""
    for at in source.index.get(name, ()):
        if at >= before:
            return False
        if source.at(at - 1) in (b"thread_block", b"grid_group"):
            return True
        if source.at(at + 1) == b"=" and b"this_thread_block" in source.texts[at + 2 : at + 6]:
            return True
    return False


@dataclass
class _Reading:
    """One reading of an expression: the variables asked for and what they held, and what it made of them.

    While it reads it stands in for the environment. What it finds is true wherever the variables hold the same.
    """

    environment: dict[bytes, Value]
    asked: dict[bytes, Value | None] = field(default_factory=dict)
    effects: list[tuple[int, bytes, Value | tuple[Value, ...]]] = field(default_factory=list)
    """In order: a variable and the value assigned, or a function and its arguments; the token first."""
    changed: set[bytes] = field(default_factory=set)
    repeatable: bool = True
    """False where a variable is asked for after the expression itself has changed it."""
    value: Value = PLAIN

    def get(self, name: bytes) -> Value | None:
        value = self.environment.get(name)
        if name in self.changed:
            self.repeatable = False
        else:
            self.asked[name] = value
        return value

    def holds(self) -> bool:
        """True where every variable it asked for holds what it held."""
        environment = self.environment
        for name, value in self.asked.items():
            now = environment.get(name)
            if now is not value and now != value:
                return False
        return True


class _Walk:
    """One walk over a function: fills in its `Body`."""

    def __init__(self, unit: Unit, body: Body) -> None:
        self.unit = unit
        self.source = unit.source
        self.body = body
        self.environment: dict[bytes, Value] = dict(unit.constants)
        self.declared: dict[bytes, int] = {}
        self.hidden: list[dict[bytes, tuple[Value | None, int]]] = []
        """What stood outside of each open list of statements under the names that it declares again."""
        self.shared: set[bytes] = set()
        self.guards: list[Guard] = []
        self.results: list[Value] = []
        self.recording = True
        self.in_lambda = False
        self.readings: dict[tuple[int, int], _Reading] = {}
        self.reading = _Reading(self.environment)
        self.declarations: dict[tuple[int, int], tuple[list[bytes], bool, bool]] = {}

    def run(self) -> None:
        body = self.body
        for found in (body.branches, body.loops, body.exits, body.operations, body.calls):
            found.clear()
        for index, name in enumerate(body.parameters):
            if not name:
                continue
            given = None if body.is_kernel or body.is_macro else self.unit.argument(body.name, index)
            if given is None:
                likely = None if body.is_kernel or body.is_macro else by_name(name)
                given = likely or block_size(name) or PLAIN
            self.environment[name] = given
            self.declared[name] = 0
        self._list(body.statements)
        if len(self.results) == 1:
            body.result = self.results[0]
        else:
            body.result = joined(*self.results)

    # ---- statements --------------------------------------------------------------------------------------------------

    def _list(self, items: tuple[Statement, ...]) -> None:
        depth = len(self.guards)
        self.hidden.append({})
        for number, statement in enumerate(items):
            self._one(statement, Rest(items, number + 1))
        del self.guards[depth:]
        for name, (value, declared) in self.hidden.pop().items():
            self.declared[name] = declared
            if value is None:
                self.environment.pop(name, None)
            else:
                self.environment[name] = value

    def _one(self, statement: Statement, rest: Rest) -> None:
        kind = statement.kind
        if kind == "if":
            self._if(statement, rest)
        elif kind == "switch":
            value = self._value(statement.condition)
            self._branch(statement, value, rest)
            self._under(Guard(statement, _as_condition(value)), statement.body)
        elif kind in LOOPS:
            self._loop(statement)
        elif kind == "block":
            self._list(statement.body)
        elif kind == "return" and not self.in_lambda:
            self._exit(statement)
            if statement.last - statement.first > 2:
                value = self._value((statement.first + 1, statement.last - 1))
                # A function that returns one thing here and another there returns what decides.
                self.results.append(joined(value, *(g.value for g in self.guards)) if self.guards else value)
        elif kind in ("break", "continue", "goto"):
            self._exit(statement)
        elif kind == "expression":
            self._expression(statement)

    def _exit(self, statement: Statement) -> None:
        if self.recording:
            self.body.exits.append(Place(statement, tuple(self.guards)))

    def _if(self, statement: Statement, rest: Rest) -> None:
        value = PLAIN if statement.constant else self._value(statement.condition)
        self._branch(statement, value, rest)
        guard = Guard(statement, value)
        self._under(guard, statement.body)
        otherwise = Guard(statement, replace(value, single=""), taken=False)
        self._under(otherwise, statement.other)
        if value.level > UNIFORM and _leaves(statement.body):
            self.guards.append(otherwise)
        elif value.level > UNIFORM and _leaves(statement.other):
            self.guards.append(guard)

    def _branch(self, statement: Statement, value: Value, rest: Rest) -> None:
        if self.recording:
            self.body.branches.append((Place(statement, tuple(self.guards)), value, rest))

    def _loop(self, statement: Statement) -> None:
        recording, self.recording = self.recording, False
        depth = len(self.guards)
        settled = False
        for _ in range(2):
            before = dict(self.environment), dict(self.declared), len(self.shared)
            if statement.kind == "for" and statement.head is not None:
                self._for_head(statement)
            self._value(statement.condition)
            self._list(statement.body)
            settled = before == (self.environment, self.declared, len(self.shared))
            if settled:
                break  # once more would change nothing
        self.recording = recording
        value = self._value(statement.condition)
        if value.level:
            recording, self.recording = self.recording, False
            if equal(self.source, statement, lambda first, last: self._value((first, last))):
                value = PLAIN
            self.recording = recording
        if self.recording:
            self.body.loops.append(Place(statement, tuple(self.guards)))
        elif settled and not value.level:
            return  # a guard that holds for all changes nothing either
        self._under(Guard(statement, _as_condition(value)), statement.body)
        del self.guards[depth:]

    def _for_head(self, statement: Statement) -> None:
        assert statement.head is not None and statement.condition is not None
        self._declare(statement.head[0], statement.condition[0])
        self._value((statement.head[0], statement.condition[0]))
        self._value((statement.condition[1], statement.head[1]))

    def _under(self, guard: Guard, items: tuple[Statement, ...]) -> None:
        self.guards.append(guard)
        self._list(items)
        self.guards.pop()

    def _expression(self, statement: Statement) -> None:
        self._declare(statement.first, statement.last)
        if self.source.at(statement.first) in (b"asm", b"__asm__", b"__asm"):
            self._asm(statement)
        self._value((statement.first, statement.last))
        outer, self.in_lambda = self.in_lambda, True
        for inner in statement.body:
            self._list(inner.body)
        self.in_lambda = outer

    def _asm(self, statement: Statement) -> None:
        """Outputs of `mov %0, %laneid` and its relatives."""
        text = self.source.text(statement.first, statement.last)
        value = PLAIN
        if b"%laneid" in text or b"%lanemask" in text:
            value = Value(2, "lane")
        elif b"%tid" in text:
            value = Value(2, "thread", axis=b"x")
        elif b"%warpid" in text:
            value = Value(1, "warp")
        if value.level:
            for at in range(statement.first, statement.last):
                if self.source.at(at).startswith(b'"=') and self.source.at(at + 1) == b"(":
                    self._assign(self.source.at(at + 2), value)

    def _declare(self, first: int, last: int) -> None:
        """Names that a declaration introduces."""
        known = self.declarations.get((first, last))
        if known is None:
            known = self.declarations[first, last] = self._declared(first, last)
        names, shared, volatile = known
        for name in names:
            if name in self.declared:
                self.hidden[-1].setdefault(name, (self.environment.get(name), self.declared[name]))
            self.declared[name] = len(self.guards)
            self.environment.pop(name, None)
        if shared:
            self.shared.update(names)
        if volatile:
            self.body.volatile.update(names)

    def _declared(self, first: int, last: int) -> tuple[list[bytes], bool, bool]:
        """The names, and whether they are shared and volatile."""
        source = self.source
        found: list[bytes] = []
        words = source.texts[first : min(last, first + 8)]
        if len(words) < 2 or not source.is_ident(first) or words[0] in (b"delete", b"throw", b"asm"):
            return found, False, False
        after = first + 1
        while source.at(after) == b"::" and after < last:
            after += 2
        if source.at(after) == b"<":
            end = source.angle_end(after)
            after = end + 1 if end is not None else after
        if not source.is_ident(after) and source.at(after) not in (b"*", b"&", b"&&"):
            return found, False, False
        for at in range(after, last):
            following = source.at(at + 1) if at + 1 < last else b";"
            if following not in (b";", b",", b"=", b"[", b"{", b"(") or not source.is_ident(at):
                continue
            if source.at(at - 1) in (b"*", b"&", b">", b",") or source.is_ident(at - 1):
                found.append(source.at(at))
        names = next((at for at in range(after, last) if source.at(at) in found), last)
        return found, b"__shared__" in words, b"volatile" in source.texts[first:names]

    # ---- values ------------------------------------------------------------------------------------------------------

    def _value(self, tokens: tuple[int, int] | None) -> Value:
        if tokens is None or tokens[0] >= tokens[1]:
            return PLAIN
        if self.recording:
            operations = self.unit.operations_in(*tokens)
            self.body.operations += [(operation, tuple(self.guards)) for operation in operations]
            self._choices(*tokens)
        known = self.readings.get(tokens)
        if known is not None and known.holds():
            for at, name, given in known.effects:
                if isinstance(given, Value):
                    self._assign(name, given)
                else:
                    self.body.calls.append(Called(at, name, given, tuple(self.guards)))
            return known.value
        reading = self.reading = _Reading(self.environment)
        reader = Reader(self.source, reading, self._call, self._assigned, self.unit.macros)
        reading.value = reader.read(*tokens)
        if reading.repeatable:
            self.readings[tokens] = reading
        return reading.value

    def _choices(self, first: int, last: int) -> None:
        """Each `c ? a : b` among the tokens as a branch of its own."""
        source = self.source
        for at in between(source.index.get(b"?", []), first, last):
            begin, colon = at, at + 1
            while begin > first and source.at(begin - 1) not in (b"=", b",", b"(", b"[", b"{", b"return", b";", b":"):
                begin = source.pairs.get(begin - 1, begin - 1) if source.at(begin - 1) in (b")", b"]") else begin - 1
            depth = 1
            while colon < last and depth:
                depth += {b"?": 1, b":": -1}.get(source.at(colon), 0)
                colon = source.pairs.get(colon, colon) + 1 if source.at(colon) in (b"(", b"[", b"{") else colon + 1
            end = colon
            while end < last and source.at(end) not in (b",", b";", b")", b"]", b"}"):
                end = source.pairs.get(end, end) + 1 if source.at(end) in (b"(", b"[", b"{") else end + 1
            if depth or not (self._may_meet(at, colon - 1) and self._may_meet(colon, end)):
                continue
            reader = Reader(source, dict(self.environment), lambda at, args: None, lambda *_: None, self.unit.macros)
            parts = (Statement("expression", at + 1, colon - 1),), (Statement("expression", colon, end),)
            choice = Statement("choice", begin, end, (begin, at), None, *parts)
            self._branch(choice, reader.read(begin, at), Rest((), 0))

    def _may_meet(self, first: int, last: int) -> bool:
        """True where an operation is named among the tokens, or a function of the file that may hold one."""
        unit = self.unit
        return bool(unit.operations_in(first, last)) or not unit.names.isdisjoint(self.source.texts[first:last])

    def _assigned(self, name: bytes, value: Value, at: int) -> None:
        self.reading.changed.add(name)
        self.reading.effects.append((at, name, value))
        self._assign(name, value)

    def _assign(self, name: bytes, value: Value) -> None:
        if name in self.shared:
            return
        outer = self.guards[self.declared.get(name, 0) :]
        level = max((guard.value.level for guard in outer), default=UNIFORM)
        old = self.environment.get(name)
        if level > value.level:
            value = Value(level)
        elif old is not None and not self.recording:
            # Inside a loop: what it was before stays possible.
            value = value if value == old else either(value, old)
        self.environment[name] = value

    def _call(self, at: int, arguments: list[Value]) -> Value | None:
        name = self.source.at(at)
        bodies = self.unit.named(name)
        if not bodies:
            return PLAIN if VOTES in self.unit.elsewhere.get(name, ()) else None
        self.reading.effects.append((at, name, tuple(arguments)))
        self.body.calls.append(Called(at, name, tuple(arguments), tuple(self.guards)))
        results = [self._returned(body, arguments) for body in bodies]
        return results[0] if len(results) == 1 else joined(*results)

    def _returned(self, body: Body, arguments: list[Value]) -> Value:
        """What a function returns for these arguments; one of a single `return` is computed in its place."""
        only = [item for item in body.statements if item.kind == "return"]
        if len(body.statements) == 1 and only and len(arguments) == len(body.parameters):
            environment = {**self.unit.constants, **dict(zip(body.parameters, arguments, strict=True))}
            reader = Reader(self.source, environment, lambda at, args: None, lambda *_: None, self.unit.macros)
            return reader.read(only[0].first + 1, only[0].last - 1)
        return body.result if body.result.level else joined(body.result, *arguments)


def _as_condition(value: Value) -> Value:
    """A number asked as a condition: it differs where the number does."""
    if value.index:
        return Value(value.level, exact=True, axis=value.axis)
    return value


def _leaves(items: tuple[Statement, ...]) -> bool:
    """True when control never falls out of the statements."""
    if not items:
        return False
    last = items[-1]
    if last.kind == "block":
        return _leaves(last.body)
    if last.kind == "if":
        return _leaves(last.body) and _leaves(last.other)
    return last.kind in _EXITS

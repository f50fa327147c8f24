"""How a value differs between the threads of a block: not at all, from warp to warp, or from lane to lane."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

from rocport.syntax.cuda import NUMBER, CudaSource, kind_of

UNIFORM, WAVEFRONT, WARP, LANE = 0, 1, 2, 3
"""The same in the whole block; in each pair of warps that make a wavefront of 64 lanes; in each 32-lane warp; different
from lane to lane."""
LANES = 32

_SOME = 1
"""What an unknown amount added to an index counts as: `threadIdx.x + by < blockDim.x` is short of the block's end."""
_INTEGER = re.compile(rb"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlL]*\Z")


@dataclass(frozen=True)
class Value:
    """What is known of an expression.

    `index` is `thread`, `lane` or `warp` where the value counts threads of the block, lanes of the warp or warps, plus
    something uniform. `exact`: a condition whose truth surely differs, because it compares an index with a constant
    or with what is short of the block's end, which may be a parameter of that name.
    `single` is `block` or `warp` for a condition that holds for one thread of either. `constant` is a known number.
    `shifted`: what was added to the index may put two warps of a wavefront into different pairs. `end`: the block's
    size less a constant, `blockDim.x - 32`, as the index that it bounds and that constant. `ahead`: the constant
    added to the index; None where something else was. `blocks`: whole blocks, `blockIdx.x * blockDim.x`, or an index to
    which nothing but some was added.
    """

    level: int = UNIFORM
    index: str = ""
    exact: bool = False
    single: str = ""
    constant: int | None = None
    axis: bytes = b""
    shifted: bool = False
    end: tuple[str, int] | None = None
    ahead: int | None = 0
    blocks: bool = False


PLAIN = Value()
VARIES = Value(LANE)
_OF_LEVEL = (PLAIN, Value(WAVEFRONT), Value(WARP), VARIES)


def joined(*values: Value) -> Value:
    """A value computed from others in some way."""
    return _OF_LEVEL[max([value.level for value in values], default=UNIFORM)]


class Environment(Protocol):
    """What the variables hold, by name."""

    def get(self, name: bytes, /) -> Value | None: ...


Call = Callable[[int, list[Value]], Value | None]
"""The value of a call: the token of its name and its arguments; None where nothing is known of it."""

_SPECIAL: dict[bytes, Value] = {
    b"warpSize": Value(constant=LANES),
    b"WARP_SIZE": Value(constant=LANES),
    b"warp_size": Value(constant=LANES),
    b"C10_WARP_SIZE": Value(constant=LANES),
    b"threadIdx": Value(LANE),
}
_UNIFORM_CALLS = frozenset((b"__syncthreads_or", b"__syncthreads_and", b"__syncthreads_count"))
_WARP_CALLS = re.compile(
    rb"__(?:ballot|any|all|activemask|reduce_(?:add|min|max|and|or|xor)|match_all)(?:_sync)?|any|all|ballot"
    rb"|__shfl(?:_sync)?|readlane|readfirstlane|(?:shfl|ballot|any|all)_?[sS]ync"
)
_LANE_CALLS = re.compile(
    rb"__shfl_(?:up|down|xor)(?:_sync)?|__match_any_sync|atomic[A-Z]\w*|clock(?:64)?|__clock\w*|__nanotime|curand\w*"
)
_LANE_NAMED = re.compile(rb"(?i)(?:get_?)?_*(?:lane(?:_?id(?:x)?)?|laneidx|lane_?index|canonical_lane_idx)")
_WARP_NAMED = re.compile(rb"(?i)(?:get_?)?_*(?:warp_?id(?:x)?|warp_?index|wid|wave_?id|canonical_warp_idx(?:_sync)?)")
_BLOCK_NAMED = re.compile(rb"(?i)k?(?:num_?|n)?(?:block_?(?:size|dim|threads)(?:_?x)?|block|threads(?:_?per_?block)?)")
_THREAD_NAMED = re.compile(rb"(?i)(?:tid|t_?idx|tid_?x|thread_?id(?:x)?|thread_?index|thread_?rank|local_?tid|ltid)")


def by_name(name: bytes) -> Value | None:
    """What a parameter or a function that nobody shows is likely to hold, from its name."""
    if _LANE_NAMED.fullmatch(name):
        return Value(LANE, "lane")
    if _WARP_NAMED.fullmatch(name):
        return Value(WARP, "warp")
    if _THREAD_NAMED.fullmatch(name):
        return Value(LANE, "thread", axis=b"x")
    return None


def block_size(name: bytes) -> Value | None:
    """The block's end, where a parameter of a template or a kernel is called so."""
    return Value(end=("thread", 0)) if _BLOCK_NAMED.fullmatch(name) else None


def integer(text: bytes) -> int | None:
    """A C++ integer literal."""
    match = _INTEGER.match(text)
    if match is None:
        return None
    digits = match.group(1).replace(b"'", b"").decode()
    if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
        return int(digits, 8) if set(digits) <= set("01234567") else None
    return int(digits, 0)


_BINARY: dict[bytes, int] = {
    b",": 1,
    b"?": 3,
    b"||": 4, b"or": 4,
    b"&&": 5, b"and": 5,
    b"|": 6, b"^": 7, b"&": 8,
    b"==": 9, b"!=": 9,
    b"<": 10, b">": 10, b"<=": 10, b">=": 10,
    b"<<": 11, b">>": 11,
    b"+": 12, b"-": 12,
    b"*": 13, b"/": 13, b"%": 13,
}  # fmt: skip
_ASSIGNMENTS = frozenset((b"=", b"+=", b"-=", b"*=", b"/=", b"%=", b"|=", b"&=", b"^=", b"<<=", b">>="))
_PREFIX = frozenset((b"!", b"~", b"-", b"+", b"*", b"&", b"++", b"--", b"not"))
_TYPE_WORDS = frozenset(
    b"const volatile unsigned signed int long short char float double bool auto void static constexpr register "
    b"__restrict__ struct typename mutable size_t uint32_t int32_t uint64_t int64_t uint8_t uint16_t uint extern "
    b"__shared__ thread_local dim3".split()
)


@lru_cache(4096)
def _lexed(body: bytes) -> CudaSource:
    """The body of a macro; the same few are read over and over."""
    return CudaSource("", body)


@dataclass
class Reader:
    """Reads an expression; `assign` is told of every variable it changes."""

    source: CudaSource
    environment: Environment
    call: Call
    assign: Callable[[bytes, Value, int], None]
    macros: Mapping[bytes, bytes] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        self.texts = self.source.texts

    def read(self, first: int, last: int) -> Value:
        """The value of the tokens [first, last)."""
        self.at, self.last = first, min(last, len(self.texts))
        value = PLAIN
        while self.at < self.last:
            before = self.at
            value = joined(value, read) if (read := self._expression(0)).level < value.level else read
            if self.at == before:
                self.at += 1
        return value

    # ---- tokens ------------------------------------------------------------------------------------------------------

    def _text(self, offset: int = 0) -> bytes:
        at = self.at + offset
        return self.texts[at] if at < self.last else b""

    def _operator(self) -> bytes:
        """The operator here; the lexer leaves `>>` as two tokens."""
        text = self._text()
        if text == b">" and self._text(1) == b">":
            starts = self.source.starts
            if starts[self.at + 1] == starts[self.at] + 1:
                return b">>=" if self._text(2) == b"=" else b">>"
        if (
            text == b">"
            and self._text(1) == b"="
            and self.source.starts[self.at + 1] == self.source.starts[self.at] + 1
        ):
            return b">="
        return text

    def _advance(self, operator: bytes) -> None:
        length = 0
        while length < len(operator) and self.at < self.last:
            length += len(self._text())
            self.at += 1

    # ---- grammar -----------------------------------------------------------------------------------------------------

    def _expression(self, least: int) -> Value:
        start = self.at
        value = self._unary()
        while self.at < self.last:
            operator = self._operator()
            if operator in _ASSIGNMENTS and least <= 2:
                value = self._assignment(start, operator, value)
                continue
            binding = _BINARY.get(operator)
            if binding is None or binding < max(least, 1):
                break
            self._advance(operator)
            if operator == b"?":
                yes = self._expression(2)
                if self._text() == b":":
                    self.at += 1
                no = self._expression(2)
                value = replace(joined(value, yes, no), constant=None)
            elif operator == b",":
                right = self._expression(2)
                value = replace(right, level=max(right.level, value.level), constant=None)
            else:
                value = combine(operator, value, self._expression(binding + 1))
        return value

    def _assignment(self, start: int, operator: bytes, old: Value) -> Value:
        target_end = self.at
        self._advance(operator)
        value = self._expression(2)
        if operator != b"=":
            value = combine(operator[:-1], old, value)
        name = self._target(start, target_end)
        if name:
            self.assign(name, value, start)
        return value

    def _target(self, first: int, last: int) -> bytes:
        """The variable `x = ...` or `x[i] = ...` or `*x = ...` changes: a plain one, or nothing."""
        names = [at for at in range(first, last) if self.source.is_ident(at)]
        if not names or any(self.source.at(at) in (b"[", b".", b"->", b"*", b"(") for at in range(first, last)):
            return b""
        return self.source.at(names[-1])

    def _unary(self) -> Value:
        text = self._text()
        if text in _PREFIX:
            self.at += 1
            return self._prefixed(text)
        if text == b"(":
            return self._parenthesis()
        if text in (b"sizeof", b"alignof"):
            self.at += 1
            if self._text() == b"(":
                self.at = self.source.pairs.get(self.at, self.at) + 1
            return PLAIN
        return self._postfix(self._primary())

    def _prefixed(self, operator: bytes) -> Value:
        start = self.at
        value = self._unary()
        if operator in (b"!", b"not"):
            if value.index:
                single = {"thread": "block", "lane": "warp"}.get(value.index, "")
                return Value(value.level, exact=True, single=single, axis=value.axis)
            return Value(value.level, exact=value.exact)
        if operator in (b"++", b"--"):
            name = self._target(start, self.at)
            if name:
                self.assign(name, replace(value, constant=None, ahead=None, blocks=False), start)
            return replace(value, constant=None)
        if operator == b"-" and value.constant is not None:
            return Value(constant=-value.constant)
        if operator == b"~" and value.constant is not None:
            return Value(constant=~value.constant)
        return value if operator == b"+" else joined(value)

    def _parenthesis(self) -> Value:
        close = self.source.pairs.get(self.at)
        if close is None or close >= self.last:
            self.at += 1
            return PLAIN
        inside = range(self.at + 1, close)
        after = self.source.at(close + 1) if close + 1 < self.last else b""
        words = [self.source.at(at) for at in inside]
        typed = bool(words) and all(
            word in (b"*", b"&", b"::", b"<", b">") or kind_of(word) == "ident" for word in words
        )
        if typed and (words[0] in _TYPE_WORDS or words[-1] == b"*") and after not in (b")", b";", b","):
            self.at = close + 1
            return self._unary()  # a cast
        outer = self.last
        first = self.at + 1
        self.at, self.last = first, close
        value = PLAIN
        while self.at < self.last:
            before = self.at
            value = self._expression(0)
            self.at += self.at == before
        self.at, self.last = close + 1, outer
        if typed and len(words) == 1 and after and (kind_of(after) in ("ident", NUMBER) or after == b"("):
            return self._unary()  # a cast to a named type
        return self._postfix(value)

    def _primary(self) -> Value:
        text = self._text()
        if not text:
            return PLAIN
        kind = kind_of(text)
        if kind == NUMBER:
            self.at += 1
            return Value(constant=integer(text))
        if kind != "ident":
            if text in (b"[", b"{") and self.at in self.source.pairs:
                close = self.source.pairs[self.at]
                lambda_ = text == b"["
                first = self.at + 1
                self.at = close + 1
                if lambda_:
                    self._skip_lambda()
                    return PLAIN
                return self._inner(first, close)
            self.at += 1
            return PLAIN
        if text in _TYPE_WORDS and self._text(1) not in (b"(", b""):
            self.at += 1
            return self._unary() if self._text() not in (b";", b",") else PLAIN
        return self._name()

    def _skip_lambda(self) -> None:
        while self.at < self.last and self._text() not in (b"{", b";"):
            self.at = self.source.pairs.get(self.at, self.at) + 1 if self._text() == b"(" else self.at + 1
        if self._text() == b"{":
            self.at = self.source.pairs.get(self.at, self.at) + 1

    def _inner(self, first: int, last: int) -> Value:
        """An expression elsewhere, without losing the place."""
        place = self.at, self.last
        value = self.read(first, last)
        self.at, self.last = place
        return value

    def _arguments(self, open_: int, close: int) -> list[Value]:
        return [self._inner(*part) for part in self.source.split(open_, close)]

    def _name(self) -> Value:
        while self._text(1) == b"::" and self.source.is_ident(self.at + 2):
            self.at += 2
        name_at = self.at
        name = self._text()
        self.at += 1
        if self._text() == b"<":
            end = self.source.angle_end(self.at)
            if end is not None and end + 1 < self.last and self.source.at(end + 1) in (b"(", b"::", b"{"):
                self.at = end + 1
        if self._text() == b"(" and self.at in self.source.pairs:
            close = self.source.pairs[self.at]
            arguments = self._arguments(self.at, close)
            self.at = close + 1
            return self._called(name_at, name, arguments)
        if name == b"threadIdx":
            return self._thread_index()
        if name == b"blockDim" and self._text() == b"." and self._text(1) in (b"x", b"y", b"z"):
            self.at += 2
            return _BLOCK if self.source.at(self.at - 1) == b"x" else Value(end=("warp", 0))
        known = self.environment.get(name)
        if known is None:
            known = _SPECIAL.get(name)
        if known is None and name in self.macros and self.depth < 4:
            known = self._macro(self.macros[name])
        if known is None:
            known = block_size(name)
        following = self._text()
        if following and kind_of(following) == "ident" and following not in (b"and", b"or", b"not"):
            return self._unary()  # a type before the name it declares
        return known if known is not None else PLAIN

    def _macro(self, body: bytes) -> Value:
        inner = _lexed(body)
        reader = Reader(inner, self.environment, lambda at, args: None, lambda *_: None, self.macros, self.depth + 1)
        return reader.read(0, len(inner.texts))

    def _thread_index(self) -> Value:
        if self._text() == b"." and self._text(1) in (b"x", b"y", b"z"):
            axis = self._text(1)
            self.at += 2
            # Blocks are as good as always a multiple of a warp wide in x, so that y and z do not change within a warp.
            return Value(LANE, "thread", axis=b"x", blocks=True) if axis == b"x" else Value(WARP, "warp", axis=axis)
        return VARIES

    def _called(self, at: int, name: bytes, arguments: list[Value]) -> Value:
        known = self.call(at, arguments)
        if known is not None:
            return known
        if name in _UNIFORM_CALLS:
            return PLAIN
        if _LANE_CALLS.fullmatch(name):
            return VARIES
        if _WARP_CALLS.fullmatch(name):
            return Value(min(WARP, max((value.level for value in arguments), default=WARP)) or WARP)
        if name in (b"__laneid", b"lane_id"):
            return Value(LANE, "lane")
        if name in (b"min", b"max", b"__popc", b"__ffs", b"abs") and arguments:
            return replace(joined(*arguments), constant=None)
        named = by_name(name)
        if named is not None and not arguments:
            return named
        return joined(*arguments)

    def _postfix(self, value: Value) -> Value:
        while self.at < self.last:
            text = self._text()
            if text == b"[" and self.at in self.source.pairs:
                close = self.source.pairs[self.at]
                value = joined(value, self._inner(self.at + 1, close))
                self.at = close + 1
            elif text in (b".", b"->") and self.source.is_ident(self.at + 1):
                value = self._member(value)
            elif text in (b"++", b"--"):
                name = self.source.at(self.at - 1)
                if self.source.is_ident(self.at - 1):
                    self.assign(name, replace(value, constant=None, ahead=None, blocks=False), self.at - 1)
                self.at += 1
            elif text == b"(" and self.at in self.source.pairs:
                close = self.source.pairs[self.at]
                value = joined(value, *self._arguments(self.at, close))
                self.at = close + 1
            else:
                return value
        return value

    def _member(self, value: Value) -> Value:
        at = self.at + 1
        name = self.source.at(at)
        self.at += 2
        if self._text() == b"<":
            end = self.source.angle_end(self.at)
            if end is not None and self.source.at(end + 1) == b"(":
                self.at = end + 1
        if self._text() == b"(" and self.at in self.source.pairs:
            close = self.source.pairs[self.at]
            arguments = self._arguments(self.at, close)
            self.at = close + 1
            if name == b"thread_rank":
                return Value(LANE, "thread", axis=b"xyz")
            if name == b"thread_index":
                return VARIES
            if name == b"meta_group_rank":
                return Value(WARP, "warp")
            known = self.call(at, arguments)
            if known is not None:
                return joined(known, value) if not known.index else known
            return self._called(at, name, [value, *arguments])
        return joined(value) if value.constant is None else value


def combine(operator: bytes, left: Value, right: Value) -> Value:
    """The value of `left operator right`."""
    level = max(left.level, right.level)
    if left.constant is not None and right.constant is not None:
        return Value(constant=_folded(operator, left.constant, right.constant))
    if operator in (b"&&", b"||", b"and", b"or"):
        single = ""
        if operator in (b"&&", b"and"):
            singles = {left.single, right.single} - {""}
            single = "block" if "block" in singles else next(iter(singles), "")
        return Value(level, exact=_decides(left) or _decides(right), single=single, axis=left.axis + right.axis)
    if operator in (b"==", b"!=", b"<", b">", b"<=", b">="):
        return _compared(operator, left, right)
    if left.end is not None and right.constant is not None:
        return Value(end=_short_of(operator, *left.end, right.constant))
    if operator == b"+" and not (left.index or right.index):
        blocks = any(_within_blocks(one) and _of_blocks(more) for one, more in ((left, right), (right, left)))
        return Value(level, blocks=blocks or (_of_blocks(left) and _of_blocks(right)))
    if operator in (b"+", b"-") and (left.index or right.index) and not (left.index and right.index):
        index, other = (left, right) if left.index else (right, left)
        if other.level == UNIFORM:
            pair = 2 * LANES if index.index == "thread" else 2
            aligned = index is left and other.constant is not None and other.constant % pair == 0
            unknown = _SOME if operator == b"+" and other.end is None else None
            amount = other.constant if other.constant is not None else unknown
            known = index is left and amount is not None and index.ahead is not None
            more = (amount or 0) * (1 if operator == b"+" else -1)
            ahead = (index.ahead or 0) + more if known else None
            blocks = operator == b"+" and _of_blocks(other) and index.blocks
            return replace(index, constant=None, shifted=index.shifted or not aligned, ahead=ahead, blocks=blocks)
        if index.index == "thread" and other.axis and other.level == WARP:
            # threadIdx.x + blockDim.x * threadIdx.y
            return replace(index, constant=None, axis=index.axis + other.axis, ahead=None, blocks=False)
    if operator == b"*" and UNIFORM in (left.level, right.level):
        blocks = level == UNIFORM and (left.blocks or right.blocks)
        return Value(level, axis=left.axis + right.axis, blocks=blocks)
    if operator == b"/" and right == _BLOCK and _within_blocks(left):
        return PLAIN  # (blockIdx.x * blockDim.x + threadIdx.x) / blockDim.x
    if left.index == "thread" and right.level == UNIFORM:
        return _cut(operator, left, right.constant)
    if left.index == "warp" and right.constant is not None and _by_pairs(operator, left, right.constant, 2):
        return Value(WAVEFRONT)
    return Value(level)


_BLOCK = Value(end=("thread", 0), blocks=True)
"""`blockDim.x`; a parameter that is called so is likely that, and not surely."""


def _of_blocks(value: Value) -> bool:
    """True for a number of whole blocks, the same in all threads."""
    return value.level == UNIFORM and value.blocks


def _within_blocks(value: Value) -> bool:
    """True for threadIdx.x plus whole blocks: against a number of whole blocks all threads of a block compare alike."""
    return value.level == LANE and value.blocks


def either(one: Value, other: Value) -> Value:
    """What holds of a variable that is one or the other, as in a loop."""
    if _within_blocks(one) and _within_blocks(other):
        return Value(LANE, blocks=True)
    return joined(one, other)


def _short_of(operator: bytes, index: str, short: int, number: int) -> tuple[str, int] | None:
    """What bounds an index after arithmetic with a constant: the block's size less another one, its number of warps."""
    if operator in (b"+", b"-"):
        return index, short + (number if operator == b"-" else -number)
    if (
        index == "thread"
        and -LANES < short <= 0
        and (operator, number) in ((b"/", LANES), (b">>", LANES.bit_length() - 1))
    ):
        return "warp", 0
    return None


def _decides(value: Value) -> bool:
    return value.exact or bool(value.index)


def _cut(operator: bytes, left: Value, number: int | None) -> Value:
    """A thread's index divided, shifted or masked."""
    if number is not None:
        if _by_pairs(operator, left, number, 2 * LANES):
            return Value(WAVEFRONT)
        whole = (operator == b"/" and number and number % LANES == 0) or (operator == b">>" and number >= 5)
        if whole or (operator == b"&" and number % LANES == 0):
            return Value(WARP, "warp", shifted=left.shifted, ahead=0 if left.ahead == 0 else None)
        if operator in (b"%", b"&"):
            return Value(LANE, "lane")
    return Value(left.level, "lane" if operator in (b"%", b"&") else "")


def _by_pairs(operator: bytes, index: Value, number: int, pair: int) -> bool:
    """True for a division after which two neighbouring warps, one wavefront of 64 lanes, have the same value."""
    if index.shifted:
        return False
    return (operator == b"/" and number > 0 and number % pair == 0) or (
        operator == b">>" and number >= pair.bit_length() - 1
    )


def _compared(operator: bytes, left: Value, right: Value) -> Value:
    inside, bound = (left, right) if operator in (b"<", b">=") else (right, left)
    if operator not in (b"==", b"!=") and _within_blocks(inside) and _of_blocks(bound):
        return PLAIN  # threadIdx.x + k * blockDim.x < n * blockDim.x
    index, other = (left, right) if left.index else (right, left)
    level = max(left.level, right.level)
    if not index.index or other.level != UNIFORM:
        return Value(level)
    equality = operator in (b"==", b"!=")
    exact = other.constant is not None or (equality and index.index in ("warp", "lane"))
    beyond = (operator in (b"<=", b">")) == (index is left)  # the bound itself is on the side of what is less
    first = other.constant - (index.ahead or 0) if other.constant is not None else None
    if other.end is not None and other.end[0] == index.index and index.ahead is not None:
        first = -(other.end[1] + index.ahead)
        exact = exact or first < -beyond
    if index.index == "thread" and not equality and first is not None and (first + beyond) % LANES == 0:
        level = WARP
    single = ""
    if operator == b"==" or (operator == b"<" and left.index and other.constant == 1):
        single = {"thread": "block", "lane": "warp"}.get(index.index, "")
    return Value(level, exact=exact or equality, single=single, axis=index.axis)


def _folded(operator: bytes, left: int, right: int) -> int | None:
    if operator in (b"/", b"%"):
        return (left // right if operator == b"/" else left % right) if right else None
    if operator in (b"<<", b">>"):
        return (left << right if operator == b"<<" else left >> right) if 0 <= right < 64 else None
    if operator in (b"+", b"-", b"*", b"&", b"|", b"^"):
        return {
            b"+": left + right, b"-": left - right, b"*": left * right,
            b"&": left & right, b"|": left | right, b"^": left ^ right,
        }[operator]  # fmt: skip
    return None

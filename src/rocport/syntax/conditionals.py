"""Preprocessor conditionals: the chains of `#if ... #elif ... #else ... #endif` of a file, and their values.

Values are three-valued: a condition over names nobody knows has no value (None) and decides nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rocport.syntax.cuda import CudaSource, Directive

_OPENING = (b"if", b"ifdef", b"ifndef")
_CONTINUING = (b"elif", b"elifdef", b"elifndef", b"else")
_INTEGER = re.compile(rb"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlL]*\Z")

Value = Callable[[bytes], int | None]
"""Value of a macro in a condition; None where it is not known. An undefined macro has the value 0."""
Defined = Callable[[bytes], bool | None]


@dataclass(frozen=True)
class Branch:
    """One arm of a chain: its directive and the bytes [start, end) it includes."""

    directive: Directive
    start: int
    end: int


@dataclass(frozen=True)
class Chain:
    """One `#if` to its `#endif`. `parent` is the index of the chain and of the branch that hold it, if any."""

    branches: tuple[Branch, ...]
    parent: tuple[int, int] | None

    @property
    def start(self) -> int:
        return self.branches[0].directive.start

    @property
    def end(self) -> int:
        return self.branches[-1].end


def chains(source: CudaSource) -> list[Chain]:
    """All chains in order of their `#if`. A chain without `#endif` runs to the end of the file."""
    opened: list[int] = []
    arms: list[list[Directive]] = []
    parents: list[tuple[int, int] | None] = []
    ends: list[int] = []
    for directive in source.directives:
        if directive.name in _OPENING:
            parents.append((opened[-1], len(arms[opened[-1]]) - 1) if opened else None)
            opened.append(len(arms))
            arms.append([directive])
            ends.append(len(source.data))
        elif directive.name in _CONTINUING and opened:
            arms[opened[-1]].append(directive)
        elif directive.name == b"endif" and opened:
            ends[opened.pop()] = directive.start
    found = []
    for directives, parent, end in zip(arms, parents, ends, strict=True):
        stops = [directive.start for directive in directives[1:]] + [end]
        branches = (Branch(arm, arm.end, stop) for arm, stop in zip(directives, stops, strict=True))
        found.append(Chain(tuple(branches), parent))
    return found


@lru_cache(maxsize=2)
def _switches(source: CudaSource) -> list[tuple[int, int, bytes]]:
    """(start, end, macro) of the branches that ask for one macro alone, in order."""
    found = []
    for chain in chains(source):
        for branch in chain.branches:
            words = source.texts[branch.directive.first + 1 : branch.directive.last]
            match = _ALONE.fullmatch(b" ".join(words)) if len(words) < 6 else None
            if match is not None:
                found.append((branch.start, branch.end, match[1] or match[2]))
    return sorted(found)


_ALONE = re.compile(rb"ifdef (\w+)|if defined (?:\( )?(\w+)(?: \))?")


def switch_around(source: CudaSource, at: int) -> bytes:
    """The macro of the nearest `#ifdef NAME` or `#if defined(NAME)` before a byte, where its branch holds the byte."""
    found = _switches(source)
    place = bisect_right(found, at, key=lambda item: item[0]) - 1
    return found[place][2] if place >= 0 and at < found[place][1] else b""


def evaluate(source: CudaSource, directive: Directive, value: Value, defined: Defined) -> bool | None:
    """Whether the condition of an `#if`, `#ifdef`, `#ifndef` or `#elif` holds; None where that is not known.

    An `#else` holds. A condition the parser does not understand has no value.
    """
    if directive.name == b"else":
        return True
    words = _joined(source, directive.first + 2, directive.last)
    if directive.name in (b"ifdef", b"ifndef", b"elifdef", b"elifndef"):
        known = defined(words[0]) if words else None
        if known is None:
            return None
        return known == (directive.name in (b"ifdef", b"elifdef"))
    try:
        parser = _Parser(words, value, defined)
        result = parser.binary(0)
        if parser.position != len(words):
            return None
    except _NotUnderstood:
        return None
    return None if result is None else result != 0


def constant(words: Sequence[bytes]) -> int | None:
    """Value of an expression of integer literals and operators; None for any other."""
    try:
        parser = _Parser(words, lambda name: None, lambda name: None)
        result = parser.binary(0)
    except _NotUnderstood:
        return None
    return result if parser.position == len(words) else None


def _joined(source: CudaSource, first: int, last: int) -> list[bytes]:
    """Tokens of a condition, with `>=` and `>>`, which the lexer keeps apart for templates, put together."""
    words: list[bytes] = []
    for position in range(first, last):
        text = source.texts[position]
        adjacent = position > first and source.end(position - 1) == source.starts[position]
        if adjacent and words and words[-1] == b">" and text in (b"=", b">"):
            words[-1] += text
        else:
            words.append(text)
    return words


class _NotUnderstood(Exception):
    pass


_LEVEL = {
    operator: level
    for level, operators in enumerate(b"||  &&  |  ^  &  == !=  < > <= >=  << >>  + -  * / %".split(b"  "))
    for operator in operators.split()
}
"""How close an operator binds."""


class _Parser:
    def __init__(self, words: Sequence[bytes], value: Value, defined: Defined) -> None:
        self.words = words
        self.value = value
        self.defined = defined
        self.position = 0

    def _next(self) -> bytes:
        return self.words[self.position] if self.position < len(self.words) else b""

    def _take(self) -> bytes:
        word = self._next()
        if not word:
            raise _NotUnderstood
        self.position += 1
        return word

    def binary(self, level: int) -> int | None:
        """What follows, with the operators that bind at least as close as those of a level."""
        left = self.unary()
        while (binds := _LEVEL.get(self._next(), -1)) >= level:
            operator = self._take()
            left = _apply(operator, left, self.binary(binds + 1))
        return left

    def unary(self) -> int | None:
        word = self._take()
        if word == b"!":
            operand = self.unary()
            return None if operand is None else int(not operand)
        if word == b"-":
            operand = self.unary()
            return None if operand is None else -operand
        if word == b"+":
            return self.unary()
        if word == b"(":
            result = self.binary(0)
            if self._take() != b")":
                raise _NotUnderstood
            return result
        if word == b"defined":
            return self._defined()
        number = _INTEGER.match(word)
        if number:
            return int(number.group(1).replace(b"'", b""), 8 if re.match(rb"0[0-7']+\Z", number.group(1)) else 0)
        if not (word[:1].isalpha() or word[:1] == b"_"):
            raise _NotUnderstood
        if self._next() == b"(":
            self._skip_arguments()
            return None
        return self.value(word)

    def _defined(self) -> int | None:
        word = self._take()
        if word == b"(":
            word = self._take()
            if self._take() != b")":
                raise _NotUnderstood
        known = self.defined(word)
        return None if known is None else int(known)

    def _skip_arguments(self) -> None:
        depth = 0
        while True:
            word = self._take()
            depth += (word == b"(") - (word == b")")
            if depth == 0:
                return


def _apply(operator: bytes, left: int | None, right: int | None) -> int | None:
    if operator == b"&&":
        if left == 0 or right == 0:
            return 0
        return None if left is None or right is None else 1
    if operator == b"||":
        if left or right:
            return 1
        return None if left is None or right is None else 0
    if left is None or right is None:
        return None
    if operator in (b"/", b"%") and right == 0:
        raise _NotUnderstood
    return _ARITHMETIC[operator](left, right)


_ARITHMETIC: dict[bytes, Callable[[int, int], int]] = {
    b"|": lambda a, b: a | b,
    b"^": lambda a, b: a ^ b,
    b"&": lambda a, b: a & b,
    b"==": lambda a, b: int(a == b),
    b"!=": lambda a, b: int(a != b),
    b"<": lambda a, b: int(a < b),
    b">": lambda a, b: int(a > b),
    b"<=": lambda a, b: int(a <= b),
    b">=": lambda a, b: int(a >= b),
    b"<<": lambda a, b: a << min(b, 64) if b >= 0 else 0,
    b">>": lambda a, b: a >> b if b >= 0 else 0,
    b"+": lambda a, b: a + b,
    b"-": lambda a, b: a - b,
    b"*": lambda a, b: a * b,
    b"/": lambda a, b: int(a / b),
    b"%": lambda a, b: a - b * int(a / b),
}

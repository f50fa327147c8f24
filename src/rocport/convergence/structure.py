"""The statements of a function body, from tokens: what encloses what, and under which condition.

Enough of C++ for questions of control flow. Expressions stay token ranges; declarations are expressions. Preprocessor
lines inside a body are stepped over, so that both branches of an `#if` are read one after the other. What cannot be
read as a statement is read up to the next semicolon: the parser never fails, it only sees less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rocport.syntax.cuda import CudaSource

LOOPS = frozenset({"for", "while", "do"})


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement; token ranges [first, last).

    `kind`: expression, block, if, for, while, do, switch, case, label, return, break, continue, goto; the walk makes a
    `choice` of `c ? a : b`. `condition` is what decides (of an `if`, a loop, a `switch`); `head` the whole parenthesis
    of a `for`. `body` are the statements inside, `other` those of the `else`.
    """

    kind: str
    first: int
    last: int
    condition: tuple[int, int] | None = None
    head: tuple[int, int] | None = None
    body: tuple[Statement, ...] = ()
    other: tuple[Statement, ...] = ()
    constant: bool = False
    """`if constexpr`: decided by the compiler."""

    @property
    def inner(self) -> tuple[Statement, ...]:
        """The statements inside, those of the block where they stand in one."""
        return self.body[0].body if self.body and self.body[0].kind == "block" else self.body

    def walk(self) -> Iterator[Statement]:
        """This statement and all inside it, in order."""
        yield self
        for inner in (*self.body, *self.other):
            yield from inner.walk()


def statements(source: CudaSource, first: int, last: int) -> tuple[Statement, ...]:
    """The statements in the tokens [first, last) of a body, its braces left out."""
    return tuple(_Parser(source, last).run(first))


class _Parser:
    def __init__(self, source: CudaSource, last: int) -> None:
        self.source = source
        self.last = last
        # In the body of a macro the directive is the code.
        self.around = source.directive_of(last - 1) if last else None

    def run(self, position: int) -> Iterator[Statement]:
        while position < self.last:
            position = self._skip(position)
            if position >= self.last:
                return
            statement = self._statement(position)
            yield statement
            position = max(statement.last, position + 1)

    def _skip(self, position: int) -> int:
        """The next token that is code."""
        while position < self.last:
            directive = self.source.directive_of(position)
            if directive is None or directive is self.around:
                return position
            position = directive.last
        return position

    def _close(self, position: int) -> int:
        """The partner of a bracket, or the last token of the range."""
        return min(self.source.pairs.get(position, self.last - 1), self.last - 1)

    def _statement(self, position: int) -> Statement:
        text = self.source.at(position)
        if text == b"{":
            close = self._close(position)
            return Statement("block", position, close + 1, body=self._inside(position + 1, close))
        if text == b"if":
            return self._if(position)
        if text in (b"for", b"while", b"switch"):
            return self._headed(position, text.decode())
        if text == b"do":
            return self._do(position)
        if text in (b"case", b"default"):
            at = position
            while at < self.last and self.source.at(at) != b":":
                at += 1
            return Statement("case", position, at + 1)
        if text in (b"return", b"break", b"continue", b"goto"):
            return Statement(text.decode(), position, self._semicolon(position) + 1)
        if self.source.is_ident(position) and self.source.at(position + 1) == b":":
            return Statement("label", position, position + 2)
        return self._expression(position)

    def _inside(self, first: int, last: int) -> tuple[Statement, ...]:
        parser = _Parser(self.source, last)
        parser.around = self.around
        return tuple(parser.run(first))

    def _if(self, position: int) -> Statement:
        at = self._skip(position + 1)
        constant = self.source.at(at) == b"constexpr"
        at += constant
        if self.source.at(at) != b"(":
            return self._expression(position)
        close = self._close(at)
        body = self._one(close + 1)
        end = body.last
        after = self._skip(end)
        other: tuple[Statement, ...] = ()
        if after < self.last and self.source.at(after) == b"else":
            alternative = self._one(after + 1)
            other, end = (alternative,), alternative.last
        return Statement("if", position, end, (at + 1, close), None, (body,), other, constant)

    def _one(self, position: int) -> Statement:
        position = self._skip(position)
        if position >= self.last:
            return Statement("expression", self.last, self.last)
        return self._statement(position)

    def _headed(self, position: int, kind: str) -> Statement:
        open_ = self._skip(position + 1)
        if self.source.at(open_) != b"(":
            return self._expression(position)
        close = self._close(open_)
        condition = (open_ + 1, close)
        if kind == "for":
            parts = [at for at in self._top(open_ + 1, close) if self.source.at(at) == b";"]
            condition = (parts[0] + 1, parts[1]) if len(parts) == 2 else (close, close)
        body = self._one(close + 1)
        return Statement(kind, position, body.last, condition, (open_ + 1, close), (body,))

    def _top(self, first: int, last: int) -> Iterator[int]:
        """Tokens outside brackets."""
        at = first
        while at < last:
            yield at
            at = self._close(at) + 1 if self.source.at(at) in (b"(", b"[", b"{") else at + 1

    def _do(self, position: int) -> Statement:
        body = self._one(position + 1)
        at = self._skip(body.last)
        if self.source.at(at) != b"while" or self.source.at(at + 1) != b"(":
            return Statement("do", position, body.last, (body.last, body.last), None, (body,))
        close = self._close(at + 1)
        end = close + 1 + (close + 1 < self.last and self.source.at(close + 1) == b";")
        return Statement("do", position, end, (at + 2, close), (at + 2, close), (body,))

    def _semicolon(self, position: int) -> int:
        at = position
        while at < self.last and self.source.at(at) != b";":
            if self.source.at(at) == b"}":
                return at - 1
            at = self._close(at) + 1 if self.source.at(at) in (b"(", b"[", b"{") else at + 1
        return min(at, self.last - 1)

    def _expression(self, position: int) -> Statement:
        """Up to the semicolon. The body of a lambda and of a macro's block (`FOR_ALL(i) { ... }`) is read as well."""
        at = position
        bodies: list[Statement] = []
        while at < self.last and self.source.at(at) != b";":
            text = self.source.at(at)
            directive = self.source.directive_of(at)
            if directive is not None and directive is not self.around:
                at = directive.last
                continue
            if text == b"}":
                at -= 1
                break
            if text in (b"(", b"["):
                bodies += self._lambdas(at, self._close(at))
                at = self._close(at) + 1
                continue
            if text == b"{":
                close = self._close(at)
                if self.source.at(at - 1) in (b")", b"mutable", b"]"):
                    bodies.append(Statement("block", at, close + 1, body=self._inside(at + 1, close)))
                    if at == position or self._is_macro_block(position, at):
                        return Statement("expression", position, close + 1, body=tuple(bodies))
                at = close + 1
                continue
            at += 1
        return Statement("expression", position, min(at + 1, self.last), body=tuple(bodies))

    def _is_macro_block(self, position: int, brace: int) -> bool:
        """True for `NAME(...) {`."""
        return (
            self.source.is_ident(position)
            and self.source.at(position + 1) == b"("
            and self.source.pairs.get(position + 1) == brace - 1
        )

    def _lambdas(self, first: int, last: int) -> Iterator[Statement]:
        at = first + 1
        while at < last:
            if self.source.at(at) == b"{" and self.source.at(at - 1) in (b")", b"mutable", b"]"):
                close = self._close(at)
                yield Statement("block", at, close + 1, body=self._inside(at + 1, close))
                at = close
            at += 1

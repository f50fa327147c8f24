# SPDX-License-Identifier: Apache-2.0
"""Parse AMD's instruction pseudo-code (the text of the ISA documents) into a syntax tree.

The language: typed views (`S0.f32`), bit slices (`[31 : 16]`, `[i * 4 +: 4]`), sized literals and casts (`1'1U`,
`32'I(x)`), concatenation on both sides of `=`, `declare` with arrays, `if/elsif/else/endif`, `for a in b : c do`,
`while`, `break`, chained assignment, and lambdas. No statement ends without `;` except the last of a block.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<comment>//[^\n]*)
  | (?P<cast>\d+'(?:BF|[UIBF])(?=\s*\())
  | (?P<sized>\d+'(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)[UIF]?)
  | (?P<type>\d+'(?:BF|[UIBF]))
  | (?P<number>0x[0-9a-fA-F]+(?:ULL|LL|U)?|\d+\.\d+F?|\d+(?:ULL|LL|U|F)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op>\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||\+=|-=|\*=|&=|\|=|\+:|[-+*/%&|^~!<>=?:;,.(){}\[\]])
)""",
    re.X,
)


class PseudocodeError(ValueError):
    """Text outside the language; the message names the token."""


@dataclass(frozen=True)
class Number:
    """A literal: value, and the type its suffix or size gives ('u'|'i'|'f', bits); loose without a suffix."""

    value: int | float
    kind: str
    width: int
    loose: bool = False


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class View:
    """`base.type`"""

    base: Expr
    kind: str
    width: int


@dataclass(frozen=True)
class Field:
    """`base.name` where the name is not a type (`WAVE_MODE.IEEE`)."""

    base: str
    name: str


@dataclass(frozen=True)
class Slice:
    """`base[high : low]`, `base[low +: count]`; an index where low is None."""

    base: Expr
    high: Expr
    low: Expr | None = None
    count: Expr | None = None


@dataclass(frozen=True)
class Unary:
    op: str
    operand: Expr


@dataclass(frozen=True)
class Binary:
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Select:
    condition: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True)
class Cast:
    kind: str
    width: int
    operand: Expr


@dataclass(frozen=True)
class Concat:
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Expr, ...]


Expr = Number | Name | View | Field | Slice | Unary | Binary | Select | Cast | Concat | Call


@dataclass(frozen=True)
class Assign:
    targets: tuple[Expr, ...]
    op: str
    """'' for `=`, else the operator before it."""
    value: Expr


@dataclass(frozen=True)
class If:
    arms: tuple[tuple[Expr, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class For:
    variable: str
    first: Expr
    last: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Break:
    pass


@dataclass(frozen=True)
class Return:
    value: Expr


@dataclass(frozen=True)
class Declare:
    name: str
    kind: str
    width: int
    count: int = 0
    """Length of an array; 0 for a single value."""


@dataclass(frozen=True)
class Lambda:
    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...] | Expr = field(default=())


@dataclass(frozen=True)
class Do:
    """An expression for its effect."""

    value: Expr


Statement = Assign | If | For | While | Break | Return | Declare | Lambda | Do

_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!=", "<>"),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
    ("**",),
)
_TYPE = re.compile(r"(bf|[uifb])(\d+)$")
# Formats without a C type: their bits, which functions like fp8_to_f32 read.
_SMALL_FLOATS = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}


def parse_type(text: str) -> tuple[str, int] | None:
    """`f32` -> ('f', 32); `b` counts as unsigned. None where it is no type."""
    if text in _SMALL_FLOATS:
        return "u", _SMALL_FLOATS[text]
    found = _TYPE.match(text)
    if found is None:
        return None
    return ("u" if found[1] == "b" else found[1], int(found[2]))


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Statement, ...]:
    """The statements of one instruction's text. Raises PseudocodeError."""
    return _Parser(_tokens(text)).program()


def _tokens(text: str) -> list[tuple[str, str]]:
    found = []
    position = 0
    while text[position:].strip():
        token = _TOKEN.match(text, position)
        if token is None or token.lastgroup is None:
            raise PseudocodeError(f"no token at {text[position : position + 24]!r}")
        if token.lastgroup != "comment":
            found.append((token.lastgroup, token[token.lastgroup]))
        position = token.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place][1] if place < len(self.tokens) else ""

    def take(self, expected: str = "") -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise PseudocodeError(f"the text ends where {expected or 'more'!r} was expected")
        token = self.tokens[self.at]
        if expected and token[1] != expected:
            raise PseudocodeError(f"expected {expected!r}, found {token[1]!r}")
        self.at += 1
        return token

    def program(self) -> tuple[Statement, ...]:
        body = self.block(())
        if self.at < len(self.tokens):
            raise PseudocodeError(f"unexpected {self.peek()!r}")
        return body

    def block(self, ends: tuple[str, ...]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        while self.at < len(self.tokens) and self.peek() not in ends:
            if self.peek() == ";":
                self.at += 1
                continue
            found.append(self.statement())
        return tuple(found)

    def statement(self) -> Statement:
        head = self.peek()
        if head == "if":
            return self.if_statement()
        if head == "for":
            self.take()
            variable = self.take()[1]
            self.take("in")
            first = self.expression()
            self.take(":")
            last = self.expression()
            self.take("do")
            body = self.block(("endfor",))
            self.take("endfor")
            return For(variable, first, last, body)
        if head == "while":
            self.take()
            condition = self.expression()
            self.take("do")
            body = self.block(("endwhile",))
            self.take("endwhile")
            return While(condition, body)
        if head == "break":
            self.take()
            return Break()
        if head == "return":
            self.take()
            return Return(self.expression())
        if head == "declare":
            return self.declaration()
        if self.peek(1) == "=" and self.peek(2) == "lambda":
            return self.lambda_definition()
        return self.assignment()

    def if_statement(self) -> If:
        arms = []
        self.take("if")
        while True:
            condition = self.expression()
            self.take("then")
            arms.append((condition, self.block(("elsif", "else", "endif"))))
            if self.peek() != "elsif":
                break
            self.take()
        otherwise: tuple[Statement, ...] = ()
        if self.peek() == "else":
            self.take()
            otherwise = self.block(("endif",))
        self.take("endif")
        return If(tuple(arms), otherwise)

    def declaration(self) -> Declare:
        self.take("declare")
        name = self.take()[1]
        self.take(":")
        kind, text = self.take()
        if kind not in ("type", "cast"):
            raise PseudocodeError(f"expected a type, found {text!r}")
        width, letter = text.split("'")
        count = 0
        if self.peek() == "[":
            self.take()
            count = int(self.take()[1], 0)
            self.take("]")
        return Declare(name, _LETTERS[letter], int(width), count)

    def lambda_definition(self) -> Lambda:
        name = self.take()[1]
        self.take("=")
        self.take("lambda")
        self.take("(")
        parameters = []
        while self.peek() != ")":
            if self.peek() != ",":
                parameters.append(self.peek())
            self.at += 1
        self.take(")")
        self.take("(")
        start = self.at
        try:
            body: tuple[Statement, ...] | Expr = self.expression()
            self.take(")")
        except PseudocodeError:
            self.at = start
            body = self.block((")",))
            self.take(")")
        return Lambda(name, tuple(parameters), body)

    def assignment(self) -> Statement:
        first = self.postfix(self.primary())
        op = self.peek()
        if op in ("+=", "-=", "*=", "&=", "|="):
            self.take()
            return Assign((first,), op[0], self.expression())
        if op != "=":
            return Do(first)
        targets = [first]
        while self.peek() == "=":
            self.take()
            targets.append(self.expression())
        return Assign(tuple(targets[:-1]), "", targets[-1])

    def expression(self) -> Expr:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        then = self.expression()
        self.take(":")
        return Select(condition, then, self.expression())

    def binary(self, level: int) -> Expr:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            op = self.take()[1]
            right = self.binary(level + 1)
            # Less or greater: not for a NaN, for which `!=` holds.
            less = Binary("||", Binary("<", left, right), Binary(">", left, right)) if op == "<>" else None
            left = less or Binary(op, left, right)
        return left

    def unary(self) -> Expr:
        if self.peek() in ("-", "+", "~", "!"):
            op = self.take()[1]
            operand = self.unary()
            return operand if op == "+" else Unary(op, operand)
        return self.postfix(self.primary())

    def primary(self) -> Expr:
        kind, text = self.take()
        if kind == "cast":
            width, letter = text.split("'")
            self.take("(")
            operand = self.expression()
            self.take(")")
            return Cast(_LETTERS[letter], int(width), operand)
        if kind == "sized":
            width, digits = text.split("'")
            if "." in digits:
                return Number(float(digits.rstrip("F")), "f", int(width))
            letter = "I" if digits.endswith("I") else "U"
            bare = digits.rstrip("UI") if digits.startswith("0x") else digits.rstrip("UIF")
            return Number(int(bare, 0), _LETTERS[letter], int(width))
        if kind == "number":
            return _number(text)
        if text == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if text == "{":
            items = [self.expression()]
            while self.peek() == ",":
                self.take()
                items.append(self.expression())
            self.take("}")
            return Concat(tuple(items))
        if kind != "name":
            raise PseudocodeError(f"unexpected {text!r}")
        if self.peek() == "(":
            self.take()
            arguments = []
            while self.peek() != ")":
                arguments.append(self.expression())
                if self.peek() == ",":
                    self.take()
            self.take(")")
            return Call(text, tuple(arguments))
        return Name(text)

    def postfix(self, base: Expr) -> Expr:
        while self.peek() in (".", "["):
            if self.take()[1] == ".":
                name = self.take()[1]
                if typed := parse_type(name):
                    base = View(base, *typed)
                elif isinstance(base, Name):
                    base = Field(base.name, name)
                else:
                    raise PseudocodeError(f"no type after '.': {name!r}")
                continue
            high = self.expression()
            if self.peek() == ":":
                self.take()
                base = Slice(base, high, self.expression())
            elif self.peek() == "+:":
                self.take()
                base = Slice(base, high, None, self.expression())
            else:
                base = Slice(base, high)
            self.take("]")
        return base


_LETTERS = {"U": "u", "I": "i", "B": "u", "F": "f", "BF": "bf"}


def _number(text: str) -> Number:
    if "." in text:
        return Number(float(text.rstrip("F")), "f", 32 if text.endswith("F") else 64, loose=not text.endswith("F"))
    digits = re.match(r"0x[0-9a-fA-F]+|\d+", text)
    assert digits is not None
    value = int(digits[0], 0)
    suffix = text[digits.end() :]
    if suffix == "F":
        return Number(float(value), "f", 32)
    kinds = {"ULL": ("u", 64), "LL": ("i", 64), "U": ("u", 32)}
    kind, width = kinds.get(suffix, ("i", 32 if value < 2**31 else 64))
    if suffix == "U" and value >= 2**32:
        width = 64
    return Number(value, kind, width, loose=not suffix)

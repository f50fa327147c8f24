"""Inline PTX: the parts of an `asm` statement, and the instructions of its template. No opinions about either."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rocport.syntax.cuda import STRING, CudaSource

KEYWORDS = (b"asm", b"__asm__", b"__asm")
QUALIFIERS = frozenset({b"volatile", b"__volatile__", b"__volatile", b"inline", b"__inline__", b"goto"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "'": "'", "0": "\0"}
_PIECE = re.compile(rb'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*')
_RAW = re.compile(r'(?:u8|[uUL])?R"([^()\\\s"]{0,16})\((.*)\)\1"\Z', re.DOTALL)


@dataclass(frozen=True)
class AsmOperand:
    """`[name] "constraint" (expression)`; the expression is the token range [first, last)."""

    constraint: str
    first: int
    last: int
    name: str = ""


@dataclass(frozen=True)
class Asm:
    """One `asm` statement; token indices. `template` is None when it is not made of literals alone."""

    keyword: int
    close: int
    template: str | None
    outputs: tuple[AsmOperand, ...]
    inputs: tuple[AsmOperand, ...]
    clobbers: tuple[str, ...]
    extended: bool
    """True with operand sections, where `%%` stands for `%`."""


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction: `@guard opcode.modifier.modifier operand, operand;`."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""
    negated: bool = False

    @property
    def mnemonic(self) -> str:
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True)
class Registers:
    """`.reg .type names`."""

    type: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Scope:
    """A brace: opening or closing."""

    opens: bool


@dataclass(frozen=True)
class Unknown:
    """A directive or label this parser has no shape for."""

    text: str


Statement = Instruction | Registers | Scope | Unknown


def parse_asm(
    source: CudaSource, keyword: int, macros: Mapping[bytes, bytes], compiled: Callable[[int], bool | None]
) -> Asm | None:
    """The statement at an `asm` keyword; None when no parenthesis follows. Macros that are strings are seen through.

    `compiled` says whether a byte offset is included by the preprocessor conditionals inside the statement; where it
    does not know (None), the template is not read.
    """
    position = keyword + 1
    while source.at(position) in QUALIFIERS:
        position += 1
    if source.at(position) != b"(" or position not in source.pairs:
        return None
    close = source.pairs[position]
    sections = _sections(source, position, close)
    template = _literal(source, *sections[0], macros, compiled)
    outputs = _operands(source, sections[1]) if len(sections) > 1 else ()
    inputs = _operands(source, sections[2]) if len(sections) > 2 else ()
    if outputs is None or inputs is None:
        template, outputs, inputs = None, outputs or (), inputs or ()
    clobbers: tuple[str, ...] = ()
    if len(sections) > 3:
        clobbers = tuple(
            text for at in range(*sections[3]) if (text := _unquote(source.texts[at].decode("utf-8", "replace")))
        )
    return Asm(keyword, close, template, outputs, inputs, clobbers, len(sections) > 1)


def _sections(source: CudaSource, open_: int, close: int) -> list[tuple[int, int]]:
    sections = []
    first = position = open_ + 1
    while position < close:
        text = source.texts[position]
        if text in (b"(", b"[", b"{") and position in source.pairs:
            position = source.pairs[position]
        elif text in (b":", b"::"):
            sections.append((first, position))
            if text == b"::":
                sections.append((position, position))
            first = position + 1
        position += 1
    return [*sections, (first, close)]


def _literal(
    source: CudaSource, first: int, last: int, macros: Mapping[bytes, bytes], compiled: Callable[[int], bool | None]
) -> str | None:
    pieces: list[str] = []
    around = source.directive_of(first - 1)
    for position in range(first, last):
        token = source.token(position)
        if source.directive_of(position) is not around:
            continue
        included = compiled(token.start)
        if included is None:
            return None
        if not included:
            continue
        literal = token.kind == STRING
        piece = _unquote(token.text.decode("utf-8", "replace")) if literal else _written(token.text, macros)
        if piece is None:
            return None
        pieces.append(piece)
    return "".join(pieces)


def _written(name: bytes, macros: Mapping[bytes, bytes], depth: int = 0) -> str | None:
    """The string that a macro stands for: its literals, and those of macros without parameters beside them."""
    body = macros.get(name, b"").strip()
    if (whole := _unquote(body.decode("utf-8", "replace"))) is not None or depth > 8:
        return whole
    words = _PIECE.findall(body)
    if not words or _PIECE.sub(b"", body).strip():
        return None
    pieces = [
        _unquote(word.decode("utf-8", "replace")) if word[:1] == b'"' else _written(word, macros, depth + 1)
        for word in words
    ]
    return None if None in pieces else "".join(piece for piece in pieces if piece is not None)


def _unquote(text: str) -> str | None:
    raw = _RAW.match(text)
    if raw:
        return raw.group(2)
    start = text.find('"')
    if start < 0 or len(text) < start + 2 or text[-1] != '"' or '" "' in text:
        return None
    body = text[start + 1 : -1].replace("\\\r\n", "").replace("\\\n", "")
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), body)


def _operands(source: CudaSource, section: tuple[int, int]) -> tuple[AsmOperand, ...] | None:
    operands: list[AsmOperand] = []
    position, last = section
    while position < last:
        name = ""
        if source.at(position) == b"[":
            name = source.at(position + 1).decode("utf-8", "replace")
            position += 3
        constraint = _unquote(source.at(position).decode("utf-8", "replace"))
        open_ = position + 1
        if constraint is None or source.at(open_) != b"(" or open_ not in source.pairs:
            return None
        close = source.pairs[open_]
        operands.append(AsmOperand(constraint, open_ + 1, close, name))
        position = close + 1
        if position < last and source.at(position) != b",":
            return None
        position += 1
    return tuple(operands)


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_REGISTERS = re.compile(r"\.reg\s*\.(\w+)\s+(.+)\Z", re.DOTALL)
_INSTRUCTION = re.compile(
    r"(?:@(!?)\s*([%\w$\[\]]+)\s+)?([a-z][a-z0-9_]*)((?:\.[\w:]+)*)(?:\s+|(?=[\[{])|\Z)(.*)\Z", re.DOTALL
)


def parse_ptx(template: str) -> list[Statement]:
    """The statements of a template, in order."""
    text = _COMMENT.sub(" ", template)
    statements: list[Statement] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char.isspace() or char == ";":
            position += 1
        elif char in "{}":
            statements.append(Scope(char == "{"))
            position += 1
        else:
            end = text.find(";", position)
            end = len(text) if end < 0 else end
            statements.append(_statement(text[position:end].strip()))
            position = end + 1
    return statements


def _statement(text: str) -> Statement:
    registers = _REGISTERS.match(text)
    if registers:
        return Registers(registers.group(1), tuple(_names(registers.group(2))))
    match = _INSTRUCTION.match(text)
    if match is None:
        return Unknown(text)
    negated, guard, opcode, modifiers, rest = match.groups()
    if rest.startswith(":") or ("\n" in rest.strip() and re.search(r"\n\s*[a-z]+\.[a-z]", rest)):
        return Unknown(text)
    return Instruction(
        opcode,
        tuple(part for part in modifiers.split(".") if part),
        tuple(split_operands(rest)),
        guard or "",
        bool(negated),
    )


def _names(text: str) -> Iterable[str]:
    for name in text.split(","):
        bounded = re.match(r"\s*([%\w$]+)<(\d+)>\s*\Z", name)
        if bounded:
            yield from (f"{bounded.group(1)}{number}" for number in range(int(bounded.group(2))))
        else:
            yield name.strip()


def split_operands(text: str) -> Iterable[str]:
    """Operands of an instruction: split at commas outside `[...]` and `{...}`."""
    depth = 0
    start = 0
    for position, char in enumerate(text):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    last = text[start:].strip()
    if last:
        yield last

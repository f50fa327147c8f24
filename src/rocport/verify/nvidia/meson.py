"""Meson: tokens with `if get_option('use_rocm')` evaluated false (https://mesonbuild.com/Syntax.html)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocport.verify.nvidia.tokens import LexError, Token

GATE = "get_option('use_rocm')"
OPTIONS = ("use_rocm", "rocm", "use_hip")
"""Boolean options that are false unless someone asks for ROCm."""
_TOKEN = re.compile(
    r"(?P<skip>[ \t]+|#[^\n]*|\\\n)|(?P<newline>\r?\n)|(?P<string>f?'''.*?'''|f?'(?:\\.|[^'\\\n])*')"
    r"|(?P<word>\w+)|(?P<operator>\+=|==|!=|<=|>=|.)",
    re.DOTALL,
)


def tokens(data: bytes) -> list[Token]:
    """The tokens that are left off ROCm. Line ends count where Meson counts them: outside brackets. Raises LexError."""
    text = data.decode("utf-8", errors="surrogateescape")
    found: list[Token] = []
    line, depth = 1, 0
    for item in _TOKEN.finditer(text):
        piece = item.group()
        if item.lastgroup == "newline":
            if depth == 0 and found and found[-1].text != "\n":
                found.append(Token("\n", line))
        elif item.lastgroup != "skip":
            depth += (piece in "([{") - (piece in ")]}") if len(piece) == 1 else 0
            found.append(Token(piece, line))
        line += piece.count("\n")
    return [token for statement in _fold(_statements(found)) for token in statement]


_DECLARES = re.compile(r"option\('(\w+)'(?:,(?:type:'boolean'|value:false|description:'(?:\\.|[^'\\])*'))*\)\n?")


def options(data: bytes) -> tuple[list[Token], frozenset[str]]:
    """The tokens of an options file without the gates it declares, and those: boolean options, false by default."""
    kept: list[Token] = []
    declared: set[str] = set()
    for statement in _statements(tokens(data)):
        text = "".join(token.text for token in statement)
        found = _DECLARES.fullmatch(text)
        if found and found.group(1) in OPTIONS and "type:'boolean'" in text and "value:false" in text:
            declared.add(found.group(1))
        else:
            kept += statement
    return kept, frozenset(declared)


def gates(data: bytes) -> dict[str, int]:
    """Gates a build file asks for -> line. Asking for an option that nobody declares is an error of Meson's."""
    text = data.decode("utf-8", errors="replace")
    found = re.finditer(r"get_option\(\s*'(" + "|".join(OPTIONS) + r")'\s*\)", text)
    return {item.group(1): text.count("\n", 0, item.start()) + 1 for item in found}


def _statements(stream: Sequence[Token]) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    for token in stream:
        found[-1].append(token)
        if token.text == "\n":
            found.append([])
    return [statement for statement in found if statement]


def _fold(statements: Sequence[Sequence[Token]]) -> Iterator[Sequence[Token]]:
    """Statements with the branches that cannot be taken left out."""
    # The file, and one entry an open `if`: (an earlier branch is kept, this branch is read, a branch is certain).
    stack = [[False, True, False]]
    for statement in statements:
        word = statement[0].text
        live = stack[-1][1]
        if word == "if":
            value = _evaluate(statement[1:])
            stack.append([value is None, live and value is not False, value is True])
            if live and value is None:
                yield statement
        elif word in ("elif", "else"):
            if len(stack) == 1:
                raise LexError(statement[0].line, f"{word} without if")
            top = stack[-1]
            value = True if word == "else" else _evaluate(statement[1:])
            top[1] = stack[-2][1] and value is not False and not top[2]
            if top[1]:
                if value is None:
                    head = Token("elif" if top[0] else "if", statement[0].line)
                    yield [head, *statement[1:]]
                elif top[0]:
                    yield [Token("else", statement[0].line), statement[-1]]
            top[2] = top[2] or value is True
            top[0] = top[0] or value is None
        elif word == "endif":
            if len(stack) == 1:
                raise LexError(statement[0].line, "endif without if")
            kept = stack.pop()[0]
            if kept and stack[-1][1]:
                yield statement
        elif live:
            yield statement
    if len(stack) > 1:
        raise LexError(statements[-1][0].line, "if without endif")


def _evaluate(condition: Sequence[Token]) -> bool | None:
    text = " ".join(token.text for token in condition).strip()
    names = "|".join(OPTIONS)
    if re.fullmatch(rf"get_option \( '(?:{names})' \)", text):
        return False
    if re.fullmatch(rf"not get_option \( '(?:{names})' \)", text):
        return True
    return None

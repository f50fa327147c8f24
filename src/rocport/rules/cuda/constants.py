"""Values of constant expressions, where the file or the project says what their names are."""

from __future__ import annotations

import re

from rocport.model import Context
from rocport.syntax.conditionals import constant
from rocport.syntax.cuda import CudaSource

_NUMBER = re.compile(rb"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)[uUlLzZ]*\Z")
_TYPE_BYTES = {b"char": 1, b"short": 2, b"int": 4, b"unsigned": 4, b"float": 4, b"double": 8, b"half": 2, b"__half": 2}
_TYPE_BYTES |= {b"float2": 8, b"float4": 16, b"int4": 16, b"double2": 16, b"uint8_t": 1, b"uint32_t": 4, b"int32_t": 4}
_DEPTH = 6


def value_of(source: CudaSource, first: int, last: int, context: Context, depth: int = _DEPTH) -> int | None:
    """Value of the integer expression of the tokens [first, last); None where it is not known.

    Names are those of macros of the project and of constants of the file that are given a value once.
    """
    words: list[bytes] = []
    at = first
    while at < last:
        text = source.at(at)
        number = _NUMBER.match(text)
        if number:
            words.append(str(int(number.group(1).replace(b"'", b""), 0)).encode())
        elif text == b"sizeof" and source.at(at + 1) == b"(" and source.at(at + 3) == b")":
            size = _TYPE_BYTES.get(source.at(at + 2))
            if size is None:
                return None
            words.append(str(size).encode())
            at += 3
        elif text in (b"+", b"-", b"*", b"/", b"(", b")", b"<<", b"%"):
            words.append(text)
        elif source.is_ident(at) and depth:
            known = _named(source, text, context, depth - 1)
            if known is None:
                return None
            words.append(str(known).encode())
        else:
            return None
        at += 1
    return constant(words)


def _named(source: CudaSource, name: bytes, context: Context, depth: int) -> int | None:
    values = []
    for position in source.find(name):
        directive = source.directive_of(position)
        if directive is not None and directive.name == b"define" and position == directive.first + 2:
            values.append((position + 1, directive.last))
        elif source.at(position + 1) == b"=" and source.at(position + 2) != b"=":
            last = position + 2
            while last < len(source.texts) and source.at(last) not in (b";", b",", b"}", b")"):
                last = source.pairs.get(last, last) + 1 if source.at(last) == b"(" else last + 1
            values.append((position + 2, last))
        elif source.at(position + 1) in (b"+=", b"-=", b"*=", b"<<=", b"++", b"--") or source.at(position - 1) == b"&":
            return None
    if len(values) == 1:
        return value_of(source, *values[0], context, depth)
    body = context.project.macros_at(source.path).get(name)
    if not values and body is not None:
        inside = CudaSource(source.path, body)
        return value_of(inside, 0, len(inside.texts), context, depth)
    return None

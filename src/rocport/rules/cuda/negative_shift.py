"""A negative number shifted to the left in a constant: `enum { MASK = (-1 << STEPS) & 31 };`.

C++ before C++20 leaves its value undefined. nvcc computes it all the same, clang does not take it for a constant. The
port negates the shifted number instead: `-(1 << STEPS)` has the same value and is defined. SAFE. Only where a constant
is needed, in an enumeration or a `constexpr` or `static const` declaration: elsewhere both compilers compute alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

_SIGNED = re.compile(rb"(?:0[xX][\da-fA-F]+|\d+)[lL]*\Z")
_LOOSER = frozenset(b") ] } , ; : ? & | ^ && || == != < > <= =".split())
_FAR = 200
"""Tokens of a declaration that are looked through for what it declares."""

RULE = Rule(
    name="negative-shift",
    summary="negative number shifted in a constant",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"enum", b"constexpr", b"static"}),
    examples=(
        Example(
            "enum { STEPS = 5, C = ((-1 << STEPS) & 31) << 8 };\n",
            contains=("C = ((-(1 << STEPS)) & 31) << 8",),
        ),
        Example(
            "template <int N> struct A { static const int v = -1 << B<N>::v + 1; };\n",
            contains=("v = -(1 << B<N>::v + 1);",),
        ),
        Example("constexpr int x = ~(-1 << 3 << f(1, 2)) | 1;\n", contains=("~(-(1 << 3 << f(1, 2))) | 1",)),
    ),
    clean=(
        "int f(int n) { return -1 << n; }\n",
        "constexpr unsigned x = -1u << 3;\n",
        "constexpr int x = 3 -1 << 3;\n",
        "enum { a = 1 };\nint f(int n) { return -1 << n; }\n",
    ),
    sources=("https://www.open-std.org/jtc1/sc22/wg21/docs/papers/2018/p1236r1.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for shift in source.positions(b"<<"):
        minus = shift - 2
        if source.at(minus) != b"-" or not _SIGNED.match(source.at(shift - 1)) or _is_operand(source, minus - 1):
            continue
        if source.directive_of(shift) is None and _is_constant(source, minus):
            yield finding(
                RULE,
                source,
                minus,
                "a negative number shifted to the left is no constant to clang: its negation is taken instead",
                edits=[
                    insert(source.starts[minus + 1], b"("),
                    insert(source.end(_last_operand(source, shift + 1)), b")"),
                ],
            )


def _is_operand(source: CudaSource, position: int) -> bool:
    before = source.at(position)
    return before != b"return" and (source.is_ident(position) or before[:1].isdigit() or before in (b")", b"]"))


def _is_constant(source: CudaSource, position: int) -> bool:
    """True in an enumeration, and in a declaration that says `constexpr`, or `static` and `const`."""
    words: set[bytes] = set()
    for at in range(position - 1, max(-1, position - _FAR), -1):
        word = source.at(at)
        if word == b"{" and b"enum" in source.texts[max(0, at - 5) : at]:
            return True
        if word in (b";", b"{", b"}"):
            break
        words.add(word)
    return b"constexpr" in words or {b"static", b"const"} <= words


def _last_operand(source: CudaSource, position: int) -> int:
    """The last token of what is shifted by, from its first one on; further shifts to the left are part of it."""
    while position < len(source.texts) and source.at(position) not in _LOOSER:
        position = source.pairs.get(position, position) + 1
        if source.at(position) == b"<" and (close := source.angle_end(position)) is not None:
            position = close + 1
    return position - 1

"""Spellings that C++ allows and that are not read here: a name broken by a line splice, digraphs, trigraphs.

`__sh\\` at the end of a line and `fl(v, 0)` on the next are the name `__shfl`; `%:include` is `#include`, and
`??=define` was `#define` before C++17. No rule sees the name or the directive: MANUAL, write it in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import INTRINSICS
from rocport.syntax.cuda import CudaSource

_SPLICE = re.compile(rb"\\\r?\n(\w+)")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIRECTIVE = re.compile(rb"^[ \t]*(?:%:|\?\?=)[ \t]*(?:include|define|if|ifdef|ifndef|pragma)\b", re.MULTILINE)

RULE = Rule(
    name="unread-spelling",
    summary="name or directive in a spelling that is not read",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=2,
    examples=(
        Example("__device__ int f(int v) { return __sh\\\nfl(v, 0); }\n"),
        Example("%:include <cuda_runtime.h>\nint x;\n"),
    ),
    clean=(
        "#define F(v) \\\n  g(v)\n",
        "#define LIST a\\\nb\n",
        "int f(int a, int b) { return a % b; }\n",
    ),
    sources=("https://en.cppreference.com/w/cpp/language/translation_phases",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if b"\\" in source.data:
        for start, first, second in _spliced(source.data):
            name = first + second
            if name in load().identifiers or name in INTRINSICS or name == b"warpSize":
                position = source.token_at(start)
                if source.at(position) == first:
                    text = f"{name.decode()} is broken by the end of a line and not translated"
                    yield finding(RULE, source, position, text, fix="write the name in one piece")
    if b"%:" in source.data or b"??=" in source.data:
        for match in _DIRECTIVE.finditer(source.data):
            position = source.token_at(match.start())
            if position < len(source.texts):
                text = "a directive written with a digraph or trigraph is not read"
                yield finding(RULE, source, position, text, fix="write it with #")


def _spliced(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Words with a line splice between them, and where the first begins; a word counts in one pair only."""
    done = 0
    for match in _SPLICE.finditer(data):
        start = match.start()
        while start > done and data[start - 1] in _WORD:
            start -= 1
        if start < match.start():
            done = match.end()
            yield start, data[start : match.start()], match.group(1)

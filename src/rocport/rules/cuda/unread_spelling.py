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

_SPLICED = re.compile(rb"(\w+)\\\r?\n(\w+)")
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
        for match in _SPLICED.finditer(source.data):
            name = match.group(1) + match.group(2)
            if name in load().identifiers or name in INTRINSICS or name == b"warpSize":
                position = source.token_at(match.start(1))
                if source.at(position) == match.group(1):
                    text = f"{name.decode()} is broken by the end of a line and not translated"
                    yield finding(RULE, source, position, text, fix="write the name in one piece")
    if b"%:" in source.data or b"??=" in source.data:
        for match in _DIRECTIVE.finditer(source.data):
            position = source.token_at(match.start())
            if position < len(source.texts):
                text = "a directive written with a digraph or trigraph is not read"
                yield finding(RULE, source, position, text, fix="write it with #")

"""Macros that paste CUDA's names: what their uses make decides."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

_CAT = "#define CAT(a, b) a##b\n"


@pytest.mark.parametrize(
    ("text", "answer", "edited"),
    [
        (_CAT + "#define RT(name) CAT(cuda, name)\nvoid f(void *p) { RT(Free)(p); }\n", "review", True),
        (_CAT + "#define RT(name) CAT(cuda, name)\n", "review", True),
        ('#include "cat.h"\n#define RT(name) CAT(cuda, name)\n', "review", True),
        (_CAT + "#define RT(name, sfx) CAT(cuda, name##sfx)\n", "manual", False),
        (_CAT + "#define RT(n) CAT(cuda, n)\nvoid f(void *p) { RT(Free)(p); RT(MyOwnThing)(p); }\n", "manual", False),
        ("#define RT(n) cuda##n\nvoid f(void *p) { RT(Free)(p); RT(MyOwnThing)(p); }\n", "manual", False),
        (
            "#define RT(n) cuda##n\n#define Q(m) RT(m)\nvoid f(void *p) { RT(Free)(p); Q(Malloc)(p, 1); }\n",
            "review",
            True,
        ),
    ],
)
def test_the_written_half_changes_where_all_that_it_makes_exists(text: str, answer: str, edited: bool) -> None:
    data = text.encode()
    findings = scan_cuda("a.h", data, Context(Options(), build_index(["a.h"], [names_of(data)])))
    found = [item for item in findings if item.rule == "pasted-name"]
    assert [(item.applicability.value, bool(item.edits)) for item in found] == [(answer, edited)]
    if "MyOwnThing" in text:
        assert "HIP has no cudaMyOwnThing" in found[0].message or "cudaMyOwnThing, which HIP" in found[0].message


def test_a_name_of_two_underscores_says_nothing_of_cuda() -> None:
    data = _CAT.encode() + b"#define UNIQUE(name) CAT(__, name)\n#define NEXT(a) CAT(mine, a)\n"
    findings = scan_cuda("a.h", data, Context(Options(), build_index(["a.h"], [names_of(data)])))
    assert not [item for item in findings if item.rule == "pasted-name"]

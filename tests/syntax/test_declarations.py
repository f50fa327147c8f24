"""Where a declaration begins."""

from __future__ import annotations

import pytest

from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import behind_template_head, definition_start


@pytest.mark.parametrize(
    "declaration",
    [
        "static int f(int a)",
        "template <class T>\n__device__ T f(T a)",
        "int (*g(int x = 0, Pair p = {1, 2}))(int f)",
        "decltype(Pair{1, 2}) f",
    ],
)
@pytest.mark.parametrize(
    "before", ["", "int x;\n", "void y() {}\n", "struct S {\n", "public:\n", "#define X\n", "\ufeff"]
)
def test_a_declaration_begins_behind_what_ends_the_one_before(before: str, declaration: str) -> None:
    source = CudaSource("a.cu", f"{before}{declaration};\n".encode())
    name = max(at for at, token in enumerate(source.texts) if token == b"f")
    first = source.texts[definition_start(source, name)]
    assert first == declaration.partition("(")[0].split()[0].encode()


def test_brackets_that_have_no_other_half_are_passed() -> None:
    source = CudaSource("a.cu", b"int x; ) static int f;\n")
    assert source.at(definition_start(source, source.texts.index(b"f"))) == b")"


def test_behind_a_template_head() -> None:
    source = CudaSource("a.cu", b"template <class T, bool B = (1 > 2)> template <int N> void f();\n")
    assert source.at(behind_template_head(source, 0)) == b"void"

"""Structures with another layout in HIP: where their bytes leave the program."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of


def _found(files: dict[str, str], path: str) -> int:
    data = {name: text.encode() for name, text in files.items()}
    index = build_index(list(data), [names_of(text) for text in data.values()])
    findings = scan_cuda(path, data[path], Context(Options(), index))
    return sum(item.rule == "struct-layout" for item in findings)


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("void f(Wire &w, FILE *o) { fwrite(&w, sizeof(Wire), 1, o); }", 1),
        ("void f(const Wire &w, std::ostream &o) { o.write((const char *)&w, sizeof(w)); }", 1),
        ("void f(Wire *w, FILE *o) { fwrite(w, sizeof *w, 1, o); }", 1),
        ("Wire *f(FILE *o) { return (Wire *)malloc(sizeof(Wire)); }", 0),
        ("void f(Other &w, FILE *o) { fwrite(&w, sizeof(Other), 1, o); }", 0),
    ],
)
def test_a_structure_of_a_header_leaves_by_a_file_that_includes_it(user: str, found: int) -> None:
    files = {"w.h": "#pragma once\nstruct Wire { int n; double4 q; };\n", "w.cu": f'#include "w.h"\n{user}\n'}
    assert _found(files, "w.h") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("typedef struct { int n; double4 q; } Wire;\nbool f() { return sizeof(Wire) == 48; }\n", 1),
        ("struct __align__(8) A { double4 q; int n; };\nstatic_assert(sizeof(A) == 40);\n", 1),
        ("struct A { double4 q; int n; };\nbool f(A a) { return sizeof(a) == 40; }\n", 1),
        ("struct A { struct { double4 q; } inner; int n; };\nstatic_assert(sizeof(A) == 40);\n", 1),
        ("struct A { double4 q; };\nvoid f(A a, Out &out) { out.write(&a, sizeof(a)); }\n", 1),
        ("struct A { double4 q; };\nvoid f(A *a) { cudaMalloc(&a, sizeof(*a)); }\n", 0),
        ("struct A { double4 q; };\nstatic_assert(sizeof(B) == 40);\n", 0),
    ],
)
def test_a_structure_is_found_by_its_name_and_by_a_variable(text: str, found: int) -> None:
    assert _found({"a.cu": text}, "a.cu") == found

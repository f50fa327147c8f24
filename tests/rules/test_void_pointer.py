"""What is a pointer to void, over the files of a project."""

from __future__ import annotations

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of


def test_a_member_of_another_type_is_none_because_a_function_elsewhere_has_its_name() -> None:
    texts = {
        "map.h": b"struct Map { void *d(); };\n",
        "a.cu": b'#include "map.h"\nstruct S { unsigned d; };\n__global__ void k(S *s) { s->d += 362437; }\n',
    }
    index = build_index(list(texts), [names_of(data) for data in texts.values()])
    assert b"d" in index.void_functions
    found = scan_cuda("a.cu", texts["a.cu"], Context(Options(), index))
    assert [item.message for item in found if item.rule == "void-pointer"] == []

"""Vector types under other names and structures that begin with them, where a header declares them."""

from __future__ import annotations

from pathlib import Path

from rocport import api
from rocport.model import Applicability

HEADER = (
    "#pragma once\n#include <cuda_runtime.h>\nusing Acc = float4;\ntypedef int2 At;\n"
    "struct Row { Acc c[2]; At at; };\ntemplate <int N> struct Tile { Row rows[N]; };\n"
)


def _ported(tmp_path: Path, use: str, **others: str) -> tuple[str, list[Applicability]]:
    files = {
        "row.h": HEADER,
        "a.cu": f'#include "row.h"\n{use}',
        **{f"{name}.h": text for name, text in others.items()},
    }
    for name, text in files.items():
        (tmp_path / "cuda").mkdir(exist_ok=True)
        (tmp_path / "cuda" / name).write_text(text)
    patch = api.port(tmp_path / "cuda")
    api.apply(patch, tmp_path / "hip")
    kinds = [item.applicability for item in patch.findings if item.rule == "vector-value" and item.path == "a.cu"]
    return (tmp_path / "hip" / "a.cu").read_text(), kinds


def test_a_vector_under_another_name_gets_its_zeros(tmp_path: Path) -> None:
    use = "__device__ Acc f(float x) { Acc a{3}, b[2] = {{x, 1}}; At at = {1}; return {x}; }\n"
    text, _ = _ported(tmp_path, use)
    assert "Acc a{3, 0, 0, 0}, b[2] = {{x, 1, 0, 0}}; At at = {1, 0}; return {x, 0, 0, 0};" in text


def test_a_structure_of_a_header_that_begins_with_a_vector(tmp_path: Path) -> None:
    text, kinds = _ported(tmp_path, "__global__ void k() { Row r = {0}; Tile<2> t = {0}; Row s = {1, 2}; }\n")
    assert "Row r = {}; Tile<2> t = {}; Row s = {1, 2};" in text
    assert kinds == [Applicability.SAFE, Applicability.SAFE, Applicability.MANUAL]


def test_a_name_of_a_header_that_is_not_seen_here_is_another(tmp_path: Path) -> None:
    text, _ = _ported(
        tmp_path, "struct Mine { int n; };\n__device__ Mine m = {0};\n", other="struct Mine { float2 v; };\n"
    )
    assert "Mine m = {0};" in text


def test_a_structure_of_a_vector_that_another_header_names(tmp_path: Path) -> None:
    own = "__global__ void k() {}\nstruct Own { int n; Wide v; };\nstruct Other { Mine v; };\nOther z = {0};\n"
    text, _ = _ported(
        tmp_path,
        f'#include "mid.h"\n{own}Mid m = {{0}}, e = {{1, 2, 3, 4, 5}};\nOwn o = {{1, {{2}}}};\n',
        mid='#include "row.h"\ntypedef Acc Wide;\nstruct Mid { Wide v; int n; };\n',
        unseen="using Mine = float4;\n",
    )
    assert "Mid m = {}, e = {{1, 2, 3, 4}, 5};" in text and "Own o = {1, {2, 0, 0, 0}};" in text
    assert "Other z = {0};" in text


def test_what_constructors_and_functions_of_a_header_are_given(tmp_path: Path) -> None:
    text, _ = _ported(
        tmp_path,
        '#include "made.h"\n__global__ void k() {}\n'
        "void f() { S a({1}, 2), *p = new S({2}, 3); S b{{1}, 2}; only({1}); both({1}); T t({1}); }\n",
        made="struct S { S(float4 v, int n); S(const S &o); };\nstruct T { T(float4 v); explicit T(int n); };\n"
        "void only(float4 v);\nvoid both(float4 v);\nvoid both(float v);\n",
    )
    assert "S a({1, 0, 0, 0}, 2), *p = new S({2, 0, 0, 0}, 3); S b{{1, 0, 0, 0}, 2}; only({1, 0, 0, 0});" in text
    assert "both({1}); T t({1});" in text

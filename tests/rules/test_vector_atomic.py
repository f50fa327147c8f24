"""atomicAdd of vectors, in the ways a vector is written."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

_DOUBLE = "__device__ double atomicAdd(double *p, double v) { return *p += v; }\n"
_ANY = "template <class T> __device__ T atomicAdd(T *p, T v) { return *p = v; }\n"


def _found(text: str) -> int:
    data = text.encode()
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    return sum(item.rule == "vector-atomic" for item in findings)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("atomicAdd((float2 *)b, float2{1, 2});", 1),
        ("auto q = make_float2(1, 2); atomicAdd(x + 1, q);", 1),
        ("atomicAdd(x, s.m);", 1),
        ("atomicAdd(x, *reinterpret_cast<float2 *>(b));", 1),
        ("atomicAdd(x, ((float4 *)b)[0]);", 1),
        ("float2 t[4]; atomicAdd(x, t[1]);", 1),
        ("atomicAdd(a, load());", 1),
        ("atomicAdd(a + 1, load());", 1),
        ("atomicAdd(&a[2], load());", 1),
        ("atomicAdd(&a[2].x, b[0]);", 0),
        ("atomicAdd(&a->x, ((float4 *)b)[0].x);", 0),
        ("atomicAdd(b, length(make_float2(1, 2)));", 0),
        ("atomicAdd(b, s.k);", 0),
        ("atomicAdd(b, *b);", 0),
    ],
)
def test_a_vector_is_known_however_it_is_written(call: str, found: int) -> None:
    text = f"struct S {{ float2 m; float k; }};\n__device__ void f(float2 *a, float *b, S s, X *x) {{ {call} }}\n"
    assert _found(text) == found


@pytest.mark.parametrize(("own", "found"), [("", 1), (_DOUBLE, 1), (_ANY, 0)])
def test_only_a_definition_that_takes_vectors_is_the_programs_own(own: str, found: int) -> None:
    assert _found(f"{own}__device__ void f(float2 *a, float2 v) {{ atomicAdd(a, v); }}\n") == found


def test_a_name_of_another_function_is_another_variable() -> None:
    assert not _found(
        "__device__ float2 g(float2 v) { return v; }\n__device__ void f(X *a, int v) { atomicAdd(a, v); }\n"
    )

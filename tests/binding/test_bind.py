"""Whose a name is, over the files of a unit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocport.binding import Owner, binder
from rocport.model import Context, Finding, Options, ProjectIndex
from rocport.scan.engine import bound_names, index_tree, known_names, scan_cuda
from rocport.scan.tree import read_tree
from rocport.syntax.cuda import CudaSource


def _project(folder: Path, **files: str) -> ProjectIndex:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return index_tree(read_tree(folder), 1)


def _own(text: str, name: str, project: ProjectIndex | None = None, path: str = "a.cu") -> list[bool]:
    """For every place of the name in the text: is it the project's?"""
    source = CudaSource(path, text.encode(), known_names())
    bound = binder(source, Context(Options(), project or ProjectIndex()), bound_names())
    return [bound.bind(position).owner is Owner.PROJECT for position in sorted(source.find(name.encode()))]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("int f(int warpSize) { return warpSize; }\nint g() { return warpSize; }", [True, True, False]),
        ("void f() { { int warpSize = 1; g(warpSize); } g(warpSize); }", [True, True, False]),
        ("struct S { int warpSize; int f() { return warpSize; } };\nint g() { return warpSize; }", [True, True, False]),
        ("struct S { int warpSize; int f(); };\nint S::f() { return warpSize; }", [True, True]),
        ("namespace n { int warpSize; int f() { return warpSize; } }\nint g = warpSize;", [True, True, False]),
        ("#define F(warpSize) (warpSize + 1)\nint a = warpSize;", [True, True, False]),
        ("template <int warpSize> int f() { return warpSize; }\nint a = warpSize;", [True, True, False]),
        (
            "enum class E { a, warpSize };\nint b = warpSize;\nint c(E e) { return e == E::warpSize; }",
            [True, False, True],
        ),
        ("void f() { for (int warpSize = 1;;) g(warpSize); g(warpSize); }", [True, True, False]),
        ("struct S { using warpSize = ::warpSize; warpSize a; };\nS::warpSize b; warpSize c;", [1, 0, 1, 1, 0]),
        (
            "template <class T> struct S { using warpSize = T; void f(); };\n"
            "template <class T> void S<T>::f() { warpSize a; }\nS<V<2>>::warpSize b; warpSize c;",
            [1, 1, 1, 0],
        ),
    ],
)
def test_a_name_is_bound_in_its_scope(text: str, own: list[bool]) -> None:
    assert _own(text, "warpSize") == own


@pytest.mark.parametrize(
    ("declared", "own"),
    [
        ("struct CUstream_st;\ntypedef struct CUstream_st* cudaStream_t;", False),
        ("typedef CUstream_st *cudaStream_t;", False),
        ("using cudaStream_t = struct CUstream_st *;", False),
        ("typedef struct Other* cudaStream_t;", True),
        ("using cudaStream_t = int *;", True),
    ],
)
def test_a_handle_that_is_declared_as_cuda_declares_it_is_cudas(tmp_path: Path, declared: str, own: bool) -> None:
    project = _project(tmp_path, a_h=declared + "\n", a_cu='#include "a.h"\nvoid f(cudaStream_t s);\n')
    assert _own('#include "a.h"\nvoid f(cudaStream_t s);\n', "cudaStream_t", project) == [own]


def test_a_macro_of_a_header_is_seen_by_the_units_that_include_it(tmp_path: Path) -> None:
    project = _project(
        tmp_path,
        lib__w_h="#pragma once\n#define __shfl(v, l) __shfl_sync(~0u, v, l, 16)\n",
        lib__all_h='#include "w.h"\n',
        a_cu='#include "lib/all.h"\n',
        b_cu="int x;\n",
    )
    text = "__device__ int f(int v) { return __shfl(v, 1); }"
    assert _own(text, "__shfl", project, "a.cu") == [True]
    assert _own(text, "__shfl", project, "b.cu") == [False]


@pytest.mark.parametrize(
    ("guard", "owner"),
    [
        ("#ifndef __shfl\n", Owner.PROJECT),
        ("#if !defined(__shfl)\n", Owner.PROJECT),
        ("#if __CUDA_ARCH__ >= 700\n", Owner.PROJECT),
        ("#if __CUDA_ARCH__ < 700\n", Owner.CUDA),
        ("#if CUDART_VERSION < 9000\n", Owner.CUDA),
        ("#ifdef SOMETHING\n", Owner.UNKNOWN),
    ],
)
def test_a_macro_counts_where_the_port_defines_it(guard: str, owner: Owner) -> None:
    text = guard + "#define __shfl(v, l) mine(v, l)\n#endif\n__device__ int f(int v) { return __shfl(v, 1); }\n"
    source = CudaSource("a.cu", text.encode(), known_names())
    bound = binder(source, Context(), bound_names())
    assert bound.bind(max(source.find(b"__shfl"))).owner is owner


def _found(text: str, **options: str) -> list[Finding]:
    return scan_cuda("a.h", text.encode(), replace(Context(), options=Options(**options)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "struct Image { float tex2D(float x) const { return x; } };\nfloat f(const Image &i) { return i.tex2D(1); }\n",
        "int f(int cuMemAddressReserve) { return cuMemAddressReserve; }\n",
        "struct T { void cudaGraphAddKernelNode(int); };\nvoid f(T &t) { t.cudaGraphAddKernelNode(1); }\n",
        "namespace mine { int __any(int p) { return p; } int f(int p) { return __any(p); } }\n",
    ],
)
def test_nothing_is_said_of_a_name_that_is_not_cudas(text: str) -> None:
    assert _found(text) == []


def test_another_name_that_becomes_the_same_passes_through_the_macro() -> None:
    text = (
        "#include <cuda_runtime.h>\n#define cudaMallocHost(p, n) traced(p, n)\n"
        "void f(void **p) { cudaHostAlloc(p, 4, 0); }\n"
    )
    messages = [finding.message for finding in _found(text)]
    assert any("cudaHostAlloc" in message and "passes through it too" in message for message in messages), messages


def test_a_name_at_file_scope_is_not_that_of_the_namespace_around_it() -> None:
    text = "namespace gpu { int cudaFree(void *p) { return ::cudaFree(p); } }\nvoid f(void *p) { gpu::cudaFree(p); }"
    assert _own(text, "cudaFree") == [True, False, True]


def test_a_tag_that_another_file_of_the_unit_declares_is_the_project_s(tmp_path):
    header = "typedef enum CUown_mode_enum { CU_OWN } CUown_mode;\n"
    text = '#include <cuda.h>\n#include "own.h"\nvoid f(enum CUown_mode_enum *a, enum CUother_mode_enum *b);\n'
    project = _project(tmp_path, own_h=header, a_cu=text)
    found = scan_cuda("a.cu", text.encode(), Context(Options(), project))
    assert [item.message.split()[0] for item in found if item.rule == "api-family"] == ["CUother_mode_enum"]

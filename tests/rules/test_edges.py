"""Where an answer of a rule turns: a name more or less, the other branch, the next word of the same kind."""

from __future__ import annotations

import pytest

from rocport.model import Context, Definition, ProjectIndex
from rocport.project.build import BuildSource
from rocport.rules.build import cmake_gate
from rocport.rules.cuda import divergent_barrier, enum_number, own_guard, pasted_name, texture_fetch
from rocport.syntax.cuda import CudaSource


def test_a_copy_that_may_be_plain_hides_no_other() -> None:
    text = b"void f() { cudaMemcpy3D(&p); cudaMemcpyToArray(a, 0, 0, b, n, k); cuMemcpy2D(&q); }\n"
    for arrays, names in (
        (False, [b"cudaMemcpyToArray"]),
        (True, [b"cudaMemcpy3D", b"cudaMemcpyToArray", b"cuMemcpy2D"]),
    ):
        found = texture_fetch.check(CudaSource("a.cu", text), Context(project=ProjectIndex(arrays=arrays)))
        assert sorted(item.span.start for item in found) == sorted(map(text.index, names))


@pytest.mark.parametrize(("directive", "found"), [("ifdef", 1), ("ifndef", 0)])
def test_a_barrier_that_no_device_pass_holds_is_none(directive: str, found: int) -> None:
    sides = "if (threadIdx.x < 3) { __syncthreads(); } else { __syncthreads(); }"
    text = f"__global__ void k() {{\n#{directive} __CUDA_ARCH__\n{sides}\n#endif\n}}\n"
    assert len(list(divergent_barrier.check(CudaSource("a.cu", text.encode()), Context()))) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("void f() { int a = CUBLAS_OP_N; }", 1),
        ("void f() { int a = CUBLAS_OP_N, b = 1; }", 1),
        ("int a, b = CUBLAS_OP_N;", 1),
        ("void f() { auto a = CUBLAS_OP_N; }", 0),
        ("void f() { cublasOperation_t a = CUBLAS_OP_N; }", 0),
        ("struct S { long a; }; void f(S x) { x.a = CUBLAS_OP_N; }", 1),
        ("struct S { cublasOperation_t a; }; void f(S x) { x.a = CUBLAS_OP_N; }", 0),
        ("int f() { return CUBLAS_OP_N; }", 1),
        ("cublasOperation_t f() { return CUBLAS_OP_N; }", 0),
    ],
)
def test_where_an_enumerator_becomes_a_number(text: str, found: int) -> None:
    assert len(list(enum_number.check(CudaSource("a.cu", text.encode()), Context()))) == found


@pytest.mark.parametrize(("kind", "found"), [("macro", 0), ("function", 1)])
def test_a_guard_that_the_project_defines_is_answered_for(kind: str, found: int) -> None:
    project = ProjectIndex(definitions={b"WITH_CUDA": (Definition(b"WITH_CUDA", kind, 1, "a.cu"),)})
    source = CudaSource("a.cu", b"#ifdef WITH_CUDA\nvoid f();\n#endif\n")
    assert len(list(own_guard.check(source, Context(project=project)))) == found


@pytest.mark.parametrize(
    ("first", "becomes"), [("cuda", ": the written part becomes hip"), ("cudnn", ", which no rename")]
)
def test_a_name_that_is_pasted_of_parameters_alone_is_named(first: str, becomes: str) -> None:
    (item,) = pasted_name.check(CudaSource("a.cu", f"#define F(x, y) {first}##x##y\n".encode()), Context())
    assert item.message.startswith(f"{first}##x##y makes a CUDA name{becomes}")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("USE_CUDA", "USE_ROCM OR USE_CUDA"),
        ("NOT USE_CUDA", "NOT (USE_ROCM OR USE_CUDA)"),
        ("USE_CUDA AND X", "(USE_ROCM OR USE_CUDA) AND X"),
        ("CUDA_VERSION VERSION_LESS 12", "NOT USE_ROCM AND CUDA_VERSION VERSION_LESS 12"),
        ("USE_CUDA AND CUDA_VERSION VERSION_LESS 12", "USE_CUDA AND CUDA_VERSION VERSION_LESS 12"),
        ("USE_CUDA STREQUAL ON", "USE_CUDA STREQUAL ON"),
        ("X", "X"),
    ],
)
def test_where_rocm_counts_as_cuda_in_a_condition(condition: str, expected: str) -> None:
    data = f"if({condition})\nendif()\n".encode()
    source = BuildSource("CMakeLists.txt", data, "cmake")
    for edit in sorted(cmake_gate.edits(source, source.commands[0], Context(), []), key=lambda one: -one.span.start):
        data = data[: edit.span.start] + edit.text + data[edit.span.end :]
    assert data.decode().splitlines()[0] == f"if({expected})"


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("int a = op, c;", "becomes a number"),
        ("long b, a = op;", "becomes a number"),
        ("x.a = op;", "becomes a number"),
        ("x.o = op;", ""),
        ("cublasOperation_t p = op;", ""),
        ("auto a = op;", ""),
        ("a = (int)op;", "becomes a number"),
        ("a = int(op);", "becomes a number"),
        ("a = static_cast<int>(op);", "becomes a number"),
        ("a = f<int>(op);", ""),
        ("t[op] = 1;", "is an index"),
        ("t[1][op] = 1;", "is an index"),
        ("t[op + 1];", "is counted with"),
        ("if (op == 1) g();", "is compared with a number"),
        ("if (1 != op) g();", "is compared with a number"),
        ("if (op == CUBLAS_OP_T) g();", ""),
        ("while (op) g();", "is asked whether it is zero"),
        ("if (!op) g();", "is asked whether it is zero"),
        ("if (op && a) g();", "is asked whether it is zero"),
        ("if (a || op) g();", "is asked whether it is zero"),
        ("a = op ? 1 : 2;", "is asked whether it is zero"),
        ("a = 1 - op;", "is counted with"),
        ("op++;", "is counted with"),
        ("switch (op) { case 1: g(); }", "is compared with a number"),
        ("switch (op) { case CUBLAS_OP_T: g(); }", ""),
        ("g(op); g(&op); op = p;", ""),
        ("x.o == 1;", "is compared with a number"),
    ],
)
def test_what_a_variable_of_an_enumeration_is_used_for(statement: str, use: str) -> None:
    before = "struct S { long a; cublasOperation_t o; };\nvoid f(S x, cublasOperation_t op) { "
    found = list(enum_number.check(CudaSource("a.cu", f"{before}{statement} }}\n".encode()), Context()))
    assert [f"cublasOperation_t {use}," in item.message for item in found] == [True] * (use != "")

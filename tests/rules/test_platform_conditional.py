"""Conditionals over CUDA's macros: which branch the port compiles."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.model import Applicability, Context, Finding, Options
from rocport.port import headers
from rocport.port.engine import port_file
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of
from rocport.toolchain import ToolchainError, find

MMA = 'asm volatile("mma.sync.aligned.m16n8k8.row.col.f32 {%0}, {%1};" : "+f"(x) : "f"(x));'


def _port(text: str) -> tuple[str, list[Finding]]:
    data = text.encode()
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    ported = port_file("a.cu", data, findings)
    return (ported.data or data).decode(), findings


def _preprocessed(text: str, device: bool, tmp_path: Path) -> str:
    """The text the port's compiler sees, without includes of HIP."""
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    (tmp_path / "a.hip").write_text(text.replace("#include <hip/hip_runtime.h>\n", ""))
    (tmp_path / "rocport_platform.h").write_bytes(headers.read("rocport_platform.h"))
    command = [str(toolchain.compiler), "-E", "-P", "-x", "hip", "-nogpuinc", "-nogpulib", "--offload-arch=gfx942"]
    command += ["--offload-device-only" if device else "--offload-host-only", str(tmp_path / "a.hip")]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600).stdout


@pytest.mark.parametrize(
    ("text", "device", "host"),
    [
        ("#ifdef __CUDA_ARCH__\nint d;\n#else\nint h;\n#endif\n", "d", "h"),
        ("#ifndef __CUDA_ARCH__\nint h;\n#else\nint d;\n#endif\n", "d", "h"),
        ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700\nint d;\n#else\nint h;\n#endif\n", "d", "h"),
        ("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\nint new_;\n#else\nint old;\n#endif\n", "new_", "new_"),
        ("#if __CUDA_ARCH__ >= 900\nint a;\n#elif __CUDA_ARCH__ >= 800\nint b;\n#else\nint c;\n#endif\n", "b", "c"),
        ("#ifdef __CUDACC__\nint gpu;\n#else\nint cpu;\n#endif\n", "gpu", "gpu"),
        ("#if !defined(__NVCC__)\nint cpu;\n#else\nint gpu;\n#endif\n", "gpu", "gpu"),
        (
            "#if __CUDACC_VER_MAJOR__ * 10 + __CUDACC_VER_MINOR__ < 90\nint old;\n#else\nint new_;\n#endif\n",
            "new_",
            "new_",
        ),
        (
            "#if CUDART_VERSION < 9000\nint old;\n#elif CUDA_VERSION >= 13000\nint next;\n#else\nint now;\n#endif\n",
            "now",
            "now",
        ),
        ("#define NEW (CUDART_VERSION >= 9000)\n#if NEW\nint now;\n#else\nint old;\n#endif\n", "now", "now"),
        ("#if defined(__CUDACC__) || defined(__HIPCC__)\nint gpu;\n#endif\n", "gpu", "gpu"),
        ("#ifdef __HIP_PLATFORM_AMD__\nint amd;\n#elif defined(__CUDACC__)\nint nv;\n#endif\n", "", ""),
    ],
)
def test_the_branch_of_the_cuda_build_is_compiled(text: str, device: str, host: str, tmp_path: Path) -> None:
    ported, _ = _port(text)
    for is_device, wanted in ((True, device), (False, host)):
        seen = [word.rstrip(";") for word in _preprocessed(ported, is_device, tmp_path).split() if word != "int"]
        # Without HIP's headers __HIP_PLATFORM_AMD__ is not defined, so that its chain compiles nothing.
        assert seen == ([wanted] if wanted else []), ported


def test_a_fallback_is_taken_where_only_it_can_be_ported() -> None:
    text = (
        "__device__ float f(float x) {\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
        f"  {MMA}\n#else\n  x += 1;\n#endif\n  return x;\n}}\n"
    )
    ported, findings = _port(text)
    assert "#if !ROCPORT_HIP && (" in ported
    assert [item.rule for item in findings if item.applicability is Applicability.MANUAL] == ["inline-ptx"]


def test_a_fallback_in_front_is_taken() -> None:
    text = (
        f"__device__ float f(float x) {{\n#if __CUDA_ARCH__ < 800\n  x += 1;\n#else\n  {MMA}\n#endif\n  return x;\n}}\n"
    )
    ported, _ = _port(text)
    assert "#if ROCPORT_HIP || (ROCPORT_CUDA_ARCH < 800)" in ported


def test_a_fallback_that_only_refuses_is_not_taken() -> None:
    text = (
        f"__device__ float f(float x) {{\n#if __CUDA_ARCH__ >= 800\n  {MMA}\n#else\n  assert(false);\n#endif\n"
        "  return x;\n}\n"
    )
    ported, findings = _port(text)
    assert "!ROCPORT_HIP" not in ported
    assert any(item.rule == "inline-ptx" and item.applicability is Applicability.MANUAL for item in findings)


def test_a_polyfill_that_is_not_compiled_is_not_reported() -> None:
    text = f"#if __CUDA_ARCH__ < 300\n__device__ float f(float x) {{ {MMA} return x; }}\n#endif\n"
    _, findings = _port(text)
    assert {item.rule for item in findings} == {"platform-conditional", "implicit-runtime"}


def test_a_branch_that_works_and_stops_in_one_case_is_no_refusal() -> None:
    text = (
        "__device__ void f(int *p, int n) {\n#if __CUDA_ARCH__ >= 700\n  switch (n) {\n    case 1: fast(p); break;\n"
        "    default: __trap();\n  }\n#else\n  slow(p);\n#endif\n}\n"
    )
    ported, _ = _port(text)
    assert "!ROCPORT_HIP" not in ported
    text = text.replace("  switch (n) {\n    case 1: fast(p); break;\n    default: __trap();\n  }\n", "  __trap();\n")
    ported, _ = _port(text)
    assert "!ROCPORT_HIP" in ported


@pytest.mark.parametrize(
    ("held", "both"),
    [
        ("__device__ int f(int x) { return x; }", True),
        ("template <int N = 2> [[nodiscard]] __device__ int f(int x) { return x; }", True),
        ("__device__ bool operator==(T a, T b) { return true; }", True),
        ("#ifdef FAST\n__device__ int f(int x) { return x; }\n#endif", True),
        ("", False),
        ("__device__ int f(int x) { return x; }\nusing Word = int;", False),
        ("__device__ int f(int x) { return x; }\n__device__ int table[4];", False),
        ("__device__ int f(int x) { return x; }\n#define N 4", False),
        ("__device__ int f(int x) { return x; }\n#pragma pack(4)", False),
        ("__device__ int f(int x) { return x; }\nCONSTANT(4)", False),
        ("__device__ int f(int x) { return x; }\nstatic", False),
        ("CONSTANT(4)\n__device__ int f(int x) { return x; }", False),
        ("__device__ constexpr int f(int x) { return x; }", False),
        ("__device__ __host__ int f(int x) { return x; }", False),
        ("struct A { __device__ int f(int x) { return x; } int y; };", False),
        ("__device__ int f(int x);", False),
    ],
)
def test_the_host_keeps_its_branch_of_what_it_reads(held: str, both: bool) -> None:
    ported, findings = _port(f"#if __CUDA_ARCH__ >= 700\n{held}\n#else\n#endif\n")
    (asked,) = (item for item in findings if item.rule == "platform-conditional" and item.line == 1)
    assert ("#if ROCPORT_CUDA_ARCH_VALUE >= 700" in ported, "taken in both passes" in asked.message) == (both, both)


def test_a_body_that_leaves_its_branch_is_no_whole_function() -> None:
    ported, _ = _port(
        "#if __CUDA_ARCH__ >= 700\n__device__ int f(int x) {\n#else\n__device__ int g(int x) {\n#endif\nreturn x; }\n"
    )
    assert "ROCPORT_CUDA_ARCH_VALUE" not in ported


def _asked(text: str) -> list[tuple[int, str]]:
    """(line, applicability) of the conditionals."""
    _, findings = _port(text)
    return [(item.line, item.applicability.value) for item in findings if item.rule == "platform-conditional"]


@pytest.mark.parametrize(
    "condition",
    [
        "__CUDA_ARCH__ >= 800 && defined(__CUDACC__) && !defined(__clang__)",
        "CUDART_VERSION >= 9000 && !defined(__clang__)",
        "defined(__CUDA_ARCH__) && !defined(__clang__)",
    ],
)
def test_a_condition_that_leaves_clang_out_is_for_review_beside_a_number(condition: str) -> None:
    _, findings = _port(f"void f() {{\n#if {condition}\n  g();\n#endif\n}}\n")
    (asked,) = (item for item in findings if item.rule == "platform-conditional")
    assert asked.applicability is Applicability.REVIEW
    assert "__clang__ is defined by it" in asked.message
    assert ": taken" not in asked.message


def test_a_version_is_looked_at_again_where_another_answer_is_given() -> None:
    asked = [
        "#if CUDA_VERSION >= 11000",
        "#if CUDA_VERSION >= 12000",
        "#if 12000 > CUDA_VERSION",
        "#if CUDA_VERSION >= 13000",
        "#if CUDA_VERSION == 12010",
    ]
    text = "".join(f"{line}\n#define X{number} 1\n#endif\n" for number, line in enumerate(asked))
    assert _asked(text) == [(1, "review"), (4, "safe"), (7, "safe"), (10, "review"), (13, "review")]


@pytest.mark.parametrize(
    ("condition", "held", "answer"),
    [
        ("__CUDA_ARCH__ >= 700", "f();", "safe"),
        ("700 <= __CUDA_ARCH__", "f();", "safe"),
        ("700 <= __CUDA_ARCH__ && __CUDA_ARCH__ < 800", "f();", "review"),
        ("800 > __CUDA_ARCH__ && 700 <= __CUDA_ARCH__", "f();", "review"),
        ("__CUDA_ARCH__ >= 700", "constexpr int kStages{4};", "review"),
        ("__CUDA_ARCH__ >= 700", "const int stages{count()};", "safe"),
        ("__CUDA_ARCH__ >= 700", "#define TILE (128)\n", "review"),
        ("__CUDA_ARCH__ >= 700", "#define TILE (2 * 64)\n", "review"),
        ("__CUDA_ARCH__ >= 700", "#define TILE (tile())\n", "safe"),
        ("__CUDA_ARCH__ >= 700", "using Tile = Shape<128, 64>;", "review"),
        ("__CUDA_ARCH__ >= 700", "typedef Shape<128, 64> Tile;", "review"),
        ("__CUDA_ARCH__ >= 700", "using Number = float;", "safe"),
        ("300 <= __CUDA_ARCH__ && CUDART_VERSION > 8000", "f();", "safe"),
    ],
)
def test_numbers_for_a_generation_are_for_review_however_they_are_written(
    condition: str, held: str, answer: str
) -> None:
    assert _asked(f"void g() {{\n#if {condition}\n{held}\n#endif\n}}\n") == [(2, answer)]


@pytest.mark.parametrize(
    ("branches", "wanted"),
    [
        ("bool pools() { return true; }\n#else\nbool pools() { return false; }", "review"),
        ("constexpr int stages = 4;\n#else\nconstexpr int stages = 2;", "review"),
        ("using real = float;\n#else\nusing real = double;", "review"),
        ("const bool exact = false;", "review"),
        ("#define POOLS 1", "review"),
        ("void f(cudaStream_t s) { cudaFreeAsync(0, s); }\n#else\nvoid f(int) {}", "safe"),
        ("cublasComputeType_t t = CUBLAS_COMPUTE_32F;\n#else\ncudaDataType t = CUDA_R_32F;", "safe"),
        ("__device__ int f(int x) { return __shfl_sync(~0u, x, 0); }", "safe"),
        ("#include <cooperative_groups/reduce.h>", "safe"),
    ],
)
def test_a_version_that_sets_what_no_rule_looks_at_is_to_be_seen(branches: str, wanted: str) -> None:
    _, found = _port(f"#if CUDART_VERSION >= 11020\n{branches}\n#endif\n")
    assert [item.applicability.value for item in found if item.rule == "platform-conditional"] == [wanted]


def test_a_version_that_is_not_taken_is_judged_by_its_other_branch() -> None:
    text = "#if CUDART_VERSION < 11020\nint n = 1;\n#else\n%s\n#endif\n"
    for branch, wanted in (("int n = 2;", "review"), ("cudaError_t n;", "safe")):
        (found,) = (item for item in _port(text % branch)[1] if item.rule == "platform-conditional")
        assert found.applicability.value == wanted

"""Every repair: clang refuses its example, and takes it with the repair."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.facts.standard_headers import header_of
from rocport.model import Edit, Span
from rocport.model.verification import Diagnostic
from rocport.port.edits import replaced
from rocport.repair.site import Change, Site
from rocport.repair.table import REPAIRS, Repair
from rocport.syntax.cuda import CudaSource
from rocport.toolchain import ToolchainError, find
from rocport.verify.diagnostics import FIXITS, Origins, parse

# What the examples take from HIP's headers, which take a second to read.
HEADERS = {
    "hip/hip_runtime.h": "#pragma once\ntypedef struct s *hipStream_t;\n"
    "int hipHostGetDevicePointer(void **, void *, unsigned);\n",
    "hip/hip_bf16.h": "#pragma once\nstruct limits { static int min(int a, int b); };\n",
    "hipblas/hipblas.h": "struct hipblasHandle_t;\n",
    "given.h": "#define __global__ __attribute__((global))\n#define __device__ __attribute__((device))\n"
    "#define __host__ __attribute__((host))\n"
    "template <class T, int N> struct HIP_vector_type { T x, y;\n"
    "  __host__ __device__ HIP_vector_type(T a, T b) : x(a), y(b) {}\n"
    "  __host__ __device__ HIP_vector_type() {} };\nusing int2 = HIP_vector_type<int, 2>;\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in HEADERS.items():
        (tmp_path / "include" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "include" / name).write_text(text)
    (tmp_path / "t").mkdir()
    return tmp_path / "t"


def said(tree: Path, text: str) -> tuple[Diagnostic, ...]:
    try:
        compiler = find(None).compiler
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    (tree / "k.cu").write_text(text)
    command = f"-x hip -nogpuinc -nogpulib --offload-arch=gfx942 --offload-device-only -fsyntax-only {FIXITS}".split()
    folder = tree.parent / "include"
    command += ["-include", str(folder / "given.h"), "-isystem", str(folder), "-fno-color-diagnostics", "k.cu"]
    done = subprocess.run([compiler, *command], cwd=tree, capture_output=True, text=True, check=False)
    return parse(done.stderr, tree, "k.cu", Origins())


def changes(repair: Repair, text: str, errors: tuple[Diagnostic, ...]) -> list[Change]:
    source = CudaSource("k.cu", text.encode())
    sites = [(Site(error, "k.cu", {"k.cu": source}.get), repair.message.match(error.message)) for error in errors]
    made = [repair.make(site, match) for site, match in sites if match is not None]
    return [change for change in made if change is not None]


def repaired(text: str, made: list[Change]) -> str:
    edits = {edit for change in made for edit in change.edits}
    lines = {f"#include {header}\n" for change in made for header in change.headers}
    lines |= {f"#include <{change.ahead}>\n" for change in made if change.ahead}
    top = Edit(Span(0, 0), "".join(sorted(lines)).encode())
    return replaced(text.encode(), sorted({top, *edits})).decode()


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.name)
def test_the_compiler_takes_the_example_with_the_repair(repair: Repair, tree: Path) -> None:
    text = repair.example
    for _ in range(2):
        errors = said(tree, text)
        made = changes(repair, text, errors)
        assert made, errors
        text = repaired(text, made)
        if not said(tree, text):
            return
    raise AssertionError((text, said(tree, text)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("standard-include", "int f() { return mine(3); }\n"),
        ("elided-braces", "__device__ int f() { const int2 a[2] = {1, 2, 3}; return a[0].x; }\n"),
        ("host-function", '#include "other.h"\n__device__ int f() { return outside(); }\n'),
        ("void-arithmetic", "void f(void *p) { p += 3; }\n"),
        ("header-after-macro", "#define half(x) x y\nint n = half(3);\n"),
    ],
)
def test_what_is_not_certain_stays(name: str, text: str, tree: Path) -> None:
    (repair,) = (one for one in REPAIRS if one.name == name)
    (tree / "other.h").write_text("int outside();\n")
    errors = said(tree, text)
    assert errors
    assert not changes(repair, text, errors)


def test_a_header_is_known_for_names_of_the_library_of_c_and_of_rocm() -> None:
    assert header_of("sort", "std") == "algorithm"
    assert header_of("FLT_MAX", "global") == "float.h"
    assert header_of("hipblasHandle_t", "rocm") == "hipblas/hipblas.h"
    assert header_of("__half", "rocm") == "hip/hip_fp16.h"
    assert header_of("mine", "std") is header_of("mine", "rocm") is None

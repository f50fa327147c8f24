"""Files whose name does not say that they are C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api

KERNEL = "__device__ float up(float v) { return __shfl_up(v, 1); }\n"


def _tree(folder: Path, files: dict[str, str]) -> dict[str, str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {file.path: file.language for file in api.read(folder).files}


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("up.impl", '#include "up.impl"\n'),
        ("detail/up.def", "#include <detail/up.def>\n"),
        ("up", '#include "up"\n'),
        ("up.x", '#define BODY "up.x"\n#include BODY\n'),
        ("up.tcc", ""),
        ("up.cu.in", ""),
    ],
)
def test_a_file_the_sources_include_is_ported(tmp_path: Path, name: str, include: str) -> None:
    languages = _tree(tmp_path, {name: KERNEL, "a.cu": include + "int x;\n"})
    assert languages[name] == "cuda"
    patch = api.port(api.read(tmp_path, whole=True))
    assert b"rocport::shfl_up(v, 1)" in patch.files[name].data


def test_a_file_of_the_same_name_elsewhere_is_left_alone(tmp_path: Path) -> None:
    assert _tree(tmp_path, {"docs/up.x": KERNEL, "a.cu": '#include "other/up.x"\n'})["docs/up.x"] == "other"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("k.pyx", 'cdef extern from "cuda_runtime.h":\n    int cudaMalloc(void **p, size_t n)\n', True),
        ("k.ptx", ".version 7.0\n", True),
        ("k.cuf", "attributes(global) subroutine k(x)\n", True),
        ("k.rs", "fn main() {}\n", False),
        ("k.txt", '// up\nextern "C" __global__ void k(float *x) { x[0] = __shfl_up_sync(~0u, x[1], 1); }\n', True),
        ("k.txt", "__global__ void k(float *x) { x[0] = 1; }\n", False),
        ("notes.txt", "A kernel such as\n__global__ void k(int *x) { x[0] = __ballot_sync(~0u, 1); }\n", False),
        ("configure.ac", "AC_PATH_PROG([NVCC], [nvcc])\n", True),
        ("build.rs", 'fn main() { println!("cargo:rustc-link-lib=cudart"); }\n', True),
        ("configure.ac", "AC_INIT([x], [1])\n", False),
        ("xmake.lua", 'add_files("a.cu")\nadd_cugencodes("native")\n', True),
        ("a.vcxproj", '<CudaCompile Include="a.cu"/>\n', True),
        ("CMakePresets.json", '{"cacheVariables": {"CMAKE_CUDA_ARCHITECTURES": "80"}}\n', True),
        ("build.ps1", "nvcc -arch=sm_80 a.cu\n", True),
        ("build.bat", "cl a.cpp\n", False),
        ("k.jl", "using CUDA\nx = CuArray([1])\n", True),
        ("README.md", "Call cudaMalloc first.\n", False),
    ],
)
def test_cuda_in_a_language_nobody_reads_is_named(tmp_path: Path, name: str, text: str, said: bool) -> None:
    _tree(tmp_path, {name: text})
    assert [problem.path for problem in api.read(tmp_path).problems] == ([name] if said else [])


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        (
            "setup.py",
            "setup(ext_modules=[CUDAExtension('x', ['a.cpp'], define_macros=[('WITH_CUDA', None)])])\n",
            False,
        ),
        ("CMakeLists.txt", "if(USE_GPU)\n  add_definitions(-DWITH_CUDA)\nendif()\n", False),
        ("CMakeLists.txt", "find_package(CUDA)\nif(CUDA_FOUND)\n  add_definitions(-DWITH_CUDA)\nendif()\n", False),
        ("build.txt", "-DWITH_CUDA\n", True),
        ("main.cu", '#define WITH_CUDA\n#include "a.cpp"\n', False),
        ("main.cu", '#define WITH_CUDA 1\n#include "a.cpp"\n', False),
        ("main.cu", '#ifdef FAST\n#define WITH_CUDA\n#endif\n#include "a.cpp"\n', False),
        ("main.cu", '/*\n#define WITH_CUDA\n*/\n#include "a.cpp"\n', True),
        ("main.cu", '/*\n#define WITH_CUDA 1\n*/\n#include "a.cpp"\n', True),
        ("main.cu", '#if 0\n#define WITH_CUDA 1\n#endif\n#include "a.cpp"\n', True),
        ("main.cu", '#ifdef __HIP_PLATFORM_NVIDIA__\n#define WITH_CUDA\n#endif\n#include "a.cpp"\n', True),
        ("main.cu", "#define WITH_CUDA\n#define OTHER_CUDA 1\n", True),
        ("main.cu", f'#define {"CU" * 50_000} x\n#include "a.cpp"\n', True),
    ],
)
def test_a_guard_that_the_build_defines_is_not_asked_about(tmp_path: Path, name: str, text: str, named: bool) -> None:
    """mmcv's setup.py gives MMCV_WITH_CUDA to builds for ROCm, too; a port opens if(CUDA_FOUND) for them."""
    (tmp_path / name).write_text(text)
    (tmp_path / "a.cpp").write_text("#ifdef WITH_CUDA\nvoid f();\n#endif\n")
    assert ("own-cuda-guard" in {item.rule for item in api.scan(tmp_path).findings}) is named


@pytest.mark.parametrize(("include", "named"), [("<torch/extension.h>", False), ("<vector>", True)])
def test_sources_that_pytorch_translates_are_packed_already(tmp_path: Path, include: str, named: bool) -> None:
    """torchsort packs its .cu files; PyTorch translates them while the package is built."""
    (tmp_path / "MANIFEST.in").write_text("include csrc/*.cu\n")
    (tmp_path / "a.cu").write_text(f"#include {include}\n__global__ void k() {{}}\n")
    assert ("packaged-cuda-sources" in {item.rule for item in api.scan(tmp_path).findings}) is named


def test_a_check_that_only_the_branch_for_cuda_calls_is_left_alone(tmp_path: Path) -> None:
    """causal-conv1d's setup.py asks for nvcc in a function that its branch for HIP does not call."""
    text = "def check():\n    if CUDA_HOME is None:\n        raise RuntimeError('nvcc was not found')\n"
    (tmp_path / "setup.py").write_text(f"{text}if HIP_BUILD:\n    pass\nelse:\n    check()\n")
    assert not api.scan(tmp_path).findings
    (tmp_path / "setup.py").write_text(f"{text}check()\n")
    assert api.scan(tmp_path).findings


def test_a_module_of_the_tree_is_its_own_without_an_init_file(tmp_path: Path) -> None:
    (tmp_path / "cuda_op").mkdir()
    (tmp_path / "cuda_op" / "cuda_ext.py").write_text("def sort(): pass\n")
    (tmp_path / "a.py").write_text("from cuda_op.cuda_ext import sort\n")
    assert "cuda-only-import" not in {item.rule for item in api.scan(tmp_path).findings}


def test_a_script_without_a_suffix_is_read_as_one(tmp_path: Path) -> None:
    languages = _tree(tmp_path, {"run": "#!/usr/bin/env bash\nnvcc a.cu\n", "LICENSE": "#!x\n", "go": "#!/bin/sh\n"})
    assert languages == {"run": "shell", "LICENSE": "other", "go": "shell"}


def test_what_cmake_left_of_a_build_is_taken_over_unread(tmp_path: Path) -> None:
    probe = tmp_path / "CMakeFiles/3.26.4/CompilerIdCUDA/tmp/a.cudafe1.cpp"
    probe.parent.mkdir(parents=True)
    probe.write_text("extern cudaError_t cudaMipmappedArrayGetSparseProperties(void *);\n")
    (tmp_path / "a.cu").write_text("int n;\n")
    tree = api.read(tmp_path, whole=True)
    assert [file.language for file in tree.files] == ["other", "cuda"]
    assert tree.left_out == ("CMakeFiles/",)

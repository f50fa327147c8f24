"""What the port wrote for HIP beside CUDA's CMake is one thing to look at; what it left to do stays one each."""

from __future__ import annotations

from pathlib import Path

from rocport import api
from rocport.model import Report


def _causes(tree: Path, text: str) -> list[tuple[str, int]]:
    (tree / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.21)\n{text}")
    (tree / "a.cu").write_text("__global__ void f() {}\n")
    report = Report("scan", str(tree), (), api.scan(tree, jobs=1).findings)
    return [(cause.first.applicability.value, len(cause.sites)) for cause in report.causes]


def test_what_is_done_for_the_language_is_one_cause(tmp_path: Path) -> None:
    text = "project(x LANGUAGES CXX CUDA)\nadd_library(x a.cu)\n"
    text += "set_source_files_properties(b.cpp PROPERTIES LANGUAGE CUDA)\n"
    assert _causes(tmp_path, text) == [("review", 3)]


def test_languages_toolkit_libraries_and_options_that_are_done_are_one_look(tmp_path: Path) -> None:
    text = (
        "project(x LANGUAGES CXX CUDA)\nfind_package(CUDAToolkit)\ninclude_directories(${CUDAToolkit_INCLUDE_DIRS})\n"
        "target_link_libraries(x CUDA::cublas)\ntarget_link_libraries(y CUDA::cudart)\n"
        "set(CMAKE_CUDA_STANDARD 17)\n"
    )
    assert _causes(tmp_path, text) == [("review", 6)]


def test_what_is_left_to_do_is_not_folded_into_what_is_done(tmp_path: Path) -> None:
    text = (
        "project(x LANGUAGES CXX CUDA)\nset_target_properties(x PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n"
        "cuda_wrap_srcs(x PTX files a.cu)\ntarget_link_libraries(x CUDA::cublas cutensor)\n"
    )
    causes = _causes(tmp_path, text)
    # The wrapped sources and cuTENSOR are by hand; separate compilation is a cause of its own.
    assert sorted(causes) == [("manual", 1), ("manual", 1), ("review", 1), ("review", 2)]
    assert ("review", 3) in _causes(tmp_path, text + "set(CMAKE_CUDA_STANDARD 17)\n")


def test_a_branch_for_nvcc_by_its_name_is_never_taken_on_rocm(tmp_path: Path) -> None:
    text = "project(x CXX)\nif(CMAKE_CUDA_COMPILER_ID STREQUAL NVIDIA)\n{}endif()\n"
    probe = (
        'execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" -ccbin cc --run a.cu)\nset(X "-gencode arch=compute_80")\n'
    )
    assert _causes(tmp_path, text.format(probe)) == []
    # What else stands in it, the build for HIP lacks.
    assert _causes(tmp_path, text.format(probe + "add_subdirectory(gpu)\n")) == [("manual", 3)]


def test_what_needs_a_library_that_rocm_has_not_is_said_at_the_library(tmp_path: Path) -> None:
    text = (
        "project(x CXX)\nfind_library(NVINFER NAMES nvinfer)\nif(CUDA_FOUND {} NVINFER)\n"
        "list(APPEND INC ${{CUDA_INCLUDE_DIRS}})\nendif()\n"
    )
    assert _causes(tmp_path, text.format("AND")) == [("manual", 2)]
    assert len(_causes(tmp_path, text.format("OR"))) > 1


def test_words_that_only_nvcc_gets_to_see_need_nothing_on_rocm(tmp_path: Path) -> None:
    text = 'project(x CXX)\nset(FLAGS -Xptxas -v)\nstring(APPEND FLAGS " -gencode arch=compute_80")\n'
    assert _causes(tmp_path, text) == [("manual", 2)]
    alone = text + "set(CUDA_NVCC_FLAGS ${FLAGS})\n"
    assert _causes(tmp_path, alone) == [("review", 1)]
    assert ("manual", 2) in _causes(tmp_path, alone + "add_compile_options(${FLAGS})\n")


def test_rocm_counts_wherever_a_switch_for_cuda_is_asked(tmp_path: Path) -> None:
    text = "project(x CXX)\nif(A AND NOT ENABLE_CUDA)\nendif()\n"
    assert _causes(tmp_path, text) == [("review", 1)]
    ported = next(iter(api.port(tmp_path, jobs=1).files.values())).data
    assert b"if(A AND NOT (USE_ROCM OR ENABLE_CUDA))" in ported
    assert _causes(tmp_path, "project(x CXX)\nif(USE_CUDA AND CUDA_VERSION VERSION_LESS 11)\nendif()\n") == [
        ("manual", 1)
    ]


def test_a_file_that_builds_for_amd_asks_nobody_and_what_stands_beside_it_once(tmp_path: Path) -> None:
    text = "project(x CXX)\nif(WITH_CUDA)\nfind_package(CUDA)\ncuda_wrap_srcs(x PTX f a.cu)\nendif()\n"
    assert _causes(tmp_path, text) == [("manual", 1), ("review", 2)]
    built = text + "if(USE_HIP)\nenable_language(HIP)\nadd_library(y b.hip)\nendif()\n"
    assert _causes(tmp_path, built) == []
    (tmp_path / "build.sh").write_text("nvcc a.cu\nnvcc b.cu\n")
    assert _causes(tmp_path, built) == [("manual", 2)]

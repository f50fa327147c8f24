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


def test_languages_toolkit_libraries_and_options_are_looked_at_each(tmp_path: Path) -> None:
    text = (
        "project(x LANGUAGES CXX CUDA)\nfind_package(CUDAToolkit)\ninclude_directories(${CUDAToolkit_INCLUDE_DIRS})\n"
        "target_link_libraries(x CUDA::cublas)\ntarget_link_libraries(y CUDA::cudart)\n"
        "set(CMAKE_CUDA_STANDARD 17)\n"
    )
    assert sorted(_causes(tmp_path, text)) == [("review", 1), ("review", 1), ("review", 2), ("review", 2)]


def test_what_is_left_to_do_is_not_folded_into_what_is_done(tmp_path: Path) -> None:
    text = (
        "project(x LANGUAGES CXX CUDA)\nset_target_properties(x PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n"
        "cuda_wrap_srcs(x PTX files a.cu)\ntarget_link_libraries(x CUDA::cublas cutensor)\n"
    )
    causes = _causes(tmp_path, text)
    # The wrapped sources and cuTENSOR are by hand; separate compilation is a cause of its own.
    assert sorted(causes) == [("manual", 1), ("manual", 1), ("review", 1), ("review", 1), ("review", 1)]
    assert _causes(tmp_path, text + "set(CMAKE_CUDA_STANDARD 17)\n").count(("review", 1)) == 4

"""One lookup, asked by everyone: no user of the facts may answer otherwise."""

from __future__ import annotations

import re

import pytest

from rocport.facts.lookup import (
    cmake_target_of,
    counterpart,
    is_gpu_header,
    link_names,
    link_triggers,
    rocm_package,
    serves_link,
)
from rocport.facts.symbols import libraries
from rocport.model import Context
from rocport.project.build import BuildSource
from rocport.rules.build import cmake_cuda, make_nvcc, other_build
from rocport.rules.build.nvcc import hip_library
from rocport.rules.python import cuda_link
from rocport.syntax.python import PythonSource
from rocport.verify.diagnostics import is_gpu_header as diagnosed

CMAKE = sorted((target, hip) for library in libraries().values() for target, hip in library.cmake.items())


def findings(rule, path: str, text: str, language: str):
    data = text.encode()
    assert any(trigger in data for trigger in rule.RULE.triggers), f"{rule.RULE.name} never looks at {text!r}"
    source = PythonSource(path, data) if language == "python" else BuildSource(path, data, language)
    return list(rule.check(source, Context()))


@pytest.mark.parametrize("name", link_names())
def test_every_user_answers_for_a_link_name_as_the_facts_do(name):
    row = counterpart("link", name)
    assert hip_library(name) == row.hip
    assert hip_library(f"-l{name}") == (f"-l{row.hip}" if row.hip else "")
    assert serves_link(name) and (not row.hip or serves_link(row.hip))
    for rule, path, text, language in (
        (cmake_cuda, "CMakeLists.txt", f"target_link_libraries(x PRIVATE -l{name})\n", "cmake"),
        (make_nvcc, "Makefile", f"LIBS = -l{name}\n", "make"),
        (other_build, "meson.build", f"link_args : ['-l{name}']\n", "meson"),
        (cuda_link, "setup.py", f"libraries = ['-l{name}']\n", "python"),
    ):
        found, *by_hand = findings(rule, path, text, language)
        made = b"".join(edit.text for edit in found.edits).decode()
        if language in ("make", "python"):
            assert found.edits and (f"-l{row.hip}" in made if row.hip else f"-l{name}" not in made)
        if language == "cmake":
            target = cmake_target_of(name)
            assert target.hip in made if target.hip else "if(NOT USE_ROCM)" in made
        assert [item.applicability.name for item in by_hand] == ["MANUAL"] * (row.by_hand and language != "meson")


@pytest.mark.parametrize(("target", "hip"), CMAKE)
def test_a_cmake_target_becomes_what_the_facts_say(target, hip):
    found, *by_hand = findings(cmake_cuda, "CMakeLists.txt", f"target_link_libraries(x PRIVATE {target} m)\n", "cmake")
    made = b"".join(edit.text for edit in found.edits).decode()
    if hip:
        assert hip in made and f"find_package({rocm_package(hip)} REQUIRED)" in made
    else:
        assert re.search(r"target_link_libraries\(x PRIVATE +m\)", made), "it takes nothing else with it"
        assert [item.applicability.name for item in by_hand] == ["MANUAL"] * counterpart("cmake", target).by_hand


BY_HAND = [library for library in libraries().values() if library.applicability == "MANUAL"]


@pytest.mark.parametrize("library", BY_HAND, ids=lambda library: library.name)
def test_what_is_ported_by_hand_is_linked_by_hand(library):
    """Who renames the library of a program whose calls stay as they are builds neither for CUDA nor for ROCm."""
    assert not any((*library.link.values(), *library.cmake.values(), *library.packages.values()))


@pytest.mark.parametrize(
    ("rule", "path", "text", "language", "made"),
    [
        (cmake_cuda, "CMakeLists.txt", "find_package(CUTENSOR REQUIRED)\n", "cmake", b"if(NOT USE_ROCM)"),
        (cmake_cuda, "CMakeLists.txt", "find_library(T cutensor)\n", "cmake", b"if(NOT USE_ROCM)"),
        (
            cmake_cuda,
            "CMakeLists.txt",
            "target_link_libraries(x CUDA::cublas cutensor)\n",
            "cmake",
            b"(x roc::hipblas)",
        ),
        (make_nvcc, "Makefile", "LIBS = -lcublas -lcutensor\n", "make", b"-lhipblas \n"),
        (cuda_link, "setup.py", "libraries = ['cublas', 'cutensor']\n", "python", b"['hipblas'] if"),
        (other_build, "meson.build", "a = cc.find_library('cutensor')\n", "meson", b""),
    ],
)
def test_a_library_ported_by_hand_is_left_out_and_named_in_every_build_file(rule, path, text, language, made):
    *edited, by_hand = findings(rule, path, text, language)
    assert by_hand.applicability.name == "MANUAL" and "cutensor" in by_hand.message.lower() and not by_hand.edits
    written = b"".join(edit.text for item in edited for edit in item.edits)
    assert made in written and bool(made) == bool(written)


def test_every_target_of_rocm_has_its_package_and_link_names_agree_with_targets():
    for target, hip in CMAKE:
        assert not hip or rocm_package(hip), f"{target}: no [find] row for {hip}"
    for name in link_names():
        target = counterpart("cmake", f"CUDA::{name}")
        assert target is None or target.hip == cmake_target_of(name).hip


def test_find_modules_of_a_project_are_found_by_their_last_part():
    assert counterpart("cmake", "CUDNN::cudnn").hip == counterpart("cmake", "CUDA::cudnn").hip == ""
    assert counterpart("cmake", "NCCL::NCCL").hip == counterpart("cmake", "CUDA::nccl").hip == "roc::rccl"
    assert counterpart("cmake", "fmt::fmt") is None
    assert counterpart("package", "cuDNN").hip == counterpart("package", "CUDNN").hip == ""
    assert counterpart("link", "cublas.so.12").hip == "hipblas"
    assert counterpart("link", "m") is None and not serves_link("m") and serves_link("rocblas")


def test_headers_are_known_to_the_planner_of_builds_and_to_the_reader_of_errors():
    for library in libraries().values():
        for cuda, hip in library.headers.items():
            spelled = cuda.replace("*", "x.h")
            assert is_gpu_header(spelled) and diagnosed(spelled), spelled
            assert not hip or is_gpu_header(hip), hip
    assert not is_gpu_header("vector") and not is_gpu_header("hippo.h") and not is_gpu_header("custom/cu.h")


@pytest.mark.parametrize("spelled", ["cublas_static", "cublas.so.12", "cublas.so", "cublas.lib", "cublas_static.a"])
def test_a_link_name_may_carry_how_it_is_linked(spelled):
    row = counterpart("link", spelled)
    assert (row.hip, row.library) == ("hipblas", "cublas")
    assert cmake_target_of(spelled).hip == "roc::hipblas" and serves_link(spelled)


@pytest.mark.parametrize("spelled", ["cublas_shared", "mycublas", "cublas12", "libcublas.so", ""])
def test_a_link_name_that_only_looks_like_one_is_nobodys(spelled):
    assert counterpart("link", spelled) is None and cmake_target_of(spelled) is None and not serves_link(spelled)


@pytest.mark.parametrize(
    ("name", "hip"),
    [
        ("CUDA::cublas", "roc::hipblas"), ("CUDA::cublas_static", "roc::hipblas"), ("Mine::CUBLAS", "roc::hipblas"),
        ("a::b::cublas", "roc::hipblas"),
        ("cublas", None), ("::cublas", None), ("CUDA::", None), ("CUDA::cublas::x", None), ("CUDA::fmt", None),
    ],
)  # fmt: skip
def test_a_cmake_target_is_its_own_or_known_by_its_last_part(name, hip):
    row = counterpart("cmake", name)
    assert (row.hip if row else None) == hip
    assert row is None or (row.cuda, row.kind) == (name, "cmake")


def test_every_kind_of_name_is_looked_up_among_its_own():
    assert counterpart("symbol", "cudaMalloc").hip == "hipMalloc" and counterpart("symbol", "hipMalloc") is None
    assert counterpart("namespace", "cub").hip == "hipcub" and counterpart("namespace", "cublas") is None
    assert counterpart("header", "cublas_v2.h").hip == "hipblas/hipblas.h" and counterpart("header", "cublas") is None
    assert counterpart("package", "cudnn").kind == "package" and counterpart("package", "CUDNN::cudnn") is None
    assert counterpart("link", "CUBLAS") is None, "link names are of one case"


@pytest.mark.parametrize("name", ["hipblas", "rocblas", "rccl", "amdhip64", "hsa-runtime64", "MIOpen"])
def test_rocms_own_libraries_are_served(name):
    assert serves_link(name) and counterpart("link", name) is None
    assert not serves_link(f"my{name}") and not serves_link(f"{name}-other")


def test_link_names_come_as_a_pattern_needs_them():
    names = link_names()
    assert len(set(names)) == len(names)
    assert list(names) == sorted(names, key=lambda name: (-len(name), name))
    plain, dashed = link_triggers(), link_triggers("-l")
    assert b"cuda" not in plain and b"-lcuda" in plain and b"cublas" in plain
    assert b"-lcuda" in dashed and b"-lcublas" in dashed and b"cublas" not in dashed


def test_the_package_of_a_target_of_rocm():
    assert rocm_package("roc::hipblas") == "hipblas" and rocm_package("MIOpen") == "miopen"
    assert rocm_package("CUDA::cublas") == "" == rocm_package("")

"""One lookup, asked by everyone: no user of the facts may answer otherwise."""

from __future__ import annotations

import re

import pytest

from rocport.facts.lookup import (
    cmake_target_of,
    counterpart,
    is_gpu_header,
    link_names,
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
    expected = row.hip if row.hip else "" if row.dropped else None
    assert hip_library(name) == expected
    assert hip_library(f"-l{name}") == (f"-l{expected}" if expected else expected)
    assert serves_link(name) and (not row.hip or serves_link(row.hip))
    for rule, path, text, language in (
        (cmake_cuda, "CMakeLists.txt", f"target_link_libraries(x PRIVATE -l{name})\n", "cmake"),
        (make_nvcc, "Makefile", f"LIBS = -l{name}\n", "make"),
        (other_build, "meson.build", f"link_args : ['-l{name}']\n", "meson"),
        (cuda_link, "setup.py", f"libraries = ['-l{name}']\n", "python"),
    ):
        (found,) = findings(rule, path, text, language)
        made = b"".join(edit.text for edit in found.edits).decode()
        if language in ("make", "python"):
            assert (expected is None) == (not found.edits), (language, found)
            assert not expected or f"-l{expected}" in made
        if language == "cmake":
            target = cmake_target_of(name)
            assert bool(found.edits) == bool(target.hip or target.dropped)
            assert target.hip in made if target.hip else not target.dropped or "if(NOT USE_ROCM)" in made


@pytest.mark.parametrize(("target", "hip"), CMAKE)
def test_a_cmake_target_becomes_what_the_facts_say(target, hip):
    (found,) = findings(cmake_cuda, "CMakeLists.txt", f"target_link_libraries(x PRIVATE {target} m)\n", "cmake")
    made = b"".join(edit.text for edit in found.edits).decode()
    if hip:
        assert hip in made and f"find_package({rocm_package(hip)} REQUIRED)" in made
    else:
        dropped = counterpart("cmake", target).dropped
        assert bool(made) == dropped, "a name that is left out takes nothing else with it"
        assert not dropped or re.search(r"target_link_libraries\(x PRIVATE +m\)", made)


def test_every_target_of_rocm_has_its_package_and_link_names_agree_with_targets():
    for target, hip in CMAKE:
        assert not hip or rocm_package(hip), f"{target}: no [find] row for {hip}"
    for name in link_names():
        target = counterpart("cmake", f"CUDA::{name}")
        assert target is None or target.hip == cmake_target_of(name).hip


def test_find_modules_of_a_project_are_found_by_their_last_part():
    assert counterpart("cmake", "CUDNN::cudnn").hip == counterpart("cmake", "CUDA::cudnn").hip == "MIOpen"
    assert counterpart("cmake", "NCCL::NCCL").hip == counterpart("cmake", "CUDA::nccl").hip == "roc::rccl"
    assert counterpart("cmake", "fmt::fmt") is None
    assert counterpart("package", "cuDNN").hip == counterpart("package", "CUDNN").hip == "miopen"
    assert counterpart("link", "cublas.so.12").hip == "hipblas"
    assert counterpart("link", "m") is None and not serves_link("m") and serves_link("rocblas")


def test_headers_are_known_to_the_planner_of_builds_and_to_the_reader_of_errors():
    for library in libraries().values():
        for cuda, hip in library.headers.items():
            spelled = cuda.replace("*", "x.h")
            assert is_gpu_header(spelled) and diagnosed(spelled), spelled
            assert not hip or is_gpu_header(hip), hip
    assert not is_gpu_header("vector") and not is_gpu_header("hippo.h") and not is_gpu_header("custom/cu.h")

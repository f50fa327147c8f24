"""A macro for CUDA is asked about only where somebody sets it: the build, the project, or the library of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api


def _asked(tree: Path, source: str, **files: str) -> bool:
    (tree / "a.cpp").write_text(source)
    for name, text in files.items():
        (tree / name.replace("_", ".", 1)).write_text(text)
    return any(finding.rule == "own-cuda-guard" for finding in api.scan(tree, jobs=1).findings)


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"CMakeLists_txt": "project(a)\n"}, False),
        ({}, True),
        ({"CMakeLists_txt": "if(CUDA_FOUND)\nadd_definitions(-DUSE_CUDA_RELEASE)\nendif()\n"}, False),
        ({"CMakeLists_txt": "project(a)\n", "README_md": "Compile with -DUSE_CUDA_RELEASE.\n"}, True),
        ({"CMakeLists_txt": "project(a)\n", "b_h": "#if N > 1\n#define USE_CUDA_RELEASE\n#endif\n"}, True),
        ({"CMakeLists_txt": "project(a)\n", "b_h": "//#define USE_CUDA_RELEASE\n"}, False),
    ],
)
def test_a_switch_that_no_file_of_a_build_names_is_set_for_nobody(
    tmp_path: Path, files: dict[str, str], asked: bool
) -> None:
    assert _asked(tmp_path, "#ifdef USE_CUDA_RELEASE\nvoid f();\n#endif\n", **files) is asked


def test_a_library_of_another_project_sets_the_macros_of_its_name(tmp_path: Path) -> None:
    source = "#include <Kokkos_Core.hpp>\n#ifdef KOKKOS_ENABLE_CUDA\nvoid f();\n#endif\n"
    assert _asked(tmp_path, source, CMakeLists_txt="project(a)\n")


def test_a_guard_of_a_library_without_a_counterpart_is_part_of_that_decision(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("#ifdef USE_CUDNN\nvoid f(cudnnHandle_t h) { cudnnDestroy(h); }\n#endif\n")
    found = [item for item in api.scan(tmp_path, jobs=1).findings if item.applicability.value != "safe"]
    assert {item.rule for item in found} == {"own-cuda-guard", "api-identifier"}
    assert len({item.cause for item in found}) == 1


def test_a_macro_of_another_compiler_is_set_by_no_build_with_nvcc(tmp_path: Path) -> None:
    assert not _asked(tmp_path, "#if defined(__NVCOMPILER_CUDA__)\nvoid f();\n#endif\n")

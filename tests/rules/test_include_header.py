"""A header of CUDA's and a file of the project with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api


@pytest.mark.parametrize(
    ("own", "stays"),
    [
        ("back/cuda.h", True),
        ("include/cuda.h", True),
        ("include/lib/cuda.h", True),
        ("tree/util/cuda/cuda.h", False),
    ],
)
def test_a_quoted_name_is_the_projects_file_unless_that_lies_deep_elsewhere(
    own: str, stays: bool, tmp_path: Path
) -> None:
    for path, text in ((own, "int helper();\n"), ("back/kernel.cu", '#include "cuda.h"\n__global__ void k() {}\n')):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = [
        one for one in api.scan(tmp_path).findings if one.rule == "include-header" and one.path == "back/kernel.cu"
    ]
    assert [one.applicability.value for one in found] == ([] if stays else ["review"])
    assert all("the include paths say which is meant" in one.message for one in found)

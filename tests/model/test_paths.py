from __future__ import annotations

import pytest

from rocport.model.paths import beside_the_build, vendored


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("third_party/cub/cub/a.cuh", "third_party/cub/"),
        ("src/extern/x.h", "src/extern/"),
        ("externality/a.h", ""),
        ("csrc/a.cu", ""),
    ],
)
def test_a_library_that_is_carried_along(path: str, library: str) -> None:
    assert vendored(path) == library


@pytest.mark.parametrize(
    "path", [".github/workflows/a.yml", ".circleci/config.yml", "packaging/a.sh", "docs/conf.py", ".travis.yml",
             "third_party/glm/a.h"]
)  # fmt: skip
def test_what_no_build_needs(path: str) -> None:
    assert beside_the_build(path)


@pytest.mark.parametrize("path", ["setup.py", "csrc/ci/a.cu", "pkg/docs.py", "src/packaging/a.cpp", "./a.cu"])
def test_what_a_build_needs(path: str) -> None:
    assert not beside_the_build(path)

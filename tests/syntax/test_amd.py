"""Whose is it: twins of names, and CUDA's sides of a project that has AMD's beside them."""

from __future__ import annotations

import pytest

from rocport.syntax.amd import ported_side, ported_sides, twins

_BOTH = ("cuda/a.cu", "cuda/b.cu", "cuda/deep/c.cu", "hip/a.cpp", "hip/b.cpp")


def test_a_twin_has_amds_word_in_the_same_case() -> None:
    assert twins("USE_CUDA") == {"USE_HIP", "USE_ROCM", "USE_AMD", "USE_AMDGPU"}
    assert "HipArray" in twins("CudaArray")
    assert twins("barrier") == set()


def test_a_folder_beside_amds_is_ported_with_all_that_lies_in_it() -> None:
    sides = ported_sides(f"lib/{path}" for path in _BOTH)
    assert ported_side("lib/cuda/deep/c.cu", sides) == ("lib/cuda/", "lib/hip/")
    assert ported_side("lib/hip/a.cpp", sides) is None


def test_a_twin_that_somebody_has_begun_is_none() -> None:
    assert not ported_sides(("cuda/a.cu", "cuda/b.cu", "cuda/c.cu", "hip/README.md"))


def test_a_file_has_a_twin_of_any_suffix_in_its_folder_alone() -> None:
    assert ported_sides(("src/CUDAStream.cu", "src/HIPStream.cpp")) == {"src/CUDAStream.cu": "src/HIPStream.cpp"}
    assert ported_sides(("Dockerfile.cuda", "Dockerfile.rocm")) == {"Dockerfile.cuda": "Dockerfile.rocm"}
    assert not ported_sides(("src/cuda_check.h", "tests/hip_check.h"))


@pytest.mark.parametrize(
    ("plain", "amd", "paired"),
    [
        ("ci/Dockerfile", "ci/Dockerfile.rocm", True),
        ("Dockerfile_1", "Dockerfile_hip_1", True),
        ("Dockerfile_1", "Dockerfile_hip_2", False),
        ("requirements.txt", "requirements-rocm6.2.txt", True),
        ("environment.yml", "environment_amd.yml", True),
        ("src/kernel.cu", "src/kernel_hip.cu", False),
        ("Dockerfile", "docker/Dockerfile.rocm", False),
    ],
)
def test_a_recipe_has_a_twin_in_its_folder_with_amds_word_in_its_name(plain: str, amd: str, paired: bool) -> None:
    assert (ported_sides((plain, amd)) == {plain: amd}) is paired

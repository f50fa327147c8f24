"""Command lines, and the SDK's compiler on the targets that must work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.toolchain import Toolchain

MUST_WORK = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151")
KERNEL = """
#include <hip/hip_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = expf(__shfl_down(x[threadIdx.x], 1)); }
"""
LIBRARIES = """
#include <hipblas/hipblas.h>
#include <thrust/device_vector.h>
void fill() { thrust::device_vector<float> v(3, 1.0f); }
"""


def test_device_mode_needs_a_target(toolchain: Toolchain) -> None:
    with pytest.raises(ValueError, match="one gfx target"):
        toolchain.compile_command("a.hip", mode="device")
    with pytest.raises(ValueError, match="one gfx target"):
        toolchain.compile_command("a.cpp", "gfx942", mode="object", language="c++")


def test_options_reach_the_command_line(toolchain: Toolchain) -> None:
    command = toolchain.compile_command(
        "a.hip",
        "gfx942",
        mode="device",
        includes=["inc"],
        system_includes=["sys"],
        defines=["X=1"],
        std="c++20",
        output="a.o",
        depfile="a.d",
        extra=["-w"],
    )
    text = " ".join(command)
    for part in ("--offload-arch=gfx942", "-Iinc", "-isystem sys", "-DX=1", "-std=c++20", "-MF a.d", "-w a.hip -o a.o"):
        assert part in text


@pytest.mark.parametrize("target", MUST_WORK)
def test_code_object_for_every_target_that_must_work(toolchain: Toolchain, target: str, tmp_path: Path) -> None:
    assert toolchain.targets()[target] == ""
    source = tmp_path / "k.hip"
    source.write_text(KERNEL)
    command = toolchain.compile_command(source, target, mode="device", output=tmp_path / "k.o", extra=["-w"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "k.o").read_bytes()[:4] == b"\x7fELF"


def test_library_headers(toolchain: Toolchain, tmp_path: Path) -> None:
    """rocThrust's placement new needs the compiler's cuda_wrappers/new: it is found only through --rocm-path."""
    source = tmp_path / "k.hip"
    source.write_text(LIBRARIES)
    command = toolchain.compile_command(source, mode="syntax", extra=["-w"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_host_and_device_in_one_object(toolchain: Toolchain, tmp_path: Path) -> None:
    source = tmp_path / "k.hip"
    source.write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* x) { *x = 1; }\n")
    command = toolchain.compile_command(source, "gfx942", mode="object", output=tmp_path / "k.o")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"gfx942" in (tmp_path / "k.o").read_bytes()


def test_target_of_newer_clang_says_why(toolchain: Toolchain) -> None:
    if toolchain.clang_major >= 20:
        pytest.skip("this compiler knows gfx950")
    assert "newer one is needed" in toolchain.targets()["gfx950"]

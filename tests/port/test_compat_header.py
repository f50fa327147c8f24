"""The compatibility headers compute what CUDA's functions compute, and compile for every target and C++ standard."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.toolchain import Toolchain

HERE = Path(__file__).parent
HEADERS = HERE.parents[1] / "src" / "rocport" / "port" / "headers"
HARNESS = HERE / "compat_host"
USES = HERE / "compat_uses.hip"


def test_directed_rounding_simd_and_bits_agree_with_the_host(toolchain: Toolchain, tmp_path: Path) -> None:
    """Rounding against the host's rounding modes, words against loops over their parts and against an NVIDIA GPU.

    `compat_golden.txt` holds what an H200 computed with CUDA 13.0: function, three words, result.
    With Clang as a C++ compiler for the host: the headers use its address spaces and atomics.
    """
    program = tmp_path / "harness"
    command = [str(toolchain.compiler), "-std=c++17", "-O1", "-ffp-contract=off", "-frounding-math", "-w"]
    command += [f"-I{HARNESS}", f"-I{HEADERS}", str(HARNESS / "harness.cpp"), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if built.returncode != 0 and "file not found" in built.stderr:
        pytest.skip(f"no C++ standard library for {toolchain.compiler}")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(program), str(HERE / "compat_golden.txt")], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_every_header_compiles_for_the_device(hip_code: Callable[..., Path], tmp_path: Path, target: str) -> None:
    hip_code(USES, target, tmp_path / "uses.o", "-Werror", includes=[HEADERS])


@pytest.mark.parametrize("std", ["c++14", "c++17", "c++20"])
def test_every_header_is_readable_to_the_host_pass(toolchain: Toolchain, std: str) -> None:
    command = toolchain.compile_command(USES, mode="syntax", includes=[HEADERS], std=std, extra=["-Wall", "-Werror"])
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr


def test_platform_header_presents_one_cuda_build(toolchain: Toolchain, tmp_path: Path) -> None:
    source = tmp_path / "platform.hip"
    source.write_text(
        '#include "rocport_platform.h"\n#include <hip/hip_runtime.h>\n'
        "static_assert(ROCPORT_HIP == 1 && ROCPORT_CUDART_VERSION == 12040 && ROCPORT_CUDACC_VER_MAJOR == 12);\n"
        "#if defined(__HIP_DEVICE_COMPILE__) != defined(ROCPORT_CUDA_ARCH)\n#error defined in one pass only\n#endif\n"
        "__global__ void k(int *x) { *x = ROCPORT_CUDA_ARCH_VALUE; }\n"
    )
    for mode, target in (("syntax", None), ("device", "gfx942")):
        command = toolchain.compile_command(
            source, target, mode=mode, includes=[HEADERS], output=tmp_path / "platform.o", optimize="-O0"
        )
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, done.stderr

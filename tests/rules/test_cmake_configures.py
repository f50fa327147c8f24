"""A ported CMakeLists.txt, configured by cmake itself: for HIP with USE_ROCM, and as before without."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from rocport.model import Context, Options
from rocport.port.engine import port_other
from rocport.port.places import Places
from rocport.scan.engine import scan_file
from rocport.syntax.project import build_index
from rocport.toolchain import ToolchainError, find

LISTS = """\
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80)
set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --use_fast_math --threads 4")
find_package(CUDAToolkit REQUIRED)
add_library(kernels STATIC src/a.cu src/b.cpp)
target_compile_options(kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
target_link_libraries(kernels PRIVATE CUDA::cudart)
"""
IMPORTED = "if(NOT TARGET {0})\n  add_library({0} INTERFACE IMPORTED)\nendif()\n"


def tree(folder: Path, layout: str) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.cu").write_text("__global__ void k() {}\n")
    (folder / "src/b.cpp").write_text("int b() { return 1; }\n")
    context = Context(Options(layout=layout), build_index(["CMakeLists.txt", "src/a.cu", "src/b.cpp"], []))
    findings = scan_file("CMakeLists.txt", LISTS.encode(), "cmake", context)
    assert isinstance(findings, list)
    ported = port_other("CMakeLists.txt", LISTS.encode(), "cmake", findings, Places.of({}))
    assert ported.data is not None
    (folder / "CMakeLists.txt").write_bytes(ported.data)
    if layout == "both":
        (folder / "hip/src").mkdir(parents=True)
        (folder / "hip/src/a.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k() {}\n")
    return folder


def configure(source: Path, build: Path, *options: str) -> dict[str, str]:
    """File -> its compile command."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    command = ["cmake", "-S", str(source), "-B", str(build), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((build / "compile_commands.json").read_text())
    return {str(Path(row["file"]).relative_to(source)): row["command"] for row in rows}


@pytest.mark.parametrize(("layout", "expected"), [("hip", "src/a.cu"), ("both", "hip/src/a.hip")])
def test_hip_sources_are_compiled_as_hip(tmp_path: Path, layout: str, expected: str) -> None:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {str(error).splitlines()[0]}")
    fake = tmp_path / "rocm/lib/cmake"
    for name, text in (
        ("hip", IMPORTED.format("hip::host")),
        ("hip-lang", IMPORTED.format("hip-lang::device") + IMPORTED.format("hip-lang::host")),
    ):
        (fake / name).mkdir(parents=True)
        (fake / name / f"{name}-config.cmake").write_text(text)
    flags = f"--rocm-path={toolchain.root} --rocm-device-lib-path={toolchain.device_libs} -isystem {toolchain.include}"
    commands = configure(
        tree(tmp_path / "tree", layout),
        tmp_path / "build",
        "-DUSE_ROCM=ON",
        f"-DCMAKE_PREFIX_PATH={tmp_path / 'rocm'}",
        f"-DCMAKE_HIP_COMPILER={toolchain.compiler}",
        f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={tmp_path / 'rocm'}",
        f"-DCMAKE_HIP_FLAGS={flags}",
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    )
    assert sorted(commands) == sorted([expected, "src/b.cpp"])
    hip = commands[expected]
    assert str(toolchain.compiler) in hip
    assert "--offload-arch=gfx942" in hip and "-fgpu-approx-transcendentals" in hip
    assert "--threads" not in hip and "--expt-relaxed-constexpr" not in hip
    assert str(toolchain.compiler) not in commands["src/b.cpp"]


def test_without_the_option_every_command_is_the_original_s(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    ported = tree(tmp_path / "ported", "both")
    original = tmp_path / "original"
    shutil.copytree(ported, original)
    (original / "CMakeLists.txt").write_text(LISTS)
    before = configure(original, tmp_path / "b1")
    after = configure(ported, tmp_path / "b2")
    assert {name: text.replace(str(original), "ROOT") for name, text in before.items()} == {
        name: text.replace(str(ported), "ROOT") for name, text in after.items()
    }

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
from rocport.toolchain import Toolchain, ToolchainError, find

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
SUBDIRECTORIES = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(demo CXX)\nadd_subdirectory(src)\n",
    "src/CMakeLists.txt": """\
enable_language(CUDA)
file(GLOB FOUND a*.cu)
set(ALL ${FOUND} b.cpp)
add_library(kernels STATIC ${ALL})
target_compile_options(kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-G -lineinfo -O1>)
target_compile_options(kernels PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--relocatable-device-code true>")
add_library(cuda_user STATIC c.cu)
target_link_libraries(cuda_user PRIVATE cuda)
add_subdirectory(deep)
""",
    "src/deep/CMakeLists.txt": "add_library(deep STATIC d.cu)\n",
}
KERNELS = ("src/a.cu", "src/c.cu", "src/deep/d.cu")
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


def configure_rocm(source: Path, folder: Path) -> tuple[Toolchain, dict[str, str]]:
    """The compiler, and file -> its compile command, of a tree configured with USE_ROCM."""
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {str(error).splitlines()[0]}")
    fake = folder / "rocm/lib/cmake"
    for name, text in (
        ("hip", IMPORTED.format("hip::host")),
        ("hip-lang", IMPORTED.format("hip-lang::device") + IMPORTED.format("hip-lang::host")),
    ):
        (fake / name).mkdir(parents=True)
        (fake / name / f"{name}-config.cmake").write_text(text)
    flags = f"--rocm-path={toolchain.root} --rocm-device-lib-path={toolchain.device_libs} -isystem {toolchain.include}"
    commands = configure(
        source,
        folder / "build",
        "-DUSE_ROCM=ON",
        f"-DCMAKE_PREFIX_PATH={folder / 'rocm'}",
        f"-DCMAKE_HIP_COMPILER={toolchain.compiler}",
        f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={folder / 'rocm'}",
        f"-DCMAKE_HIP_FLAGS={flags}",
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    )
    return toolchain, commands


@pytest.mark.parametrize(("layout", "expected"), [("hip", "src/a.cu"), ("both", "hip/src/a.hip")])
def test_hip_sources_are_compiled_as_hip(tmp_path: Path, layout: str, expected: str) -> None:
    toolchain, commands = configure_rocm(tree(tmp_path / "tree", layout), tmp_path)
    assert sorted(commands) == sorted([expected, "src/b.cpp"])
    hip = commands[expected]
    assert str(toolchain.compiler) in hip
    assert "--offload-arch=gfx942" in hip and "-fgpu-approx-transcendentals" in hip
    assert "--threads" not in hip and "--expt-relaxed-constexpr" not in hip
    assert str(toolchain.compiler) not in commands["src/b.cpp"]


def test_the_option_stands_before_a_project_that_is_the_first_command() -> None:
    context = Context(Options(layout="hip"), build_index(["CMakeLists.txt", "a.cu"], []))
    text = b"project(x LANGUAGES CXX CUDA)\nadd_library(a a.cu)\n"
    findings = scan_file("CMakeLists.txt", text, "cmake", context)
    assert isinstance(findings, list)
    made = port_other("CMakeLists.txt", text, "cmake", findings, Places.of({})).data
    assert made is not None
    assert made.index(b"option(USE_ROCM") < made.index(b"project(x LANGUAGES CXX HIP)")


def test_subdirectories_compile_their_sources_as_hip(tmp_path: Path) -> None:
    """No file here but one names CUDA: the folder above holds the option, the one below a source by name."""
    root = tmp_path / "tree"
    context = Context(Options(layout="hip"), build_index([*SUBDIRECTORIES, *KERNELS, "src/b.cpp"], []))
    for path in (*KERNELS, "src/b.cpp"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    for path, text in SUBDIRECTORIES.items():
        findings = scan_file(path, text.encode(), "cmake", context)
        assert isinstance(findings, list)
        ported = port_other(path, text.encode(), "cmake", findings, Places.of({}))
        assert ported.data is not None
        (root / path).write_bytes(ported.data)
    toolchain, commands = configure_rocm(root, tmp_path)
    assert sorted(commands) == sorted([*KERNELS, "src/b.cpp"])
    for path in KERNELS:
        assert str(toolchain.compiler) in commands[path] and "--offload-arch=gfx942" in commands[path]
    assert " -g " in commands["src/a.cu"] and " -O1 " in commands["src/a.cu"] and "-fgpu-rdc" in commands["src/a.cu"]
    assert not any(flag in commands["src/a.cu"] for flag in (" -G", "-lineinfo", "--relocatable-device-code"))
    assert "target_link_libraries(cuda_user PRIVATE hip::host)" in (root / "src/CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("add_library(cuda b.cpp)\ntarget_link_libraries(x PRIVATE cuda)\n", []),
        ("target_link_libraries(x PRIVATE cuda)\n", ["cuda/CMakeLists.txt"]),
        ("set(BACKEND cuda)\nlist(APPEND backends cuda)\n", []),
        ("target_link_libraries(cuda PRIVATE m)\n", []),
    ],
)
def test_a_plain_cuda_may_be_the_project_s_own(text: str, files: list[str]) -> None:
    context = Context(Options(layout="hip"), build_index(["CMakeLists.txt", *files], []))
    assert scan_file("CMakeLists.txt", text.encode(), "cmake", context) == []


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

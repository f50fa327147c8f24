"""The table of nvcc's flags against a real clang: what it leaves out is refused, what it puts in is taken."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.rules.build.common import NVCC_FLAG
from rocport.rules.build.nvcc import FAST_MATH, hip_flags, hip_library
from rocport.toolchain import Toolchain

REFUSED = (
    "--use_fast_math",
    "--expt-relaxed-constexpr",
    "--expt-extended-lambda",
    "--extended-lambda",
    "-restrict",
    "-extended-lambda",
    "--threads 4",
    "--threads=4",
    "-t=0",
    "-t4",
    "-Xptxas -v",
    "-Xptxas=-v",
    "--ptxas-options=-v",
    "-maxrregcount=64",
    "--maxrregcount 64",
    "-gencode arch=compute_80,code=sm_80",
    "-gencode=arch=compute_80,code=sm_80",
    "-arch=sm_80",
    "--gpu-architecture=sm_80",
    "-code=sm_80",
    "-Xfatbin -compress-all",
    "-Xcudafe --diag_suppress=20012",
    "-diag-suppress 20012",
    "--diag-suppress=20012",
    "-Xcompiler=-fPIC",
    "--compiler-options -fPIC",
    "-Xcompiler -O2,-fPIC",
    "-rdc=true",
    "--relocatable-device-code=false",
    "--fmad=false",
    "--ftz=true",
    "-prec-div=false",
    "--prec-sqrt=true",
    "--default-stream per-thread",
    "--default-stream=legacy",
    "-ccbin g++",
    "--split-compile 4",
    "-res-usage",
    "--resource-usage",
    "--generate-line-info",
    "--forward-unknown-to-host-compiler",
    "-allow-unsupported-compiler",
    "--compress-mode=size",
    "--disable-warnings",
    "--keep",
    "-G",
    "--device-debug",
    "--device-c",
    "-rdc true",
    "--relocatable-device-code true",
    "--fmad false",
)
TAKEN = (
    "-O3 -lineinfo -std=c++17",
    "-Xcompiler -fPIC",
    "-dc",
    "-U__CUDA_NO_HALF_OPERATORS__",
    "-DA=1 -w -g",
    "-Iinclude",
)


def accepts(toolchain: Toolchain, words: list[str], folder: Path) -> bool:
    source = folder / "k.hip"
    source.write_text("")
    command = [
        str(toolchain.compiler),
        "-x",
        "hip",
        "--offload-arch=gfx942",
        "-nogpulib",
        "-nogpuinc",
        "-nohipwrapperinc",
    ]
    done = subprocess.run([*command, "-fsyntax-only", *words, str(source)], capture_output=True, text=True, check=False)
    return done.returncode == 0


def translated(words: list[str]) -> list[str]:
    flags = hip_flags(words)
    assert flags is not None
    return [word for old, flag in zip(words, flags, strict=True) for word in ([old] if flag is None else flag)]


@pytest.mark.parametrize("flags", REFUSED)
def test_what_clang_refuses_is_replaced_by_what_it_takes(toolchain: Toolchain, flags: str, tmp_path: Path) -> None:
    words = flags.split()
    assert not accepts(toolchain, words, tmp_path)
    assert accepts(toolchain, ["-O2", *translated(words), "-DX=1"], tmp_path)


@pytest.mark.parametrize("flags", TAKEN)
def test_what_clang_takes_stays_possible(toolchain: Toolchain, flags: str, tmp_path: Path) -> None:
    words = flags.split()
    assert accepts(toolchain, words, tmp_path)
    assert accepts(toolchain, translated(words), tmp_path)


def test_fast_math_keeps_infinities() -> None:
    assert translated(["--use_fast_math"]) == list(FAST_MATH)
    assert not any("ffast-math" in flag or "finite" in flag for flag in FAST_MATH)


def test_a_value_that_stands_elsewhere_stops_the_translation() -> None:
    assert hip_flags(["-O3", "--threads"]) is None
    assert hip_flags(["-gencode"]) is None


def test_flags_that_mean_something_else_to_clang() -> None:
    """`-lineinfo` is the library `ineinfo`, `-dc` links."""
    assert translated(["-rdc=true", "-lineinfo", "-dc"]) == ["-fgpu-rdc", "-fgpu-rdc", "-c"]
    assert translated(["-rdc", "true", "-fmad", "false"]) == ["-fgpu-rdc", "-ffp-contract=off"]
    assert hip_flags(["-rdc"]) is None


def test_cmake_s_generator_stays() -> None:
    assert hip_flags(["cmake", "-G", "Ninja"]) == [None, None, None]
    assert hip_flags(["$(CMAKE)", "-G", "Ninja"]) == [None, None, None]


def test_apple_s_arch_stays() -> None:
    assert hip_flags(["-arch", "arm64"]) == [None, None]
    assert hip_flags(["-arch", "sm_80"]) == [(), ()]


def test_unknown_text_in_a_flag() -> None:
    assert hip_flags(["-gencode=arch=compute_{},code=sm_{}", "--threads={}"]) == [(), ()]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("cublas", "hipblas"),
        ("-lcublasLt", "-lhipblaslt"),
        ("libcurand.so", None),
        ("-lcudadevrt", ""),
        ("-lm", None),
        ("cudart_static", "amdhip64"),
        ("-lcusparse", "-lhipsparse"),
    ],
)
def test_libraries(word: str, expected: str | None) -> None:
    assert hip_library(word) == expected


def test_every_refused_flag_is_found() -> None:
    left = {"-t4", "-code=sm_80", "--disable-warnings", "--keep", "--compress-mode=size", "--prec-sqrt=true"}
    for flags in REFUSED:
        # `-G` is cmake's too: the rules over CMake and Makefiles find it where it is nvcc's.
        if flags not in {*left, "-G"} and " " not in flags:
            assert NVCC_FLAG.search(f" {flags}") or "=sm_" in flags, flags

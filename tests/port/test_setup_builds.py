"""setup.py of a small package under a simulated ROCm and CUDA torch, before and after the port for both platforms.

The machine is simulated (tests/simulated): torch is the CPU build, compilers note what they are asked to do. torch's
own hipify and build run for real, and a real clang judges the flags of hipcc.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocport.toolchain import ToolchainError, find

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated"))
from machine import Build, Machine

SETUP = """\
import glob
import os
import subprocess

import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CUDAExtension

HERE = os.path.dirname(os.path.abspath(__file__))


def nvcc_version(home):
    text = subprocess.check_output([home + "/bin/nvcc", "-V"], text=True)
    return text.split("release ")[1].split(",")[0]


if CUDA_HOME is None:
    raise RuntimeError("a CUDA toolkit is needed")

nvcc_version = nvcc_version(CUDA_HOME)
flags = ["-O2", "--use_fast_math", "-diag-suppress", "20012", "-U__CUDA_NO_HALF_OPERATORS__"]
flags.append("-gencode")
flags.append("arch=compute_80,code=sm_80")
if float(nvcc_version) >= 11.8:
    flags += ["--threads", "4"]

setup(
    name="demo",
    version="1.0",
    install_requires=["numpy", "cupy-cuda12x"],
    ext_modules=[
        CUDAExtension(
            "demo._C",
            sources=glob.glob("csrc/*.cu") + ["csrc/bind.cpp"],
            include_dirs=[os.path.join(HERE, "csrc"), os.path.join(CUDA_HOME, "include")],
            libraries=["cublas"],
            extra_compile_args={"cxx": ["-O2"], "nvcc": flags},
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
"""
KERNEL = """\
#include "scale.h"
#include <cuda_runtime.h>
#include <torch/extension.h>
__global__ void k(float *p, float f) { p[threadIdx.x] *= f; }
void scale(float *p, float f, cudaStream_t s) { k<<<1, 32, 0, s>>>(p, f); }
"""
HEADER = "#pragma once\n#include <cuda_runtime.h>\nvoid scale(float *p, float f, cudaStream_t s);\n"
BIND = '#include "scale.h"\n#include <torch/extension.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n'


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("setuptools") is None:
        pytest.skip("torch and setuptools are needed")
    if shutil.which("ninja") is None:
        pytest.skip("ninja is needed")
    folder = tmp_path_factory.mktemp("trees")
    original = folder / "original"
    (original / "csrc").mkdir(parents=True)
    for name, text in (("scale.cu", KERNEL), ("scale.h", HEADER), ("bind.cpp", BIND)):
        (original / "csrc" / name).write_text(text)
    (original / "setup.py").write_text(SETUP)
    command = [
        sys.executable,
        "-m",
        "rocport",
        "port",
        str(original),
        "--layout",
        "both",
        "--out",
        str(folder / "ported"),
    ]
    subprocess.run(command, check=False, capture_output=True)
    return {"original": original, "ported": folder / "ported"}


def build(tree: Path, folder: Path, platform: str) -> Build:
    try:
        clang = find().compiler
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {str(error).splitlines()[0]}")
    shutil.copytree(tree, folder / "tree")
    return Machine(folder / "machine", platform, clang).build(folder / "tree")


def test_the_original_does_not_configure_on_rocm(trees: dict[str, Path], tmp_path: Path) -> None:
    assert "a CUDA toolkit is needed" in build(trees["original"], tmp_path, "rocm").error()


def test_the_port_compiles_its_translations_on_rocm(trees: dict[str, Path], tmp_path: Path) -> None:
    done = build(trees["ported"], tmp_path, "rocm")
    assert done.code == 0, done.output
    (command,) = done.compiled("hipcc")
    assert str(tmp_path / "tree/hip/csrc/scale.hip") in command, "torch's hipify has left our source alone"
    assert "-fgpu-approx-transcendentals" in command and "-U__HIP_NO_HALF_OPERATORS__" in command
    assert not any("sm_80" in word or "20012" in word or word == "--threads" for word in command)
    assert f"-I{tmp_path / 'tree/hip/csrc'}" in command
    (host,) = done.compiled("c++")
    assert str(tmp_path / "tree/hip/csrc/bind.cpp") in host
    assert done.setup is not None
    assert done.setup["install_requires"] == ["numpy"]
    assert done.setup["ext_modules"][0]["libraries"][0] == "hipblas"
    assert not list((tmp_path / "tree/hip").rglob("*_hip.*")), "no second translation beside ours"


def test_the_port_is_the_original_on_cuda(trees: dict[str, Path], tmp_path: Path) -> None:
    found = []
    for name in ("original", "ported"):
        (tmp_path / name).mkdir()
        done = build(trees[name], tmp_path / name, "cuda")
        assert done.code == 0, done.output
        assert len(done.compiled("nvcc")) == 1
        found.append(str(done.comparable()).replace(str(tmp_path / name), "RUN"))
    assert found[0] == found[1]

"""The headers a ROCm wheel of PyTorch has, made from the wheel at hand.

A CPU or CUDA wheel ships ATen/cuda and c10/cuda. The ROCm side (ATen/hip, c10/hip, and torch/csrc edited in place) is
what PyTorch's own build makes of them with torch.utils.hipify; that module is in every wheel, so it is run here over a
copy, once for each wheel, in a child process. torch itself is never imported.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rocport.model import HANGING_S

_STAGE_VERSION = "1"
# What PyTorch's CMake writes and a wheel for another platform does not have. No cuDNN (MIOpen) and no MAGMA: code that
# tests for them takes the branch of a build without.
_GENERATED = {
    "aten/src/ATen/hip/HIPConfig.h": (
        "#pragma once\n#define AT_CUDNN_ENABLED() 0\n#define AT_ROCM_ENABLED() 1\n#define AT_MAGMA_ENABLED() 0\n"
        '#define NVCC_FLAGS_EXTRA ""\n'
    ),
    # ATen/jit_macros.h names it in every build, and PyTorch's CMake writes it for ROCm, too.
    "aten/src/ATen/cuda/CUDAConfig.h": (
        "#pragma once\n#define AT_CUDNN_ENABLED() 0\n#define AT_CUSPARSELT_ENABLED() 0\n#define AT_ROCM_ENABLED() 1\n"
        '#define AT_MAGMA_ENABLED() 0\n#define NVCC_FLAGS_EXTRA ""\n'
    ),
    "c10/hip/impl/hip_cmake_macros.h": "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n",
}
_SCRIPT = """
import sys
utils, stage = sys.argv[1:]
sys.path.insert(0, utils)
from hipify import hipify_python
names = ("aten/src/ATen/cuda/*", "aten/src/ATen/native/cuda/*", "c10/cuda/*", "torch/*")
hipify_python.hipify(
    project_directory=stage,
    output_directory=stage,
    includes=[f"{stage}/{name}" for name in names],
    ignores=[f"{stage}/*/hip/*"],
    show_progress=False,
    hip_clang_launch=True,
)
"""


class TorchHeadersError(Exception):
    """The ROCm side of the PyTorch headers cannot be made; the message says why."""


@dataclass(frozen=True)
class TorchHeaders:
    """How a PyTorch extension is compiled for ROCm: what torch.utils.cpp_extension would pass to hipcc."""

    version: str
    includes: tuple[Path, ...]
    defines: tuple[str, ...]
    host_defines: tuple[str, ...]
    """For sources that are not compiled as HIP."""
    std: str


def find_torch() -> Path | None:
    """The folder of the installed torch package, without importing it."""
    spec = importlib.util.find_spec("torch")
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return next((folder for folder in folders if (folder / "include" / "ATen").is_dir()), None)


def _of_python() -> tuple[str, ...]:
    """What Python's own flags, which setuptools gives the host compiler, define: no assert is compiled."""
    return ("NDEBUG",) if "-DNDEBUG" in str(sysconfig.get_config_var("CFLAGS")).split() else ()


def python_include() -> Path | None:
    """The folder of Python.h; None where the development files are not installed."""
    folder = Path(sysconfig.get_path("include"))
    return folder if (folder / "Python.h").exists() else None


def torch_headers(torch: Path, cache: Path) -> TorchHeaders:
    """Stage the headers of the wheel at `torch` below `cache`, or find them there. Raises TorchHeadersError."""
    try:
        version = _version(torch)
        key = hashlib.sha256(f"{_STAGE_VERSION}\0{torch}\0{version}\0{_SCRIPT}{_GENERATED}".encode()).hexdigest()[:16]
        stage = cache / "torch-headers" / f"{version}-{key}"
        if (torch / "include" / "ATen" / "hip" / "HIPContext.h").exists():
            stage = torch / "include"
            roots = [stage, stage / "torch" / "csrc" / "api" / "include"]
        else:
            if not stage.exists():
                _stage(torch, stage)
            roots = [stage / "aten" / "src", stage, stage / "torch" / "csrc" / "api" / "include", torch / "include"]
        common, hipcc = _flags(torch)
    except (OSError, SyntaxError, subprocess.SubprocessError) as error:
        raise TorchHeadersError(f"cannot make the ROCm side of the PyTorch headers in {torch}: {error}") from error
    extension = ("TORCH_API_INCLUDE_EXTENSION_H", "TORCH_EXTENSION_NAME=rocport_verify")
    return TorchHeaders(
        version=version,
        includes=(*roots, *filter(None, [python_include()])),
        defines=(*common, *hipcc, *extension),
        host_defines=(*common, *extension, *_of_python()),
        std=_standard(torch),
    )


def _stage(torch: Path, stage: Path) -> None:
    """Copy the headers into the layout of PyTorch's sources, hipify them, and put the folder in place in one step."""
    stage.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".stage-", dir=stage.parent))
    try:
        root = scratch / "root"
        include = torch / "include"
        for source, target in (("ATen", "aten/src/ATen"), ("c10", "c10"), ("torch", "torch")):
            shutil.copytree(include / source, root / target)
        command = [sys.executable, "-c", _SCRIPT, str(torch / "utils"), str(root)]
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, errors="replace", timeout=HANGING_S, check=False
        )
        if done.returncode != 0:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise TorchHeadersError(f"torch.utils.hipify failed on the wheel's own headers: {last}")
        for name, text in _GENERATED.items():
            path = root / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        try:
            os.rename(root, stage)
        except OSError:
            if not stage.exists():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _version(torch: Path) -> str:
    match = re.search(r"__version__ = '([^']+)'", (torch / "version.py").read_text())
    return match[1] if match else "unknown"


def _standard(torch: Path) -> str:
    """The C++ standard cpp_extension adds where an extension names none."""
    found = re.findall(r"'-std=(c\+\+\d\d)'", (torch / "utils" / "cpp_extension.py").read_text())
    return found[-1] if found else "c++17"


def _flags(torch: Path) -> tuple[list[str], list[str]]:
    """The macros of COMMON_HIP_FLAGS and COMMON_HIPCC_FLAGS in torch.utils.cpp_extension."""
    tree = ast.parse((torch / "utils" / "cpp_extension.py").read_text())
    found: dict[str, list[str]] = {"COMMON_HIP_FLAGS": [], "COMMON_HIPCC_FLAGS": []}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in found:
                    values = [item.value for item in node.value.elts if isinstance(item, ast.Constant)]
                    found[target.id] = [str(value)[2:] for value in values if str(value).startswith("-D")]
    return found["COMMON_HIP_FLAGS"], found["COMMON_HIPCC_FLAGS"]

"""A generated header reaches plain C++ sources through common ones: each must compile there, alone and in any order."""

from __future__ import annotations

import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest

from rocport.port import headers
from rocport.toolchain import Toolchain

# What stands for PyTorch's own headers needs PyTorch's.
NAMES = tuple(
    sorted(
        p.name
        for p in resources.files(headers).iterdir()
        if p.name.startswith("rocport_") and p.name != "rocport_thc.h"
    )
)
STANDARDS = ("c++14", "c++17", "c++20", "c++23")


def _errors(compiler: str, standard: str, toolchain: Toolchain, folder: Path, text: str) -> str:
    unit = folder / "unit.cpp"
    unit.write_text(text)
    root = Path(headers.__file__).parent
    command = [compiler, f"-std={standard}", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__", f"-I{root}"]
    done = subprocess.run(
        [*command, "-isystem", str(toolchain.include), str(unit)], capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def _compilers(toolchain: Toolchain) -> list[str]:
    return [tool for tool in (shutil.which("g++"), str(toolchain.compiler)) if tool]


@pytest.mark.parametrize("standard", STANDARDS)
def test_all_together_in_both_orders(toolchain: Toolchain, tmp_path: Path, standard: str) -> None:
    """Each compiler reads both orders, each standard is read in both and by both compilers."""
    for number, compiler in enumerate(_compilers(toolchain), STANDARDS.index(standard)):
        text = "".join(f'#include "{name}"\n' for name in (NAMES[::-1] if number % 2 else NAMES))
        assert _errors(compiler, standard, toolchain, tmp_path, text + "int main() {}\n") == ""


@pytest.mark.parametrize("name", NAMES)
def test_alone(toolchain: Toolchain, tmp_path: Path, name: str) -> None:
    """Twice, in two ways: a header that leans on another's include, or has no guard, fails."""
    for compiler in _compilers(toolchain):
        text = f'#include "{name}"\n#include "{name}"\nint main() {{}}\n'
        assert _errors(compiler, "c++14", toolchain, tmp_path, text) == ""


def test_a_template_that_calls_a_device_function_is_read(toolchain: Toolchain, tmp_path: Path) -> None:
    """As on CUDA: only its instantiation would need the function, and there is none on the host."""
    text = (
        '#include "rocport_warp.h"\n#include "rocport_compat.h"\n'
        "template <class T> __device__ T f(const T* p) { return rocport::shfl_sync(~0u, rocport::ldcs(p), 0); }\n"
        "int main() { return rocport::warp_size - 32; }\n"
    )
    for compiler in _compilers(toolchain):
        assert _errors(compiler, "c++14", toolchain, tmp_path, text) == ""
        assert "nothing_of_the_kind" in _errors(
            compiler, "c++14", toolchain, tmp_path, text.replace("ldcs", "nothing_of_the_kind")
        )


def test_bfloat16_works_in_a_host_source(toolchain: Toolchain, tmp_path: Path) -> None:
    """hip/hip_bf16.h of HIP 6 names the GPU's builtins in any compilation."""
    text = (
        '#include "rocport_bf16.h"\n'
        "float f(float x) { return __bfloat162float(__float2bfloat16(x)) + float(__hip_bfloat16(x)); }\n"
    )
    for compiler in _compilers(toolchain):
        assert _errors(compiler, "c++17", toolchain, tmp_path, text) == ""

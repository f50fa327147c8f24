"""Builds the lane simulator and its harnesses with the host's C++ compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SIMULATOR = HERE / "lane_simulator"
HEADERS = HERE.parents[1] / "src" / "rocport" / "port" / "headers"


def build(harness: str, folder: Path, includes: tuple[Path, ...] = ()) -> ctypes.CDLL:
    """The shared library of `harness`, a file of the simulator or a path; a skip where there is no host compiler.

    Without optimization: a host compiler does not know that a wavefront operation must not be copied into branches.
    """
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no host C++ compiler (g++ or clang++) to build the lane simulator with")
    library = folder / f"{Path(harness).stem}.so"
    command = [compiler, "-std=c++17", "-O0", "-w", "-fPIC", "-shared", f"-I{SIMULATOR}", f"-I{HEADERS}"]
    command += [f"-I{include}" for include in includes]
    command += [str(SIMULATOR / "lanes.cpp"), str(SIMULATOR / harness), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))

# SPDX-License-Identifier: Apache-2.0
"""A project's own build system under `rocport exec`: Make, and CMake with HIP as a language."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.isa.runtime.hipcc import hipcc_command
from rocport.executor.isa.runtime.tree import exec_environment, rocm_tree
from rocport.model import HANGING_S
from rocport.toolchain import Toolchain

PROJECT = Path(__file__).parent / "project"


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    # A make around the tests must not be a make around the project's.
    env = {name: value for name, value in environment.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=HANGING_S, check=False)


@pytest.fixture
def tree(toolchain: Toolchain) -> Path:
    refusal = IsaExecutor().probe().refusal
    if refusal:
        pytest.skip(refusal)
    return rocm_tree(toolchain)


def _needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"no {program} on this machine")


def test_make_builds_and_runs_for_the_target_and_says_so(tree: Path, tmp_path: Path) -> None:
    _needs("make")
    shutil.copytree(PROJECT, tmp_path / "p")
    done = _run(["make", "test"], tmp_path / "p", exec_environment(tree, "gfx942"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("./main\ngfx942 12\n")
    assert "built for gfx942 (--target), where the command line names gfx906" in done.stderr


def test_cmake_builds_hip_as_a_language(tree: Path, tmp_path: Path) -> None:
    _needs("cmake")
    _needs("ninja")
    environment = exec_environment(tree, "gfx1100")
    configured = _run(["cmake", "-G", "Ninja", "-S", str(PROJECT), "-B", str(tmp_path)], tmp_path, environment)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = _run(["cmake", "--build", str(tmp_path)], tmp_path, environment)
    assert built.returncode == 0, built.stdout + built.stderr
    assert _run(["./main"], tmp_path, environment).stdout == "gfx1100 12\n"


@pytest.mark.parametrize(
    ("words", "holds", "lacks"),
    [
        (["-c", "a.cpp", "-o", "a.o"], ["-x", "hip", "a.cpp", "--offload-arch=gfx942", "-O3"], ["-lamdhip64"]),
        (["a.o", "-o", "a"], ["-lamdhip64", "-fuse-ld=lld"], ["-x", "--offload-arch=gfx942"]),
        (["a.hip", "b.o", "-O1", "-o", "a"], ["-x", "none", "b.o", "-O1", "--hip-link"], ["-O3"]),
        (["--offload-arch=gfx90a", "--offload-arch=gfx1100", "-c", "a.hip"],
         ["--offload-arch=gfx90a", "--offload-arch=gfx1100"], ["--offload-arch=gfx942"]),
        (["-x", "c", "-c", "a.c"], ["-x", "c", "a.c"], ["hip"]),
        (["--genco", "a.hip", "-o", "a.co"], ["--offload-device-only"], ["-lamdhip64", "--genco"]),
        (["--version"], ["--version"], ["-O3", "-lamdhip64"]),
    ],
)  # fmt: skip
def test_hipcc_adds_what_hipcc_adds(toolchain: Toolchain, words: list[str], holds: list[str], lacks: list[str]) -> None:
    command = hipcc_command(words, toolchain, Path("/libraries"), {}).words
    assert [word for word in holds if word not in command] == []
    assert [word for word in lacks if word in command] == []

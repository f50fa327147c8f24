"""A ported Makefile, asked by make itself what it would run: hipcc with USE_ROCM=1, and what it ran before without."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rocport.model import Context, Options
from rocport.port.engine import port_other
from rocport.port.places import Places
from rocport.scan.engine import scan_file
from rocport.syntax.project import build_index

MAKEFILE = """\
# demo
CUDA_HOME ?= /usr/local/cuda
NVCC = $(CUDA_HOME)/bin/nvcc
NVCCFLAGS = -O3 -arch=sm_80 --use_fast_math -Xcompiler -fPIC \\
    -gencode arch=compute_90,code=sm_90
LDFLAGS = -L$(CUDA_HOME)/lib64 -lcublas -lcudart

demo: demo.cu
\t$(NVCC) $(NVCCFLAGS) -o $@ demo.cu $(LDFLAGS)

old: demo.cu
\tnvcc -arch=sm_70 -o old demo.cu -lcurand
"""


def ported(text: str, layout: str = "hip") -> str:
    context = Context(Options(layout=layout), build_index(["Makefile", "demo.cu"], []))
    findings = scan_file("Makefile", text.encode(), "make", context)
    assert isinstance(findings, list)
    done = port_other("Makefile", text.encode(), "make", findings, Places.of({}))
    return (done.data or text.encode()).decode()


def dry_run(folder: Path, text: str, *arguments: str) -> str:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    folder.mkdir(exist_ok=True)
    (folder / "Makefile").write_text(text)
    (folder / "demo.cu").touch()
    # The tests may be run by make themselves: what it hands on is not this Makefile's.
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-n", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=outer)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("target", ["demo", "old"])
def test_without_rocm_the_same_commands_run(tmp_path: Path, target: str) -> None:
    assert dry_run(tmp_path, ported(MAKEFILE, "both"), target) == dry_run(tmp_path, MAKEFILE, target)


def test_with_rocm_hipcc_runs(tmp_path: Path) -> None:
    command = dry_run(tmp_path, ported(MAKEFILE), "demo", "USE_ROCM=1", "GPU_TARGETS=gfx942 gfx1100")
    words = command.split()
    assert words[0] == "hipcc"
    assert "--offload-arch=gfx942" in words and "--offload-arch=gfx1100" in words
    assert "-lhipblas" in words and "-fPIC" in words
    assert not any("sm_" in word or "cublas" in word or word == "-Xcompiler" for word in words)


def test_in_a_tree_for_both_the_translation_is_compiled(tmp_path: Path) -> None:
    text = ported(MAKEFILE, "both")
    assert "hip/demo.hip" in dry_run(tmp_path, text, "old", "USE_ROCM=1")
    assert dry_run(tmp_path, text, "old") == dry_run(tmp_path, MAKEFILE, "old")


def test_line_endings_and_a_missing_last_newline_are_kept() -> None:
    text = "A = 1\r\nNVCC = nvcc\r\nall:\r\n\tnvcc -arch=sm_80 a.cu"
    out = ported(text)
    assert out.count("\n") == out.count("\r\n")
    assert out.endswith("nvcc -arch=sm_80 a.cu\r\nendif")


def test_a_tree_for_rocm_builds_for_it_by_default(tmp_path: Path) -> None:
    """A benchmark's Makefile: the compiler on its first line, the target in a variable."""
    text = "CC = nvcc\nARCH = sm_60\nall:\n\t$(CC) -Xcompiler -Wall -arch=$(ARCH) -c a.cu\n"
    done = dry_run(tmp_path, ported(text), "all")
    assert "hipcc -Wall --offload-arch=" in done
    assert "sm_60" not in done


def test_flags_that_mean_something_else_to_clang(tmp_path: Path) -> None:
    """`-lineinfo` would link a library `ineinfo`, `-dc` would link, `-G` is refused; cmake's `-G` is its own."""
    text = (
        "CC = nvcc\nFLAGS = -O2 -lineinfo\nDEBUG = -G\nSEPARATE = --relocatable-device-code true --maxrregcount 64\n"
        "all:\n\t$(CC) $(FLAGS) $(DEBUG) $(SEPARATE) -dc a.cu\n\tcmake -G Ninja ..\n"
    )
    lines = dry_run(tmp_path, ported(text), "all").splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "hipcc -O2 -g -fgpu-rdc -fgpu-rdc -c a.cu",
        "cmake -G Ninja ..",
    ]


def test_a_value_right_behind_the_sign_is_translated() -> None:
    text = "CUFLAGS+=-allow-unsupported-compiler # for CUDA 13\nLDFLAGS+=-lcudart\nFLAGS=-arch=sm_80\n"
    rocm, _, cuda = ported(text).partition("else\n")
    assert "CUFLAGS+= # for CUDA 13\n" in rocm or "CUFLAGS+=# for CUDA 13\n" in rocm
    assert "LDFLAGS+=-lamdhip64\n" in rocm and "FLAGS=$(foreach arch," in rocm
    assert text in cuda

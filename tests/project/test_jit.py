"""What a program that builds its extension when it runs says of sources and macros."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocport.project.jit import Loaded, python_loads
from rocport.project.tree import read_project

MODEL = """
import os
from torch.utils.cpp_extension import load
HEAD = int(os.environ["HEAD"])
CHUNK = 16
flags = ["-O3", f"-D_C_={CHUNK}", f"-D_N_={HEAD}", "-DT=" + str(HEAD)]
flags += ["-DFAST"]
load(name="op", sources=["cuda/op.cpp", f"cuda/op{'_v' + version}.cu"], extra_cuda_cflags=flags)
load(name="other", sources=["cuda/other.cu"], extra_cflags=["-DOTHER=%d" % HEAD, "-D W=2"])
config.load(path)
"""


def test_macros_and_sources_of_each_call() -> None:
    first, second = python_loads(MODEL)
    assert first == Loaded(("cuda/op.cpp", "cuda/op_v*.cu"), ("_C_=16", "FAST"), ("_N_", "T"))
    assert second == Loaded(("cuda/other.cu",), ("W=2",), ("OTHER",))


def test_a_file_that_does_not_parse_has_none() -> None:
    assert python_loads("print 'x'\n") == []


def test_a_call_counts_for_its_sources_only(tmp_path: Path) -> None:
    """RWKV's model.py stands in src/, its program runs in the folder above, where cuda/ is."""
    for name in ("src", "cuda"):
        (tmp_path / "run" / name).mkdir(parents=True)
    (tmp_path / "run/src/model.py").write_text(MODEL.replace("import load", "import load  # cpp_extension"))
    for name in ("op.cpp", "op_v6.cu", "other.cu"):
        (tmp_path / "run/cuda" / name).write_text("#include <hip/hip_runtime.h>\n")
    units = {unit.path: unit for unit in read_project(tmp_path).units()}
    assert units["run/cuda/op_v6.cu"].defines == ("_C_=16", "FAST")
    assert units["run/cuda/op_v6.cu"].computed == ("_N_ (run/src/model.py)", "T (run/src/model.py)")
    assert units["run/cuda/other.cu"].defines == ("W=2",)
    assert units["run/cuda/other.cu"].computed == ("OTHER (run/src/model.py)",)


def test_names_that_stand_in_themselves_and_in_each_other_are_read_once() -> None:
    """Each level multiplied the one before: 60 to the 8th."""
    lists = "".join(f"s{at} = [{', '.join([f's{at}', f's{at + 1}'] * 30)}]\n" for at in range(8))
    texts = "".join(f't{at} = f"{f"{{t{at + 1}}}" * 60}"\n' for at in range(8))
    call = "load('x', ['a.cu'], extra_cflags=[*s0, f'-DT={t0}', '-DLAST'])\n"
    (found,) = python_loads(f"{lists}{texts}s1 += ['-DIN_S']\n{call}")
    assert (found.defines, found.computed) == (("IN_S", "LAST"), ("T",))


@pytest.fixture
def python_follows_1000() -> Iterator[None]:
    """Python's own limit, which a library that an earlier test imported may have moved."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("python_follows_1000")
def test_a_sum_deeper_than_python_follows_has_none() -> None:
    assert python_loads(f"load('x', ['a' + {' + '.join(['b'] * 2000)}])\n") == []


def test_sources_beside_the_folder_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "py").mkdir()
    (tmp_path / "csrc").mkdir()
    (tmp_path / "py/run.py").write_text(
        "from torch.utils.cpp_extension import load\nload('x', ['../csrc/k.cu'], extra_cuda_cflags=['-DN=4'])\n"
    )
    (tmp_path / "csrc/k.cu").write_text("__global__ void k() {}\n")
    (unit,) = read_project(tmp_path).units()
    assert unit.defines == ("N=4",)

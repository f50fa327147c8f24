"""rocport_barrier.h: a CUDA program with libcu++'s barriers and pipelines, ported, on both executors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport import api
from rocport.executor.base import BuildOptions, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import load_program
from rocport.model import Applicability
from rocport.toolchain import ToolchainError, find

PROGRAM = Path(__file__).parent / "barrier" / "objects.cu"


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("barrier")
    (folder / "cuda").mkdir()
    (folder / "cuda" / "objects.cu").write_bytes(PROGRAM.read_bytes())
    patch = api.port(folder / "cuda")
    assert not [item for item in patch.findings if item.applicability is Applicability.MANUAL]
    api.apply(patch, folder / "hip")
    return folder / "hip" / "objects.cu"


def test_phases_copies_and_stages_are_what_cuda_promises(ported: Path) -> None:
    executor = CpuExecutor()
    capability = executor.probe()
    if not capability.usable:
        pytest.skip(capability.refusal)
    (ported.parent / "build").mkdir()
    executable = executor.build(load_program(ported), ported.parent / "build", BuildOptions(optimize="-O1"))
    for width in (32, 64):
        for order in ("forward", "reverse"):
            result = executor.run(executable, (), ported.parent, RunOptions(width=width, order=order))
            assert result.ok and "PASS" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("gfx", ["gfx942", "gfx1100"])
def test_it_compiles_for_amd_gpus(ported: Path, gfx: str, tmp_path: Path) -> None:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(str(error))
    command = toolchain.compile_command(
        ported, gfx, mode="device", output=tmp_path / "a.o", optimize="-O1", extra=["-w", "-std=c++17"]
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr

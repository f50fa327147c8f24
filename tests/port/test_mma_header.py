"""Tensor-core code, ported: the results of plain loops at both widths, and code for AMD GPUs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.executor.base import BuildOptions, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.limits import Limits
from rocport.executor.program import load_program
from rocport.model import Applicability, Context, Finding
from rocport.port import headers
from rocport.port.engine import port_file
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of
from rocport.toolchain import ToolchainError, find

PROGRAMS = Path(__file__).parent / "mma"


def ported(folder: Path, name: str) -> tuple[Path, list[Finding]]:
    """The program ported into a folder, with the headers it needs; and the findings."""
    found: list[Finding] = []
    wanted = {"rocport_mma.h"}
    for path in (f"{name}.cu", "check.h"):
        data = (PROGRAMS / path).read_bytes()
        findings = scan_cuda(path, data, Context(project=build_index([path], [names_of(data)])))
        found += findings
        result = port_file(path, data, findings)
        wanted.update(header for item in findings for header in item.headers if header.startswith("rocport_"))
        (folder / path.replace(".cu", ".hip")).write_bytes(result.data if result.data is not None else data)
    for header in headers.closure(frozenset(wanted)):
        (folder / header).write_bytes(headers.read(header))
    return folder / f"{name}.hip", found


@pytest.mark.parametrize("name", ["ptx", "wmma"])
def test_matrix_instructions_give_what_plain_loops_give(name: str, tmp_path: Path) -> None:
    executor = CpuExecutor()
    capability = executor.probe()
    if not capability.usable:
        pytest.skip(capability.refusal)
    program, findings = ported(tmp_path, name)
    assert not [item for item in findings if item.applicability is Applicability.MANUAL]
    executable = executor.build(load_program(program), tmp_path / "build", BuildOptions(optimize="-O1"))
    for width in (32, 64):
        result = executor.run(executable, (), tmp_path, RunOptions(width=width, limits=Limits(seconds=3600)))
        assert result.ok and result.stdout.strip() == "PASS", result.stdout + result.stderr


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", ["ptx", "wmma"])
def test_the_port_compiles_for_amd_gpus(name: str, target: str, tmp_path: Path) -> None:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    program, _ = ported(tmp_path, name)
    command = toolchain.compile_command(
        program, target, mode="device", output=tmp_path / "a.o", optimize="-O1", extra=["-w"]
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-4000:]


def test_the_cost_is_said(tmp_path: Path) -> None:
    _, findings = ported(tmp_path, "ptx")
    costs = [item.message for item in findings if "m16n8k16" in item.message]
    assert costs and all("32 shuffles and 64 multiply-adds on every lane" in message for message in costs)

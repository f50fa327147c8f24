"""Tensor-core code, ported: the results of plain loops at both widths, and code for AMD GPUs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.model import Applicability, Context, Finding
from rocport.port import headers
from rocport.port.engine import port_file
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

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
def test_matrix_instructions_give_what_plain_loops_give(
    name: str, tmp_path: Path, outputs: Callable[..., list[str]]
) -> None:
    program, findings = ported(tmp_path, name)
    assert not [item for item in findings if item.applicability is Applicability.MANUAL]
    assert outputs(program) == ["PASS", "PASS"]


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", ["ptx", "wmma"])
def test_the_port_compiles_for_amd_gpus(name: str, target: str, tmp_path: Path, compiles: Callable[..., Path]) -> None:
    compiles(ported(tmp_path, name)[0], target)


def test_the_cost_is_said(tmp_path: Path) -> None:
    _, findings = ported(tmp_path, "ptx")
    costs = [item.message for item in findings if "m16n8k16" in item.message]
    assert costs and all("32 shuffles and 64 multiply-adds on every lane" in message for message in costs)

"""CUDA programs whose lanes meet from different branches: as they are they fail on wavefronts, ported they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.executor.base import BuildOptions, RunOptions, RunResult
from rocport.executor.cpu import CpuExecutor
from rocport.executor.limits import Limits
from rocport.executor.program import load_program
from rocport.model import Applicability, Context, Finding
from rocport.port.engine import port_file
from rocport.port.headers import closure, read
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

PROGRAMS = Path(__file__).parent / "programs"
RULES = ("divergent-barrier", "divergent-warp-operation", "warp-spinlock")


def _port(folder: Path, name: str, leave: tuple[str, ...] = ()) -> tuple[Path, list[Finding]]:
    """The ported program in a folder, findings of the rules in `leave` not applied; and the findings."""
    found: list[Finding] = []
    for path in (f"{name}.cu", "check.h"):
        data = (PROGRAMS / path).read_bytes()
        findings = scan_cuda(path, data, Context(project=build_index([path], [names_of(data)])))
        found += findings
        ported = port_file(path, data, [item for item in findings if item.rule not in leave])
        text = ported.data if ported.data is not None else data
        (folder / path.replace(".cu", ".hip")).write_bytes(text)
    for header in closure(frozenset({"rocport_warp.h", "rocport_cg.h", "rocport_platform.h", "rocport_compat.h"})):
        (folder / header).write_bytes(read(header))
    return folder / f"{name}.hip", found


def _runs(executor: CpuExecutor, program: Path, folder: Path) -> list[RunResult]:
    executable = executor.build(load_program(program), folder / "build", BuildOptions(optimize="-O1"))
    return [
        executor.run(executable, (), folder, RunOptions(width=width, order=order, limits=Limits(seconds=3600)))
        for width in (32, 64)
        for order in ("forward", "reverse", "5")
    ]


@pytest.mark.parametrize("name", sorted(path.stem for path in PROGRAMS.glob("*.cu")))
def test_the_port_is_right_in_every_order_at_both_widths(name: str, executor: CpuExecutor, tmp_path: Path) -> None:
    program, _ = _port(tmp_path, name)
    for result in _runs(executor, program, tmp_path):
        assert result.ok and "PASS" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("name", ["warp_roles", "lane_roles"])
def test_without_the_change_it_fails_where_a_wavefront_does(name: str, executor: CpuExecutor, tmp_path: Path) -> None:
    program, findings = _port(tmp_path, name, leave=RULES)
    assert [item for item in findings if item.rule in RULES and item.applicability is Applicability.REVIEW]
    results = _runs(executor, program, tmp_path)
    assert [item for item in results if not (item.ok and "PASS" in item.stdout)], "no run shows the fault"


@pytest.mark.parametrize("name", ["lock_while", "lock_methods"])
def test_a_lock_of_lanes_is_found_and_changed(name: str, tmp_path: Path) -> None:
    program, findings = _port(tmp_path, name)
    assert [item for item in findings if item.rule == "warp-spinlock" and item.applicability is Applicability.REVIEW]
    assert "rocport::lane_turns" in program.read_text()


def test_work_in_the_branch_that_took_the_lock_stays_in_its_loop(tmp_path: Path) -> None:
    program, findings = _port(tmp_path, "lock_inside")
    assert [item.applicability for item in findings if item.rule in RULES] == [Applicability.SAFE]
    assert "rocport::syncwarp(); }" in program.read_text()

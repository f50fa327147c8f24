# SPDX-License-Identifier: Apache-2.0
"""Kernels of a program that plain clang built, on the ISA engine: what the host sees of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.executor.base import BuildError, BuildOptions, Level, RunOptions
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.limits import Limits
from rocport.executor.program import load_program
from rocport.facts.targets import wave_target
from rocport.model import HANGING_S

HERE = Path(__file__).parent
_LIMITS = Limits(seconds=HANGING_S)


@pytest.fixture(scope="module")
def executor() -> IsaExecutor:
    found = IsaExecutor()
    capability = found.probe()
    if not capability.usable:
        pytest.skip(capability.refusal)
    assert capability.level is Level.ISA and capability.widths == (32, 64)
    return found


@pytest.fixture(scope="module")
def wide(executor: IsaExecutor) -> IsaExecutor:
    """Of one target, for which alone it compiles."""
    return IsaExecutor(wave_target(64).name)


@pytest.fixture(scope="module")
def kernels(executor: IsaExecutor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return executor.build(
        load_program(HERE / "kernels.hip"), tmp_path_factory.mktemp("kernels"), BuildOptions(optimize="-O1")
    )


@pytest.mark.parametrize("width", [64, 32])
def test_launches_printf_malloc_graphs_and_hiprtc(executor: IsaExecutor, kernels: Path, width: int) -> None:
    result = executor.run(kernels, (), kernels.parent, RunOptions(width=width, limits=_LIMITS))
    assert result.stdout == "lane 1 of a kernel:  1.50|-3  |10000000000\nPASSED\n", result.stderr
    launched = {kernel.name: kernel.launches for kernel in result.kernels}
    assert (launched["axpy"], launched["f"]) == (2, 1)
    assert result.statistics["lane-instructions"] >= width


def test_its_first_header_was_precompiled_for_each_target(executor: IsaExecutor, kernels: Path) -> None:
    targets = executor.probe().targets
    assert {path.name for path in kernels.parent.glob("*.co")} == {f"0-kernels.{target}.co" for target in targets}


def test_hipcub_is_the_library_itself(tmp_path: Path) -> None:
    executor = IsaExecutor(wave_target(32).name)
    if refusal := executor.probe().refusal:
        pytest.skip(refusal)
    program = executor.build(load_program(HERE / "collectives.hip"), tmp_path, BuildOptions(optimize="-O1"))
    result = executor.run(program, (), tmp_path, RunOptions(width=32, limits=_LIMITS))
    assert result.stdout == "PASS\n", result.stderr


def test_a_failed_assertion_ends_the_program_as_on_the_device(wide: IsaExecutor, tmp_path: Path) -> None:
    source = tmp_path / "asserts.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void k(int n) { if (n != 1) __builtin_trap(); }\n"
        "int main() { k<<<1, 1>>>(2); return hipDeviceSynchronize(); }\n"
    )
    program = wide.build(load_program(source), tmp_path / "out", BuildOptions(optimize="-O1"))
    result = wide.run(program, (), tmp_path, RunOptions(width=64, limits=_LIMITS))
    assert result.status == -6
    assert "kernel _Z1ki" in result.stderr


def test_a_kernel_that_writes_behind_an_allocation_is_named(wide: IsaExecutor, tmp_path: Path) -> None:
    source = tmp_path / "outside.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void near(int *p) { p[10] = 1; }\n"
        "__global__ void far(int *p) { p[1 << 20] = 1; }\n"
        "int main() { int *p; (void)hipMalloc(&p, 40); near<<<1, 1>>>(p); far<<<1, 1>>>(p); return 0; }\n"
    )
    program = wide.build(load_program(source), tmp_path / "out", BuildOptions(optimize="-O1"))
    result = wide.run(program, (), tmp_path, RunOptions(width=64, limits=_LIMITS))
    assert result.status == -6
    assert [(hazard.kind, hazard.kernel) for hazard in result.hazards] == [
        ("out-of-bounds", "_Z4nearPi"),
        ("out-of-bounds", "_Z3farPi"),
    ]
    assert "byte 40 of an allocation of 40 bytes was written" in result.hazards[0].message


def test_a_build_that_was_cut_short_goes_on_with_its_objects(executor: IsaExecutor, tmp_path: Path) -> None:
    source = tmp_path / "whole.hip"
    source.write_text("int main() { return 0; }\n")
    executor.build(load_program(source), tmp_path / "out", BuildOptions())
    source.write_text("int main() { return 0 }\n")
    assert executor.build(load_program(source), tmp_path / "out", BuildOptions(resume=True)).is_file()
    with pytest.raises(BuildError, match=r"whole\.hip: compile failed"):
        executor.build(load_program(source), tmp_path / "out", BuildOptions())

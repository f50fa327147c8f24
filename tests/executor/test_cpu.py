"""Programs of our own on the CPU executor, at both widths and in several orders."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from rocport.executor.base import Access, BuildError, BuildOptions, RunOptions
from rocport.executor.compiler import CompilerError, find_compiler
from rocport.executor.cpu import CpuExecutor
from rocport.executor.limits import Limits
from rocport.executor.program import load_program

Build = Callable[..., Path]
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.hip"))
HAZARDS = Path(__file__).parent / "hazards"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_right_program_is_right_at_both_widths_and_shows_no_hazard(
    path: Path, executor: CpuExecutor, build: Build
) -> None:
    executable = build(path)
    for width, (order, poison) in product((32, 64), [("forward", 0xFF), ("reverse", 0xA7), ("5", None)]):
        result = executor.run(executable, (), path.parent, RunOptions(width=width, order=order, poison=poison))
        assert result.ok, (width, result.stderr)
        assert result.stdout.splitlines()[-1].startswith("PASS"), (width, order, result.stdout)
        assert not [hazard for hazard in result.hazards if hazard.grave], (width, order)
        assert result.statistics["width"] == width


@pytest.mark.parametrize("path", [p for p in PROGRAMS if p.stem in ("divergence", "structures")], ids=lambda p: p.stem)
@pytest.mark.parametrize("compiler", [None, "g++"], ids=["default", "g++"])
@pytest.mark.parametrize("optimize", ["-O0", "-O3"])
def test_lanes_meet_alike_whatever_the_compiler_makes_of_the_loops(
    path: Path, compiler: str | None, optimize: str, tmp_path: Path
) -> None:
    try:
        executor = CpuExecutor(find_compiler(compiler))
    except CompilerError as error:
        pytest.skip(str(error))
    executable = executor.build(load_program(path), tmp_path, BuildOptions(optimize=optimize))
    for width in (32, 64):
        result = executor.run(executable, (), tmp_path, RunOptions(width=width))
        assert result.stdout.splitlines()[-1].startswith("PASS"), result.stdout


@pytest.mark.parametrize(
    ("name", "kind", "width"),
    [
        ("mask32", "mask-32bit", 64),
        ("divergent_barrier", "divergent-barrier", 64),
        ("out_of_bounds", "out-of-bounds", 64),
        ("inactive_lane", "inactive-lane", 32),
        ("launch_config", "launch-config", 64),
        ("launch_config", "unchecked-error", 64),
        ("lds_limit", "lds-limit", 64),
        ("width_over_wave", "width-over-wave", 32),
    ],
)
def test_a_hazard_is_seen_where_it_is_and_only_there(
    name: str, kind: str, width: int, executor: CpuExecutor, build: Build
) -> None:
    path = HAZARDS / f"{name}.hip"
    options = RunOptions(width=width)
    seen = executor.run(build(path), (), path.parent, options).hazards
    found = [hazard for hazard in seen if hazard.kind == kind]
    assert found, [hazard.kind for hazard in seen]
    if kind in ("mask-32bit", "divergent-barrier", "inactive-lane", "launch-config", "lds-limit", "width-over-wave"):
        assert found[0].frames[0].path.endswith(f"{name}.hip")
        line = path.read_text().splitlines()[found[0].frames[0].line - 1]
        assert any(word in line for word in ("__shfl", "__syncthreads", "<<<")), line
    assert not executor.run(build(path, "-DRIGHT"), (), path.parent, options).hazards
    quiet = RunOptions(width=width, quiet=(kind,))
    assert kind not in [hazard.kind for hazard in executor.run(build(path), (), path.parent, quiet).hazards]


def test_a_32_bit_mask_is_no_hazard_at_width_32(executor: CpuExecutor, build: Build) -> None:
    path = HAZARDS / "mask32.hip"
    assert not executor.run(build(path), (), path.parent, RunOptions(width=32)).hazards


def test_the_sanitizers_name_the_line_of_an_access_out_of_bounds(executor: CpuExecutor, build: Build) -> None:
    path = HAZARDS / "out_of_bounds.hip"
    try:
        executable = build(path, options=BuildOptions(optimize="-O1", sanitize=True))
    except BuildError as error:
        pytest.skip(f"no sanitizer runtime: {error}")
    result = executor.run(executable, (), path.parent, RunOptions(limits=Limits(memory_bytes=1 << 60)))
    assert result.status != 0
    assert "out_of_bounds.hip:8" in result.stderr


@pytest.mark.parametrize(
    ("name", "kind", "line"),
    [("race", "shared-race", "s[127 - threadIdx.x]"), ("lockstep", "relies-on-lockstep", "s[t] = s[t] + v")],
)
def test_conflicting_accesses_to_shared_memory_are_found(
    name: str, kind: str, line: str, executor: CpuExecutor, build: Build
) -> None:
    path = HAZARDS / f"{name}.hip"
    instrumented = BuildOptions(optimize="-O1", instrument=True)
    options = RunOptions(width=32, access=Access.RACES)
    seen = executor.run(build(path, options=instrumented), (), path.parent, options).hazards
    places = {hazard.frames[0].line for hazard in seen if hazard.kind == kind}
    assert line in "".join(path.read_text().splitlines()[number - 1] for number in places)
    assert not executor.run(build(path, "-DRIGHT", options=instrumented), (), path.parent, options).hazards


def test_lockstep_makes_lane_synchronous_code_right(executor: CpuExecutor, build: Build) -> None:
    path = HAZARDS / "lockstep.hip"
    executable = build(path, options=BuildOptions(optimize="-O1", instrument=True))
    assert "FAIL" in executor.run(executable, (), path.parent, RunOptions(width=32)).stdout
    assert "PASS" in executor.run(executable, (), path.parent, RunOptions(width=32, access=Access.LOCKSTEP)).stdout


@pytest.mark.parametrize("width", [32, 64])
def test_a_program_compiles_kernels_while_it_runs(width: int, executor: CpuExecutor, build: Build) -> None:
    path = Path(__file__).parent / "modules" / "modules.hip"
    result = executor.run(build(path), (), path.parent, RunOptions(width=width))
    assert result.stdout.splitlines()[-1] == "PASS", result.stdout + result.stderr


def test_a_hang_is_a_result(executor: CpuExecutor, tmp_path: Path) -> None:
    source = tmp_path / "hang.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(volatile unsigned *p) { while (true) *p += 1; }\n"
        "int main() { unsigned *p; hipMalloc(&p, 4); hipMemset(p, 0, 4); k<<<1, 64>>>(p); }\n"
    )
    executable = executor.build(load_program(source), tmp_path / "b", BuildOptions(optimize="-O1"))
    result = executor.run(executable, (), tmp_path, RunOptions(limits=Limits(seconds=1)))
    assert result.timed_out and not result.ok
    assert "stopped inside kernel k" in result.stderr
    assert result.statistics["launches"] == 1


def test_a_crash_inside_a_kernel_is_told_apart(executor: CpuExecutor, tmp_path: Path) -> None:
    source = tmp_path / "crash.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int *p) { *p = 1; }\nint main() { k<<<1, 1>>>(nullptr); }\n"
    )
    executable = executor.build(load_program(source), tmp_path / "b", BuildOptions(optimize="-O1"))
    result = executor.run(executable, (), tmp_path, RunOptions())
    assert result.status < 0
    assert "inside kernel k" in result.stderr


def test_what_is_missing_is_named(executor: CpuExecutor, tmp_path: Path) -> None:
    source = tmp_path / "missing.hip"
    source.write_text("#include <hip/hip_runtime.h>\nint main() { hipNoSuchCall(); }\n")
    with pytest.raises(BuildError) as caught:
        executor.build(load_program(source), tmp_path / "b", BuildOptions())
    assert "hipNoSuchCall" in caught.value.missing
    assert "missing.hip:2" in caught.value.log


def test_a_constant_width_needs_a_build_of_its_own(executor: CpuExecutor, tmp_path: Path) -> None:
    source = tmp_path / "constant.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__global__ void k(int *p) { constexpr int w = warpSize; __shared__ int s[w]; s[0] = w; *p = s[0]; }\n"
        'int main() { int *p; hipMallocManaged(&p, 4); k<<<1, 1>>>(p); printf("%d\\n", *p); }\n'
    )
    for width in (32, 64):
        executable = executor.build(
            load_program(source), tmp_path / str(width), BuildOptions(width=width, optimize="-O1")
        )
        assert executor.run(executable, (), tmp_path, RunOptions(width=width)).stdout.strip() == str(width)


def test_no_compiler_is_a_refusal_with_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("ROCPORT_SDK", os.devnull)
    monkeypatch.delenv("ROCPORT_HOST_CXX", raising=False)
    capability = CpuExecutor().probe()
    assert not capability.usable
    assert "install" in capability.refusal

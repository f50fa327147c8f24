"""Each hazard has a program that shows it, with a right twin (-DRIGHT) that shows none, and a switch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.executor.base import Access, BuildError, BuildOptions, Hazard, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.lds import base_name, static_lds
from rocport.executor.limits import Limits
from rocport.executor.report import HAZARDS, sanitizer_hazards

Build = Callable[..., Path]
FOLDER = Path(__file__).parent / "hazards"
PLAIN = BuildOptions(optimize="-O1")
INSTRUMENTED = BuildOptions(optimize="-O1", instrument=True)

# program, hazard, what stands in the line that is named
SEEN_ANYWAY = [
    ("mask_caller", "mask-excludes-caller", "__shfl_xor_sync"),
    ("mask_inactive", "mask-names-inactive", "__any_sync"),
    ("outside_mask", "lane-outside-mask", "__shfl_sync"),
    ("shared_bounds", "shared-out-of-bounds", "<<<1, 64, 63"),
    ("no_progress", "no-progress", "while (*flag == 0)"),
    ("static_lds", "lds-limit", "<<<"),
]
SEEN_WITH_ACCESSES = [
    ("shared_bounds", "shared-out-of-bounds", "s[threadIdx.x] = threadIdx.x"),
    ("global_read", "out-of-bounds", "in[i + 1]"),
    ("uninitialised", "uninitialised-read", "atomicAdd"),
    ("uninitialised_shared", "uninitialised-read", "atomicAdd"),
    ("uninitialised_copy", "uninitialised-copy", "hipMemcpy"),
    ("same_value", "shared-race", "found = VALUE"),
    ("reused_tile", "shared-race", "tile["),
    ("global_race", "global-race", "*sum +="),
    ("race", "shared-race", "s[127 - threadIdx.x]"),
    ("lockstep", "relies-on-lockstep", "s[t]"),
]


def hazards(executor: CpuExecutor, executable: Path, options: RunOptions) -> list[Hazard]:
    return list(executor.run(executable, (), executable.parent, options).hazards)


def lines(path: Path, found: list[Hazard], kind: str) -> list[str]:
    text = path.read_text().splitlines()
    return [text[hazard.frames[0].line - 1] for hazard in found if hazard.kind == kind and hazard.frames]


@pytest.mark.parametrize(("name", "kind", "text"), SEEN_ANYWAY)
def test_a_hazard_names_its_line_and_can_be_switched_off(
    name: str, kind: str, text: str, executor: CpuExecutor, build: Build
) -> None:
    path = FOLDER / f"{name}.hip"
    found = hazards(executor, build(path, options=PLAIN), RunOptions())
    assert any(text in line for line in lines(path, found, kind)), found
    assert not hazards(executor, build(path, "-DRIGHT", options=PLAIN), RunOptions())
    if kind != "no-progress":
        quiet = hazards(executor, build(path, options=PLAIN), RunOptions(quiet=(kind,)))
        assert kind not in {hazard.kind for hazard in quiet}


@pytest.mark.parametrize(("name", "kind", "text"), SEEN_WITH_ACCESSES)
def test_with_its_accesses_watched_a_program_shows_more(
    name: str, kind: str, text: str, executor: CpuExecutor, build: Build
) -> None:
    path = FOLDER / f"{name}.hip"
    options = RunOptions(width=32, access=Access.ALL)
    found = hazards(executor, build(path, options=INSTRUMENTED), options)
    assert any(text in line for line in lines(path, found, kind)), found
    assert not hazards(executor, build(path, "-DRIGHT", options=INSTRUMENTED), options)


def test_threads_that_can_never_end_are_an_error_and_not_a_hang(executor: CpuExecutor, build: Build) -> None:
    path = FOLDER / "no_progress.hip"
    result = executor.run(build(path, options=PLAIN), (), path.parent, RunOptions(limits=Limits(seconds=60)))
    assert not result.timed_out
    assert result.status == 86
    assert "no thread can make progress (kernel k)" in result.stderr


def test_the_targets_limit_of_shared_memory_is_a_fact(executor: CpuExecutor, build: Build) -> None:
    executable = build(FOLDER / "static_lds.hip", options=PLAIN)
    assert not hazards(executor, executable, RunOptions(target="gfx950"))  # 160 KB
    found = hazards(executor, executable, RunOptions(target="gfx942"))
    assert "49152 bytes of static and 16388 of dynamic" in found[0].message


def test_static_shared_memory_is_read_from_the_executable(build: Build, tmp_path: Path) -> None:
    assert static_lds(build(FOLDER / "static_lds.hip", options=PLAIN)) == {"k": 96 * 128 * 4}
    assert static_lds(tmp_path / "gone") == {}
    (tmp_path / "text").write_text("no program")
    assert static_lds(tmp_path / "text") == {}


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("k", "k"),
        ("void n::k<float, 4>(float const*, int)", "k"),
        ("n::k<a, f(b)>", "k"),
        ("(anonymous namespace)::sum(int*)", "sum"),
    ],
)
def test_a_kernel_goes_by_its_last_name(function: str, name: str) -> None:
    assert base_name(function) == name


def test_a_run_lists_its_kernels(executor: CpuExecutor, build: Build) -> None:
    path = FOLDER / "static_lds.hip"
    kernel = executor.run(build(path, options=PLAIN), (), path.parent, RunOptions()).kernels[0]
    assert (kernel.name, kernel.launches, kernel.lds, kernel.threads) == ("k", 1, 16388, 64)


def test_what_the_sanitizers_say_is_a_hazard_with_its_line(executor: CpuExecutor, build: Build) -> None:
    path = FOLDER / "global_read.hip"
    try:
        executable = build(path, options=BuildOptions(optimize="-O1", sanitize=True))
    except BuildError as error:
        pytest.skip(f"no sanitizer runtime: {error}")
    found = hazards(executor, executable, RunOptions(limits=Limits(memory_bytes=1 << 60)))
    assert "in[i + 1]" in lines(path, found, "address-sanitizer")[0]


def test_undefined_behaviour_is_read_from_the_sanitizers_words() -> None:
    text = (
        "/a/b.hip:7:9: runtime error: signed integer overflow\n/x/executor/include/rpx/math.h:3:1: runtime error: own\n"
    )
    (found,) = sanitizer_hazards(text)
    assert (found.kind, found.place, found.message) == (
        "undefined-behaviour",
        "/a/b.hip:7",
        "signed integer overflow",
    )


def test_every_hazard_program_has_a_right_twin() -> None:
    for path in FOLDER.glob("*.hip"):
        assert "RIGHT" in path.read_text(), path
    used = {kind for _, kind, _ in (*SEEN_ANYWAY, *SEEN_WITH_ACCESSES)}
    assert used <= set(HAZARDS)

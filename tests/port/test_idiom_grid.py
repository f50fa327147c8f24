"""Constructed warp programs, ported and run at both widths; benchmarks/idioms.py runs all of them."""

from __future__ import annotations

from idiom_grid import IDIOMS, SPELLINGS, THREADS, Case, cases, judge

from rocport.executor.cpu import CpuExecutor


def test_the_grid_is_large_and_set_in_halves() -> None:
    every = cases()
    assert len(every) >= 1000
    assert len({case.title for case in every}) == len(every)
    assert 0.4 < sum(case.set_aside for case in every) / len(every) < 0.6


def test_each_idiom_and_each_spelling_computes_what_cuda_does(executor: CpuExecutor) -> None:
    # a diagonal of the grid: every idiom and every spelling at least once
    every, spellings = cases(), list(SPELLINGS)
    chosen = [
        next(case for case in every[number::7] + every if case.title.startswith(f"{idiom}/{spelling}/"))
        for number, idiom in enumerate(IDIOMS)
        for spelling in (spellings[number % len(spellings)],)
        if not IDIOMS[idiom].constant or SPELLINGS[spelling].constant
    ]
    assert [(item.case.title, item.wrong, item.named) for item in judge(chosen, executor) if item.wrong] == []


def test_the_judge_sees_a_wavefront_where_cuda_has_a_warp(executor: CpuExecutor) -> None:
    kernel = "__global__ void k_{n}(int *out) {{ out[threadIdx.x] = {of}; }}"
    chosen = [
        Case(of, "", kernel.replace("{of}", of), "k_{n}<<<1, 96>>>(d);", False, tuple(t % 32 for t in range(THREADS)))
        for of in ("threadIdx.x % 32", "__lane_id()", "threadIdx.x % warpSize")
    ]
    verdicts = judge(chosen, executor)
    assert [item.wrong for item in verdicts] == [None, "at width 64: thread 32 has 32, CUDA 0", None]

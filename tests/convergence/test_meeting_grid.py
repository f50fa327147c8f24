"""What is said of threads that part before they meet, over cases made by construction: a sample of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from meeting_grid import cases, wrong

from rocport import api
from rocport.convergence import flow
from rocport.convergence.elsewhere import meets_of
from rocport.scan.engine import index_tree

SAMPLE = cases()[::37]


def test_the_grid_is_large_and_set_in_halves() -> None:
    every = cases()
    assert len(every) > 5000
    assert len({case.title for case in every}) == len(every)
    assert 0.4 < sum(case.set_aside for case in every) / len(every) < 0.6


@pytest.mark.parametrize("set_aside", [False, True], ids=["looked-at", "set-aside"])
def test_threads_that_part_before_they_meet_are_named_and_others_are_not(set_aside: bool) -> None:
    found = [(case.title, wrong(case)) for case in SAMPLE if case.set_aside is set_aside]
    assert [(title, said) for title, said in found if said is not None] == []


def test_the_judge_sees_a_function_of_another_file_that_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(item for item in cases() if item.title == "barrier/if-else/header/warp")
    assert wrong(case) is None
    monkeypatch.setattr(flow.Unit, "elsewhere", {})
    assert wrong(case) is not None


def test_what_a_file_tells_of_its_functions() -> None:
    told, calls = meets_of(
        b"__device__ __launch_bounds__(64) int inner(int v) { return __shfl_sync(~0u, v, 0); }\n"
        b"__device__ int outer(int v) { __syncthreads(); return inner(v); }\n"
        b"__device__ int peek(const int *p) { return *(const volatile int *)p; }\n"
        b"__device__ bool try_lock(int *m) { return atomicCAS(m, 0, 1) == 0; }\n"
        b"__device__ int far(int v) { return other(v); }\n"
        b"__device__ int declared(int v);\n#define MEET() __syncthreads()\n__host__ int plain() { return 1; }\n"
    )
    assert told == {
        b"inner": {"warp"},
        b"outer": {"block", "warp"},
        b"peek": {"poll"},
        b"try_lock": {"try"},
        b"far": frozenset(),
        b"MEET": {"block"},
    }
    assert calls == {b"far": {b"other"}, b"try_lock": {b"atomicCAS"}}


def test_a_barrier_three_files_away_is_known(tmp_path: Path) -> None:
    files = {
        "c.cuh": "#pragma once\n__device__ inline void last(int *s) { s[0] = 1; __syncthreads(); }\n",
        "b.cuh": '#pragma once\n#include "c.cuh"\n__device__ inline void middle(int *s) { last(s); }\n',
        "a.cuh": '#pragma once\n#include "b.cuh"\n__device__ inline void first(int *s) { middle(s); }\n',
        "k.cu": '#include "a.cuh"\n__global__ void k(int *o) { __shared__ int s[64];\n'
        "if (threadIdx.x & 1) first(s); else first(s);\no[threadIdx.x] = s[0]; }\n",
        # Another function of the name, in no unit with the one above.
        "other.cu": "__device__ void last(int *s) { s[0] = 2; }\n__device__ void alone(int *s) { last(s); }\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    tree = api.read(tmp_path)
    meets = index_tree(tree).meets
    assert dict(meets[b"first"]) == {"a.cuh": {"block"}}
    assert dict(meets[b"alone"]) == {"other.cu": frozenset()}
    assert ("k.cu", 3) in {(item.path, item.line) for item in api.scan(tree).findings if "barrier" in item.message}


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("return __syncthreads_or(p);", False),
        ("if (WARPS > 1) return __syncthreads_or(p); else return ANYWARP(p);", False),
        ("return __syncthreads_or(p) && threadIdx.x < 3;", True),
        ("if (p) return __syncthreads_or(p); return false;", True),
        ("__syncthreads(); return p;", True),
    ],
)
def test_a_vote_of_the_block_in_another_file_is_the_same_for_all(tmp_path: Path, body: str, parts: bool) -> None:
    (tmp_path / "c.cuh").write_text(f"__device__ bool any_thread(bool p) {{ {body} }}\n")
    (tmp_path / "k.cu").write_text(
        '#include "c.cuh"\n__global__ void k(int *s, int n) {\n'
        "  for (int l = 0; any_thread(threadIdx.x < n - l); ++l) { s[l] = 1; __syncthreads(); }\n}\n"
    )
    assert ("divergent-barrier" in {item.rule for item in api.scan(tmp_path, jobs=1).findings}) is parts

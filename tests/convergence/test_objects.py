"""Waits of libcu++'s objects: those at which every thread arrives are barriers of the block, the others are not."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

BARRIER = "__shared__ cuda::barrier<cuda::thread_scope_block> b;"
STATE = "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> s;"


def _told(body: str, rule: str) -> list[str]:
    includes = "#include <utility>\n#include <cuda/atomic>\n#include <cuda/barrier>\n#include <cuda/pipeline>\n"
    parameters = "cuda::atomic<int, cuda::thread_scope_device> *flag, int *x, cg::thread_block block"
    data = f"{includes}__global__ void k({parameters}) {{ {body} }}\n".encode()
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    return [item.message for item in findings if item.rule == rule]


@pytest.mark.parametrize(
    "body",
    [
        f"{BARRIER} auto t = b.arrive(); if (threadIdx.x == 0) b.wait(std::move(t));",
        "auto p = cuda::make_pipeline(); if (threadIdx.x == 0) { p.producer_acquire(); p.consumer_wait(); }",
        "cuda::pipeline<cuda::thread_scope_thread> p = cuda::make_pipeline(); if (threadIdx.x < 7) p.consumer_wait();",
        f"{BARRIER} if (threadIdx.x == 0) flag->wait(0); b.arrive_and_wait();",
    ],
)
def test_a_thread_may_wait_alone(body: str) -> None:
    assert _told(f"{body} __syncthreads();", "divergent-barrier") == []


@pytest.mark.parametrize(
    "body",
    [
        f"{BARRIER} if (threadIdx.x == 0) {{ x[0] = 1; b.arrive_and_wait(); }} else b.arrive_and_wait();",
        f"{BARRIER} if (threadIdx.x == 0) {{ x[0] = 1; b.wait(b.arrive()); }} else b.wait(b.arrive());",
        f"{STATE} auto p = cuda::make_pipeline(block, &s); if (threadIdx.x == 0) p.consumer_wait();",
    ],
)
def test_threads_that_arrive_meet(body: str) -> None:
    assert _told(f"{body} __syncthreads();", "divergent-barrier")


def test_an_atomic_that_is_waited_for_is_told_beside_a_barrier() -> None:
    told = _told(f"{BARRIER} flag->wait(0); b.wait(b.arrive());", "standard-library")
    assert len([message for message in told if "wait() of an atomic" in message]) == 1

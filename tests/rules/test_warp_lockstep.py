"""Warp-synchronous reductions: what shows that one warp alone combines."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of


@pytest.mark.parametrize(
    ("head", "condition", "answer"),
    [
        ("", "threadIdx.x < 32", "safe"),
        ("int tid = threadIdx.x;", "tid < 32", "safe"),
        (
            "unsigned tid = threadIdx.x + threadIdx.y * blockDim.x, bid = blockIdx.x;",
            "n > 64 && tid < warpSize",
            "safe",
        ),
        ("auto tid = cg::this_thread_block().thread_rank();", "tid < 32", "safe"),
        ("", "n < 32", "review"),
        ("int tid = threadIdx.x / 2;", "tid < 32", "review"),
        ("int tid = threadIdx.x % 32;", "tid < 32", "review"),
        ("int tid = threadIdx.x; tid /= 4;", "tid < 32", "review"),
        ("int tid = threadIdx.x; load(&tid);", "tid < 32", "review"),
        ("int tid = blockIdx.x;", "tid < 32", "review"),
        ("int tid = threadIdx.x;", "tid < 32 || n > 8", "review"),
        ("int tid = threadIdx.x;", "!(tid < 32)", "review"),
        ("int tid = threadIdx.x;", "tid < 64", "review"),
    ],
)
def test_a_reduction_is_settled_where_a_threads_own_number_is_compared(head: str, condition: str, answer: str) -> None:
    text = (
        f"__global__ void k(int *p, int n) {{\n  {head}\n  if ({condition}) {{\n    volatile int *s = p;\n"
        "    s[n] += s[n + 8];\n    s[n] += s[n + 4];\n    s[n] += s[n + 2];\n  }\n}\n"
    ).encode()
    findings = scan_cuda("a.cu", text, Context(Options(), build_index(["a.cu"], [names_of(text)])))
    assert [item.applicability.value for item in findings if item.rule == "warp-lockstep"] == [answer]

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


_STEPS = "  s[i] += s[i + 8];\n  s[i] += s[i + 4];\n  s[i] += s[i + 2];\n"
_CALLED = f"__device__ void r(volatile int *s, int i) {{\n{_STEPS}}}\n"
_SCAN = (
    "__device__ int scan(volatile int *s, int i) {{\n  const unsigned lane = {lane};\n"
    "  if (lane >= {first}) s[i] += s[i - 1];\n"
    "  if (lane >= 2) s[i] += s[i - 2];\n  if (lane >= 4) s[i] += s[i - 4];\n  return s[i];\n}}\n"
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (_CALLED + "__global__ void k(int *p) { int t = threadIdx.x; if (t < 32) { r(p, t); } }\n", "safe"),
        (_CALLED + "__global__ void k(int *p) { int t = threadIdx.x; if (t < 64) { r(p, t); } }\n", "review"),
        (_CALLED + "__global__ void k(int *p) { int t = threadIdx.x; if (t < 32) { r(p, t); } r(p, t); }\n", "review"),
        (_CALLED, "review"),
        (_SCAN.format(lane="i & 31", first="1"), "safe"),
        (_SCAN.format(lane="i % 32", first="1"), "safe"),
        (_SCAN.format(lane="i", first="1"), "review"),
        (_SCAN.format(lane="i & 31", first="n"), "review"),
        (_SCAN.format(lane="i & 31", first="32"), "review"),
    ],
)
def test_lanes_of_one_warp_are_told_by_their_number_in_it_and_by_the_callers(text: str, answer: str) -> None:
    data = text.encode()
    findings = scan_cuda("a.cu", data, Context(Options(), build_index(["a.cu"], [names_of(data)])))
    assert [item.applicability.value for item in findings if item.rule == "warp-lockstep"] == [answer]

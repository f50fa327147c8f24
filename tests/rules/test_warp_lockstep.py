"""Warp-synchronous code without barriers: what keeps its result on a wavefront, and what a thread has for itself."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

_STEPS = "  s[i] += s[i + 8];\n  s[i] += s[i + 4];\n  s[i] += s[i + 2];\n"
_REDUCE = f"__device__ void r(volatile int *s, int i) {{\n{_STEPS}}}\n"
_QUEUE = (
    "__global__ void k(int *p) {{\n  __shared__ {kind} queue[64], tail; int tid = threadIdx.x;\n"
    "  if (tid == 0) {{ int n = p[64]; tail = n; }}\n  {meet}\n  p[tid] = queue[tail];\n}}\n"
)


def answers(text: str, *others: str) -> list[str]:
    """What the rule says of a.cuh, which `others` may include."""
    files = {"a.cuh": text.encode(), **{f"{number}.cu": other.encode() for number, other in enumerate(others)}}
    index = build_index(list(files), [names_of(data) for data in files.values()])
    findings = scan_cuda("a.cuh", files["a.cuh"], Context(Options(), index))
    return [item.applicability.value for item in findings if item.rule == "warp-lockstep"]


def test_volatile_steps_keep_their_result_where_the_callers_are_seen() -> None:
    assert answers(_REDUCE) == ["review"]
    assert answers(_REDUCE + "__global__ void k(int *p) { if (threadIdx.x < 64) r(p, threadIdx.x); }\n") == ["safe"]
    assert answers(_REDUCE, '#include "a.cuh"\n__global__ void k(int *p) { r(p, threadIdx.x); }\n') == ["safe"]
    assert answers(f"__global__ void k(volatile int *s) {{ int i = threadIdx.x; {_STEPS} }}\n") == ["safe"]


@pytest.mark.parametrize(
    ("declares", "answer"),
    [
        ("int *s = p;", ["review"]),
        ("volatile int *s = p;", ["safe"]),
        ("__shared__ int s[64];", ["review"]),
        ("volatile __shared__ int s[64];", ["safe"]),
        ("volatile int *q = s;", ["review"]),
        ("int s[64];", []),
    ],
)
def test_what_is_volatile_and_what_a_thread_has_for_itself_is_told_by_declarations(
    declares: str, answer: list[str]
) -> None:
    other = "__device__ void f(volatile float *s) { s[0] = 1; }\n"
    assert answers(f"{other}__global__ void k(int *p, int *s, int i) {{ {declares}\n{_STEPS} }}\n") == answer


def test_elements_that_a_loop_counts_through_are_one_threads() -> None:
    steps = "".join(f"  for (int i = 0; i < {n}; i++) s[i] += s[i + {n}];\n" for n in (16, 8, 4, 2))
    assert answers(f"__global__ void k(float *s) {{\n{steps}}}\n") == []
    assert answers(f"__host__ __device__ void k(float *s, int i) {{\n{_STEPS}}}\n") == ["review"]
    assert answers(f"struct A {{ __host__ static void k(float *s, int i) {{\n{_STEPS}}} }};\n") == []


@pytest.mark.parametrize(
    ("kind", "meet", "answer"),
    [
        ("int", "", ["review"]),
        ("volatile int", "", ["safe"]),
        ("int", "__syncwarp();", []),
        ("int", "__sync_env_threads();", []),
        ("int", "WARP_BARRIER;", []),
        ("int", "p[65] = nosync;", ["review"]),
    ],
)
def test_a_leaders_word_needs_what_orders_it_or_volatile(kind: str, meet: str, answer: list[str]) -> None:
    assert answers(_QUEUE.format(kind=kind, meet=meet)) == answer


def test_a_function_of_the_file_orders_accesses_by_what_it_holds_and_not_by_its_name() -> None:
    head = "__device__ void my_sync() {{ {body} }}\n"
    text = _QUEUE.format(kind="int", meet="my_sync();")
    assert answers(head.format(body="__syncthreads();") + text) == []
    assert answers(head.format(body="") + text) == ["review"]


_SIDES = (
    "template <bool COUNT> __global__ void k(int *p, int n) {{ __shared__ int c; int tid = threadIdx.x;\n"
    "  if ({asks}) {{ if (tid == 0) {{ int v = p[n]; c = v; }} }} else {{ p[tid] = c; }} {more} }}\n"
)


@pytest.mark.parametrize(
    ("asks", "more", "answer"),
    [
        ("COUNT", "", []),
        ("!COUNT && n > 2", "", []),
        ("COUNT", "p[tid + 9] = c;", ["review"]),
        ("n > 2", "n = 4;", ["review"]),
        ("tid > 2", "", ["review"]),
        ("p[0] > 1", "", ["review"]),
    ],
)
def test_two_sides_of_which_a_launch_takes_one_hand_nothing_over(asks: str, more: str, answer: list[str]) -> None:
    assert answers(_SIDES.format(asks=asks, more=more)) == answer


def test_a_parameter_of_another_functions_template_says_nothing_of_a_launch() -> None:
    text = _SIDES.format(asks="lane > 2", more="").partition(")")[2]
    device = "__device__ void k(int *p, int n, int lane)"
    assert answers("template <int lane> " + device.replace(", int lane", "") + text) == []
    assert answers("template <int lane> __device__ int g() { return lane; }\n" + device + text) == ["review"]


@pytest.mark.parametrize(
    ("width", "ahead", "answer", "number"),
    [
        (4, 3, [], "threadIdx.x"),
        (4, 4, ["review"], "threadIdx.x"),
        (1, 1, ["review"], "threadIdx.x"),
        (4, 3, ["review"], "threadIdx.x / 8"),
        (4, 3, ["review"], "threadIdx.y"),
    ],
)
def test_the_elements_of_a_threads_stride_are_its_own(width: int, ahead: int, answer: list[str], number: str) -> None:
    text = (
        "__global__ void k(float *x, int n) { __shared__ float b[512];\n"
        f"  for (int k = {number} * {width}; k < n; k += blockDim.x * {width}) {{\n"
        f"    b[k] = x[k]; b[k + 1] += x[k]; x[k] = b[k + {ahead}]; }} }}\n"
    )
    assert answers(text) == answer

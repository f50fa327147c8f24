"""Loops over whole rounds of a block, in which every thread meets at each barrier."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.scan.engine import scan_cuda
from rocport.syntax.project import build_index, names_of

_KERNEL = (
    "template <int B> __global__ void k(int *p, int n, int m) {{\n  int tid = threadIdx.x;\n"
    "  const int padded = (n + B - 1) / B * B, odd = n * B + 1, more = m + round_up(n, B);\n"
    "  for (int i = {begin}; i {relation} {bound}; i += {step}) {{ p[i] = 1; {inside} __syncthreads(); }}\n}}\n"
)


def _is_uneven(begin: str, bound: str, step: str = "B", relation: str = "<", inside: str = "") -> bool:
    text = _KERNEL.format(begin=begin, bound=bound, step=step, relation=relation, inside=inside).encode()
    findings = scan_cuda("a.cu", text, Context(Options(), build_index(["a.cu"], [names_of(text)])))
    return any(finding.rule == "divergent-barrier" for finding in findings)


@pytest.mark.parametrize(
    ("begin", "bound", "step"),
    [
        ("threadIdx.x", "round_up(n, B)", "B"),
        ("tid", "padded", "B"),
        ("tid", "n * B", "B"),
        ("threadIdx.x", "THCRoundUp(n, (int) blockDim.x)", "blockDim.x"),
        ("m + tid", "more", "B"),
        ("tid", "alignUp(n, static_cast<int>(B))", "(B)"),
    ],
)
def test_a_bound_of_whole_steps_lets_all_threads_of_a_block_go_round_as_often(
    begin: str, bound: str, step: str
) -> None:
    assert not _is_uneven(begin, bound, step)


@pytest.mark.parametrize(
    ("begin", "bound"),
    [
        ("tid", "n"),
        ("tid", "odd"),
        ("tid", "more"),
        ("tid", "padded / 2"),
        ("tid", "B * n / 2"),
        ("tid", "n * B % m"),
        ("tid", "round_up(n, m)"),
        ("tid", "min(padded, n)"),
        ("tid * 4", "padded"),
        ("blockIdx.x * m + tid / 2", "padded"),
        ("m - tid", "padded"),
    ],
)
def test_any_other_bound_parts_them(begin: str, bound: str) -> None:
    assert _is_uneven(begin, bound)


def test_another_relation_another_step_and_a_change_inside_part_them() -> None:
    assert _is_uneven("tid", "padded", relation="<=")
    assert _is_uneven("tid", "padded", step="32")
    assert _is_uneven("tid", "padded", inside="if (p[tid]) i += B;")

"""A program's own atomic is taken for HIP's only where nothing but its loop's variables stands ahead of the loop."""

from __future__ import annotations

import pytest

from rocport.model import Applicability, Context
from rocport.rules.cuda import atomic_overload
from rocport.syntax.cuda import CudaSource

_DOUBLE = """__device__ double atomicAdd(double* address, double val)
{
    %s
    do {
        assumed = old;
        old = atomicCAS(PLACE, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    // Note: uses integer comparison to avoid hang in case of NaN (since NaN != NaN)
    } while (assumed != old);
    return __longlong_as_double(old);
}
"""
_WIDE = "unsigned long long int"
_READ = f"{_WIDE} old = *p, assumed;"
_PLACE = f"{_WIDE}* p = ({_WIDE}*)address;"


def _found(head: str, place: str) -> Applicability:
    source = CudaSource("a.cu", (_DOUBLE % head).replace("PLACE", place).encode())
    (finding,) = atomic_overload.check(source, Context())
    return finding.applicability


def test_the_loop_of_the_guide_is_hips_own() -> None:
    guide = f"{_WIDE}* address_as_ull =\n        ({_WIDE}*)address;\n    {_WIDE} old = *address_as_ull, assumed;"
    assert _found(guide, "address_as_ull") is Applicability.SAFE


@pytest.mark.parametrize(
    "head",
    [
        f"{_PLACE} {_WIDE} old = p[0], assumed;",
        f"{_PLACE} {_WIDE} old = *p; {_WIDE} assumed;",
        f"auto p = reinterpret_cast<{_WIDE}*>(address); auto old = *p; {_WIDE} assumed;",
        "unsigned long long *p = (unsigned long long *)(address), old = *p, assumed;",
    ],
)
def test_the_loops_variables_are_declared_in_any_way(head: str) -> None:
    assert _found(head, "p") is Applicability.SAFE


@pytest.mark.parametrize(
    "head",
    [
        f"{_PLACE} {_READ} val_hook ( );",
        f"val_hook(); {_PLACE} {_READ}",
        f"{_PLACE} {_WIDE} old = hook(*p), assumed;",
        f"{_PLACE} {_WIDE} old = *p, assumed, more = hook();",
        f"{_PLACE} {_WIDE} old = *q, assumed;",
        f"{_PLACE} {_WIDE} old, assumed; old = *p;",
        f"{_PLACE} {_READ} *p = old;",
        f"{_PLACE} {_READ} total = old;",
        f"{_WIDE}* p = q; {_WIDE}* other = ({_WIDE}*)address; {_READ}",
        f"{_WIDE}* p = ({_WIDE}*)q; {_READ} address;",
        f"{_WIDE}* p = ({_WIDE}*)hook(address); {_READ}",
        f"{_WIDE}* p = ({_WIDE}*)address, *r = p; {_READ}",
        f"int* p = (int*)address; {_READ}",
        f"{_PLACE} double old = *p, assumed;",
        f"{_PLACE} static {_READ}",
        f"{_PLACE} Counted old = *p, assumed;",
        _PLACE,
        f"{_PLACE} {_READ};",
    ],
)
def test_more_or_another_place_ahead_of_the_loop_is_for_review(head: str) -> None:
    assert _found(head, "p") is Applicability.REVIEW


def test_a_loop_without_its_head_is_for_review() -> None:
    assert _found("", "address") is Applicability.REVIEW

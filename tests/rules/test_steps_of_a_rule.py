"""What a rule looks at grows with its file, not with the square of it: tokens are counted, no time is taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocport.model import Context
from rocport.rules.cuda import runtime_overload, shared_memory_limit
from rocport.syntax.cuda import CudaSource


def contexts(count: int) -> str:
    pairs = "".join(f"CUctxCreateParams p{at} = {{}};\ncuCtxCreate(&c, &p{at}, 0, d);\n" for at in range(count))
    return f"void f() {{\n{pairs}}}\n"


def limits(count: int) -> str:
    return "OK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, n))\n" * count


@pytest.mark.parametrize(
    ("module", "program"), [(runtime_overload, contexts), (shared_memory_limit, limits)], ids=["contexts", "limits"]
)
def test_twice_the_places_take_twice_the_steps(
    module: object, program: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = CudaSource.at
    steps: list[int] = []

    def counted(self: CudaSource, position: int) -> bytes:
        steps[-1] += 1
        return at(self, position)

    monkeypatch.setattr(CudaSource, "at", counted)
    for count in (60, 120):
        steps.append(0)
        source = CudaSource("a.cu", program(count).encode())
        found = list(module.check(source, Context()))  # type: ignore[attr-defined]
        assert len(found) >= count
    assert 0 < steps[1] < 2.5 * steps[0]

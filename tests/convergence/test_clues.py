"""What a loop changes, as the search for loops that wait reads it."""

from __future__ import annotations

import pytest

from rocport.convergence import unit_of
from rocport.convergence.clues import SECTION, written_in
from rocport.convergence.structure import statements
from rocport.convergence.waits import waits
from rocport.syntax.cuda import CudaSource
from rocport.syntax.project import build_index, names_of


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("n >>= 1", {b"n"}),
        ("n <<= 1", {b"n"}),
        ("m = n >> 1", {b"m"}),
        ("m = n >= 1", {b"m"}),
        ("++n", {b"n"}),
        ("read(&n)", {b"n"}),
        ("read(n >= 1)", set()),
    ],
)
def test_variables_that_a_loop_changes(change: str, names: set[bytes]) -> None:
    """`n >>= 1` is three tokens after the name, and was read as no change: the loop seemed to wait for others."""
    source = CudaSource("k.cu", f"while (n > 0) {{ {change}; }}\n".encode())
    (loop,) = statements(source, 0, len(source.texts))
    assert written_in(source, loop) == names


def test_a_function_that_calls_itself_while_it_holds_a_lock_is_read() -> None:
    """Whether it gives the lock back was asked of itself, without an end."""
    data = b"__device__ void f(int *m) { while (true) { if (atomicCAS(m, 0, 1) == 0) { f(m); atomicExch(m, 0); } } }\n"
    unit = unit_of(CudaSource("k.cu", data), build_index(["k.cu"], [names_of(data)], frozenset()))
    assert [wait.kind for body in unit.bodies for wait in waits(unit, body)] == [SECTION]

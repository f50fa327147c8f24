"""What a loop changes, as the search for loops that wait reads it."""

from __future__ import annotations

import pytest

from rocport.convergence.clues import written_in
from rocport.convergence.structure import statements
from rocport.syntax.cuda import CudaSource


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

"""Options of Triton's CUDA backend, where a kernel is launched."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.rules.python.triton_options import check
from rocport.syntax.python import PythonSource


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("from mine import k\nk[(1,)](x, num_ctas=2)\n", [2]),
        ("from mine import k\nk[(1,)](x, **{'maxnreg': 64})\n", [2]),
        ("from mine import k\nkw = dict(num_ctas=2)\nk[(1,)](x, **kw)\n", [2]),
        ("from mine import k\nkw = {}\nkw['num_ctas'] = n\nk[(1,)](x, **kw)\n", [3]),
        ("import triton\nc = triton.Config({}, num_ctas=2)\n", [2]),
        ("import triton\nk.warmup(x, grid=(1,), num_ctas=2)\n", [2]),
        ("import triton\nb = heuristics(num_ctas=2)\n", []),
        ("kw = {'num_ctas': 2}\nplan(**kw)\n", []),
        ("from mine import k\nkw = {}\nkw['num_ctas']: int\nk[(1,)](x, **kw)\n", []),
        ("from mine import k\nkw = {'num_ctas': 1}\nk[(1,)](x, **kw)\n", []),
    ],
)
def test_an_option_is_found_where_it_reaches_a_launch(text: str, lines: list[int]) -> None:
    source = PythonSource("m.py", text.encode())
    assert [item.line for item in check(source, Context(Options()))] == lines

"""Numbers of attributes that reach the C functions through names."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.rules.python.attribute_number import check
from rocport.syntax.python import PythonSource


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("ATTR = 16\nlib.cudaDeviceGetAttribute(byref(v), ATTR, 0)\n", [2]),
        ("ATTR: int = 16\nlib.cudaDeviceGetAttribute(byref(v), c_int(ATTR), 0)\n", [2]),
        ("lib['cudaDeviceGetAttribute'](byref(v), 16, 0)\n", [1]),
        ("getattr(lib, 'cuDeviceGetAttribute')(byref(v), 16, 0)\n", [1]),
        ("ask = lib.cuDeviceGetAttribute\nask(byref(v), 16, 0)\n", [2]),
        ("ATTR = driver.X\nlib.cudaDeviceGetAttribute(byref(v), ATTR, 0)\n", []),
        ("lib['other'](byref(v), 16, 0)\n", []),
        ("other(byref(v), 16, 0)\n", []),
    ],
)
def test_a_number_is_followed_through_names(text: str, lines: list[int]) -> None:
    source = PythonSource("m.py", text.encode())
    assert [item.line for item in check(source, Context(Options()))] == lines

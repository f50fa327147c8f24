"""Decisions by cuDNN's version: the names that keep it."""

from __future__ import annotations

import pytest

from rocport.model import Context, Options
from rocport.rules.python.cudnn_version import check
from rocport.syntax.python import PythonSource


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("major = cudnn.version() // 1000\nif major >= 9:\n    f()\n", [2]),
        ("v: int = cudnn.version()\nnew = v > 8000\n", [2]),
        ("if (v := cudnn.version()) and v > 8000:\n    f()\n", [1]),
        ("major, minor = divmod(cudnn.version(), 1000)\nnew = major == 9\n", [2]),
        (
            "class A:\n    def __init__(self):\n        self.v = cudnn.version()\n"
            "    def new(self):\n        return self.v >= 8900\n",
            [5],
        ),
        ("v = cudnn.version()\ndef f():\n    return v > 8000\n", [3]),
        ("v = cudnn.version()\ndef f(v):\n    return v > 8000\n", []),
        ("def f():\n    v = cudnn.version()\n    print(v)\ndef g():\n    v = count()\n    return v > 3\n", []),
        ("class A:\n    v = 0\n    def f(self):\n        return self.v > 3\nv = cudnn.version()\n", []),
        ("text = f'{cudnn.version()}'\nlong = text > 'a'\n", []),
    ],
)
def test_a_version_is_followed_to_the_name_that_keeps_it(text: str, lines: list[int]) -> None:
    source = PythonSource("m.py", b"from torch.backends import cudnn\n" + text.encode())
    assert [item.line - 1 for item in check(source, Context(Options()))] == lines

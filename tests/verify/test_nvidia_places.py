"""Where a difference is said to be: the line in the ported file and the line in the original."""

from __future__ import annotations

import pytest

from rocport.verify.nvidia import cfamily, generated, tokens
from rocport.verify.nvidia.model import Kind
from rocport.verify.nvidia.python import Facts, compare

FACTS = Facts("m.py", {"_rocm_compat.py": {"IS_ROCM": False}}, lambda level, module, name: None)


@pytest.mark.parametrize(
    ("new", "old", "place", "kind"),
    [
        ("x = 1\ny = (\n", "x = 1\n", (2, 0), Kind.DIFFERENCE),
        ("x = 1\n", "x = 1\ny = (\n", (0, 2), Kind.UNKNOWN),
        ("x = 1\0", "x = 1\n", (0, 0), Kind.DIFFERENCE),
        ("a = 1\n\nx = 3\n", "a = 1\nx = 2\n", (3, 2), Kind.DIFFERENCE),
        ("a = 1\n", "a = 1\nb = 2\n", (0, 2), Kind.DIFFERENCE),
        ("a = 1\nb = 2\n", "a = 1\n", (2, 0), Kind.DIFFERENCE),
        ("\ndef f():\n    a()\n    b()\n", "def f():\n    a()\n    c()\n", (4, 3), Kind.DIFFERENCE),
    ],
)
def test_a_difference_of_python_names_its_lines(new: str, old: str, place: tuple[int, int], kind: Kind) -> None:
    (found,) = compare(new.encode(), old.encode(), FACTS).differences
    assert ((found.line, found.original_line), found.kind) == (place, kind)


@pytest.mark.parametrize(
    ("new", "old", "place"),
    [
        ("int a;\nint \\\n b;\n", "int a;\nint c;\n", (3, 2)),
        ("int a;\n", "int a;\nint c;\n", (1, 2)),
        ("int a;\n\n/* x\n*/ int d;\n", "int a;\n", (4, 1)),
        ('"a\\\nb" x;\n y', '"a\\\nb" x;\n z', (3, 3)),
        ("in\\\nt a;\nb", "int a;\nc", (3, 2)),
        ("'\\\n' a;\nb", "'\\\n' a;\nc", (3, 3)),
        ("ab\\\ncd\\\nef gh;\nx", "abcdef gh;\ny", (4, 2)),
    ],
)
def test_a_difference_of_tokens_names_its_lines(new: str, old: str, place: tuple[int, int]) -> None:
    streams = cfamily.tokens(new.encode()), cfamily.tokens(old.encode())
    (found,) = tokens.compare("f.cu", *streams, cfamily.GATE)
    assert (found.line, found.original_line) == place


CAUGHT = """import os

def __getattr__(name):
    try:
        {}
    except OSError:
        return False
"""


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("IS_ROCM = False\nx = (\n", 2, "is not valid Python"),
        ("import os\nprint(1)\n", 2, "runs `print(1)`"),
        ("import os\n\n\nos.x = 1\n", 4, "not a name of its own"),
        ("\nIS_ROCM = f()\n", 2, "calls `f()`"),
        ("\n\nimport nothing_there\n", 3, "imports `nothing_there`"),
        ("\ndef __getattr__(name):\n    open('x', 'w')\n    return 1\n", 0, "opens a file for writing"),
        (CAUGHT.format("os.truncate('x', 0)"), 0, "does os.truncate"),
        (CAUGHT.format("os.utime('x')"), 0, "does os.utime"),
        (CAUGHT.format("__import__('sqlite3').connect('x')"), 0, "does sqlite3.connect"),
    ],
)
def test_what_the_generated_module_must_not_do_is_named_with_its_line(text: str, place: int, said: str) -> None:
    checked = generated.check("_rocm_compat.py", text.encode())
    (found,) = checked.differences
    assert not checked.safe and found.kind is Kind.DIFFERENCE
    assert (found.line, found.original_line) == (place, 0) and said in found.message


def test_who_lists_files_when_a_name_is_read_changes_nothing() -> None:
    text = """import os, pathlib

def __getattr__(name):
    if name == "IS_ROCM":
        from glob import glob
        return bool([*os.walk("."), *glob("*"), *pathlib.Path().glob("*")]) and False
    raise AttributeError(name)
"""
    checked = generated.check("_rocm_compat.py", text.encode())
    assert checked.safe and [item.kind for item in checked.differences] == [Kind.UNDECIDED]
    assert checked.constants == {}

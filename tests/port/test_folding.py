"""With every platform predicate False the edited text is the original: each form, and what only looks like it."""

from __future__ import annotations

import sys

import pytest

from rocport.port.folding import misfit

ROCM = "_rocm_compat.IS_ROCM"


@pytest.mark.parametrize("gate", [ROCM, "_rocm_compat.WAVE64", "_rocm_compat.FP8_FNUZ", "_IS_ROCM"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = a\n", "y = b if {} else a\n"),
        ("y = a\n", "y = a if not {} else b\n"),
        ("y = a\n", "y = {} and b or a\n"),
        ("y = a\n", "y = {} or a\n"),
        ("y = a\n", "y = a or {}\n"),
        ("y = a\n", "y = a and not {}\n"),
        ("y = a\n", "y = not {} and a\n"),
        ("y = a and b\n", "y = a and not {} and b\n"),
        ("y = a or b\n", "y = a or {} or b\n"),
        ("y = a\n", "y = b if ({0} and {0}) else a\n"),
        ("y = a\n", "y = a if (not {0} and not {0}) else b\n"),
        ("y = a\n", "y = b if ({0} or {0}) else a\n"),
        ("y = a\n", "y = b if {} and c else a\n"),
        ("x()\n", "x()\nif {}:\n    y()\n"),
        ("x()\n", "if not {}:\n    x()\n"),
        ("x()\n", "if not {}:\n    x()\nelse:\n    y()\n"),
        ("if a:\n    x()\n", "if {}:\n    y()\nelif a:\n    x()\n"),
        ("def f():\n    return a\n", "def f():\n    if {}:\n        return b\n    return a\n"),
        ("class C:\n    x = [a]\n", "class C:\n    x = [b if {} else a]\n"),
        ("while a:\n    pass\n", "while a or {}:\n    pass\n"),
        ("f(g(a))\n", "f(g(b if {} else a))\n"),
    ],
)
def test_forms_that_fold_back(gate: str, before: str, after: str) -> None:
    assert misfit(before.encode(), after.format(gate).encode()) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = a\n", f"y = a if {ROCM} else b\n"),
        ("y = a\n", f"y = a and {ROCM}\n"),
        ("y = a\n", f"y = not {ROCM} or a\n"),
        ("y = a\n", f"y = a or not {ROCM}\n"),
        ("y = a or b\n", f"y = a or b and {ROCM}\n"),
        ("y = a\n", f"y = -{ROCM} or a\n"),
        ("y = a\n", f"if not {ROCM}:\n    y = a\n    x()\n"),
        ("x()\n", f"if {ROCM}:\n    x()\n"),
        ("y = a\n", "y = a or False\n"),
        ("y = a\n", "y = b if False else a\n"),
        ("x()\n", "if True:\n    x()\n"),
        ("y = a\n", "y = a and not False\n"),
        ("y = a\n", "y = b if _rocm_compat.HIP_VERSION else a\n"),
        ("y = a\n", "y = b if compat.IS_ROCM else a\n"),
        ("y = a\n", "y = b if x._rocm_compat.IS_ROCM else a\n"),
        ("y = a\n", "y = b if IS_ROCM else a\n"),
        ("x()\n", "import _rocm_compat, os\nx()\n"),
        ("x()\n", "import os\nx()\n"),
        ("x()\n", "from . import _rocm_compat, other\nx()\n"),
        ("x()\n", "_OTHER = 1\nx()\n"),
        ("x()\n", "o._IS_ROCM = 1\nx()\n"),
        ("x()\n", "for _IS_ROCM in y:\n    pass\nx()\n"),
    ],
)
def test_forms_that_do_not(before: str, after: str) -> None:
    assert misfit(before.encode(), after.encode()) == "without ROCm the edited text would not be the original"


@pytest.mark.parametrize(
    "line",
    [
        "import _rocm_compat",
        "from . import _rocm_compat",
        "from pkg import _rocm_compat",
        "_IS_ROCM = torch.version.hip",
    ],
)
def test_the_line_that_brings_the_predicate_folds_away(line: str) -> None:
    assert misfit(b"x()\n", f"{line}\nx()\n".encode()) == ""


def test_an_original_that_is_gated_already_keeps_its_gates() -> None:
    before = f"import _rocm_compat\ny = b if {ROCM} else a\n"
    assert misfit(before.encode(), before.replace("b if", "c if").encode()) == ""
    assert misfit(before.encode(), before.replace("else a", "else c").encode())


@pytest.mark.parametrize("text", ["y = (\n", "y = '\0'\n", "  y = 1\n"])
def test_text_that_is_no_python_says_so(text: str) -> None:
    assert misfit(b"y = 1\n", text.encode()).startswith("the edited text is no Python: ")


def test_what_nests_too_deeply_is_not_compared() -> None:
    deep = b"x = " + b"-" * 3000 + b"a\n"
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # some packages raise it for the whole process
    try:
        said = misfit(deep, deep)
    finally:
        sys.setrecursionlimit(before)
    assert "nested too deeply" in said or said.startswith("the edited text is no Python: ")


def test_warnings_of_the_source_are_not_printed(recwarn: pytest.WarningsRecorder) -> None:
    assert misfit(b"x = '\\d'\nassert (1, 2)\n", b"x = '\\d'\nassert (1, 2)\n") == "" and not list(recwarn)

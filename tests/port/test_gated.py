"""Gated edits outside CUDA sources: what is applied, what is refused, and the module the edited files import."""

from __future__ import annotations

import ast

import pytest

from rocport.model import Applicability, Edit, Finding, Severity, Span
from rocport.port import compat
from rocport.port.folding import misfit
from rocport.port.gated import Gated, apply_gated
from rocport.port.places import Places, import_offset

SOURCE = b'"""A module."""\n\nimport torch\n\nkind = torch.float8_e4m3fn\n'


def finding(data: bytes, old: bytes, new: bytes, names: frozenset[str] = frozenset({"FP8_FNUZ"})) -> Finding:
    start = data.index(old)
    return Finding(
        "rule",
        "pkg/m.py",
        Span(start, start + len(old)),
        1,
        1,
        "message",
        Severity.WRONG_RESULT,
        Applicability.REVIEW,
        2,
        edits=(Edit(Span(start, start + len(old)), new),),
        compat=names,
    )


def gate(path: str, data: bytes, *findings: Finding, others: dict[str, bytes] | None = None) -> Gated:
    return apply_gated(path, data, "python", findings, Places.of({path: data, **(others or {})}))


GOOD = (b"torch.float8_e4m3fn", b"(torch.float8_e4m3fnuz if _rocm_compat.FP8_FNUZ else torch.float8_e4m3fn)")


@pytest.mark.parametrize(
    ("path", "others", "statement", "file"),
    [
        ("m.py", (), "import _rocm_compat", "_rocm_compat.py"),
        ("tools/m.py", (), "import _rocm_compat", "tools/_rocm_compat.py"),
        ("pkg/m.py", ("pkg/__init__.py",), "from . import _rocm_compat", "pkg/_rocm_compat.py"),
        (
            "src/pkg/sub/m.py",
            ("src/pkg/__init__.py", "src/pkg/sub/__init__.py"),
            "from .. import _rocm_compat",
            "src/pkg/_rocm_compat.py",
        ),
    ],
)
def test_the_import_follows_the_package(path: str, others: tuple[str, ...], statement: str, file: str) -> None:
    made = gate(path, SOURCE, finding(SOURCE, *GOOD), others=dict.fromkeys(others, b""))
    assert made.compat_file == file and made.compat == {"FP8_FNUZ"}
    assert f"import torch\n{statement}\n\nkind = (".encode() in made.data


PKG = {"pkg/__init__.py": b"", "pkg/sub/__init__.py": b""}
RUNS = b'if __name__ == "__main__":\n    print(kind)\n'


@pytest.mark.parametrize(
    ("path", "line", "statement"),
    [
        # Its own package by name, relatively, the tree's package from outside: as the file does already.
        ("pkg/m.py", b"import pkg.sub", "from pkg import _rocm_compat"),
        ("pkg/m.py", b"from pkg.sub import y", "from pkg import _rocm_compat"),
        ("pkg/sub/m.py", b"from . import x", "from .. import _rocm_compat"),
        ("a/b/m.py", b"from . import x", "from . import _rocm_compat"),
        ("tests/test_m.py", b"from pkg.sub import y", "from pkg import _rocm_compat"),
        ("tests/test_m.py", b"import os", "import _rocm_compat"),
    ],
)
def test_the_import_is_one_the_file_can_make(path: str, line: bytes, statement: str) -> None:
    data = b"import torch\n" + line + b"\nkind = torch.float8_e4m3fn\n" + RUNS
    made = gate(path, data, finding(data, *GOOD), others=PKG)
    assert line + f"\n{statement}\n".encode() in made.data, made.findings[0].message


@pytest.mark.parametrize(
    ("path", "data", "others", "why"),
    [
        ("pkg/m.py", SOURCE + RUNS, PKG, "run or imported without it"),
        ("pkg/m.py", SOURCE, {**PKG, "pkg/run.py": b"import m\n"}, "run or imported without it"),
        ("a/b/m.py", SOURCE, {"x.py": b"from a.b import (\n    other,\n    m,\n)\n"}, "through its folder"),
        ("m.py", SOURCE, {"setup.py": b"setup(py_modules=['m'])\n"}, "one by one"),
    ],
)
def test_where_no_import_is_sure_nothing_is_edited(path: str, data: bytes, others: dict[str, bytes], why: str) -> None:
    made = gate(path, data, finding(data, *GOOD), others=others)
    assert made.data == data and why in made.findings[0].message


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (b"", b"x = 1\n"),
        (b"# a licence\n", b"x = 1\n"),
        (b'"""A module."""\n\n', b"# of x\n# and more of x\nx = 1\n"),
        (b'"""A module."""\n# a\n\n', b"x = 1\n"),
        (b"\xef\xbb\xbf", b"x = 1\n"),
        (b"import a\nfrom b import (\n    c,\n)\n", b"\n# of x\nx = 1\n"),
        (b"import a\r\n", b"x = 1\r\n"),
        (b"import a", b""),
    ],
)
def test_where_the_import_stands(before: bytes, behind: bytes) -> None:
    data = before + behind
    assert import_offset(data, ast.parse(data)) == len(before)


@pytest.mark.parametrize("data", [b"import a; x = 1\n", b"import _rocm_compat\n_rocm_compat.x\nimport a\n"])
def test_no_line_is_free_for_the_import(data: bytes) -> None:
    assert import_offset(data, ast.parse(data), "a") is None


def test_the_import_stands_behind_the_package_it_comes_from() -> None:
    data = b"import os\n\nos.environ['A'] = '1'\nimport pkg\n\nkind = torch.float8_e4m3fn\n"
    made = gate("run.py", data, finding(data, *GOOD), others=PKG)
    assert b"import pkg\nfrom pkg import _rocm_compat\n\nkind = (" in made.data
    early = b"import os\nkind = torch.float8_e4m3fn\nimport pkg\n"
    made = gate("run.py", early, finding(early, *GOOD), others=PKG)
    assert b"import os\nimport _rocm_compat\n\nkind = (" in made.data
    early += RUNS
    refused = gate("pkg/m.py", early, finding(early, *GOOD), others=PKG)
    assert refused.data == early and "before its first use" in refused.findings[0].message


@pytest.mark.parametrize(
    "data",
    [
        SOURCE.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + SOURCE,
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + SOURCE,
        SOURCE.rstrip(b"\n"),
        b"\xef\xbb\xbfimport torch\nkind = torch.float8_e4m3fn\n",
        b"#!/usr/bin/env python\n# Licence: ours\nimport torch\nkind = torch.float8_e4m3fn\n",
        b"from __future__ import annotations\n\n# about torch\nimport torch\nkind = torch.float8_e4m3fn\n",
        b"def f():\n    import torch\n    return torch.float8_e4m3fn\n",
    ],
)
def test_everything_outside_the_edits_stays(data: bytes) -> None:
    made = gate("m.py", data, finding(data, *GOOD))
    ast.parse(made.data)
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    without = made.data.replace(b"import _rocm_compat" + newline, b"", 1).replace(GOOD[1], GOOD[0])
    assert without.replace(newline, b"") == data.replace(newline, b"")
    assert (b"\r\n" in made.data) == (b"\r\n" in data) and made.data.endswith(newline) == data.endswith(newline)
    assert misfit(data, made.data) == ""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"torch.float8_e4m3fn", b"torch.float8_e4m3fnuz", "without ROCm"),
        (b"torch.float8_e4m3fn", b"(torch.float8_e4m3fnuz if True else torch.float8_e4m3fn)", "without ROCm"),
        (b"torch.float8_e4m3fn", b"(a if _rocm_compat.IS_ROCM else torch.float8_e5m2)", "without ROCm"),
        (b"torch.float8_e4m3fn", b"(", "no Python"),
    ],
)
def test_an_edit_that_does_not_fold_back_is_not_made(old: bytes, new: bytes, why: str) -> None:
    made = gate("m.py", SOURCE, finding(SOURCE, old, new))
    assert made.data == SOURCE and made.compat_file == ""
    (left,) = made.findings
    assert left.applicability is Applicability.MANUAL and left.edits == () and why in left.message


def test_one_bad_edit_does_not_take_the_good_ones_with_it() -> None:
    data = SOURCE + b"other = torch.float8_e5m2\n"
    bad = finding(data, b"torch.float8_e5m2", b"None", frozenset())
    made = gate("m.py", data, finding(data, *GOOD), bad)
    assert GOOD[1] in made.data and b"other = torch.float8_e5m2\n" in made.data
    assert [item.applicability for item in made.findings] == [Applicability.REVIEW, Applicability.MANUAL]


def test_a_module_of_that_name_by_somebody_else_is_left_alone() -> None:
    made = gate("m.py", SOURCE, finding(SOURCE, *GOOD), others={"_rocm_compat.py": b"mine = 1\n"})
    assert made.data == SOURCE and "not rocport's" in made.findings[0].message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    x()\n", "if a and not _rocm_compat.IS_ROCM:\n    x()\n"),
        ("if a or b:\n    x()\n", "if not _rocm_compat.WAVE64 and (a or b):\n    x()\n"),
        ("y = a\n", "y = a or _rocm_compat.IS_ROCM and b\n"),
        ("y = a\n", "y = (b if _rocm_compat.IS_ROCM else a)\n"),
        ("x()\n", "if _IS_ROCM:\n    y()\nelse:\n    x()\n"),
        ("x()\n", "_IS_ROCM = torch.version.hip is not None\nx()\nif _IS_ROCM:\n    y()\n"),
        ("if a:\n    x()\nelse:\n    y()\n", "if _IS_ROCM:\n    z()\nelif a:\n    x()\nelse:\n    y()\n"),
    ],
)
def test_forms_that_fold(before: str, after: str) -> None:
    assert misfit(before.encode(), after.encode()) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    x()\n", "if a and _rocm_compat.IS_ROCM:\n    x()\n"),
        ("if True:\n    x()\n", "x()\n"),
        ("y = a\n", "y = (b if _rocm_compat.ANY else a)\n"),
        ("y = a\n", "y = (b if other.IS_ROCM else a)\n"),
        ("x()\n", "if IS_ROCM:\n    y()\nelse:\n    x()\n"),
        ("f('a')\n", "f('b')\n"),
    ],
)
def test_forms_that_do_not_fold(before: str, after: str) -> None:
    assert misfit(before.encode(), after.encode())


def test_the_module_holds_what_is_wanted_and_no_more() -> None:
    module = compat.render(frozenset({"IS_ROCM"})).decode()
    assert "IS_ROCM" in module and "WAVE64" not in module and "gfx" not in module
    assert compat.is_generated(module.encode()) and compat.names_in(module.encode()) == {"IS_ROCM"}
    with pytest.raises(compat.UnknownNameError, match="NOPE"):
        compat.render(frozenset({"NOPE"}))

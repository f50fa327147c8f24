"""Gated edits outside CUDA sources: what is applied, what is refused, and the module the edited files import."""

from __future__ import annotations

import ast

import pytest

from rocport.model import Applicability, Edit, Finding, Severity, Span
from rocport.port import compat
from rocport.port.folding import misfit
from rocport.port.gated import Gated, apply_gated
from rocport.port.places import Places

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
    assert f'"""A module."""\n\n{statement}\nimport torch\n'.encode() in made.data


def test_a_folder_imported_by_its_dotted_name_is_a_package() -> None:
    made = gate("a/b/m.py", SOURCE, finding(SOURCE, *GOOD), others={"x.py": b"from a.b.m import kind\n"})
    assert b"from a.b import _rocm_compat\n" in made.data and made.compat_file == "a/b/_rocm_compat.py"


def test_a_module_that_is_run_names_its_package() -> None:
    data = SOURCE + b'if __name__ == "__main__":\n    print(kind)\n'
    made = gate("pkg/m.py", data, finding(data, *GOOD), others={"pkg/__init__.py": b""})
    assert b"from pkg import _rocm_compat\n" in made.data


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

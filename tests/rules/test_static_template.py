"""A static definition of a template whose declaration stands in a header of the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api

STATIC = "template <bool, bool> static int copy(int s)\n{\n  return s;\n}\n"


@pytest.mark.parametrize(
    ("header", "source", "left"),
    [
        ("template <bool w, bool r> int copy(int s);\n", '#include "f.h"\nnamespace n {\n' + STATIC + "}\n", False),
        ("template <class T> typename X<T, 2>::Y copy(Y<T, 1> s);\n", '#include "f.h"\n' + STATIC, False),
        ("template <bool w, bool r> int copy(int s);\n", STATIC, True),
        ("template <bool w, bool r> int copy(int s, int n);\n", '#include "f.h"\n' + STATIC, True),
        ("template <bool w, bool r> static int copy(int s);\n", '#include "f.h"\n' + STATIC, True),
    ],
)
def test_what_a_header_declares_decides(tmp_path: Path, header: str, source: str, left: bool) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f.h").write_text(header)
    (tmp_path / "tree" / "f.cu").write_text(source)
    findings = api.scan(tmp_path / "tree").findings
    assert any(finding.rule == "static-template" for finding in findings) is not left

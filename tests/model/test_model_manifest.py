from __future__ import annotations

import json
from typing import Any

import pytest

from rocport.model.manifest import Manifest, is_inside
from rocport.model.report import FileRecord

SHA = "0" * 64
RECORD = {"source": "a.cu", "output": "a.hip", "status": "translated", "source_sha256": SHA, "output_sha256": SHA}
MADE = {**RECORD, "source": "", "output": "rocport_warp.h", "source_sha256": ""}
GOOD = {"schema": 1, "version": "1.0", "options": {"warp": "native"}, "files": [RECORD, MADE], "source_root": "../src"}


def text(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


def test_a_manifest_is_read_back() -> None:
    manifest = Manifest.parse(text())
    assert (manifest.version, manifest.options, manifest.source_root) == ("1.0", {"warp": "native"}, "../src")
    assert manifest.files == {
        "a.hip": FileRecord("a.cu", "a.hip", "translated", SHA, SHA),
        "rocport_warp.h": FileRecord("", "rocport_warp.h", "translated", "", SHA),
    }
    without = {key: value for key, value in GOOD.items() if key != "source_root"}
    assert Manifest.parse(json.dumps(without)).source_root == ""


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("[]", "schema None, expected 1"),
        (text(schema=2), "schema 2, expected 1"),
        (text(options=[]), "is not a manifest"),
        (text(files={}), "is not a manifest"),
        (text(options={"warp": 32}), "is not a manifest"),
        (text(version=1), "is not a manifest"),
        (text(source_root=3), "names 3 as the folder of its sources"),
        (text(source_root="a\0b"), "as the folder of its sources"),
        (text(files=["a"]), "is not a manifest"),
        (text(files=[{**RECORD, "status": None}]), "is not a manifest"),
        (text(files=[{**RECORD, "output": ""}]), "is not a manifest"),
        (text(files=[{**RECORD, "output_sha256": "xyz"}]), "is not a manifest"),
        (text(files=[{**RECORD, "source_sha256": SHA + "0"}]), "is not a manifest"),
        (text(files=[{**RECORD, "output": "../victim"}]), "names '../victim', outside the tree"),
        (text(files=[{**RECORD, "source": "/etc/passwd"}]), "outside the tree"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "Expecting property name"),
    ],
)
def test_what_no_port_writes_is_refused_with_what_is_wrong(data: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Manifest.parse(data)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a", True),
        ("a/b.cu", True),
        (".git", True),
        ("a/.gitignore", True),
        ("..a/b", True),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a//b", False),
        ("./a", False),
        ("a/..", False),
        ("a/../b", False),
        (".git/hooks", False),
        ("sub/.git/config", False),
        ("a\0b", False),
    ],
)
def test_a_path_stays_in_its_tree_and_out_of_git(path: str, inside: bool) -> None:
    assert is_inside(path) is inside

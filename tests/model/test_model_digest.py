"""The hash of rocport itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rocport.model import digest


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three files in the place of rocport."""
    root = tmp_path / "rocport"
    for name in ("__init__.py", "model/digest.py", "scan/a.py", "port/b.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    monkeypatch.setattr(digest, "__file__", str(root / "model" / "digest.py"))
    return root


def test_it_follows_the_packages_that_are_asked_for(copy: Path) -> None:
    before, whole = digest.code_digest(["scan"]), digest.code_digest()
    (copy / "port" / "b.py").write_text("another")
    assert digest.code_digest(["scan"]) == before and digest.code_digest() != whole
    (copy / "scan" / "a.py").write_text("another")
    assert digest.code_digest(["scan"]) != before
    before = digest.code_digest(["scan"])
    (copy / "__init__.py").write_text('__version__ = "2"')
    assert digest.code_digest(["scan"]) != before


def test_by_content_it_is_the_same_in_another_folder(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = digest.code_digest(by_content=True), digest.code_digest()
    shutil.copytree(copy, tmp_path / "other" / "rocport")
    (tmp_path / "other" / "rocport" / "scan" / "__pycache__").mkdir()
    (tmp_path / "other" / "rocport" / "scan" / "__pycache__" / "a.pyc").write_bytes(b"x")
    monkeypatch.setattr(digest, "__file__", str(tmp_path / "other" / "rocport" / "model" / "digest.py"))
    assert digest.code_digest(by_content=True) == here[0] and digest.code_digest() != here[1]

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from rocport.model.digest import file_sha256
from rocport.model.folders import NotPrivateError, cache_folder, private


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    named, xdg = str(tmp_path / "named"), str(tmp_path / "xdg")
    assert cache_folder({"ROCPORT_CACHE": named, "XDG_CACHE_HOME": xdg}) == tmp_path / "named"
    assert cache_folder({"XDG_CACHE_HOME": xdg}) == tmp_path / "xdg" / "rocport"
    assert cache_folder({"XDG_CACHE_HOME": "", "ROCPORT_CACHE": ""}) == tmp_path / "home" / ".cache" / "rocport"
    assert (tmp_path / "home" / ".cache" / "rocport").is_dir()


def test_a_folder_is_made_with_its_parents_and_for_its_user_alone(tmp_path: Path) -> None:
    folder = private(tmp_path / "a" / "b")
    assert mode(folder) == 0o700
    assert private(folder) == folder


@pytest.mark.parametrize("open_to", [0o770, 0o707, 0o701, 0o720])
def test_a_folder_open_to_others_is_closed(tmp_path: Path, open_to: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(open_to)
    assert mode(private(folder)) == 0o700


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(NotPrivateError, match=r"theirs: belongs to another user.*ROCPORT_CACHE"):
        private(folder)


def test_a_folder_that_cannot_be_made_is_left_to_who_writes_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert private(tmp_path / "file" / "below") == tmp_path / "file" / "below"


def test_a_files_hash_is_of_all_its_pieces(tmp_path: Path) -> None:
    data = bytes(range(256)) * (5 * 1024)
    (tmp_path / "f").write_bytes(data)
    assert len(data) > 1 << 20
    assert file_sha256(tmp_path / "f") == hashlib.sha256(data).hexdigest()
    with pytest.raises(FileNotFoundError):
        file_sha256(tmp_path / "none")

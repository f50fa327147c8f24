"""Files that somebody else could have put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocport.model.plain import plain


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_not_read(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "x"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        place.mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        plain(place)


def test_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\0b")
    assert plain(tmp_path / "x") == b"a\0b"

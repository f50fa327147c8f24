"""One process at a time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rocport.model.locks import locked


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: None], ids=["a folder", "a lock file"])
def test_who_comes_second_is_told_and_waits(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    place = tmp_path / "place"
    make(place)
    said: list[str] = []
    order: list[str] = []
    waiting = threading.Event()

    def busy() -> None:
        said.append("busy")
        waiting.set()

    def second() -> None:
        with locked(place, busy):
            order.append("second")

    with locked(place):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(3600)
        order.append("first")
    thread.join()
    assert (said, order) == (["busy"], ["first", "second"])


def test_who_raises_does_not_wait(tmp_path: Path) -> None:
    def refuse() -> None:
        raise BlockingIOError("held")

    with locked(tmp_path), pytest.raises(BlockingIOError, match="held"), locked(tmp_path, refuse):
        pass
    with locked(tmp_path, refuse):
        pass

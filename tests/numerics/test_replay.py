from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from rocport.numerics import replay, trusted
from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import Golden, open_golden
from rocport.numerics.recorder import capture

CPU = torch.device("cpu")


def _golden(path: Path, mode: str = "full") -> Golden:
    torch.manual_seed(0)
    x, w = torch.randn(6, 8), torch.randn(4, 8, requires_grad=True)
    with capture(path, CaptureConfig(mode=mode)):
        y = torch.nn.functional.softmax(x @ w.t(), -1)
        z = y.expand(2, 6, 4).to(torch.bfloat16) * 2
        z.float().sum().backward()
        torch.rand(3)
        out = torch.zeros(6, 4)
        out.add_(y.detach())
        torch._foreach_mul_([out], 2.0)
    return open_golden(path)


def _by_name(golden: Golden, journal: Path, **options: bool) -> dict[str, replay.Replayed]:
    return {row.name: row for row in replay.replay_golden(golden, CPU, journal, **options)}


def test_right_operators_are_right(tmp_path: Path) -> None:
    rows = _by_name(_golden(tmp_path / "a"), tmp_path / "j", layouts=True)
    assert {row.status for row in rows.values()} <= {replay.OK, replay.SKIPPED}, rows
    assert rows["aten.mm.default"].status == replay.OK
    assert rows["aten.mm.default"].error == rows["aten.mm.default"].recorded_error
    assert rows["aten._foreach_mul_.Scalar"].status == replay.OK
    assert (rows["aten.rand.default"].reason if "aten.rand.default" in rows else "random") == "random"


def test_without_values_it_says_so(tmp_path: Path) -> None:
    rows = _by_name(_golden(tmp_path / "a", "stats"), tmp_path / "j")
    assert {row.status for row in rows.values()} == {replay.SKIPPED}
    assert "--full" in rows["aten.mm.default"].reason


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.library.Library]:
    monkeypatch.setattr(trusted, "NAMESPACES", trusted.NAMESPACES | {"rocportreplay"})
    made = torch.library.Library("rocportreplay", "FRAGMENT")
    yield made
    made._destroy()


_numbers = itertools.count()


def _replayed(library: torch.library.Library, tmp_path: Path, then: object, now: object) -> replay.Replayed:
    """One operator recorded with one implementation and replayed with another."""
    name = f"op{next(_numbers)}"
    library.define(f"{name}(Tensor x) -> Tensor")
    doing = {"now": then}
    library.impl(name, lambda x: doing["now"](x), "CompositeExplicitAutograd")  # type: ignore[operator]
    with capture(tmp_path / "a", CaptureConfig(mode="full")):
        getattr(torch.ops.rocportreplay, name)(torch.randn(40, 30))
    doing["now"] = now
    golden = open_golden(tmp_path / "a")
    call = next(c for c in golden.calls if c.name.startswith("rocportreplay."))
    return replay.replay_call(golden, call, CPU, layouts=True)


def test_a_result_that_changes_is_found(library: torch.library.Library, tmp_path: Path) -> None:
    count = itertools.count()
    row = _replayed(library, tmp_path, lambda x: x * 2, lambda x: x * 2 + next(count) * 1e-6)
    assert row.status == replay.NONDETERMINISTIC


def test_a_worse_result_is_found(library: torch.library.Library, tmp_path: Path) -> None:
    def rounds(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).bfloat16().float() if x.dtype is torch.float32 else x * 2

    row = _replayed(library, tmp_path, lambda x: x * 2, rounds)
    assert row.status == replay.WRONG
    assert row.error is not None and row.bound is not None and row.error > row.bound


def test_a_result_that_depends_on_strides_is_found(library: torch.library.Library, tmp_path: Path) -> None:
    def flat(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided(x.shape, (x.shape[1], 1)) * 2

    row = _replayed(library, tmp_path, flat, flat)
    assert row.status == replay.LAYOUT


def test_an_error_is_a_result(library: torch.library.Library, tmp_path: Path) -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no kernel image is available")

    row = _replayed(library, tmp_path, lambda x: x * 2, fails)
    assert (row.status, row.reason) == (replay.ERROR, "RuntimeError: no kernel image is available")


def test_a_replay_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden, journal = _golden(tmp_path / "a"), tmp_path / "j"
    rows = replay.replay_golden(golden, CPU, journal)
    first = [next(rows), next(rows)]
    rows.close()
    ran = []
    original = replay.replay_call
    monkeypatch.setattr(replay, "replay_call", lambda g, c, *a, **k: ran.append(c.seq) or original(g, c, *a, **k))
    again = list(replay.replay_golden(golden, CPU, journal))
    assert again[:2] == first
    assert not {row.seq for row in first} & set(ran)


def test_the_call_a_process_died_in_is_not_tried_again(tmp_path: Path) -> None:
    golden, journal = _golden(tmp_path / "a"), tmp_path / "j"
    call = next(c for c in golden.calls if c.name == "aten.mm.default")
    journal.write_text(f'{{"running": {call.seq}, "name": "aten.mm.default", "scope": ""}}\n{{"cut')
    rows = {row.seq: row for row in replay.replay_golden(golden, CPU, journal)}
    assert (rows[call.seq].status, rows[call.seq].reason) == (replay.ERROR, "the process died in it")

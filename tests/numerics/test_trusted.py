"""What a recording that attacks can reach: nothing but arithmetic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rocport.numerics import replay, trusted
from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import GoldenError, open_golden
from rocport.numerics.recorder import capture
from rocport.numerics.records import Call, TensorRecord

HOSTILE = [
    "load_library",
    "aten.from_file.default",
    "aten.__class__.mro",
    "aten.mm.__class__",
    "classes.__torch__.x",
    "profiler._record_function_enter.default",
    "inductor._alloc_from_pool.default",
    "aten.mm",
    "os.system.default",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_an_operator_that_does_more_than_compute_is_refused(name: str) -> None:
    with pytest.raises((trusted.UntrustedError, AttributeError)):
        trusted.operator(name)


@pytest.mark.parametrize("name", ["aten.mm.default", "aten.div.Tensor_mode", "aten.gelu.default", "prims.add.default"])
def test_arithmetic_is_trusted(name: str) -> None:
    assert str(trusted.operator(name)) == name


@pytest.mark.parametrize("name", ["load", "__builtins__", "nn", "float32.__class__", "", 7])
def test_a_type_is_a_type(name: Any) -> None:
    for read in (trusted.dtype, trusted.memory_format, trusted.layout):
        with pytest.raises(trusted.UntrustedError):
            read(name)
    assert trusted.dtype("bfloat16") is torch.bfloat16
    assert trusted.memory_format("channels_last") is torch.channels_last


def test_replay_does_not_load_the_library_that_a_recording_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture(tmp_path / "a", CaptureConfig(mode="full")):
        torch.ones(2, 2) @ torch.ones(2, 2)
    golden = open_golden(tmp_path / "a")
    call = next(call for call in golden.calls if call.name == "aten.mm.default")
    loaded: list[object] = []
    monkeypatch.setattr(torch.ops, "load_library", loaded.append)
    for name in ("load_library", "aten.from_file.default"):
        row = replay.replay_call(
            golden, replace(call, name=name, arguments=[[str(tmp_path / "a")]]), torch.device("cpu")
        )
        assert row.status == replay.SKIPPED and "replay" in row.reason
    assert not loaded


@pytest.mark.parametrize(
    ("of", "field", "value"),
    [
        (TensorRecord, "d", "x; import os"),
        (TensorRecord, "s", [-1]),
        (TensorRecord, "s", ["8"]),
        (TensorRecord, "x", b"short"),
        (TensorRecord, "v", None),
        (Call, "i", ["0"]),
        (Call, "i", [10**9]),
        (Call, "n", ["load_library"]),
        (Call, "p", {}),
    ],
)
def test_an_index_that_no_capture_writes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: type, field: str, value: Any
) -> None:
    original = of.to_frame  # type: ignore[attr-defined]
    monkeypatch.setattr(of, "to_frame", lambda self: {**original(self), field: value})
    with capture(tmp_path / "b", CaptureConfig(mode="stats")):
        torch.ones(2, 2) @ torch.ones(2, 2)
    with pytest.raises(GoldenError, match="record it again"):
        open_golden(tmp_path / "b")

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
import torch

from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import INDEX, GoldenError, open_golden, part_of
from rocport.numerics.recorder import Recorder, capture
from rocport.numerics.values import load


def _small(path: Path, mode: str = "full", **options: int) -> Path:
    with capture(path, CaptureConfig(mode=mode, **options)):
        x = torch.arange(12.0).view(3, 4)
        (x.t() @ x).sum()
    return path


def test_values_come_back(tmp_path: Path) -> None:
    golden = open_golden(_small(tmp_path / "a.golden"))
    assert golden.complete and golden.content
    assert not part_of(tmp_path / "a.golden").exists()
    call = next(c for c in golden.calls if c.name == "aten.mm.default")
    x = torch.arange(12.0).view(3, 4)
    values = load(golden, golden.tensors[call.outputs[0]])
    assert values is not None and torch.equal(values, x.t() @ x)
    assert golden.tensors[call.inputs[0]].stride == (1, 4)


def test_the_file_is_a_zip_with_safetensors(tmp_path: Path) -> None:
    from safetensors.torch import load as read

    with zipfile.ZipFile(_small(tmp_path / "a.golden")) as archive:
        assert set(archive.namelist()) == {INDEX, "tensors-0000.safetensors", "manifest.json"}
        assert read(archive.read("tensors-0000.safetensors"))


def test_the_same_run_has_the_same_numbers(tmp_path: Path) -> None:
    first, second = open_golden(_small(tmp_path / "a")), open_golden(_small(tmp_path / "b"))
    assert [t.statistics for t in first.tensors.values()] == [t.statistics for t in second.tensors.values()]


@pytest.mark.parametrize("where", [0.2, 0.5, 0.9])
def test_damage_is_seen(tmp_path: Path, where: float) -> None:
    path = _small(tmp_path / "a.golden")
    data = bytearray(path.read_bytes())
    data[int(len(data) * where)] ^= 0x40
    path.write_bytes(data)
    with pytest.raises(GoldenError, match=r"a\.golden"):
        open_golden(path)


@pytest.mark.parametrize("keep", [0, 10, 2000])
def test_a_cut_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = _small(tmp_path / "a.golden")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(GoldenError, match=r"cut off|not a golden file"):
        open_golden(path)


def test_whole_frames_of_a_cut_capture_are_read(tmp_path: Path) -> None:
    part = part_of(tmp_path / "a.golden")
    with Recorder(part, CaptureConfig()):
        for _ in range(20):
            torch.ones(3).sum()
    index = part / INDEX
    whole = len(open_golden(part).calls)
    with index.open("r+b") as file:
        file.truncate(os.path.getsize(index) * 2 // 3)
    golden = open_golden(part)
    assert 0 < len(golden.calls) < whole
    assert not golden.complete
    with pytest.raises(GoldenError, match="cut off"):
        open_golden(tmp_path / "a.golden")


def test_values_are_bounded(tmp_path: Path) -> None:
    golden = open_golden(_small(tmp_path / "a.golden", max_bytes=100))
    stored = [t for t in golden.tensors.values() if t.stored]
    assert stored and sum(t.numel * 4 for t in stored) <= 100
    assert all(t.statistics is not None for t in stored)


def test_calls_are_bounded(tmp_path: Path) -> None:
    with capture(tmp_path / "a", CaptureConfig(max_calls=5)):
        for _ in range(10):
            torch.ones(2).sum()
    assert len(open_golden(tmp_path / "a").calls) == 5


def test_a_sample_keeps_small_tensors_whole(tmp_path: Path) -> None:
    with capture(tmp_path / "a", CaptureConfig(mode="sample", sample=8)):
        (torch.ones(100) * 2, torch.ones(4) * 2)
    golden = open_golden(tmp_path / "a")
    kinds = {t.shape: (t.stored, load(golden, t)) for t in golden.tensors.values()}
    assert kinds[(100,)][0] == "sample" and kinds[(100,)][1].numel() == 8
    assert kinds[(4,)][0] == "full"


def test_every_type_comes_back(tmp_path: Path) -> None:
    tensors = [
        torch.tensor([1.5, -2.0]).to(d)
        for d in (torch.bfloat16, torch.float8_e4m3fn, torch.complex64, torch.bool, torch.int16, torch.float64)
    ]
    with capture(tmp_path / "a", CaptureConfig(mode="full")):
        for tensor in tensors:
            tensor.clone()
    golden = open_golden(tmp_path / "a")
    for call, tensor in zip(golden.calls, tensors, strict=True):
        found = load(golden, golden.tensors[call.outputs[0]])
        assert found is not None and found.dtype is tensor.dtype
        assert torch.equal(found.to(torch.complex64), tensor.to(torch.complex64))


def test_an_error_is_recorded_and_goes_on(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), capture(tmp_path / "a"):
        torch.ones(2, 3) @ torch.ones(2, 3)
    golden = open_golden(tmp_path / "a")
    assert golden.calls[-1].error.startswith("RuntimeError")
    assert not golden.complete

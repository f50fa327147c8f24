"""safetensors headers: good ones are read, every malformed one is refused with a message."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocport.checkpoint import CheckpointError
from rocport.checkpoint.tensorfile import encode_header, read_checkpoint, read_header


def write(path: Path, header: object, data: bytes = b"") -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return path


def test_a_header_written_is_the_header_read(tmp_path: Path) -> None:
    layout = [("a", "F32", (2, 3), 24), ("b.c", "U8", (5,), 5), ("scalar", "I64", (), 8)]
    path = tmp_path / "x.safetensors"
    path.write_bytes(encode_header(layout, {"format": "pt"}) + bytes(range(37)))
    file = read_header(path)
    assert [(t.name, t.dtype, t.shape, t.nbytes) for t in file.tensors] == layout
    assert file.metadata == {"format": "pt"}
    assert file.tensors[1].read() == bytes(range(24, 29))
    assert file.tensors[1].read(1, 2) == bytes([25, 26])
    assert file.tensors[0].start % 8 == 0


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (b"not json", b"", "not JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", b"", "not JSON|malformed"),
        ([], b"", "not a JSON object"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 9]}}, bytes(9), "is not 9 bytes"),
        ({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, b"", "leave the file"),
        ({"a": {"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]}}, b"1", "malformed"),
        ({"a": {"shape": [1], "data_offsets": [0, 1]}}, b"1", "malformed"),
        ({"a": 3}, b"", "malformed"),
        (
            {
                "a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]},
            },
            b"123",
            "overlap",
        ),
    ],
)
def test_malformed_headers_name_the_file(tmp_path: Path, header: object, data: bytes, message: str) -> None:
    path = write(tmp_path / "bad.safetensors", header, data)
    with pytest.raises(CheckpointError, match=message) as error:
        read_header(path)
    assert "bad.safetensors" in str(error.value)


def test_short_and_oversized_files(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    for content in (b"", b"1234567", struct.pack("<Q", 1 << 40) + b"{}", b"PK\x03\x04" + bytes(100)):
        path.write_bytes(content)
        with pytest.raises(CheckpointError):
            read_header(path)


@given(st.binary(max_size=300))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_bytes_are_read_or_refused(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "fuzz.safetensors"
    path.write_bytes(struct.pack("<Q", len(body)) + body)
    with pytest.raises(CheckpointError):
        read_header(path)


@pytest.mark.parametrize("name", ["../evil.safetensors", "/etc/passwd", "..", "missing.safetensors", 7])
def test_an_index_cannot_leave_its_folder(tmp_path: Path, name: object) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    with pytest.raises(CheckpointError, match=r"model\.safetensors\.index\.json|TypeError|name of a file"):
        read_checkpoint(tmp_path)


def test_folders_without_weights_and_missing_paths(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"holds no \.safetensors"):
        read_checkpoint(tmp_path)
    with pytest.raises(CheckpointError, match="no such file"):
        read_checkpoint(tmp_path / "nowhere")


def test_the_same_tensor_in_two_files_is_refused(tmp_path: Path) -> None:
    entry = {"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}
    write(tmp_path / "1.safetensors", entry, b"x")
    write(tmp_path / "2.safetensors", entry, b"y")
    with pytest.raises(CheckpointError, match=r"a is in 1\.safetensors and in 2\.safetensors"):
        read_checkpoint(tmp_path)


def test_metadata_that_is_null_is_none(tmp_path: Path) -> None:
    """safetensors takes it so."""
    header = {"__metadata__": None, "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}
    assert read_header(write(tmp_path / "x.safetensors", header, b"1")).metadata == {}

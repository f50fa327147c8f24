"""safetensors files by their header: names, types, shapes and byte ranges; no tensor is loaded.

Format: 8 bytes little-endian header length, a JSON object, the data. Source: the safetensors format description,
https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rocport.checkpoint.errors import CheckpointError
from rocport.model.shape import Each, ShapeError, check

DTYPE_BYTES: Mapping[str, int] = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "F8_E8M0": 1,
    "F8_E4M3FNUZ": 1,
    "F8_E5M2FNUZ": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
    "C64": 8,
}
"""Bytes of one element by the name the header uses."""

MAX_HEADER_BYTES = 100_000_000
"""The format's own limit."""


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file. `start` and `end` are file offsets in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    path: Path
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        return self.end - self.start

    @property
    def elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """Bytes [offset, offset + size) of the data, to the end by default. Raises CheckpointError when cut short."""
        with self.path.open("rb") as stream:
            return self.read_from(stream, offset, size)

    def read_from(self, stream: BinaryIO, offset: int = 0, size: int | None = None) -> bytes:
        """The same, from a stream that is open already."""
        size = self.nbytes - offset if size is None else size
        if not 0 <= offset <= offset + size <= self.nbytes:
            raise CheckpointError(f"{self.path}: {self.name}: bytes {offset}+{size} are outside its {self.nbytes}")
        stream.seek(self.start + offset)
        data = stream.read(size)
        if len(data) != size:
            raise CheckpointError(f"{self.path}: {self.name}: file ends early; expected {size} bytes at {offset}")
        return data


@dataclass(frozen=True)
class TensorFile:
    """The header of one file."""

    path: Path
    tensors: tuple[Tensor, ...]
    metadata: Mapping[str, str]

    @property
    def written(self) -> str:
        """The name of its converted form."""
        return self.path.name if self.path.suffix == ".safetensors" else "model.safetensors"


def read_header(path: Path) -> TensorFile:
    """Parse and check the header of one safetensors file.

    Raises CheckpointError for a file that is no safetensors, whose offsets overlap, leave the file, or disagree with
    type and shape; OSError when it cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        prefix = stream.read(8)
        if len(prefix) < 8:
            raise CheckpointError(f"{path}: {size} bytes are no safetensors file")
        (length,) = struct.unpack("<Q", prefix)
        if length > min(MAX_HEADER_BYTES, size - 8):
            raise CheckpointError(f"{path}: no safetensors file, or cut short: header of {length} bytes in {size}")
        raw = stream.read(length)
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: the header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise CheckpointError(f"{path}: the header is not a JSON object")
    metadata = header.pop("__metadata__", None)
    metadata = {} if metadata is None else metadata
    try:
        check(metadata, Each(str))
    except ShapeError as error:
        raise CheckpointError(f"{path}: __metadata__ {error}; it maps names to texts") from error
    base = 8 + length
    tensors = sorted((_tensor(path, name, entry, base) for name, entry in header.items()), key=lambda t: t.start)
    end = base
    for tensor in tensors:
        if tensor.start < end or tensor.end > size:
            raise CheckpointError(f"{path}: {tensor.name}: bytes {tensor.start}-{tensor.end} overlap or leave the file")
        end = tensor.end
    return TensorFile(path, tuple(tensors), metadata)


def _tensor(path: Path, name: str, entry: Any, base: int) -> Tensor:
    try:
        dtype = entry["dtype"]
        shape = tuple(entry["shape"])
        start, end = entry["data_offsets"]
        whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (*shape, start, end))
        if not whole or not isinstance(dtype, str):
            raise TypeError("numbers expected")
    except (TypeError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path}: {name!r}: malformed header entry ({error})") from error
    tensor = Tensor(name, dtype, shape, path, base + start, base + end)
    if dtype in DTYPE_BYTES and tensor.elements * DTYPE_BYTES[dtype] != tensor.nbytes:
        raise CheckpointError(f"{path}: {name}: {dtype} of shape {list(shape)} is not {tensor.nbytes} bytes")
    return tensor


def encode_header(tensors: Iterable[tuple[str, str, tuple[int, ...], int]], metadata: Mapping[str, str]) -> bytes:
    """Length, header and padding of a file with these (name, dtype, shape, bytes), data in that order.

    The data begins at a multiple of 8, as the format asks.
    """
    entries: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for name, dtype, shape, nbytes in tensors:
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [position, position + nbytes]}
        position += nbytes
    body = json.dumps(entries, separators=(",", ":"), ensure_ascii=True).encode()
    body += b" " * (-len(body) % 8)
    return struct.pack("<Q", len(body)) + body


@dataclass(frozen=True)
class Checkpoint:
    """All safetensors files of a model. `index` is the file that maps names to files, None for a single file. `config`
    is what stands for config.json in a file that says it itself (GGUF)."""

    root: Path
    files: tuple[TensorFile, ...]
    index: Path | None
    config: Mapping[str, Any] | None = None

    @property
    def tensors(self) -> dict[str, Tensor]:
        return {tensor.name: tensor for file in self.files for tensor in file.tensors}


def read_checkpoint(path: Path) -> Checkpoint:
    """A `.safetensors` file, or a folder of them (with or without `model.safetensors.index.json`).

    Raises CheckpointError when there is none, when the index names a file that is missing or lies outside the folder,
    or when two files hold a tensor of the same name.
    """
    if path.is_file():
        return _checked(Checkpoint(path.parent, (read_header(path),), None))
    if not path.is_dir():
        raise CheckpointError(f"{path}: no such file or folder; expected a .safetensors file or a model folder")
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return _checked(Checkpoint(path, tuple(read_header(file) for file in _indexed(index)), index))
    files = sorted(path.glob("*.safetensors"))
    if not files:
        raise CheckpointError(f"{path}: holds no .safetensors file; .bin and .pt checkpoints are not read")
    return _checked(Checkpoint(path, tuple(read_header(file) for file in files), None))


def _indexed(index: Path) -> list[Path]:
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{index}: no weight_map that names files ({error})") from error
    for name in names:
        if not isinstance(name, str) or Path(name).name != name or name in (".", ".."):
            raise CheckpointError(f"{index}: {name!r} is not the name of a file in this folder")
        if not (index.parent / name).is_file():
            raise CheckpointError(f"{index}: names {name}, which is missing; download it again")
    return [index.parent / name for name in names]


def _checked(checkpoint: Checkpoint) -> Checkpoint:
    seen: dict[str, Path] = {}
    for file in checkpoint.files:
        for tensor in file.tensors:
            if tensor.name in seen:
                raise CheckpointError(f"{tensor.name} is in {seen[tensor.name].name} and in {file.path.name}")
            seen[tensor.name] = file.path
    return checkpoint

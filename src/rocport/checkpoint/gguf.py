"""The header of a GGUF file: what model it is, and how and where its tensors are stored.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 2 and 3, little-endian).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rocport.checkpoint.errors import CheckpointError

MAGIC = b"GGUF"
TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
    12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
    20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
    29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip
_SCALARS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
MOST = 1 << 24
"""Entries of one array or header; a file that says more is damaged."""


@dataclass(frozen=True)
class GgufFile:
    """`metadata` leaves out arrays longer than 64. `tensors`: name to (type, shape, elements); `starts`: where each
    begins in the file, in bytes."""

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, tuple[str, tuple[int, ...], int]]
    starts: dict[str, int]


def read_gguf(path: Path) -> GgufFile:
    """Raises CheckpointError for a file that is none or is cut short; OSError when it cannot be read."""
    with path.open("rb") as stream:
        try:
            return _read(path, stream)
        except (struct.error, UnicodeDecodeError, RecursionError) as error:
            raise CheckpointError(f"{path}: the GGUF header is cut short or damaged ({error})") from error


def _number(stream: BinaryIO, kind: str) -> Any:
    return struct.unpack(kind, stream.read(struct.calcsize(kind)))[0]


def _text(path: Path, stream: BinaryIO) -> str:
    return stream.read(_count(path, stream)).decode()


def _count(path: Path, stream: BinaryIO) -> int:
    count: int = _number(stream, "<Q")
    if count > MOST:
        raise CheckpointError(f"{path}: the GGUF header says {count} entries; expected at most {MOST}")
    return count


def _value(path: Path, stream: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(path, stream)
    if kind == _ARRAY:
        inner = _number(stream, "<I")
        values = [_value(path, stream, inner) for _ in range(_count(path, stream))]
        return values if len(values) <= 64 else None
    if kind not in _SCALARS:
        raise CheckpointError(f"{path}: metadata of type {kind} is not known")
    return _number(stream, _SCALARS[kind])


def _read(path: Path, stream: BinaryIO) -> GgufFile:
    if stream.read(4) != MAGIC:
        raise CheckpointError(f"{path}: is no GGUF file")
    version = _number(stream, "<I")
    if version not in (2, 3):
        raise CheckpointError(f"{path}: GGUF version {version}; 2 and 3 are read")
    tensors, entries = _count(path, stream), _count(path, stream)
    metadata = {}
    for _ in range(entries):
        key = _text(path, stream)
        metadata[key] = _value(path, stream, _number(stream, "<I"))
    found, starts = {}, {}
    for _ in range(tensors):
        name = _text(path, stream)
        rank = _number(stream, "<I")
        if rank > 8:
            raise CheckpointError(f"{path}: {name} has {rank} dimensions; expected at most 8")
        shape = tuple(_number(stream, "<Q") for _ in range(rank))
        kind = _number(stream, "<I")
        starts[name] = _number(stream, "<Q")
        elements = 1
        for size in shape:
            elements *= size
        found[name] = (TYPES.get(kind, f"type {kind}"), shape[::-1], elements)
    align = metadata.get("general.alignment", 32)
    if not isinstance(align, int) or not 0 < align <= 1 << 20:
        raise CheckpointError(f"{path}: general.alignment is {align!r}; expected a number of bytes")
    data = -(-stream.tell() // align) * align
    return GgufFile(path, metadata, found, {name: data + start for name, start in starts.items()})

"""The golden file: a zip of `index.msgpack`, `tensors-NNNN.safetensors` and `manifest.json`.

While a run is captured it is a folder `NAME.part`, to which frames are appended: four bytes of length, four of CRC-32,
then msgpack. A run that is cut off leaves whole frames, and the folder says by its name that it is not finished. The
manifest holds the SHA-256 of every member and of all of them together.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from rocport.model import shape
from rocport.numerics.records import Call, TensorRecord

SCHEMA = 1
INDEX = "index.msgpack"
MANIFEST = "manifest.json"
_FRAME = struct.Struct("<II")
_LARGEST_FRAME = 1 << 28


class GoldenError(Exception):
    """A golden file that cannot be used; the message names the place, what was expected and the next step."""


def _msgpack() -> Any:
    try:
        import msgpack
    except ImportError as error:
        raise GoldenError(
            "msgpack is not installed for this Python; pip install msgpack safetensors (or rocport[torch])"
        ) from error
    return msgpack


def part_of(golden: Path) -> Path:
    """The folder that becomes `golden` when the run is over."""
    return golden.with_name(golden.name + ".part")


class IndexWriter:
    """Appends frames to `PART/index.msgpack`; a frame is whole or does not count."""

    def __init__(self, part: Path, mode: Literal["wb", "ab"] = "wb") -> None:
        self._pack = _msgpack().Packer(use_bin_type=True).pack
        part.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = open(part / INDEX, mode)  # noqa: SIM115 - lives as long as the capture

    def write(self, frame: dict[str, Any]) -> None:
        body = self._pack(frame)
        self._file.write(_FRAME.pack(len(body), zlib.crc32(body)) + body)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def append_frame(part: Path, frame: dict[str, Any]) -> None:
    """Add a frame to a capture that is over and not sealed yet. Raises OSError."""
    writer = IndexWriter(part, "ab")
    writer.write(frame)
    writer.close()


def _frames(data: bytes) -> Iterator[dict[str, Any]]:
    """Whole frames; stops at the first that is cut off or damaged."""
    unpack = _msgpack().unpackb
    at = 0
    while at + _FRAME.size <= len(data):
        size, crc = _FRAME.unpack_from(data, at)
        body = data[at + _FRAME.size : at + _FRAME.size + size]
        if size > _LARGEST_FRAME or len(body) < size or zlib.crc32(body) != crc:
            return
        yield unpack(body, strict_map_key=False)
        at += _FRAME.size + size


def seal(part: Path, golden: Path, outcome: dict[str, Any]) -> dict[str, Any]:
    """Make `golden` of the folder, atomically, and remove the folder. Returns the manifest. Raises OSError."""
    members = sorted(path for path in part.iterdir() if path.name == INDEX or path.suffix == ".safetensors")
    digests = {path.name: _digest(path) for path in members}
    together = hashlib.sha256("".join(f"{name}={digest}\n" for name, digest in digests.items()).encode()).hexdigest()
    manifest = {"schema": SCHEMA, "outcome": outcome, "members": digests, "content": together}
    golden.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=golden.parent, prefix=f".{golden.name}.")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            for path in members:
                # Tensors stay uncompressed, so that one can be read without the others.
                how = zipfile.ZIP_DEFLATED if path.name == INDEX else zipfile.ZIP_STORED
                info = zipfile.ZipInfo(path.name)
                info.compress_type = how
                info.external_attr = 0o644 << 16
                with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            archive.writestr(zipfile.ZipInfo(MANIFEST), json.dumps(manifest, indent=1))
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, golden)
    except BaseException:
        os.unlink(name)
        raise
    shutil.rmtree(part)
    return manifest


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return _digest_stream(file)


def _digest_stream(file: Any) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


@dataclass
class Golden:
    """An opened golden file, or the folder of an unfinished capture."""

    path: Path
    head: dict[str, Any]
    tensors: dict[int, TensorRecord]
    calls: list[Call]
    outcome: dict[str, Any]
    content: str
    """SHA-256 of the members; empty for a folder."""
    noise: dict[int, float] = field(default_factory=dict)
    """Tensor -> relative difference of a second run of the same command on the same machine."""
    noise_measured: bool = False
    _places: dict[str, tuple[Path, int, int]] = field(default_factory=dict, repr=False)

    @property
    def complete(self) -> bool:
        """The run ended by itself, without an error, and the index says so."""
        return bool(self.outcome.get("ok"))

    def bytes_of(self, name: str) -> bytearray | None:
        """Stored values by name, as little-endian bytes; None when the file does not hold them."""
        place = self._places.get(name)
        if place is None:
            return None
        path, start, size = place
        data = bytearray(size)
        with path.open("rb") as file:
            file.seek(start)
            if file.readinto(data) != size:
                raise GoldenError(f"{self.path}: ends within tensor {name}; copy the file again")
        return data


def open_golden(path: Path) -> Golden:
    """Read the index and check every member against the manifest. Raises GoldenError."""
    if path.is_dir():
        if not (path / INDEX).is_file():
            raise GoldenError(f"{path}: a folder without {INDEX}; name a golden file that `rocport capture` wrote")
        golden = _read_index(path, (path / INDEX).read_bytes())
        for shard in sorted(path.glob("*.safetensors")):
            _add_places(golden, shard, 0, shard.stat().st_size)
        golden.outcome = {"ok": False, "reason": "the capture was cut off"}
        return golden
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = shape.read(archive.read(MANIFEST), {"schema?": object})
            if manifest.get("schema") != SCHEMA:
                raise GoldenError(
                    f"{path}: schema {manifest.get('schema')}, this rocport reads {SCHEMA}; "
                    "record it again, or use the rocport that wrote it"
                )
            shape.check(
                manifest, {"members": shape.Each(str), "outcome": {"ok?": bool, "reason?": str}, "content": str}
            )
            for name, digest in manifest["members"].items():
                with archive.open(name) as member:
                    if _digest_stream(member) != digest:
                        raise GoldenError(f"{path}: {name} is not what was recorded (SHA-256 differs); copy it again")
            golden = _read_index(path, archive.read(INDEX))
            golden.outcome, golden.content = manifest["outcome"], manifest["content"]
            for info in archive.infolist():
                if info.filename.endswith(".safetensors"):
                    _add_places(golden, path, _data_offset(path, info), info.file_size)
    except FileNotFoundError as error:
        hint = f"; {part_of(path)} is a capture that was cut off" if part_of(path).is_dir() else ""
        raise GoldenError(f"{path}: no such golden file{hint}; record one with `rocport capture`") from error
    except (zipfile.BadZipFile, AttributeError, KeyError, TypeError, ValueError, struct.error, zlib.error) as error:
        raise GoldenError(
            f"{path}: not a golden file, or cut off ({error}); record it again with `rocport capture`"
        ) from error
    except OSError as error:
        raise GoldenError(f"{path}: {error.strerror or error}; name a file that can be read") from error
    return golden


def _read_index(path: Path, data: bytes) -> Golden:
    head: dict[str, Any] = {}
    tensors: dict[int, TensorRecord] = {}
    calls: list[Call] = []
    noise: dict[int, float] = {}
    measured = False
    try:
        for frame in _frames(data):
            if "c" in frame:
                calls.append(Call.from_frame(frame))
            elif "t" in frame:
                tensors[frame["t"]] = TensorRecord.from_frame(frame)
            elif "head" in frame:
                head = dict(frame["head"])
            elif "noise" in frame:
                noise, measured = {int(number): float(value) for number, value in frame["noise"].items()}, True
        known = all(number in tensors for call in calls for number in (*call.inputs, *call.outputs))
    except (AttributeError, KeyError, TypeError, ValueError, struct.error, RecursionError) as error:
        raise GoldenError(
            f"{path}: its index holds what no capture writes ({type(error).__name__}: {error}); record it again"
        ) from error
    if not known:
        raise GoldenError(f"{path}: a call names a tensor that the index does not hold; record it again")
    if not head:
        raise GoldenError(f"{path}: its index has no head; record it again with `rocport capture`")
    return Golden(path, head, tensors, calls, {}, "", noise, measured)


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a stored member's bytes begin: behind its local header, whose name and extra field vary."""
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
    return int(info.header_offset + 30 + name + extra)


def _add_places(golden: Golden, path: Path, start: int, size: int) -> None:
    with path.open("rb") as file:
        file.seek(start)
        prefix = file.read(8)
        length = int.from_bytes(prefix, "little")
        if len(prefix) < 8 or length > size - 8:
            return  # a shard that was being written when the run was cut off
        header = json.loads(file.read(length))
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            if 8 + length + last <= size:
                at = start + 8 + length + first
                golden._places[name] = (path, at, last - first)

"""Which gfx targets does this library really carry? Reads the code objects in an ELF file, without running anything.

HIP puts device code into the section `.hip_fatbin`. It holds offload bundles: `__CLANG_OFFLOAD_BUNDLE__`, a count,
and an entry (offset, size, triple) for every target; or compressed ones, `CCOB`, whose header names version, method
(zlib or zstd) and sizes. Single code objects (`.hsaco`, `.co`) are ELF files for AMDGPU that name their target in the
header flags.
Source: the clang documentation, "Clang Offload Bundler" and "User Guide for AMDGPU Backend".
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocport.doctor.host import Host
from rocport.doctor.machine import CodeObjects, Evidence, Facts
from rocport.doctor.probes.python_env import folders
from rocport.facts.targets import target_of_elf

BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
MAX_BYTES = 512 * 1024 * 1024
HEAD_BYTES = 1 << 16
"""The list of targets stands at the front of a bundle: this much of it is unpacked."""
_AMDGPU_MACHINE = 224


class NotElfError(ValueError):
    """The file is no ELF file; the message names it and what it begins with."""


@dataclass(frozen=True)
class Carried:
    """`targets` with their features as written (`gfx942:xnack-`); `unread` says what could not be looked into."""

    targets: tuple[str, ...]
    unread: str = ""
    bundles: int = 0


def read_library(path: Path, sample: int = 0) -> Carried:
    """The targets in one .so, .co or .hsaco file.

    `sample` looks into that many bundles, evenly spread, and not into all: a library of gigabytes holds one for every
    source file, and those that were built for fewer targets stand together.

    Raises NotElfError for another file and OSError when it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(64)
        if not head.startswith(b"\x7fELF"):
            raise NotElfError(f"{path}: begins with {head[:4]!r}; expected an ELF library or code object")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _read(data, sample)
            except struct.error:
                return Carried((), "damaged ELF file")


def _read(data: mmap.mmap, sample: int) -> Carried:
    if len(data) < 64 or data[4] != 2 or data[5] != 1:
        return Carried((), "not a 64-bit little-endian ELF file")
    machine, flags = struct.unpack_from("<H", data, 18)[0], struct.unpack_from("<I", data, 48)[0]
    if machine == _AMDGPU_MACHINE:
        name = target_of_elf(flags & 0xFF)
        if name:
            return Carried((name,), "", 1)
        return Carried((), f"code object of an unknown target {flags & 0xFF:#x}", 1)
    places = [
        (offset, start + size) for start, size in _fat_sections(data) for offset in _bundle_offsets(data, start, size)
    ]
    chosen = places[:: max(1, -(-len(places) // sample))] if sample else places
    targets: list[str] = []
    problems: list[str] = []
    for offset, limit in chosen:
        found, problem = _bundle(data, offset, limit)
        targets += found
        if problem:
            problems.append(problem)
    unread = f"{len(problems)} of {len(chosen)} bundles: {sorted(set(problems))[0]}" if problems else ""
    return Carried(tuple(dict.fromkeys(targets)), unread, len(places))


def _fat_sections(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """(offset, size) of the sections with device code."""
    table, width, number, names = (
        struct.unpack_from("<Q", data, 40)[0],
        *struct.unpack_from("<HHH", data, 58),
    )
    if width < 64 or table + width * number > len(data) or names >= number:
        return
    name_at = struct.unpack_from("<Q", data, table + width * names + 24)[0]
    for i in range(number):
        base = table + width * i
        label = struct.unpack_from("<I", data, base)[0]
        kind, offset, size = struct.unpack_from("<I", data, base + 4)[0], *struct.unpack_from("<QQ", data, base + 24)
        spot = name_at + label
        if kind == 8 or spot >= len(data):  # SHT_NOBITS holds no bytes
            continue
        end = data.find(b"\0", spot, min(spot + 64, len(data)))
        if end > 0 and data[spot:end] in (b".hip_fatbin", b"__CLANG_OFFLOAD_BUNDLE__") and offset + size <= len(data):
            yield offset, size


def _bundle_offsets(data: mmap.mmap, start: int, size: int) -> Iterator[int]:
    """Bundles of one section: one for every object file linked in, on page boundaries or close behind each other."""
    limit = start + size
    at = start
    while at < limit:
        plain = data.find(BUNDLE, at, limit)
        packed = _find_compressed(data, at, plain if plain >= 0 else limit)
        best = min((o for o in (plain, packed) if o >= 0), default=-1)
        if best < 0:
            return
        yield best
        if best == packed:
            total = struct.unpack_from("<I", data, best + 8)[0] if data[best + 4] >= 2 else 0
            at = best + (total if 24 < total <= limit - best else len(COMPRESSED))
        else:
            at = max(_bundle_end(data, best, limit), best + len(BUNDLE))


def _find_compressed(data: mmap.mmap, at: int, limit: int) -> int:
    """CCOB is four letters, which machine code may hold too: version, method and sizes have to make sense."""
    while True:
        spot = data.find(COMPRESSED, at, limit)
        if spot < 0 or spot + 24 > len(data):
            return -1
        version, method = struct.unpack_from("<HH", data, spot + 4)
        if 1 <= version <= 3 and method <= 1:
            return spot
        at = spot + 4


def _entries(data: bytes | mmap.mmap, offset: int, limit: int) -> list[tuple[int, int, str]] | None:
    """(offset, size, triple) of a plain bundle, None when the header is damaged."""
    at = offset + len(BUNDLE)
    if at + 8 > limit:
        return None
    count = struct.unpack_from("<Q", data, at)[0]
    at += 8
    if count > 1024:
        return None
    entries = []
    for _ in range(count):
        if at + 24 > limit:
            return None
        begin, size, length = struct.unpack_from("<QQQ", data, at)
        at += 24
        if length > 256 or at + length > limit:
            return None
        entries.append((begin, size, bytes(data[at : at + length]).decode("ascii", errors="replace")))
        at += length
    return entries


def _bundle_end(data: mmap.mmap, offset: int, limit: int) -> int:
    entries = _entries(data, offset, limit) or []
    end = max((offset + begin + size for begin, size, _ in entries), default=offset)
    return end if end <= limit else offset


def _bundle(data: mmap.mmap, offset: int, limit: int) -> tuple[list[str], str]:
    if data[offset : offset + 4] == COMPRESSED:
        return _compressed(data, offset, limit)
    entries = _entries(data, offset, limit)
    if entries is None:
        return [], "damaged bundle header"
    return _targets(entries), ""


def _targets(entries: list[tuple[int, int, str]]) -> list[str]:
    """`hipv4-amdgcn-amd-amdhsa--gfx942:xnack-` -> `gfx942:xnack-`; host entries and empty ones are not device code."""
    found = []
    for _, size, triple in entries:
        match = re.search(r"(gfx[0-9a-f]+(?:-[\w-]*generic|-strict)?(?::[\w+:-]+)?)$", triple)
        if match and size and not triple.startswith("host"):
            found.append(match.group(1))
    return found


def _compressed(data: mmap.mmap, offset: int, limit: int) -> tuple[list[str], str]:
    version, method = struct.unpack_from("<HH", data, offset + 4)
    if version == 1:  # size, hash
        header, total = 20, limit - offset
        plain = struct.unpack_from("<I", data, offset + 8)[0]
    elif version == 2:  # file size, size, hash
        header = 24
        total, plain = struct.unpack_from("<II", data, offset + 8)
    else:  # version 3: both sizes in 64 bits
        header = 32
        total, plain = struct.unpack_from("<QQ", data, offset + 8)
    if total > limit - offset or plain > 8 * MAX_BYTES:
        return [], "damaged compressed bundle"
    body = bytes(data[offset + header : offset + total])
    if method == 0:
        try:
            head = zlib.decompressobj().decompress(body, HEAD_BYTES)
        except zlib.error:
            return [], "damaged zlib bundle"
    else:
        head = _zstd_head(body)
        if not head:
            return [], "compressed with zstd, which nothing here unpacks (libzstd.so.1 or Python 3.14 does)"
    entries = _entries(head, 0, len(head)) if head.startswith(BUNDLE) else None
    return (_targets(entries), "") if entries is not None else ([], "damaged compressed bundle")


def _zstd_head(body: bytes) -> bytes:
    """The first bytes of a zstd frame; empty when nothing here can unpack it or the frame is damaged.

    Python has it from 3.14 on; before, the library that every current Linux distribution installs is called.
    """
    try:
        module = importlib.import_module("compression.zstd")
    except ImportError:
        return _zstd_library(body)
    try:
        return bytes(module.ZstdDecompressor().decompress(body, HEAD_BYTES))
    except module.ZstdError:
        return b""


class _Buffer(ctypes.Structure):
    """ZSTD_inBuffer and ZSTD_outBuffer have the same layout."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t))


def _zstd_library(body: bytes) -> bytes:
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return b""
    library.ZSTD_createDStream.restype = ctypes.c_void_p
    library.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
    library.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Buffer), ctypes.POINTER(_Buffer)]
    library.ZSTD_decompressStream.restype = ctypes.c_size_t
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    room = ctypes.create_string_buffer(HEAD_BYTES)
    source = ctypes.create_string_buffer(body, len(body))
    out = _Buffer(ctypes.cast(room, ctypes.c_void_p), HEAD_BYTES, 0)
    into = _Buffer(ctypes.cast(source, ctypes.c_void_p), len(body), 0)
    stream = library.ZSTD_createDStream()
    try:
        while out.pos < out.size and into.pos < into.size:
            before = (out.pos, into.pos)
            code = library.ZSTD_decompressStream(stream, ctypes.byref(out), ctypes.byref(into))
            if library.ZSTD_isError(code):
                return b""
            if code == 0 or before == (out.pos, into.pos):
                break
    finally:
        library.ZSTD_freeDStream(stream)
    return room.raw[: out.pos]


TORCH = ("torch", "torch/lib/libtorch_hip.so")
TORCH_SAMPLE = 64
WATCHED = (
    TORCH,
    ("bitsandbytes", "bitsandbytes/libbitsandbytes_rocm*.so"),
    ("flash-attn", "flash_attn_2_cuda*.so"),
    ("torchvision", "torchvision/_C*.so"),
    ("torchaudio", "torchaudio/lib/*.so"),
    ("vllm", "vllm/_rocm_C*.so"),
    ("vllm", "vllm/_C*.so"),
    ("xformers", "xformers/_C*.so"),
    ("causal-conv1d", "causal_conv1d_cuda*.so"),
    ("mamba-ssm", "selective_scan_cuda*.so"),
    ("torch-scatter", "torch_scatter/_*.so"),
    ("deepspeed", "deepspeed/ops/*.so"),
)


def probe(host: Host) -> Facts:
    """The code objects of torch and of installed extensions; of torch's library a sample."""
    found = []
    for folder in folders(host):
        for package, pattern in WATCHED:
            for path in sorted(folder.glob(pattern)):
                try:
                    carried = read_library(path, TORCH_SAMPLE if package == TORCH[0] else 0)
                except (OSError, ValueError):
                    continue
                if not carried.bundles:
                    continue
                text = " ".join(carried.targets) or carried.unread
                evidence = Evidence("code-objects", str(path), text)
                found.append(CodeObjects(str(path), package, carried.targets, carried.unread, evidence))
    return Facts(probed=frozenset({"code-objects"}), code_objects=tuple(found))

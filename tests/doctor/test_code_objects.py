"""The reader of gfx code objects: made-up libraries, damaged ones, and the real ones of bitsandbytes."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.doctor.probes.codeobjects import BUNDLE, NotElfError, read_library
from rocport.facts.targets import load_target

HOST = "host-x86_64-unknown-linux-gnu-"


def triple(target: str) -> str:
    return f"hipv4-amdgcn-amd-amdhsa--{target}"


def bundle(*targets: str, size: int = 64) -> bytes:
    names = [HOST, *(triple(t) for t in targets)]
    head = BUNDLE + struct.pack("<Q", len(names))
    length = len(head) + sum(24 + len(n) for n in names)
    body = b""
    for name in names:
        amount = 0 if name == HOST else size
        head += struct.pack("<QQQ", length + len(body), amount, len(name)) + name.encode()
        body += bytes(amount)
    return head + body


def compressed(plain: bytes, version: int, method: int = 0) -> bytes:
    body = zlib.compress(plain)
    if version == 1:
        head = struct.pack("<4sHHI8x", b"CCOB", 1, method, len(plain))
    elif version == 2:
        head = struct.pack("<4sHHII8x", b"CCOB", 2, method, 24 + len(body), len(plain))
    else:
        head = struct.pack("<4sHHQQ8x", b"CCOB", 3, method, 32 + len(body), len(plain))
    return head + body


def library(section: bytes, name: bytes = b".hip_fatbin", machine: int = 62, flags: int = 0) -> bytes:
    """The smallest 64-bit ELF file with one section of content and a table of names."""
    names = b"\0" + name + b"\0.shstrtab\0"
    table = 64 + len(section) + len(names)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, table, flags, 64, 0, 0, 64, 3, 2)
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, len(section), 0, 0, 16, 0)
    sections += struct.pack("<IIQQQQIIQQ", len(name) + 2, 3, 0, 0, 64 + len(section), len(names), 0, 0, 1, 0)
    return header + section + names + sections


@pytest.fixture
def carried(tmp_path):
    def read(data: bytes):
        path = tmp_path / "library.so"
        path.write_bytes(data)
        return read_library(path)

    return read


def test_plain_bundle(carried):
    found = carried(library(bundle("gfx90a:xnack-", "gfx942", "gfx11-generic")))
    assert found.targets == ("gfx90a:xnack-", "gfx942", "gfx11-generic") and found.unread == ""


def test_one_bundle_for_every_object_linked_in(carried):
    section = bundle("gfx1100").ljust(4096, b"\0") + bundle("gfx1100", "gfx1201")
    found = carried(library(section))
    assert found.targets == ("gfx1100", "gfx1201") and found.bundles == 2


def test_a_sample_of_a_huge_library_is_spread_over_it(tmp_path):
    path = tmp_path / "libtorch_hip.so"
    few, all_targets = bundle("gfx942"), bundle("gfx942", "gfx1100")
    path.write_bytes(library(few * 200 + all_targets * 40))
    found = read_library(path, 12)
    assert found.bundles == 240 and found.targets == ("gfx942", "gfx1100")


def test_an_entry_without_code_is_not_carried(carried):
    assert carried(library(bundle("gfx1100", size=0))).targets == ()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_zlib_bundles(carried, version):
    assert carried(library(compressed(bundle("gfx1100", "gfx950"), version))).targets == ("gfx1100", "gfx950")


def test_zstd_bundle_is_read_or_named(carried):
    try:
        zstd = ctypes.CDLL("libzstd.so.1")
    except OSError:
        pytest.skip("libzstd.so.1 is not installed")
    plain = bundle("gfx1100", "gfx1151", size=4096)
    room = ctypes.create_string_buffer(len(plain) + 1024)
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    size = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), plain, ctypes.c_size_t(len(plain)), 3)
    head = struct.pack("<4sHHII8x", b"CCOB", 2, 1, 24 + size, len(plain))
    assert carried(library(head + room.raw[:size])).targets == ("gfx1100", "gfx1151")


def test_damaged_zstd_says_so(carried):
    head = struct.pack("<4sHHII8x", b"CCOB", 2, 1, 24 + 64, 4096)
    found = carried(library(head + bytes(range(64))))
    assert found.targets == () and found.unread


def test_a_library_without_device_code(carried):
    assert carried(library(b"text", b".text")).bundles == 0


def test_a_code_object_names_its_target(carried):
    assert carried(library(b"", b".text", machine=224, flags=0x4C)).targets == ("gfx942",)
    assert "unknown target" in carried(library(b"", b".text", machine=224, flags=0xFE)).unread


def test_no_elf_file(tmp_path):
    path = tmp_path / "x.so"
    path.write_bytes(b"hello")
    with pytest.raises(NotElfError, match=r"x\.so"):
        read_library(path)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_never_raises_and_never_invents(tmp_path_factory, data):
    whole = library(bundle("gfx1100", "gfx942") + compressed(bundle("gfx90a"), 2))
    cut = data.draw(st.integers(8, len(whole)))
    spoiled = bytearray(whole[:cut])
    for _ in range(data.draw(st.integers(0, 6))):
        spoiled[data.draw(st.integers(4, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("elf") / "x.so"
    path.write_bytes(bytes(spoiled))
    try:
        found = read_library(path)
    except (ValueError, struct.error):
        return
    assert all(t.startswith("gfx") for t in found.targets)


@pytest.fixture(scope="session")
def bitsandbytes_wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--platform=manylinux_2_24_x86_64", "--retries=0", "--timeout=15"]
    try:
        subprocess.run(
            [*command, "-d", str(folder), "bitsandbytes==0.50.2"], check=True, capture_output=True, timeout=3600
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("the bitsandbytes 0.50.2 wheel cannot be downloaded")
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_published_bitsandbytes_libraries(bitsandbytes_wheel, tmp_path):
    """The targets in the wheel are those that the facts of each gfx record."""
    import zipfile

    try:
        ctypes.CDLL("libzstd.so.1")
    except OSError:
        if sys.version_info < (3, 14):
            pytest.skip("the libraries are zstd-compressed, and neither libzstd nor Python 3.14 is here")
    with zipfile.ZipFile(bitsandbytes_wheel) as wheel:
        names = [n for n in wheel.namelist() if "libbitsandbytes_rocm" in n]
        wheel.extractall(tmp_path, names)
    assert len(names) == 6
    for name in names:
        build = Path(name).stem.removeprefix("libbitsandbytes_")
        found = read_library(tmp_path / name)
        assert found.unread == "" and len(found.targets) >= 14
        for gfx in ("gfx906", "gfx942", "gfx950", "gfx1031", "gfx1100", "gfx1201", "gfx1250"):
            record = load_target(gfx).library("bitsandbytes")[0]
            assert (gfx in found.targets) == (build in record.builds), (build, gfx)

"""The parts of level build that need no compiler: code objects, diagnostics, cache."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from rocport.model import cache_folder
from rocport.syntax.code_object import CodeObjectError, kernels
from rocport.verify import diagnostics
from rocport.verify.cache import Cache, Fingerprints, read_depfile


def pack(value: object) -> bytes:
    """MessagePack, in the wide forms that the compiler does not choose for small values."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack(">BI", 0xCE, value)
    if isinstance(value, str):
        return struct.pack(">BB", 0xD9, len(value)) + value.encode()
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(map(pack, value))
    assert isinstance(value, dict)
    return struct.pack(">BH", 0xDE, len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())


KERNEL = {
    ".name": "k",
    ".vgpr_count": 300,
    ".agpr_count": 4,
    ".sgpr_count": 20,
    ".private_segment_fixed_size": 16,
    ".group_segment_fixed_size": 70000,
    ".wavefront_size": 64,
    ".max_flat_workgroup_size": 256,
    ".uses_dynamic_stack": False,
}


def elf(metadata: object) -> bytes:
    """The smallest code object: header, one note section, no padding."""
    content = pack(metadata)
    note = struct.pack("<III", 7, len(content), 32) + b"AMDGPU\0\0" + content + b"\0" * (-len(content) % 4)
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", header, 0x28, 64 + len(note))
    struct.pack_into("<HH", header, 0x3A, 64, 1)
    section = struct.pack("<IIQQQQ", 0, 7, 0, 0, 64, len(note)) + b"\0" * 24
    return bytes(header) + note + section


def test_kernel_metadata() -> None:
    (kernel,) = kernels(elf({"amdhsa.kernels": [KERNEL], "amdhsa.target": "x"}))
    assert (kernel.name, kernel.vgprs, kernel.lds_bytes, kernel.vgpr_spills) == ("k", 300, 70000, 0)


def test_code_object_without_kernels() -> None:
    assert kernels(elf({"amdhsa.version": [1, 2]})) == ()


@pytest.mark.parametrize("cut", [0, 3, 40, 70, 100])
def test_cut_code_object_is_an_error_of_its_own(cut: int) -> None:
    with pytest.raises(CodeObjectError):
        kernels(elf({"amdhsa.kernels": [KERNEL]})[:cut])


@pytest.mark.parametrize("entry", [{}, {".name": "k"}, 7, "x"])
def test_malformed_metadata(entry: object) -> None:
    with pytest.raises(CodeObjectError):
        kernels(elf({"amdhsa.kernels": [entry]}))


def parse(text: str) -> tuple[diagnostics.Diagnostic, ...]:
    return diagnostics.parse(text, Path("/t"), "a.cu", diagnostics.Origins())


def test_error_in_the_tree() -> None:
    (found,) = parse(
        "src/a.cu:3:5: error: expected ';' after expression\n1 error generated when compiling for gfx942.\n"
    )
    assert (found.path, found.line, found.column, found.message) == ("src/a.cu", 3, 5, "expected ';' after expression")
    assert (found.original_path, found.original_line) == ("src/a.cu", 3)


def test_missing_header_below_another_header() -> None:
    text = (
        "In file included from a.cu:2:\nIn file included from /sdk/include/x/y.h:10:\n"
        "/sdk/include/x/z.h:4:10: fatal error: 'cuda.h' file not found\n"
    )
    (found,) = parse(text)
    assert (found.path, found.line, found.within) == ("a.cu", 2, "x/z.h")
    assert diagnostics.missing_header((found,)) == "cuda.h"


def test_second_error_in_the_same_header_has_no_stack_of_its_own() -> None:
    text = (
        "In file included from a.cu:2:\n/sdk/include/z.h:4:10: error: one\n/sdk/include/z.h:5:10: error: two\n"
        "a.cu:7:1: error: three\n"
    )
    assert [(found.path, found.line) for found in parse(text)] == [("a.cu", 2), ("a.cu", 2), ("a.cu", 7)]


def test_linker_error_has_no_line() -> None:
    text = "lld: error: undefined hidden symbol: f(int)\n>>> referenced by a.o\n"
    text += "clang++: error: amdgcn-link command failed with exit code 1\n"
    (found,) = parse(text)
    assert (found.path, found.line, found.original_line) == ("a.cu", 0, None)


def test_cuda_name_is_explained() -> None:
    assert "hipMalloc" in diagnostics.explain("use of undeclared identifier 'cudaMalloc'")


def test_own_name_is_not_explained() -> None:
    assert diagnostics.explain("use of undeclared identifier 'my_function'") == ""


@pytest.mark.parametrize(
    "name", ["cuda_fp8.h", "hip/hip_fp16.h", "rocport_warp.h", "ATen/hip/HIPContext.h", "cub/cub.cuh"]
)
def test_gpu_headers(name: str) -> None:
    assert diagnostics.is_gpu_header(name)


@pytest.mark.parametrize("name", ["mpi.h", "rocksdb/db.h", "boost/program_options.hpp", "hipster.h"])
def test_other_headers(name: str) -> None:
    assert not diagnostics.is_gpu_header(name)


def test_depfile_with_spaces_and_continuations(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.write_text("out.o: a.cu /sdk/x.h \\\n  /with\\ space/y.h cost$$.h\n")
    assert read_depfile(path) == ["a.cu", "/sdk/x.h", "/with space/y.h", "cost$.h"]
    assert read_depfile(tmp_path / "none") == []


def test_cache_folder() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/rocport")
    assert cache_folder({"XDG_CACHE_HOME": "/c", "ROCPORT_CACHE": "/own"}) == Path("/own")


def test_cache_entry_holds_while_its_files_do(tmp_path: Path) -> None:
    file = tmp_path / "a.h"
    file.write_text("1")
    folder = tmp_path / "cache"
    Cache(folder, Fingerprints(tmp_path)).put("ab12", [str(file)], {"code": 0})
    assert Cache(folder, Fingerprints(tmp_path)).get("ab12") == {"code": 0}
    stamp = file.stat()
    file.write_text("2")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert Cache(folder, Fingerprints(tmp_path)).get("ab12") is None
    file.unlink()
    assert Cache(folder, Fingerprints(tmp_path)).get("ab12") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"files": 3, "result": {}}', '{"files": {}, "result": 1}'])
def test_half_written_entry_is_no_entry(text: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path, Fingerprints(tmp_path))
    cache.put("ab12", [], {"code": 0})
    next(tmp_path.rglob("*.json")).write_text(text)
    assert cache.get("ab12") is None


def test_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file", Fingerprints(tmp_path))
    cache.put("ab12", [], {"code": 0})
    assert cache.get("ab12") is None

"""Traces of device-to-host copies, compared."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rocport.executor.differential import Difference, classify, compare_traces, read_trace


def record(sequence: int, kernel: str, data: bytes) -> bytes:
    return b"RPXT" + struct.pack("<4Q", sequence, len(data), len(data), len(kernel)) + kernel.encode() + data


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def bfloats(*values: float) -> bytes:
    return b"".join(struct.pack("<f", value)[2:] for value in values)


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (floats(1, 2, 3), floats(1, 2.0000005, 3), Difference.ROUNDING),
        (floats(1, 2, 3), floats(1, 5, 3), Difference.VALUES),
        (struct.pack("<3i", 1, 2, 3), struct.pack("<3i", 1, 3, 3), Difference.VALUES),
        (struct.pack("<2d", 1, 2), struct.pack("<2d", 1, 2 + 1e-13), Difference.ROUNDING),
        (floats(1, 2), floats(1) + b"\xff\xff\xff\xff", Difference.UNINITIALISED),
        (floats(1, 2, 3), floats(1, 2.0000005) + b"\xa7\xa7\xa7\xa7", Difference.UNINITIALISED),
        (struct.pack("<4e", 1, 2, 3, 4), struct.pack("<4e", 1, 2, 3, 4.004), Difference.ROUNDING),
        (struct.pack("<4e", 1, 2, 3, 4), struct.pack("<4e", 1, 2, 3, 5), Difference.VALUES),
        (bfloats(1, 2, 3, 4), bfloats(1, 2, 3, 4.04), Difference.ROUNDING),
        (bfloats(1, 2, 3, 4), bfloats(1, 2, 3, 5), Difference.VALUES),
        (struct.pack("<4i", 100000, 7, 8, 9), struct.pack("<4i", 100001, 7, 8, 9), Difference.VALUES),
        (struct.pack("<3h", 1, 2, 3), struct.pack("<3h", 1, 2, 4), Difference.VALUES),
        (b"abc", b"abd", Difference.VALUES),
        (floats(0.5, 2.5e-32), floats(0.5, 2.6e-32), Difference.ROUNDING),
        (struct.pack("<2i", 183688372, 7), struct.pack("<2i", 183688373, 7), Difference.VALUES),
    ],
)
def test_a_difference_is_classed(a: bytes, b: bytes, kind: Difference) -> None:
    assert classify(a, b, tolerance=1e-3, poison=(0xFF, 0xA7))[0] is kind


def test_a_difference_names_its_first_element() -> None:
    kind, message = classify(floats(1, 2, 3), floats(1, 5, 3), tolerance=1e-3)
    assert kind is Difference.VALUES
    assert message.startswith("element 1 as float32: 2 and 5")
    assert classify(struct.pack("<2i", 1, 2), struct.pack("<2i", 1, 3), tolerance=1e-3)[1] == (
        "element 1 as int32: 2 and 3"
    )


def test_the_first_copy_beyond_rounding_is_named(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(record(0, "sum", floats(1.0)) + record(1, "scan", floats(2.0)) + record(2, "last", floats(1)))
    two.write_bytes(record(0, "sum", floats(1.0000001)) + record(1, "scan", floats(3.0)) + record(2, "last", floats(9)))
    found = compare_traces(one, two)
    assert found is not None
    assert (found.kind, found.sequence, found.kernel) == (Difference.VALUES, 1, "scan")
    assert compare_traces(one, one) is None


def test_another_size_or_number_of_copies_is_a_matter_of_shape(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(record(0, "k", b"1234"))
    two.write_bytes(record(0, "k", b"12345678"))
    found = compare_traces(one, two)
    assert found is not None and found.kind is Difference.SHAPE and found.kind.benign
    two.write_bytes(record(0, "k", b"1234") + record(1, "k", b"1"))
    found = compare_traces(one, two)
    assert found is not None and found.kind is Difference.SHAPE


def test_a_trace_cut_short_or_absent_ends_quietly(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(record(0, "k", b"1234") + record(1, "k", b"5678")[:-2])
    assert [copy.data for copy in read_trace(path)] == [b"1234"]
    assert list(read_trace(tmp_path / "gone")) == []

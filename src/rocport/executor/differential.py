# SPDX-License-Identifier: Apache-2.0
"""The wave-width differential: the same program at both widths, in both orders, on poisoned memory, copy by copy."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_MAGIC = b"RPXT"
_HEAD = struct.Struct("<4Q")
_SAMPLE = 1 << 20
_LISTED = 1 << 22


class Difference(Enum):
    """What the first differing device-to-host copy shows."""

    ROUNDING = "rounding"
    """Floating-point values within the bounds of another order of summation."""
    SHAPE = "shape"
    """Another number or size of copies: buffers sized by the wavefront, or another course of the host code."""
    UNINITIALISED = "uninitialised"
    """The poison of one run, or NaN where the other has a number."""
    VALUES = "values"
    """Other numbers: wrong on one side at least."""

    @property
    def benign(self) -> bool:
        """True when a right program may show it."""
        return self in (Difference.ROUNDING, Difference.SHAPE)


@dataclass(frozen=True)
class Copy:
    """One device-to-host copy."""

    sequence: int
    size: int
    kernel: str
    """The last kernel launched before it."""
    data: bytes
    """All of it, or what the trace's limit left."""


@dataclass(frozen=True)
class Divergence:
    """Where two traces part."""

    kind: Difference
    sequence: int
    kernel: str
    message: str


def read_trace(path: Path) -> Iterator[Copy]:
    """Copies in order; ends quietly at a record that was cut off."""
    try:
        stream = path.open("rb")
    except OSError:
        return
    with stream:
        while stream.read(4) == _MAGIC:
            head = stream.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return
            sequence, size, kept, name_length = _HEAD.unpack(head)
            name = stream.read(name_length).decode(errors="replace")
            data = stream.read(kept)
            if len(data) < kept:
                return
            yield Copy(sequence, size, name, data)


def compare_traces(
    first: Path, second: Path, *, tolerance: float = 1e-3, poison: tuple[int, ...] = ()
) -> Divergence | None:
    """The first copy that differs beyond rounding; else the first that differs by rounding; else None.

    `tolerance` bounds the relative error (Frobenius norm) of what counts as another order of summation, in float32;
    a thousandth of it holds for float64.
    """
    rounding: Divergence | None = None
    a, b = read_trace(first), read_trace(second)
    while True:
        x, y = next(a, None), next(b, None)
        if x is None and y is None:
            return rounding
        if x is None or y is None:
            one = x or y
            assert one is not None
            return Divergence(Difference.SHAPE, one.sequence, one.kernel, "one run copies more often than the other")
        if x.size != y.size:
            message = f"{x.size} bytes in one run, {y.size} in the other"
            return Divergence(Difference.SHAPE, x.sequence, x.kernel, message)
        if x.data == y.data:
            continue
        kind, message = classify(x.data, y.data, tolerance=tolerance, poison=poison)
        found = Divergence(kind, x.sequence, x.kernel, message)
        if kind is not Difference.ROUNDING:
            return found
        rounding = rounding or found


def classify(a: bytes, b: bytes, *, tolerance: float, poison: tuple[int, ...] = ()) -> tuple[Difference, str]:
    """Two byte strings of one length that differ: by how much, read as the floating-point type that fits best."""
    first = next(i for i in range(0, len(a), _SAMPLE) if a[i : i + _SAMPLE] != b[i : i + _SAMPLE])
    at = next(i for i in range(first, len(a)) if a[i] != b[i])
    for byte in poison:
        run = bytes([byte]) * 4
        start = at & ~3
        if (a[start : start + 4] == run) != (b[start : start + 4] == run):
            return Difference.UNINITIALISED, f"byte {at}: one side still holds the poison {byte:#04x}"
    best: tuple[float, str] | None = None
    for code, name, scale in (("f", "float32", 1.0), ("d", "float64", 1e-3)):
        error = _relative_error(code, a, b)
        if error is None:
            continue
        if error <= tolerance * scale:
            return Difference.ROUNDING, f"byte {at}: relative error {error:.2g} as {name}"
        if best is None:
            best = (error, name)
    x, y = a[at & ~3 : (at & ~3) + 4].hex(), b[at & ~3 : (at & ~3) + 4].hex()
    detail = f", relative error {best[0]:.2g} as {best[1]}" if best else ""
    return Difference.VALUES, f"byte {at}: {x} and {y}{detail}"


def _relative_error(code: str, a: bytes, b: bytes) -> float | None:
    """Of two arrays of floats, in the Frobenius norm; None when they are no plausible floats of that type."""
    size = array(code).itemsize
    usable = min(len(a), _LISTED) // size * size
    if not usable:
        return None
    x, y = array(code), array(code)
    x.frombytes(a[:usable])
    y.frombytes(b[:usable])
    total = difference = 0.0
    for u, v in zip(x, y, strict=True):
        if u == v or (u != u and v != v):
            total += u * u if math.isfinite(u) else 0.0
            continue
        if not (math.isfinite(u) and math.isfinite(v)):
            return None
        largest = max(abs(u), abs(v))
        # Integers and other data read as floats give denormal or huge numbers.
        if largest < 1e-30 or largest > 1e30:
            return None
        total += u * u
        difference += (u - v) * (u - v)
    return math.sqrt(difference / total) if total > 0 and math.isfinite(total) else None

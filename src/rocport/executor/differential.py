# SPDX-License-Identifier: Apache-2.0
"""The wave-width differential: the same program at both widths, in both orders, on poisoned memory, copy by copy."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_MAGIC = b"RPXT"
_HEAD = struct.Struct("<4Q")
_SAMPLE = 1 << 20
_LISTED = 1 << 22
_NORMAL = 2.0**-126
_ORDINARY = 1e-6


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
            if max(x.size, y.size) == 2 * min(x.size, y.size):
                message += ": a size that follows the wavefront"
            return Divergence(Difference.SHAPE, x.sequence, x.kernel, message)
        if x.data == y.data:
            continue
        kind, message = classify(x.data, y.data, tolerance=tolerance, poison=poison)
        found = Divergence(kind, x.sequence, x.kernel, message)
        if kind is not Difference.ROUNDING:
            return found
        rounding = rounding or found


def classify(a: bytes, b: bytes, *, tolerance: float, poison: tuple[int, ...] = ()) -> tuple[Difference, str]:
    """Two byte strings of one length that differ: by how much, read as the floating-point type that fits best.

    `tolerance` is for float32; float64 gets a thousandth of it, half and bfloat16 their share by precision.
    """
    first = next(i for i in range(0, len(a), _SAMPLE) if a[i : i + _SAMPLE] != b[i : i + _SAMPLE])
    at = next(i for i in range(first, len(a)) if a[i] != b[i])
    for byte in poison:
        start = _poisoned(a, b, byte, at)
        if start is not None:
            return Difference.UNINITIALISED, f"byte {start}: one side still holds the poison {byte:#04x}"
    best: tuple[float, _Type] | None = None
    for kind in _TYPES:
        error = kind.relative_error(a, b)
        if error is None:
            continue
        if error <= tolerance * kind.scale:
            return Difference.ROUNDING, f"{kind.show(a, b, at)}; relative error {error:.2g}"
        if best is None:
            best = (error, kind)
    if best is not None:
        return Difference.VALUES, f"{best[1].show(a, b, at)}; relative error {best[0]:.2g}"
    return Difference.VALUES, _INTEGERS.show(a, b, at)


def _poisoned(a: bytes, b: bytes, byte: int, at: int) -> int | None:
    """The first aligned word from `at` on that one side left as it was; None when there is none."""
    run = bytes([byte]) * 4
    for one, other in ((a, b), (b, a)):
        start = one.find(run, at & ~3)
        while start >= 0:
            aligned = (start + 3) & ~3
            word = one[aligned : aligned + 4]
            if word == run[: len(word)] and word and other[aligned : aligned + 4] != word:
                return aligned
            start = one.find(run, aligned + 4)
    return None


@dataclass(frozen=True)
class _Type:
    """How bytes are read. `code` is that of struct and array; bfloat16 is kept as its upper half of a float32."""

    name: str
    code: str
    scale: float = 1.0
    least: float = 1e-30
    most: float = 1e30
    strict: bool = False
    """Every element has to be plausible: small integers look like small halves."""

    @property
    def size(self) -> int:
        return 2 if self.code in ("e", "bf16") else array(self.code).itemsize

    def read(self, data: bytes) -> Sequence[float]:
        whole = data[: len(data) // self.size * self.size]
        if self.code == "e":
            return struct.unpack(f"<{len(whole) // 2}e", whole)
        if self.code == "bf16":
            wide = bytearray(2 * len(whole))
            wide[2::4], wide[3::4] = whole[0::2], whole[1::2]
            values = array("f")
            values.frombytes(bytes(wide))
            return values
        values = array(self.code)
        values.frombytes(whole)
        return values

    def relative_error(self, a: bytes, b: bytes) -> float | None:
        """Of two arrays, in the Frobenius norm; None when they are no plausible floats of this type."""
        if len(a) % self.size:
            return None
        x, y = self.read(a[:_LISTED]), self.read(b[:_LISTED])
        total = difference = top = 0.0
        tiny = False
        for u, v in zip(x, y, strict=True):
            same = u == v or (u != u and v != v)
            if not same and not (math.isfinite(u) and math.isfinite(v)):
                return None
            # Integers and other data read as floats give denormal or huge numbers. Tiny ones are believed beside others
            # that are not: the tail of a softmax.
            largest = max(abs(u), abs(v))
            if (self.strict or not same) and largest != 0 and not self.least <= largest <= self.most:
                if self.strict or largest > self.most or largest < _NORMAL:
                    return None
                tiny = True
            if math.isfinite(largest):
                top = max(top, largest)
            total += u * u if math.isfinite(u) else 0.0
            difference += 0.0 if same else (u - v) * (u - v)
        if tiny and top < _ORDINARY:
            return None
        return math.sqrt(difference / total) if total > 0 and math.isfinite(total) else None

    def show(self, a: bytes, b: bytes, at: int) -> str:
        """The element at byte `at`, on both sides."""
        index = at // self.size
        x, y = (self.read(data[index * self.size : (index + 1) * self.size]) for data in (a, b))
        if not x or not y:
            return f"byte {at}: {a[at:].hex()} and {b[at:].hex()}"
        return f"element {index} as {self.name}: {x[0]:.9g} and {y[0]:.9g}"


# The half types last: with 8 and 11 significant bits they forgive more.
_TYPES = (
    _Type("float32", "f"),
    _Type("float64", "d", scale=1e-3),
    _Type("float16", "e", scale=4.0, least=2.0**-14, most=65504.0, strict=True),
    _Type("bfloat16", "bf16", scale=16.0, least=1e-10, most=1e10, strict=True),
)
_INTEGERS = _Type("int32", "i")

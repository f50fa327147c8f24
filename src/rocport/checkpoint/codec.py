"""4-bit block quantization as bitsandbytes does it, in numpy: decode, encode, and a plain reference.

decode: value = code[nibble] * absmax[block] in float32, then rounded to the wanted type (nearest, ties to even).
encode: scaled = value * (1 / absmax), clamped to [-1, 1]; the nibble whose code value is nearest, by comparing with the
midpoints of neighbouring code values (a tie takes the lower one). Both give the bits of bitsandbytes 0.50.2's own
default implementation (backends/default/ops.py); the tests hold that.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]

FP16_MAX = 65504.0


def decode(packed: Bytes, absmax: Floats, code: Floats, blocksize: int, elements: int) -> Floats:
    """Nibbles -> float32 values. `packed` begins at a block; `absmax` holds the scales from that block on."""
    import numpy as np

    nibbles = np.empty(packed.size * 2, dtype=np.uint8)
    nibbles[0::2] = packed >> 4
    nibbles[1::2] = packed & 15
    values = code[nibbles[:elements]]
    scales: Floats = np.repeat(absmax, blocksize)[:elements]
    result: Floats = values * scales
    return result


def encode(values: Floats, code: Floats, blocksize: int) -> tuple[Bytes, Floats]:
    """float32 values -> (packed nibbles, absmax). `values` begins at a block; the last block may be short."""
    import numpy as np

    count = values.size
    blocks = -(-count // blocksize)
    padded = np.zeros(blocks * blocksize, dtype=np.float32)
    padded[:count] = values
    table = padded.reshape(blocks, blocksize)
    absmax: Floats = np.abs(table).max(axis=1)
    scale = np.float32(1.0) / np.maximum(absmax, np.float32(1e-38))
    scaled = np.clip(table * scale[:, None], -1, 1)
    if count % blocksize:
        absmax[-1] = max(absmax[-1], np.float32(1e-38))
        scaled[-1] = np.clip(table[-1] / absmax[-1], -1, 1)
    flat = scaled.reshape(-1)[: count + count % 2] if count % blocksize else scaled.reshape(-1)
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    midpoints = (ordered[:-1] + ordered[1:]) / np.float32(2)
    nibbles = order[np.searchsorted(midpoints, flat, side="left")]
    packed: Bytes = ((nibbles[0::2] << 4) | nibbles[1::2]).astype(np.uint8)
    return packed, absmax


def encode_affine(values: Floats, bits: int, group: int, dtype: str) -> tuple[Bytes, bytes, bytes]:
    """Rows of float32 [R, K] -> (words, scales, biases) as MLX's `quantize` gives them; scales and biases as `dtype`.

    The end of the range that is farther from zero is met exactly, by a scale that makes zero a code.
    """
    import numpy as np

    rows, width = values.shape
    groups = values.reshape(rows, -1, group)
    high, low = groups.max(-1), groups.min(-1)
    levels = np.float32(2**bits - 1)
    scale = np.maximum((high - low) / levels, np.float32(1e-7))
    anchor_low = np.abs(low) > np.abs(high)
    scale = np.where(anchor_low, scale, -scale)
    edge = np.where(anchor_low, low, high)
    zero = np.round(edge / scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(zero != 0, edge / zero, scale).astype(np.float32)
    bias = np.where(zero == 0, np.float32(0), edge).astype(np.float32)
    codes = np.clip(np.round((groups - bias[..., None]) / scale[..., None]), 0, levels).astype(np.uint8)
    planes = np.unpackbits(codes.reshape(rows, width, 1), axis=-1, bitorder="little")[..., :bits]
    packed: Bytes = np.packbits(planes.reshape(rows, -1), axis=-1, bitorder="little")
    return packed, to_bytes(scale.reshape(-1), dtype), to_bytes(bias.reshape(-1), dtype)


def decode_affine(packed: Bytes, scales: Floats, biases: Floats, bits: int, group: int) -> Floats:
    """What `encode_affine` packed, [R, K]; scales and biases [R, K / group] as they were stored."""
    import numpy as np

    rows = packed.shape[0]
    planes = np.unpackbits(packed, axis=-1, bitorder="little").reshape(rows, -1, bits)
    codes = np.packbits(planes, axis=-1, bitorder="little")[..., 0].astype(np.float32)
    wide: Floats = np.repeat(scales, group, 1) * codes + np.repeat(biases, group, 1)
    return wide


def decode_scales(
    absmax: Bytes, nested_absmax: Floats, nested_code: Floats, nested_blocksize: int, offset: float
) -> Floats:
    """Nested scales -> float32 scales."""
    import numpy as np

    scales = nested_code[absmax] * np.repeat(nested_absmax, nested_blocksize)[: absmax.size]
    result: Floats = scales + np.float32(offset)
    return result


def encode_scales(absmax: Floats, code: Floats, blocksize: int) -> tuple[Bytes, Floats, float]:
    """float32 scales -> (bytes, scales of scales, offset): bitsandbytes' double quantization."""
    import numpy as np

    offset = np.float32(absmax.mean(dtype=np.float64)) if absmax.size else np.float32(0)
    centred = absmax - offset
    blocks = -(-centred.size // blocksize)
    padded = np.zeros(blocks * blocksize, dtype=np.float32)
    padded[: centred.size] = centred
    table = padded.reshape(blocks, blocksize)
    outer: Floats = np.abs(table).max(axis=1)
    scaled = np.clip(table / np.maximum(outer, np.float32(1e-38))[:, None], -1, 1)
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    midpoints = (ordered[:-1] + ordered[1:]) / np.float32(2)
    flat = scaled.reshape(-1)[: centred.size]
    quantized: Bytes = order[np.searchsorted(midpoints, flat, side="left")].astype(np.uint8)
    return quantized, outer, float(offset)


def to_bytes(values: Floats, dtype: str) -> bytes:
    """float32 -> little-endian bytes of `F32`, `F16` or `BF16`, rounded to nearest, ties to even."""
    import numpy as np

    if dtype == "F32":
        return values.astype("<f4").tobytes()
    if dtype == "F16":
        with np.errstate(over="ignore"):
            return values.astype("<f2").tobytes()
    bits = values.view(np.uint32)
    rounded = ((bits + (np.uint32(0x7FFF) + ((bits >> 16) & 1))) >> 16).astype("<u2")
    rounded[np.isnan(values)] = 0x7FC0
    return rounded.tobytes()


def from_bytes(data: bytes, dtype: str) -> Floats:
    """Bytes of `F32`, `F16` or `BF16` -> float32, exactly."""
    import numpy as np

    if dtype == "F32":
        return np.frombuffer(data, "<f4").astype(np.float32)
    if dtype == "F16":
        return np.frombuffer(data, "<f2").astype(np.float32)
    wide: Any = np.frombuffer(data, "<u2").astype(np.uint32) << 16
    result: Floats = wide.view(np.float32)
    return result


def reference_value(nibble: int, scale: float, code: Sequence[float]) -> float:
    """One decoded value in plain Python: the product of two float32 numbers, rounded to float32.

    Shares nothing with `decode`; a double holds the product of two float32 exactly, so one rounding is left.
    """
    product = code[nibble] * scale
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", product))
    except OverflowError:
        return float("inf") if product > 0 else float("-inf")
    return float(rounded)


def reference_bytes(value: float, dtype: str) -> bytes:
    """One value as the bytes of `F32`, `F16` or `BF16`, rounded to nearest even, in plain Python."""
    if dtype == "F32":
        return struct.pack("<f", value)
    if dtype == "F16":
        try:
            return struct.pack("<e", value)
        except OverflowError:
            return struct.pack("<e", float("inf") if value > 0 else float("-inf"))
    if value != value:
        return b"\xc0\x7f"
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    low = bits & 0xFFFF
    high = bits >> 16
    if low > 0x8000 or (low == 0x8000 and high & 1):
        high += 1
    return struct.pack("<H", high & 0xFFFF)

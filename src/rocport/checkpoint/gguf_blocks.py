"""Blocks of GGUF's types to float32, by arrays and, as a second decoder, one value in plain Python.

Layouts: https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-common.h and ggml-quants.c. A block of the K
types is 256 values in 8 or 16 groups with scales of their own, of the others 32 values.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rocport.checkpoint import codec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocport.checkpoint.codec import Floats

SIZES: Mapping[str, tuple[int, int]] = {
    "F32": (1, 4), "F16": (1, 2), "BF16": (1, 2), "Q4_0": (32, 18), "Q4_1": (32, 20), "Q5_0": (32, 22),
    "Q5_1": (32, 24), "Q8_0": (32, 34), "Q2_K": (256, 84), "Q3_K": (256, 110), "Q4_K": (256, 144),
    "Q5_K": (256, 176), "Q6_K": (256, 210),
}  # fmt: skip
"""Values and bytes of a block of the types that are decoded."""


def decode(kind: str, data: bytes) -> Floats:
    """All values of whole blocks. Raises KeyError for a type that is not decoded."""
    import numpy as np

    if kind in ("F32", "F16", "BF16"):
        return codec.from_bytes(data, kind)
    count, size = SIZES[kind]
    blocks = np.frombuffer(data, np.uint8).reshape(-1, size)
    values: Floats = _DECODERS[kind](blocks).astype(np.float32).reshape(len(blocks) * count)
    return values


def _half(blocks: NDArray[Any], at: int) -> Any:
    import numpy as np

    return np.ascontiguousarray(blocks[:, at : at + 2]).view("<f2").astype(np.float32)


def _nibbles(codes: NDArray[Any], group: int) -> Any:
    """Low halves of each `group` bytes, then the high ones: [blocks, 2 * bytes]."""
    import numpy as np

    grouped = codes.reshape(len(codes), -1, 1, group)
    return (grouped >> np.array([0, 4], np.uint8)[:, None] & 15).reshape(len(codes), -1)


def _bits(codes: NDArray[Any]) -> Any:
    """[blocks, bytes] to the bits of each byte: [blocks, 8, bytes], lowest first."""
    import numpy as np

    return codes[:, None, :] >> np.arange(8, dtype=np.uint8)[:, None] & 1


def _fifth(blocks: NDArray[Any], at: int) -> Any:
    """The 32 bits at `at`, as 16 above each code."""
    return _bits(blocks[:, at : at + 4]).transpose(0, 2, 1).reshape(len(blocks), 32) << 4


def _q4_0(b: NDArray[Any]) -> Any:
    return _half(b, 0) * (_nibbles(b[:, 2:], 16).astype("f4") - 8)


def _q4_1(b: NDArray[Any]) -> Any:
    return _half(b, 0) * _nibbles(b[:, 4:], 16).astype("f4") + _half(b, 2)


def _q5_0(b: NDArray[Any]) -> Any:
    return _half(b, 0) * ((_nibbles(b[:, 6:], 16) | _fifth(b, 2)).astype("f4") - 16)


def _q5_1(b: NDArray[Any]) -> Any:
    return _half(b, 0) * (_nibbles(b[:, 8:], 16) | _fifth(b, 4)).astype("f4") + _half(b, 2)


def _q8_0(b: NDArray[Any]) -> Any:
    return _half(b, 0) * b[:, 2:].view("i1").astype("f4")


def _pairs(codes: NDArray[Any]) -> Any:
    """Two bits of each of 64 bytes: 128 values of the first 32 bytes, then of the others."""
    import numpy as np

    halves = codes.reshape(len(codes), 2, 1, 32)
    return (halves >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3).reshape(len(codes), 16, 16)


def _q2_k(b: NDArray[Any]) -> Any:
    scale = _half(b, 80) * (b[:, :16] & 15).astype("f4")
    least = _half(b, 82) * (b[:, :16] >> 4).astype("f4")
    return scale[:, :, None] * _pairs(b[:, 16:80]).astype("f4") - least[:, :, None]


def _q3_k(b: NDArray[Any]) -> Any:
    import numpy as np

    raw = b[:, 96:108]
    low = np.concatenate((raw[:, :8] & 15, raw[:, :8] >> 4), 1)
    high = (raw[:, None, 8:] >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3).reshape(len(b), 16)
    scale = _half(b, 108) * ((low | high << 4).astype("f4") - 32)
    missing = (1 - _bits(b[:, :32])).reshape(len(b), 16, 16) * 4
    return scale[:, :, None] * (_pairs(b[:, 32:96]).astype("f4") - missing)


def _scales_of_six_bits(b: NDArray[Any]) -> tuple[Any, Any]:
    """The eight scales and least values of Q4_K and Q5_K, times those of the block: [blocks, 8, 1]."""
    import numpy as np

    raw = b[:, 4:16]
    scale = np.concatenate((raw[:, :4] & 63, raw[:, 8:] & 15 | raw[:, :4] >> 6 << 4), 1)
    least = np.concatenate((raw[:, 4:8] & 63, raw[:, 8:] >> 4 | raw[:, 4:8] >> 6 << 4), 1)
    return (_half(b, 0) * scale.astype("f4"))[:, :, None], (_half(b, 2) * least.astype("f4"))[:, :, None]


def _q4_k(b: NDArray[Any]) -> Any:
    scale, least = _scales_of_six_bits(b)
    return scale * _nibbles(b[:, 16:], 32).reshape(len(b), 8, 32).astype("f4") - least


def _q5_k(b: NDArray[Any]) -> Any:
    scale, least = _scales_of_six_bits(b)
    codes = _nibbles(b[:, 48:], 32).reshape(len(b), 8, 32) | _bits(b[:, 16:48]) << 4
    return scale * codes.astype("f4") - least


def _q6_k(b: NDArray[Any]) -> Any:
    low = _nibbles(b[:, :128], 64).reshape(len(b), 16, 16)
    scale = _half(b, 208) * b[:, 192:208].view("i1").astype("f4")
    return scale[:, :, None] * ((low | _pairs(b[:, 128:192]) << 4).astype("f4") - 32)


_DECODERS: Mapping[str, Callable[[NDArray[Any]], Any]] = {
    "Q4_0": _q4_0, "Q4_1": _q4_1, "Q5_0": _q5_0, "Q5_1": _q5_1, "Q8_0": _q8_0, "Q2_K": _q2_k, "Q3_K": _q3_k,
    "Q4_K": _q4_k, "Q5_K": _q5_k, "Q6_K": _q6_k,
}  # fmt: skip


def one(kind: str, block: bytes, i: int) -> float:
    """Value `i` of one block, each product and sum rounded to float32; shares nothing with `decode`."""

    def half(at: int) -> float:
        return float(struct.unpack_from("<e", block, at)[0])

    def single(value: float) -> float:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])

    def signed(at: int) -> int:
        return block[at] - 256 if block[at] > 127 else block[at]

    if kind == "F32":
        return float(struct.unpack("<f", block)[0])
    if kind == "BF16":
        return float(struct.unpack("<f", b"\0\0" + block)[0])
    if kind == "F16":
        return half(0)
    if kind == "Q8_0":
        return single(half(0) * signed(2 + i))
    if kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        head = {"Q4_0": 2, "Q4_1": 4, "Q5_0": 6, "Q5_1": 8}[kind]
        code = block[head + i % 16] >> (4 * (i // 16)) & 15
        if kind[1] == "5":
            code += 16 * (int.from_bytes(block[head - 4 : head], "little") >> i & 1)
        if kind[3] == "1":
            return single(single(half(0) * code) + half(2))
        return single(half(0) * (code - (8 if kind[1] == "4" else 16)))
    group, side, r = i // 16, i // 128, i % 128
    if kind == "Q2_K":
        code = block[16 + 32 * side + r % 32] >> (2 * (r // 32)) & 3
        scale, least = single(half(80) * (block[group] & 15)), single(half(82) * (block[group] >> 4))
        return single(single(scale * code) - least)
    if kind == "Q3_K":
        code = block[32 + 32 * side + r % 32] >> (2 * (r // 32)) & 3
        code -= 0 if block[r % 32] >> (i // 32) & 1 else 4
        scale = block[96 + group % 8] >> (4 * (group // 8)) & 15
        scale += 16 * (block[104 + group % 4] >> (2 * (group // 4)) & 3)
        return single(single(half(108) * (scale - 32)) * code)
    if kind == "Q6_K":
        part, at = r // 32, r % 32
        code = block[64 * side + 32 * (part % 2) + at] >> (4 * (part // 2)) & 15
        code += 16 * (block[128 + 32 * side + at] >> (2 * part) & 3)
        return single(single(half(208) * signed(192 + group)) * (code - 32))
    s = i // 32
    if s < 4:
        scale, least = block[4 + s] & 63, block[8 + s] & 63
    else:
        scale = block[8 + s] & 15 | block[s] >> 6 << 4
        least = block[8 + s] >> 4 | block[4 + s] >> 6 << 4
    codes = {"Q4_K": 16, "Q5_K": 48}[kind]
    code = block[codes + 32 * (s // 2) + i % 32] >> (4 * (s % 2)) & 15
    if kind == "Q5_K":
        code += 16 * (block[16 + i % 32] >> s & 1)
    return single(single(single(half(0) * scale) * code) - single(half(2) * least))

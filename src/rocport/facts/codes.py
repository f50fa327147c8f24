"""Code tables of the lookup formats: what value each code stands for, before its block's scale."""

from __future__ import annotations

import struct
from functools import cache
from itertools import pairwise

NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
"""4-bit NormalFloat, increasing (QLoRA, arXiv 2305.14314, appendix E)."""

_FP4 = (0.0, 0.0052083334885537624, 0.6666666865348816, 1.0, 0.3333333432674408, 0.5, 0.1666666716337204, 0.25)
FP4 = (*_FP4, *(-value for value in _FP4))
"""The 4-bit float of bitsandbytes: sign, two exponent bits, one mantissa bit, scaled so that the largest is 1."""

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
E2M1 = (*_E2M1, *(-value for value in _E2M1))
"""The element type of mxfp4 and nvfp4 (OCP Microscaling Formats 1.0, section 5.3.3)."""

CODES = {"nf4": NF4, "fp4": FP4, "mxfp4": E2M1, "nvfp4": E2M1}


@cache
def dynamic_map() -> tuple[float, ...]:
    """The signed 8-bit dynamic type, increasing: seven decades, 2^i linear steps in decade i - 6 (arXiv 1511.04561).

    Every value is one of float32, rounded where bitsandbytes rounds: at each edge, middle and product.
    """
    values = [0.0, 1.0]
    for decade in range(7):
        count = 2**decade
        low, step = _single(0.1), _single((1 - _single(0.1)) / count)
        # As torch's linspace: from both ends to the middle.
        edges = [
            _single(low + step * at if at < (count + 1) // 2 else 1 - step * (count - at)) for at in range(count + 1)
        ]
        scale = _single(10.0 ** (decade - 6))
        steps = [_single(scale * _single((a + b) / 2)) for a, b in pairwise(edges)]
        values += steps + [-value for value in steps]
    return tuple(sorted(values))


def _single(value: float) -> float:
    """The value of float32 next to it."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded

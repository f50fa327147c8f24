"""How far two recorded tensors are apart, from what their records hold. No PyTorch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rocport.numerics.records import SKETCH, Statistics, TensorRecord


@dataclass(frozen=True)
class Difference:
    """Of a candidate's tensor from the reference's.

    `relative` is |b - a| / |a| over the finite elements, infinite where it cannot be told; `exact` when computed from
    all values, else estimated from sketches to about 35 %. `known` is False where one side holds no statistics.
    `largest`: of the element that is furthest off, over its own size plus the root mean square, so that small values
    are held to the size of their neighbours; None where no values are at hand.
    """

    equal: bool
    relative: float
    known: bool = True
    exact: bool = False
    shape: bool = False
    dtype: bool = False
    finite: bool = False
    """NaN or Inf on one side only."""
    largest: float | None = None


EQUAL = Difference(True, 0.0)
UNKNOWN = Difference(False, math.inf, known=False)


def from_records(a: TensorRecord, b: TensorRecord) -> Difference:
    """Compare two records that may hold statistics."""
    if a.shape != b.shape:
        return Difference(False, math.inf, shape=True)
    dtype = a.dtype != b.dtype
    first, second = a.statistics, b.statistics
    if first is None or second is None:
        return UNKNOWN
    if not dtype and first.fingerprint == second.fingerprint:
        return EQUAL
    finite = first.nan != second.nan or first.inf != second.inf
    return Difference(False, _estimate(first, second), dtype=dtype, finite=finite)


def _estimate(a: Statistics, b: Statistics) -> float:
    """From the sketches; no less than what the norms, the samples and the extremes show by themselves."""
    scale = max(a.norm, b.norm)
    if scale == 0:
        return 0.0
    if math.isinf(scale):
        return math.inf
    base = a.norm or scale
    squares = sum((x - y) ** 2 for x, y in zip(a.sketch, b.sketch, strict=True))
    seen = [math.sqrt(squares / SKETCH), abs(a.norm - b.norm)]
    pairs = [(x, y) for x, y in zip(a.sample, b.sample, strict=False) if math.isfinite(x) and math.isfinite(y)]
    seen.append(math.sqrt(sum((x - y) ** 2 for x, y in pairs)))
    return max(seen) / base

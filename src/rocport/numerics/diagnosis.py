"""What kind of difference it is: read from statistics and samples, and from all values where both files hold them."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence

from rocport.numerics.golden import Golden
from rocport.numerics.records import TensorRecord
from rocport.numerics.symptoms import Symptom, rounding_symptom


def diagnose(
    reference: Golden, a: TensorRecord, candidate: Golden, b: TensorRecord, seen: Mapping[int, str]
) -> Iterator[Symptom]:
    """Symptoms, the most telling first. `seen` maps fingerprints to the candidate's call that made them."""
    if a.shape != b.shape:
        yield Symptom("shape", f"shape is {b.shape}, was {a.shape}")
        return
    if a.dtype != b.dtype:
        yield Symptom("dtype", f"type is {b.dtype}, was {a.dtype}")
    yield from _from_statistics(a, b, seen)
    if a.stored and a.stored == b.stored:
        from rocport.numerics.values import symptoms_of_values

        yield from symptoms_of_values(reference, a, candidate, b)
    if a.statistics is not None and b.statistics is not None:
        yield from _from_samples(a, a.statistics.sample, b.statistics.sample, a.stored == b.stored and bool(a.stored))
    if a.stride != b.stride and len(a.stride) > 1 and a.device == b.device:
        yield Symptom("layout", f"strides are {b.stride}, were {a.stride}")


def _from_statistics(a: TensorRecord, b: TensorRecord, seen: Mapping[int, str]) -> Iterator[Symptom]:
    first, second = a.statistics, b.statistics
    if first is None or second is None or not a.numel:
        return
    for name, x, y in (("nan", first.nan, second.nan), ("inf", first.inf, second.inf)):
        if x != y:
            label = "NaN" if name == "nan" else "Inf"
            yield Symptom(name, f"{y} of {a.numel} values are {label}, {x} were")
    if second.norm == 0 and first.norm:
        yield Symptom("zeros", "every value is zero: nothing was written, or everything was masked")
    elif second.zeros > first.zeros + max(2, 0.01 * a.numel):
        share = (second.zeros - first.zeros) / a.numel
        yield Symptom("zeros", f"{share:.1%} more of the values are zero")
    if second.minimum == second.maximum != 0 and first.minimum != first.maximum and a.numel > 1:
        yield Symptom("constant", f"every value is {second.minimum:g}")
    maker = seen.get(second.fingerprint)
    if maker and a.numel > 1 and second.norm:
        yield Symptom("stale", f"holds the values that {maker} made earlier")
    close = _close(first.norm, second.norm) and _close(
        first.mean, second.mean, max(abs(first.maximum), abs(first.minimum))
    )
    same_ends = first.minimum == second.minimum and first.maximum == second.maximum and first.zeros == second.zeros
    if close and same_ends and first.minimum != first.maximum and _far(a, b):
        yield Symptom("permuted", "the same values in another order: transposed, shifted, or read with another stride")
        return
    factor = _factor(first.sketch, second.sketch)
    if factor is not None and abs(factor - 1) > 1e-3:
        if abs(factor + 1) < 1e-3:
            yield Symptom("negated", "every value has the other sign")
        else:
            yield Symptom("scaled", f"every value is {factor:.6g} times what it was")
    elif second.norm > 1e3 * first.norm > 0:
        yield Symptom("magnitude", f"norm is {second.norm:.3g}, was {first.norm:.3g}")


def _far(a: TensorRecord, b: TensorRecord) -> bool:
    from rocport.numerics.difference import from_records

    return from_records(a, b).relative > 1e-3


def _close(a: float, b: float, scale: float | None = None) -> bool:
    return abs(a - b) <= 2e-6 * max(abs(a), abs(b), scale or 0.0)


def _factor(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The factor between two vectors when they are parallel: sketches are linear."""
    square = sum(x * x for x in a)
    if not square or not all(map(math.isfinite, b)):
        return None
    factor = sum(x * y for x, y in zip(a, b, strict=True)) / square
    rest = sum((y - factor * x) ** 2 for x, y in zip(a, b, strict=True))
    return factor if factor and rest <= 1e-5 * factor * factor * square else None


def _from_samples(a: TensorRecord, first: Sequence[float], second: Sequence[float], whole: bool) -> Iterator[Symptom]:
    """What sixteen elements show. `whole`: more values have been looked at already."""
    pairs = [(x, y) for x, y in zip(first, second, strict=False) if math.isfinite(x) and math.isfinite(y)]
    moved = [(x, y) for x, y in pairs if x != y]
    if len(moved) >= 3 and len(moved) == len(pairs):
        gaps = [y - x for x, y in pairs]
        middle = sorted(gaps)[len(gaps) // 2]
        if abs(middle) > 1e-4 * max(abs(x) for x, _ in pairs) and all(
            abs(g - middle) <= 1e-3 * abs(middle) for g in gaps
        ):
            yield Symptom("offset", f"every value is {middle:.6g} more than it was")
    if a.dtype == "float32" and len(pairs) >= 8:
        for name, keep in (("bfloat16", 16), ("tf32", 13)):
            if all(_trailing_zeros(y, keep) for _, y in pairs) and not all(_trailing_zeros(x, keep) for x, _ in pairs):
                yield Symptom("narrow", f"every value fits {name}: it was rounded to it on the way")
                break
        else:
            if all(_fits_half(y) for _, y in pairs) and not all(_fits_half(x) for x, _ in pairs):
                yield Symptom("narrow", "every value fits float16: it was rounded to it on the way")
    if not whole and len(moved) >= 6:
        yield from rounding_symptom(a.dtype, moved, len(pairs))


def _trailing_zeros(value: float, bits: int) -> bool:
    return bool(not struct.unpack("<I", struct.pack("<f", value))[0] & ((1 << bits) - 1))


def _fits_half(value: float) -> bool:
    try:
        return bool(struct.unpack("<e", struct.pack("<e", value))[0] == value)
    except OverflowError:
        return False

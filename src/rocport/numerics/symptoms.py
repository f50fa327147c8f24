"""What a difference looks like: a name to sort by and a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocport.numerics.tolerance import UNIT


@dataclass(frozen=True)
class Symptom:
    """A name to sort by and a sentence. Names: shape, dtype, layout, nan, inf, zeros, constant, stale, permuted,
    transposed, shifted, flipped, negated, scaled, offset, truncated, rounding, narrow, place, magnitude, arguments,
    uninitialised, note."""

    name: str
    text: str


def rounding_symptom(dtype: str, moved: Sequence[tuple[float, float]], looked_at: int) -> Iterator[Symptom]:
    """Differences of one unit in the last place: all towards zero: truncated; both ways: another rounding."""
    unit = UNIT.get(dtype)
    if unit is None or any(abs(y - x) > 4.01 * unit * max(abs(x), abs(y)) for x, y in moved):
        return
    towards = sum(abs(y) < abs(x) for x, y in moved)
    if towards == len(moved):
        yield Symptom(
            "truncated",
            f"{len(moved)} of {looked_at} values looked at are one unit in the last place nearer to zero: "
            "truncated instead of rounded to nearest",
        )
    elif towards == 0:
        yield Symptom(
            "rounding", f"{len(moved)} of {looked_at} values looked at are one unit in the last place further from zero"
        )
    else:
        yield Symptom(
            "rounding",
            f"{len(moved)} of {looked_at} values looked at differ in the last place, in both directions: "
            "another order of summation or another rounding",
        )

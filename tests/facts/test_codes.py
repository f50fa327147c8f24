"""The code tables of the lookup formats, against what their papers say of them."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest

from rocport.facts.codes import CODES, E2M1, FP4, NF4, dynamic_map


def test_a_format_of_four_bits_has_sixteen_values() -> None:
    assert set(CODES) == {"nf4", "fp4", "mxfp4", "nvfp4"}
    assert all(len(values) == 16 and max(values) in (1.0, 6.0) for values in CODES.values())
    assert list(NF4) == sorted(NF4) and NF4[0] == -1.0 and NF4[7] == 0.0 and NF4[15] == 1.0
    for values in (FP4, E2M1):
        assert values[8:] == tuple(-value for value in values[:8]) and values[0] == 0.0


@pytest.mark.parametrize("code", range(8))
def test_e2m1_is_two_bits_of_exponent_and_one_of_mantissa(code: int) -> None:
    exponent, mantissa = code >> 1, code & 1
    assert E2M1[code] == ((1 + mantissa / 2) * 2.0 ** (exponent - 1) if exponent else mantissa / 2)


def test_the_dynamic_type_has_256_values_in_order_and_no_minus_one() -> None:
    values = dynamic_map()
    assert len(values) == 256 and all(a < b for a, b in pairwise(values))
    assert values[-1] == 1.0 and 0.0 in values
    assert {-value for value in values if value < 0} == {value for value in values if 0 < value < 1}
    assert all(struct.unpack("f", struct.pack("f", value))[0] == value for value in values)


@pytest.mark.parametrize("decade", range(7))
def test_each_decade_of_the_dynamic_type_has_twice_the_steps_of_the_one_below(decade: int) -> None:
    low, high, count = 10.0 ** (decade - 7), 10.0 ** (decade - 6), 2**decade
    inside = [value for value in dynamic_map() if low < value < high]
    assert len(inside) == count
    step = (high - low) / count
    expected = [low + step * (at + 0.5) for at in range(count)]
    assert inside == pytest.approx(expected, rel=1e-6)

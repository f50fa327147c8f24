"""Which native library of a wheel is loaded beside a HIP version."""

from __future__ import annotations

import pytest

from rocport.facts.packages import package


@pytest.mark.parametrize(
    ("version", "hip", "taken"),
    [
        ("0.49.2", (5, 7), ""),
        ("0.49.2", (6, 0), ""),
        ("0.49.2", (6, 1), ""),
        ("0.49.2", (6, 4), "6.4"),
        ("0.49.2", (8, 0), ""),
        ("0.50.2", (6, 0), "6.4"),
        ("0.50.2", (6, 3), "6.4"),
        ("0.50.2", (7, 2), "7.2"),
        ("0.50.2", (7, 13), "7.2"),
        ("0.50.2", (5, 7), ""),
    ],
)
def test_bitsandbytes_takes_by_version(version, hip, taken):
    wheel = package("bitsandbytes").wheel_of(version)
    assert wheel is not None and wheel.library_for(hip) == taken

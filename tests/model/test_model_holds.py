from __future__ import annotations

import pytest
from packaging.specifiers import InvalidSpecifier

from rocport.model.holds import EVERYWHERE, Range
from rocport.model.targets import GfxTarget
from rocport.model.versions import RocmVersion

CDNA = GfxTarget("gfx942", "CDNA3", 64, (64,), 65536, "mfma", "fnuz", True, "dgpu")
RDNA = GfxTarget("gfx1100", "RDNA3", 32, (32, 64), 65536, "wmma", "none", True, "dgpu")
WHERE = Range(">=7.0,<7.14", "<2.11", {"triton": ">=3.5"}, {"wavefront": (64,), "family": ("CDNA3", "CDNA4")})


def rocm(text: str) -> RocmVersion:
    return RocmVersion.parse(text)


def test_what_is_not_known_is_in_range() -> None:
    assert WHERE.covers()
    assert EVERYWHERE.covers(rocm=rocm("1.0"), torch="1.0", targets=[RDNA], libraries={"triton": "1"})


@pytest.mark.parametrize(("version", "inside"), [("6.4.3", False), ("7.0", True), ("7.13.9", True), ("7.14", False)])
def test_rocm_is_compared_by_number(version: str, inside: bool) -> None:
    assert WHERE.covers(rocm=rocm(version)) is inside


def test_each_part_can_be_out_of_range() -> None:
    assert WHERE.covers(torch="2.10.0") and not WHERE.covers(torch="2.11.0")
    assert WHERE.covers(torch="2.10.0.dev1"), "pre-releases are compared too"
    assert WHERE.covers(libraries={"triton": "3.9.0"}) and not WHERE.covers(libraries={"triton": "3.4"})
    assert WHERE.covers(libraries={"bitsandbytes": "0.1"}), "no bound is stated for it"
    assert WHERE.covers(targets=[CDNA]) and not WHERE.covers(targets=[RDNA])
    assert WHERE.covers(targets=[RDNA, CDNA]), "one of several is enough"
    assert not WHERE.covers(rocm=rocm("7.2"), torch="2.9", targets=[RDNA])


def test_a_range_is_said_in_words() -> None:
    assert str(WHERE) == "ROCm >=7.0,<7.14; torch <2.11; triton >=3.5; wavefront 64; family CDNA3 or CDNA4"
    assert str(Range(torch="<2.11")) == "torch <2.11"
    assert str(EVERYWHERE) == ""


def test_a_range_that_is_none_is_an_error_where_it_is_asked() -> None:
    with pytest.raises(InvalidSpecifier):
        Range(rocm="seven").covers(rocm=rocm("7.0"))
    with pytest.raises(AttributeError, match="colour"):
        Range(target={"colour": ("red",)}).covers(targets=[CDNA])

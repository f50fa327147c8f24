"""Enumerators with other numbers in HIP, and the headers made of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rocport.facts.enum_numbers import renumbered
from rocport.port import headers

_TOOL = importlib.util.spec_from_file_location(
    "refresh_enum_numbers", Path(__file__).parents[2] / "tools/refresh_enum_numbers.py"
)
assert _TOOL is not None and _TOOL.loader is not None
TOOL = importlib.util.module_from_spec(_TOOL)
_TOOL.loader.exec_module(TOOL)


@pytest.mark.parametrize("library", TOOL.OURS)
def test_a_header_is_what_the_table_gives(library: str) -> None:
    assert headers.read(TOOL.OURS[library][0]).decode() == TOOL.header(library)


@pytest.mark.parametrize(
    "item", [item for item in renumbered().values() if item.apart], ids=lambda item: str(item.cuda)
)
def test_a_number_of_a_convertible_type_is_one_of_either_side(item: object) -> None:
    numbers = renumbered()[item.cuda].numbers  # type: ignore[attr-defined]
    moved = [number for number in numbers if number.cuda_number != number.hip_number]
    hip = {number.hip_number: number.hip for number in numbers}
    assert moved and all(hip.get(number.cuda_number, number.hip) == number.hip for number in moved)


def test_a_type_says_of_itself_what_the_rule_says() -> None:
    operation = renumbered()["cublasOperation_t"]
    assert (operation.hip, operation.header, operation.prefix) == ("hipblasOperation_t", "hipblas", "CUBLAS_OP_")
    assert operation.differs == "CUBLAS_OP_N is 0, HIPBLAS_OP_N 111" and not operation.keeps_zero
    assert renumbered()["cublasStatus_t"].keeps_zero and not renumbered()["cublasStatus_t"].apart
    assert renumbered()["cudaDeviceAttr"].prefix == "cudaDevAttr"


def test_the_reader_of_headers_takes_every_form_of_an_enum() -> None:
    text = "typedef enum { A = 2, B, /* , */ C = A } T;\nenum __attr U\n{ D = -1, E = 0x10 };\ntypedef enum U V;\n"
    assert dict(TOOL.enums(text)) == {"T": {"A": 2, "B": 3, "C": 2}, "U": (u := {"D": -1, "E": 16}), "V": u}

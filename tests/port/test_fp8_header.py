"""rocport_fp8.h and the bfloat16 conversions against PyTorch's float8 and bfloat16, and against the definition."""

from __future__ import annotations

import ctypes
import math
import random
import struct
import subprocess
from pathlib import Path

import pytest

from rocport.toolchain import ToolchainError, find

HERE = Path(__file__).parent
HEADERS = HERE.parents[1] / "src" / "rocport" / "port" / "headers"
E4M3, E5M2 = 0, 1
NOSAT, SATFINITE = 0, 1


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    folder = tmp_path_factory.mktemp("fp8")
    command = toolchain.compile_command(
        HERE / "fp8_host.hip", mode="host", includes=[HEADERS], extra=["-fPIC"], output=folder / "fp8.o", optimize="-O1"
    )
    for step in (command, [str(toolchain.compiler), "-shared", str(folder / "fp8.o"), "-o", str(folder / "fp8.so")]):
        done = subprocess.run(step, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(folder / "fp8.so"))
    library.from_float.argtypes = (ctypes.c_float, ctypes.c_int, ctypes.c_int)
    library.from_double.argtypes = (ctypes.c_double, ctypes.c_int, ctypes.c_int)
    library.from_float.restype = library.from_double.restype = ctypes.c_ubyte
    library.to_float.argtypes = (ctypes.c_ubyte, ctypes.c_int)
    library.to_float.restype = ctypes.c_float
    library.to_int.argtypes = (ctypes.c_ubyte,)
    library.bfloat16.argtypes = (ctypes.c_float, ctypes.c_int)
    library.bfloat16.restype = ctypes.c_ushort
    return library


def _floats(count: int) -> list[float]:
    generator = random.Random(11)
    spread = [math.ldexp(generator.uniform(-2, 2), generator.randint(-20, 18)) for _ in range(count)]
    ties = [
        math.ldexp(mantissa, exponent) * sign
        for mantissa in range(33)
        for exponent in range(-22, 15)
        for sign in (1, -1)
    ]
    return [struct.unpack("f", struct.pack("f", value))[0] for value in spread + ties]


@pytest.mark.parametrize("kind", [E4M3, E5M2])
def test_codes_are_those_of_torch(host: ctypes.CDLL, kind: int) -> None:
    torch = pytest.importorskip("torch")
    dtype = torch.float8_e4m3fn if kind == E4M3 else torch.float8_e5m2
    codes = torch.arange(256, dtype=torch.uint8)
    for code, wanted in zip(codes.tolist(), codes.view(dtype).float().tolist(), strict=True):
        got = host.to_float(code, kind)
        assert got == wanted or (math.isnan(got) and math.isnan(wanted)), hex(code)
    largest = 448.0 if kind == E4M3 else 57344.0
    values = [value for value in _floats(20000) if abs(value) <= largest]
    encoded = torch.tensor(values, dtype=torch.float32).to(dtype).view(torch.uint8).tolist()
    for value, wanted in zip(values, encoded, strict=True):
        assert host.from_float(value, SATFINITE, kind) == wanted, value
        assert host.from_double(value, SATFINITE, kind) == wanted, value


@pytest.mark.parametrize(
    ("value", "kind", "saturated", "plain"),
    [
        (464.0, E4M3, 0x7E, 0x7E),
        (464.1, E4M3, 0x7E, 0x7F),
        (-1e9, E4M3, 0xFE, 0xFF),
        (math.inf, E4M3, 0x7E, 0x7F),
        (61440.0, E5M2, 0x7B, 0x7C),
        (61439.0, E5M2, 0x7B, 0x7B),
        (-math.inf, E5M2, 0xFB, 0xFC),
        (math.nan, E4M3, 0x7F, 0x7F),
        (math.nan, E5M2, 0x7F, 0x7F),
        (-0.0, E4M3, 0x80, 0x80),
        (2.0**-10, E4M3, 0x00, 0x00),
        (2.0**-10 * 1.0001, E4M3, 0x01, 0x01),
    ],
)
def test_overflow_and_underflow(host: ctypes.CDLL, value: float, kind: int, saturated: int, plain: int) -> None:
    assert host.from_float(value, SATFINITE, kind) == saturated
    assert host.from_float(value, NOSAT, kind) == plain


def test_a_double_is_rounded_once(host: ctypes.CDLL) -> None:
    """Just above a tie by less than a float sees: rounding to float first would fall back to even."""
    for sign in (1.0, -1.0):
        above = sign * (1.0625 + 2.0**-40)
        assert host.to_float(host.from_double(above, SATFINITE, E4M3), E4M3) == sign * 1.125
        below = sign * (1.1875 - 2.0**-40)
        assert host.to_float(host.from_double(below, SATFINITE, E4M3), E4M3) == sign * 1.125


def test_integers_are_cut_and_clamped(host: ctypes.CDLL) -> None:
    assert host.to_int(host.from_float(-2.5, SATFINITE, E5M2)) == -2
    assert host.to_int(host.from_float(57344.0, SATFINITE, E5M2)) == 57344
    assert host.to_int(0x7F) == 0


def test_bfloat16_rounds_in_the_direction_of_the_name(host: ctypes.CDLL) -> None:
    def value_of(bits: int) -> float:
        return float(struct.unpack("f", struct.pack("I", bits << 16))[0])

    torch = pytest.importorskip("torch")
    values = _floats(5000)
    nearest = torch.tensor(values).to(torch.bfloat16).float().tolist()
    for value, wanted in zip(values, nearest, strict=True):
        assert value_of(host.bfloat16(value, 0)) == wanted
        assert abs(value_of(host.bfloat16(value, 1))) <= abs(value)
        assert value_of(host.bfloat16(value, 2)) >= value >= value_of(host.bfloat16(value, 3))
        assert {value_of(host.bfloat16(value, 2)), value_of(host.bfloat16(value, 3))} >= {wanted}

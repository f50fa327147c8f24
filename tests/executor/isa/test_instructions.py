"""Single instructions, as the compiler's assembler encodes them, on random operands against formulas of our own."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rocport.executor.isa import Module, load

rng = np.random.default_rng(11)
U = np.uint64
Formula = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Case:
    """An instruction of three 32-bit sources and one result, its targets, and what it computes of uint32 arrays."""

    name: str
    text: str
    formula: Formula
    kind: str = "bits"
    """`bits` for any operands, `floats` for ordinary numbers, `wild` for all of IEEE's kinds of float."""
    targets: tuple[str, ...] = ("gfx942", "gfx1100")


def f(x: np.ndarray) -> np.ndarray:
    return x.astype(np.uint32).view(np.float32)


def u(x: np.ndarray) -> np.ndarray:
    return np.asarray(x, np.float32).view(np.uint32)


def h(x: np.ndarray, high: int = 0) -> np.ndarray:
    return (x >> 16 * high & 0xFFFF).astype(np.uint16).view(np.float16)


def i(x: np.ndarray) -> np.ndarray:
    return x.astype(np.uint32).view(np.int32)


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Rounded once, through exact rationals."""
    from fractions import Fraction

    def one(x: float, y: float, z: float) -> float:
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            return float(np.float32(x) * np.float32(y) + np.float32(z))
        return _nearest(exact)

    return np.array([one(*map(float, t)) for t in zip(a, b, c, strict=True)], np.float64).astype(np.float32)


def _nearest(exact: object) -> float:
    """The nearest float32 of a rational, ties to even, as a double that holds it."""
    from fractions import Fraction

    assert isinstance(exact, Fraction)
    sign, x = (-1 if exact < 0 else 1), abs(exact)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    e = e if x >= Fraction(2) ** e else e - 1
    quantum = Fraction(2) ** (max(e, -126) - 23)
    return sign * float(round(x / quantum) * quantum)


def minimum(a: np.ndarray, b: np.ndarray, greatest: bool = False) -> np.ndarray:
    """IEEE 754-2008 minNum and maxNum with -0 below +0; quiet NaNs only."""
    out = []
    for x, y in zip(u(a), u(b), strict=True):
        fx, fy = (struct.unpack("<f", struct.pack("<I", v))[0] for v in (int(x), int(y)))
        if fx != fx or fy != fy:
            out.append(int(y) if fx != fx else int(x))
            continue
        key = [(v, -(int(raw) >> 31)) for v, raw in ((fx, x), (fy, y))]
        out.append(int(x) if (key[0] >= key[1] if greatest else key[0] <= key[1]) else int(y))
    return np.array(out, np.uint32)


def saturate(x: np.ndarray, low: int, high: int) -> np.ndarray:
    return np.clip(x, low, high).astype(np.int64).astype(np.uint32)


def to_integer(x: np.ndarray, low: int, high: int) -> np.ndarray:
    wide = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300))
    return np.clip(wide, low, high).astype(np.int64).astype(np.uint32)


def permute(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    out = []
    for x, y, s in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        data = (x << 32 | y).to_bytes(8, "little")
        word = 0
        for k in range(4):
            select = s >> 8 * k & 255
            if select >= 13:
                byte = 255
            elif select == 12:
                byte = 0
            elif select >= 8:
                byte = 255 if data[2 * (select - 8) + 1] & 128 else 0
            else:
                byte = data[select]
            word |= byte << 8 * k
        out.append(word)
    return np.array(out, np.uint32)


def half_bits(*halves: np.ndarray) -> np.ndarray:
    low, high = (np.asarray(x, np.float16).view(np.uint16).astype(np.uint32) for x in halves)
    return low | high << 16


def added(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, twice: bool = False
) -> tuple[np.ndarray, np.ndarray] | np.ndarray:
    """a + b + c and its carry; `twice`: the carry of that added to the sum."""
    whole = a.astype("u8") + b + c
    low, carry = (whole & U(0xFFFFFFFF)).astype("u4"), (whole >> U(32)).astype("u4")
    return low + carry if twice else (low, carry)


CASES = [
    Case("v_add_f32", "v_add_f32 %0, %1, %2", lambda a, b, c: u(f(a) + f(b)), "wild"),
    Case("v_mul_f32 of |x| and -y", "v_mul_f32 %0, |%1|, -%2", lambda a, b, c: u(np.abs(f(a)) * -f(b)), "wild"),
    Case("v_add_f32 clamped", "v_add_f32 %0, %1, %2 clamp", lambda a, b, c: u(np.clip(f(a) + f(b), 0, 1)), "floats"),
    Case("v_mul_f32 times four", "v_mul_f32 %0, %1, %2 mul:4", lambda a, b, c: u(f(a) * f(b) * 4), "floats"),
    Case("v_fma_f32", "v_fma_f32 %0, %1, %2, %3", lambda a, b, c: u(fma(f(a), f(b), f(c))), "floats"),
    Case("v_min_f32", "v_min_f32 %0, %1, %2", lambda a, b, c: minimum(f(a), f(b)), "wild"),
    Case("v_max_f32", "v_max_f32 %0, %1, %2", lambda a, b, c: minimum(f(a), f(b), True), "wild"),
    Case("v_med3_i32", "v_med3_i32 %0, %1, %2, %3", lambda a, b, c: np.sort([i(a), i(b), i(c)], 0)[1].view(np.uint32)),
    Case("v_rndne_f32", "v_rndne_f32 %0, %1", lambda a, b, c: u(np.rint(f(a))), "floats"),
    Case("v_floor_f32", "v_floor_f32 %0, %1", lambda a, b, c: u(np.floor(f(a))), "floats"),
    *(
        Case(
            f"v_cmp_lg_f32 on {target}",
            f"v_cmp_lg_f32 {vcc}, %1, %2\n v_cndmask_b32_e64 %0, 0, 1, {vcc}",
            lambda a, b, c: (f(a) < f(b)) | (f(a) > f(b)),
            "wild",
            (target,),
        )
        for target, vcc in (("gfx942", "vcc"), ("gfx1100", "vcc_lo"))
    ),
    Case("v_cvt_i32_f32", "v_cvt_i32_f32 %0, %1", lambda a, b, c: to_integer(f(a), -(2**31), 2**31 - 1), "wild"),
    Case("v_cvt_u32_f32", "v_cvt_u32_f32 %0, %1", lambda a, b, c: to_integer(f(a), 0, 2**32 - 1), "wild"),
    Case("v_cvt_f32_u32", "v_cvt_f32_u32 %0, %1", lambda a, b, c: u(a.astype(np.float32))),
    Case("v_cvt_f32_i32", "v_cvt_f32_i32 %0, %1", lambda a, b, c: u(i(a).astype(np.float32))),
    Case("v_ldexp_f32", "v_ldexp_f32 %0, %1, 7", lambda a, b, c: u(np.ldexp(f(a), 7)), "floats"),
    Case("v_mul_lo_u32", "v_mul_lo_u32 %0, %1, %2", lambda a, b, c: a * b),
    Case("v_mul_hi_u32", "v_mul_hi_u32 %0, %1, %2", lambda a, b, c: (a.astype(U) * b.astype(U) >> U(32)).astype("u4")),
    Case(
        "v_mul_hi_i32",
        "v_mul_hi_i32 %0, %1, %2",
        lambda a, b, c: (i(a).astype(np.int64) * i(b) >> 32).astype(np.int32).view(np.uint32),
    ),
    Case("v_bfe_i32", "v_bfe_i32 %0, %1, 5, 9", lambda a, b, c: (i(a << 18) >> 23).view(np.uint32)),
    Case("v_bfi_b32", "v_bfi_b32 %0, %1, %2, %3", lambda a, b, c: a & b | ~a & c),
    Case("v_alignbit_b32", "v_alignbit_b32 %0, %1, %2, 11", lambda a, b, c: a << 21 | b >> 11),
    Case("v_perm_b32", "v_perm_b32 %0, %1, %2, %3", permute, "bytes"),
    Case("v_bfrev_b32", "v_bfrev_b32 %0, %1", lambda a, b, c: np.array([int(f"{x:032b}"[::-1], 2) for x in a], "u4")),
    Case(
        "v_bcnt_u32_b32",
        "v_bcnt_u32_b32 %0, %1, %2",
        lambda a, b, c: np.array([x.bit_count() for x in a.tolist()], "u4") + b,
    ),
    Case("v_ashrrev_i32", "v_ashrrev_i32 %0, %1, %2", lambda a, b, c: (i(b) >> (a & 31).astype("i4")).view(np.uint32)),
    Case("v_lshl_add_u32", "v_lshl_add_u32 %0, %1, 3, %2", lambda a, b, c: (a << 3) + b),
    Case("v_xad_u32", "v_xad_u32 %0, %1, %2, %3", lambda a, b, c: (a ^ b) + c),
    Case(
        "v_sad_u8",
        "v_sad_u8 %0, %1, %2, %3",
        lambda a, b, c: np.abs(a.view("u1").astype(int) - b.view("u1")).reshape(-1, 4).sum(1).astype("u4") + c,
    ),
    Case(
        "saturating v_sub_u32",
        "v_sub_u32 %0, %1, %2 clamp",
        lambda a, b, c: np.where(b > a, 0, a - b),
        targets=("gfx942",),
    ),
    Case(
        "saturating v_add_nc_i32",
        "v_add_nc_i32 %0, %1, %2 clamp",
        lambda a, b, c: saturate(i(a).astype(np.int64) + i(b), -(2**31), 2**31 - 1),
        targets=("gfx1100",),
    ),
    Case(
        "v_pk_add_f16", "v_pk_add_f16 %0, %1, %2", lambda a, b, c: half_bits(h(a) + h(b), h(a, 1) + h(b, 1)), "halves"
    ),
    Case(
        "v_pk_mul_f16 crossed",
        "v_pk_mul_f16 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]",
        lambda a, b, c: half_bits(-h(a, 1) * h(b), h(a) * h(b, 1)),
        "halves",
    ),
    Case(
        "v_fma_mix_f32 with a constant half",
        "v_fma_mix_f32 %0, %1, 1.0, %2 op_sel_hi:[1,1,0]",
        lambda a, b, c: u((h(a).astype("f8") + f(b)).astype("f4")),
        "halves",
    ),
    Case(
        "v_cvt_f16_f32",
        "v_cvt_f16_f32 %0, %1",
        lambda a, b, c: f(a).astype("f2").view("u2").astype("u4"),
        "floats",
        ("gfx942",),
    ),
    Case(
        "v_cvt_pkrtz_f16_f32",
        "v_cvt_pkrtz_f16_f32 %0, %1, %2",
        lambda a, b, c: half_bits(toward_zero(f(a)), toward_zero(f(b))),
        "floats",
    ),
    Case(
        "row_shr of DPP",
        "v_mov_b32_dpp %0, %1 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:0",
        lambda a, b, c: shifted(a),
    ),
    Case(
        "quad_perm of DPP",
        "v_mov_b32_dpp %0, %1 quad_perm:[3,0,1,2] row_mask:0xf bank_mask:0xf",
        lambda a, b, c: a.reshape(-1, 4)[:, [3, 0, 1, 2]].reshape(-1),
    ),
    Case(
        "row_newbcast and add",
        "v_add_u32_dpp %0, %1, %2 row_newbcast:2 row_mask:0xf bank_mask:0xf",
        lambda a, b, c: np.repeat(a.reshape(-1, 16)[:, 2], 16) + b,
        targets=("gfx942",),
    ),
    Case(
        "SDWA bytes",
        "v_add_u32_sdwa %0, %1, %2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1",
        lambda a, b, c: (a >> 16 & 255) + (b >> 16),
        targets=("gfx942",),
    ),
    Case(
        "ds_swizzle",
        "ds_swizzle_b32 %0, %1 offset:0x401f\n s_waitcnt lgkmcnt(0)",
        lambda a, b, c: a.reshape(-1, 32)[:, np.arange(32) ^ 16].reshape(-1),
    ),
    Case(
        "v_mbcnt",
        "v_mbcnt_lo_u32_b32 %0, %1, %2",
        lambda a, b, c: (
            b + np.array([(x & (2 ** min(k % WAVE[0], 32) - 1)).bit_count() for k, x in enumerate(a.tolist())], "u4")
        ),
    ),
    Case(
        "v_permlanex16_b32",
        "v_permlanex16_b32 %0, %1, 0, 0",
        lambda a, b, c: np.repeat(a.reshape(-1, 2, 16)[:, ::-1, 0].reshape(-1), 16),
        targets=("gfx1100",),
    ),
    Case(
        "v_cvt_pk_fp8_f32",
        "v_cvt_pk_fp8_f32 %0, %1, %2\n v_and_b32 %0, 0xffff, %0",
        lambda a, b, c: fp8(f(a)) | fp8(f(b)) << 8,
        "small",
        ("gfx942",),
    ),
    Case(
        "clamped v_dot4_i32_i8",
        "v_mov_b32 %0, 0x7fffff00\n v_dot4_i32_i8 %0, %1, %2, %0 clamp",
        lambda a, b, c: saturate(
            0x7FFFFF00 + (a.view("i1").astype(int) * b.view("i1")).reshape(-1, 4).sum(1), -(2**31), 2**31 - 1
        ),
        targets=("gfx942",),
    ),
    Case(
        "clamped v_dot4_i32_iu8",
        "v_mov_b32 %0, 0x7fffff00\n v_dot4_i32_iu8 %0, %1, %2, %0 neg_lo:[1,0,0] clamp",
        lambda a, b, c: saturate(
            0x7FFFFF00 + (a.view("i1").astype(int) * b.view("u1")).reshape(-1, 4).sum(1), -(2**31), 2**31 - 1
        ),
        targets=("gfx1100",),
    ),
    Case(
        "clamped v_dot8_u32_u4",
        "v_mov_b32 %0, 0xffffff00\n v_dot8_u32_u4 %0, %1, %2, %0 clamp",
        lambda a, b, c: saturate(
            0xFFFFFF00 + sum((a >> 4 * k & 15).astype(int) * (b >> 4 * k & 15) for k in range(8)), 0, 2**32 - 1
        ),
    ),
    Case(
        "v_cvt_pknorm_i16_f32",
        "v_cvt_pknorm_i16_f32 %0, %1, %2",
        lambda a, b, c: (
            np.array([np.rint(np.clip(f(x), -1, 1) * np.float32(32767)) for x in (a, b)]).astype("i2").view("u2")
            * np.array([[1], [65536]], "u4")
        ).sum(0),
        "small",
    ),
    Case(
        "v_sad_hi_u8",
        "v_sad_hi_u8 %0, %1, %2, %3",
        lambda a, b, c: (np.abs(a.view("u1").astype(int) - b.view("u1")).reshape(-1, 4).sum(1).astype("u4") << 16) + c,
    ),
    Case(
        "v_cvt_pk_i16_f32",
        "v_cvt_pk_i16_f32 %0, %1, %2",
        lambda a, b, c: to_integer(f(a), -32768, 32767) & 0xFFFF | to_integer(f(b), -32768, 32767) << 16,
        "wild",
        ("gfx1100",),
    ),
    *(
        Case(
            f"carries of {target}",
            f"v_add_co_u32 %0, {vcc}, %1, %2\n {add} %0, {vcc}, %2, %3, {vcc}\n {add} %0, {vcc}, %1, %0, {vcc}\n"
            f"{add} %0, {vcc}, 0, %0, {vcc}",
            lambda a, b, c: added(
                added(b, c, added(a, b, a * 0)[1])[0], a, added(b, c, added(a, b, a * 0)[1])[1], True
            ),
            targets=(target,),
        )
        for target, vcc, add in (
            ("gfx942", "vcc", "v_addc_co_u32_e32"),
            ("gfx1100", "vcc_lo", "v_add_co_ci_u32_e32"),
        )
    ),
    *(
        Case(
            f"borrows of {target}",
            f"v_sub_co_u32 %0, {vcc}, %1, %2\n {sub} %0, {vcc}, %2, %3, {vcc}\n {sub} %0, {vcc}, %1, %0, {vcc}",
            lambda a, b, c: (
                a.astype("i8")
                - (b.astype("i8") - c - (b > a) & 0xFFFFFFFF)
                - (b.astype("i8") < c.astype("i8") + (b > a))
                & 0xFFFFFFFF
            ),
            targets=(target,),
        )
        for target, vcc, sub in (
            ("gfx942", "vcc", "v_subb_co_u32_e32"),
            ("gfx1100", "vcc_lo", "v_sub_co_ci_u32_e32"),
        )
    ),
    Case("v_cvt_f32_fp8", "v_cvt_f32_fp8 %0, %1", lambda a, b, c: u(FP8[a & 255]), "bits", ("gfx942",)),
]
WAVE = [64]
LANES = 256
TOGETHER = 16
"""Cases of a kernel."""


def shifted(a: np.ndarray) -> np.ndarray:
    rows = np.zeros_like(a).reshape(-1, 16)
    rows[:, 3:] = a.reshape(-1, 16)[:, :-3]
    return rows.reshape(-1)


def toward_zero(x: np.ndarray) -> np.ndarray:
    near = x.astype(np.float16)
    over = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    return np.where(over, (near.view(np.uint16) - 1).view(np.float16), near)


def _fp8_values() -> np.ndarray:
    """E4M3 with bias 8, no infinities, 0x80 the only NaN (fnuz)."""
    out = []
    for code in range(256):
        e, m = code >> 3 & 15, code & 7
        value = (m / 8 * 2.0**-7) if e == 0 else (1 + m / 8) * 2.0 ** (e - 8)
        out.append(np.nan if code == 128 else -value if code & 128 else value)
    return np.array(out, np.float32)


FP8 = _fp8_values()


def fp8(x: np.ndarray) -> np.ndarray:
    """The nearest E4M3 of numbers in its range, ties to the even code."""
    out = []
    for v in x.astype(np.float64):
        distance = np.abs(np.abs(FP8[:128].astype(np.float64)) - abs(v))
        near = np.flatnonzero(distance == distance.min())
        code = int(near[near % 2 == 0][0] if len(near) > 1 else near[0])
        out.append(code | (128 if v < 0 and code else 0))
    return np.array(out, np.uint32)


def operands(kind: str, n: int, seed: int) -> list[np.ndarray]:
    """Three operands, the same in whatever order the cases run."""
    rng = np.random.default_rng((11, seed))
    bits = [rng.integers(0, 2**32, n, dtype=np.uint32) for _ in range(3)]
    if kind == "bits":
        return bits
    if kind == "bytes":
        return [bits[0], bits[1], rng.integers(0, 16, (n, 4)).astype("u1").view("u4").reshape(-1)]
    if kind == "halves":
        return [rng.standard_normal((n, 2)).astype("f2").view("u4").reshape(-1) for _ in range(3)]
    if kind == "small":
        return [u(rng.uniform(-200, 200, n) * 2.0 ** rng.integers(-9, 1, n)) for _ in range(3)]
    floats = [u((rng.standard_normal(n) * 2.0 ** rng.integers(-20, 20, n)).astype("f4")) for _ in range(3)]
    if kind == "wild":
        odd = u(np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-40, np.nan, 3.4e38], "f4"))
        for k, x in enumerate(floats[:2]):
            x[: 2 * len(odd)] = np.repeat(odd, 2) if k else np.tile(odd, 2)
    return floats


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(
    request: pytest.FixtureRequest, compile_hip: Callable[..., bytes], tmp_path_factory: pytest.TempPathFactory
) -> Module:
    target = request.param
    text = "#include <hip/hip_runtime.h>\n"
    for first in range(0, len(CASES), TOGETHER):
        text += (
            f'extern "C" __global__ void cases{first}(const unsigned*a,const unsigned*b,const unsigned*c,unsigned*o){{'
            "int i=threadIdx.x;unsigned r;\n"
        )
        for case in CASES[first : first + TOGETHER]:
            if target in case.targets:
                body = case.text.replace("\n", "\\n")
                text += f'r=0;asm volatile("{body}":"+&v"(r):"v"(a[i]),"v"(b[i]),"v"(c[i]):"vcc");o[i]=r;\n'
            text += f"a+={LANES};b+={LANES};c+={LANES};o+={LANES};\n"
        text += "}\n"
    source = tmp_path_factory.mktemp(target) / "cases.hip"
    source.write_text(text, encoding="utf-8")
    return load(compile_hip(source, target), target)


@pytest.fixture(scope="module")
def results(module: Module) -> Callable[[int], tuple[np.ndarray, ...]]:
    """Operands and result of a case. Some cases are one kernel: each kernel costs the host's compiler a start."""

    @cache
    def group(first: int) -> tuple[np.ndarray, ...]:
        some = [operands(case.kind, LANES, first + k) for k, case in enumerate(CASES[first : first + TOGETHER])]
        a, b, c = (np.concatenate(parts) for parts in zip(*some, strict=True))
        out = np.zeros(a.size, np.uint32)
        module.launch(f"cases{first}", (1,), (LANES,), [a, b, c, out], threads=1)
        return a, b, c, out

    def one(k: int) -> tuple[np.ndarray, ...]:
        at = k % TOGETHER * LANES
        return tuple(whole[at : at + LANES] for whole in group(k - k % TOGETHER))

    return one


@pytest.mark.parametrize("k", range(len(CASES)), ids=[case.name for case in CASES])
def test_against_a_formula(module: Module, results: Callable[[int], tuple[np.ndarray, ...]], k: int) -> None:
    case = CASES[k]
    if module.target not in case.targets:
        pytest.skip(f"{module.target} has no such instruction")
    WAVE[0] = 64 if module.target == "gfx942" else 32
    a, b, c, out = results(k)
    with np.errstate(all="ignore"):
        want = np.asarray(case.formula(a, b, c)).astype(np.uint32)
    nan = (
        np.isnan(f(out)) & np.isnan(f(want)) if case.kind == "wild" and "cvt" not in case.name else np.zeros(256, bool)
    )
    wrong = np.flatnonzero((out != want) & ~nan)
    assert wrong.size == 0, [(hex(a[j]), hex(b[j]), hex(c[j]), hex(out[j]), hex(want[j])) for j in wrong[:4]]


def _one(compile_hip: Callable[..., bytes], folder: Path, target: str, body: str) -> Module:
    source = folder / f"{target}.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void one(float x,float*o){float r;asm volatile('
        f'"{body}":"=s"(r):"s"(x));o[threadIdx.x]=r;}}\n',
        encoding="utf-8",
    )
    return load(compile_hip(source, target), target)


def test_transcendentals_of_scalars_write_scalar_registers(compile_hip: Callable[..., bytes], tmp_path: Path) -> None:
    """gfx12's V_S_RCP_F32 has a scalar result in a vector encoding; it was written to a vector register."""
    module = _one(compile_hip, tmp_path, "gfx1201", "v_s_rcp_f32 %0, %1")
    out = np.zeros(32, "f4")
    module.launch("one", (1,), (32,), [np.float32(8), out])
    assert (out == 0.125).all()


def test_two_words_by_their_selectors(compile_hip: Callable[..., bytes], tmp_path: Path) -> None:
    """V_PK_MOV_B32 takes either word of each pair: its text reads bits 63:32 of a 32-bit view."""
    source = tmp_path / "pair.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void pair(const unsigned long long*a,unsigned long long*o){'
        "unsigned long long r;"
        'asm volatile("v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]":"=v"(r):"v"(a[threadIdx.x]),'
        '"v"(a[64+threadIdx.x]));o[threadIdx.x]=r;}\n',
        encoding="utf-8",
    )
    module = load(compile_hip(source, "gfx90a"), "gfx90a")
    a, out = rng.integers(0, 2**63, 128).astype("u8"), np.zeros(64, "u8")
    module.launch("pair", (1,), (64,), [a, out])
    assert (out == (a[:64] >> U(32) | (a[64:] & U(0xFFFFFFFF)) << U(32))).all()


def test_bits_of_two_over_pi(compile_hip: Callable[..., bytes], tmp_path: Path) -> None:
    """V_TRIG_PREOP_F64, by which double sines of large numbers are reduced, against 2/pi by Machin's sum."""
    source = tmp_path / "preop.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void preop(const double*a,double*o){int i=threadIdx.x;double r;'
        'asm volatile("v_trig_preop_f64 %0, %1, %2":"=v"(r):"v"(a[i]),"v"(i%18));o[i]=r;}\n',
        encoding="utf-8",
    )
    module = load(compile_hip(source, "gfx942"), "gfx942")
    x = 2.0 ** rng.integers(-3, 900, 64)
    out = np.zeros(64)
    module.launch("preop", (1,), (64,), [x, out])
    n = 1400

    def arctangent(y: int) -> int:
        total = term = (1 << n) // y
        k, sign = 3, -1
        while term:
            term //= y * y
            total, sign, k = total + sign * (term // k), -sign, k + 2
        return total

    two_over_pi = (2 << 2 * n) // (4 * (4 * arctangent(5) - arctangent(239)))
    for k in range(64):
        exponent = int(np.frexp(x[k])[1]) + 1022
        shift = (k % 18) * 53 + max(exponent - 1077, 0)
        want = 0.0
        if shift // 32 + 2 < 39:
            part = two_over_pi >> (n - 53 - shift) & (1 << 53) - 1
            want = float(np.ldexp(float(part), -53 - shift + (128 if exponent >= 1968 else 0)))
        assert out[k] == want, k

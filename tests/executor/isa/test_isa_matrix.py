"""Matrix instructions: operands laid out as AMD's matrix instruction calculator says, against numpy's product.

Values are small whole numbers times powers of two, so that the order of sums does not matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from assembling import FIRST, registers

Place = Callable[[int, int], tuple[int, int]]
"""(row or column, k) -> (lane, place of the element in the lane)."""


def minifloat(exponent: int, mantissa: int, bias: int) -> np.ndarray:
    """The number of every code whose exponent is not the largest: the others hold NaN on some formats."""
    out = []
    for code in range(1 << (exponent + mantissa + 1)):
        e, m = code >> mantissa & ((1 << exponent) - 1), code & ((1 << mantissa) - 1)
        value = m * 2.0 ** (1 - bias - mantissa) if e == 0 else (1 + m / 2**mantissa) * 2.0 ** (e - bias)
        out.append(-value if code >> (exponent + mantissa) else value)
    return np.array(out)


FORMATS = {
    "FP8": (8, minifloat(4, 3, 7)), "BF8": (8, minifloat(5, 2, 15)), "FP6": (6, minifloat(2, 3, 1)),
    "BF6": (6, minifloat(3, 2, 3)), "FP4": (4, minifloat(2, 1, 1)), "FNUZ8": (8, minifloat(4, 3, 8)),
    "I8": (8, np.arange(256).astype("i1").astype("f8")), "U8": (8, np.arange(256.0)),
    "I4": (4, np.array([*range(8), *range(-8, 0)], "f8")), "U4": (4, np.arange(16.0)),
    "F16": (16, np.arange(1 << 16).astype("u2").view("f2").astype("f8")),
    "F32": (32, np.zeros(0)),
}  # fmt: skip


def draw(kind: str, rows: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and their values, [rows, k]."""
    rng = np.random.default_rng(seed)
    values = FORMATS[kind][1]
    if kind in ("F16", "F32"):
        numbers = rng.integers(-8, 9, (rows, k)).astype("f2" if kind == "F16" else "f4")
        return numbers.view("u2" if kind == "F16" else "u4").astype("u8"), numbers.astype("f8")
    few = np.arange(len(values))
    if kind in ("FP8", "BF8", "FNUZ8"):
        # Eighths: their products and sums are exact as floats. -0 is a NaN in one format.
        few = np.flatnonzero((np.abs(values) <= 8) & (values * 8 % 1 == 0) & ((values != 0) | ~np.signbit(values)))
    codes = few[rng.integers(0, len(few), (rows, k))]
    return codes.astype("u8"), values[codes]


def packed(codes: np.ndarray, bits: int, place: Place, wave: int, words: int) -> np.ndarray:
    """Registers [words, wave] with each element where `place` says."""
    lanes = [0] * wave
    for row in range(codes.shape[0]):
        for k in range(codes.shape[1]):
            lane, at = place(row, k)
            lanes[lane] |= int(codes[row, k]) << bits * at
    return np.array([[x >> 32 * w & 0xFFFFFFFF for x in lanes] for w in range(words)], np.uint32)


def result(out: np.ndarray, m: int, kind: str = "F32") -> np.ndarray:
    """D of an MFMA as a matrix."""
    values = out.view(np.float32) if kind == "F32" else out.view(np.int32)
    d = np.zeros((m, m))
    for r in range(out.shape[0]):
        for lane in range(64):
            row = 8 * (r // 4) + 4 * (lane // 32) + r % 4 if m == 32 else 4 * (lane // 16) + r
            d[row, lane % m] = values[r, lane]
    return d


def span(first: int, count: int) -> str:
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


@pytest.mark.parametrize(("cbsz", "abid", "blgp"), [(1, 1, 0), (2, 3, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3), (2, 1, 6)])
def test_blocks_share_an_operand(cbsz: int, abid: int, blgp: int) -> None:
    """Four blocks of 16 x 16: cbsz and abid choose A's, blgp moves B between lanes."""
    a, b = (draw("F32", 64, 1, seed)[0].astype("u4").reshape(1, 64) for seed in (1, 2))
    text = f"v_mfma_f32_16x16x1_4b_f32 v[0:15], v10, v11, 0 cbsz:{cbsz} abid:{abid} blgp:{blgp}"
    out = registers("gfx942", f"v_mov_b32 v40, v10\n v_mov_b32 v41, v11\n {text.replace('v10, v11', 'v40, v41')}",
                    np.concatenate([a, b]), 16).view("f4")  # fmt: skip
    x, y = a.view("f4")[0], b.view("f4")[0]
    moved = {0: lambda q: q, 1: lambda q: q % 32, 2: lambda q: q % 32 + 32, 3: lambda q: (q + 16) % 64}
    moved |= {p: (lambda q, p=p: q % 16 + 16 * (p - 4)) for p in range(4, 8)}
    for block in range(4):
        source = block // 2**cbsz * 2**cbsz + abid
        for r in range(4):
            for lane in range(64):
                want = x[16 * source + 4 * (lane // 16) + r] * y[moved[blgp](16 * block + lane % 16)]
                assert out[4 * block + r, lane] == want


@pytest.mark.parametrize(
    ("name", "m", "k"),
    [("i32_16x16x16i8", 16, 16), ("f32_32x32x8bf16_1k", 32, 8), ("f32_16x16x8bf16", 16, 8), ("f32_32x32x4bf16", 32, 4)],
)
def test_what_gfx90a_encodes_otherwise(name: str, m: int, k: int) -> None:
    """Its codes are sparse products and wider ones on CDNA 3, whose table decodes both."""
    rng = np.random.default_rng(15)
    numbers = rng.integers(-9, 10, (2, m, k))
    whole = name.startswith("i32")
    bits = 8 if whole else 16
    codes = (numbers & 255) if whole else numbers.astype("f4").view("u4") >> 16
    per = k * m // 64
    words = per * bits // 32
    rows = [packed(c, bits, lambda i, q: (i + m * (q // per), q % per), 64, words) for c in codes]
    total = m * m // 64
    body = f"{copies(2 * words)}\n v_mfma_{name} {span(0, total)}, {span(100, words)}, {span(100 + words, words)}, 0"
    out = registers("gfx90a", body, np.concatenate(rows), total)
    assert (result(out, m, "I32" if whole else "F32") == numbers[0] @ numbers[1].T).all()


@pytest.mark.parametrize(
    ("target", "m", "k", "kind", "abid"),
    [
        ("gfx942", 16, 32, "F16", 2),
        ("gfx942", 32, 32, "FNUZ8", 1),
        ("gfx942", 16, 64, "I8", 0),
        ("gfx950", 16, 64, "F16", 1),
    ],
)
def test_sparse_products_of_cdna(target: str, m: int, k: int, kind: str, abid: int) -> None:
    """SMFMAC: two of each four elements of A, chosen by the index set that abid names."""
    bits = FORMATS[kind][0]
    codes, values = draw(kind, m, k // 2, 3)
    b_codes, b = draw(kind, m, k, 4)
    rng = np.random.default_rng(5)
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])[rng.integers(0, 6, (m, k // 4))]
    dense = np.zeros((m, k))
    for row in range(m):
        for t in range(k // 2):
            dense[row, 4 * (t // 2) + pairs[row, t // 2, t % 2]] = values[row, t]
    per = k * m // 64
    words = per // 2 * bits // 32
    rows_a = packed(codes, bits, lambda i, t: (i + m * (t // (per // 2)), t % (per // 2)), 64, words)
    rows_b = packed(b_codes, bits, lambda j, q: (j + m * (q // per), q % per), 64, 2 * words)
    index = packed(
        pairs.reshape(m, k // 2).astype("u8"), 2, lambda i, t: (i + m * (t // (per // 2)), t % (per // 2)), 64, 1
    )
    index = (index.astype("u8") << np.uint64(per * abid)).astype("u4") if per < 32 else index
    total = m * m // 64
    name = {"F16": "f32_{}_f16", "FNUZ8": "f32_{}_fp8_fp8", "I8": "i32_{}_i8"}[kind].format(f"{m}x{m}x{k}")
    first = FIRST + 3 * words
    body = (
        f"{copies(3 * words + 1)}\n"
        + "\n".join(f" v_mov_b32 v{r}, {'1' if kind == 'I8' else '1.0'}" for r in range(total))
        + f"\n v_smfmac_{name} {span(0, total)}, {span(100, words)}, {span(100 + words, 2 * words)}, v{90 + first}"
        + (f" abid:{abid}" if abid else "")
    )
    out = registers(target, body, np.concatenate([rows_a, rows_b, index]), total)
    d = result(out, m, "I32" if kind == "I8" else "F32")
    assert (d == dense @ b.T + 1).all()


def copies(count: int) -> str:
    """The operands again from v100 on, out of the way of the results."""
    return "\n".join(f" v_mov_b32 v{100 + k}, v{FIRST + k}" for k in range(count)).strip()


@pytest.mark.parametrize(
    ("m", "a_kind", "b_kind", "scaled"),
    [(16, "FP8", "FP4", True), (32, "BF6", "FP8", True), (16, "FP6", "BF6", False), (32, "BF8", "FP6", False)],
)
def test_small_floats_with_scales(m: int, a_kind: str, b_kind: str, scaled: bool) -> None:
    """F8F6F4: any two formats; a block of 32 k has a power of two for each row of A and each column of B."""
    k, groups = {16: 128, 32: 64}[m], 64 // m
    order = ("FP8", "BF8", "FP6", "BF6", "FP4")

    def place(bits: int) -> Place:
        if bits == 8:
            return lambda i, q: (i + m * (q % (16 * groups) // 16), q % 16 + 16 * (q // (16 * groups)))
        return lambda i, q: (i + m * (q // 32), q % 32)

    rows, numbers = [], []
    for kind, seed in ((a_kind, 6), (b_kind, 7)):
        codes, values = draw(kind, m, k, seed)
        bits = FORMATS[kind][0]
        rows.append(packed(codes, bits, place(bits), 64, bits))
        numbers.append(values)
    rng = np.random.default_rng(8)
    scales = rng.integers(124, 131, (2, 64)).astype("u4")
    factors = [2.0 ** (s.astype("f8") - 127).reshape(groups, m).T.repeat(32, 1) if scaled else 1.0 for s in scales]
    want = (numbers[0] * factors[0]) @ (numbers[1] * factors[1]).T
    # Byte 2 of A's register, byte 1 of B's.
    given = np.concatenate([*rows, scales[:1] << 16, scales[1:] << 8])
    w = [len(r) for r in rows]
    name, tail = "v_mfma_", f" cbsz:{order.index(a_kind)} blgp:{order.index(b_kind)}"
    if scaled:
        name, tail = "v_mfma_scale_", f", v{100 + sum(w)}, v{101 + sum(w)} op_sel:[0,1,0] op_sel_hi:[1,0,0]{tail}"
    total = m * m // 64
    operands = f"{span(0, total)}, {span(100, w[0])}, {span(100 + w[0], w[1])}, 0"
    body = f"{copies(len(given))}\n {name}f32_{m}x{m}x{k}_f8f6f4 {operands}{tail}"
    got = result(registers("gfx950", body, given, total), m)
    assert np.allclose(got, want, rtol=1e-6, atol=1e-6 * np.abs(want).max())


def turned(group: int, per: int) -> Callable[[int, int], int]:
    """RDNA4: the lane of element k where four rows of lanes take turns in the order 0, 2, 1, 3."""
    if group == 4:
        return lambda i, k: i + 32 * (k // per % 2) + 16 * (k // (2 * per))
    return lambda i, k: i + 16 * (k // per)


def rdna_result(out: np.ndarray, target: str, wave: int) -> np.ndarray:
    d = np.zeros((16, 16))
    for r in range(out.shape[0]):
        for lane in range(wave):
            if target == "gfx1100":
                row = wave // 16 * r + lane // 16
            elif wave == 64:
                row = r + 4 * (lane // 32) + 8 * (lane // 16 % 2)
            else:
                row = r + 8 * (lane // 16)
            d[row, lane % 16] = out[r, lane]
    return d


@pytest.mark.parametrize(
    ("target", "wave", "k"), [("gfx1100", 32, 16), ("gfx1201", 32, 32), ("gfx1201", 64, 32), ("gfx1201", 64, 16)]
)
def test_products_of_four_bits(target: str, wave: int, k: int) -> None:
    """Signed A, unsigned B; clamped sums stop at the largest number."""
    codes, a = draw("I4", 16, k, 9)
    b_codes, b = draw("U4", 16, k, 10)
    group = 1 if target == "gfx1100" else min(wave // 16, k // 8)
    per = k // group
    lane = turned(group, per)
    repeated = wave // 16 if group == 1 else 1
    rows = []
    for each in (codes, b_codes):
        one = packed(each, 4, lambda i, q: (lane(i, q) if group > 1 else i, q % per), wave, per // 8)
        rows.append(sum(np.roll(one, 16 * n, 1) for n in range(repeated)) if group == 1 else one)
    total, w = 256 // wave, per // 8
    body = copies(2 * w) + "".join(f"\n v_mov_b32 v{r}, 0x7fffffc0" for r in range(total))
    operands = f"{span(0, total)}, {span(100, w)}, {span(100 + w, w)}, {span(0, total)}"
    body += f"\n v_wmma_i32_16x16x{k}_iu4 {operands} neg_lo:[1,0,0] clamp"
    out = registers(target, body, np.concatenate(rows), total, wave).view("i4")
    want = np.minimum(a @ b.T + 0x7FFFFFC0, 2**31 - 1)
    assert (rdna_result(out, target, wave) == want).all()


@pytest.mark.parametrize(
    ("wave", "kind", "k", "key"),
    [(32, "F16", 32, 1), (64, "F16", 32, 3), (32, "FP8", 32, 1), (64, "I4", 32, 1), (64, "I4", 64, 0)],
)
def test_sparse_products_of_rdna4(wave: int, kind: str, k: int, key: int) -> None:
    bits = FORMATS[kind][0]
    codes, values = draw(kind, 16, k // 2, 11)
    b_codes, b = draw(kind, 16, k, 12)
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])[
        np.random.default_rng(13).integers(0, 6, (16, k // 4))
    ]
    dense = np.zeros((16, k))
    for row in range(16):
        for t in range(k // 2):
            dense[row, 4 * (t // 2) + pairs[row, t // 2, t % 2]] = values[row, t]
    group_a, group_b = (min(wave // 16, n * bits // 32) for n in (k // 2, k))
    per, kept = k // group_a, k // 2 // group_a
    turns = kind == "I4"
    lane_a = turned(group_a if turns else 1, kept)
    lane_b = turned(group_b if turns else 1, k // group_b)
    rows_a = packed(codes, bits, lambda i, t: (lane_a(i, t), t % kept), wave, kept * bits // 32)
    rows_b = packed(b_codes, bits, lambda j, q: (lane_b(j, q), q % (k // group_b)), wave, k // group_b * bits // 32)
    index = packed(pairs.reshape(16, k // 2).astype("u8"), 2, lambda i, t: (lane_a(i, t), t % kept), wave, 1) << (
        per * key % 32
    )
    total = 256 // wave
    name = {"F16": "f32_16x16x32_f16", "FP8": "f32_16x16x32_fp8_fp8", "I4": f"i32_16x16x{k}_iu4"}[kind]
    wa, wb = len(rows_a), len(rows_b)
    body = copies(wa + wb + 1) + "".join(f"\n v_mov_b32 v{r}, 0" for r in range(total))
    body += f"\n v_swmmac_{name} {span(0, total)}, {span(100, wa)}, {span(100 + wa, wb)}, v{100 + wa + wb}"
    body += (f" index_key:{key}" if key else "") + (" neg_lo:[1,1,0]" if kind == "I4" else "")
    out = registers("gfx1201", body, np.concatenate([rows_a, rows_b, index]), total, wave)
    got = rdna_result(out.view("i4" if kind == "I4" else "f4"), "gfx1201", wave)
    assert (got == dense @ b.T).all()

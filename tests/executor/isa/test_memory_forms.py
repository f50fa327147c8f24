"""Instructions that no compiler of the tests makes: transposing reads, loads to LDS, scalar stores, small floats."""

from __future__ import annotations

import numpy as np
import pytest
from assembling import registers
from test_isa_matrix import minifloat

rng = np.random.default_rng(21)


def bits_of(values: np.ndarray, bits: int, words: int) -> np.ndarray:
    """Elements [lanes, n] packed without gaps to registers [words, lanes]."""
    out = []
    for row in values.tolist():
        whole = sum(int(x) << bits * k for k, x in enumerate(row))
        out.append([whole >> 32 * w & 0xFFFFFFFF for w in range(words)])
    return np.array(out, np.uint32).T


@pytest.mark.parametrize("bits", [16, 8, 6, 4])
def test_a_transposing_read(bits: int) -> None:
    """gfx950: 16 lanes read a matrix of 16 columns, row by row; each gets a column."""
    words = 3 if bits == 6 else 2
    count = 32 * words // bits
    elements = rng.integers(0, 1 << bits, (64, count))
    given = bits_of(elements, bits, words)
    size = 96 if bits == 6 else 64
    step = 4 * words
    stores = "".join(f"ds_write_b32 v200, v{10 + k} offset:{4 * k}\n" for k in range(words))
    body = f"v_mul_u32_u24 v200, {step}, v250\n{stores} s_waitcnt lgkmcnt(0)\n "
    body += f"ds_read_b{size}_tr_b{bits} v[0:{words - 1}], v200"
    out = registers("gfx950", body, given, words, lds=64 * step)
    columns = elements.reshape(4, count, 16).transpose(0, 2, 1).reshape(64, count)
    assert (out == bits_of(columns, bits, words)).all()


def test_a_load_to_lds_through_a_buffer() -> None:
    """M0 and the offset say where; every lane's word follows the last one's."""
    x = rng.integers(0, 2**32, (1, 64), dtype=np.uint32)
    body = (
        "s_mov_b32 s8, s4\n s_mov_b32 s9, s5\n s_mov_b32 s10, 0xf8\n s_mov_b32 s11, 0x27000\n s_mov_b32 m0, 64\n"
        "buffer_load_dword v251, s[8:11], 0 offen lds\n s_waitcnt vmcnt(0)\n ds_read_b32 v0, v251 offset:64"
    )
    out = registers("gfx942", body, x, 1, lds=320)
    # The buffer ends before the last two words: they read as zero.
    assert (out[0, :62] == x[0, :62]).all()
    assert (out[0, 62:] == 0).all()


def test_a_load_to_the_upper_lds_of_gfx950() -> None:
    """160 KiB need 18 bits of M0."""
    x = rng.integers(0, 2**32, (1, 64), dtype=np.uint32)
    body = (
        "v_mov_b32 v200, v251\n v_mov_b32 v201, 0\n v_mov_b32 v202, s4\n v_mov_b32 v203, s5\n"
        "v_lshl_add_u64 v[200:201], v[200:201], 0, v[202:203]\n s_mov_b32 m0, 0x10000\n"
        "global_load_lds_dword v[200:201], off\n s_waitcnt vmcnt(0)\n"
        "v_add_u32 v204, 0x10000, v251\n ds_read_b32 v0, v204"
    )
    assert (registers("gfx950", body, x, 1, lds=0x10100) == x).all()


def test_scalar_stores_and_atomics() -> None:
    x = np.arange(64, dtype=np.uint32).reshape(1, 64)
    body = (
        "s_mov_b32 s12, 77\n s_mov_b32 s13, 5\n s_store_dword s12, s[4:5], 0x8\n s_atomic_add s13, s[4:5], 0xc glc\n"
        "s_waitcnt lgkmcnt(0)\n v_mov_b32 v1, s13\n global_load_dword v0, v251, s[4:5]"
    )
    out = registers("gfx90a", body, x, 2)
    assert (out[0] == [0, 1, 77, 8, *range(4, 64)]).all()
    assert (out[1] == 3).all()


def test_registers_that_m0_counts() -> None:
    body = "s_mov_b32 m0, 2\n s_mov_b32 s20, 1\n s_mov_b32 s22, 9\n s_movrels_b32 s30, s20\n s_movreld_b32 s31, s30\n"
    body += "v_mov_b32 v0, s30\n v_mov_b32 v1, s33"
    assert (registers("gfx1100", body, np.zeros((1, 32), "u4"), 2) == 9).all()


@pytest.mark.parametrize(
    ("name", "bits", "values"),
    [("fp8", 8, minifloat(4, 3, 7)), ("bf8", 8, minifloat(5, 2, 15)), ("fp4", 4, minifloat(2, 1, 1))],
)
def test_pairs_of_small_floats(name: str, bits: int, values: np.ndarray) -> None:
    """Two floats over a power of two, to the nearest code with ties to even, and back."""
    finite = values[: len(values) // 2]
    finite = finite[finite <= {"fp8": 448, "bf8": 57344, "fp4": 6}[name]]
    x = (rng.uniform(-1, 1, (2, 64)) * min(finite.max(), 400) * 4).astype("f4")
    scale = np.full((1, 64), 4, "f4")
    second = f"op_sel:[{'0,1,0' if bits == 4 else '1,0,0'}]"
    body = (
        f"v_mov_b32 v0, 0\n v_cvt_scalef32_pk_{name}_f32 v0, v10, v11, v12 op_sel:[0,0,0,1]\n"
        f"v_cvt_scalef32_pk_f32_{name} v[2:3], v0, v12 {second}\n"
        f"v_cvt_scalef32_pk_f16_{name} v1, v0, v12 {second}"
    )
    out = registers("gfx950", body, np.concatenate([x, scale]).view("u4"), 4)
    want = []
    for row in x.astype("f8") / 4:
        codes = []
        for v in row:
            distance = np.abs(finite - abs(v))
            near = np.flatnonzero(distance == distance.min())
            code = int(near[near % 2 == 0][0] if len(near) > 1 else near[0])
            codes.append(code | (1 << (bits - 1) if v < 0 else 0))
        want.append(codes)
    low, high = np.array(want, "u8")
    assert (out[0] == ((low | high << np.uint64(bits)) << np.uint64(16)).astype("u4")).all()
    back = np.array([values[low], values[high]]) * 4
    assert (out[2:].view("f4") == back).all()
    assert (back.astype("f2") == out[1].reshape(-1, 1).view("f2").reshape(-1, 2).T).all()


def test_thirty_two_small_floats() -> None:
    """FP6 fills six registers without gaps; its halves and floats come back scaled."""
    values = minifloat(2, 3, 1)
    codes = rng.integers(0, 64, (64, 32))
    given = np.concatenate([bits_of(codes, 6, 6), np.full((1, 64), 0.5, "f4").view("u4")])
    body = (
        "v_cvt_scalef32_pk32_f16_fp6 v[100:115], v[10:15], v16\n v_cvt_scalef32_pk32_fp6_f16 v[0:5], v[100:115], v16\n"
        "v_mov_b32 v6, v115"
    )
    out = registers("gfx950", body, given, 7)
    assert (out[:6] == bits_of(codes, 6, 6)).all()
    assert (out[6].reshape(-1, 1).view("f2").reshape(-1, 2) == values[codes[:, 30:]] / 2).all()


def test_the_first_wave_to_signal() -> None:
    """gfx12's split barrier tells one wave of the workgroup that it came first."""
    body = "s_barrier_signal_isfirst -1\n s_cselect_b32 s20, 1, 0\n s_barrier_wait -1\n v_mov_b32 v0, s20"
    out = registers("gfx1201", body, np.zeros((1, 128), "u4"), 1)
    assert sorted(out[0, ::32]) == [0, 0, 0, 1]
    assert (out[0].reshape(4, 32) == out[0, ::32].reshape(4, 1)).all()

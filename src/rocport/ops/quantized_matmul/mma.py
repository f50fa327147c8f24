"""x @ W^T with 4-bit W at few rows of x, on NVIDIA: the weights are decoded into the registers of the matrix unit.

A lane of `mma.sync.m16n8k16` holds eight elements of sixteen rows of W and four of eight rows of x. Which elements of K
these are is free as long as both operands agree, so each lane takes codes that lie side by side in its row of W and
the same elements of its row of x: whole loads, no shared memory, each code decoded once for all rows of x. Warps share
K and meet at the end. AMD's matrix instructions have other registers: there, `triton` serves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from rocport.ops.decode import (
    Arguments,
    arguments,
    column,
    compute_units,
    finish_scale,
    halve,
    let_the_next_begin,
    wait_for_the_one_before,
)  # fmt: skip
from rocport.ops.dispatch import Tier
from rocport.ops.formats import QuantTensor
from rocport.ops.launch import Launch
from rocport.ops.quantized_matmul.triton import fill_pairs, pairs_code, pairs_column, refuse_shape
from rocport.runtime.machine import Platform, platform


@triton.jit
def words_at(pointer, mask, WORDS: tl.constexpr):
    """WORDS words a lane from its `pointer` on, as a tuple of [T]."""
    words = ()
    if WORDS == 1:
        words = words + (tl.load(pointer, mask=mask, other=0),)
    else:
        tile = tl.load(pointer[:, None] + tl.arange(0, WORDS)[None, :], mask=mask[:, None], other=0)
        for word in tl.static_range(WORDS):
            words = words + (column(tile, word, WORDS),)
    return words


@triton.jit
def asked(
    code_rows, group_rows, x_rows, scales, biases, first, warp, here, units,
    LUT: tl.constexpr, WORDS: tl.constexpr, GROUP_UNITS: tl.constexpr, WARPS: tl.constexpr, UNITS: tl.constexpr,
):  # fmt: skip
    """What a lane needs of UNITS units from `first` on, as it is stored: of each, of each eight rows of W the words,
    the scale and the bias, then of each eight rows of x the words."""
    held = ()
    for u in tl.static_range(UNITS):
        known = first + u * WARPS + warp < units
        for half in tl.static_range(len(code_rows)):
            at = code_rows[half] + first * (4 * WORDS) + u * WARPS * 4 * WORDS
            held = held + words_at(at, known, WORDS)
            group = group_of(group_rows[half], first, u, warp, GROUP_UNITS, WARPS)
            held = held + (tl.load(scales + group, mask=known, other=0),)
            if not LUT:
                held = held + (tl.load(biases + group, mask=known, other=0.0),)
        for eight in tl.static_range(len(x_rows)):
            for piece in tl.static_range(WORDS):
                at = x_rows[eight] + first * (16 * WORDS) + (u * WARPS * 16 * WORDS + piece * 4)
                held = held + words_at(at, known & here[eight], 4)
    return held


@triton.jit
def group_of(group_row, first, u: tl.constexpr, warp, GROUP_UNITS: tl.constexpr, WARPS: tl.constexpr):
    """The group of unit first + u WARPS + warp, given that of its row's first."""
    if GROUP_UNITS == 1:
        group = group_row + warp + first + u * WARPS
    else:
        group = group_row + (first + u * WARPS + warp) // GROUP_UNITS
    return group


@triton.jit
def decoded(word, pairs, LUT: tl.constexpr, DECODE: tl.constexpr):
    """Eight codes as four pairs of 16-bit values, as `DECODE` pairs them; `pairs` is the lane's column of a table."""
    if LUT:
        found = tl.inline_asm_elementwise(
            DECODE, "=&r,=&r,=&r,=&r,r,r", [word, pairs], (tl.int32, tl.int32, tl.int32, tl.int32), True, 1
        )  # fmt: skip
    else:
        found = tl.inline_asm_elementwise(
            DECODE, "=r,=r,=r,=r,r", [word], (tl.int32, tl.int32, tl.int32, tl.int32), True, 1
        )  # fmt: skip
    return found


@triton.jit
def mma(low, high, low_more, high_more, x, x_more, c, MMA: tl.constexpr):
    """c + 16 rows of W by 8 rows of x over 16 elements of K; `c` is the lane's four sums."""
    return tl.inline_asm_elementwise(
        MMA, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", [low, high, low_more, high_more, x, x_more, c[0], c[1], c[2], c[3]],
        (tl.float32, tl.float32, tl.float32, tl.float32), True, 1,
    )  # fmt: skip


@triton.jit
def paired(words, FIRST: tl.constexpr, LUT: tl.constexpr):
    """Eight elements of x, four words from FIRST on, as `decoded` pairs the codes: neighbours of a table's, those
    four apart of an integer's."""
    a, b, c, d = words[FIRST], words[FIRST + 1], words[FIRST + 2], words[FIRST + 3]
    if not LUT:
        low_a, low_b = (a & 0xFFFF) | (c << 16), (b & 0xFFFF) | (d << 16)
        c = ((a >> 16) & 0xFFFF) | (c & -65536)
        d = ((b >> 16) & 0xFFFF) | (d & -65536)
        # Codes 0 and 4 of a word, 1 and 5, 2 and 6, 3 and 7.
        a, b, c, d = low_a, c, low_b, d
    return a, b, c, d


@triton.jit
def shared_sum(value, WARPS: tl.constexpr, P: tl.constexpr):
    """[32, P, WARPS] summed over the last."""
    if WARPS == 1:
        total = tl.reshape(value, (32, P))
    else:
        first, second = tl.split(tl.reshape(value, (32, P, WARPS // 2, 2)))
        total = shared_sum(first + second, WARPS // 2, P)
    return total


@triton.jit(do_not_specialize=["M", "N"])
def mma_kernel(
    x, codes, scales, biases, scale_table, absmax2, offset, bias, out,
    M, N, K, x_stride,
    GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, BIAS: tl.constexpr, WARPS: tl.constexpr,
    TILES: tl.constexpr, EIGHTS: tl.constexpr, UNITS: tl.constexpr, DECODE: tl.constexpr, MMA: tl.constexpr,
    ONES: tl.constexpr, ADDED: tl.constexpr, AHEAD: tl.constexpr, FILL: tl.constexpr, FOLLOW: tl.constexpr,
):  # fmt: skip
    """TILES times 16 rows of W by EIGHTS times 8 rows of x. A unit is what four lanes hold of K, within one group;
    a warp takes every WARPS-th unit, UNITS of them at a time; with AHEAD the next are asked for before these are used.
    FILL makes the table that DECODE looks up in. FOLLOW: launched while the kernel before ends.
    """
    C: tl.constexpr = GROUP // 4 if GROUP < 128 else 32
    WORDS: tl.constexpr = C // 8
    GROUP_UNITS: tl.constexpr = GROUP // (4 * C)
    T: tl.constexpr = 32 * WARPS
    ROW: tl.constexpr = WORDS + (1 if LUT else 2)
    HELD: tl.constexpr = 2 * TILES * ROW + EIGHTS * 4 * WORDS
    thread = tl.arange(0, T)
    warp, lane = thread // 32, thread % 32
    column_at = lane
    if LUT:
        column_at = pairs_column(lane, FILL)
    if FOLLOW:
        wait_for_the_one_before()
    row, quarter = lane // 4, lane % 4
    x_words = x.to(tl.pointer_type(tl.int32), bitcast=True)
    units = K // (4 * C)
    n0 = tl.program_id(0) * (16 * TILES)
    code_rows = ()
    group_rows = ()
    for half in tl.static_range(2 * TILES):
        n = tl.minimum(n0 + 8 * half + row, N - 1)
        at = tl.multiple_of(n * (K // 8), WORDS) + (warp * 4 + quarter) * WORDS
        code_rows = code_rows + (codes + at,)
        group_rows = group_rows + (n * (K // GROUP),)
    x_rows = ()
    here = ()
    for eight in tl.static_range(EIGHTS):
        m = 8 * eight + row
        at = m * tl.multiple_of(x_stride // 2, 4) + (warp * 4 + quarter) * (4 * WORDS)
        x_rows = x_rows + (x_words + at,)
        here = here + (m < M,)
    zero = tl.zeros((T,), tl.float32)
    ones = tl.full((T,), ONES, tl.int32)
    totals = (zero,) * (4 * TILES * EIGHTS)
    if AHEAD:
        following = asked(
            code_rows, group_rows, x_rows, scales, biases, 0, warp, here, units, LUT, WORDS, GROUP_UNITS, WARPS, UNITS
        )  # fmt: skip
    for first in range(0, units, WARPS * UNITS):
        if AHEAD:
            held = following
            following = asked(
                code_rows, group_rows, x_rows, scales, biases, first + WARPS * UNITS, warp, here, units,
                LUT, WORDS, GROUP_UNITS, WARPS, UNITS,
            )  # fmt: skip
        else:
            held = asked(
                code_rows, group_rows, x_rows, scales, biases, first, warp, here, units,
                LUT, WORDS, GROUP_UNITS, WARPS, UNITS,
            )  # fmt: skip
        for u in tl.static_range(UNITS):
            known = first + u * WARPS + warp < units
            x_pairs = ()
            x_sums = ()
            for eight in tl.static_range(EIGHTS):
                pairs = ()
                x_sum = (zero, zero, zero, zero)
                for word in tl.static_range(WORDS):
                    four = paired(held, u * HELD + 2 * TILES * ROW + (eight * WORDS + word) * 4, LUT)
                    pairs = pairs + (four,)
                    if not LUT:
                        x_sum = mma(ones, ones, ones, ones, four[0], four[1], x_sum, MMA)
                        x_sum = mma(ones, ones, ones, ones, four[2], four[3], x_sum, MMA)
                x_pairs = x_pairs + (pairs,)
                x_sums = x_sums + (x_sum,)
            new = ()
            for tile in tl.static_range(TILES):
                parts = ((zero, zero, zero, zero),) * EIGHTS
                for word in tl.static_range(WORDS):
                    a = decoded(held[u * HELD + 2 * tile * ROW + word], column_at, LUT, DECODE)
                    b = decoded(held[u * HELD + (2 * tile + 1) * ROW + word], column_at, LUT, DECODE)
                    next_parts = ()
                    for eight in tl.static_range(EIGHTS):
                        p = x_pairs[eight][word]
                        c = mma(a[0], b[0], a[1], b[1], p[0], p[1], parts[eight], MMA)
                        next_parts = next_parts + (mma(a[2], b[2], a[3], b[3], p[2], p[3], c, MMA),)
                    parts = next_parts
                # Rows `row` and `row` + 8 of the tile.
                factors = ()
                shifts = ()
                for half in tl.static_range(2):
                    group = group_of(group_rows[2 * tile + half], first, u, warp, GROUP_UNITS, WARPS)
                    raw = held[u * HELD + (2 * tile + half) * ROW + WORDS]
                    factor = finish_scale(raw, scale_table, absmax2, offset, group, known, SCALE)
                    factors = factors + (factor,)
                    if not LUT:
                        # What `decoded` added to each code is taken off with the bias.
                        shift = held[u * HELD + (2 * tile + half) * ROW + WORDS + 1].to(tl.float32)
                        shifts = shifts + (shift - ADDED * factor,)
                for eight in tl.static_range(EIGHTS):
                    for index in tl.static_range(4):
                        total = totals[4 * (tile * EIGHTS + eight) + index] + parts[eight][index] * factors[index // 2]
                        if not LUT:
                            total += x_sums[eight][index % 2] * shifts[index // 2]
                        new = new + (total,)
            totals = new
    if FOLLOW:
        let_the_next_begin()
    P: tl.constexpr = 4 * TILES * EIGHTS
    if P == 32:
        totals = halve(totals, 16)
    if P >= 16:
        totals = halve(totals, 8)
    if P >= 8:
        totals = halve(totals, 4)
    totals = halve(totals, 2)
    # By halves, each in one lane: `tl.sum` over the warps would write them with up to 32 lanes in one bank.
    value = tl.permute(tl.reshape(tl.join(totals[0], totals[1]), (WARPS, 32, P)), (1, 2, 0))
    value = shared_sum(value, WARPS, P)
    lane = tl.arange(0, 32)[:, None]
    p = tl.arange(0, P)[None, :]
    n = n0 + p // (4 * EIGHTS) * 16 + p % 4 // 2 * 8 + lane // 4
    m = p // 4 % EIGHTS * 8 + lane % 4 * 2 + p % 2
    if BIAS:
        value += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)
    tl.store(out + m.to(tl.int64) * N + n, value.to(out.dtype.element_ty), mask=(m < M) & (n < N))


ROWS_AT_MOST = 16
"""Rows of x that it serves. NVIDIA H200, medians over 40 matrices, time of `triton` / this: NF4 1.50 at 8 rows, 1.23 at
16, 0.95 at 32; affine 1.85, 1.46, 0.97."""


@dataclass(frozen=True)
class MmaConfig:
    """Warps that share K, tiles of 16 rows of W a program, units a lane asks for at a time, registers a lane at most
    (with fewer, ptxas asks for x only where it is used), and whether the next units are asked for ahead."""

    warps: int
    tiles: int
    units: int
    registers: int
    ahead: bool


def mma_config(m: int, n: int, lut: bool, units: int) -> MmaConfig:
    """The configuration for a GPU of `units` multiprocessors, by how many tiles of 16 rows of W each gets: while all
    programs fit on the GPU at once, the fewest that fill it are the fastest.

    Fitted to the half of `benchmarks/model.py mma` (40 matrices, M = 4, 8 and 16, NF4 and affine, NVIDIA H200) whose
    sha256("N K") is even: 0.4 % slower than the best of 17 configurations of each row, at worst 13 %; 3.1 % and 30 %
    on the other half.
    """
    tiles = n / (16 * units)
    if m <= 8:
        if tiles <= 2:
            return MmaConfig(8, 1, 2, 128, True) if lut else MmaConfig(16, 1, 2, 64, False)
        if tiles <= 3:
            return MmaConfig(4, 1, 2, 128, True) if lut else MmaConfig(8, 1, 2, 80, False)
        return MmaConfig(8, 2, 1, 128, True) if lut or tiles <= 4 else MmaConfig(4, 2, 2, 128, False)
    if tiles <= 1:
        return MmaConfig(16, 1, 1, 80, False)
    if tiles <= 2:
        return MmaConfig(8, 1, 1, 128, True)
    if tiles <= 3:
        return MmaConfig(8, 1, 1, 80, False)
    return MmaConfig(8, 2, 1, 128, False) if tiles <= 4 else MmaConfig(4, 2, 2, 128, False)


def _types(dtype: torch.dtype) -> tuple[str, int, int, float]:
    """PTX's name of the type, 1 as a pair, the pair of what integer codes are placed in, and its value."""
    if dtype == torch.bfloat16:
        return "bf16", 0x3F803F80, 0x43004300, 128.0
    return "f16", 0x3C003C00, 0x64006400, 1024.0


_LOOKUP = "{ .reg .b32 a<4>; " + pairs_code("$4", "$5", "$") + " }"


def integer_code(placed: int) -> str:
    """PTX that places the eight 4-bit codes of a word, $4, in the mantissas of `placed`: codes 0 and 4 in $0, ..."""
    code = ["{ .reg .b32 s, t, u; shr.u32 s, $4, 4; shr.u32 t, $4, 8; shr.u32 u, $4, 12;"]
    code += [f"lop3.b32 ${at}, {word}, 0x000F000F, {placed:#x}, 0xEA;" for at, word in enumerate(("$4", "s", "t", "u"))]
    return " ".join([*code, "}"])


def mma_launch(x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, config: MmaConfig) -> Launch:
    """`mma_kernel` for x [M, K] of this shape, type and device, to be given x, out, and bias where there is one."""
    m, k = x.shape
    kind, ones, placed, added = _types(x.dtype)
    fixed = {name: value for name, value in a.named.items() if name != "table"} | {
        "M": m, "N": n, "K": k, "x_stride": x.stride(0), "GROUP": a.group, "LUT": a.lut, "SCALE": a.scale_mode,
        "BIAS": bias is not None, "WARPS": config.warps, "TILES": config.tiles,
        "EIGHTS": triton.next_power_of_2(triton.cdiv(m, 8)), "UNITS": config.units,
        "DECODE": _LOOKUP if a.lut else integer_code(placed),
        "FILL": fill_pairs(a.kind, x.dtype, a.flat, config.warps) if a.lut else "",
        "MMA": f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32 "
        "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};",
        "ONES": ones, "ADDED": added, "AHEAD": config.ahead, "bias": a.scales,
    }  # fmt: skip
    given = ("x", "out") + ("bias",) * (bias is not None)
    grid = (triton.cdiv(n, 16 * config.tiles),)
    return Launch(
        mma_kernel, grid, given, fixed, platform(x.device),
        num_warps=config.warps, maxnreg=config.registers, enable_fp_fusion=True,
    )  # fmt: skip


def prepare(
    x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None
) -> Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]:
    """`run` for x [..., K], contiguous, of this shape and type: a function of x and bias to [..., N]."""
    n, k = q.shape
    rows = x.reshape(-1, k)
    shape = (*x.shape[:-1], n)
    config = mma_config(rows.shape[0], n, q.format.kind != "affine", compute_units(x.device))
    return mma_launch(rows, arguments(q), n, bias, config).output(shape)


def run(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """See `rocport.ops.quantized_matmul`; x is [M, K] with unit stride along K."""
    return prepare(x, q, bias)(x, bias)


def refuse(
    platform: Platform, x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, transpose: bool = True
) -> str:
    fmt = q.format
    if platform.kind != "cuda":
        return "is written for NVIDIA's matrix unit"
    if platform.capability is not None and platform.capability < (8, 0):
        return "needs compute capability 8.0 or later, have {}.{}".format(*platform.capability)
    if not transpose:
        return "sums along the rows of W"
    if x.dtype not in (torch.float16, torch.bfloat16):
        return f"needs float16 or bfloat16, have {x.dtype}"
    if fmt.bits != 4 or fmt.group < 32:
        return f"needs 4-bit codes in groups of 32 or more, have {fmt.name}"
    if x.shape[0] > ROWS_AT_MOST:
        return f"serves up to {ROWS_AT_MOST} rows, have {x.shape[0]}: tiles are faster"
    if x.shape[0] == 1:
        return "serves two rows and more: one is faster without a matrix unit"
    if x.stride(0) % 8 or q.numel // 8 >= 2**31:
        return "needs rows of x that start at a multiple of 16 bytes, and fewer than 2^34 weights"
    return refuse_shape(x, q)


TIER = Tier("mma", 15, run, refuse, "rocport", prepare)

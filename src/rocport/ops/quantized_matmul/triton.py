"""x @ W^T with W packed. Up to a few rows each lane decodes whole 128-bit loads and multiplies in fp32 (`rows_kernel`);
up to 256 rows tiles are decoded into the matrix units (`tile_kernel`), split over K through an fp32 workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

from rocport.ops.decode import (
    Arguments,
    arguments,
    column,
    compute_units,
    finish_scale,
    follows,
    halve,
    joined_values,
    lane_lookup,
    lane_table,
    let_the_next_begin,
    load_scale,
    refuse_triton,
    takes_ptx,
    wait_for_the_one_before,
)  # fmt: skip
from rocport.ops.dispatch import Tier
from rocport.ops.formats import Format, QuantTensor
from rocport.ops.launch import Launch
from rocport.ops.tables import table
from rocport.runtime.machine import Platform, platform

ROWS_AT_MOST = 2
"""Rows of x for which decoding once for each row is cheaper than a matrix tile. NVIDIA H200, N = K = 4096,
microseconds, rows / tiles: 10.6 / 12.7 at 2 rows, 21.3 / 12.7 at 4."""
ROWS_AT_MOST_OF_A_SMALL_MATRIX = 4
SMALL_MATRIX = 2**23
SMALL_MATRIX_OF_A_TABLE = 3 * 2**21
"""Elements up to which tiles are too few to fill the GPU, and the same for codes that are looked up, which costs a row
more. NVIDIA H200, NF4, rows / tiles at 4 rows: N = 1024, K = 4096, 6.8 / 8.9; N = 4096, K = 2048, 11.6 / 8.4."""
TILES_AT_MOST = 128
AFFINE_TILES_AT_MOST = 64
"""Rows of x up to which tiles beat dequantizing and the matmul library. NVIDIA H200, N = 14336, K = 4096, microseconds,
tiles / dequantize: NF4 57 / 77 at 128 rows, 109 / 81 at 255; affine 4-bit 51 / 74 at 64, 79 / 75 at 128."""
TILES_AT_MOST_BELOW = ((2**24, 64), (2**25, 96))
AFFINE_TILES_AT_MOST_BELOW = ((2**24, 48), (2**22, 32), (3 * 2**19, 16))
"""Elements of W below which fewer rows do: a small matrix is soon dequantized. NVIDIA H200, dequantize / tiles: NF4
0.77 to 0.99 at 128 rows below 2^24 elements, 0.99 and more at 64; affine 0.90 to 1.05 at 64, 0.96 at 48 rows of
N = 1280, K = 2880, 0.96 at 24 of N = 512."""
TABLE_LONG = (4096, 2**24)
"""K and elements of W from which tables are served up to `TILES_AT_MOST` rows all the same. NVIDIA H200, dequantize /
tiles at 128 rows up to 2^25 elements: 1.17 to 1.26 (N = K = 4096 and 5120, K = 8192); of shorter rows 0.84 to 1.16."""
AFFINE_SHORT = (2048, 2**23, 32)
"""K, elements of W and rows: columns so few that a program has few steps. 0.98 at 48 rows of N = 4096, K = 2048."""


@triton.jit
def load_known(pointer, known, ALL: tl.constexpr):
    """What `pointer` points at, 0 where it is not `known`; with ALL everything is."""
    if ALL:
        value = tl.load(pointer)
    else:
        value = tl.load(pointer, mask=known, other=0)
    return value


@triton.jit
def lane_load(
    words, groups, scales, biases, row_words, row_groups, at, lanes, left,
    SEGMENTS: tl.constexpr, LUT: tl.constexpr, WORDS: tl.constexpr, R: tl.constexpr, ALL: tl.constexpr,
):  # fmt: skip
    """What a lane needs of R rows of W, as it is stored: of each the words (a tile [T, 4] for each four, else [T]
    each), then the scale of each of its groups, then the biases. `words` points at the first of its words in the first
    row, `groups` numbers the first of its groups; `left` rows and `lanes` are there. ALL: every one asked for is."""
    held = ()
    for r in tl.static_range(R):
        here = at < tl.where(r < left, lanes, 0)
        word = words + r * row_words
        if WORDS % 4 == 0:
            for four in tl.static_range(WORDS // 4):
                quad = word[:, None] + (four * 4 + tl.arange(0, 4)[None, :])
                held = held + (load_known(quad, here[:, None], ALL),)
        else:
            for index in tl.static_range(WORDS):
                held = held + (load_known(word + index, here, ALL),)
        group = groups + r * row_groups
        for segment in tl.static_range(SEGMENTS):
            held = held + (load_known(scales + group + segment, here, ALL),)
        if not LUT:
            for segment in tl.static_range(SEGMENTS):
                held = held + (load_known(biases + group + segment, here, ALL),)
    return held


@triton.jit
def lane_vector(x_row, at, known, VEC: tl.constexpr, ALL: tl.constexpr):
    """VEC elements of x a lane from `at` on, as integers of their width."""
    INTEGER: tl.constexpr = tl.int32 if x_row.dtype.element_ty == tl.float32 else tl.int16
    return load_known(x_row + at[:, None] + tl.arange(0, VEC)[None, :], known[:, None], ALL).to(INTEGER, bitcast=True)


@triton.jit
def lane_words(held, FROM: tl.constexpr, WORDS: tl.constexpr):
    """The words of one row, `held` from FROM on by `lane_load`, as a tuple of [T]."""
    words = ()
    for word in tl.static_range(WORDS):
        if WORDS % 4 == 0:
            words = words + (column(held[FROM + word // 4], word % 4, 4),)
        else:
            words = words + (held[FROM + word],)
    return words


@triton.jit
def table_value(
    words, table, entries, J: tl.constexpr, BITS: tl.constexpr, HIGH_FIRST: tl.constexpr, PTX: tl.constexpr
):
    """The table's value for code J, fp32 [T]. HIGH_FIRST: the even element of a byte is its high half. `entries` is the
    table of 16; with PTX one entry a lane, repeated every 16 lanes."""
    PER: tl.constexpr = 32 // BITS
    index = words[J // PER] >> (((J % PER) ^ 1 if HIGH_FIRST else J % PER) * BITS)
    if PTX and BITS == 4:
        value = lane_lookup(entries, index)
    elif BITS == 4:
        value = tl.gather(entries, index & 15, 0)
    else:
        value = tl.load(table + (index & 255))
    return value


@triton.jit
def unit_float(words, J: tl.constexpr, BITS: tl.constexpr):
    """1 + code J / 2^BITS as fp32, made by placing the code in the mantissa: no int-to-float conversion."""
    WORD: tl.constexpr = J * BITS // 32
    SHIFT: tl.constexpr = J * BITS % 32
    TOP: tl.constexpr = 23 - BITS
    MASK: tl.constexpr = ((1 << BITS) - 1) << TOP
    if SHIFT + BITS <= 32:
        if SHIFT <= TOP:
            placed = words[WORD] << (TOP - SHIFT)
        else:
            placed = words[WORD] >> (SHIFT - TOP)
    else:
        low = words[WORD].to(tl.uint32, bitcast=True) >> SHIFT
        high = words[WORD + 1].to(tl.uint32, bitcast=True) << (32 - SHIFT)
        placed = ((low | high) << TOP).to(tl.int32, bitcast=True)
    return ((placed & MASK) | 0x3F800000).to(tl.float32, bitcast=True)


@triton.jit
def field_float(words, J: tl.constexpr, PTX: tl.constexpr):
    """4-bit code J plus 2^7 (in fields 1, 4 and 7 of a word) or 2^11 (in the others), as fp32: the code stays in bits
    16 or 12 of the mantissa, where one of four shifts of the word puts it, instead of one shift a code."""
    FIELD: tl.constexpr = J % 8
    FAR: tl.constexpr = FIELD % 3 == 1
    SHIFT: tl.constexpr = (16 if FAR else 12) - 4 * FIELD
    word = words[J // 8]
    if SHIFT > 0:
        placed = word << SHIFT
    elif SHIFT < 0:
        placed = word >> -SHIFT
    else:
        placed = word
    # One lop3 is both operations; from the two ptxas makes two, each with one immediate.
    if PTX and FAR:
        bits = tl.inline_asm_elementwise(
            "lop3.b32 $0, $1, 0xF0000, 0x43000000, 0xEA;", "=r,r", [placed], tl.int32, True, 1
        )  # fmt: skip
    elif PTX:
        bits = tl.inline_asm_elementwise(
            "lop3.b32 $0, $1, 0xF000, 0x45000000, 0xEA;", "=r,r", [placed], tl.int32, True, 1
        )  # fmt: skip
    elif FAR:
        bits = (placed & 0xF0000) | 0x43000000
    else:
        bits = (placed & 0xF000) | 0x45000000
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def to_float(bits, X: tl.constexpr):
    """Bits of an element of type X (16 or 32 wide, from an integer tile) as fp32."""
    if tl.bfloat16 == X:
        value = (bits.to(tl.int32) << 16).to(tl.float32, bitcast=True)
    elif tl.float16 == X:
        value = bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)
    else:
        value = bits.to(tl.float32, bitcast=True)
    return value


@triton.jit
def pairs_column(lane, FILL: tl.constexpr):
    """Make the table of `fill_pairs`: where the column of each `lane` begins."""
    # A scalar has no layout: it is made once.
    return tl.inline_asm_elementwise(FILL, "=r", [], tl.int32, False, 1) + lane % 32 * 4


@triton.jit
def shared_values(word, column_at, DECODE: tl.constexpr):
    """The eight fp32 values of a word of 4-bit codes, by `DECODE` in the lane's column of a table."""
    return tl.inline_asm_elementwise(
        DECODE, "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,r,r", [word, column_at],
        (tl.float32, tl.float32, tl.float32, tl.float32, tl.float32, tl.float32, tl.float32, tl.float32), True, 1,
    )  # fmt: skip


@triton.jit
def rows_kernel(
    x, codes, scales, biases, table, scale_table, absmax2, offset, bias, experts, out,
    N, LANES, x_stride, matrices,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BIAS: tl.constexpr, GATHER: tl.constexpr, E: tl.constexpr, T: tl.constexpr, R: tl.constexpr, VEC: tl.constexpr,
    PTX: tl.constexpr, AHEAD: tl.constexpr, TOP: tl.constexpr, FOLLOW: tl.constexpr, EARLY: tl.constexpr,
    SETS: tl.constexpr, FILL: tl.constexpr, DECODE: tl.constexpr, KNOWN: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """SETS times R rows of W by one row of x. A lane decodes E elements of each of R rows at a time; T / SETS lanes
    work side by side on K.

    LANES = K / E, also in KNOWN where the compiler is to know it. EVEN: N is a multiple of SETS R. FILL makes the table
    that DECODE looks up in, where codes are not looked up one by one. GATHER: program axis 1 is one of TOP experts of a
    row of x, and `experts` names the matrix it meets, one of `matrices`; what meets none of them becomes 0. FOLLOW:
    launched while the kernel before ends; the next begins with EARLY as soon as this one may read, else when it has.
    """
    WORDS: tl.constexpr = E * BITS // 32
    LOADS: tl.constexpr = WORDS // 4 if WORDS % 4 == 0 else WORDS
    SEGMENTS: tl.constexpr = E // GROUP if GROUP < E else 1
    SPAN: tl.constexpr = E // SEGMENTS
    HELD: tl.constexpr = LOADS + SEGMENTS * (1 if LUT else 2)
    m = tl.program_id(1)
    SIDE: tl.constexpr = T // SETS
    ALL: tl.constexpr = EVEN and KNOWN > 0 and KNOWN % SIDE == 0
    n0 = tl.program_id(0) * (R * SETS)
    lane = tl.arange(0, T)
    if FILL != "":
        column_at = pairs_column(lane, FILL)
    set_row = n0
    if SETS > 1:
        set_row = n0 + lane // SIDE * R
        lane = lane % SIDE
    lanes = KNOWN if KNOWN > 0 else LANES
    row_words = lanes * WORDS
    row_groups = lanes * E // GROUP
    left = N - set_row
    words = codes + (set_row.to(tl.int64) * row_words + lane * WORDS)
    groups = set_row.to(tl.int64) * row_groups
    if FOLLOW:
        wait_for_the_one_before()
    if FOLLOW and EARLY:
        let_the_next_begin()
    there = True
    if GATHER:
        expert = tl.load(experts + m).to(tl.int64)
        there = (expert >= 0) & (expert < matrices)
        matrix = tl.where(there, expert, 0) * N
        words += matrix * row_words
        groups += matrix * row_groups
    x_row = x + (m // TOP).to(tl.int64) * x_stride
    FIELDS: tl.constexpr = BITS == 4 and x.dtype.element_ty != tl.float32
    total = (tl.zeros((T,), tl.float32),) * R
    entries = 0.0
    if LUT and BITS == 4 and FILL == "":
        if PTX:
            entries = lane_table(table, lane)
        else:
            entries = tl.load(table + tl.arange(0, 16))
    if AHEAD == 2:
        following = lane_load(
            words, groups + lane * E // GROUP, scales, biases, row_words, row_groups,
            lane, lanes, left, SEGMENTS, LUT, WORDS, R, ALL,
        )  # fmt: skip
    for l0 in range(0, lanes, SIDE):
        at = l0 + lane
        known = at < lanes
        # With AHEAD every load of the step is made before the first is used, with 2 those of the next step's weights as
        # well. Else x is loaded where it is used: fewer registers, more wavefronts.
        if AHEAD == 2:
            held = following
            after = at + SIDE
            following = lane_load(
                words + (l0 + SIDE) * WORDS, groups + after * E // GROUP, scales, biases, row_words, row_groups,
                after, lanes, left, SEGMENTS, LUT, WORDS, R, False,
            )  # fmt: skip
        else:
            held = lane_load(
                words + l0 * WORDS, groups + at * E // GROUP, scales, biases, row_words, row_groups,
                at, lanes, left, SEGMENTS, LUT, WORDS, R, ALL,
            )  # fmt: skip
        vectors = ()
        if AHEAD:
            for piece in tl.static_range(E // VEC):
                vectors = vectors + (lane_vector(x_row, at * E + piece * VEC, known, VEC, ALL),)
        packed = ()
        for r in tl.static_range(R):
            packed = packed + (lane_words(held, r * HELD, WORDS),)
        for segment in tl.static_range(SEGMENTS):
            part = (tl.zeros((T,), tl.float32),) * R
            x_sum = tl.zeros((T,), tl.float32)
            x_far = tl.zeros((T,), tl.float32)
            for piece in tl.static_range(SPAN // VEC):
                if not AHEAD:
                    vector = lane_vector(x_row, at * E + segment * SPAN + piece * VEC, known, VEC, ALL)
                else:
                    vector = vectors[segment * (SPAN // VEC) + piece]
                looked_up = ()
                if FILL != "":
                    for r in tl.static_range(R):
                        word = packed[r][(segment * SPAN + piece * VEC) // 8]
                        looked_up = looked_up + (shared_values(word, column_at, DECODE),)
                for j in tl.static_range(VEC):
                    x_j = to_float(column(vector, j, VEC), x.dtype.element_ty)
                    if not LUT:
                        x_sum += x_j
                        if FIELDS and j % 8 % 3 == 1:
                            x_far += x_j
                    for_rows = ()
                    for r in tl.static_range(R):
                        if FILL != "":
                            code = looked_up[r][j]
                        elif LUT:
                            code = table_value(
                                packed[r], table, entries, segment * SPAN + piece * VEC + j, BITS,
                                FLAT and BITS == 4, PTX,
                            )  # fmt: skip
                        elif FIELDS:
                            code = field_float(packed[r], segment * SPAN + piece * VEC + j, PTX)
                        else:
                            code = unit_float(packed[r], segment * SPAN + piece * VEC + j, BITS)
                            if x.dtype.element_ty == tl.float32:
                                code = code - 1.0
                        for_rows = for_rows + (part[r] + code * x_j,)
                    part = for_rows
            # Affine: the row wants s sum(x q) + b sum(x). `part` is sum x (1 + q / 2^b), or with FIELDS sum x (q + 2^7
            # or 2^11): what was added is taken off here, which costs up to 8 of 24 bits. With fp32 x the 1 is taken off
            # each code instead, exactly.
            for_rows = ()
            for r in tl.static_range(R):
                if LUT:
                    group = groups + r * row_groups + at * E // GROUP + segment
                    here = at < tl.where(r < left, lanes, 0)
                    scaled = part[r] * finish_scale(
                        held[r * HELD + LOADS + segment], scale_table, absmax2, offset, group, here, SCALE
                    )
                else:
                    if FIELDS:
                        scaled = (part[r] - 2048.0 * x_sum + 1920.0 * x_far) * held[r * HELD + LOADS + segment].to(
                            tl.float32
                        )
                    else:
                        extra = 0.0 if x.dtype.element_ty == tl.float32 else x_sum
                        scaled = (part[r] - extra) * (held[r * HELD + LOADS + segment].to(tl.float32) * (1 << BITS))
                    scaled += held[r * HELD + LOADS + SEGMENTS + segment].to(tl.float32) * x_sum
                for_rows = for_rows + (total[r] + scaled,)
            total = for_rows
    if FOLLOW and not EARLY:
        let_the_next_begin()
    # All rows of W at once: each for itself would be R times the barriers.
    joined = total
    if R >= 8:
        joined = halve(joined, 4)
    if R >= 4:
        joined = halve(joined, 2)
    if R >= 2:
        joined = halve(joined, 1)
    value = tl.sum(tl.reshape(joined[0], (SETS, SIDE, R)), 1)
    if GATHER:
        value = tl.where(there, value, 0.0)
    n = n0 + tl.arange(0, SETS)[:, None] * R + tl.arange(0, R)[None, :]
    if BIAS:
        value += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)
    tl.store(out + m.to(tl.int64) * N + n, value.to(out.dtype.element_ty), mask=n < N)


@triton.jit
def tile_kernel(
    x, codes, scales, biases, table, scale_table, absmax2, offset, bias, out,
    M, N, K, x_stride,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BIAS: tl.constexpr, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """One [BN, BM] tile of W x^T: the decoded weights are the left operand, so that few rows still fill a matrix unit.

    Program axes: N tiles, M tiles, SPLIT parts of K. With SPLIT > 1 `out` is an fp32 workspace [SPLIT, M, N].
    """
    PER: tl.constexpr = 32 // BITS
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    part = tl.program_id(2)
    row = tl.minimum(n, N - 1).to(tl.int64)
    m_safe = tl.minimum(m, M - 1).to(tl.int64)
    steps = tl.cdiv(K, BK * SPLIT)
    acc = tl.zeros((BN, BM), tl.float32)
    GROUPS: tl.constexpr = BK // GROUP if GROUP < BK else 1
    if LUT and BITS == 4:
        entries = tl.load(table + tl.arange(0, 16))
    row_words = K * BITS // 32
    row_groups = K // GROUP
    for step in range(part * steps, (part + 1) * steps):
        k0 = step * BK
        k = k0 + tl.arange(0, BK)
        w = k0 // PER + tl.arange(0, BK // PER)
        packed = tl.load(codes + (row * row_words)[:, None] + w[None, :], mask=(w < row_words)[None, :], other=0)
        index = joined_values(packed, PER, BITS, FLAT and BITS == 4)
        if LUT:
            if BITS == 4:
                value = tl.reshape(tl.gather(entries, tl.reshape(index, (BN * BK,)), 0), (BN, BK))
            else:
                value = tl.load(table + index)
        else:
            value = index.to(tl.float32)
        if GROUPS == 1:
            group = row * row_groups + tl.minimum(k0 // GROUP, row_groups - 1)
            inside = n < N
            scale = load_scale(scales, scale_table, absmax2, offset, group, inside, SCALE)
            spread = value * scale[:, None]
            if not LUT:
                spread += tl.load(biases + group, mask=inside, other=0.0).to(tl.float32)[:, None]
        else:
            g = k0 // GROUP + tl.arange(0, GROUPS)
            groups = (row * row_groups)[:, None] + g[None, :]
            known_groups = (g < row_groups)[None, :] & (n < N)[:, None]
            many = load_scale(scales, scale_table, absmax2, offset, groups, known_groups, SCALE)
            parts = tl.reshape(value, (BN, GROUPS, BK // GROUPS)) * many[:, :, None]
            if not LUT:
                parts += tl.load(biases + groups, mask=known_groups, other=0.0).to(tl.float32)[:, :, None]
            spread = tl.reshape(parts, (BN, BK))
        weight = spread.to(x.dtype.element_ty)
        x_tile = tl.load(x + (m_safe * x_stride)[None, :] + k[:, None], mask=(k < K)[:, None], other=0.0)
        acc = tl.dot(weight, x_tile, acc, input_precision="ieee")
    inside = (m < M)[None, :] & (n < N)[:, None]
    if BIAS and SPLIT == 1:
        acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[:, None]
    to = part.to(tl.int64) * M * N + m.to(tl.int64)[None, :] * N + n[:, None]
    tl.store(out + to, acc.to(out.dtype.element_ty), mask=inside)


@triton.jit
def exact_code(index, X: tl.constexpr, BITS: tl.constexpr, MAGIC: tl.constexpr):
    """Integer codes as type X (16 bits wide), exactly. MAGIC: placed in the mantissa of 2^7 or 2^10, which is then
    taken off, where 16-bit subtraction is an instruction."""
    if MAGIC and tl.bfloat16 == X and BITS < 8:
        value = (index | 0x4300).to(tl.int16).to(X, bitcast=True) - tl.full(index.shape, 128.0, X)
    elif MAGIC and tl.float16 == X:
        value = (index | 0x6400).to(tl.int16).to(X, bitcast=True) - tl.full(index.shape, 1024.0, X)
    else:
        value = index.to(tl.float32).to(X)
    return value


@triton.jit
def permuted_values(words, PERMUTE: tl.constexpr, X: tl.constexpr):
    """Words of eight 4-bit codes [A, W] to their table values [A, W * 8] of type X by PERMUTE of `permute_code`."""
    A: tl.constexpr = words.shape[0]
    W: tl.constexpr = words.shape[1]
    parts = tl.inline_asm_elementwise(
        PERMUTE, "=h,=h,=h,=h,=h,=h,=h,=h,r", [words],
        (tl.int16, tl.int16, tl.int16, tl.int16, tl.int16, tl.int16, tl.int16, tl.int16), True, 1,
    )  # fmt: skip
    parts = halve(halve(parts, 4), 2)
    return tl.reshape(tl.join(parts[0], parts[1]), (A, W * 8)).to(X, bitcast=True)


@triton.jit
def group_kernel(
    x, codes, scales, biases, table, scale_table, absmax2, offset, bias, out,
    M, N, K, x_stride,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BIAS: tl.constexpr, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    MAGIC: tl.constexpr, PERMUTE: tl.constexpr,
):  # fmt: skip
    """As `tile_kernel`, for 16-bit x and BK within one group: the codes go into the matrix unit unscaled, the scale
    meets the sum of the group. One multiplication a group instead of one an element, and integer codes are exact."""
    PER: tl.constexpr = 32 // BITS
    X: tl.constexpr = x.dtype.element_ty
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    part = tl.program_id(2)
    row = tl.minimum(n, N - 1).to(tl.int64)
    # Past the last row come the first again: reading one row many times took up to 1.8 times as long.
    m_safe = m % M
    steps = tl.cdiv(K, BK * SPLIT)
    acc = tl.zeros((BN, BM), tl.float32)
    if LUT and BITS == 4 and PERMUTE == "":
        entries = tl.load(table + tl.arange(0, 16)).to(X)
    row_groups = K // GROUP
    # Offsets that do not change stay out of the loop; M * x_stride is below 2^31 (the launch sees to it).
    x_at = (m_safe * x_stride)[None, :] + tl.arange(0, BK)[:, None]
    words_at = codes + (row * (K * BITS // 32))[:, None] + tl.arange(0, BK // PER)[None, :]
    first = part * steps
    for step in range(first, tl.minimum(first + steps, tl.cdiv(K, BK))):
        k0 = step * BK
        x_tile = tl.load(x + k0 + x_at)
        packed = tl.load(words_at + k0 // PER)
        group = row * row_groups + k0 // GROUP
        scale = load_scale(scales, scale_table, absmax2, offset, group, n < N, SCALE)
        if LUT and BITS == 4:
            if PERMUTE != "":
                weight = permuted_values(packed, PERMUTE, X)
            else:
                index = joined_values(packed, PER, BITS, FLAT)
                weight = tl.reshape(tl.gather(entries, tl.reshape(index, (BN * BK,)), 0), (BN, BK))
        elif LUT:
            weight = tl.load(table + joined_values(packed, PER, BITS, False)).to(X)
        else:
            weight = exact_code(joined_values(packed, PER, BITS, False), X, BITS, MAGIC)
            shift = tl.load(biases + group)
            acc = tl.dot(tl.broadcast_to(shift.to(X)[:, None], (BN, BK)), x_tile, acc)
        acc += tl.dot(weight, x_tile) * scale[:, None]
    inside = (m < M)[None, :] & (n < N)[:, None]
    if BIAS and SPLIT == 1:
        acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[:, None]
    to = part.to(tl.int64) * M * N + m.to(tl.int64)[None, :] * N + n[:, None]
    tl.store(out + to, acc.to(out.dtype.element_ty), mask=inside)


@triton.jit
def sum_kernel(parts, bias, out, numel, N, BIAS: tl.constexpr, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    """out = parts[0] + ... + parts[SPLIT - 1] (+ bias), in a fixed order: the result does not change between runs."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    known = at < numel
    total = tl.zeros((BLOCK,), tl.float32)
    for part in tl.static_range(SPLIT):
        total += tl.load(parts + part * numel + at, mask=known, other=0.0)
    if BIAS:
        total += tl.load(bias + at % N, mask=known, other=0.0).to(tl.float32)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=known)


@cache
def permute_words(kind: str, dtype: torch.dtype) -> tuple[int, ...]:
    """The 16 entries of the table of `kind` rounded to `dtype` as operands of `prmt`: four words of their low bytes,
    four of their high bytes."""
    bits: list[int] = table(kind, torch.device("cpu"), dtype).view(torch.int16).tolist()
    return tuple(
        sum((bits[first + i] >> 8 * byte & 255) << 8 * i for i in range(4))
        for byte in (0, 1)
        for first in (0, 4, 8, 12)
    )


@cache
def permute_code(kind: str, dtype: torch.dtype, high_first: bool) -> str:
    """PTX that looks up the eight 4-bit codes of a word, $8, in the table of `permute_words`: $0 to $7.

    `prmt` picks four bytes of eight by a selector of four nibbles, which the codes themselves are. A table of 16
    entries of two bytes is four such tables: low and high byte, entries below and from 8. 21 instructions for eight
    codes, no memory."""
    words = permute_words(kind, dtype)
    code = ["{ .reg .b32 s, m, a, b, l, h, o;", "and.b32 s, $8, 0x77777777;", "shr.u32 m, $8, 1;"]
    # Nibble j of m: byte j of the lower half of the table (j) or of the upper (4 + j).
    code += ["and.b32 m, m, 0x44444444;", f"or.b32 m, m, {0x32103210};"]
    for half in (0, 4):
        for byte, to in ((0, "l"), (1, "h")):
            low = words[4 * byte : 4 * byte + 4]
            code.append(f"prmt.b32 a, {low[0]}, {low[1]}, s; prmt.b32 b, {low[2]}, {low[3]}, s;")
            code.append(f"prmt.b32 {to}, a, b, m;")
        for pair, selector in enumerate(("0x4051", "0x6273") if high_first else ("0x5140", "0x7362")):
            at = half + 2 * pair
            code.append(f"prmt.b32 o, l, h, {selector}; mov.b32 {{${at}, ${at + 1}}}, o;")
        if half == 0:
            code.append("shr.u32 s, s, 16; shr.u32 m, m, 16;")
    return " ".join([*code, "}"])


@cache
def fill_pairs(kind: str, dtype: torch.dtype, high_first: bool, warps: int) -> str:
    """PTX that makes a table of the pairs of `dtype` that a byte of two 4-bit codes stands for, once for each of 32
    lanes, so that no two lanes meet in a bank of the shared memory. $0: where the first lane's column begins.

    Warp w writes entries w, w + warps, ...: of entry i * warps + w the higher code follows from i alone, the lower is
    one of 16 / warps for each w."""
    bits = [entry & 0xFFFF for entry in table(kind, torch.device("cpu"), dtype).view(torch.int16).tolist()]
    low, high = (16, 0) if high_first else (0, 16)
    each = 16 // warps
    code = ["{ .shared .align 128 .b8 pairs[32768]; .reg .b32 a, w, t, o; .reg .pred p;"]
    code += [f".reg .b32 v{first};" for first in range(each)]
    code.append("mov.u32 a, pairs; mov.u32 t, %tid.x; shr.u32 w, t, 5; shl.b32 t, t, 2; add.u32 t, t, a;")
    for first in range(each):
        code.append(f"mov.b32 v{first}, {bits[first * warps] << low:#x};")
    for warp in range(1, warps):
        code.append(f"setp.eq.u32 p, w, {warp};")
        code += [f"selp.b32 v{first}, {bits[first * warps + warp] << low:#x}, v{first}, p;" for first in range(each)]
    for index in range(256 // warps):
        upper, first = divmod(index, each)
        code.append(f"or.b32 o, v{first}, {bits[upper] << high:#x}; st.shared.b32 [t + {index * warps * 128}], o;")
    code.append("bar.sync 0; mov.u32 $0, a; }")
    return " ".join(code)


def pairs_code(word: str, column_at: str, to: str) -> str:
    """PTX that looks up the four bytes of a word in a column of `fill_pairs`, into `to` 0 to 3."""
    places = [f"prmt.b32 a{at}, {word}, 0, 0x444{at};" for at in range(4)]
    places += [f"mad.lo.u32 a{at}, a{at}, 128, {column_at};" for at in range(4)]
    return " ".join(places + [f"ld.shared.b32 {to}{at}, [a{at}];" for at in range(4)])


@cache
def _pairs_as_floats(dtype: torch.dtype) -> str:
    split = (
        "shl.b32 ${even}, b{at}, 16; and.b32 ${odd}, b{at}, 0xffff0000;"
        if dtype == torch.bfloat16
        else "mov.b32 {{h0, h1}}, b{at}; cvt.f32.f16 ${even}, h0; cvt.f32.f16 ${odd}, h1;"
    )
    apart = [split.format(at=at, even=2 * at, odd=2 * at + 1) for at in range(4)]
    return " ".join(["{ .reg .b32 a<4>, b<4>; .reg .b16 h0, h1;", pairs_code("$8", "$9", "b"), *apart, "}"])


@dataclass(frozen=True)
class RowsConfig:
    """T lanes in `sets` side by side, each on K of R rows of W of its own; whether every load of a step is made before
    the first is used (2: and those of the next step's weights); registers a lane at most, or 0; whether pairs of codes
    are looked up in shared memory; whether the next kernel begins early: where its programs find a place beside these,
    or none until these end. Else they take the place of this kernel's own (0.8 of the speed at N = 2880, K = 4096)."""

    lanes: int
    rows: int
    warps: int
    ahead: int = 0
    registers: int = 0
    sets: int = 1
    pairs: bool = False
    early: bool = False


@dataclass(frozen=True)
class TileConfig:
    """Tile sizes of `tile_kernel`; `split` is the number of programs wanted to share K."""

    bm: int
    bn: int
    bk: int
    warps: int
    stages: int
    split: int = 1


def takes_pairs(x: torch.Tensor, a: Arguments) -> bool:
    """Codes can be looked up two at a time, as values of x's type: 16 entries of 16 bits, on NVIDIA."""
    return takes_ptx(x.device) and a.lut and a.bits == 4 and x.element_size() == 2


def _pairs_config(rows: float, k: int) -> RowsConfig | None:
    """The configuration where a multiprocessor gets so many rows of W, which are looked up in pairs; none where filling
    the table takes longer than it saves.

    Chosen by all of 40 matrices (NF4, one row of x, NVIDIA H200, some 70 configurations): up to 26 % faster than by
    shuffle, most where there are many rows. 16 rows a program fill the GPU evenly where programs hold two or four
    times as many; 128 registers, because with `ahead` every load of a step is held at once."""
    if rows <= 12:
        return None
    if rows <= 20:
        if k < 8192:
            return RowsConfig(256, 2, 8, 1, 80, 4, True, early=True)
        return RowsConfig(256, 4, 8, 1, 128, 2, True, early=True)
    if rows <= 32 and k >= 3584:
        if rows <= 26:
            return RowsConfig(128, 4, 4, 2 if k >= 8192 else 1, 128, 2, True)
        return RowsConfig(256, 4, 8, 2 if k >= 8192 else 1, 128, 4, True, early=k < 8192)
    if rows <= 48 and k >= 8192:
        return RowsConfig(128, 4, 4, 1, 96, 2, True)
    if rows > 48 and k >= 4096:
        return RowsConfig(128, 8, 4, 2 if k < 8192 else 1, 128, 2, True, early=k < 8192)
    return RowsConfig(128, 4, 4, 1, 128, 4, True, early=rows <= 32)


def rows_config(where: Platform, n: int, k: int, lut: bool, units: int = 132, pairs: bool = False) -> RowsConfig:
    """For `n` rows of W in all, those of several rows of x counted each, on a GPU of `units` multiprocessors. One
    wavefront a program, so that no barrier is needed; two for long rows, four where few programs share the GPU.

    Fitted to the half of 12 matrices (one row of x, NF4 and affine, NVIDIA H200) whose sha256("N K") is even, of 53
    configurations: 0.9 % slower than the best of each, 1.7 % on the other half; 20 and 4 % before.
    """
    if where.target is not None:
        waves = 2 if k >= 8192 else 1
        return RowsConfig(waves * where.target.wavefront, 2 if lut else 4, waves)
    if pairs and (config := _pairs_config(n / units, k)):
        return config
    if n <= 12 * units and k >= 2560:
        return RowsConfig(128, 2, 4, 1, 40, early=True)
    if follows(where) and n <= 64 * units and k < 8192:
        # At the end of a kernel of few large programs there is room for those of the next.
        wide = not lut and k >= 4096 and n <= 32 * units
        return RowsConfig(128, 4, 4, 0, 64) if wide else RowsConfig(64, 4, 2, 1, 64)
    if k >= 8192:
        return RowsConfig(64, 4, 2, 2, 64)
    return RowsConfig(64, 2, 1) if n <= 32 * units else RowsConfig(32, 4, 1, 1)


SPLITS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
PROGRAMS_A_UNIT = {16: 5, 32: 5, 64: 4, 128: 2}
"""Programs of a tile of so many rows that a multiprocessor of an NVIDIA H200 holds at once."""


def _cost(split: int, bm: int, m: int, n: int, k: int, programs: int, units: int) -> float:
    """What K split in so many parts costs, in steps of 64 of K: the rounds in which the GPU takes the programs, two
    steps to begin and end each, and the fp32 workspace, four steps for each million of its elements.

    Fitted to the half of `benchmarks/model.py tiles` (40 matrices, 6 numbers of rows, NF4 and affine) whose
    sha256("N K") is even: 1.2 % slower than the best split of each row (powers of two by a fixed number of programs:
    8.1), 2.2 % on the other half (7.1); the worst row 1.24 and 1.23 (1.62 and 1.45).
    """
    if split > 1 and k // split < 256:
        return float("inf")
    rounds = triton.cdiv(programs * split, PROGRAMS_A_UNIT[bm] * units)
    workspace = 4e-6 * split * m * n if split > 1 else 0.0
    return float(rounds * (triton.cdiv(triton.cdiv(k, 64), split) + 2) + workspace)


def tile_config(where: Platform, m: int, n: int, k: int, units: int = 132) -> TileConfig:
    """Tiles by rows of x, K split until the programs fill the GPU, of `units` multiprocessors (132: an NVIDIA H200).
    A 64-wide wavefront takes two warps for the small tiles, so that each lane still loads 128 bits."""
    bm = 16 if m <= 16 else 32 if m <= 32 else 64 if m <= 64 else 128
    programs = triton.cdiv(n, 64) * triton.cdiv(m, bm)
    if where.target is None:
        return TileConfig(bm, 64, 64, 4, 3, min(SPLITS, key=lambda split: _cost(split, bm, m, n, k, programs, units)))
    most = 256 if bm == 128 else 896
    split = 1
    while programs * split * 2 <= most and k // (split * 2) >= 512:
        split *= 2
    # Registers: 32-wide wavefronts spill with four warps from 64 rows on (205 registers at 128 rows on gfx1100).
    warps = (2 if bm <= 32 else 4) if where.target.wavefront == 64 else (4 if bm <= 32 else 8)
    return TileConfig(bm, 64, 64, warps, 2, split)


def lane_elements(bits: int, k: int) -> int:
    """Elements a lane decodes at a time: four words of 2-bit codes, else 32 elements."""
    return 64 if bits == 2 and k % 64 == 0 else 32


def rows_launch(
    x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, experts: torch.Tensor | None,
    config: RowsConfig,
) -> Launch:  # fmt: skip
    """`rows_kernel` for x of this shape, type and device, to be given x, out, and bias or experts where there are any:
    [M, K] by [n, K], or by [E, n, K] at `experts` [M] or [M, top]."""
    m, k = x.shape
    top = 1 if experts is None else experts.numel() // m
    elements = lane_elements(a.bits, k)
    span = min(a.group, elements)
    # Where the compiler knows K, it works out before the wait where rows begin, and drops the masks: 4 instructions to
    # the first load, not 74. It also unrolls, which takes the registers on AMD.
    known = takes_ptx(x.device)
    fixed = a.named | {
        "N": n, "x_stride": x.stride(0), "matrices": a.matrices,
        "LANES": k // elements, "KNOWN": k // elements if known else 0, "EVEN": n % (config.rows * config.sets) == 0,
        "BITS": a.bits, "GROUP": a.group, "LUT": a.lut, "SCALE": a.scale_mode, "FLAT": a.flat,
        "BIAS": bias is not None, "GATHER": experts is not None, "E": elements, "T": config.lanes, "R": config.rows,
        "VEC": min(span, 16 // x.element_size()), "PTX": takes_ptx(x.device), "AHEAD": config.ahead,
        "TOP": top, "EARLY": config.early, "SETS": config.sets, "FILL": "", "DECODE": "",
    }  # fmt: skip
    if config.pairs:
        fixed |= {"FILL": fill_pairs(a.kind, x.dtype, a.flat, config.warps), "DECODE": _pairs_as_floats(x.dtype)}
    grid = (triton.cdiv(n, config.rows * config.sets), m * top)
    # What is absent is stood in for by the scales, and never read.
    fixed |= {"bias": a.scales, "experts": a.scales}
    given = ("x", "out") + ("bias",) * (bias is not None) + ("experts",) * (experts is not None)
    # Measured for 4-bit codes and 16-bit x; others hold more in a lane.
    capped = config.registers and a.bits == 4 and x.element_size() == 2
    options: dict[str, Any] = {"maxnreg": config.registers} if capped else {}
    return Launch(
        rows_kernel, grid, given, fixed, platform(x.device), num_warps=config.warps, enable_fp_fusion=True, **options
    )


def run_rows(
    x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, experts: torch.Tensor | None,
    config: RowsConfig,
) -> torch.Tensor:  # fmt: skip
    """x [M, K] by [n, K] (or by [E, n, K] at `experts` [M]) to [M, n]."""
    out = x.new_empty((x.shape[0], n))
    launch = rows_launch(x, a, n, bias, experts, config)
    launch(x, out, *(other for other in (bias, experts) if other is not None))
    return out


def tiles_launch(
    x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, config: TileConfig
) -> tuple[Launch, Launch | None]:
    """`group_kernel` or `tile_kernel` for x of this shape, type and device, to be given x, bias and out; where K is
    split, out is an fp32 workspace [split, M, n], and `sum_kernel` is to be given that, bias and out."""
    m, k = x.shape
    split = config.split
    grid = (triton.cdiv(n, config.bn), triton.cdiv(m, config.bm), split)
    whole_groups = x.element_size() == 2 and m * x.stride(0) < 2**31 and a.group % config.bk == 0 and k % config.bk == 0
    if not a.lut:
        # `group_kernel` multiplies by the bias in the type of x: exact only when it is stored in it.
        whole_groups = whole_groups and a.biases.dtype == x.dtype
    fixed = a.named | {
        "M": m, "N": n, "K": k, "x_stride": x.stride(0),
        "BITS": a.bits, "GROUP": a.group, "LUT": a.lut, "SCALE": a.scale_mode, "FLAT": a.flat,
        "BIAS": bias is not None, "SPLIT": split, "BM": config.bm, "BN": config.bn, "BK": config.bk,
    }  # fmt: skip
    options: dict[str, Any] = {"num_warps": config.warps, "num_stages": config.stages, "enable_fp_fusion": True}
    kernel = tile_kernel
    if whole_groups:
        kernel = group_kernel
        # 16-bit subtraction is an instruction on NVIDIA; CDNA3 goes through fp32.
        ptx = takes_ptx(x.device)
        fixed["MAGIC"] = ptx
        fixed["PERMUTE"] = ""
        if ptx and a.lut and a.bits == 4:
            fixed["PERMUTE"] = permute_code(a.kind, x.dtype, a.flat)
    tiles = Launch(kernel, grid, ("x", "bias", "out"), fixed, **options)
    if split == 1:
        return tiles, None
    fixed = {"numel": m * n, "N": n, "BIAS": bias is not None, "SPLIT": split, "BLOCK": 1024}
    return tiles, Launch(sum_kernel, (triton.cdiv(m * n, 1024),), ("parts", "bias", "out"), fixed, num_warps=4)


def prepare_tiles(
    x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, config: TileConfig
) -> Callable[[torch.Tensor, torch.Tensor | None, torch.Tensor], None]:
    """A function of x, bias and out."""
    tiles, total = tiles_launch(x, a, n, bias, config)
    workspace = (config.split, x.shape[0], n)

    def call(x: torch.Tensor, bias: torch.Tensor | None, out: torch.Tensor) -> None:
        stand_in = x if bias is None else bias
        if total is None:
            tiles(x, stand_in, out)
        else:
            to = torch.empty(workspace, dtype=torch.float32, device=x.device)
            tiles(x, stand_in, to)
            total(to, stand_in, out)

    return call


def run_tiles(x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, config: TileConfig) -> torch.Tensor:
    """x [M, K] by [n, K] to [M, n]."""
    out = x.new_empty((x.shape[0], n))
    prepare_tiles(x, a, n, bias, config)(x, bias, out)
    return out


def prepare(
    x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None
) -> Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]:
    """`run` for x [..., K], contiguous, of this shape and type: a function of x and bias to [..., N]."""
    where = platform(x.device)
    a = arguments(q)
    k, n = x.shape[-1], q.shape[0]
    rows = x.reshape(-1, k)
    shape = (*x.shape[:-1], n)
    if rows.shape[0] <= rows_at_most(q):
        config = rows_config(where, n * rows.shape[0], k, a.lut, compute_units(x.device), takes_pairs(x, a))
        return rows_launch(rows, a, n, bias, None, config).output(shape)
    tiles = prepare_tiles(rows, a, n, bias, tile_config(where, rows.shape[0], n, k, compute_units(x.device)))

    def by_tiles(x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        out = x.new_empty(shape)
        tiles(x, bias, out)
        return out

    return by_tiles


def run(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """See `rocport.ops.quantized_matmul`; x is [M, K] with unit stride along K."""
    return prepare(x, q, bias)(x, bias)


def refuse_shape(x: torch.Tensor, q: QuantTensor) -> str:
    """Why the packed kernels cannot take these operands; empty when they can."""
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {x.dtype}"
    if q.shape[-1] % 32:
        return f"needs K a multiple of 32, have {q.shape[-1]}: a row must start at a whole word"
    if q.shape[-1] % q.format.group:
        return f"needs blocks that do not cross rows, have blocks of {q.format.group} and K={q.shape[-1]}"
    return ""


def _without_tiles(fmt: Format) -> bool:
    return 32 % fmt.bits != 0 or (fmt.bits == 8 and fmt.kind != "affine")


def rows_at_most(q: QuantTensor) -> int:
    """Rows of x that `rows_kernel` serves. Codes that tiles do not take are served by it for longer."""
    small = SMALL_MATRIX if q.format.kind == "affine" else SMALL_MATRIX_OF_A_TABLE
    few = q.numel > small and not _without_tiles(q.format)
    return ROWS_AT_MOST if few else ROWS_AT_MOST_OF_A_SMALL_MATRIX


def refuse_rows(rows: int, q: QuantTensor) -> str:
    """Why so many rows are better dequantized first; empty when they are not."""
    fmt = q.format
    most = ROWS_AT_MOST_OF_A_SMALL_MATRIX
    if rows > most and 32 % fmt.bits:
        return f"serves up to {most} rows of {fmt.bits}-bit codes, have {rows}: they cross words"
    if rows > most and fmt.bits == 8 and fmt.kind != "affine":
        return f"serves up to {most} rows of codes with a table of 256, have {rows}: dequantizing first is faster"
    affine = fmt.kind == "affine"
    most = AFFINE_TILES_AT_MOST if affine else TILES_AT_MOST
    below = AFFINE_TILES_AT_MOST_BELOW if affine else TILES_AT_MOST_BELOW
    if affine or q.shape[-1] < TABLE_LONG[0] or q.numel < TABLE_LONG[1]:
        most = min([most, *(fewer for elements, fewer in below if q.numel < elements)])
    if affine and q.shape[-1] <= AFFINE_SHORT[0] and q.numel <= AFFINE_SHORT[1]:
        most = min(most, AFFINE_SHORT[2])
    return f"serves up to {most} rows, have {rows}: dequantizing first is faster" if rows > most else ""


def refuse(
    platform: Platform, x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None, transpose: bool = True
) -> str:
    if reason := refuse_triton(platform):
        return reason
    if not transpose:
        return "sums along the rows of W"
    if reason := refuse_rows(x.shape[0], q):
        return reason
    return refuse_shape(x, q)


TIER = Tier("triton", 20, run, refuse, "rocport", prepare)

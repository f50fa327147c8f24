"""x @ W^T with W packed. Up to a few rows each lane decodes whole 128-bit loads and multiplies in fp32 (`rows_kernel`);
up to 256 rows tiles are decoded into the matrix units (`tile_kernel`), split over K through an fp32 workspace."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from rocport.ops.decode import (
    Arguments,
    arguments,
    column,
    joined_values,
    load_scale,
    on_device,
    refuse_triton,
    word_values,
)  # fmt: skip
from rocport.ops.dispatch import Tier
from rocport.ops.formats import QuantTensor
from rocport.runtime.machine import Platform, platform

ROWS_AT_MOST = 4
"""Rows of x for which decoding once for each row is cheaper than a matrix tile."""
TILES_BELOW = 129
"""Rows of x from which dequantizing first and calling the matmul library is faster: on an NVIDIA H200, NF4, N = 14336,
K = 4096, 66 us against 75 at 128 rows and 125 against 82 at 255."""


@triton.jit
def lane_words(codes, at, mask, WORDS: tl.constexpr):
    """WORDS words a lane, starting at word `at`, as a tuple of [T]: one 128-bit load for each four."""
    if WORDS % 4 == 0:
        words = ()
        for four in tl.static_range(WORDS // 4):
            quad = tl.load(codes + at[:, None] + four * 4 + tl.arange(0, 4)[None, :], mask=mask[:, None], other=0)
            for word in tl.static_range(4):
                words = words + (column(quad, word, 4),)
        return words
    words = ()
    for word in tl.static_range(WORDS):
        words = words + (tl.load(codes + at + word, mask=mask, other=0),)
    return words


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
def rows_kernel(
    x, codes, scales, biases, table, scale_table, absmax2, offset, bias, experts, out,
    N, K, LANES, x_stride,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BIAS: tl.constexpr, GATHER: tl.constexpr, E: tl.constexpr, T: tl.constexpr, R: tl.constexpr, VEC: tl.constexpr,
):  # fmt: skip
    """R rows of W by one row of x. A lane decodes E elements of each row at a time; T lanes work side by side on K.

    LANES = K / E. GATHER: program axis 1 is a row of x and `experts` names the matrix it meets.
    """
    WORDS: tl.constexpr = E * BITS // 32
    SEGMENTS: tl.constexpr = E // GROUP if GROUP < E else 1
    SPAN: tl.constexpr = E // SEGMENTS
    m = tl.program_id(1)
    n0 = tl.program_id(0) * R
    matrix = tl.load(experts + m).to(tl.int64) * N if GATHER else tl.zeros((), tl.int64)
    lane = tl.arange(0, T)
    x_row = x + m.to(tl.int64) * x_stride
    INTEGER: tl.constexpr = tl.int32 if x.dtype.element_ty == tl.float32 else tl.int16
    total = (tl.zeros((T,), tl.float32),) * R
    if LUT and BITS == 4:
        entries = tl.load(table + tl.arange(0, 16))
    for l0 in range(0, LANES, T):
        at = l0 + lane
        known = at < LANES
        if LUT:
            wide = tl.load(
                x_row + at[:, None] * E + tl.arange(0, E)[None, :], mask=known[:, None], other=0.0
            ).to(tl.float32)  # fmt: skip
        packed = ()
        for r in tl.static_range(R):
            row = matrix + tl.minimum(n0 + r, N - 1)
            if LUT:
                quads = codes + row * LANES * WORDS + at[:, None] * WORDS + tl.arange(0, WORDS)[None, :]
                packed = packed + (tl.load(quads, mask=known[:, None], other=0),)
            else:
                packed = packed + (lane_words(codes, row * LANES * WORDS + at * WORDS, known, WORDS),)
        if LUT:
            for_rows = ()
            for r in tl.static_range(R):
                row = matrix + tl.minimum(n0 + r, N - 1)
                index = word_values(packed[r], 32 // BITS, BITS, FLAT and BITS == 4)
                if BITS == 4:
                    value = tl.reshape(tl.gather(entries, tl.reshape(index, (T * E,)), 0), (T, E))
                else:
                    value = tl.load(table + index)
                product = value * wide
                if SEGMENTS == 1:
                    group = row * (LANES * E // GROUP) + at * E // GROUP
                    scale = load_scale(scales, scale_table, absmax2, offset, group, known, SCALE)
                    part = tl.sum(product, 1) * scale
                else:
                    segment = tl.arange(0, SEGMENTS)
                    group = row * (LANES * SEGMENTS) + at[:, None] * SEGMENTS + segment[None, :]
                    scale = load_scale(scales, scale_table, absmax2, offset, group, known[:, None], SCALE)
                    part = tl.sum(tl.sum(tl.reshape(product, (T, SEGMENTS, SPAN)), 2) * scale, 1)
                for_rows = for_rows + (total[r] + part,)
            total = for_rows
        else:
            for segment in tl.static_range(SEGMENTS):
                factors = ()
                for r in tl.static_range(R):
                    row = matrix + tl.minimum(n0 + r, N - 1)
                    group = row * (LANES * E // GROUP) + (at * E + segment * SPAN) // GROUP
                    factors = factors + (
                        (
                            tl.load(scales + group, mask=known, other=0.0).to(tl.float32),
                            tl.load(biases + group, mask=known, other=0.0).to(tl.float32),
                        ),
                    )
                part = (tl.zeros((T,), tl.float32),) * R
                x_sum = tl.zeros((T,), tl.float32)
                for piece in tl.static_range(SPAN // VEC):
                    vector = tl.load(
                        x_row + at[:, None] * E + (segment * SPAN + piece * VEC) + tl.arange(0, VEC)[None, :],
                        mask=known[:, None], other=0.0
                    ).to(INTEGER, bitcast=True)  # fmt: skip
                    for j in tl.static_range(VEC):
                        x_j = to_float(column(vector, j, VEC), x.dtype.element_ty)
                        x_sum += x_j
                        for_rows = ()
                        for r in tl.static_range(R):
                            code = unit_float(packed[r], segment * SPAN + piece * VEC + j, BITS)
                            if x.dtype.element_ty == tl.float32:
                                code = code - 1.0
                            for_rows = for_rows + (part[r] + code * x_j,)
                        part = for_rows
                # sum x (1 + q / 2^b) = x_sum + sum(x q) / 2^b, and the row wants s sum(x q) + b x_sum. The
                # subtraction costs up to b bits: with fp32 x the 1 is taken off each code instead, exactly.
                for_rows = ()
                for r in tl.static_range(R):
                    extra = 0.0 if x.dtype.element_ty == tl.float32 else x_sum
                    scaled = (part[r] - extra) * (factors[r][0] * (1 << BITS))
                    for_rows = for_rows + (total[r] + scaled + factors[r][1] * x_sum,)
                total = for_rows
    for r in tl.static_range(R):
        value = tl.sum(total[r], 0)
        n = n0 + r
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
def group_kernel(
    x, codes, scales, biases, table, scale_table, absmax2, offset, bias, out,
    M, N, K, x_stride,
    BITS: tl.constexpr, GROUP: tl.constexpr, LUT: tl.constexpr, SCALE: tl.constexpr, FLAT: tl.constexpr,
    BIAS: tl.constexpr, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    MAGIC: tl.constexpr,
):  # fmt: skip
    """As `tile_kernel`, for 16-bit x and BK within one group: the codes go into the matrix unit unscaled, the scale
    meets the sum of the group. One multiplication a group instead of one an element, and integer codes are exact."""
    PER: tl.constexpr = 32 // BITS
    X: tl.constexpr = x.dtype.element_ty
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    part = tl.program_id(2)
    row = tl.minimum(n, N - 1).to(tl.int64)
    m_safe = tl.minimum(m, M - 1).to(tl.int64)
    steps = tl.cdiv(K, BK * SPLIT)
    acc = tl.zeros((BN, BM), tl.float32)
    if LUT and BITS == 4:
        entries = tl.load(table + tl.arange(0, 16)).to(X)
    row_words = K * BITS // 32
    row_groups = K // GROUP
    first = part * steps
    for step in range(first, tl.minimum(first + steps, tl.cdiv(K, BK))):
        k0 = step * BK
        k = k0 + tl.arange(0, BK)
        w = k0 // PER + tl.arange(0, BK // PER)
        packed = tl.load(codes + (row * row_words)[:, None] + w[None, :])
        x_tile = tl.load(x + (m_safe * x_stride)[None, :] + k[:, None])
        group = row * row_groups + k0 // GROUP
        scale = load_scale(scales, scale_table, absmax2, offset, group, n < N, SCALE)
        index = joined_values(packed, PER, BITS, FLAT and BITS == 4)
        if LUT and BITS == 4:
            weight = tl.reshape(tl.gather(entries, tl.reshape(index, (BN * BK,)), 0), (BN, BK))
        elif LUT:
            weight = tl.load(table + index).to(X)
        else:
            weight = exact_code(index, X, BITS, MAGIC)
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


MAGIC = torch.version.hip is None
"""16-bit subtraction is an instruction on NVIDIA; CDNA3 goes through fp32."""


@dataclass(frozen=True)
class RowsConfig:
    """T lanes on K, R rows of W a program."""

    lanes: int
    rows: int
    warps: int


@dataclass(frozen=True)
class TileConfig:
    """Tile sizes of `tile_kernel`; `split` is the number of programs wanted to share K."""

    bm: int
    bn: int
    bk: int
    warps: int
    stages: int
    split: int = 1


def rows_config(where: Platform, n: int, k: int, lut: bool) -> RowsConfig:
    """One wavefront a program, so that no barrier is needed; two for long rows. Table lookups keep more registers, so
    that fewer rows fit where few programs are to share the GPU. Best of seven on an NVIDIA H200."""
    wave = where.target.wavefront if where.target else 32
    if k >= 8192:
        return RowsConfig(2 * wave, 4, 2)
    return RowsConfig(wave, 2 if lut and n < 8192 else 4, 1)


def tile_config(where: Platform, m: int, n: int, k: int) -> TileConfig:
    """Tiles by rows of x, K split until the programs fill the GPU. Best of up to six tiles and four splits on an
    NVIDIA H200. A 64-wide wavefront takes two warps for the small tiles, so that each lane still loads 128 bits."""
    bm = 16 if m <= 16 else 32 if m <= 32 else 64 if m <= 64 else 128
    programs = triton.cdiv(n, 64) * triton.cdiv(m, bm)
    most = 256 if bm == 128 else 896
    split = 1
    while programs * split * 2 <= most and k // (split * 2) >= 1024:
        split *= 2
    if where.target is None:
        return TileConfig(bm, 64, 64, 4, 3, split)
    # Registers: 32-wide wavefronts spill with four warps from 64 rows on (205 registers at 128 rows on gfx1100).
    warps = (2 if bm <= 32 else 4) if where.target.wavefront == 64 else (4 if bm <= 32 else 8)
    return TileConfig(bm, 64, 64, warps, 2, split)


def lane_elements(bits: int, k: int) -> int:
    """Elements a lane decodes at a time: four words of 2-bit codes, else 32 elements."""
    return 64 if bits == 2 and k % 64 == 0 else 32


def run_rows(
    x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, experts: torch.Tensor | None,
    config: RowsConfig,
) -> torch.Tensor:  # fmt: skip
    """x [M, K] by [n, K] (or by [E, n, K] at `experts` [M]) to [M, n]."""
    m, k = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    elements = lane_elements(a.bits, k)
    span = min(a.group, elements)
    with on_device(x):
        rows_kernel[(triton.cdiv(n, config.rows), m)](
            x, *a.tensors, bias if bias is not None else x, experts if experts is not None else x, out,
            n, k, k // elements, x.stride(0),
            BITS=a.bits, GROUP=a.group, LUT=a.lut, SCALE=a.scale_mode, FLAT=a.flat, BIAS=bias is not None,
            GATHER=experts is not None, E=elements, T=config.lanes, R=config.rows,
            VEC=min(span, 16 // x.element_size()), num_warps=config.warps, enable_fp_fusion=True,
        )  # fmt: skip
    return out


def run_tiles(x: torch.Tensor, a: Arguments, n: int, bias: torch.Tensor | None, config: TileConfig) -> torch.Tensor:
    """x [M, K] by [n, K] to [M, n]."""
    m, k = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    split = config.split
    to = out if split == 1 else torch.empty((split, m, n), dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(n, config.bn), triton.cdiv(m, config.bm), split)
    whole_groups = x.element_size() == 2 and a.group % config.bk == 0 and k % config.bk == 0
    if not a.lut:
        # `group_kernel` multiplies by the bias in the type of x: exact only when it is stored in it.
        whole_groups = whole_groups and a.biases.dtype == x.dtype
    with on_device(x):
        common = {
            "BITS": a.bits, "GROUP": a.group, "LUT": a.lut, "SCALE": a.scale_mode, "FLAT": a.flat,
            "BIAS": bias is not None, "SPLIT": split, "BM": config.bm, "BN": config.bn, "BK": config.bk,
            "num_warps": config.warps, "num_stages": config.stages, "enable_fp_fusion": True,
        }  # fmt: skip
        operands = (x, *a.tensors, bias if bias is not None else x, to, m, n, k, x.stride(0))
        if whole_groups:
            group_kernel[grid](*operands, **common, MAGIC=MAGIC)
        else:
            tile_kernel[grid](*operands, **common)
        if split > 1:
            sum_kernel[(triton.cdiv(out.numel(), 1024),)](
                to, bias if bias is not None else x, out, out.numel(), n,
                BIAS=bias is not None, SPLIT=split, BLOCK=1024, num_warps=4,
            )  # fmt: skip
    return out


def run(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """See `rocport.ops.quantized_matmul`; x is [M, K] with unit stride along K."""
    where = platform(x.device)
    a = arguments(q)
    (m, k), n = x.shape, q.shape[0]
    if m <= ROWS_AT_MOST:
        return run_rows(x, a, n, bias, None, rows_config(where, n, k, a.lut))
    return run_tiles(x, a, n, bias, tile_config(where, m, n, k))


def refuse_shape(x: torch.Tensor, q: QuantTensor) -> str:
    """Why the packed kernels cannot take these operands; empty when they can."""
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"needs float32, float16 or bfloat16, have {x.dtype}"
    if q.shape[-1] % 32:
        return f"needs K a multiple of 32, have {q.shape[-1]}: a row must start at a whole word"
    if q.shape[-1] % q.format.group:
        return f"needs blocks that do not cross rows, have blocks of {q.format.group} and K={q.shape[-1]}"
    return ""


def refuse(platform: Platform, x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None = None) -> str:
    if reason := refuse_triton(platform):
        return reason
    if x.shape[0] >= TILES_BELOW:
        return f"serves fewer than {TILES_BELOW} rows, have {x.shape[0]}: dequantizing first is faster"
    if 32 % q.format.bits and x.shape[0] > ROWS_AT_MOST:
        return f"serves up to {ROWS_AT_MOST} rows of {q.format.bits}-bit codes, have {x.shape[0]}: they cross words"
    return refuse_shape(x, q)


TIER = Tier("triton", 20, run, refuse, "rocport")

"""Statistics, fingerprint, sketch and samples of a tensor, on its own device; equal values give equal records anywhere.

The fingerprint is a multilinear hash over the 64-bit words of the values in logical order: integer arithmetic that
wraps, so CPU and GPU agree, at memory speed. The sketch is SKETCH sums of the values with pseudo-random signs.
"""

from __future__ import annotations

import math
from functools import cache

import torch

from rocport.numerics.records import SAMPLES, SKETCH, Statistics, positions

_CHUNK = 1 << 22
"""Elements looked at in one go: it bounds temporary memory to a few times 16 MiB."""
_ROW = 256
_WORDS = 512
_SHORT = 4096
_M34 = (1 << 34) - 1
_M37 = (1 << 37) - 1
_M33 = (1 << 33) - 1


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


_GOLDEN = _signed(0x9E3779B97F4A7C15)
_MIX1 = _signed(0xBF58476D1CE4E5B9)
_MIX2 = _signed(0x94D049BB133111EB)


def _splitmix(index: torch.Tensor) -> torch.Tensor:
    """`records.splitmix` of every element; shifts are made logical by masks."""
    z = index + _GOLDEN
    z = (z ^ ((z >> 30) & _M34)) * _MIX1
    z = (z ^ ((z >> 27) & _M37)) * _MIX2
    return z ^ ((z >> 31) & _M33)


@cache
def _tables(device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Word weights (odd), row weights (odd), signs within a row, signs of rows."""
    numbers = _splitmix(torch.arange(1 << 19, dtype=torch.int64))
    words = numbers[:_WORDS] | 1
    rows = numbers[_WORDS : _WORDS + _CHUNK * 8 // 8 // _WORDS + 2] | 1
    bits = ((numbers >> 17) & 1).mul(2).sub(1)
    inner = bits[: _ROW * SKETCH].view(_ROW, SKETCH)
    outer = bits[_ROW * SKETCH : _ROW * SKETCH + (_CHUNK // _ROW + 1) * SKETCH].view(-1, SKETCH)
    inner = inner.to(torch.float32 if device.type == "cpu" else torch.float64)
    return words.to(device), rows.to(device), inner.to(device), outer.to(device, torch.float64)


@cache
def _positions(numel: int, count: int, device: torch.device) -> torch.Tensor:
    return torch.tensor(positions(numel, count), dtype=torch.int64, device=device)


def flat_values(tensor: torch.Tensor) -> torch.Tensor:
    """The values in logical order, as one dimension of reals or integers, next to each other in memory."""
    plain = tensor.detach()
    if plain.is_complex():
        plain = torch.view_as_real(plain.resolve_conj())
    if plain.is_neg():
        plain = plain.resolve_neg()
    if plain.dtype is torch.bool:
        plain = plain.contiguous().view(torch.uint8)
    return plain.reshape(-1).contiguous()


def _words(piece: torch.Tensor) -> torch.Tensor:
    """The bytes of a contiguous piece as int64 words, the last one filled up with zeros."""
    size = piece.element_size()
    raw = piece.view(torch.uint8)
    rest = raw.numel() % 8
    if rest:
        raw = torch.cat([raw, raw.new_zeros(8 - rest)])
    elif piece.storage_offset() * size % 8:
        raw = raw.clone()
    return raw.view(torch.int64)


def _fingerprint(piece: torch.Tensor, number: int) -> torch.Tensor:
    weights, rows, _, _ = _tables(piece.device)
    words = _words(piece)
    full = words.numel() // _WORDS
    total = (words[full * _WORDS :] * weights[: words.numel() - full * _WORDS]).sum() * rows[full]
    if full:
        block = words[: full * _WORDS].view(full, _WORDS)
        # mv of integers is one pass on the CPU; the CUDA one does not exist.
        sums = torch.mv(block, weights) if piece.device.type == "cpu" else (block * weights).sum(1)
        total = total + (sums * rows[:full]).sum()
    odd: int = _signed(((2 * number + 1) * 0x9E3779B97F4A7C15) & ((1 << 64) - 1))
    return total * odd


def _sketch(values: torch.Tensor, number: int) -> torch.Tensor:
    """Signed sums of a piece, float64. On a GPU in float64 all through: float32 products may run as TF32 there."""
    _, _, inner, outer = _tables(values.device)
    values = values.to(inner.dtype) if values.dtype is not torch.float64 else values
    inner = inner.to(values.dtype)
    full = values.numel() // _ROW
    rest = values[full * _ROW :]
    total = (rest @ inner[: rest.numel()]).to(torch.float64) * outer[full]
    if full:
        total = total + ((values[: full * _ROW].view(full, _ROW) @ inner).to(torch.float64) * outer[:full]).sum(0)
    return total if number % 2 == 0 else -total


def _reals(piece: torch.Tensor) -> torch.Tensor:
    """For arithmetic: float32 holds the narrower floats, float64 the integers up to 2^53."""
    if piece.dtype in (torch.float32, torch.float64):
        return piece
    return piece.to(torch.float32 if piece.is_floating_point() else torch.float64)


def _square(values: torch.Tensor) -> float:
    """Sum of squares, in short rows: torch's float32 norm of four million values is off by 4e-4 on the CPU."""
    full = values.numel() // _SHORT * _SHORT
    norms = torch.linalg.vector_norm(values[:full].view(-1, _SHORT), dim=1).to(torch.float64)
    rest = values[full:].to(torch.float64)
    total = float(torch.dot(norms, norms) + torch.dot(rest, rest))
    if math.isinf(total):
        values = values.to(torch.float64)
        total = float(torch.dot(values, values))
    return total


def measure(tensor: torch.Tensor) -> Statistics | torch.Tensor:
    """Statistics of a tensor; from a GPU one float64 vector that `unpack_vector` reads once it has been fetched."""
    flat = flat_values(tensor)
    if flat.numel() == 0:
        return Statistics(0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, (0.0,) * SKETCH, ())
    sample = flat[_positions(flat.numel(), SAMPLES, flat.device)].to(torch.float64)
    if flat.device.type == "cpu":
        return _measure_now(flat, sample)
    return _measure_later(flat, sample)


def _measure_now(flat: torch.Tensor, sample: torch.Tensor) -> Statistics:
    numel = flat.numel()
    fingerprint, nan, inf, nonzero = 0, 0, 0, 0
    low, high, total, square = math.inf, -math.inf, 0.0, 0.0
    sketch = torch.zeros(SKETCH, dtype=torch.float64)
    for number, piece in enumerate(torch.split(flat, _CHUNK)):
        fingerprint += int(_fingerprint(piece, number))
        values = _reals(piece)
        nonzero += int(torch.count_nonzero(values))
        least, most = (float(v) for v in torch.aminmax(values))
        if not (math.isfinite(least) and math.isfinite(most)):
            nan += int(torch.isnan(values).sum())
            inf += int(torch.isinf(values).sum())
            finite = values[torch.isfinite(values)]
            values = torch.nan_to_num(values, 0.0, 0.0, 0.0)
            if finite.numel():
                least, most = (float(v) for v in torch.aminmax(finite))
            else:
                least, most = math.inf, -math.inf
        low, high = min(low, least), max(high, most)
        square += _square(values)
        total += float(values.sum())
        sketch += _sketch(values, number)
    count = numel - nan - inf
    if not count:
        low = high = 0.0
    return Statistics(
        _signed(fingerprint & ((1 << 64) - 1)), nan, inf, numel - nonzero, low, high, total / max(count, 1),
        math.sqrt(square), tuple(sketch.tolist()), tuple(sample.tolist()),
    )  # fmt: skip


def _measure_later(flat: torch.Tensor, sample: torch.Tensor) -> torch.Tensor:
    """The same numbers without waiting for the device: no value decides what is computed."""
    rows = []
    fingerprint = torch.zeros((), dtype=torch.int64, device=flat.device)
    sketch = torch.zeros(SKETCH, dtype=torch.float64, device=flat.device)
    for number, piece in enumerate(torch.split(flat, _CHUNK)):
        fingerprint = fingerprint + _fingerprint(piece, number)
        values = _reals(piece).to(torch.float64)
        finite = torch.isfinite(values)
        clean = torch.where(finite, values, 0.0)
        rows.append(
            torch.stack(
                [
                    torch.isnan(values).sum().to(torch.float64),
                    torch.isinf(values).sum().to(torch.float64),
                    (values == 0).sum().to(torch.float64),
                    torch.where(finite, values, math.inf).amin(),
                    torch.where(finite, values, -math.inf).amax(),
                    clean.sum(),
                    torch.linalg.vector_norm(clean).square(),
                ]
            )
        )
        sketch = sketch + _sketch(clean, number)
    table = torch.stack(rows)
    head = torch.cat([table[:, :3].sum(0), table[:, 3:4].amin(0), table[:, 4:5].amax(0), table[:, 5:].sum(0)])
    return torch.cat([fingerprint.view(1).view(torch.float64), head, sketch, sample])


def unpack_vector(vector: torch.Tensor, numel: int) -> Statistics:
    """Statistics of a vector of `_measure_later`, brought to the CPU. `numel` counts reals."""
    fingerprint = int(vector[:1].view(torch.int64))
    nan, inf, zeros, low, high, total, square, *rest = vector[1:].tolist()
    count = numel - int(nan) - int(inf)
    if not count:
        low = high = 0.0
    return Statistics(
        fingerprint, int(nan), int(inf), int(zeros), low, high, total / max(count, 1), math.sqrt(square),
        tuple(rest[:SKETCH]), tuple(rest[SKETCH:]),
    )  # fmt: skip


def sample_of(tensor: torch.Tensor, count: int) -> torch.Tensor:
    """`count` elements at the positions of `records.positions`, in the tensor's own type, on its device."""
    flat = flat_values(tensor)
    return flat[_positions(flat.numel(), count, flat.device)]

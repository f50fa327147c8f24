"""Exact comparison of tensors whose values both files hold: how far apart, where, and transposed or shifted how."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import torch

from rocport.numerics import trusted
from rocport.numerics.difference import Difference
from rocport.numerics.golden import Golden
from rocport.numerics.records import TensorRecord
from rocport.numerics.symptoms import Symptom, rounding_symptom

_LARGEST_SHIFT = 4
_LOOKED_AT = 4096


def load(golden: Golden, record: TensorRecord) -> torch.Tensor | None:
    """The stored values: the whole tensor in its shape, or the sampled elements as one dimension."""
    found = golden.bytes_of(str(record.id))
    if found is None:
        return None
    data = found
    dtype = trusted.dtype(record.dtype)
    if not data:
        return torch.empty(record.shape, dtype=dtype)
    if dtype.is_complex:
        flat = torch.frombuffer(data, dtype=dtype)
    elif dtype is torch.bool:
        flat = torch.frombuffer(data, dtype=torch.uint8).to(torch.bool)
    else:
        flat = torch.frombuffer(data, dtype=torch.uint8).view(dtype)
    return flat.reshape(record.shape) if record.stored == "full" else flat


def _double(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.to(torch.float64)


def exact_difference(
    reference: Golden, a: TensorRecord, candidate: Golden, b: TensorRecord, found: Difference
) -> Difference | None:
    """`found` with exact numbers. From samples only the largest difference is new: the norms stay as estimated."""
    first, second = load(reference, a), load(candidate, b)
    if first is None or second is None:
        return None
    x, y = _double(first).reshape(-1), _double(second).reshape(-1)
    finite = torch.isfinite(x) & torch.isfinite(y)
    mismatch = bool((torch.isnan(x) != torch.isnan(y)).any() or ((x == math.inf) != (y == math.inf)).any())
    x, y = x[finite], y[finite]
    gap = (y - x).abs()
    scale = float(torch.linalg.vector_norm(x)) or float(torch.linalg.vector_norm(y))
    relative = float(torch.linalg.vector_norm(gap)) / scale if scale else 0.0
    rms = scale / math.sqrt(max(x.numel(), 1))
    size = x.abs() + rms
    largest = float(torch.where(size > 0, gap / size, 0.0).max()) if x.numel() else 0.0
    whole = a.stored == "full"
    relative = relative if whole else found.relative
    return replace(found, relative=relative, exact=whole, finite=found.finite or mismatch, largest=largest)


def symptoms_of_values(reference: Golden, a: TensorRecord, candidate: Golden, b: TensorRecord) -> Iterator[Symptom]:
    """Transposed, flipped, shifted, truncated, and where the differing elements lie."""
    first, second = load(reference, a), load(candidate, b)
    if first is None or second is None or a.dtype != b.dtype or first.shape != second.shape:
        return
    if a.stored == "full":
        if (order := _reordered(first, second)) is not None:
            yield order
            return
        if (place := _place(first, second)) is not None:
            yield place
    x, y = _double(first).reshape(-1)[:_LOOKED_AT], _double(second).reshape(-1)[:_LOOKED_AT]
    both = torch.isfinite(x) & torch.isfinite(y)
    moved = both & (x != y)
    if int(moved.sum()) >= 6:
        yield from rounding_symptom(
            a.dtype, list(zip(x[moved].tolist(), y[moved].tolist(), strict=True)), int(both.sum())
        )


def _same(x: torch.Tensor, y: torch.Tensor) -> bool:
    return torch.equal(x.reshape(-1), y.reshape(-1))


def _reordered(x: torch.Tensor, y: torch.Tensor) -> Symptom | None:
    if x.dim() == 0 or x.numel() > 1 << 24:
        return None
    for i, j in itertools.combinations(range(x.dim()), 2):
        if x.shape[i] > 1 and x.shape[j] > 1 and _same(x.transpose(i, j), y):
            return Symptom("transposed", f"dimensions {i} and {j} are exchanged in memory")
    for i in range(x.dim()):
        if x.shape[i] < 2:
            continue
        if _same(x.flip(i), y):
            return Symptom("flipped", f"dimension {i} runs backwards")
        for shift in (s for n in range(1, min(_LARGEST_SHIFT, x.shape[i] - 1) + 1) for s in (n, -n)):
            if _same(x.roll(shift, i), y):
                return Symptom("shifted", f"shifted by {shift} along dimension {i}")
            moved, kept = x.roll(shift, i), x.shape[i] - abs(shift)
            start = max(shift, 0)
            if kept > 1 and torch.equal(moved.narrow(i, start, kept), y.narrow(i, start, kept)):
                return Symptom("shifted", f"shifted by {shift} along dimension {i}, with other values at the end")
    return None


def _place(x: torch.Tensor, y: torch.Tensor) -> Symptom | None:
    """The smallest box that holds the elements that differ, when it is not all of the tensor."""
    if x.dim() == 0:
        return None
    a, b = _double(x.reshape(-1)), _double(y.reshape(-1))
    rms = float(torch.linalg.vector_norm(torch.nan_to_num(a))) / math.sqrt(max(a.numel(), 1))
    off = ((a - b).abs() > 1e-2 * a.abs() + 1e-3 * rms) | (torch.isfinite(a) != torch.isfinite(b))
    if x.is_complex():
        off = off.view(-1, 2).any(1)
    off = off.reshape(x.shape)
    count = int(off.sum())
    if not count or count > 0.9 * off.numel():
        return None
    box = []
    for dimension in range(off.dim()):
        others = [d for d in range(off.dim()) if d != dimension]
        hit = off.amax(others) if others else off
        where = torch.nonzero(hit).reshape(-1)
        low, high = int(where[0]), int(where[-1]) + 1
        box.append(":" if (low, high) == (0, off.shape[dimension]) else f"{low}:{high}")
    return Symptom("place", f"{count} of {off.numel()} values differ by more than 1 %, within [{', '.join(box)}]")

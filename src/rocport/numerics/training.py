"""Training runs side by side: loss by step, gradients and optimizer states by parameter. No PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rocport.numerics import records
from rocport.numerics.difference import Difference
from rocport.numerics.golden import Golden


@dataclass(frozen=True)
class LossRow:
    """One step. `noise`: relative difference of the reference's own second run."""

    step: int
    reference: float
    candidate: float
    relative: float
    noise: float


@dataclass(frozen=True)
class ParameterRow:
    """The worst tensor of a kind in one step, and the median over all parameters."""

    step: int
    kind: str
    worst: str
    relative: float
    median: float
    count: int


@dataclass(frozen=True)
class Training:
    """Empty rows where the script does not train."""

    losses: tuple[LossRow, ...]
    parameters: tuple[ParameterRow, ...]


def training_of(
    a: Golden, b: Golden, pairs: dict[int, int], difference: Callable[[int, int], Difference]
) -> Training | None:
    """Loss curves, gradients, parameters and optimizer states of two runs; None where neither has a loss."""
    losses: list[LossRow] = []
    spread: dict[tuple[int, str], list[tuple[float, str]]] = {}
    for index, call in enumerate(a.calls):
        partner = pairs.get(index)
        if partner is None or call.kind not in (records.LOSS, records.GRADIENT, records.PARAMETER, records.STATE):
            continue
        other = b.calls[partner]
        for first, second in zip(call.outputs, other.outputs, strict=False):
            if call.kind == records.LOSS:
                x, y = a.tensors[first].statistics, b.tensors[second].statistics
                if x and y and x.sample and y.sample:
                    relative = abs(y.sample[0] - x.sample[0]) / (abs(x.sample[0]) or 1.0)
                    losses.append(LossRow(call.step, x.sample[0], y.sample[0], relative, a.noise.get(first, 0.0)))
                continue
            found = difference(first, second)
            if found.known:
                spread.setdefault((call.step, call.kind), []).append((found.relative, call.name))
    if not losses and not spread:
        return None
    rows = []
    for (step, kind), values in sorted(spread.items()):
        ordered = sorted(values, key=lambda item: (math.inf if math.isnan(item[0]) else item[0], item[1]))
        relative, worst = ordered[-1]
        rows.append(ParameterRow(step, kind, worst, relative, ordered[len(ordered) // 2][0], len(ordered)))
    return Training(tuple(losses), tuple(rows))

"""Helpers of the operator tests."""

from __future__ import annotations

import numpy as np
import torch


def to_torch(array) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def relative(got: torch.Tensor, want: torch.Tensor) -> float:
    """Relative Frobenius error; infinite when anything is not finite."""
    if not torch.isfinite(got).all():
        return float("inf")
    return ((got.double() - want.double()).norm() / want.double().norm()).item()

from __future__ import annotations

import numpy as np
import pytest
import torch


@pytest.fixture
def mx():
    """MLX on the CPU; its float arithmetic is the oracle in fp32 only."""
    core = pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    core.set_default_device(core.cpu)
    return core


@pytest.fixture
def bnb():
    return pytest.importorskip("bitsandbytes.functional", reason="bitsandbytes is not installed")


def to_torch(array) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def relative(got: torch.Tensor, want: torch.Tensor) -> float:
    """Relative Frobenius error; infinite when anything is not finite."""
    if not torch.isfinite(got).all():
        return float("inf")
    return ((got.double() - want.double()).norm() / want.double().norm()).item()

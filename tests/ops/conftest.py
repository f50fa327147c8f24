from __future__ import annotations

import pytest


@pytest.fixture
def mx():
    """MLX on the CPU; its float arithmetic is the oracle in fp32 only."""
    core = pytest.importorskip("mlx.core", reason="mlx[cpu] is not installed")
    core.set_default_device(core.cpu)
    return core


@pytest.fixture
def bnb():
    return pytest.importorskip("bitsandbytes.functional", reason="bitsandbytes is not installed")

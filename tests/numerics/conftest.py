from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="numerics runs PyTorch programs")
pytest.importorskip("msgpack", reason="golden files need msgpack")
pytest.importorskip("safetensors", reason="golden files need safetensors")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)

"""Make builders.py importable from the tests beside it, and keep bitsandbytes' quantization out of torch.compile."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    """bitsandbytes compiles its default path anew for each dtype, 20 s of a core before the first small tensor."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield

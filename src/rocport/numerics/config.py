"""How to capture a run: what the command line sets and the child process reads. No PyTorch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class CaptureConfig:
    """`sample` is the number of elements kept of a tensor in mode sample; tensors no larger are kept whole."""

    mode: str = "stats"
    sample: int = 4096
    operators: bool = True
    """Record operators too, not only modules, gradients and parameters."""
    max_bytes: int = 2 << 30
    """Of stored tensor values; beyond it statistics only."""
    max_calls: int = 500_000
    """Calls beyond it are counted, not recorded."""
    poison: bool = False
    """Fill what `torch.empty` and its kin return with NaN or the largest integer."""
    seed: int | None = None
    """Seed every generator before the script starts."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CaptureConfig:
        """Inverse of `to_json`; fields it does not know are left out."""
        return cls(**{key: value for key, value in data.items() if key in cls.__dataclass_fields__})

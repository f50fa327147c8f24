"""What a run depends on besides its code: versions, device, switches that change rounding."""

from __future__ import annotations

import os
import platform
from typing import Any

import torch

_PREFIXES = (
    "TORCH", "PYTORCH", "CUDA", "HIP", "HSA", "ROC", "AMD", "MIOPEN", "NCCL", "RCCL", "TRITON", "CUBLAS",
    "NVIDIA_TF32", "OMP", "MKL",
)  # fmt: skip
_PRIVATE = ("KEY", "TOKEN", "SECRET", "PASS", "HOME", "PATH", "DIR", "ROOT", "FILE")


def describe() -> dict[str, Any]:
    """Plain data. Variables whose names speak of keys or of folders are left out."""
    found: dict[str, Any] = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul": torch.get_float32_matmul_precision(),
        "variables": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(_PREFIXES) and not any(word in name for word in _PRIVATE)
        },
    }
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        found["device"] = properties.name
        found["gfx"] = getattr(properties, "gcnArchName", "") or f"sm_{properties.major}{properties.minor}"
        found["tf32"] = torch.backends.cuda.matmul.allow_tf32
        found["bf16_reduction"] = bool(torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction)
    return found

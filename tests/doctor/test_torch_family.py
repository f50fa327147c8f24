"""Which torchvision is said not to belong to a torch."""

from __future__ import annotations

import pytest

from rocport.doctor.capture import machine_from_text
from rocport.doctor.diagnosis import diagnose


@pytest.mark.parametrize(
    ("torch", "vision", "status"),
    [
        ("2.9.0a0+git1c57644", "0.23.0a0+824e8c8", "skipped"),  # official vLLM and rocm/pytorch images
        ("2.9.0+rocm6.4", "0.24.0+rocm6.4", "ok"),
        ("2.9.0+rocm6.4", "0.23.0+rocm6.4", "fail"),
        ("2.9.0+rocm6.4", "0.24.0", "warn"),
    ],
)
def test_families(torch, vision, status):
    text = f"PyTorch version: {torch}\nROCM used to build PyTorch: 7.0\n[pip3] torchvision=={vision}\n"
    result = diagnose(machine_from_text(text)).result("torch-family")
    assert result is not None and result.status == status

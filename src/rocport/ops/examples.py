"""The example call of each operator: what `rocport ops explain` explains and the tests loop over."""

from __future__ import annotations

import importlib
from typing import Any

import torch


def example_call(name: str, device: str = "cpu") -> tuple[Any, ...]:
    """Arguments of the operator, after the platform."""
    arguments: tuple[Any, ...] = importlib.import_module(f"rocport.ops.{name}").cases(torch.device(device))
    return arguments

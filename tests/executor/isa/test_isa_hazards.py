"""Defects that a GPU may let pass, and the run that shows each; next to each its sound neighbour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rocport.executor.isa import KernelError, Module, load
from rocport.executor.isa.launch import CHECK_DIVERGENCE, CHECK_WAITS, POISON_MEMORY


@pytest.fixture(scope="module")
def hazards(compile_hip: Callable[..., bytes]) -> Module:
    return load(compile_hip(Path(__file__).with_name("hazards.hip"), "gfx942", "-gline-tables-only"), "gfx942")


def test_two_poisons_show_uninitialized_lds(hazards: Module) -> None:
    results = []
    for poison in (0, 0x7FC0DEAD):
        out = np.zeros(128, "i4")
        hazards.launch("uninitialized_lds", (1,), (128,), [out], poison=poison, flags=POISON_MEMORY)
        results.append(out)
    assert (results[0][:32] == results[1][:32]).all()
    assert (results[0][32:] != results[1][32:]).all()


@pytest.mark.parametrize("kernel", ["missing_wait", "with_wait"])
def test_a_missing_wait_shows(hazards: Module, kernel: str) -> None:
    x, lax, strict = np.arange(64).astype("i4"), np.zeros(64, "i4"), np.zeros(64, "i4")
    hazards.launch(kernel, (1,), (64,), [x, lax])
    assert (lax == 2 * x).all()
    hazards.launch(kernel, (1,), (64,), [x, strict], flags=CHECK_WAITS)
    assert (strict == lax).all() == (kernel == "with_wait")


def test_waves_at_different_barriers(hazards: Module) -> None:
    out = np.zeros(128, "i4")
    hazards.launch("two_barriers", (1,), (128,), [out])
    with pytest.raises(KernelError, match=r"different barriers.*hazards\.hip:\d+"):
        hazards.launch("two_barriers", (1,), (128,), [out], flags=CHECK_DIVERGENCE)
    hazards.launch("two_barriers", (1,), (64,), [out], flags=CHECK_DIVERGENCE)


def test_lds_has_the_size_of_the_launch(hazards: Module) -> None:
    out = np.zeros(64, "i4")
    hazards.launch("past_the_lds", (1,), (64,), [out, np.int32(1)], dynamic_lds=256)
    with pytest.raises(KernelError, match=r"outside of what is allocated.*DS_WRITE.*hazards\.hip"):
        hazards.launch("past_the_lds", (1,), (64,), [out, np.int32(1)], dynamic_lds=252)

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


@pytest.mark.parametrize(
    ("defect", "sound", "kinds"),
    [
        ("shared_race", "with_barrier", {"shared-race", "unwritten-lds", "uninitialised"}),
        ("global_race", "with_atomic", {"global-race"}),
        ("missing_wait", "with_wait", {"missing-wait"}),
        ("unwritten_register", "with_wait", {"uninitialised"}),
    ],
)
def test_examine_names_the_defect_and_its_line(hazards: Module, defect: str, sound: str, kinds: set[str]) -> None:
    x, out = np.arange(256).astype("i4"), np.zeros(256, "i4")
    blocks = 2 if defect == "global_race" else 1
    assert hazards.examine(sound, (blocks,), (256,), [x, out]) == ()
    out[:] = 0
    found = [f for f in hazards.examine(defect, (blocks,), (256,), [x, out]) if f.kind != "order"]
    assert {f.kind for f in found} == kinds
    assert all("hazards.hip:" in f.source for f in found)


def test_examine_leaves_the_first_runs_results_and_restores_memory(hazards: Module) -> None:
    x, out = np.arange(256).astype("i4"), np.ones(256, "i4")
    assert hazards.examine("with_atomic", (2,), (256,), [x, out]) == ()
    np.testing.assert_array_equal(out, 1 + 2 * x + 1)


def test_unwritten_lds_is_named_at_the_read(hazards: Module) -> None:
    (found,) = [f for f in hazards.examine("uninitialized_lds", (1,), (128,), [np.zeros(128, "i4")]) if f.source][:1]
    assert found.kind == "unwritten-lds"
    assert found.instruction.startswith(("DS_READ", "FLAT_LOAD"))
    assert found.source.endswith("hazards.hip:11")


def test_a_hang_names_where_it_turns_and_who_waits(hazards: Module) -> None:
    with pytest.raises(
        KernelError, match=r"turns between pc 0x\w+ \(.*hazards\.hip:\d+\) and pc .*wave 1 waits before"
    ):
        hazards.launch("waits_for_nobody", (1,), (128,), [np.zeros(1, "i4")], limit=1_000_000)

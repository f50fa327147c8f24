"""HIP kernels as gfx942 (wave64) and gfx1100 (wave32) machine code against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from rocport.executor.isa import KernelError, Module
from rocport.executor.isa.launch import CHECK_WAITS, COOPERATIVE, POISON_MEMORY

rng = np.random.default_rng(7)


def _ulps(a: np.ndarray, b: np.ndarray) -> int:
    integer = np.int64 if a.dtype == np.float64 else np.int32
    return int(np.abs(a.view(integer).astype(np.int64) - b.astype(a.dtype).view(integer).astype(np.int64)).max())


def test_scale_add_is_one_fused_operation(kernels: Module) -> None:
    n = 1000
    x, y = rng.standard_normal((2, n)).astype("f4")
    out = y.copy()
    run = kernels.launch("scale_add", (4,), (256,), [np.int32(n), np.float32(2.5), x, out])
    assert (out == (np.float64(2.5) * x + y).astype("f4")).all()
    assert run.instructions > 0 and run.lane_instructions % run.instructions == 0


def test_shuffles_lds_and_barriers(kernels: Module) -> None:
    x = rng.integers(-1000, 1000, 4 * 256).astype("i4")
    out = np.zeros(4, "i4")
    kernels.launch("block_sum", (4,), (256,), [x, out])
    assert (out == x.reshape(4, 256).sum(1)).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ballot_and_atomics_in_any_order(kernels: Module, seed: int) -> None:
    n = 1000
    x = rng.integers(-50, 50, n).astype("i4")
    out, count = np.zeros(n, "i4"), np.zeros(1, "i4")
    kernels.launch("keep_positive", (4,), (256,), [np.int32(n), x, out, count], seed=seed)
    assert count[0] == (x > 0).sum()
    assert (np.sort(out[: count[0]]) == np.sort(x[x > 0])).all()


def test_lds_atomics(kernels: Module) -> None:
    n = 5000
    x, h = rng.integers(0, 256, n).astype("u1"), np.zeros(256, "u4")
    kernels.launch("lds_histogram", (1,), (256,), [np.int32(n), x, h])
    assert (h == np.bincount(x, minlength=256)).all()


def test_divergent_loops(kernels: Module) -> None:
    x, steps = np.arange(1, 129).astype("u4"), np.zeros(128, "i4")
    kernels.launch("divergent_loops", (2,), (64,), [x, steps])

    def length(v: int) -> int:
        count = 0
        while v != 1:
            v, count = 3 * v + 1 if v & 1 else v >> 1, count + 1
        return count

    assert steps.tolist() == [length(int(v)) for v in x]


def test_float_division_and_root_are_exact(kernels: Module) -> None:
    n = 256
    x = np.exp(rng.uniform(-80, 80, n)).astype("f4")
    y = rng.uniform(-80, 80, n).astype("f4")
    y[:4] = [1e-38, 3e-41, -2, 1e-30]
    out = np.zeros((4, n), "f4")
    kernels.launch("float_math", (1,), (n,), [np.int32(n), x, y, out])
    wide_x, wide_y = x.astype("f8"), y.astype("f8")
    with np.errstate(all="ignore"):
        assert _ulps(out[0], wide_x / wide_y) == 0
        assert _ulps(out[1], np.sqrt(wide_x)) == 0
        assert _ulps(out[2], np.exp(wide_y)) <= 1
        assert _ulps(out[3], np.log(wide_x)) <= 1


def test_double_division_and_root_are_exact(kernels: Module) -> None:
    n = 128
    x, y = np.exp(rng.uniform(-300, 300, n)), rng.uniform(-300, 300, n)
    out = np.zeros((3, n))
    kernels.launch("double_math", (1,), (n,), [np.int32(n), x, y, out])
    assert _ulps(out[0], x / y) == 0
    assert _ulps(out[1], np.sqrt(x)) == 0


def test_half_pairs_round_once(kernels: Module) -> None:
    n = 128
    x, y = rng.standard_normal((2, 2 * n)).astype("f2")
    out = np.zeros(2 * n, "f2")
    kernels.launch("half_pairs", (1,), (n,), [x, y, out])
    assert (out == (x.astype("f8") * y + (x + y)).astype("f2")).all()


def test_scratch(kernels: Module) -> None:
    order, out = rng.integers(0, 32, 32).astype("i4"), np.zeros(64, "i4")
    kernels.launch("in_scratch", (1,), (64,), [order, out])
    for lane in range(64):
        a = [k * 7 + lane for k in range(32)]
        for k in range(32):
            a[order[k]] ^= k
        s = 0
        for k in range(32):
            s = (s * 31 + a[order[(k + lane) & 31]]) & 0xFFFFFFFF
        assert out.view("u4")[lane] == s


@pytest.mark.parametrize(("to", "source"), [(3, 3), (0, 15), (15, 9)])
def test_a_register_named_by_a_number(kernels: Module, to: int, source: int) -> None:
    x = rng.integers(-1000, 1000, (16, 64)).astype("i4")
    want = x.copy()
    want[to] = 7 * np.arange(64)
    out = np.zeros(128, "i4")
    kernels.launch("named_register", (1,), (64,), [x, np.int32(to), np.int32(source), out])
    np.testing.assert_array_equal(out[:64], want[source])
    np.testing.assert_array_equal(out[64:], want[0] ^ want[15])
    assert any("IDX_ON" in name or "MOVREL" in name for name in kernels.translated("named_register").origins)


def test_append_counts_active_lanes(kernels: Module) -> None:
    wanted, out = rng.integers(0, 2, 64).astype("i4"), np.zeros(65, "i4")
    kernels.launch("append", (1,), (64,), [wanted, out])
    assert out[64] == 5 + wanted.sum()
    assert (out[:64][wanted == 0] == -1).all()
    assert (out[:64][wanted == 1] >= 5).all()


def test_exchanges_in_lds(kernels: Module) -> None:
    x, out, lane = rng.integers(0, 99, 64).astype("i4"), np.zeros((5, 64), "i4"), np.arange(64)
    kernels.launch("lds_exchange", (1,), (64,), [x, out])
    second = (-lane).astype("i4")
    # An unsigned number of at least 10 loses 10, another one gains 3.
    wrapped = np.where(second.view("u4") >= 10, second - 10, second + 3)
    for got, want in zip(out, (x, 5 * x, lane & ~0xF0 | 0x500, second, wrapped), strict=True):
        np.testing.assert_array_equal(got, want)


def test_variables_and_hidden_arguments(kernels: Module) -> None:
    out = np.zeros(8, "i4")
    kernels.launch("variables", (3,), (8,), [out])
    assert (out == np.array([3, 1, 4, 1] * 2) + 24).all()
    kernels.symbol("table")[:4] = np.int32(100).tobytes()
    kernels.launch("variables", (3,), (8,), [out])
    kernels.symbol("table")[:4] = np.int32(3).tobytes()
    assert out[0] == 124


def test_a_fault_names_address_instruction_and_line(kernels: Module) -> None:
    with pytest.raises(KernelError, match=r"out_of_bounds: .*outside.*address 0x") as caught:
        kernels.launch("out_of_bounds", (1,), (64,), [np.zeros(4, "i4"), 1 << 36])
    assert "kernels.hip:" in caught.value.source
    assert caught.value.instruction.startswith("GLOBAL_STORE")


def test_a_trap_is_an_error(kernels: Module) -> None:
    kernels.launch("trap", (1,), (64,), [np.zeros(1, "i4")])
    with pytest.raises(KernelError, match="trap"):
        kernels.launch("trap", (1,), (64,), [np.ones(1, "i4")])


def test_a_hang_is_named(kernels: Module) -> None:
    with pytest.raises(KernelError, match=r"no end within the limit.*kernels\.hip:\d+"):
        kernels.launch("never_ends", (1,), (64,), [np.zeros(1, "i4")], limit=1_000_000)


def test_waves_take_turns(kernels: Module) -> None:
    flag, out = np.zeros(1, "i4"), np.zeros(256, "i4")
    kernels.launch("handshake", (1,), (256,), [flag, out], seed=3)
    assert out.all()


def test_workgroups_that_wait_for_each_other(kernels: Module) -> None:
    flag = np.zeros(8, "i4")
    kernels.launch("ring", (8,), (64,), [flag], flags=COOPERATIVE, threads=1)
    assert flag.all()


def test_results_do_not_depend_on_poison(kernels: Module) -> None:
    """Correct code computes the same whatever registers and LDS held, and with results only from the waits on."""
    x = rng.integers(-1000, 1000, 256).astype("i4")
    want = x.sum()
    for poison in (0, 0x7FC0DEAD):
        for flags in (POISON_MEMORY, POISON_MEMORY | CHECK_WAITS):
            out = np.zeros(1, "i4")
            kernels.launch("block_sum", (1,), (256,), [x, out], poison=poison, flags=flags)
            assert out[0] == want, (poison, flags)


def test_sizes_that_a_kernel_does_not_allow(kernels: Module) -> None:
    with pytest.raises(KernelError, match="work-items"):
        kernels.launch("scale_add", (1,), (2048,), [np.int32(0), np.float32(0), None, None])
    with pytest.raises(KernelError, match="takes 4 arguments"):
        kernels.launch("scale_add", (1,), (64,), [])

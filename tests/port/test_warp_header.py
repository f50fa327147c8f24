"""rocport_warp.h computes what CUDA's warp functions compute, on wavefronts of 32 and of 64 lanes."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import cuda_warp_model as cuda
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_simulator_build import build

THREADS = 64
SLOT = 64
SIZES = {
    "bool": 1, "char": 1, "short": 2, "enum": 2, "half": 2, "bytes3": 3, "int": 4, "unsigned": 4, "float": 4,
    "half2": 4, "long long": 8, "double": 8, "float2": 8, "pointer": 8, "bytes12": 12, "float4": 16, "bytes37": 37,
}  # fmt: skip
FULL = 0xFFFFFFFF
# Wavefronts are simulated one function call after the other: no deadline, and inputs of some kilobytes are normal.
CHECK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow]
)


class Arguments(ctypes.Structure):
    _fields_ = (
        ("mask", ctypes.c_ulonglong),
        ("lane", ctypes.c_int),
        ("width", ctypes.c_int),
        ("branch", ctypes.c_int),
    )


@dataclass(frozen=True)
class Group:
    """Lanes of one warp that call together, with one mask."""

    warp: int
    lanes: frozenset[int]
    mask: int
    branch: int


class Simulator:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._call = library.warp_call

    def __call__(
        self,
        op: str,
        type_name: str,
        wavefront: int,
        groups: list[Group],
        values: Mapping[int, bytes],
        operand: int = 0,
        width: int = 32,
    ) -> dict[int, bytes]:
        """What every calling thread of the block got, by thread."""
        arguments = (Arguments * THREADS)(*[Arguments(0, 0, 32, -1)] * THREADS)
        data = bytearray(THREADS * SLOT)
        for group in groups:
            for lane in group.lanes:
                thread = 32 * group.warp + lane
                arguments[thread] = Arguments(group.mask, operand, width, group.branch)
                value = values.get(thread, b"")
                data[thread * SLOT : thread * SLOT + len(value)] = value
        out = ctypes.create_string_buffer(THREADS * SLOT)
        known = self._call(op.encode(), type_name.encode(), wavefront, arguments, bytes(data), out)
        assert known, f"the harness does not know {op} of {type_name}"
        threads = [32 * g.warp + lane for g in groups for lane in g.lanes]
        return {t: out.raw[t * SLOT : (t + 1) * SLOT] for t in threads}


@pytest.fixture(scope="session")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(build("warp_harness.cpp", tmp_path_factory.mktemp("warp")))


@st.composite
def grouped(draw: st.DrawFn) -> list[Group]:
    """Two warps, each cut into groups that call with a mask of their own: converged or each on its branch.

    A mask names the lanes of its group, and sometimes lanes that have left the kernel.
    """
    same_branch = draw(st.booleans())
    groups = []
    for warp in range(2):
        owner = draw(st.lists(st.integers(-1, draw(st.integers(0, 3))), min_size=32, max_size=32))
        if draw(st.booleans()):
            owner = [0] * 32
        ended = cuda.bits({lane for lane in range(32) if owner[lane] < 0})
        for number in sorted(set(owner) - {-1}):
            lanes = frozenset(lane for lane in range(32) if owner[lane] == number)
            mask = cuda.bits(lanes) | (ended if draw(st.booleans()) else 0)
            branch = 0 if same_branch else number + draw(st.sampled_from([0, 10])) * warp
            groups.append(Group(warp, lanes, mask, branch))
    return groups


def members(groups: list[Group], group: Group) -> frozenset[int]:
    """The lanes of the group's warp that stand on its branch: what an operation without a mask covers."""
    return frozenset().union(*(g.lanes for g in groups if g.warp == group.warp and g.branch == group.branch))


def u32(data: bytes, at: int = 0) -> int:
    return int(struct.unpack_from("<I", data, at)[0])


WAVEFRONTS = pytest.mark.parametrize("wavefront", [32, 64])
WHOLE = [Group(0, frozenset(range(32)), FULL, 0), Group(1, frozenset(range(32)), FULL, 0)]


@WAVEFRONTS
@pytest.mark.parametrize("mode", ["idx", "up", "down", "xor"])
@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_every_shuffle_distance_of_every_width(simulator: Simulator, wavefront: int, mode: str, width: int) -> None:
    """Both warps whole, other data in each; distances over the width and negative ones included."""
    name = "shfl_sync" if mode == "idx" else f"shfl_{mode}_sync"
    values = {t: struct.pack("<i", 1000 + 7 * t) for t in range(THREADS)}
    for operand in [*range(0, 34), 63, 64, 65, -1, -5, 2**31 - 1]:
        for op in (name, name.removesuffix("_sync")):
            got = simulator(op, "int", wavefront, WHOLE, values, operand, width)
            for t in range(THREADS):
                source = cuda.shuffle_source(mode, t % 32, operand, width)
                assert got[t][:4] == values[t // 32 * 32 + source], (op, operand, t)


@pytest.mark.parametrize("type_name", SIZES)
@WAVEFRONTS
@given(
    groups=grouped(),
    data=st.binary(min_size=64, max_size=64),
    mode=st.sampled_from(["idx", "up", "down", "xor"]),
    operand=st.integers(-40, 70),
    width=st.sampled_from([2, 4, 8, 16, 32]),
)
@settings(CHECK, max_examples=25)
def test_shuffles_move_every_type_among_diverged_lanes(
    simulator: Simulator,
    wavefront: int,
    type_name: str,
    groups: list[Group],
    data: bytes,
    mode: str,
    operand: int,
    width: int,
) -> None:
    size = SIZES[type_name]
    seed = int.from_bytes(data, "little")
    values = {
        t: (seed * (2 * t + 1) + t).to_bytes(80, "little")[:size] if type_name != "bool" else bytes([data[t] & 1])
        for t in range(THREADS)
    }
    name = "shfl_sync" if mode == "idx" else f"shfl_{mode}_sync"
    got = simulator(name, type_name, wavefront, groups, values, operand, width)
    for group in groups:
        for lane in group.lanes:
            source = cuda.shuffle_source(mode, lane, operand, width)
            if source in group.lanes:  # any other lane: undefined on CUDA
                assert got[32 * group.warp + lane][:size] == values[32 * group.warp + source]


@WAVEFRONTS
@given(groups=grouped(), data=st.lists(st.sampled_from([0, 0, 1, 2, -1, -(2**31)]), min_size=64, max_size=64))
@CHECK
def test_votes_cover_the_lanes_of_the_mask(
    simulator: Simulator, wavefront: int, groups: list[Group], data: list[int]
) -> None:
    values = {t: struct.pack("<i", data[t]) for t in range(THREADS)}
    got = {op: simulator(op, "int", wavefront, groups, values) for op in ("ballot_sync", "any_sync", "all_sync")}
    old = {op: simulator(op, "int", wavefront, groups, values) for op in ("ballot", "any", "all", "activemask")}
    for group in groups:
        mine = {lane: data[32 * group.warp + lane] for lane in range(32)}
        everyone = members(groups, group)
        for lane in group.lanes:
            t = 32 * group.warp + lane
            assert u32(got["ballot_sync"][t]) == cuda.ballot(group.lanes, mine)
            assert bool(u32(got["any_sync"][t])) == any(mine[i] for i in group.lanes)
            assert bool(u32(got["all_sync"][t])) == all(mine[i] for i in group.lanes)
            assert u32(old["ballot"][t]) == cuda.ballot(everyone, mine)
            assert bool(u32(old["any"][t])) == any(mine[i] for i in everyone)
            assert bool(u32(old["all"][t])) == all(mine[i] for i in everyone)
            assert u32(old["activemask"][t]) == cuda.bits(everyone)


@WAVEFRONTS
@pytest.mark.parametrize("type_name", ["int", "unsigned", "float", "double", "long long", "pointer", "short"])
@given(groups=grouped(), choice=st.lists(st.integers(0, 3), min_size=64, max_size=64), pool=st.binary(min_size=32))
@settings(CHECK, max_examples=25)
def test_match_compares_bits(
    simulator: Simulator, wavefront: int, type_name: str, groups: list[Group], choice: list[int], pool: bytes
) -> None:
    size = SIZES[type_name]
    zeros = [struct.pack("<f", 0.0), struct.pack("<f", -0.0)] if type_name == "float" else []
    distinct = [*zeros, *(pool[8 * i : 8 * i + size] for i in range(4))]
    if min(choice) > 0:
        choice = [choice[0]] * 64
    values = {t: distinct[choice[t]] for t in range(THREADS)}
    some = simulator("match_any_sync", type_name, wavefront, groups, values)
    everything = simulator("match_all_sync", type_name, wavefront, groups, values)
    for group in groups:
        mine = {lane: values[32 * group.warp + lane] for lane in range(32)}
        for lane in group.lanes:
            t = 32 * group.warp + lane
            assert u32(some[t]) == cuda.match_any(group.lanes, mine, lane)
            assert (u32(everything[t]), u32(everything[t], 4)) == cuda.match_all(group.lanes, mine)


@WAVEFRONTS
@pytest.mark.parametrize("op", ["add", "min", "max", "and", "or", "xor"])
@pytest.mark.parametrize("type_name", ["int", "unsigned"])
@given(groups=grouped(), data=st.lists(st.integers(0, FULL) | st.sampled_from([0, 1, FULL]), min_size=64, max_size=64))
@settings(CHECK, max_examples=25)
def test_reductions_cover_the_lanes_of_the_mask(
    simulator: Simulator, wavefront: int, op: str, type_name: str, groups: list[Group], data: list[int]
) -> None:
    signed = type_name == "int" and op in ("add", "min", "max")
    values = {t: struct.pack("<I", data[t]) for t in range(THREADS)}
    # and, or and xor exist for unsigned only; the harness has them under int, with the bits of the value
    got = simulator(f"reduce_{op}_sync", type_name if op in ("add", "min", "max") else "int", wavefront, groups, values)
    code = "<i" if signed else "<I"
    for group in groups:
        mine = [struct.unpack(code, values[32 * group.warp + lane])[0] for lane in sorted(group.lanes)]
        for lane in group.lanes:
            assert struct.unpack_from(code, got[32 * group.warp + lane])[0] == cuda.reduce(op, mine, signed)


@WAVEFRONTS
def test_lane_and_warp_ids(simulator: Simulator, wavefront: int) -> None:
    def values_of(op: str) -> list[int]:
        got = simulator(op, "int", wavefront, WHOLE, {})
        return [u32(got[t]) for t in range(THREADS)]

    assert values_of("lane_id") == [t % 32 for t in range(THREADS)]
    assert values_of("warp_id") == [t // 32 for t in range(THREADS)]
    assert values_of("warps_per_block") == [2] * THREADS
    for name, holds in {
        "eq": lambda other, lane: other == lane,
        "lt": lambda other, lane: other < lane,
        "le": lambda other, lane: other <= lane,
        "gt": lambda other, lane: other > lane,
        "ge": lambda other, lane: other >= lane,
    }.items():
        expected = [cuda.bits({o for o in range(32) if holds(o, t % 32)}) for t in range(THREADS)]
        assert values_of(f"lanemask_{name}") == expected


@WAVEFRONTS
@given(groups=grouped())
@CHECK
def test_syncwarp_leaves_the_active_lanes_as_they_are(
    simulator: Simulator, wavefront: int, groups: list[Group]
) -> None:
    got = simulator("syncwarp", "int", wavefront, groups, {})
    for group in groups:
        for lane in group.lanes:
            assert u32(got[32 * group.warp + lane]) == cuda.bits(members(groups, group))


@WAVEFRONTS
def test_host_is_told_that_a_warp_has_32_lanes(simulator: Simulator, wavefront: int) -> None:
    group = [Group(0, frozenset({0}), 1, 0)]
    assert struct.unpack_from("<ii", simulator("warp_size_attribute", "int", wavefront, group, {}, operand=0)[0]) == (
        32,
        0,
    )
    value, status = struct.unpack_from(
        "<ii", simulator("warp_size_attribute", "int", wavefront, group, {}, operand=7)[0]
    )
    assert (value, status) == (-1, 101), "an error of the query is handed on and the value left alone"


def test_model_agrees_with_the_examples_of_the_programming_guide() -> None:
    """Broadcast, an inclusive scan over segments of 8, a butterfly sum: the guide's three examples."""
    assert [cuda.shuffle_source("idx", lane, 0, 32) for lane in range(32)] == [0] * 32
    value = [31 - lane for lane in range(32)]
    for distance in (1, 2, 4):
        moved = [value[cuda.shuffle_source("up", lane, distance, 8)] for lane in range(32)]
        value = [v + m if lane % 8 >= distance else v for lane, (v, m) in enumerate(zip(value, moved, strict=True))]
    assert value[:8] == [31, 61, 90, 118, 145, 171, 196, 220]
    value = [31 - lane for lane in range(32)]
    for distance in (16, 8, 4, 2, 1):
        value = [value[lane] + value[cuda.shuffle_source("xor", lane, distance, 32)] for lane in range(32)]
    assert value == [496] * 32

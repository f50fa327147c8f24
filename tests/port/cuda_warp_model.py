"""CUDA's warp operations as CUDA and PTX define them, for one warp of 32 lanes: the specification of the header.

Sources: CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Match Functions", "Warp Reduce Functions",
"Warp Shuffle Functions"; PTX ISA, `shfl.sync` (its pseudocode), `vote.sync`, `match.sync`, `redux.sync`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

LANES = 32


def shuffle_source(mode: str, lane: int, operand: int, width: int) -> int:
    """The lane whose value `lane` gets. `mode` is idx, up, down or xor; `operand` the lane, distance or lane mask."""
    clamp = 0 if mode == "up" else 31
    segment_mask = (32 - width) & 31
    b = operand & 31
    limit = (lane & segment_mask) | (clamp & ~segment_mask & 31)
    if mode == "idx":
        source = (lane & segment_mask) | (b & ~segment_mask & 31)
        in_range = source <= limit
    elif mode == "up":
        source = lane - b
        in_range = source >= limit
    elif mode == "down":
        source = lane + b
        in_range = source <= limit
    elif mode == "xor":
        source = lane ^ b
        in_range = source <= limit
    else:
        raise ValueError(mode)
    return source if in_range else lane


def bits(lanes: Set[int]) -> int:
    """The mask with one bit a lane."""
    return sum(1 << lane for lane in lanes)


def ballot(members: Set[int], predicate: Mapping[int, int]) -> int:
    return bits({lane for lane in members if predicate[lane] != 0})


def match_any(members: Set[int], value: Mapping[int, bytes], lane: int) -> int:
    return bits({other for other in members if value[other] == value[lane]})


def match_all(members: Set[int], value: Mapping[int, bytes]) -> tuple[int, int]:
    """(mask, predicate)"""
    same = len({value[lane] for lane in members}) == 1
    return (bits(members), 1) if same else (0, 0)


def reduce(op: str, values: Sequence[int], signed: bool) -> int:
    """The 32-bit result as CUDA returns it, in the signedness of the operands."""
    if op == "add":
        result = sum(values) & 0xFFFFFFFF
        return result - (1 << 32) if signed and result >> 31 else result
    if op == "min":
        return min(values)
    if op == "max":
        return max(values)
    result = values[0]
    for value in values[1:]:
        result = {"and": result & value, "or": result | value, "xor": result ^ value}[op]
    return result

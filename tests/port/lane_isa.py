"""Follows the lane addresses through straight-line gfx9 machine code: which lane does each ds_bpermute read?

Every register holds 64 integers, one a lane, or is unknown. Loaded values are random, so an address computed from data
is followed too. An instruction that is not listed makes its destination unknown, and an unknown address is an error:
the check can only fail, not pass, for what it does not understand.
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable

WAVE = 64
WORD = 0xFFFFFFFF
Lanes = list[int]


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _below(mask: int, lane: int) -> int:
    return (mask & ((1 << lane) - 1)).bit_count()


_BINARY: dict[str, Callable[[int, int], int]] = {
    "v_and_b32": operator.and_,
    "v_or_b32": operator.or_,
    "v_xor_b32": operator.xor,
    "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_add_u32": operator.add,
    "v_sub_u32": operator.sub,
    "v_subrev_u32": lambda a, b: b - a,
    "v_min_u32": min,
    "v_max_u32": max,
    "v_max_i32": lambda a, b: max(_signed(a), _signed(b)),
    "v_min_i32": lambda a, b: min(_signed(a), _signed(b)),
}
_TERNARY: dict[str, Callable[[int, int, int], int]] = {
    "v_and_or_b32": lambda a, b, c: (a & b) | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_lshl_or_b32": lambda a, b, c: (a << (b & 31)) | c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & 31),
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c),
    "v_bfe_u32": lambda a, b, c: (a >> (b & 31)) & ((1 << (c & 31)) - 1),
}
_COMPARE = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


class NotFollowed(Exception):
    """The address of a ds_bpermute comes from something this model does not compute."""


def permutes(assembly: str, kernel: str, seed: int) -> list[Lanes]:
    """For each ds_bpermute of the kernel, in order: the lane that every lane reads. Raises NotFollowed."""
    chance = random.Random(seed)
    registers: dict[str, Lanes | None] = {"v0": list(range(WAVE))}
    found: list[Lanes] = []

    def value(text: str) -> Lanes | None:
        if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text):
            return [int(text, 0) & WORD] * WAVE
        return registers.get(text)

    for name, operands in instructions(assembly, kernel):
        destination = operands[0] if operands else ""
        base = re.sub(r"_(e32|e64|dpp|sdwa)$", "", name)
        sources = [value(text) for text in operands[1:]]
        result: Lanes | None = None
        known = [lanes for lanes in sources if lanes is not None]
        complete = len(known) == len(sources)
        if base == "ds_bpermute_b32":
            address = sources[0]
            if address is None:
                raise NotFollowed(f"{kernel}: {name} {', '.join(operands)}")
            found.append([(lane >> 2) % WAVE for lane in address])
            result = [chance.getrandbits(32) for _ in range(WAVE)]
        elif re.match(r"(global|flat|ds)_(load|read)", base) or base in ("v_add_f32", "v_add_f64"):
            low, high = _range(destination)
            for number in range(low, high + 1):
                registers[f"v{number}"] = [chance.getrandbits(32) for _ in range(WAVE)]
            continue
        elif base in ("v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32") and complete:
            shift = 32 if "hi" in base else 0
            result = [_below(known[0][lane] << shift, lane) + known[1][lane] for lane in range(WAVE)]
        elif base in ("v_mov_b32", "s_mov_b32", "s_movk_i32") and complete:
            result = known[0]
        elif base in _BINARY and complete:
            result = [_BINARY[base](a, b) for a, b in zip(*known, strict=True)]
        elif base in _TERNARY and complete:
            result = [_TERNARY[base](a, b, c) for a, b, c in zip(*known, strict=True)]
        elif base == "v_cndmask_b32" and complete:
            result = [b if c else a for a, b, c in zip(*known, strict=True)]
        elif base == "v_addc_co_u32" and operands[1] == "vcc":
            parts = [value(text) for text in operands[2:]]
            if all(part is not None for part in parts):
                result = [sum(lane) for lane in zip(*(part for part in parts if part), strict=True)]
            registers["vcc"] = None
        elif (compare := re.fullmatch(r"v_cmp_(\w\w)_([ui])32", base)) and complete:
            read = _signed if compare[2] == "i" else int
            result = [int(_COMPARE[compare[1]](read(a), read(b))) for a, b in zip(*known, strict=True)]
        low, high = _range(destination)
        for number in range(low, high + 1):
            registers[f"{destination[0]}{number}"] = None
        registers[destination] = [lane & WORD for lane in result] if result is not None else None
    return found


def instructions(assembly: str, kernel: str) -> list[tuple[str, list[str]]]:
    """(name, operands) of the kernel's instructions, in order."""
    body = re.search(rf"^{re.escape(kernel)}:(.*?)^\.Lfunc_end", assembly, re.M | re.S)
    if body is None:
        raise ValueError(f"no kernel {kernel} in the assembly")
    found = []
    for line in body[1].splitlines():
        code = line.split(";")[0].strip()
        if not code or code.startswith(".") or code.endswith(":"):
            continue
        name, _, rest = code.partition(" ")
        operands = [part.split()[0] for part in re.split(r",\s*(?![^\[]*\])", rest.strip()) if part.strip()]
        found.append((name, operands))
    return found


def _range(register: str) -> tuple[int, int]:
    """First and last number of `v3` or `v[2:3]`; an empty range for anything else."""
    match = re.fullmatch(r"[vs]\[?(\d+)(?::(\d+))?\]?", register)
    if match is None:
        return 0, -1
    return int(match[1]), int(match[2] or match[1])

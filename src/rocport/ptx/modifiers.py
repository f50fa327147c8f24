"""What handlers ask of an instruction: its type, its rounding, the number of its operands."""

from __future__ import annotations

from rocport.ptx.parse import Instruction
from rocport.ptx.registers import TYPES
from rocport.ptx.translator import Translator

ROUNDINGS = ("rn", "rz", "rm", "rp")
SUFFIX = {"rz": "rz", "rm": "rd", "rp": "ru", "rn": "rn"}


def type_of(t: Translator, i: Instruction, allowed: str = "") -> str:
    """The last type modifier of an instruction."""
    types = [part for part in i.modifiers if part in TYPES or part == "pred"]
    if not types or (allowed and types[-1] not in allowed.split()):
        raise t.refuse("this type is not translated")
    return types[-1]


def expect(t: Translator, i: Instruction, *counts: int) -> None:
    if len(i.operands) not in counts:
        raise t.refuse(f"{len(i.operands)} operands where {' or '.join(map(str, counts))} are expected")


def only(t: Translator, i: Instruction, *known: str) -> None:
    """Refuse modifiers that the handler does not look at."""
    for part in i.modifiers:
        if part not in known and part not in TYPES and part not in ("ftz", "aligned"):
            raise t.refuse(f"the modifier .{part} is not translated")


def rounding_of(i: Instruction) -> str:
    return next((part for part in i.modifiers if part in ROUNDINGS), "")


def one_block(t: Translator) -> None:
    """Several lines that declare a name become one block."""
    if not t.locals:
        t.emitted[:] = ["do {", *t.emitted, "} while (0)"]

# SPDX-License-Identifier: Apache-2.0
"""Forms: the C++ function of an instruction with its registers left open, so that instructions share it.

A form's text reads its operands from `op->o[k]`; two instructions that differ only in registers, offsets or constants
have one text, which is compiled once. Step is one instruction: its form and what fills the operands.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from rocport.executor.isa.emit import Untranslated, Value
from rocport.executor.isa.tables import Instruction

OPERANDS = 12
VCC, M0, EXEC, NULL = 106, 124, 126, 140
SHARED_APERTURE, PRIVATE_APERTURE = 0x8001, 0x8002
UNSUPPORTED = "return rp_stop_at(w,op,RP_UNSUPPORTED);"
"""Text of a step that stops the kernel: an instruction without a translation."""
PLAIN, LOAD_VECTOR, LOAD_LDS, LOAD_SCALAR, WAIT, STORE = range(6)


@dataclass(frozen=True)
class Target:
    """A code address as an operand: becomes the distance in steps."""

    address: int


@dataclass(frozen=True)
class Mode:
    """What a kernel's steps share: its table, wave size, and bits of the descriptor's float mode."""

    family: str
    wave: int
    ocp: bool = False
    """8-bit floats are OCP's (gfx950, gfx12), else fnuz (gfx942)."""
    ieee: bool = True
    dx10_clamp: bool = True
    lds_mask: int = 0xFFFF
    """Bits of M0 that are an address in LDS: as many as the target's LDS needs."""
    operations: tuple[tuple[int, str], ...] = ()
    """What the target calls otherwise than its table: `decode`'s."""

    @property
    def cdna(self) -> bool:
        return self.family == "cdna"


@dataclass
class Step:
    """One instruction of a program."""

    address: int
    size: int
    encoding: str
    name: str
    text: str
    operands: list[int | Target]
    kind: int = PLAIN
    aux: int = 0
    how: str = "pseudo-code"
    """`pseudo-code`, `override` or `by hand`; `untranslated` where it stops the kernel."""
    targets: tuple[int, ...] = ()
    """Where it may go besides the next instruction."""
    falls: bool = True
    refusal: str = ""
    """Of what is untranslated: why, and the next step."""

    @property
    def form(self) -> str:
        """Name of the form's function."""
        return "f_" + hashlib.sha256(self.text.encode()).hexdigest()[:20]


class Form:
    """Collects the text of one form and its operands."""

    def __init__(self, mode: Mode, indexed: int = 0) -> None:
        self.mode = mode
        self.indexed = indexed
        """Operands that M0 moves (S_SET_GPR_IDX_ON): bit 0 to 2 the sources, bit 3 the destination."""
        self.operands: list[int | Target] = []
        self.before: list[str] = []
        """Statements before the lane loop."""

    def operand(self, value: int | Target) -> str:
        """`op->o[k]` that holds this value."""
        if len(self.operands) >= OPERANDS - 1:
            raise Untranslated(f"more than {OPERANDS - 1} operands")
        self.operands.append(value if isinstance(value, Target) else value & 0xFFFFFFFF)
        return f"op->o[{len(self.operands) - 1}]"

    def row(self, register: int, place: int | None = None) -> str:
        """Pointer to the lanes of a vector register; accumulation registers are 256 and up. `place`: indexed's bit."""
        moved = f"+indexed_row<{self.mode.wave}>(w)" if place is not None and self.indexed >> place & 1 else ""
        return f"(w->v+{self.operand(register * self.mode.wave)}{moved})"

    def sgpr(self, code: int) -> int:
        """Index in the wave's scalar state of an encoded scalar destination."""
        if self.mode.cdna:
            return code
        return NULL if code == 124 else M0 if code == 125 else code

    def uniform(self, code: int, width: int, number: str, literal: int) -> str:
        """Expression for the raw bits of a scalar operand, the same for all lanes. Raises Untranslated."""
        words = max(1, width // 32)
        c = "u32" if words == 1 else "u64"
        constant = _constant(code, width, number, literal, self.mode)
        if constant is None and (code < 128):
            index = self.sgpr(code)
            if index == NULL:
                constant = 0
            elif words > 2:
                raise Untranslated("scalar operand of more than 64 bits")
            else:
                flag, low = self.operand(0), self.operand(index)
                if words == 1:
                    return f"uniform32(w,{flag},{low})"
                return f"uniform64(w,{flag},{low},{self.operand(0)})"
        if constant is not None:
            flag, low = self.operand(1), self.operand(constant)
            if words == 1:
                return f"uniform32(w,{flag},{low})"
            return f"uniform64(w,{flag},{low},{self.operand(constant >> 32)})"
        special = {
            251: f"(u32)!vcc_of<{self.mode.wave}>(w)",
            252: f"(u32)!exec_of<{self.mode.wave}>(w)",
            253: "w->scc",
        }
        if code in special:
            return f"(({c})({special[code]}))"
        raise Untranslated(f"operand {code}")

    def flow(self, condition: str, address: int) -> str:
        """Statement that branches to a code address."""
        return f"if({condition})return op+(i32){self.operand(Target(address))};"


_FLOATS = {
    240: 0.5,
    241: -0.5,
    242: 1.0,
    243: -1.0,
    244: 2.0,
    245: -2.0,
    246: 4.0,
    247: -4.0,
    248: 0.15915494309189532,
}


def _constant(code: int, width: int, number: str, literal: int, mode: Mode) -> int | None:
    """Raw bits of an inline constant or literal as an operand of this width and number format."""
    if code == 255:
        # A 64-bit float takes its literal as its upper half; a signed 64-bit integer extends it.
        if width == 64 and number == "F64":
            return literal << 32
        if width == 64 and number == "I64" and literal >> 31:
            return literal | 0xFFFFFFFF << 32
        return literal
    if 128 <= code <= 208:
        value = code - 128 if code <= 192 else 192 - code
        return value & (1 << max(32, width)) - 1
    if code in _FLOATS:
        number_value = _FLOATS[code]
        if width == 64 and "F32" not in number:
            return int(struct.unpack("<Q", struct.pack("<d", number_value))[0])
        if number == "BF16" or "BF16" in number:
            return int(struct.unpack("<I", struct.pack("<f", number_value))[0]) >> 16
        if "F16" in number or (width == 16 and "16" in number):
            return int(struct.unpack("<H", struct.pack("<e", number_value))[0])
        return int(struct.unpack("<I", struct.pack("<f", number_value))[0])
    if code == 235:
        return SHARED_APERTURE << 32 if width == 64 else SHARED_APERTURE
    if code == 237:
        return PRIVATE_APERTURE << 32 if width == 64 else PRIVATE_APERTURE
    if code in (236, 238):
        return 0xFFFFFFFF
    return None


def literal(value: int, width: int = 32) -> Value:
    """A typed unsigned constant in emitted code."""
    return Value(f"(u{width}){value}u", "u", width, value)


def common_scalars(mode: Mode) -> dict[str, Value]:
    """Names that any text may read."""
    return {
        "SCC": Value("w->scc", "u", 1),
        "laneId": Value("((u32)l)", "u", 32),
        "WAVE64": literal(int(mode.wave == 64), 32),
        "WAVE32": literal(int(mode.wave == 32), 32),
        "WAVE_MODE.IEEE": Value(str(int(mode.ieee)), "u", 1),
        "MODE.IEEE": Value(str(int(mode.ieee)), "u", 1),
        "WAVE_MODE.DX10_CLAMP": Value(str(int(mode.dx10_clamp)), "u", 1),
        "M0": Value(f"w->s[{M0}]", "u", 32),
    }


@dataclass(frozen=True)
class Context:
    """What a translator of one instruction is given."""

    mode: Mode
    instruction: Instruction
    address: int
    form: Form = field(repr=False)

    @property
    def next(self) -> int:
        return self.address + self.instruction.size

    def raw(self, name: str, default: int = 0) -> int:
        """A field of the encoding; the default where the encoding has none."""
        return self.instruction.fields.get(name, default)

    def first(self, *names: str) -> int:
        """The first of these fields that the encoding has. Raises Untranslated."""
        for name in names:
            if name in self.instruction.fields:
                return self.instruction.fields[name]
        raise Untranslated(f"{self.instruction.encoding} has no field {names[0]}")

    def step(self, text: str, how: str, **more: object) -> Step:
        """The step whose form runs `text` after what the form needs before it, and goes on with the next op."""
        body = f"constexpr int W={self.mode.wave};(void)W;" + "".join(self.form.before) + text
        operands = [*self.form.operands]
        return Step(
            self.address,
            self.instruction.size,
            self.instruction.encoding,
            self.instruction.name,
            body,
            operands,
            how=how,
            **more,  # type: ignore[arg-type]
        )


Translator = Callable[[Context], Step]

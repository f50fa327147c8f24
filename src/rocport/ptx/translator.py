"""One asm statement on its way to C++: its operands, its registers, and the lines that are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rocport.ptx.headers import COMPAT, FP16, HALF
from rocport.ptx.parse import Asm, Instruction, Registers, Scope, Unknown, parse_ptx
from rocport.ptx.refusals import REASONS
from rocport.ptx.registers import (
    BITS,
    C_TYPE,
    CLASS,
    NEW_REGISTER,
    PREDEFINED,
    REGISTER_TYPE,
    SPECIAL,
    SPECIAL_NOTES,
    Register,
    literal,
)

CARRY = "rocport_carry"
"""The local that holds a carry: of the statement, or of the function where statements share it."""


class Refused(Exception):
    """The statement has no translation; the message names the instruction and what to do."""


@dataclass
class Translation:
    """C++ lines, and what they need."""

    lines: list[str] = field(default_factory=list)
    headers: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    """Why the result needs a look: it differs in a documented corner, or costs more than the PTX."""
    remarks: list[str] = field(default_factory=list)
    """What the port did that nobody has to look at."""
    emulated: bool = False
    """A matrix instruction in many steps: a fallback of the source without it is as fast or faster."""
    shares_carry: bool = False
    """The carry is a local of the function around the statement."""


_SIMPLE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*\Z|\d\w*\Z")
EFFECT = re.compile(r"\+\+|--|[\w)\]>]\s*\(|(?<![=!<>])=(?!=)")


class Translator:
    def __init__(
        self, asm: Asm, expressions: Sequence[str], in_kernel: bool, one_line: bool, shared_carry: bool
    ) -> None:
        assert asm.template is not None
        self.asm = asm
        self.in_kernel = in_kernel
        self.one_line = one_line
        self.out = Translation()
        self.operands = [*asm.outputs, *asm.inputs]
        self.expressions = list(expressions)
        # A matching constraint ("0") is an input in the register of an output.
        self.tied: dict[int, str] = {}
        template = asm.template
        if asm.extended:
            template = template.replace("%%", "%")
        self.statements = parse_ptx(template)
        self.scopes: list[dict[str, Register]] = [{}]
        self.counter = 0
        self.locals = False
        self.keep = False
        self.written: set[str] = set()
        self.out.shares_carry = shared_carry
        self.carry = CARRY if shared_carry else None
        self.carry_open = False
        self.prologue: list[str] = []
        self.instruction = Instruction("", (), ())

    # ---- statements --------------------------------------------------------------------------------------------------

    def run(self) -> Translation:
        for operand in self.operands:
            letters = operand.constraint.lstrip("=+&")
            if letters.isdigit() and int(letters) < len(self.asm.outputs):
                continue
            if letters not in CLASS:
                raise Refused(f'operand constraint "{operand.constraint}" is not one of PTX\'s h, r, l, f, d, n')
        depth = [0]
        for item in self.statements:
            if isinstance(item, Scope):
                depth.append(depth[-1] + (1 if item.opens else -1))
        if min(depth) < 0 or depth[-1] != 0:
            raise Refused("a scope that several asm statements share: put it into one statement, or write C++")
        instructions = [item for item in self.statements if isinstance(item, Instruction)]
        self.locals = len(instructions) != 1 or any(not isinstance(item, Instruction) for item in self.statements)
        self.locals = self.locals or self.keep or any(item.guard for item in instructions)
        body: list[str] = []
        for statement in self.statements:
            if isinstance(statement, Unknown):
                raise Refused(f"PTX `{statement.text[:60]}` (label or directive): write this part as C++")
            if isinstance(statement, Scope):
                self._scope(statement)
            elif isinstance(statement, Registers):
                self._declare(statement)
            else:
                body += self._guarded(statement)
        if self.carry_open and not self.out.shares_carry:
            raise Refused(
                "the carry of an add.cc or sub.cc leaves this asm statement: write the sum over wider integers"
            )
        if not self.locals:
            self.out.lines = body
            return self.out
        self.out.lines = ["do {", *self._inputs(), *self.prologue, *body, *self._outputs(), "} while (0)"]
        return self.out

    def _scope(self, scope: Scope) -> None:
        if scope.opens:
            self.scopes.append({})
        elif len(self.scopes) > 1:
            self.scopes.pop()

    def _declare(self, registers: Registers) -> None:
        kind = NEW_REGISTER.get(registers.type)
        if kind is None:
            raise Refused(f".reg .{registers.type} has no C++ type here")
        for name in registers.names:
            self.counter += 1
            text = f"rocport_{re.sub(r'[^A-Za-z0-9]', '', name)}_{self.counter}"
            self.scopes[-1][name] = Register(text, kind)
            self.prologue.append(f"{REGISTER_TYPE[kind]} {text} = 0;")

    def _guarded(self, instruction: Instruction) -> list[str]:
        self.instruction = instruction
        self.emitted: list[str] = []
        known = OPCODES.get(instruction.opcode)
        if known is None:
            family = re.match(r"[a-z]+", instruction.opcode)
            reason = REASONS.get(instruction.opcode) or REASONS.get(family.group(0) if family else "")
            raise Refused(f"PTX {instruction.mnemonic}: " + (reason or "no translation; write what it computes as C++"))
        known.handler(self, instruction)
        if "ftz" in instruction.modifiers:
            tell = self.remark if "approx" in instruction.modifiers else self.note
            tell("denormals are kept, where .ftz flushes them to zero")
        if not instruction.guard:
            return self.emitted
        guard = self.register(instruction.guard).text
        negation = "!" if instruction.negated else ""
        return [f"if ({negation}{guard}) {{", *self.emitted, "}"]

    def _inputs(self) -> list[str]:
        lines = []
        for index, operand in enumerate(self.operands):
            letters = operand.constraint.lstrip("=+&")
            if letters == "n" or letters.isdigit():
                continue
            output = index < len(self.asm.outputs)
            type_ = REGISTER_TYPE[CLASS[letters]]
            name = f"rocport_{'out' if output else 'in'}{index}"
            if not output:
                const = "" if name in self.written else "const "
                lines.append(f"{const}{type_} {name} = ({type_})({self.expressions[index]});")
            elif "+" in operand.constraint:
                if EFFECT.search(self.expressions[index]):
                    lines.append(f"auto& {name}_at = {self.expressions[index]};")
                    self.expressions[index] = f"{name}_at"
                lines.append(f"{type_} {name} = ({type_})({self.expressions[index]});")
            else:
                tied = next((at for at, other in enumerate(self.operands) if other.constraint == str(index)), None)
                value = f"({type_})({self.expressions[tied]})" if tied is not None else "0"
                lines.append(f"{type_} {name} = {value};")
        return lines

    def _outputs(self) -> list[str]:
        return [f"{self.expressions[index]} = rocport_out{index};" for index in range(len(self.asm.outputs))]

    # ---- operands ----------------------------------------------------------------------------------------------------

    def refuse(self, why: str) -> Refused:
        return Refused(f"PTX {self.instruction.mnemonic}: {why}")

    def need(self, header: str) -> None:
        self.out.headers.add(header)

    def note(self, text: str) -> None:
        if text not in self.out.notes:
            self.out.notes.append(text)

    def remark(self, text: str) -> None:
        if text not in self.out.remarks:
            self.out.remarks.append(text)

    def emit(self, line: str) -> None:
        self.emitted.append(line)

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"rocport_{stem}_{self.counter}"

    def _index(self, text: str) -> int | None:
        if re.fullmatch(r"%\d+", text):
            index = int(text[1:])
        else:
            named = re.fullmatch(r"%\[(\w+)\]", text)
            if not named:
                return None
            matches = [at for at, operand in enumerate(self.operands) if operand.name == named.group(1)]
            if not matches:
                raise self.refuse(f"operand {text} is not given")
            index = matches[0]
        if index >= len(self.operands):
            raise self.refuse(f"operand {text} is not given")
        return index

    def register(self, text: str) -> Register:
        """The register or constant an operand names; a vector of one is its element."""
        if text.startswith("{") and text.endswith("}") and "," not in text:
            text = text[1:-1].strip()
        index = self._index(text)
        if index is not None:
            return self._operand(index)
        for scope in reversed(self.scopes):
            if text in scope:
                return scope[text]
        if text in SPECIAL:
            kind, expression, header = SPECIAL[text]
            if header:
                self.need(header)
            if text in SPECIAL_NOTES:
                self.note(f"{text[1:]} here is {SPECIAL_NOTES[text]}")
            return Register(expression, kind)
        if text == "WARP_SZ":
            return Register("32", "imm")
        constant = literal(text)
        if constant is not None:
            return constant
        if PREDEFINED.match(text):
            raise self.refuse(f"special register {text} has no counterpart on AMD GPUs")
        if text.startswith("%"):
            raise self.refuse(f"register {text} is declared in another asm statement")
        raise self.refuse(f"operand `{text}` is not understood")

    def _operand(self, index: int) -> Register:
        letters = self.operands[index].constraint.lstrip("=+&")
        if letters.isdigit():
            return self._operand(int(letters))
        kind = CLASS[letters]
        if kind == "imm" or not self.locals:
            text = self.expressions[index]
            return Register(text if _SIMPLE.match(text) else f"({text})", kind)
        return Register(f"rocport_{'out' if index < len(self.asm.outputs) else 'in'}{index}", kind)

    def read(self, text: str, type_: str) -> str:
        """An operand as a C++ expression of a PTX type."""
        negated = text.startswith("!")
        register = self.register(text[1:].strip() if negated else text)
        if type_ == "pred":
            value = register.text if register.kind == "pred" else f"({register.text} != 0)"
            return f"!{value}" if negated else value
        return self.convert(register, type_)

    def convert(self, register: Register, type_: str) -> str:
        wanted = C_TYPE[type_]
        kind = register.kind
        if kind == "pred":
            return f"({wanted})({register.text})"
        if kind == "imm":
            if type_ in ("f16", "bf16", "f16x2", "bf16x2"):
                bits = "unsigned short" if type_ in ("f16", "bf16") else "unsigned"
                return self.bits(wanted, f"({bits})({register.text})")
            return f"({wanted})({register.text})"
        own = REGISTER_TYPE[kind]
        floating = type_ in ("f32", "f64")
        if kind in ("f32", "f64"):
            if type_ == kind:
                return register.text if self.locals else f"({own})({register.text})"
            if floating:
                raise self.refuse(f"a .{type_} operand in a .{kind} register")
            size = BITS[kind]
            return self.bits(wanted, f"({own})({register.text})", size)
        if floating or type_ in ("f16", "bf16", "f16x2", "bf16x2"):
            return self.bits(wanted, f"({own})({register.text})")
        return f"({wanted})({register.text})"

    def bits(self, wanted: str, value: str, size: int = 0) -> str:
        """The same bits as another type."""
        self.need(COMPAT)
        if wanted.startswith("__half"):
            self.need(FP16)
        if wanted.startswith("__hip_bfloat"):
            self.need("rocport_bf16.h")
        return f"rocport::bit_cast<{wanted}>({value})"

    def write(self, text: str, type_: str, value: str) -> None:
        """Assign a C++ value of a PTX type to a destination operand."""
        if text == "_":
            self.emit(f"(void)({value});")
            return
        register = self.register(text)
        self.written.add(register.text)
        if register.text.startswith("rocport_in"):
            self.note("an input operand is written; CUDA leaves open whether its variable changes, here it does not")
        kind = register.kind
        if kind == "imm":
            raise self.refuse(f"destination `{text}` is not a register")
        if kind == "pred" or type_ == "pred":
            self.emit(f"{register.text} = {value};")
        elif kind in ("f32", "f64"):
            if type_ != kind:
                whole = {"f32": "unsigned", "f64": "unsigned long long"}[kind]
                if type_ in ("f16x2", "bf16x2"):
                    value = self.bits("unsigned", value)
                value = self.bits(REGISTER_TYPE[kind], f"({whole})({value})")
            self.emit(f"{register.text} = {value};")
        else:
            own = REGISTER_TYPE[kind]
            if type_ in ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2"):
                bits = {
                    "f32": "unsigned",
                    "f64": "unsigned long long",
                    "f16": "unsigned short",
                    "bf16": "unsigned short",
                }
                value = self.bits(bits.get(type_, "unsigned"), value)
            # In a local register the bits are kept whatever the sign; a user's variable converts by itself.
            if self.locals:
                value = f"({own})({value})"
            self.emit(f"{register.text} = {value};")

    def half(self) -> None:
        self.need(HALF)

    def vector(self, text: str) -> list[str]:
        """The parts of `{a, b}`; a scalar is one part."""
        if text.startswith("{") and text.endswith("}"):
            return [part.strip() for part in text[1:-1].split(",")]
        return [text]

    def address(self, text: str, space: str, pointee: str, const: bool = False) -> str:
        """`[register+offset]` as a C++ pointer."""
        match = re.fullmatch(r"\[\s*(%\[\w+\]|[%\w$.]+)\s*(?:\+\s*(-?\w+|%\d+)\s*)?\]", text)
        if match is None:
            raise self.refuse(f"address {text} is not understood")
        register = self.register(match.group(1))
        offset = match.group(2)
        pointer = f"{'const ' if const else ''}{pointee}*"
        if space == "shared":
            self.need(COMPAT)
            address = f"(unsigned)({register.text})"
            if offset:
                address += f" + {self.read(offset, 'u32')}"
            return f"rocport::shared_pointer<{'const ' if const else ''}{pointee}>({address})"
        if register.kind != "b64":
            raise self.refuse(f"a 32-bit address outside shared memory ({text})")
        if offset:
            return f"({pointer})((unsigned long long)({register.text}) + {self.read(offset, 'u64')})"
        return f"({pointer})({register.text})"


Handler = Callable[[Translator, Instruction], None]


@dataclass(frozen=True)
class Opcode:
    """One opcode: what writes its C++, and asm statements with it that are translated."""

    handler: Handler
    examples: tuple[str, ...]


OPCODES: dict[str, Opcode] = {}


def opcode(*names: str, examples: tuple[str, ...]) -> Callable[[Handler], Handler]:
    """Make a function the translation of the opcodes."""

    def register(handler: Handler) -> Handler:
        for name in names:
            OPCODES[name] = Opcode(handler, examples)
        return handler

    return register

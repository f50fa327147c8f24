"""PTX instructions as C++: one function for each opcode, found by its name in a table.
A translation computes what the PTX ISA says of the instruction, on any AMD target. What has no counterpart raises
`Refused` with the reason; nothing is guessed. The semantics are those of the PTX ISA, version 8.5 (section numbers
there).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rocport.syntax.ptx import Asm, Instruction, Registers, Scope, Unknown, parse_ptx

WARP = "rocport_warp.h"
COMPAT = "rocport_compat.h"
HALF = "rocport_half.h"
FP8 = "rocport_fp8.h"
MMA = "rocport_mma.h"
FP16 = "<hip/hip_fp16.h>"


class Refused(Exception):
    """The statement has no translation; the message names the instruction and what to do."""


@dataclass
class Translation:
    """C++ lines, and what they need."""

    lines: list[str] = field(default_factory=list)
    headers: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    """Why the result needs a look: it differs in a documented corner, or costs more than the PTX."""
    emulated: bool = False
    """A matrix instruction in many steps: a fallback of the source without it is as fast or faster."""


C_TYPE = {
    "s8": "signed char", "u8": "unsigned char", "b8": "unsigned char",
    "s16": "short", "u16": "unsigned short", "b16": "unsigned short",
    "s32": "int", "u32": "unsigned", "b32": "unsigned",
    "s64": "long long", "u64": "unsigned long long", "b64": "unsigned long long",
    "f32": "float", "f64": "double",
    "f16": "__half", "f16x2": "__half2", "bf16": "__hip_bfloat16", "bf16x2": "__hip_bfloat162",
    "pred": "bool",
}  # fmt: skip
_VECTOR = {
    "s8": "char", "u8": "uchar", "b8": "uchar", "s16": "short", "u16": "ushort", "b16": "ushort", "f16": "ushort",
    "bf16": "ushort", "s32": "int", "u32": "uint", "b32": "uint", "f16x2": "uint", "bf16x2": "uint", "s64": "longlong",
    "u64": "ulonglong", "b64": "ulonglong", "f32": "float", "f64": "double",
}  # fmt: skip
_CLASS = {"h": "b16", "r": "b32", "l": "b64", "f": "f32", "d": "f64", "n": "imm"}
_BITS = {"b16": 16, "b32": 32, "b64": 64, "f32": 32, "f64": 64, "pred": 1}
_NEW_REGISTER = {
    "pred": "pred", "b16": "b16", "u16": "b16", "s16": "b16", "f16": "b16", "bf16": "b16", "b8": "b16", "u8": "b16",
    "s8": "b16", "b32": "b32", "u32": "b32", "s32": "b32", "f16x2": "b32", "bf16x2": "b32", "b64": "b64", "u64": "b64",
    "s64": "b64", "f32": "f32", "f64": "f64",
}  # fmt: skip
_REGISTER_TYPE = {
    "b16": "unsigned short", "b32": "unsigned", "b64": "unsigned long long", "f32": "float", "f64": "double",
    "pred": "bool",
}  # fmt: skip

_SPECIAL: dict[str, tuple[str, str, str]] = {
    **{f"%tid.{axis}": ("b32", f"threadIdx.{axis}", "") for axis in "xyz"},
    **{f"%ntid.{axis}": ("b32", f"blockDim.{axis}", "") for axis in "xyz"},
    **{f"%ctaid.{axis}": ("b32", f"blockIdx.{axis}", "") for axis in "xyz"},
    **{f"%nctaid.{axis}": ("b32", f"gridDim.{axis}", "") for axis in "xyz"},
    **{f"%lanemask_{kind}": ("b32", f"rocport::lanemask_{kind}()", WARP) for kind in ("eq", "lt", "le", "gt", "ge")},
    "%laneid": ("b32", "rocport::lane_id()", WARP),
    "%warpid": ("b32", "rocport::warp_id()", WARP),
    "%nwarpid": ("b32", "rocport::warps_per_block()", WARP),
    "%smid": ("b32", "__smid()", ""),
    "%clock": ("b32", "static_cast<unsigned>(clock64())", ""),
    "%clock_hi": ("b32", "static_cast<unsigned>(static_cast<unsigned long long>(clock64()) >> 32)", ""),
    "%clock64": ("b64", "static_cast<unsigned long long>(clock64())", ""),
    "%globaltimer": ("b64", "rocport::globaltimer()", COMPAT),
    "%globaltimer_lo": ("b32", "static_cast<unsigned>(rocport::globaltimer())", COMPAT),
    "%globaltimer_hi": ("b32", "static_cast<unsigned>(rocport::globaltimer() >> 32)", COMPAT),
}
_SPECIAL_NOTES = {
    "%warpid": "the warp's number in its block (PTX lets %warpid change over time)",
    "%nwarpid": "the warps of the block",
    "%smid": "the compute unit's id within the device, not dense as %smid is",
    "%clock": "counts cycles of a shader clock",
    "%clock_hi": "counts cycles of a shader clock",
    "%clock64": "counts cycles of a shader clock",
    "%globaltimer": "counts in steps of 10 ns on the 100 MHz clock of AMD GPUs",
    "%globaltimer_lo": "counts in steps of 10 ns on the 100 MHz clock of AMD GPUs",
    "%globaltimer_hi": "counts in steps of 10 ns on the 100 MHz clock of AMD GPUs",
}
_SIMPLE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*\Z|\d\w*\Z")

REASONS = {
    "mma": "tensor-core instruction: use rocWMMA, or Composable Kernel for whole GEMMs",
    "wmma": "tensor-core instruction: use rocWMMA",
    "wgmma": "Hopper tensor-core instruction: use Composable Kernel (CK-Tile) or rocWMMA",
    "tcgen05": "Blackwell tensor-core instruction: use Composable Kernel (CK-Tile) or rocWMMA",
    "mbarrier": "asynchronous barrier in shared memory: AMD GPUs have none; use __syncthreads around plain copies",
    "elect": "elects a lane: write `rocport::lane_id() == 0` where lane 0 is active",
    "setmaxnreg": "moves registers between warps: AMD GPUs cannot; drop it with the warp specialization around it",
    "tensormap": "TMA descriptor: AMD GPUs have no TMA; copy with plain loads",
    "mapa": "address in another block of a cluster: AMD GPUs have no thread-block clusters",
    "bra": "branch to a label: write it as C++ control flow",
    "call": "PTX function call: call the C++ function",
    "tex": "texture fetch: use tex1D/tex2D/tex3D on a texture object",
    "suld": "surface load: use surf2Dread",
    "sust": "surface store: use surf2Dwrite",
    "alloca": "stack allocation: use a local array",
}


def translate(asm: Asm, expressions: Sequence[str], in_kernel: bool, one_line: bool) -> Translation:
    """C++ for an asm statement. `expressions` are the operands as written, outputs first. Raises Refused."""
    if asm.template is None:
        raise Refused("the template of this asm statement is put together by macros: rocport cannot read it")
    translator = _Translator(asm, expressions, in_kernel, one_line)
    result = translator.run()
    if not translator.locals and _again(translator.expressions, result.lines):
        # PTX reads each operand once, and so does C++ through a local.
        translator = _Translator(asm, expressions, in_kernel, one_line)
        translator.keep = True
        result = translator.run()
    return result


_EFFECT = re.compile(r"\+\+|--|[\w)\]>]\s*\(|(?<![=!<>])=(?!=)")


def _again(expressions: Sequence[str], lines: Sequence[str]) -> bool:
    """True when an operand with an effect of its own is not written exactly once."""
    text = " ".join(lines)
    return any(_EFFECT.search(item) and text.count(item) != expressions.count(item) for item in expressions)


@dataclass(frozen=True)
class _Register:
    """Where a value lives: a C++ lvalue or expression and its register class."""

    text: str
    kind: str


class _Translator:
    def __init__(self, asm: Asm, expressions: Sequence[str], in_kernel: bool, one_line: bool) -> None:
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
        self.scopes: list[dict[str, _Register]] = [{}]
        self.counter = 0
        self.locals = False
        self.keep = False
        self.carry: str | None = None
        self.carry_open = False
        self.prologue: list[str] = []
        self.instruction = Instruction("", (), ())

    # ---- statements --------------------------------------------------------------------------------------------------

    def run(self) -> Translation:
        for operand in self.operands:
            letters = operand.constraint.lstrip("=+&")
            if letters.isdigit() and int(letters) < len(self.asm.outputs):
                continue
            if letters not in _CLASS:
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
        if self.carry_open:
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
        kind = _NEW_REGISTER.get(registers.type)
        if kind is None:
            raise Refused(f".reg .{registers.type} has no C++ type here")
        for name in registers.names:
            self.counter += 1
            text = f"rocport_{re.sub(r'[^A-Za-z0-9]', '', name)}_{self.counter}"
            self.scopes[-1][name] = _Register(text, kind)
            self.prologue.append(f"{_REGISTER_TYPE[kind]} {text} = 0;")

    def _guarded(self, instruction: Instruction) -> list[str]:
        self.instruction = instruction
        self.emitted: list[str] = []
        handler = HANDLERS.get(instruction.opcode)
        if handler is None:
            family = re.match(r"[a-z]+", instruction.opcode)
            reason = REASONS.get(instruction.opcode) or REASONS.get(family.group(0) if family else "")
            raise Refused(f"PTX {instruction.mnemonic}: " + (reason or "no translation; write what it computes as C++"))
        handler(self, instruction)
        if "ftz" in instruction.modifiers:
            self.note("denormals are kept, where .ftz flushes them to zero")
        if not instruction.guard:
            return self.emitted
        guard = self._register(instruction.guard).text
        negation = "!" if instruction.negated else ""
        return [f"if ({negation}{guard}) {{", *self.emitted, "}"]

    def _inputs(self) -> list[str]:
        lines = []
        for index, operand in enumerate(self.operands):
            letters = operand.constraint.lstrip("=+&")
            if letters == "n" or letters.isdigit():
                continue
            output = index < len(self.asm.outputs)
            type_ = _REGISTER_TYPE[_CLASS[letters]]
            name = f"rocport_{'out' if output else 'in'}{index}"
            if not output:
                lines.append(f"const {type_} {name} = ({type_})({self.expressions[index]});")
            elif "+" in operand.constraint:
                if _EFFECT.search(self.expressions[index]):
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

    def _register(self, text: str) -> _Register:
        """The register or constant an operand names; a vector of one is its element."""
        if text.startswith("{") and text.endswith("}") and "," not in text:
            text = text[1:-1].strip()
        index = self._index(text)
        if index is not None:
            return self._operand(index)
        for scope in reversed(self.scopes):
            if text in scope:
                return scope[text]
        if text in _SPECIAL:
            kind, expression, header = _SPECIAL[text]
            if header:
                self.need(header)
            if text in _SPECIAL_NOTES:
                self.note(f"{text[1:]} here is {_SPECIAL_NOTES[text]}")
            return _Register(expression, kind)
        if text == "WARP_SZ":
            return _Register("32", "imm")
        literal = _literal(text)
        if literal is not None:
            return literal
        if text.startswith("%"):
            raise self.refuse(f"special register {text} has no counterpart on AMD GPUs")
        raise self.refuse(f"operand `{text}` is not understood")

    def _operand(self, index: int) -> _Register:
        letters = self.operands[index].constraint.lstrip("=+&")
        if letters.isdigit():
            return self._operand(int(letters))
        kind = _CLASS[letters]
        if kind == "imm" or not self.locals:
            text = self.expressions[index]
            return _Register(text if _SIMPLE.match(text) else f"({text})", kind)
        return _Register(f"rocport_{'out' if index < len(self.asm.outputs) else 'in'}{index}", kind)

    def read(self, text: str, type_: str) -> str:
        """An operand as a C++ expression of a PTX type."""
        negated = text.startswith("!")
        register = self._register(text[1:].strip() if negated else text)
        if type_ == "pred":
            value = register.text if register.kind == "pred" else f"({register.text} != 0)"
            return f"!{value}" if negated else value
        return self.convert(register, type_)

    def convert(self, register: _Register, type_: str) -> str:
        wanted = C_TYPE[type_]
        kind = register.kind
        if kind == "pred":
            return f"({wanted})({register.text})"
        if kind == "imm":
            if type_ in ("f16", "bf16", "f16x2", "bf16x2"):
                bits = "unsigned short" if type_ in ("f16", "bf16") else "unsigned"
                return self.bits(wanted, f"({bits})({register.text})")
            return f"({wanted})({register.text})"
        own = _REGISTER_TYPE[kind]
        floating = type_ in ("f32", "f64")
        if kind in ("f32", "f64"):
            if type_ == kind:
                return register.text if self.locals else f"({own})({register.text})"
            if floating:
                raise self.refuse(f"a .{type_} operand in a .{kind} register")
            size = _BITS[kind]
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
            self.need("<hip/hip_bf16.h>")
        return f"rocport::bit_cast<{wanted}>({value})"

    def write(self, text: str, type_: str, value: str) -> None:
        """Assign a C++ value of a PTX type to a destination operand."""
        if text == "_":
            self.emit(f"(void)({value});")
            return
        register = self._register(text)
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
                value = self.bits(_REGISTER_TYPE[kind], f"({whole})({value})")
            self.emit(f"{register.text} = {value};")
        else:
            own = _REGISTER_TYPE[kind]
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
        register = self._register(match.group(1))
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


def _literal(text: str) -> _Register | None:
    if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uU]?", text):
        return _Register(text, "imm")
    single = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text)
    if single:
        return _Register(f"__uint_as_float(0x{single.group(1)}u)", "f32")
    double = re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", text)
    if double:
        return _Register(f"__longlong_as_double(0x{double.group(1)}ll)", "f64")
    if re.fullmatch(r"-?\d+\.\d*(?:[eE][+-]?\d+)?", text):
        return _Register(text, "imm")
    return None


# ---- Instructions ----------------------------------------------------------------------------------------------------

Handler = Callable[[_Translator, Instruction], None]
HANDLERS: dict[str, Handler] = {}

_TYPES = frozenset(C_TYPE) - {"pred"}
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_SUFFIX = {"rz": "rz", "rm": "rd", "rp": "ru", "rn": "rn"}


def _handles(*opcodes: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for opcode in opcodes:
            HANDLERS[opcode] = handler
        return handler

    return register


def _type(t: _Translator, i: Instruction, allowed: str = "") -> str:
    """The last type modifier of an instruction."""
    types = [part for part in i.modifiers if part in _TYPES or part == "pred"]
    if not types or (allowed and types[-1] not in allowed.split()):
        raise t.refuse("this type is not translated")
    return types[-1]


def _count(t: _Translator, i: Instruction, *counts: int) -> None:
    if len(i.operands) not in counts:
        raise t.refuse(f"{len(i.operands)} operands where {' or '.join(map(str, counts))} are expected")


def _only(t: _Translator, i: Instruction, *known: str) -> None:
    """Refuse modifiers that the handler does not look at."""
    for part in i.modifiers:
        if part not in known and part not in _TYPES and part not in ("ftz", "aligned"):
            raise t.refuse(f"the modifier .{part} is not translated")


def _rounding(i: Instruction) -> str:
    return next((part for part in i.modifiers if part in _ROUNDINGS), "")


@_handles("mov")
def _mov(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    _only(t, i, "pred")
    type_ = _type(t, i)
    to, source = i.operands
    if to.startswith("{") and "," in to:
        parts = t.vector(to)
        bits = {"b16": 16, "b32": 32, "b64": 64}.get(type_)
        if bits is None or bits // len(parts) < 16:
            raise t.refuse("this unpacking is not translated")
        each = bits // len(parts)
        value = t.fresh("value")
        t.emit(f"const {C_TYPE[type_]} {value} = {t.read(source, type_)};")
        for number, part in enumerate(parts):
            if part != "_":
                shifted = f"{value} >> {each * number}" if number else value
                t.write(part, f"b{each}", f"({C_TYPE[f'b{each}']})({shifted})")
        _block(t)
        return
    if source.startswith("{") and "," in source:
        parts = t.vector(source)
        bits = {"b16": 16, "b32": 32, "b64": 64}.get(type_)
        if bits is None or bits // len(parts) < 16:
            raise t.refuse("this packing is not translated")
        each = bits // len(parts)
        pieces = []
        for number, part in enumerate(parts):
            value = f"({C_TYPE[type_]}){t.read(part, f'b{each}')}"
            pieces.append(f"({value} << {each * number})" if number else value)
        t.write(to, type_, " | ".join(pieces))
        return
    if type_ == "pred":
        t.write(to, "pred", t.read(source, "pred"))
        return
    t.write(to, type_, t.read(source, type_))


def _block(t: _Translator) -> None:
    """Several lines that declare a name become one block."""
    if not t.locals:
        t.emitted[:] = ["do {", *t.emitted, "} while (0)"]


_SYMBOL = {"add": "+", "sub": "-", "mul": "*"}
_PACKED = {"add": "__hadd2", "sub": "__hsub2", "mul": "__hmul2", "fma": "__hfma2"}
_SCALAR = {"add": "__hadd", "sub": "__hsub", "mul": "__hmul", "fma": "__hfma"}


def _rounded(t: _Translator, name: str, rounding: str, type_: str, arguments: Sequence[str]) -> str:
    """A float operation that is never contracted, in a rounding mode."""
    prefix = "__f" if type_ == "f32" else "__d"
    stem = prefix + name
    if name == "fma":
        stem = "__fmaf" if type_ == "f32" else "__fma"
    call = f"{stem}_{_SUFFIX[rounding]}"
    if rounding != "rn":
        t.need(COMPAT)
        call = f"rocport::{call.lstrip('_')}"
    return f"{call}({', '.join(arguments)})"


@_handles("add", "sub", "mul")
def _arithmetic(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    type_ = _type(t, i)
    if i.opcode != "mul" and "cc" in i.modifiers:
        _carry(t, i)
        return
    to, a, b = i.operands
    if type_ in ("f32", "f64"):
        _only(t, i, *_ROUNDINGS, "sat")
        left, right = t.read(a, type_), t.read(b, type_)
        rounding = _rounding(i)
        value = (
            _rounded(t, i.opcode, rounding, type_, (left, right)) if rounding else f"{left} {_SYMBOL[i.opcode]} {right}"
        )
        if "sat" in i.modifiers:
            value = f"__saturatef({value})"
        t.write(to, type_, value)
        return
    if type_ in ("f16", "bf16", "f16x2", "bf16x2"):
        _only(t, i, "rn")
        t.half()
        name = (_PACKED if type_.endswith("x2") else _SCALAR)[i.opcode]
        t.write(to, type_, f"{name}({t.read(a, type_)}, {t.read(b, type_)})")
        return
    if i.opcode == "mul":
        _multiply(t, i, type_)
        return
    _only(t, i, "sat")
    if "sat" in i.modifiers:
        if type_ != "s32":
            raise t.refuse("saturation of this type is not translated")
        t.need(COMPAT)
        t.write(to, type_, f"rocport::{i.opcode}_sat({t.read(a, type_)}, {t.read(b, type_)})")
        return
    unsigned = type_.replace("s", "u").replace("b", "u")
    value = f"({C_TYPE[type_]})({t.read(a, unsigned)} {_SYMBOL[i.opcode]} {t.read(b, unsigned)})"
    t.write(to, type_, value)


def _multiply(t: _Translator, i: Instruction, type_: str) -> None:
    _only(t, i, "lo", "hi", "wide")
    to, a, b = i.operands
    t.write(to, *_product(t, i, type_, a, b))


def _product(t: _Translator, i: Instruction, type_: str, a: str, b: str) -> tuple[str, str]:
    """Type and value of mul.lo, mul.hi or mul.wide."""
    if type_ not in ("s16", "u16", "s32", "u32", "s64", "u64"):
        raise t.refuse("this type is not translated")
    size = int(type_[1:])
    if "wide" in i.modifiers:
        if size == 64:
            raise t.refuse("this type is not translated")
        wide = f"{type_[0]}{size * 2}"
        return wide, f"({C_TYPE[wide]}){t.read(a, type_)} * ({C_TYPE[wide]}){t.read(b, type_)}"
    if "hi" in i.modifiers:
        if size == 16:
            wide = f"{type_[0]}32"
            return type_, f"({C_TYPE[type_]})((({C_TYPE[wide]}){t.read(a, type_)} * {t.read(b, type_)}) >> 16)"
        name = {"s32": "__mulhi", "u32": "__umulhi", "s64": "__mul64hi", "u64": "__umul64hi"}[type_]
        return type_, f"{name}({t.read(a, type_)}, {t.read(b, type_)})"
    unsigned = "u" + type_[1:]
    if size == 16:
        return type_, f"({C_TYPE[type_]})((unsigned){t.read(a, unsigned)} * {t.read(b, unsigned)})"
    return type_, f"({C_TYPE[type_]})({t.read(a, unsigned)} * {t.read(b, unsigned)})"


@_handles("mad")
def _mad(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    type_ = _type(t, i)
    to, a, b, c = i.operands
    if type_ in ("f32", "f64"):
        _fma(t, i)
        return
    if "cc" in i.modifiers:
        _carry_mad(t, i)
        return
    _only(t, i, "lo", "hi", "wide")
    wide, value = _product(t, i, type_, a, b)
    t.write(to, wide, f"({C_TYPE[wide]})(({C_TYPE['u' + wide[1:]]})({value}) + {t.read(c, 'u' + wide[1:])})")


@_handles("mul24", "mad24")
def _mul24(t: _Translator, i: Instruction) -> None:
    _only(t, i, "lo")
    type_ = _type(t, i, "s32 u32")
    name = "__mul24" if type_ == "s32" else "__umul24"
    value = f"{name}({t.read(i.operands[1], type_)}, {t.read(i.operands[2], type_)})"
    if i.opcode == "mad24":
        _count(t, i, 4)
        value += f" + {t.read(i.operands[3], type_)}"
    t.write(i.operands[0], type_, value)


@_handles("fma")
def _fma(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    type_ = _type(t, i)
    to, *rest = i.operands
    arguments = [t.read(item, type_) for item in rest]
    if type_ in ("f32", "f64"):
        _only(t, i, *_ROUNDINGS, "sat")
        value = _rounded(t, "fma", _rounding(i) or "rn", type_, arguments)
        if "sat" in i.modifiers:
            value = f"__saturatef({value})"
    elif type_ in ("f16", "bf16", "f16x2", "bf16x2"):
        _only(t, i, "rn", "relu")
        t.half()
        name = (_PACKED if type_.endswith("x2") else _SCALAR)["fma"]
        value = f"{name}({', '.join(arguments)})"
        if "relu" in i.modifiers:
            raise t.refuse("the modifier .relu is not translated")
    else:
        raise t.refuse("this type is not translated")
    t.write(to, type_, value)


def _carry(t: _Translator, i: Instruction) -> None:
    """add.cc, sub.cc: the carry or borrow lives in a local of this statement."""
    type_ = _type(t, i, "u32 s32 b32 u64 s64 b64")
    to, a, b = i.operands
    unsigned = "u" + type_[1:]
    incoming = "0u"
    if i.opcode in ("addc", "subc"):
        if t.carry is None:
            raise t.refuse("its carry comes from another asm statement: write the sum over wider integers")
        incoming = t.carry
        t.carry_open = False
    t.need(COMPAT)
    name = "add_carry" if i.opcode.startswith("add") else "sub_borrow"
    if "cc" in i.modifiers:
        if t.carry is None:
            t.locals = True
            t.carry = "rocport_carry"
            t.prologue.append("unsigned rocport_carry = 0;")
        t.carry_open = True
        t.write(to, type_, f"rocport::{name}({t.read(a, unsigned)}, {t.read(b, unsigned)}, {incoming}, &rocport_carry)")
    else:
        t.write(to, type_, f"rocport::{name}({t.read(a, unsigned)}, {t.read(b, unsigned)}, {incoming})")


@_handles("addc", "subc")
def _addc(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    _only(t, i, "cc")
    _carry(t, i)


def _carry_mad(t: _Translator, i: Instruction) -> None:
    type_ = _type(t, i, "u32 s32 u64 s64")
    to, a, b, c = i.operands
    unsigned = "u" + type_[1:]
    incoming = "0u"
    if i.opcode == "madc":
        if t.carry is None:
            raise t.refuse("its carry comes from another asm statement: write the sum over wider integers")
        incoming = t.carry
        t.carry_open = False
    _, product = _product(t, i, type_, a, b)
    arguments = f"({C_TYPE[unsigned]})({product}), {t.read(c, unsigned)}, {incoming}"
    t.need(COMPAT)
    if "cc" in i.modifiers:
        if t.carry is None:
            t.locals = True
            t.carry = "rocport_carry"
            t.prologue.append("unsigned rocport_carry = 0;")
        t.carry_open = True
        arguments += ", &rocport_carry"
    t.write(to, type_, f"rocport::add_carry({arguments})")


@_handles("madc")
def _madc(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    _only(t, i, "cc", "lo", "hi")
    _carry_mad(t, i)


@_handles("div")
def _div(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    _only(t, i, *_ROUNDINGS, "approx", "full")
    type_ = _type(t, i)
    to, a, b = i.operands
    left, right = t.read(a, type_), t.read(b, type_)
    if type_ in ("f32", "f64"):
        rounding = _rounding(i)
        if rounding:
            t.write(to, type_, _rounded(t, "div", rounding, type_, (left, right)))
        elif type_ == "f32":
            t.write(to, type_, f"__fdividef({left}, {right})")
        else:
            raise t.refuse("this type is not translated")
        return
    if type_ not in ("s32", "u32", "s64", "u64", "s16", "u16"):
        raise t.refuse("this type is not translated")
    t.write(to, type_, f"({C_TYPE[type_]})({left} / {right})")


@_handles("rem")
def _rem(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    _only(t, i)
    type_ = _type(t, i, "s32 u32 s64 u64 s16 u16")
    to, a, b = i.operands
    t.write(to, type_, f"({C_TYPE[type_]})({t.read(a, type_)} % {t.read(b, type_)})")


@_handles("rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh")
def _unary_float(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    _only(t, i, *_ROUNDINGS, "approx")
    type_ = _type(t, i)
    to, a = i.operands
    value = t.read(a, type_)
    rounding = _rounding(i)
    if rounding and i.opcode in ("rcp", "sqrt") and type_ in ("f32", "f64"):
        t.write(to, type_, _rounded(t, i.opcode, rounding, type_, (value,)))
        return
    if type_ == "f32":
        name = {"rcp": "__frcp_rn", "sqrt": "__fsqrt_rn", "rsqrt": "rsqrtf", "sin": "__sinf", "cos": "__cosf",
                "ex2": "exp2f", "lg2": "__log2f", "tanh": "tanhf"}[i.opcode]  # fmt: skip
    elif type_ == "f64" and i.opcode in ("rsqrt", "rcp"):
        name = {"rsqrt": "rsqrt", "rcp": "__drcp_rn"}[i.opcode]
    elif type_ in ("f16", "f16x2", "bf16", "bf16x2") and i.opcode in ("ex2", "tanh"):
        t.half()
        wide = "2" if type_.endswith("x2") else ""
        name = {"ex2": f"h{wide}exp2", "tanh": f"rocport::h{wide}tanh"}[i.opcode]
    else:
        raise t.refuse("this type is not translated")
    t.write(to, type_, f"{name}({value})")


@_handles("abs", "neg")
def _abs(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    _only(t, i)
    type_ = _type(t, i)
    value = t.read(i.operands[1], type_)
    if type_ in ("f32", "f64"):
        name = "fabsf" if type_ == "f32" else "fabs"
        result = f"{name}({value})" if i.opcode == "abs" else f"-{value}"
    elif type_ in ("f16", "bf16", "f16x2", "bf16x2"):
        t.half()
        result = f"__h{i.opcode}{'2' if type_.endswith('x2') else ''}({value})"
    elif type_ in ("s16", "s32", "s64"):
        unsigned = C_TYPE["u" + type_[1:]]
        minus = f"({C_TYPE[type_]})(0 - ({unsigned}){value})"
        result = minus if i.opcode == "neg" else f"({value} < 0 ? {minus} : {value})"
    else:
        raise t.refuse("this type is not translated")
    t.write(i.operands[0], type_, result)


@_handles("min", "max")
def _minmax(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3, 4)
    _only(t, i, "NaN")
    type_ = _type(t, i)
    values = [t.read(item, type_) for item in i.operands[1:]]
    if type_ in ("f32", "f64"):
        if "NaN" in i.modifiers:
            t.need(COMPAT)
            name = f"rocport::f{i.opcode}_nan"
        else:
            name = f"f{i.opcode}{'f' if type_ == 'f32' else ''}"
        result = f"{name}({values[0]}, {values[1]})"
        if len(values) == 3:
            result = f"{name}({result}, {values[2]})"
    elif type_ in ("f16", "bf16", "f16x2", "bf16x2") and len(values) == 2:
        t.half()
        suffix = "2" if type_.endswith("x2") else ""
        result = f"rocport::h{i.opcode}{suffix}{'_nan' if 'NaN' in i.modifiers else ''}({values[0]}, {values[1]})"
    elif type_[0] in "su" and len(values) == 2 and type_ not in ("s8", "u8"):
        less = "<" if i.opcode == "min" else ">"
        result = f"({values[0]} {less} {values[1]} ? {values[0]} : {values[1]})"
    else:
        raise t.refuse("this type is not translated")
    t.write(i.operands[0], type_, result)


@_handles("copysign")
def _copysign(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    type_ = _type(t, i, "f32 f64")
    name = "copysignf" if type_ == "f32" else "copysign"
    # PTX: the sign of the first operand, the magnitude of the second.
    t.write(i.operands[0], type_, f"{name}({t.read(i.operands[2], type_)}, {t.read(i.operands[1], type_)})")


@_handles("testp")
def _testp(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    type_ = _type(t, i, "f32 f64")
    value = t.read(i.operands[1], type_)
    name = {"finite": f"isfinite({value})", "infinite": f"isinf({value})", "number": f"!isnan({value})",
            "notanumber": f"isnan({value})"}.get(i.modifiers[0])  # fmt: skip
    if name is None:
        raise t.refuse("this test is not translated")
    t.write(i.operands[0], "pred", name)


@_handles("and", "or", "xor", "not", "cnot")
def _logic(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2 if i.opcode in ("not", "cnot") else 3)
    _only(t, i, "pred")
    type_ = _type(t, i)
    values = [t.read(item, type_) for item in i.operands[1:]]
    if i.opcode == "not":
        result = f"!{values[0]}" if type_ == "pred" else f"({C_TYPE[type_]})~{values[0]}"
    elif i.opcode == "cnot":
        result = f"({C_TYPE[type_]})({values[0]} == 0)"
    else:
        symbol = {"and": "&", "or": "|", "xor": "^"}[i.opcode]
        if type_ == "pred":
            symbol = {"and": "&&", "or": "||", "xor": "!="}[i.opcode]
        result = f"{values[0]} {symbol} {values[1]}"
    t.write(i.operands[0], type_, result)


@_handles("shl", "shr")
def _shift(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    _only(t, i)
    type_ = _type(t, i)
    if type_ not in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        raise t.refuse("this type is not translated")
    to, a, b = i.operands
    size = int(type_[1:])
    value = t.read(a, type_)
    if re.fullmatch(r"\d+", b) and int(b) < size:
        t.write(to, type_, f"({C_TYPE[type_]})({value} {'<<' if i.opcode == 'shl' else '>>'} {b})")
        return
    # PTX clamps shift counts at the width, C++ leaves them undefined.
    t.need(COMPAT)
    t.write(to, type_, f"rocport::{i.opcode}_clamp({value}, {t.read(b, 'u32')})")


@_handles("shf")
def _funnel(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    _only(t, i, "l", "r", "clamp", "wrap")
    _type(t, i, "b32")
    to, low, high, count = i.operands
    name = "__funnelshift_" + ("l" if "l" in i.modifiers else "r") + ("c" if "clamp" in i.modifiers else "")
    t.write(to, "b32", f"{name}({t.read(low, 'u32')}, {t.read(high, 'u32')}, {t.read(count, 'u32')})")


@_handles("bfe", "bfi", "bfind", "bmsk", "szext", "fns")
def _fields(t: _Translator, i: Instruction) -> None:
    type_ = _type(t, i)
    if type_ not in ("u32", "s32", "b32", "u64", "s64", "b64"):
        raise t.refuse("this type is not translated")
    to, *rest = i.operands
    t.need(COMPAT)
    if i.opcode == "bfe":
        _count(t, i, 4)
        t.write(
            to, type_, f"rocport::bfe({t.read(rest[0], type_)}, {t.read(rest[1], 'u32')}, {t.read(rest[2], 'u32')})"
        )
    elif i.opcode == "bfi":
        _count(t, i, 5)
        values = (t.read(rest[0], type_), t.read(rest[1], type_), t.read(rest[2], "u32"), t.read(rest[3], "u32"))
        t.write(to, type_, f"rocport::bfi({', '.join(values)})")
    elif i.opcode == "bfind" and "shiftamt" not in i.modifiers:
        _count(t, i, 2)
        t.write(to, "u32", f"rocport::bfind({t.read(rest[0], type_)})")
    else:
        raise t.refuse("no translation; write what it computes as C++")


@_handles("brev", "popc", "clz")
def _bits(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    _only(t, i)
    type_ = _type(t, i, "b32 b64")
    name = {"brev": "__brev", "popc": "__popc", "clz": "__clz"}[i.opcode] + ("ll" if type_ == "b64" else "")
    argument = t.read(i.operands[1], type_)
    if i.opcode == "clz":
        argument = t.read(i.operands[1], "s" + type_[1:])
    t.write(i.operands[0], type_ if i.opcode == "brev" else "u32", f"{name}({argument})")


@_handles("prmt")
def _prmt(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    to, a, b, c = i.operands
    arguments = ", ".join(t.read(item, "u32") for item in (a, b, c))
    modes = [part for part in i.modifiers if part != "b32"]
    if modes and modes[0] not in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        raise t.refuse("this mode is not translated")
    t.need(COMPAT)
    t.write(to, "b32", f"rocport::prmt{'_' + modes[0] if modes else ''}({arguments})")


@_handles("lop3")
def _lop3(t: _Translator, i: Instruction) -> None:
    _count(t, i, 5)
    _only(t, i)
    _type(t, i, "b32")
    to, a, b, c, table = i.operands
    constant = t.read(table, "u32")
    t.need(COMPAT)
    values = ", ".join(t.read(item, "u32") for item in (a, b, c))
    t.write(to, "b32", f"rocport::lop3<{constant}>({values})")


@_handles("dp4a", "dp2a")
def _dot(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    types = [part for part in i.modifiers if part in ("s32", "u32")]
    if len(types) != 2:
        raise t.refuse("this type is not translated")
    to, a, b, c = i.operands
    t.need(COMPAT)
    result = "s32" if "s32" in types else "u32"
    name = "dp4a" if i.opcode == "dp4a" else f"dp2a_{'hi' if 'hi' in i.modifiers else 'lo'}"
    if types[0] != types[1]:
        raise t.refuse("operands of mixed sign are not translated")
    t.write(to, result, f"rocport::{name}({t.read(a, types[0])}, {t.read(b, types[1])}, {t.read(c, result)})")


@_handles("vabsdiff4", "vadd4", "vsub4", "vmin4", "vmax4", "vavrg4")
def _video4(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    if i.opcode == "vabsdiff4" and i.modifiers == ("u32", "u32", "u32", "add"):
        to, a, b, c = i.operands
        t.write(to, "u32", f"__sad4_u8({t.read(a, 'u32')}, {t.read(b, 'u32')}, {t.read(c, 'u32')})")
        t.emitted[-1] = t.emitted[-1].replace("__sad4_u8", "rocport::sad_u8x4")
        t.need(COMPAT)
        return
    raise t.refuse("video instruction: write what it computes as C++")


@_handles("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def _video(t: _Translator, i: Instruction) -> None:
    """Scalar video instructions over whole registers: 33 bits and a sign inside, 32 outside (PTX ISA 9.7.17)."""
    _count(t, i, 3, 4)
    types = [part for part in i.modifiers if part in _TYPES]
    second = [part for part in i.modifiers if part not in _TYPES]
    if len(types) != 3 or any(part not in ("s32", "u32") for part in types) or len(second) != len(i.operands) - 3:
        raise t.refuse("this form is not translated")
    if any(re.search(r"\.[bh][0-3]", item) for item in i.operands) or (
        second and second[0] not in ("add", "min", "max")
    ):
        raise t.refuse("this form is not translated")
    to, a, b, *c = i.operands
    x, y, z = t.fresh("a"), t.fresh("b"), t.fresh("d")
    t.emit(f"const long long {x} = {t.read(a, types[1])}, {y} = {t.read(b, types[2])};")
    whole = {"vadd": f"{x} + {y}", "vsub": f"{x} - {y}", "vabsdiff": f"{x} < {y} ? {y} - {x} : {x} - {y}",
             "vmin": f"{x} < {y} ? {x} : {y}", "vmax": f"{x} < {y} ? {y} : {x}"}[i.opcode]  # fmt: skip
    t.emit(f"const {C_TYPE[types[0]]} {z} = ({C_TYPE[types[0]]})({whole});")
    result = z
    if c:
        third = t.fresh("c")
        t.emit(f"const {C_TYPE[types[0]]} {third} = {t.read(c[0], types[0])};")
        result = {"add": f"(unsigned){z} + (unsigned){third}", "min": f"{z} < {third} ? {z} : {third}",
                  "max": f"{z} < {third} ? {third} : {z}"}[second[0]]  # fmt: skip
    t.write(to, types[0], f"({C_TYPE[types[0]]})({result})")
    _block(t)


@_handles("sad")
def _sad(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    _only(t, i)
    type_ = _type(t, i, "u32 s32")
    a, b, c = (t.read(item, type_) for item in i.operands[1:])
    name = "__usad" if type_ == "u32" else "__sad"
    t.write(i.operands[0], "u32", f"{name}({a}, {b}, (unsigned)({c}))")


@_handles("selp", "slct")
def _select(t: _Translator, i: Instruction) -> None:
    _count(t, i, 4)
    to, a, b, c = i.operands
    if i.opcode == "selp":
        type_ = _type(t, i)
        condition = t.read(c, "pred")
    else:
        types = [part for part in i.modifiers if part in _TYPES]
        if len(types) != 2:
            raise t.refuse("this type is not translated")
        type_ = types[0]
        condition = f"{t.read(c, types[1])} >= 0"
    t.write(to, type_, f"{condition} ? {t.read(a, type_)} : {t.read(b, type_)}")


_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
            "hs": ">="}  # fmt: skip


def _comparison(t: _Translator, i: Instruction, a: str, b: str) -> str:
    name = i.modifiers[0]
    type_ = _type(t, i)
    left, right = t.read(a, type_), t.read(b, type_)
    if name in _COMPARE:
        if type_ in ("f32", "f64") and name == "ne":
            # Ordered: false when either side is NaN, unlike C++'s.
            return f"({left} < {right} || {left} > {right})"
        return f"({left} {_COMPARE[name]} {right})"
    if type_ in ("f32", "f64"):
        if name == "nan":
            return f"(isnan({left}) || isnan({right}))"
        if name == "num":
            return f"!(isnan({left}) || isnan({right}))"
        opposite = {"equ": None, "neu": "==", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
        if name == "equ":
            return f"!({left} < {right} || {left} > {right})"
        if name in opposite:
            return f"!({left} {opposite[name]} {right})"
    raise t.refuse("this comparison is not translated")


@_handles("setp")
def _setp(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3, 4)
    to, a, b, *third = i.operands
    compared = _comparison(t, i, a, b)
    first, _, second = to.partition("|")
    combine = next((part for part in i.modifiers[1:] if part in ("and", "or", "xor")), None)
    if (combine is None) != (not third):
        raise t.refuse("operands do not fit the combination")
    result, opposite = compared, f"!{compared}"
    if combine:
        symbol = {"and": "&&", "or": "||", "xor": "!="}[combine]
        extra = t.read(third[0], "pred")
        result, opposite = f"({compared}) {symbol} {extra}", f"(!{compared}) {symbol} {extra}"
    if second.strip():
        t.write(second.strip(), "pred", opposite)
    t.write(first.strip(), "pred", result)


@_handles("set")
def _set(t: _Translator, i: Instruction) -> None:
    _count(t, i, 3)
    types = [part for part in i.modifiers if part in _TYPES]
    if len(types) != 2 or i.modifiers[0] not in _COMPARE or types[0] not in ("u32", "s32", "f32"):
        raise t.refuse("this comparison is not translated")
    compared = _comparison(t, Instruction("set", (i.modifiers[0], types[1]), i.operands), i.operands[1], i.operands[2])
    result = f"{compared} ? 1.0f : 0.0f" if types[0] == "f32" else f"{compared} ? 0xffffffffu : 0u"
    t.write(i.operands[0], types[0], result)


_TO_INT = {"rni": "rn", "rzi": "rz", "rmi": "rd", "rpi": "ru"}


@_handles("cvt")
def _cvt(t: _Translator, i: Instruction) -> None:
    types = [part for part in i.modifiers if part in _TYPES]
    modes = [part for part in i.modifiers if part not in _TYPES and part != "ftz"]
    if _cvt_fp8(t, i, types, modes):
        return
    if i.modifiers == ("rna", "tf32", "f32"):
        _count(t, i, 2)
        t.need(MMA)
        value = f"rocport::wmma::__float_to_tf32({t.read(i.operands[1], 'f32')})"
        t.write(i.operands[0], "b32", t.bits("unsigned", value))
        return
    if "pack" in modes or len(types) != 2:
        raise t.refuse("this conversion is not translated")
    to_type, from_type = types
    to, *rest = i.operands
    if to_type in ("f16x2", "bf16x2") and from_type == "f32" and modes == ["rn"]:
        _count(t, i, 3)
        t.half()
        # The first source goes to the upper half.
        low, high = t.read(rest[1], "f32"), t.read(rest[0], "f32")
        name = "__floats2half2_rn" if to_type == "f16x2" else "rocport::floats2bfloat162_rn"
        t.write(to, to_type, f"{name}({low}, {high})")
        return
    _count(t, i, 2)
    value = t.read(rest[0], from_type)
    t.write(to, *_converted(t, to_type, from_type, modes, value))


def _cvt_fp8(t: _Translator, i: Instruction, types: Sequence[str], modes: Sequence[str]) -> bool:
    """Conversions of pairs of fp8 numbers; True when the instruction is one."""
    kinds = [part for part in modes if part in ("e4m3x2", "e5m2x2")]
    if len(kinds) != 1:
        return False
    kind = f"rocport::{kinds[0][:4].upper()}"
    rest = [part for part in modes if part != kinds[0]]
    position = i.modifiers.index(kinds[0])
    outward = len(types) == 1 and position < i.modifiers.index(types[0])
    to, *sources = i.operands
    if outward and rest == ["rn", "satfinite"] and types[0] == "f32" and len(sources) == 2:
        # The first source goes to the upper byte.
        pair = f"make_float2({t.read(sources[1], 'f32')}, {t.read(sources[0], 'f32')})"
        t.write(to, "b16", f"rocport::cvt_float2_to_fp8x2({pair}, rocport::SATFINITE, {kind})")
    elif outward and rest == ["rn", "satfinite"] and types[0] == "f16x2" and len(sources) == 1:
        value = f"rocport::cvt_halfraw2_to_fp8x2({t.read(sources[0], 'b32')}, rocport::SATFINITE, {kind})"
        t.write(to, "b16", value)
    elif not outward and rest == ["rn"] and types == ["f16x2"] and len(sources) == 1:
        value = f"rocport::cvt_fp8x2_to_halfraw2({t.read(sources[0], 'b16')}, {kind})"
        t.write(to, "b32", t.bits("unsigned", value))
    else:
        raise t.refuse("this conversion of fp8 numbers is not translated")
    t.need(FP8)
    return True


def _converted(t: _Translator, to: str, from_: str, modes: Sequence[str], value: str) -> tuple[str, str]:
    """Type and value of a scalar cvt."""
    floats, halves = ("f32", "f64"), ("f16", "bf16")
    integers = to[0] in "su" and from_[0] in "su"
    if integers and not modes:
        return to, f"({C_TYPE[to]}){value}"
    if integers and modes == ["sat"]:
        t.need(COMPAT)
        return to, f"rocport::convert_sat<{C_TYPE[to]}>({value})"
    if from_ in floats and to in floats:
        if from_ == to and len(modes) == 1 and modes[0] in _TO_INT:
            name = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}[modes[0]]
            return to, f"{name}{'f' if to == 'f32' else ''}({value})"
        if from_ == to and modes == ["sat"] and to == "f32":
            return to, f"__saturatef({value})"
        if from_ == to and not modes:
            return to, value
        if to == "f64" and not modes:
            return to, f"(double){value}"
        if to == "f32" and len(modes) == 1 and modes[0] in _ROUNDINGS:
            return to, f"__double2float_{_SUFFIX[modes[0]]}({value})"
    if from_ in floats and to[0] in "su" and len(modes) >= 1 and modes[0] in _TO_INT and set(modes[1:]) <= {"sat"}:
        # The device conversions clamp, as PTX does; narrower integers clamp to their own range.
        wide = to if to in ("s32", "u32", "s64", "u64") else f"{to[0]}32"
        stem = {"f32": "__float2", "f64": "__double2"}[from_]
        name = stem + {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull"}[wide] + "_" + _TO_INT[modes[0]]
        if wide == to:
            return to, f"{name}({value})"
        t.need(COMPAT)
        return to, f"rocport::convert_sat<{C_TYPE[to]}>({name}({value}))"
    if from_[0] in "su" and to in floats and (len(modes) == 1 and modes[0] in _ROUNDINGS):
        if modes == ["rn"]:
            return to, f"({C_TYPE[to]}){value}"
        wide = from_ if from_ in ("s32", "u32", "s64", "u64") else f"{from_[0]}32"
        stem = {"s32": "__int2", "u32": "__uint2", "s64": "__ll2", "u64": "__ull2"}[wide]
        return to, f"{stem}{'float' if to == 'f32' else 'double'}_{_SUFFIX[modes[0]]}({value})"
    if from_[0] in "su" and to == "f64" and not modes:
        return to, f"(double){value}"
    if to in halves and from_ == "f32" and modes in (["rn"], ["rz"]):
        t.half()
        if to == "f16":
            return to, f"__float2half_{modes[0]}({value})"
        if modes == ["rn"]:
            return to, f"__float2bfloat16({value})"
    if from_ in halves and to == "f32" and not modes:
        t.half()
        return to, f"{'__half2float' if from_ == 'f16' else '__bfloat162float'}({value})"
    raise t.refuse("this conversion is not translated")


@_handles("cvta")
def _cvta(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    type_ = _type(t, i, "u32 u64")
    to, a = i.operands
    if "shared" in i.modifiers:
        t.need(COMPAT)
        if "to" in i.modifiers:
            t.write(to, type_, f"rocport::cvta_generic_to_shared((const void*)({t._register(a).text}))")
        else:
            t.write(to, type_, f"(unsigned long long)rocport::shared_pointer<char>((unsigned)({t._register(a).text}))")
        return
    if "global" in i.modifiers or "const" in i.modifiers or "param" in i.modifiers:
        t.write(to, type_, t.read(a, type_))
        return
    raise t.refuse("this state space is not translated")


@_handles("isspacep")
def _isspacep(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    space = i.modifiers[0]
    if space not in ("shared", "shared::cta", "global", "local"):
        raise t.refuse("this state space is not translated")
    name = {"shared": "is_shared", "global": "is_global", "local": "is_local"}[space.partition("::")[0]]
    t.need(COMPAT)
    t.write(i.operands[0], "pred", f"rocport::{name}((const void*)({t._register(i.operands[1]).text}))")


# ---- Memory ----------------------------------------------------------------------------------------------------------

_SPACES = {"global": "global", "shared": "shared", "shared::cta": "shared", "const": "global"}
_SCOPES = {"cta": "__HIP_MEMORY_SCOPE_WORKGROUP", "cluster": "__HIP_MEMORY_SCOPE_AGENT",
           "gpu": "__HIP_MEMORY_SCOPE_AGENT", "sys": "__HIP_MEMORY_SCOPE_SYSTEM"}  # fmt: skip
_ORDERS = {"relaxed": "__ATOMIC_RELAXED", "acquire": "__ATOMIC_ACQUIRE", "release": "__ATOMIC_RELEASE",
           "acq_rel": "__ATOMIC_ACQ_REL"}  # fmt: skip
_LOAD_HINTS = frozenset({"nc", "ca", "lu", "weak"})
_POLICY = re.compile(r"L[12]::")


def _memory(t: _Translator, i: Instruction) -> tuple[str, str, int, set[str]]:
    """State space, type, vector length and the remaining modifiers of a load or store."""
    type_ = _type(t, i)
    space, length, rest = "generic", 1, set()
    for part in i.modifiers:
        if part in _SPACES:
            space = _SPACES[part]
        elif part in ("v2", "v4"):
            length = int(part[1:])
        elif part not in _TYPES:
            rest.add(part)
    if rest & {"local", "param", "shared::cluster", "param::entry", "param::func", "mmio", "v8"}:
        raise t.refuse("this state space or vector is not translated")
    return space, type_, length, rest


def _pointee(type_: str, length: int) -> str:
    if length == 1:
        return {"f16": "unsigned short", "bf16": "unsigned short", "f16x2": "unsigned", "bf16x2": "unsigned"}.get(
            type_, C_TYPE[type_]
        )
    return f"{_VECTOR[type_]}{length}"


def _element(type_: str) -> str:
    return {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}.get(type_, type_)


def _is_poll(t: _Translator, i: Instruction, type_: str, length: int) -> bool:
    """True for a volatile scalar load that clobbers memory and asks for no cache."""
    hints = {"nc", "lu"}.intersection(i.modifiers)
    return (
        "memory" in t.asm.clobbers and length == 1 and type_ in ("b32", "u32", "s32", "b64", "u64", "s64") and not hints
    )


@_handles("ld", "ldu")
def _ld(t: _Translator, i: Instruction) -> None:
    space, type_, length, rest = _memory(t, i)
    if "L2::cache_hint" in rest:
        _count(t, i, 3)
    else:
        _count(t, i, 2)
    pointer = t.address(i.operands[1], space, _pointee(type_, length), const=True)
    rest = {part for part in rest if part not in _LOAD_HINTS}
    orders = rest & {"relaxed", "acquire", "volatile", "cv"}
    scope = next((part for part in rest if part in _SCOPES), "sys" if orders & {"volatile", "cv"} else "gpu")
    policies = {part for part in rest if _POLICY.match(part)}
    rest -= orders | policies | set(_SCOPES)
    if orders:
        t.need(COMPAT)
        order = "__ATOMIC_ACQUIRE" if "acquire" in orders else "__ATOMIC_RELAXED"
        value = f"rocport::load<{order}, {_SCOPES[scope]}>({pointer})"
    elif rest == {"cg"}:
        t.need(COMPAT)
        value = f"rocport::ldcg({pointer})"
    elif rest == {"cs"} or policies & {"L1::no_allocate", "L1::evict_first"}:
        t.need(COMPAT)
        value = f"rocport::ldcs({pointer})"
    elif not rest and _is_poll(t, i, type_, length):
        # asm volatile that clobbers memory reads each time; plain C++ may keep the value of the first time.
        t.need(COMPAT)
        value = f"rocport::load<__ATOMIC_RELAXED, {_SCOPES['cta' if space == 'shared' else 'gpu']}>({pointer})"
    elif not rest:
        value = f"*{pointer}"
    else:
        raise t.refuse(f"the modifier .{sorted(rest)[0]} is not translated")
    if length == 1:
        t.write(i.operands[0], _element(type_), value)
        return
    parts = t.vector(i.operands[0])
    if len(parts) != length:
        raise t.refuse("the vector does not fit its length")
    name = t.fresh("value")
    t.emit(f"const {_pointee(type_, length)} {name} = {value};")
    for axis, part in zip("xyzw", parts, strict=False):
        if part != "_":
            t.write(part, _element(type_), f"{name}.{axis}")
    _block(t)


@_handles("st")
def _st(t: _Translator, i: Instruction) -> None:
    space, type_, length, rest = _memory(t, i)
    _count(t, i, 3 if "L2::cache_hint" in rest else 2)
    pointee = _pointee(type_, length)
    pointer = t.address(i.operands[0], space, pointee)
    element = _element(type_)
    parts = t.vector(i.operands[1])
    if len(parts) != length:
        raise t.refuse("the vector does not fit its length")
    values = [t.read(part, element) for part in parts]
    value = values[0] if length == 1 else f"make_{pointee}({', '.join(values)})"
    orders = rest & {"relaxed", "release", "volatile", "wt"}
    scope = next((part for part in rest if part in _SCOPES), "sys" if orders & {"volatile", "wt"} else "gpu")
    policies = {part for part in rest if _POLICY.match(part)}
    rest -= orders | policies | set(_SCOPES) | {"wb", "weak"}
    if orders:
        t.need(COMPAT)
        order = "__ATOMIC_RELEASE" if "release" in orders else "__ATOMIC_RELAXED"
        t.emit(f"rocport::store<{order}, {_SCOPES[scope]}>({pointer}, {value});")
    elif rest == {"cg"}:
        t.need(COMPAT)
        t.emit(f"rocport::stcg({pointer}, {value});")
    elif rest == {"cs"} or policies & {"L1::no_allocate", "L1::evict_first"}:
        t.need(COMPAT)
        t.emit(f"rocport::stcs({pointer}, {value});")
    elif not rest:
        t.emit(f"*{pointer} = {value};")
    else:
        raise t.refuse(f"the modifier .{sorted(rest)[0]} is not translated")


@_handles("atom", "red")
def _atom(t: _Translator, i: Instruction) -> None:
    type_ = _type(t, i)
    space = next((_SPACES[part] for part in i.modifiers if part in _SPACES), "generic")
    operation = next(
        (
            part
            for part in i.modifiers
            if part in ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
        ),
        "",
    )
    known = {*_SPACES, *_SCOPES, *_ORDERS, operation, "noftz"}
    if not operation or any(part not in known and part not in _TYPES for part in i.modifiers):
        raise t.refuse("this operation is not translated")
    scope = _SCOPES[next((part for part in i.modifiers if part in _SCOPES), "gpu")]
    order = _ORDERS[next((part for part in i.modifiers if part in _ORDERS), "relaxed")]
    operands = list(i.operands)
    to = operands.pop(0) if i.opcode == "atom" else "_"
    _count(t, i, (2 if i.opcode == "red" else 3) + (operation == "cas"))
    address, *values = operands
    if type_ in ("f16", "f16x2", "bf16", "bf16x2"):
        if operation != "add" or order != "__ATOMIC_RELAXED":
            raise t.refuse("this operation is not translated")
        t.half()
        result = f"rocport::atomic_add({t.address(address, space, C_TYPE[type_])}, {t.read(values[0], type_)})"
    else:
        t.need(COMPAT)
        pointer = t.address(address, space, C_TYPE[type_])
        arguments = ", ".join([pointer, *(t.read(value, type_) for value in values)])
        result = f"rocport::atomic_{operation}<{order}, {scope}>({arguments})"
    if to == "_":
        t.emit(f"{result};")
    else:
        t.write(to, type_, result)


@_handles("membar", "fence")
def _fence(t: _Translator, i: Instruction) -> None:
    scope = next((part for part in i.modifiers if part in ("cta", "gl", "gpu", "sys", "cluster")), "")
    if not scope or any(part not in (scope, "sc", "acq_rel", "acquire", "release") for part in i.modifiers):
        raise t.refuse("this fence orders memory that AMD GPUs do not have")
    name = {"cta": "__threadfence_block", "sys": "__threadfence_system"}.get(scope, "__threadfence")
    t.emit(f"{name}();")


@_handles("prefetch", "prefetchu")
def _prefetch(t: _Translator, i: Instruction) -> None:
    _count(t, i, 1)
    t.emit(f"__builtin_prefetch({t.address(i.operands[0], 'global', 'void', const=True)});")


@_handles("applypriority", "discard")
def _hint(t: _Translator, i: Instruction) -> None:
    t.emit("(void)0;")
    t.note("the cache hint is left out")


@_handles("createpolicy")
def _createpolicy(t: _Translator, i: Instruction) -> None:
    t.write(i.operands[0], "b64", "0ull")
    t.note("cache policies are left out")


@_handles("cp")
def _cp(t: _Translator, i: Instruction) -> None:
    if not i.modifiers or i.modifiers[0] != "async" or "bulk" in i.modifiers:
        raise t.refuse("bulk asynchronous copy (TMA): AMD GPUs have none; copy with plain loads and stores")
    note = "cp.async becomes a plain copy that is complete at once: the same result, without the overlap"
    if i.modifiers[1:2] in (("commit_group",), ("wait_group",), ("wait_all",)):
        t.emit("(void)0;")
        t.note(note)
        return
    if "mbarrier" in i.modifiers or i.modifiers[1:2] not in (("ca",), ("cg",)):
        raise t.refuse(REASONS["mbarrier"])
    operands = list(i.operands)
    if "L2::cache_hint" in i.modifiers:
        operands.pop()
    if len(operands) not in (3, 4):
        raise t.refuse("this form is not translated")
    to, source, size = operands[:3]
    t.need(COMPAT)
    t.note(note)
    target = t.address(to, "shared", "void")
    origin = t.address(source, "global", "void", const=True)
    bytes_ = t.read(size, "u32")
    if len(operands) == 4 and t._register(operands[3].lstrip("!").strip()).kind == "pred":
        # ignore-src: zeros are written where the predicate holds.
        t.emit(f"rocport::copy_async<{bytes_}>({target}, {origin}, {t.read(operands[3], 'pred')} ? 0u : {bytes_});")
    elif len(operands) == 4:
        t.emit(f"rocport::copy_async<{bytes_}>({target}, {origin}, {t.read(operands[3], 'u32')});")
    else:
        t.emit(f"rocport::copy_async<{bytes_}>({target}, {origin});")


# ---- Matrices --------------------------------------------------------------------------------------------------------

# Element types that go together, and how many of them fill a 32-bit register.
_ELEMENTS = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4, "e4m3": 4, "e5m2": 4}


def _emulated(t: _Translator, steps: str) -> None:
    t.need(MMA)
    t.out.emulated = True
    t.note(f"by {steps} on every lane, not by AMD's matrix units")


def _array(t: _Translator, stem: str, type_: str, values: Sequence[str]) -> str:
    name = t.fresh(stem)
    t.emit(f"{type_} {name}[{len(values)}] = {{{', '.join(values)}}};")
    return name


@_handles("mma")
def _mma(t: _Translator, i: Instruction) -> None:
    """mma.sync (PTX ISA 9.7.14.5): m16n8 of 16-bit floats, tf32, fp8 and bytes; m8n8k4 of doubles."""
    _count(t, i, 4)
    shape = re.fullmatch(r"m(\d+)n8k(\d+)", next((part for part in i.modifiers if re.match(r"m\d+n", part)), ""))
    types = [part for part in i.modifiers if part in (*_ELEMENTS, "f32", "f64", "s32")]
    known = {"sync", "aligned", "row", "col", "satfinite", *types, shape[0] if shape else ""}
    if shape is None or len(types) != 4 or "kind::f8f6f4" in i.modifiers or not known.issuperset(i.modifiers):
        raise t.refuse(REASONS["mma"])
    d, a, b, c = (t.vector(item) for item in i.operands)
    result = types[0]
    if shape[0] == "m8n8k4" and set(types) == {"f64"} and (len(d), len(a), len(b)) == (2, 1, 1):
        sums = _array(t, "d", "double", [t.read(item, "f64") for item in c])
        t.emit(f"rocport::mma::m8n8k4({sums}, {t.read(a[0], 'f64')}, {t.read(b[0], 'f64')});")
        _emulated(t, "12 shuffles and 8 multiply-adds")
    else:
        sums = _m16n8(t, i, int(shape[1]), int(shape[2]), types, (d, a, b, c))
    for number, item in enumerate(d):
        kind = {"f32": "f32", "f64": "f64", "s32": "s32"}.get(result, "b32")
        t.write(item, kind, f"{sums}[{number}]")
    _block(t)


def _m16n8(
    t: _Translator, i: Instruction, m: int, k: int, types: Sequence[str], operands: Sequence[Sequence[str]]
) -> str:
    """The call; the name of the array of sums."""
    d, a, b, c = operands
    result, left, right, addend = types
    per_word = _ELEMENTS.get(left, 0)
    if m != 16 or not per_word or _ELEMENTS.get(right) != per_word or k % (4 * per_word):
        raise t.refuse(REASONS["mma"])
    words = k // (4 * per_word)
    integers = left in ("s8", "u8")
    allowed = ("s32",) if integers else ("f32", "f16") if left in ("f16", "e4m3", "e5m2") else ("f32",)
    sums = 2 if result == "f16" else 4
    if result != addend or result not in allowed or (len(d), len(a), len(b), len(c)) != (sums, 2 * words, words, sums):
        raise t.refuse("the operands do not fit the shape")
    type_ = {"f32": "float", "f16": "unsigned", "s32": "int"}[result]
    total = _array(t, "d", type_, [t.read(item, "b32" if result == "f16" else result) for item in c])
    one = _array(t, "a", "const unsigned", [t.read(item, "b32") for item in a])
    two = _array(t, "b", "const unsigned", [t.read(item, "b32") for item in b])
    name = "m16n8" + ("_half" if result == "f16" else "_satfinite" if "satfinite" in i.modifiers else "")
    if "satfinite" in i.modifiers and not integers:
        raise t.refuse("the modifier .satfinite is for integers")
    t.emit(f"rocport::mma::{name}<rocport::mma::{left}, rocport::mma::{right}, {words}>({total}, {one}, {two});")
    _emulated(t, f"{16 * words} shuffles and {4 * k} multiply-adds")
    return total


@_handles("ldmatrix", "stmatrix")
def _matrix_memory(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    known = {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"}
    if not known.issuperset(i.modifiers) or "m8n8" not in i.modifiers or "b16" not in i.modifiers:
        raise t.refuse("this form is not translated")
    count = int(next((part[1] for part in i.modifiers if part in ("x1", "x2", "x4")), "1"))
    loads = i.opcode == "ldmatrix"
    fragment, where = i.operands if loads else reversed(i.operands)
    registers = t.vector(fragment)
    if len(registers) != count:
        raise t.refuse("the registers do not fit the count")
    pointer = re.fullmatch(r"\[\s*(%\[\w+\]|[%\w$.]+)\s*(?:\+\s*(-?\w+|%\d+)\s*)?\]", where)
    if pointer is None:
        raise t.refuse(f"address {where} is not understood")
    address = f"(unsigned)({t._register(pointer[1]).text})"
    if pointer[2]:
        address += f" + {t.read(pointer[2], 'u32')}"
    name = f"rocport::mma::{i.opcode}{'_trans' if 'trans' in i.modifiers else ''}"
    _emulated(t, f"{count * (2 if 'trans' in i.modifiers else 1)} shuffles and as many accesses")
    if loads:
        values = t.fresh("m")
        t.emit(f"unsigned {values}[{count}];")
        t.emit(f"{name}({values}, {address});")
        for number, register in enumerate(registers):
            t.write(register, "b32", f"{values}[{number}]")
    else:
        values = _array(t, "m", "const unsigned", [t.read(item, "b32") for item in registers])
        t.emit(f"{name}({address}, {values});")
    _block(t)


@_handles("movmatrix")
def _movmatrix(t: _Translator, i: Instruction) -> None:
    _count(t, i, 2)
    if set(i.modifiers) != {"sync", "aligned", "m8n8", "trans", "b16"}:
        raise t.refuse("this form is not translated")
    _emulated(t, "2 shuffles")
    t.write(i.operands[0], "b32", f"rocport::mma::movmatrix_trans({t.read(i.operands[1], 'b32')})")


# ---- Threads ---------------------------------------------------------------------------------------------------------


@_handles("bar", "barrier")
def _bar(t: _Translator, i: Instruction) -> None:
    if "cluster" in i.modifiers:
        raise t.refuse("AMD GPUs have no thread-block clusters")
    kind = next((part for part in i.modifiers if part in ("sync", "arrive", "red", "warp")), "")
    if kind == "warp":
        t.need(WARP)
        t.emit(f"rocport::syncwarp({t.read(i.operands[0], 'u32')});")
        return
    if kind == "sync" and len(i.operands) == 1 and i.operands[0] == "0":
        t.emit("__syncthreads();")
        return
    if kind == "red" and i.operands[1] == "0" and len(i.operands) == 3:
        name = next((part for part in i.modifiers if part in ("popc", "and", "or")), "")
        function = {"popc": "__syncthreads_count", "and": "__syncthreads_and", "or": "__syncthreads_or"}.get(name)
        if function:
            call = f"{function}({t.read(i.operands[2], 'pred')})"
            t.write(i.operands[0], "u32" if name == "popc" else "pred", call if name == "popc" else f"{call} != 0")
            return
    raise t.refuse("named barrier or barrier of part of a block: AMD GPUs have one barrier for the whole block")


@_handles("vote")
def _vote(t: _Translator, i: Instruction) -> None:
    _only(t, i, "sync", "ballot", "any", "all", "uni", "pred")
    mode = next((part for part in i.modifiers if part in ("ballot", "any", "all", "uni")), "")
    mask = "rocport::full_warp_mask"
    operands = list(i.operands)
    if "sync" in i.modifiers:
        mask = t.read(operands.pop(), "u32")
    if len(operands) != 2:
        raise t.refuse("operands are not understood")
    predicate = t.read(operands[1], "pred")
    t.need(WARP)
    if mode == "ballot":
        t.write(operands[0], "b32", f"rocport::ballot_sync({mask}, {predicate})")
    elif mode in ("any", "all"):
        t.write(operands[0], "pred", f"rocport::{mode}_sync({mask}, {predicate}) != 0")
    elif mode == "uni":
        both = f"rocport::all_sync({mask}, {predicate}) != 0 || rocport::any_sync({mask}, {predicate}) == 0"
        t.write(operands[0], "pred", f"({both})")
    else:
        raise t.refuse("this vote is not translated")


@_handles("activemask")
def _activemask(t: _Translator, i: Instruction) -> None:
    t.need(WARP)
    t.write(i.operands[0], "b32", "rocport::activemask()")


@_handles("match")
def _match(t: _Translator, i: Instruction) -> None:
    type_ = _type(t, i, "b32 b64")
    _count(t, i, 3)
    to, a, mask = i.operands
    t.need(WARP)
    if "any" not in i.modifiers:
        raise t.refuse("use rocport::match_all_sync")
    t.write(to, "b32", f"rocport::match_any_sync({t.read(mask, 'u32')}, {t.read(a, type_)})")


@_handles("redux")
def _redux(t: _Translator, i: Instruction) -> None:
    type_ = _type(t, i, "b32 u32 s32")
    _count(t, i, 3)
    operation = next((part for part in i.modifiers if part in ("add", "min", "max", "and", "or", "xor")), "")
    if not operation:
        raise t.refuse("this reduction is not translated")
    to, a, mask = i.operands
    t.need(WARP)
    t.write(to, type_, f"rocport::reduce_{operation}_sync({t.read(mask, 'u32')}, {t.read(a, type_)})")


@_handles("shfl")
def _shfl(t: _Translator, i: Instruction) -> None:
    _type(t, i, "b32")
    mode = next((part for part in i.modifiers if part in ("idx", "up", "down", "bfly")), "")
    operands = list(i.operands)
    if "sync" in i.modifiers:
        operands.pop()
    if not mode or len(operands) != 4:
        raise t.refuse("operands are not understood")
    to, a, b, c = operands
    first, _, predicate = to.partition("|")
    t.need(WARP)
    arguments = [t.read(a, "b32"), t.read(b, "u32"), t.read(c, "u32")]
    if predicate.strip():
        arguments.append(f"&{t._register(predicate.strip()).text}")
    t.write(first.strip(), "b32", f"rocport::ptx_shfl_{mode}({', '.join(arguments)})")


@_handles("nanosleep")
def _nanosleep(t: _Translator, i: Instruction) -> None:
    _count(t, i, 1)
    t.need(COMPAT)
    t.emit(f"rocport::nanosleep({t.read(i.operands[0], 'u32')});")


@_handles("griddepcontrol")
def _griddepcontrol(t: _Translator, i: Instruction) -> None:
    t.emit("(void)0;")
    t.note("HIP starts a kernel after the one before it has ended, so there is nothing to wait for or to announce")


@_handles("trap")
def _trap(t: _Translator, i: Instruction) -> None:
    t.emit("__builtin_trap();")


@_handles("brkpt")
def _brkpt(t: _Translator, i: Instruction) -> None:
    t.emit("__builtin_debugtrap();")


@_handles("exit", "ret")
def _exit(t: _Translator, i: Instruction) -> None:
    if not t.in_kernel:
        raise t.refuse("ends the thread from inside a function: return through its callers")
    t.emit("return;")


@_handles("pmevent")
def _pmevent(t: _Translator, i: Instruction) -> None:
    t.emit("(void)0;")
    t.note("profiler events are left out")

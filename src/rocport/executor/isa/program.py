# SPDX-License-Identifier: Apache-2.0
"""A kernel's program: the instructions that can be reached from its entry, each as a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rocport.executor.isa import matrix, memory, scalar, small_floats, vector
from rocport.executor.isa.emit import Untranslated
from rocport.executor.isa.forms import LOAD_LDS, LOAD_VECTOR, STORE, UNSUPPORTED, Context, Form, Mode, Step
from rocport.executor.isa.pseudocode import PseudocodeError
from rocport.executor.isa.refusals import refusal
from rocport.executor.isa.tables import Instruction, decode, tabled
from rocport.syntax.code_object import CodeObject, KernelCode


@dataclass
class Program:
    """Steps by rising address, and what could not be translated."""

    kernel: KernelCode
    mode: Mode
    steps: list[Step]
    untranslated: dict[str, str] = field(default_factory=dict)
    """Instruction -> why, and the next step; running into one stops the kernel and says so."""
    watched: bool = False
    """Its forms tell the engine of every access."""

    @property
    def granted(self) -> tuple[int, int]:
        """Vector and accumulation registers that the descriptor grants, of which CDNA has one file for both: granules
        in rsrc1 bits 5:0, where the second kind begins in rsrc3 bits 5:0 (LLVM's AMDGPU usage, code object v3)."""
        descriptor = self.kernel.descriptor
        granules = (descriptor.rsrc1 & 63) + 1
        if not self.mode.cdna:
            return granules * (8 if self.mode.wave == 32 else 4), 0
        vectors = ((descriptor.rsrc3 & 63) + 1) * 4
        return min(vectors, granules * 8), max(0, granules * 8 - vectors)


def _vector_or_matrix(c: Context) -> Step:
    if matrix.is_matrix(c.instruction.name):
        return matrix.matrix(c)
    return vector.valu(c)


def _vop3(c: Context) -> Step:
    if small_floats.is_scaled(c.instruction.name):
        return small_floats.convert(c)
    return vector.valu(c)


_TRANSLATORS: dict[str, Callable[[Context], Step]] = {
    "SOPP": scalar.sopp,
    "SOP1": scalar.sop1,
    "SOP2": scalar.sop2,
    "SOPC": scalar.sopc,
    "SOPK": scalar.sopk,
    "SMEM": scalar.smem,
    "VOP1": vector.valu,
    "VOP2": vector.valu,
    "VOPC": vector.valu,
    "VOP3": _vop3,
    "VOP3SD": vector.valu,
    "VOP3P": _vector_or_matrix,
    "VOP3PX2": matrix.matrix,
    "VOPD": vector.vopd,
    "FLAT": memory.vector_memory,
    "GLOBAL": memory.vector_memory,
    "SCRATCH": memory.vector_memory,
    "MUBUF": memory.buffer,
    "DS": memory.lds,
}


def translate_one(instruction: Instruction, address: int, mode: Mode, indexed: int = 0) -> Step:
    """The step of one instruction; `indexed`: see Form. Raises Untranslated or PseudocodeError."""
    translator = _TRANSLATORS.get(instruction.encoding)
    if translator is None:
        raise Untranslated(f"encoding {instruction.encoding}")
    return translator(Context(mode, instruction, address, Form(mode, indexed)))


def kernel_mode(kernel: KernelCode, target: str) -> Mode:
    """Bits of the descriptor's compute_pgm_rsrc1 that change what instructions mean.

    Raises TablesError for a target without tables.
    """
    rsrc1 = kernel.descriptor.rsrc1
    known = tabled(target)
    return Mode(
        known.isa_table,
        kernel.descriptor.wave,
        ocp=known.fp8 == "ocp",
        ieee=bool(rsrc1 >> 23 & 1) if known.isa_table != "rdna4" else True,
        dx10_clamp=bool(rsrc1 >> 21 & 1),
        operations=known.isa_operations,
        lds_mask=max(0xFFFF, (1 << (known.lds_bytes - 1).bit_length()) - 1),
    )


def build(code: CodeObject, kernel: KernelCode, target: str) -> Program:
    """Follow the control flow from the entry; calls through registers reach every function of the code object.

    Raises TablesError for a target without tables.
    """
    mode = kernel_mode(kernel, target)
    program = Program(kernel, mode, [])
    seen: dict[int, Step] = {}
    work = [(kernel.descriptor.entry, 0)]
    called = False
    while work:
        address, indexed = work.pop()
        if address in seen or not code.text[0] <= address < code.text[1]:
            continue
        step, indexed = _step(code, address, mode, program, indexed)
        seen[address] = step
        work += [(target, indexed) for target in step.targets]
        if step.falls:
            work.append((address + step.size, indexed))
        if step.aux == 1 and step.kind == 0 and not called:
            # A jump or call to an address in registers: the functions of this object, and what follows calls.
            called = True
            work += [(s.address, 0) for s in code.symbols.values() if s.kind == "function"]
            work += [(start, 0) for start in _local_functions(code, mode)]
    program.steps = [seen[a] for a in sorted(seen)]
    return program


_WATCHED = {
    "lds_at(": "lds_seen(", "global_at(": "global_seen(", "flat_at(": "flat_seen(", "b.at(": "b.seen_at(",
    "consecutive<": "lane_by_lane<", "consecutive_wide<": "lane_by_lane<",
}  # fmt: skip


def watch(program: Program) -> None:
    """Let every access to LDS and memory be told to the engine, lane by lane (RP_WATCH)."""
    program.watched = True
    for step in program.steps:
        if step.kind in (LOAD_VECTOR, LOAD_LDS, STORE):
            for plain, watched in _WATCHED.items():
                step.text = step.text.replace(plain, watched)


def _local_functions(code: CodeObject, mode: Mode) -> list[int]:
    """Where code starts after a function's end and its padding: functions without a dynamic symbol."""
    found = []
    address = code.text[0]
    ended = True
    while address < code.text[1]:
        data = code.memory[address : address + 20]
        try:
            instruction = decode(data, mode.family, mode.operations)
        except Untranslated:
            address += 4
            continue
        padding = instruction.name in ("S_NOP", "S_CODE_END")
        if ended and not padding:
            found.append(address)
            ended = False
        if instruction.name in ("S_ENDPGM", "S_SETPC_B64"):
            ended = True
        address += instruction.size
    return found


def _check_granted(instruction: Instruction, program: Program) -> None:
    """Raises Untranslated for a vector register that the kernel's descriptor does not grant."""
    vectors, accumulators = program.granted
    for register in instruction.vector_registers():
        name, granted = (f"v{register}", vectors) if register < 256 else (f"a{register - 256}", accumulators)
        if register % 256 >= granted:
            raise Untranslated(f"uses {name}, and the kernel's descriptor grants {granted} of these registers")


_UNKNOWN = "unknown"
"""Of a word that starts no instruction of the tables: how long it is, and so what follows, is not known."""


def _step(code: CodeObject, address: int, mode: Mode, program: Program, indexed: int) -> tuple[Step, int]:
    """The step at an address, and which operands M0 moves behind it."""
    data = code.memory[address : min(address + 20, code.text[1])]
    name, size, encoding = f"{int.from_bytes(data[:4], 'little'):#010x}", 4, _UNKNOWN
    try:
        instruction = decode(data, mode.family, mode.operations)
        name, size, encoding = instruction.name, instruction.size, instruction.encoding
        indexed = scalar.indexing(instruction, indexed)
        _check_granted(instruction, program)
        return translate_one(instruction, address, mode, indexed), indexed
    except (Untranslated, PseudocodeError) as error:
        program.untranslated[name] = why = refusal(encoding, name, str(error))
        return Step(address, size, encoding, name, UNSUPPORTED, [], how="untranslated", refusal=why,
                    falls=encoding != _UNKNOWN), indexed  # fmt: skip

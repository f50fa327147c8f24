# SPDX-License-Identifier: Apache-2.0
"""Load code objects and launch their kernels on numpy arrays."""

from __future__ import annotations

import ctypes
import functools
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocport.executor.isa import library
from rocport.executor.isa.translate import Translated, open_object, translate
from rocport.syntax.code_object import CodeObject, KernelCode

_HIDDEN_KINDS = 24
COOPERATIVE, POISON_MEMORY, CHECK_WAITS, CHECK_DIVERGENCE, WATCH = 1, 2, 4, 8, 16
_FOUND = {100: "shared-race", 101: "global-race", 102: "unwritten-lds", 103: "depends"}
POISON = (0xA5A5A5A5, 0x7FC0DEAD)
"""What examine's runs fill registers, LDS and scratch with: a small float, and a NaN; neither an address."""


class KernelError(RuntimeError):
    """A kernel stopped: a fault, a trap, a hang, an instruction that is not translated. The message names the place."""

    def __init__(self, message: str, code: int = 0, pc: int = 0, source: str = "", instruction: str = "") -> None:
        super().__init__(message)
        self.code, self.pc, self.source, self.instruction = code, pc, source, instruction


class _Error(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_int),
        ("workgroup", ctypes.c_uint32 * 3),
        ("wave", ctypes.c_uint32),
        ("lane", ctypes.c_uint32),
        ("pc", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("instruction", ctypes.c_char * 128),
        ("source", ctypes.c_char * 512),
        ("text", ctypes.c_char * 1024),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("dynamic_lds", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("image", ctypes.c_uint64),
        ("kernarg", ctypes.c_char_p),
        ("kernarg_bytes", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("poison", ctypes.c_uint32),
        ("has_poison", ctypes.c_uint32),
        ("limit", ctypes.c_uint64),
        ("hidden", ctypes.c_uint64 * _HIDDEN_KINDS),
        ("message", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
        ("found", ctypes.c_void_p),
        ("trace", ctypes.c_void_p),
        ("instructions", ctypes.c_uint64),
        ("lane_instructions", ctypes.c_uint64),
    )


_FoundFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Error))


@functools.cache
def _engine() -> ctypes.CDLL:
    found = ctypes.CDLL(str(library.engine()))
    found.rp_kernel_open.restype = ctypes.c_void_p
    found.rp_kernel_open.argtypes = (ctypes.c_char_p, ctypes.POINTER(_Error))
    found.rp_trace_new.restype = ctypes.c_void_p
    found.rp_trace_free.argtypes = (ctypes.c_void_p,)
    found.rp_dispatch.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Launch), ctypes.POINTER(_Error))
    return found


@dataclass(frozen=True)
class Finding:
    """A defect that a run showed, once a place."""

    kind: str
    """`shared-race`, `global-race`, `unwritten-lds`, `uninitialised`, `missing-wait`, `order`, or `stopped`."""
    message: str
    source: str = ""
    instruction: str = ""


@dataclass(frozen=True)
class Launch:
    """What a launch executed."""

    instructions: int
    lane_instructions: int
    seconds: float
    findings: tuple[Finding, ...] = ()
    """Of a watched launch."""


class Module:
    """A loaded code object of one target. Device memory is host memory: numpy arrays are passed as pointers."""

    def __init__(self, code: CodeObject, target: str) -> None:
        self.code, self.target = code, target
        self._memory = mmap.mmap(-1, max(4096, len(code.memory)))
        self._memory[: len(code.memory)] = code.memory
        self._view = (ctypes.c_char * len(self._memory)).from_buffer(self._memory)
        self.image = ctypes.addressof(self._view)
        self._open: dict[tuple[str, bool], tuple[Translated, int]] = {}
        for r in code.relocations:
            if r.symbol and r.symbol not in code.symbols:
                raise KernelError(f"the code object needs {r.symbol}, which it does not define")
            base = self.image + (code.symbols[r.symbol].address if r.symbol else 0)
            self._memory[r.address : r.address + 8] = struct.pack("<Q", (base + r.addend) & (1 << 64) - 1)

    def kernel(self, name: str | None = None) -> KernelCode:
        """A kernel by name; without one, the only kernel. Raises KernelError."""
        kernels = self.code.kernels
        if name is None and len(kernels) == 1:
            return next(iter(kernels.values()))
        if name not in kernels:
            raise KernelError(f"no kernel {name!r}; the code object has {', '.join(kernels) or 'none'}")
        return kernels[name]

    def translated(self, name: str | None = None) -> Translated:
        """The kernel's translation, made when needed. Raises EngineError, TablesError, KernelError."""
        return self._opened(self.kernel(name))[0]

    def _opened(self, kernel: KernelCode, watched: bool = False) -> tuple[Translated, int]:
        key = kernel.name, watched
        if key not in self._open:
            done = translate(self.code, kernel, self.target, watched)
            error = _Error()
            handle = _engine().rp_kernel_open(str(done.path).encode(), ctypes.byref(error))
            if not handle:
                raise KernelError(_text(error.text))
            self._open[key] = done, handle
        return self._open[key]

    def symbol(self, name: str, size: int | None = None) -> memoryview:
        """The bytes of a global variable, writable. Raises KernelError."""
        found = self.code.symbols.get(name)
        if found is None:
            raise KernelError(f"no variable {name!r}; the code object has {', '.join(self.code.symbols)}")
        return memoryview(self._memory)[found.address : found.address + (size or found.size)]

    def launch(
        self,
        name: str | None,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Any],
        *,
        dynamic_lds: int = 0,
        threads: int = 0,
        seed: int = 0,
        poison: int | None = None,
        flags: int = 0,
        limit: int = 0,
        trace: int | None = None,
    ) -> Launch:
        """Run a kernel to its end.

        grid: workgroups; block: work-items of one (1 to 3 numbers each). arguments: in the kernel's order; arrays are
        pointers, numpy scalars and bytes are values (integers and None count as pointers or as the argument's size).
        threads: 0 is all cores. seed: order of waves and workgroups. poison: what registers hold at first. limit:
        instructions a wave may execute. trace: an rp_trace of the engine (engine.h). Raises KernelError, EngineError,
        TablesError.
        """
        import time

        kernel = self.kernel(name)
        _, handle = self._opened(kernel, bool(flags & WATCH))
        kernarg = _kernarg(kernel, arguments)
        request = _Launch()
        request.grid[:] = [*grid, *(1,) * (3 - len(grid))]
        request.block[:] = [*block, *(1,) * (3 - len(block))]
        request.dynamic_lds, request.flags, request.image = dynamic_lds, flags, self.image
        request.kernarg, request.kernarg_bytes = kernarg, len(kernarg)
        request.threads, request.seed, request.limit = threads, seed, limit
        request.poison, request.has_poison = poison or 0, poison is not None
        findings: list[Finding] = []

        def found(_: Any, where: Any) -> None:
            e = where.contents
            findings.append(Finding(_FOUND[e.code], *(_text(t) for t in (e.text, e.source, e.instruction))))

        callback = _FoundFunction(found)
        request.found, request.trace = ctypes.cast(callback, ctypes.c_void_p), trace
        error = _Error()
        start = time.perf_counter()
        code = _engine().rp_dispatch(handle, ctypes.byref(request), ctypes.byref(error))
        seconds = time.perf_counter() - start
        if code:
            raise KernelError(
                _text(error.text), error.code, error.pc, _text(error.source), _text(error.instruction)
            )  # fmt: skip
        return Launch(request.instructions, request.lane_instructions, seconds, tuple(findings))

    def examine(
        self, name: str | None, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], **options: Any
    ) -> tuple[Finding, ...]:
        """Run a kernel in every way that shows a defect which silicon may hide; empty where none showed.

        Six runs from the same memory, arrays restored between them and left as the first run writes them: watched
        (races, LDS that nobody wrote), with registers, LDS and scratch poisoned, with results of loads poisoned until
        their wait, and with waves and workgroups in three drawn orders. options: as `launch`, without those. Raises
        EngineError, TablesError.
        """
        arrays = [value for value in arguments if hasattr(value, "ctypes")]
        before = [array.copy() for array in arrays]
        options.setdefault("limit", 20_000_000)
        found: list[Finding] = []

        def run(**more: Any) -> tuple[Launch | None, list[Any]]:
            for array, was in zip(arrays, before, strict=True):
                array[...] = was
            more["flags"] = more.get("flags", 0) | CHECK_DIVERGENCE | options.get("flags", 0)
            try:
                done = self.launch(name, grid, block, arguments, **(options | more))
            except KernelError as error:
                found.append(Finding("stopped", str(error), error.source, error.instruction))
                return None, []
            return done, [array.copy() for array in arrays]

        trace = _engine().rp_trace_new()
        try:
            first, result = run(flags=WATCH | POISON_MEMORY, poison=POISON[0], trace=trace)
            if first is None:
                return tuple(found)
            found += first.findings
            for kind, flags, poison in (
                ("uninitialised", WATCH | POISON_MEMORY, POISON[1]),
                ("missing-wait", WATCH | POISON_MEMORY | CHECK_WAITS, POISON[0]),
            ):
                done, _ = run(flags=flags, trace=trace, poison=poison)
                found += [replace(f, kind=kind) for f in (done.findings if done else ()) if f.kind == "depends"]
                if done is None:
                    found[-1] = replace(found[-1], kind=kind)
        finally:
            _engine().rp_trace_free(trace)
        for seed in (1, 2, 3):
            done, other = run(seed=seed, flags=POISON_MEMORY, poison=POISON[0])
            if done is None or any(a.tobytes() != b.tobytes() for a, b in zip(other, result, strict=True)):
                message = "results depend on the order of waves and workgroups"
                found.append(Finding("order", f"kernel {self.kernel(name).name}: {message}"))
                break
        for array, written in zip(arrays, result, strict=True):
            array[...] = written
        return tuple(found)


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _kernarg(kernel: KernelCode, arguments: Sequence[Any]) -> bytes:
    places = [a for a in kernel.arguments if not a.kind.startswith("hidden_")]
    if len(arguments) != len(places):
        raise KernelError(f"kernel {kernel.name} takes {len(places)} arguments, got {len(arguments)}")
    block = bytearray(kernel.descriptor.kernarg_bytes)
    for place, value in zip(places, arguments, strict=True):
        if hasattr(value, "ctypes"):
            raw = struct.pack("<Q", value.ctypes.data if value.size else 0)
        elif value is None:
            raw = bytes(place.size)
        elif isinstance(value, int):
            raw = (value & (1 << 8 * place.size) - 1).to_bytes(place.size, "little")
        elif hasattr(value, "tobytes"):
            raw = value.tobytes()
        else:
            raw = bytes(value)
        if len(raw) > place.size:
            raise KernelError(
                f"kernel {kernel.name}: argument {place.name or place.offset} has {place.size} bytes, got {len(raw)}"
            )
        block[place.offset : place.offset + len(raw)] = raw
    return bytes(block)


def load(source: bytes | str | Path, target: str) -> Module:
    """A code object (ELF or offload bundle), as bytes or a file. Raises CodeObjectError, TablesError, KernelError."""
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    return Module(open_object(data, target), target)


def launch(
    source: bytes | str | Path,
    target: str,
    name: str | None,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    **options: Any,
) -> Launch:
    """Load and launch at once; options as Module.launch."""
    return load(source, target).launch(name, grid, block, arguments, **options)

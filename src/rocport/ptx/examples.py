"""The examples of the opcodes, translated: for the page and for the tests."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from rocport.ptx import families as package
from rocport.ptx.parse import KEYWORDS, parse_asm
from rocport.ptx.translate import opcodes, translate
from rocport.ptx.translator import OPCODES, Opcode
from rocport.syntax.cuda import CudaSource


def families() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Name, title and (PTX, C++) of the examples of each family, in the order of the alphabet."""
    opcodes()
    for module in iter_modules(package.__path__):
        full = f"{package.__name__}.{module.name}"
        known = dict.fromkeys(item for item in OPCODES.values() if item.handler.__module__ == full)
        yield module.name, import_module(full).__doc__ or "", [row for item in known for row in _rows(item)]


def _rows(opcode: Opcode) -> Iterator[tuple[str, str]]:
    for statement in opcode.examples:
        source = CudaSource("example.cu", f"__global__ void f() {{ {statement} }}".encode())
        asm = parse_asm(source, next(source.find(*KEYWORDS)), {}, lambda _: True)
        assert asm is not None and asm.template is not None, f"an example rocport cannot read: {statement}"
        operands = [source.text(item.first, item.last).decode() for item in (*asm.outputs, *asm.inputs)]
        lines = translate(asm, operands, in_kernel=True, one_line=True).lines
        yield " ".join(asm.template.split()).rstrip(";"), " ".join(lines)

"""PTX to C++."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from rocport.ptx import families
from rocport.ptx.parse import Asm
from rocport.ptx.refusals import REASONS
from rocport.ptx.translator import EFFECT, OPCODES, Refused, Translation, Translator


def translate(
    asm: Asm, expressions: Sequence[str], in_kernel: bool, one_line: bool, shared_carry: bool = False
) -> Translation:
    """C++ for an asm statement. `expressions` are the operands as written, outputs first. Raises Refused.

    With `shared_carry` the function around the statement has a local for the carry.
    """
    opcodes()
    if asm.template is None:
        raise Refused("the template of this asm statement is put together by macros: rocport cannot read it")
    translator = Translator(asm, expressions, in_kernel, one_line, shared_carry)
    result = translator.run()
    if not translator.locals and _again(translator.expressions, result.lines):
        # PTX reads each operand once, and so does C++ through a local.
        translator = Translator(asm, expressions, in_kernel, one_line, shared_carry)
        translator.keep = True
        result = translator.run()
    return result


def _again(expressions: Sequence[str], lines: Sequence[str]) -> bool:
    """True when an operand with an effect of its own is not written exactly once."""
    text = " ".join(lines)
    return any(EFFECT.search(item) and text.count(item) != expressions.count(item) for item in expressions)


@cache
def opcodes() -> frozenset[str]:
    """The opcodes with a translation, read from the families on first use."""
    for module in iter_modules(families.__path__, f"{families.__name__}."):
        import_module(module.name)
    return frozenset(OPCODES)


@cache
def ptx_only() -> frozenset[str]:
    """Every opcode something is known of, translated or refused."""
    return opcodes() | frozenset(REASONS)

# SPDX-License-Identifier: Apache-2.0
"""gfx950's conversions between floats of 8, 6 and 4 bits and wider ones, with a power of two that scales a block.

The names say both formats: V_CVT_SCALEF32_[SR_]PK[32]_FP4_F32. Operands, the byte or word that OPSEL names, and the
order of random numbers are those of AMD's text; the scale is the exponent field of a float.
"""

from __future__ import annotations

import re

from rocport.executor.isa.emit import Untranslated
from rocport.executor.isa.forms import Context, Step

_NAME = re.compile(
    r"V_CVT_SCALEF32_(?P<random>SR_)?(?P<many>2XPK16_|PK32_|PK_)?(?P<to>FP8|BF8|FP6|BF6|FP4|F32|F16|BF16)_"
    r"(?P<of>FP8|BF8|FP6|BF6|FP4|F32|F16|BF16)$"
)
_BITS = {"FP8": 8, "BF8": 8, "FP6": 6, "BF6": 6, "FP4": 4, "F32": 32, "F16": 16, "BF16": 16}
_READ = {"F32": "as_f32", "F16": "(float)as_f16", "BF16": "as_bf16"}
_WRITE = {"F32": "bits({})", "F16": "bits((f16){})", "BF16": "bf16_bits({})"}


def is_scaled(name: str) -> bool:
    return name.startswith("V_CVT_SCALEF32_")


def _operand(c: Context, name: str, words: int, before: list[str]) -> str:
    """Expression of word k of lane l, as a format of `k`. Raises Untranslated for scalars of several words."""
    code = c.raw(name)
    if code >= 256:
        before.append(f"const u32*{name}={c.form.row(code - 256)};")
        return name + "[l+({k})*W]"
    if words > 1:
        raise Untranslated(f"scalar operand of {c.instruction.name}")
    number = c.instruction.formats.get(name, "F32")
    before.append(f"const u32 {name}={c.form.uniform(code, 32, number, c.instruction.literal)};")
    return name


def convert(c: Context) -> Step:
    """One of them. Raises Untranslated for modifiers."""
    found = _NAME.match(c.instruction.name)
    if found is None or c.raw("omod") or c.raw("clmp") or c.raw("abs") or c.raw("neg"):
        raise Untranslated(f"{c.instruction.name} with modifiers")
    to, of, random, many = found["to"], found["of"], bool(found["random"]), found["many"] or ""
    opsel = c.raw("opsel")
    narrow = to in ("FP8", "BF8", "FP6", "BF6", "FP4")
    count = 32 if many in ("PK32_", "2XPK16_") else 2 if many else 1
    # Two floats come from two operands; other pairs, and pairs with random numbers, from one.
    two = many == "2XPK16_" or (many == "PK_" and of == "F32" and not random)
    scale = "src2" if random or two else "src1"
    before: list[str] = []
    words = max(1, (count // 2 if two else count) * _BITS[of] // 32)
    first = _operand(c, "src0", words, before)
    second = _operand(c, "src1", words, before) if two else ""
    exponent = f"(({_operand(c, scale, 1, before).format(k=0)})>>23&255)"
    draw = f"u32 random={_operand(c, 'src1', 1, before).format(k=0)};" if random else ""
    body = f"const u32 e={exponent};u32 value;(void)value;{draw}"
    size, out = _BITS[of], _BITS[to]
    rows = max(1, count * out // 32)
    body += f"u32 t[{rows}]={{}};"
    source_byte = opsel & 3 if size < 16 and count < 32 else 0
    if size == 8 and count == 2:
        source_byte = 2 * (opsel & 1)
    for k in range(count):
        operand, at = (second if k % 2 else first, k // 2) if two else (first, k)
        bit = at * size + 8 * source_byte
        raw = f"{operand.format(k=bit // 32)}>>{bit % 32}"
        if bit % 32 + size > 32:
            raw = f"({raw}|{operand.format(k=bit // 32 + 1)}<<{32 - bit % 32})"
        raw = f"(({raw})&{(1 << size) - 1}u)"
        if narrow:
            drawn = "true,random" if random else "false,0"
            made = f"x_to_{to.lower()}(scaled_down({_READ[of]}({raw}),e),{drawn})"
        else:
            small = f"x_{of.lower()}{'o' if size == 8 else ''}_to_f32({raw})"
            made = _WRITE[to].format(f"scaled_up({small},e)")
        low = k * out
        body += f"value={made};t[{low // 32}]|=value<<{low % 32};"
        if low % 32 + out > 32:
            body += f"t[{low // 32 + 1}]|=value>>{32 - low % 32};"
        if random and k + 1 < count:
            body += "random=random<<1^(random>>31?197u:0u);"
    d = c.form.row(c.raw("vdst"))
    if count * out >= 32:
        body += "".join(f"d[l+{k}*W]=t[{k}];" for k in range(rows))
    else:
        # The rest of the register stays: a byte, or a half by OPSEL's upper bit.
        low = 8 * (opsel >> 2 & 3) if count * out == 8 else 16 * (opsel >> 3 & 1)
        body += f"d[l]=set_bits(d[l],{low},{count * out},t[0]);"
    # All of a lane is read before any of it is written.
    return c.step(
        f"const u64 ex=exec_of<W>(w);{''.join(before)}u32*d={d};ACTIVE_LANES{{{body}}}return op+1;", "by hand"
    )

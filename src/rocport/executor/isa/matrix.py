# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions: MFMA of CDNA and WMMA of RDNA. The texts give shapes only; layouts are ours.

Layouts as AMD's matrix instruction calculator gives them. MFMA: lane l holds row (or column) l % M of block l / M / ...;
results row 8 * (r / 4) + 4 * (l / 32) + r % 4 for 32x32, 4 * (l / 16) + r for 16x16. Products are summed in order of k
in the accumulator's type: the hardware's order and its flushing of denormals are not documented and not copied.
"""

from __future__ import annotations

import re

from rocport.executor.isa.emit import Untranslated
from rocport.executor.isa.forms import Context, Step

MFMA = re.compile(
    r"V_MFMA_(?P<out>F32|F64|I32)_(?P<m>\d+)X(?P<n>\d+)X(?P<k>\d+)_?(?:(?P<blocks>\d+)B_)?(?P<in>F32|XF32|F16|BF16_1K|BF16|F64|I8|"
    r"(?:BF8|FP8)_(?:BF8|FP8))$"
)
WMMA = re.compile(r"V_WMMA_(?P<out>F32|F16|BF16|I32)_16X16X16_(?P<in>F16|BF16|IU8|IU4|(?:BF8|FP8)_(?:BF8|FP8))$")


def is_matrix(name: str) -> bool:
    return name.startswith(("V_MFMA", "V_WMMA", "V_SMFMAC", "V_SWMMAC"))


def matrix(c: Context) -> Step:
    name = c.instruction.name
    if found := MFMA.match(name):
        return _mfma(c, found)
    if found := WMMA.match(name):
        return _wmma(c, found)
    raise Untranslated(name)


def _number(kind: str, ocp: bool) -> tuple[int, str]:
    """Bits of an element, and the C++ function from its raw bits to a number."""
    o = "o" if ocp else ""
    return {
        "F32": (32, "as_f32"),
        "XF32": (32, "as_xf32"),
        "F64": (64, "as_f64"),
        "F16": (16, "(float)as_f16"),
        "BF16": (16, "as_bf16"),
        "BF16_1K": (16, "as_bf16"),
        "I8": (8, "(i32)(i8)"),
        "FP8": (8, f"x_fp8{o}_to_f32"),
        "BF8": (8, f"x_bf8{o}_to_f32"),
    }[kind]


def _element(row: str, lane: str, k: str, bits: int, convert: str) -> str:
    if bits == 64:
        return f"{convert}((u64){row}[({k})*2*W+{lane}]|(u64){row}[(({k})*2+1)*W+{lane}]<<32)"
    if bits == 32:
        return f"{convert}({row}[({k})*W+{lane}])"
    per = 32 // bits
    mask = (1 << bits) - 1
    return f"{convert}({row}[({k})/{per}*W+{lane}]>>({bits}*(({k})%{per}))&{mask})"


def _mfma(c: Context, found: re.Match[str]) -> Step:
    m, n, k = int(found["m"]), int(found["n"]), int(found["k"])
    out, kind = found["out"], found["in"]
    if c.raw("cbsz") or c.raw("abid") or (c.raw("blgp") and out != "F64"):
        raise Untranslated(f"{c.instruction.name} with broadcast")
    blocks = int(found["blocks"] or 0)
    if not blocks:
        # Names without a block count: 4x4 has 16, 16x16x1/2/4 of F32-like forms may have 4, 32x32 two.
        blocks = _blocks(c.instruction.name, m, k, kind)
    kinds = kind.split("_") if kind[:3] in ("BF8", "FP8") else [kind, kind]
    accumulate = c.raw("acc")
    rows = []
    for index in (0, 1):
        code = c.raw(f"src{index}")
        if code < 256:
            raise Untranslated("scalar operand of a matrix instruction")
        rows.append(c.form.row(code - 256 + (256 if accumulate >> index & 1 else 0)))
    result_bank = 256 if c.raw("acc_cd") else 0
    d = c.form.row(c.raw("vdst") + result_bank)
    word = 2 if out == "F64" else 1
    t = {"F32": "float", "F64": "double", "I32": "i32"}[out]
    code = c.raw("src2")
    if code >= 256:
        s = c.form.row(code - 256 + result_bank)
        start = (
            f"as_f64((u64){s}[(r*2)*W+l]|(u64){s}[(r*2+1)*W+l]<<32)"
            if word == 2
            else f"{'as_f32' if out == 'F32' else '(i32)'}({s}[r*W+l])"
        )
    else:
        value = c.form.uniform(code, 32 * word, out, c.instruction.literal)
        start = f"{'(i32)' if out == 'I32' else 'as_f' + out[1:]}({value})"
    total = m * n * blocks // 64
    lanes_per_block = 64 // blocks
    groups = max(1, lanes_per_block // m)  # lanes that share a row hold different k
    per = k // groups
    if per * groups != k:
        raise Untranslated(c.instruction.name)
    parts = []
    for name, kk in zip(("a", "b"), kinds, strict=True):
        bits, convert = _number(kk, c.mode.ocp)
        parts.append((name, bits, convert))
    size = m  # rows of A in a block equal its columns of B
    element_a = _element(
        "pa", f"(blk*{size if blocks > 1 else 0}+row+{m}*{blocks}*(k/{per}))", f"k%{per}", parts[0][1], parts[0][2]
    )
    element_b = _element(
        "pb", f"(blk*{size if blocks > 1 else 0}+col+{m}*{blocks}*(k/{per}))", f"k%{per}", parts[1][1], parts[1][2]
    )
    if m == 32:
        row, block = "8*((r%16)/4)+4*(l/32)+r%4", "r/16"
    elif m == 16:
        row, block = ("4*(l/16)+r%4", "r/4") if out != "F64" else ("4*r+l/16", "0")
    elif out == "F64":
        row, block = "l/16", "(l/4)%4"
    else:
        row, block = "r", "l/4"
    column = f"l%{n}"
    if out == "F64" and m == 4:
        # v_mfma_f64_4x4x4_4b: A[block][i][k] in lane 4 * block + i + 16 * k, D[block][i][j] in lane 16 * i + 4 * block + j.
        element_a = _element("pa", "(4*blk+row+16*k)", "0", 64, "as_f64")
        element_b = _element("pb", "(4*blk+col+16*k)", "0", 64, "as_f64")
    negate = c.raw("blgp") if out == "F64" else 0
    sign = ["-" if negate >> bit & 1 else "" for bit in range(3)]
    store = (
        "const u64 x=bits(R[r][l]);d[(r*2)*W+l]=(u32)x;d[(r*2+1)*W+l]=(u32)(x>>32);"
        if word == 2
        else f"d[r*W+l]={'bits(R[r][l])' if out == 'F32' else '(u32)R[r][l]'};"
    )
    # Both operands as plain matrices first: the sum then runs over rows that the compiler vectorises.
    value = {"F32": "float", "F64": "double", "I32": "i32"}[out]
    product = {
        "F32": "c+=A[blk][row][k]*B[blk][k][col];",
        "F64": "c=__builtin_fma(A[blk][row][k],B[blk][k][col],c);",
        "I32": "c=(i32)((u32)c+(u32)(A[blk][row][k]*B[blk][k][col]));",
    }[out]
    text = (
        f"{'Doubles doubles(w);' if word == 2 else ''}const u32*pa={rows[0]};const u32*pb={rows[1]};u32*d={d};"
        f"static thread_local {value} A[{blocks}][{m}][{k}],B[{blocks}][{k}][{n}];static thread_local {t} R[{total}][64];"
        f"for(int blk=0;blk<{blocks};blk++)for(int row=0;row<{m};row++)for(int k=0;k<{k};k++)A[blk][row][k]={sign[0]}({element_a});"
        f"for(int blk=0;blk<{blocks};blk++)for(int k=0;k<{k};k++)for(int col=0;col<{n};col++)B[blk][k][col]={sign[1]}({element_b});"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{const int row={row},col={column},blk={block};{t} c={sign[2]}({start});"
        f"for(int k=0;k<{k};k++){{{product}}}R[r][l]=c;}}"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{{store}}}return op+1;"
    )
    return c.step(text, "by hand")


def _blocks(name: str, m: int, k: int, kind: str) -> int:
    """Blocks of a form whose name does not say: by the inputs a lane holds (registers times elements)."""
    if m == 4:
        return 4 if kind == "F64" else 16
    single = {"F32": 1, "XF32": 2, "F16": 4, "BF16": 2, "BF16_1K": 4, "I8": 4, "F64": 1}
    per_lane = single.get(kind, 8)
    if kind == "I8" and (m, k) in ((16, 32), (32, 16)):
        per_lane = 8
    if kind in ("F16", "BF16") and (m, k) in ((16, 32), (32, 16)):
        per_lane = 8
    if kind == "BF16" and (m, k) in ((16, 16), (32, 8)):
        per_lane = 4
    if kind == "I8" and (m, k) in ((16, 64), (32, 32)):
        per_lane = 16
    if kind[:3] in ("BF8", "FP8"):
        per_lane = 8
    return max(1, 64 * per_lane // (m * k))


def _wmma(c: Context, found: re.Match[str]) -> Step:
    """RDNA3: a lane holds all 16 k of row (column) lane % 16, in both halves of the wave. RDNA4: each half holds 8 of k."""
    out, kind = found["out"], found["in"]
    wave = c.mode.wave
    rdna4 = c.mode.family == "rdna4"
    if kind == "IU4":
        raise Untranslated(c.instruction.name)
    kinds = kind.split("_") if kind[:3] in ("BF8", "FP8") else [kind, kind]
    signed = c.raw("neg")
    rows = [c.form.row(c.raw(f"src{k}") - 256) for k in (0, 1)]
    d = c.form.row(c.raw("vdst"))
    code = c.raw("src2")
    halves = wave // 16
    elements = []
    for index, (name, place) in enumerate((("pa", "row"), ("pb", "col"))):
        if kind == "IU8":
            bits, convert = 8, "(i32)(i8)" if signed >> index & 1 else "(i32)(u8)"
        else:
            bits, convert = _number(kinds[index], True)
        if rdna4:
            # wave32: half h holds k in 8h..8h+7; wave64: quarter q holds four of them.
            per = 16 // halves
            elements.append(_element(name, f"({place}+16*(k/{per}))", f"k%{per}", bits, convert))
        else:
            elements.append(_element(name, place, "k", bits, convert))
    total = 256 // wave
    if rdna4:
        # D: register r of lane l is row r + total * (l / 16), column l % 16.
        row = f"r+{total}*(l/16)"
    else:
        row = f"{halves}*r+l/16"
    t = "i32" if out == "I32" else "float"
    packed = out in ("F16", "BF16")
    opsel = c.raw("opsel") >> 2 & 1
    to, back = ("as_f16", "bits((f16)R[r][l])") if out == "F16" else ("as_bf16", "bf16_bits(R[r][l])")
    if packed and rdna4:
        place = "[(r/2)*W+l]>>(16*(r%2))&0xffff"
        start_row = f"(float){to}(s{place})"
        store = f"d[(r/2)*W+l]=set_bits(d[(r/2)*W+l],16*(r%2),16,{back});"
    elif packed:
        start_row = f"(float){to}(s[r*W+l]>>{16 * opsel}&0xffff)"
        store = f"d[r*W+l]=set_bits(d[r*W+l],{16 * opsel},16,{back});"
    else:
        start_row = "as_f32(s[r*W+l])" if out == "F32" else "(i32)s[r*W+l]"
        store = "d[r*W+l]=bits(R[r][l]);" if out == "F32" else "d[r*W+l]=(u32)R[r][l];"
    before = ""
    if code >= 256:
        before = f"const u32*s={c.form.row(code - 256)};"
        start = start_row
    else:
        value = c.form.uniform(code, 32, out, c.instruction.literal)
        start = {"F32": f"as_f32({value})", "I32": f"(i32)({value})"}.get(out, f"(float){to}({value})")
    product = "c+=A[row][k]*B[k][col];" if out != "I32" else "c=(i32)((u32)c+(u32)(A[row][k]*B[k][col]));"
    if out == "I32" and c.raw("clmp"):
        raise Untranslated(f"integer clamp of {c.instruction.name}")
    text = (
        f"const u32*pa={rows[0]};const u32*pb={rows[1]};u32*d={d};{before}"
        f"{t} A[16][16],B[16][16],R[{total}][W];"
        f"for(int row=0;row<16;row++)for(int k=0;k<16;k++)A[row][k]={elements[0]};"
        f"for(int k=0;k<16;k++)for(int col=0;col<16;col++)B[k][col]={elements[1]};"
        f"for(int r=0;r<{total};r++)for(int l=0;l<W;l++){{const int row={row},col=l%16;{t} c={start};"
        f"for(int k=0;k<16;k++){{{product}}}R[r][l]=c;}}"
        f"for(int r=0;r<{total};r++)for(int l=0;l<W;l++){{{store}}}return op+1;"
    )
    return c.step(text, "by hand")

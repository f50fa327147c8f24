# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions: MFMA and SMFMAC of CDNA, WMMA and SWMMAC of RDNA. The texts give shapes only; layouts are ours.

Layouts and modifiers as AMD's matrix instruction calculator gives them (github.com/ROCm/amd_matrix_instruction_calculator),
those of gfx950's F8F6F4 as AMD's article on CDNA 3 and 4 matrix cores has them (rocm.blogs.amd.com, "Matrix Core Programming
on AMD CDNA3 and CDNA4"). MFMA: lane l holds row (or column) l % M of block l / M / ...; results row 8 * (r / 4) + 4 * (l / 32)
+ r % 4 for 32x32, 4 * (l / 16) + r for 16x16. Products are summed in order of k in the accumulator's type: the hardware's
order and its flushing of denormals are not documented and not copied.
"""

from __future__ import annotations

import re

from rocport.executor.isa.emit import Untranslated
from rocport.executor.isa.forms import Context, Step

MFMA = re.compile(
    r"V_MFMA_(?P<out>F32|F64|I32)_(?P<m>\d+)X(?P<n>\d+)X(?P<k>\d+)_?(?:(?P<blocks>\d+)B_)?(?P<in>F32|XF32|F16|BF16_1K|BF16|F64|I8|"
    r"(?:BF8|FP8)_(?:BF8|FP8))$"
)
SCALED = re.compile(r"V_MFMA_(?P<scale>SCALE_)?F32_(?P<m>\d+)X\d+X(?P<k>\d+)_F8F6F4$")
SMFMAC = re.compile(r"V_SMFMAC_(?P<out>F32|I32)_(?P<m>\d+)X\d+X(?P<k>\d+)_(?P<in>F16|BF16|I8|(?:BF8|FP8)_(?:BF8|FP8))$")
WMMA = re.compile(
    r"V_(?P<sparse>S)?WMMA(?:C)?_(?P<out>F32|F16|BF16|I32)_16X16X(?P<k>\d+)_(?P<in>F16|BF16|IU8|IU4|(?:BF8|FP8)_(?:BF8|FP8))$"
)
SMALL = ("FP8", "BF8", "FP6", "BF6", "FP4")
"""Formats of F8F6F4 by the value of cbsz (A) and blgp (B)."""


def is_matrix(name: str) -> bool:
    return name.startswith(("V_MFMA", "V_WMMA", "V_SMFMAC", "V_SWMMAC"))


def matrix(c: Context) -> Step:
    name = c.instruction.name
    if found := MFMA.match(name):
        return _mfma(c, found)
    if found := SCALED.match(name):
        return _scaled(c, found)
    if found := SMFMAC.match(name):
        return _smfmac(c, found)
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
        "U8": (8, "(i32)(u8)"),
        "I4": (4, "(i32)sign4"),
        "U4": (4, "(i32)"),
        "FP8": (8, f"x_fp8{o}_to_f32"),
        "BF8": (8, f"x_bf8{o}_to_f32"),
        "FP6": (6, "x_fp6_to_f32"),
        "BF6": (6, "x_bf6_to_f32"),
        "FP4": (4, "x_fp4_to_f32"),
    }[kind]


def _element(row: str, lane: str, k: str, bits: int, convert: str) -> str:
    if bits == 64:
        return f"{convert}((u64){row}[({k})*2*W+{lane}]|(u64){row}[(({k})*2+1)*W+{lane}]<<32)"
    if bits == 32:
        return f"{convert}({row}[({k})*W+{lane}])"
    if 32 % bits:
        return f"{convert}(element<{bits},W>({row},{lane},{k}))"
    per = 32 // bits
    mask = (1 << bits) - 1
    return f"{convert}({row}[({k})/{per}*W+{lane}]>>({bits}*(({k})%{per}))&{mask})"


def _kinds(kind: str) -> list[str]:
    """The formats of A and B."""
    return kind.split("_") if kind[:3] in ("BF8", "FP8") else [kind, kind]


def _sources(c: Context) -> list[str]:
    """Rows of A and B. Raises Untranslated for a scalar operand."""
    rows = []
    for index in (0, 1):
        code = c.raw(f"src{index}")
        if code < 256:
            raise Untranslated("scalar operand of a matrix instruction")
        rows.append(c.form.row(code - 256 + (256 if c.raw("acc") >> index & 1 else 0)))
    return rows


def _addend(c: Context, out: str, word: int) -> str:
    """Expression of C's register r of lane l, in the accumulator's type."""
    code = c.raw("src2")
    if code < 256:
        value = c.form.uniform(code, 32 * word, out, c.instruction.literal)
        return f"{'(i32)' if out == 'I32' else 'as_f' + out[1:]}({value})"
    s = c.form.row(code - 256 + (256 if c.raw("acc_cd") else 0))
    if word == 2:
        return f"as_f64((u64){s}[(r*2)*W+l]|(u64){s}[(r*2+1)*W+l]<<32)"
    return f"{'as_f32' if out == 'F32' else '(i32)'}({s}[r*W+l])"


def _lanes_of_b(pattern: int, lane: str) -> str:
    """The lane that BLGP brings B's `lane` from: 1 and 2 repeat a half, 3 turns by a row, 4 to 7 repeat a row of 16."""
    if pattern >= 4:
        return f"(({lane})%16+{16 * (pattern - 4)})"
    return {0: lane, 1: f"(({lane})%32)", 2: f"(({lane})%32+32)", 3: f"((({lane})+16)%64)"}[pattern]


_ROWS = {32: "8*((r%16)/4)+4*(l/32)+r%4", 16: "4*(l/16)+r%4", 4: "r"}
"""The row of D that register r of lane l holds, by M."""
_STORE = {"F32": "d[r*W+l]=bits(R[r][l]);", "I32": "d[r*W+l]=(u32)R[r][l];"}
_TYPES = {"F32": "float", "F64": "double", "I32": "i32"}


def _mfma(c: Context, found: re.Match[str]) -> Step:
    m, n, k = int(found["m"]), int(found["n"]), int(found["k"])
    out, kind = found["out"], found["in"]
    blocks = int(found["blocks"] or 0)
    if not blocks:
        # Names without a block count: 4x4 has 16, 16x16x1/2/4 of F32-like forms may have 4, 32x32 two.
        blocks = _blocks(c.instruction.name, m, k, kind)
    kinds = _kinds(kind)
    rows = _sources(c)
    d = c.form.row(c.raw("vdst") + (256 if c.raw("acc_cd") else 0))
    word = 2 if out == "F64" else 1
    t = _TYPES[out]
    start = _addend(c, out, word)
    total = m * n * blocks // 64
    lanes_per_block = 64 // blocks
    groups = max(1, lanes_per_block // m)  # lanes that share a row hold different k
    per = k // groups
    if per * groups != k:
        raise Untranslated(c.instruction.name)
    # 2**cbsz neighbouring blocks share A's block abid of them; blgp moves B between lanes. F64 negates by blgp.
    shared = (1 << c.raw("cbsz")) - 1
    if (shared >= blocks and shared) or c.raw("abid") > shared:
        raise Untranslated(f"{c.instruction.name} with cbsz {c.raw('cbsz')}, abid {c.raw('abid')}")
    block_a = f"(blk&{~shared & (blocks - 1)}|{c.raw('abid')})" if shared else "blk"
    size = m if blocks > 1 else 0  # rows of A in a block equal its columns of B
    lane_a = f"({block_a}*{size}+row+{m}*{blocks}*(k/{per}))"
    lane_b = _lanes_of_b(0 if out == "F64" else c.raw("blgp"), f"(blk*{size}+col+{m}*{blocks}*(k/{per}))")
    element_a = _element("pa", lane_a, f"k%{per}", *_number(kinds[0], c.mode.ocp))
    element_b = _element("pb", lane_b, f"k%{per}", *_number(kinds[1], c.mode.ocp))
    row, block = _ROWS[m], {32: "r/16", 16: "r/4", 4: "l/4"}[m]
    if out == "F64":
        row, block = ("4*r+l/16", "0") if m == 16 else ("l/16", "(l/4)%4")
    column = f"l%{n}"
    if out == "F64" and m == 4:
        # v_mfma_f64_4x4x4_4b: A[block][i][k] in lane 4 * block + i + 16 * k, D[block][i][j] in lane 16 * i + 4 * block + j.
        element_a = _element("pa", "(4*blk+row+16*k)", "0", 64, "as_f64")
        element_b = _element("pb", "(4*blk+col+16*k)", "0", 64, "as_f64")
    negate = c.raw("blgp") if out == "F64" else 0
    sign = ["-" if negate >> bit & 1 else "" for bit in range(3)]
    store = "const u64 x=bits(R[r][l]);d[(r*2)*W+l]=(u32)x;d[(r*2+1)*W+l]=(u32)(x>>32);" if word == 2 else _STORE[out]
    # Both operands as plain matrices first: the sum then runs over rows that the compiler vectorises.
    product = {
        "F32": "c+=A[blk][row][k]*B[blk][k][col];",
        "F64": "c=__builtin_fma(A[blk][row][k],B[blk][k][col],c);",
        "I32": "c=(i32)((u32)c+(u32)(A[blk][row][k]*B[blk][k][col]));",
    }[out]
    text = (
        f"{'Doubles doubles(w);' if word == 2 else ''}const u32*pa={rows[0]};const u32*pb={rows[1]};u32*d={d};"
        f"static thread_local {t} A[{blocks}][{m}][{k}],B[{blocks}][{k}][{n}];static thread_local {t} R[{total}][64];"
        f"for(int blk=0;blk<{blocks};blk++)for(int row=0;row<{m};row++)for(int k=0;k<{k};k++)A[blk][row][k]={sign[0]}({element_a});"
        f"for(int blk=0;blk<{blocks};blk++)for(int k=0;k<{k};k++)for(int col=0;col<{n};col++)B[blk][k][col]={sign[1]}({element_b});"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{const int row={row},col={column},blk={block};{t} c={sign[2]}({start});"
        f"for(int k=0;k<{k};k++){{{product}}}R[r][l]=c;}}"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{{store}}}return op+1;"
    )
    return c.step(text, "by hand")


def _scaled(c: Context, found: re.Match[str]) -> Step:
    """F8F6F4 of gfx950: 32 elements a lane, each block of 32 k times two powers of two (E8M0, 255 a NaN).

    Elements of 8 bits lie in two runs of 16, smaller ones in one of 32. A lane's scale is that of its row and its block.
    """
    m, k = int(found["m"]), int(found["k"])
    groups = 64 // m
    formats = [c.raw("cbsz"), c.raw("blgp")]
    if max(formats) >= len(SMALL):
        raise Untranslated(f"{c.instruction.name} of format {max(formats)}")
    rows = _sources(c)
    d = c.form.row(c.raw("vdst") + (256 if c.raw("acc_cd") else 0))
    start = _addend(c, "F32", 1)
    elements = []
    for name, place, value in (("pa", "row", formats[0]), ("pb", "col", formats[1])):
        bits, convert = _number(SMALL[value], True)
        lane, at = f"({place}+{m}*(k/32))", "k%32"
        if bits == 8:
            lane, at = f"({place}+{m}*(k%{16 * groups}/16))", f"(k%16+16*(k/{16 * groups}))"
        elements.append(_element(name, lane, at, bits, convert))
    add = "c+=s;"
    before = ""
    if found["scale"]:
        bytes_of = []
        for index, place in ((0, "row"), (1, "col")):
            code = c.raw(f"scale_src{index}")
            # The byte: opsel and opsel_hi are the low and the high bit of its number.
            byte = (c.raw("opsel") >> index & 1) | (c.raw("opsel_hi") >> index & 1) << 1
            if code >= 256:
                before += f"const u32*e{index}={c.form.row(code - 256)};"
                bytes_of.append(f"(e{index}[{place}+{m}*b]>>{8 * byte}&255)")
            else:
                bytes_of.append(f"({c.form.uniform(code, 32, 'B32', c.instruction.literal)}>>{8 * byte}&255)")
        add = f"c+=scaled(s,scale_of({bytes_of[0]},{bytes_of[1]}));"
    total = m * m // 64
    text = (
        f"const u32*pa={rows[0]};const u32*pb={rows[1]};u32*d={d};{before}"
        f"static thread_local float A[{m}][{k}],B[{k}][{m}],R[{total}][64];"
        f"for(int row=0;row<{m};row++)for(int k=0;k<{k};k++)A[row][k]={elements[0]};"
        f"for(int k=0;k<{k};k++)for(int col=0;col<{m};col++)B[k][col]={elements[1]};"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{const int row={_ROWS[m]},col=l%{m};float c={start};"
        f"for(int b=0;b<{k // 32};b++){{float s=0;for(int k=32*b;k<32*b+32;k++)s+=A[row][k]*B[k][col];"
        f"{add}}}R[r][l]=c;}}"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{{_STORE['F32']}}}return op+1;"
    )
    return c.step(text, "by hand")


_SPARSE_PRODUCT = {
    "float": "c+=A[row][t]*B[at[row][t]][col];",
    "i32": "sum+=(i64)A[row][t]*B[at[row][t]][col];",
}


def _smfmac(c: Context, found: re.Match[str]) -> Step:
    """A keeps two of each four k; two bits of the index say which one each is. D is C, too.

    A lane's index has as many bits as the k that it stands for; where a register holds several, abid chooses and a cbsz
    other than 0 takes the first (CDNA 3 ISA, sparse matrices).
    """
    m, k, out = int(found["m"]), int(found["k"]), found["out"]
    kinds = _kinds(found["in"])
    rows = _sources(c)
    code = c.raw("src2")
    if code < 256:
        raise Untranslated("scalar index of a sparse matrix")
    index = c.form.row(code - 256)
    d = c.form.row(c.raw("vdst") + (256 if c.raw("acc_cd") else 0))
    per = k * m // 64
    shift = 0 if c.raw("cbsz") else per * (c.raw("abid") % (32 // per))
    element_a = _element("pa", f"(row+{m}*(t/{per // 2}))", f"t%{per // 2}", *_number(kinds[0], c.mode.ocp))
    element_b = _element("pb", f"(col+{m}*(k/{per}))", f"k%{per}", *_number(kinds[1], c.mode.ocp))
    place = f"{per}*(t/{per // 2})+4*(t%{per // 2}/2)+(pi[row+{m}*(t/{per // 2})]>>({shift}+2*(t%{per // 2}))&3)"
    total = m * m // 64
    t = _TYPES[out]
    start, end = ("as_f32(d[r*W+l])", "") if out == "F32" else ("(i32)d[r*W+l]", "c=(i32)(c+sum);")
    text = (
        f"const u32*pa={rows[0]};const u32*pb={rows[1]};const u32*pi={index};u32*d={d};"
        f"static thread_local {t} A[{m}][{k // 2}],B[{k}][{m}],R[{total}][64];static thread_local u8 at[{m}][{k // 2}];"
        f"for(int row=0;row<{m};row++)for(int t=0;t<{k // 2};t++){{A[row][t]={element_a};at[row][t]={place};}}"
        f"for(int k=0;k<{k};k++)for(int col=0;col<{m};col++)B[k][col]={element_b};"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{const int row={_ROWS[m]},col=l%{m};{t} c={start};i64 sum=0;(void)sum;"
        f"for(int t=0;t<{k // 2};t++){{{_SPARSE_PRODUCT[t]}}}{end}R[r][l]=c;}}"
        f"for(int r=0;r<{total};r++)for(int l=0;l<64;l++){{{_STORE[out]}}}return op+1;"
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
    """RDNA3: a lane holds all 16 k of row (column) lane % 16, in every row of 16 lanes. RDNA4: the rows of lanes share k.

    SWMMAC: A keeps two of each four k, with two bits of index each; opsel chooses among a register's indices.
    """
    out, kind, k = found["out"], found["in"], int(found["k"])
    sparse = bool(found["sparse"])
    wave = c.mode.wave
    rdna4 = c.mode.family == "rdna4"
    signed = c.raw("neg")
    kinds = (
        [f"{'I' if signed >> index & 1 else 'U'}{kind[2:]}" for index in (0, 1)] if kind[:2] == "IU" else _kinds(kind)
    )
    rows = [c.form.row(c.raw(f"src{index}") - 256) for index in (0, 1)]
    d = c.form.row(c.raw("vdst"))
    t = "i32" if out == "I32" else "float"
    numbers = [_number(each, True) for each in kinds]

    def shares(kept: int, bits: int) -> int:
        """Rows of 16 lanes that an operand of so many elements a row of the matrix fills."""
        return max(1, min(wave // 16, kept * bits // 32)) if rdna4 else 1

    def lane(place: str, k: str, count: int, group: int) -> str:
        """The lane with element k of so many, in groups of `group`, where four rows of lanes take turns: 0, 2, 1, 3."""
        if group == 1 or not rdna4:
            return place
        per = count // group
        if group == 4 and kind == "IU4":
            return f"({place}+32*(({k})/{per}%2)+16*(({k})/{2 * per}))"
        return f"({place}+16*(({k})/{per}))"

    groups_b = shares(k, numbers[1][0])
    element_b = _element("pb", lane("col", "k", k, groups_b), f"k%{k // groups_b}" if rdna4 else "k", *numbers[1])
    kept = k // 2 if sparse else k
    groups_a = shares(kept, numbers[0][0])
    lane_a = lane("row", "k", kept, groups_a)
    element_a = _element("pa", lane_a, f"k%{kept // groups_a}" if rdna4 else "k", *numbers[0])
    before = place = ""
    if sparse:
        per = k // groups_a
        shift = per * (c.raw("opsel") % (32 // per))
        before = f"const u32*pi={c.form.row(c.raw('src2') - 256)};u8 at[16][{kept}];"
        # Elements of a lane stand for `per` k that follow each other, unless B deals its k to other rows of lanes.
        place = f"at[row][k]={per}*(k/{per // 2})+4*(k%{per // 2}/2)+(pi[{lane_a}]>>({shift}+2*(k%{per // 2}))&3);"
    total = 256 // wave
    if not rdna4:
        row = f"{wave // 16}*r+l/16"
    elif wave == 64:
        row = f"r+{total}*(l/32)+{2 * total}*(l/16%2)"
    else:
        row = f"r+{total}*(l/16)"
    packed = out in ("F16", "BF16")
    opsel = 0 if sparse else c.raw("opsel") >> 2 & 1
    to, back = ("as_f16", "bits((f16)R[r][l])") if out == "F16" else ("as_bf16", "bf16_bits(R[r][l])")
    if packed and rdna4:
        start_row = f"(float){to}(s[(r/2)*W+l]>>(16*(r%2))&0xffff)"
        store = f"d[(r/2)*W+l]=set_bits(d[(r/2)*W+l],16*(r%2),16,{back});"
    elif packed:
        start_row = f"(float){to}(s[r*W+l]>>{16 * opsel}&0xffff)"
        store = f"d[r*W+l]=set_bits(d[r*W+l],{16 * opsel},16,{back});"
    else:
        start_row = "as_f32(s[r*W+l])" if out == "F32" else "(i32)s[r*W+l]"
        store = _STORE[out]
    code = c.raw("src2")
    if sparse:
        before += "const u32*s=d;"
        start = start_row
    elif code >= 256:
        before += f"const u32*s={c.form.row(code - 256)};"
        start = start_row
    else:
        value = c.form.uniform(code, 32, out, c.instruction.literal)
        start = {"F32": f"as_f32({value})", "I32": f"(i32)({value})"}.get(out, f"(float){to}({value})")
    column = "B[at[row][k]][col]" if sparse else "B[k][col]"
    product = f"c+=A[row][k]*{column};" if out != "I32" else f"sum+=(i64)A[row][k]*{column};"
    end = "" if out != "I32" else "c=(i32)clamp_i32(c+sum);" if c.raw("clmp") else "c=(i32)(c+sum);"
    text = (
        f"const u32*pa={rows[0]};const u32*pb={rows[1]};u32*d={d};{before}"
        f"{t} A[16][{kept}],B[{k}][16],R[{total}][W];"
        f"for(int row=0;row<16;row++)for(int k=0;k<{kept};k++){{A[row][k]={element_a};{place}}}"
        f"for(int k=0;k<{k};k++)for(int col=0;col<16;col++)B[k][col]={element_b};"
        f"for(int r=0;r<{total};r++)for(int l=0;l<W;l++){{const int row={row},col=l%16;{t} c={start};i64 sum=0;(void)sum;"
        f"for(int k=0;k<{kept};k++){{{product}}}{end}R[r][l]=c;}}"
        f"for(int r=0;r<{total};r++)for(int l=0;l<W;l++){{{store}}}return op+1;"
    )
    return c.step(text, "by hand")

# SPDX-License-Identifier: Apache-2.0
"""Vector memory and LDS: loads, stores and atomics by their names, which say width, type and operation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocport.executor.isa.emit import Untranslated
from rocport.executor.isa.forms import LOAD_LDS, LOAD_VECTOR, STORE, Context, Step

_COMMON_LOAD = re.compile(
    r"(?:LOAD|READ)_(?:(?P<words>DWORD(?:X(?P<count>\d))?)|(?P<letter>[BUI])(?P<size>\d+)|(?P<old>[US])(?P<oldsize>BYTE|SHORT))$"
)
_STORE = re.compile(
    r"(?:STORE|WRITE)_(?:(?P<words>DWORD(?:X(?P<count>\d))?)|B(?P<size>\d+)|(?P<old>BYTE|SHORT)(?P<high>_D16_HI)?"
    r"|D16_HI_B(?P<highsize>8|16)|B(?P<dsize>8|16)_D16_HI)$"
)


@dataclass(frozen=True)
class _Place:
    """How a lane's address is made and resolved."""

    before: str
    address: str
    """Expression of lane l, 64 bits."""
    resolve: str
    """Function that gives the pointer: `global_at`, `flat_at`, `lds`, `scratch`."""
    row: str = ""
    """Rows of a lane's 32-bit part, where `base + row[l]` is the whole address."""
    base: str = ""

    def pointer(self, count: int, extra: str = "0") -> str:
        address = f"({self.address})+{extra}" if extra != "0" else self.address
        if self.resolve == "lds":
            return f"lds_at(w,(u32)({address}),{count})"
        if self.resolve == "scratch":
            return f"scratch_at(w,l,(u32)({address}),{count})"
        return f"{self.resolve}(w,l,{address},{count})"

    @property
    def shared(self) -> str:
        return "false" if self.resolve in ("lds", "scratch") else "true"


def _signed(value: int, bits: int) -> int:
    return value - ((value >> (bits - 1)) << bits)


def vector_memory(c: Context) -> Step:
    """FLAT, GLOBAL and SCRATCH."""
    i = c.instruction
    rest = i.name.partition("_")[2]
    if rest.startswith(("WB", "INV", "WBINV")) or rest in ("WBL2", "PREFETCH_B8"):
        return c.step("return op+1;", "by hand")
    if "ioffset" in i.fields:
        offset = _signed(c.raw("ioffset"), 24)
    elif i.encoding == "FLAT":
        offset = c.raw("offset") & 0xFFF
    else:
        offset = _signed(c.raw("offset"), 13)
    saddr, register = c.raw("saddr"), c.first("vaddr", "addr")
    none = saddr in ((127,) if c.mode.cdna else (124, 125))
    o = f"(i64)(i32){c.form.operand(offset)}"
    before = "const u64 ex=exec_of<W>(w);"
    if i.encoding == "SCRATCH":
        scalar = "" if none else f"+(i64)(i32)w->s[{c.form.operand(c.form.sgpr(saddr))}]"
        vector = ""
        # CDNA3 and gfx11+: sve says whether the vector address counts; before, it counts where there is no scalar one.
        if c.raw("sve"):
            before += f"const u32*pa={c.form.row(register)};"
            vector = "+(i64)(i32)pa[l]"
        return _access(c, rest, _Place(before, f"({o}{scalar}{vector})", "scratch"))
    before += f"const u32*pa={c.form.row(register)};"
    if i.encoding == "FLAT" or none:
        place = _Place(before, f"((u64)pa[l]|(u64)pa[l+W]<<32)+{o}", "flat_at" if i.encoding == "FLAT" else "global_at")
    else:
        s = c.form.operand(c.form.sgpr(saddr))
        before += f"const u64 base=(w->s[{s}]|(u64)w->s[{s}+1]<<32)+{o};"
        place = _Place(before, "base+pa[l]", "global_at", "pa", "base")
    return _access(c, rest, place)


def buffer(c: Context) -> Step:
    """MUBUF: addresses through a resource descriptor (base, stride, number of records), with bounds."""
    i = c.instruction
    rest = i.name.removeprefix("BUFFER_")
    if rest.startswith(("WB", "INV", "GL0", "GL1")):
        return c.step("return op+1;", "by hand")
    resource = c.raw("rsrc") if i.has("rsrc") else c.raw("srsrc") * 4
    q = c.form.operand(resource)
    register = c.raw("vaddr")
    offset = c.raw("ioffset") if i.has("ioffset") else c.raw("offset")
    o = c.form.operand(offset)
    soffset = c.form.uniform(c.raw("soffset"), 32, "B32", 0)
    before = f"const u64 ex=exec_of<W>(w);const Buffer b(w,{q},{soffset});"
    index = lane_offset = "0u"
    if c.raw("idxen") or c.raw("offen"):
        before += f"const u32*pa={c.form.row(register)};"
    if c.raw("idxen"):
        index = "pa[l]"
        lane_offset = "pa[l+W]" if c.raw("offen") else "0u"
    elif c.raw("offen"):
        lane_offset = "pa[l]"
    # An access out of bounds reads zero and writes nothing.
    place = _Place(before, f"b.at(l,{index},{lane_offset}+{o},SIZE)", "buffer")
    if c.raw("lds") and not i.has("ioffset"):
        return _load_to_lds(c, rest.removeprefix("LOAD_"), place, offset)
    return _access(c, rest, place)


def _access(c: Context, rest: str, place: _Place) -> Step:
    rest = rest.replace("_ADDTID", "")
    if rest.startswith("LOAD_LDS_"):
        return _load_to_lds(c, rest.removeprefix("LOAD_LDS_"), place, _signed(c.raw("offset"), 13))
    if rest.startswith("ATOMIC_"):
        return _atomic(c, rest.removeprefix("ATOMIC_"), place)
    data = c.raw("vdata") if c.instruction.has("vdata") else None
    accumulate = 256 if c.mode.cdna and c.raw("acc") else 0
    if rest.startswith(("STORE", "WRITE")):
        register = data if data is not None else c.first("data", "vsrc")
        return _store(c, rest, place, register + accumulate)
    register = data if data is not None else c.raw("vdst")
    return _load(c, rest, place, register + accumulate, LOAD_VECTOR)


def _resolve(place: _Place, count: int, extra: str = "0") -> str:
    """Statements that leave the pointer in `p`, or stop or skip where there is none."""
    if place.resolve == "buffer":
        return f"u8*p={place.address.replace('SIZE', str(count))};"
    return f"u8*p={place.pointer(count, extra)};if(!p)OUTSIDE(l,(u64)({place.address})+{extra});"


def _load(c: Context, rest: str, place: _Place, register: int, kind: int) -> Step:
    d = c.form.row(register)
    zero = place.resolve == "buffer"
    if found := _COMMON_LOAD.match(rest):
        if found["words"] or (found["size"] and int(found["size"]) >= 32):
            words = int(found["count"] or 1) if found["words"] else int(found["size"]) // 32
            moves = "".join(f"d[l+{k}*W]=t[{k}];" for k in range(words))
            read = f"u32 t[{words}];" + (
                f"if(p)__builtin_memcpy(t,p,{4 * words});else __builtin_memset(t,0,{4 * words});"
                if zero
                else f"__builtin_memcpy(t,p,{4 * words});"
            )
            fast = ""
            if words == 1 and place.row and place.resolve == "global_at":
                fast = "if(consecutive<W>(pa,ex)){__builtin_memcpy(d,(u8*)(base+pa[0]),4*W);return op+1;}"
            elif words == 1 and place.resolve == "global_at":
                fast = (
                    f"if(consecutive_wide<W>(pa,ex)){{const int l=0;__builtin_memcpy(d,(u8*)({place.address}),4*W);"
                    "return op+1;}"
                )
            elif words == 1 and place.resolve == "lds":
                fast = (
                    f"if(consecutive<W>(pa,ex)){{const int l=0;if(u8*p=lds_at(w,(u32)({place.address}),4*W))"
                    "{__builtin_memcpy(d,p,4*W);return op+1;}}"
                )
            text = (
                f"{place.before}u32*d={d};{fast}ACTIVE_LANES{{{_resolve(place, 4 * words)}{read}{moves}}}return op+1;"
            )
            return _loaded(c, text, kind, register, words)
        if found["old"]:
            size, letter = (8 if found["oldsize"] == "BYTE" else 16), "i" if found["old"] == "S" else "u"
        else:
            size, letter = int(found["size"]), "i" if found["letter"] == "I" else "u"
        value = f"(u32)(i32)peek<{letter}{size}>(p)"
        text = f"{place.before}u32*d={d};ACTIVE_LANES{{{_resolve(place, size // 8)}d[l]={'p?' + value + ':0' if zero else value};}}return op+1;"
        return _loaded(c, text, kind, register, 1)
    if "D16" in rest and "FORMAT" not in rest:
        high = "HI" in rest
        if re.search(r"[US]BYTE|[UI]8", rest):
            size, letter = 8, "i" if re.search(r"SBYTE|I8", rest) else "u"
        else:
            size, letter = 16, "u"
        value = f"(u32)(i32)peek<{letter}{size}>(p)"
        value = f"(p?{value}:0)" if zero else value
        text = (
            f"{place.before}u32*d={d};ACTIVE_LANES{{{_resolve(place, size // 8)}"
            f"d[l]=set_bits(d[l],{16 if high else 0},16,{value});}}return op+1;"
        )
        return _loaded(c, text, kind, register, 1)
    raise Untranslated(c.instruction.name)


_TO_LDS = {
    "DWORD": (4, ""), "DWORDX3": (12, ""), "DWORDX4": (16, ""), "UBYTE": (1, "u8"), "SBYTE": (1, "i8"),
    "USHORT": (2, "u16"), "SSHORT": (2, "i16"),
}  # fmt: skip


def _load_to_lds(c: Context, kind: str, place: _Place, offset: int) -> Step:
    """Memory to LDS: lane l's part goes to M0 + offset + l * size, where bytes and shorts take a word each (CDNA 3 ISA,
    LDS_ADDR of memory buffer loads to LDS)."""
    if kind not in _TO_LDS:
        raise Untranslated(c.instruction.name)
    size, narrow = _TO_LDS[kind]
    words = max(1, size // 4)
    value = f"t[0]=(u32)(i32)peek<{narrow}>(p);" if narrow else f"__builtin_memcpy(t,p,{size});"
    if place.resolve == "buffer":
        value = f"if(p){{{value}}}"
    text = (
        f"{place.before}ACTIVE_LANES{{{_resolve(place, size)}u32 t[{words}]={{}};{value}"
        f"const u32 to=(w->s[RP_M0]&{c.mode.lds_mask}u)+{c.form.operand(offset)}+l*{4 * words};"
        f"u8*q=lds_at(w,to,{4 * words});if(!q)OUTSIDE(l,(u64)to);__builtin_memcpy(q,t,{4 * words});}}return op+1;"
    )
    return c.step(text, "by hand", kind=STORE)


def _transposed(c: Context, bits: int, register: int, place: _Place) -> Step:
    """gfx950: 16 lanes read rows of a matrix 16 elements wide, in order; lane l of them gets its column l % 16.

    For 16 bits: element n of lane l is element l % 4 of lane l / 4 + 4 * n of its 16. All lanes take part where any does.
    """
    words = 3 if bits == 6 else 2
    count = 32 * words // bits
    a_row = 16 // count
    """Lanes that make a row."""
    text = (
        f"{place.before}if(!ex)return op+1;u32*d={c.form.row(register)};alignas(64) u32 t[{words}*W],o[{words}*W];"
        f"__builtin_memset(o,0,sizeof o);for(int l=0;l<W;l++){{{_resolve(place, 4 * words)}u32 x[{words}];"
        f"__builtin_memcpy(x,p,{4 * words});for(int k=0;k<{words};k++)t[k*W+l]=x[k];}}"
        f"for(int l=0;l<W;l++)for(int n=0;n<{count};n++){{"
        f"const u32 x=element<{bits},W>(t,(l&~15)+n*{a_row}+(l&15)/{count},(l&15)%{count});const int at=n*{bits};"
        f"o[at/32*W+l]|=x<<at%32;if(at%32+{bits}>32)o[(at/32+1)*W+l]|=x>>(32-at%32);}}"
        f"__builtin_memcpy(d,o,sizeof o);return op+1;"
    )
    return _loaded(c, text, LOAD_LDS, register, words)


def _loaded(c: Context, text: str, kind: int, register: int, rows: int) -> Step:
    c.form.operands += [0] * (11 - len(c.form.operands))
    c.form.operands.append(register * c.mode.wave)
    return c.step(text, "by hand", kind=kind, aux=rows)


def _store(c: Context, rest: str, place: _Place, register: int) -> Step:
    d = c.form.row(register)
    found = _STORE.match(rest)
    if found is None:
        raise Untranslated(c.instruction.name)
    if found["words"] or (found["size"] and int(found["size"]) >= 32):
        words = int(found["count"] or 1) if found["words"] else int(found["size"]) // 32
        fill = "".join(f"t[{k}]=d[l+{k}*W];" for k in range(words))
        write = f"u32 t[{words}];{fill}" + ("if(p)" if place.resolve == "buffer" else "")
        write += f"__builtin_memcpy(p,t,{4 * words});"
        fast = ""
        if words == 1 and place.row and place.resolve == "global_at":
            fast = "if(consecutive<W>(pa,ex)){__builtin_memcpy((u8*)(base+pa[0]),d,4*W);return op+1;}"
        elif words == 1 and place.resolve == "global_at":
            fast = f"if(consecutive_wide<W>(pa,ex)){{const int l=0;__builtin_memcpy((u8*)({place.address}),d,4*W);return op+1;}}"
        elif words == 1 and place.resolve == "lds":
            fast = (
                f"if(consecutive<W>(pa,ex)){{const int l=0;if(u8*p=lds_at(w,(u32)({place.address}),4*W))"
                "{__builtin_memcpy(p,d,4*W);return op+1;}}"
            )
        size = 4 * words
    else:
        high = "HI" in rest
        size = int(found["size"] or found["highsize"] or found["dsize"] or (8 if found["old"] == "BYTE" else 16)) // 8
        write = f"{'if(p)' if place.resolve == 'buffer' else ''}poke<u{8 * size}>(p,(u{8 * size})(d[l]>>{16 if high else 0}));"
        fast = ""
    text = f"{place.before}const u32*d={d};{fast}ACTIVE_LANES{{{_resolve(place, size)}{write}}}return op+1;"
    return c.step(text, "by hand", kind=STORE, aux=int(place.resolve == "lds"))


# Operation -> (expression of the old value m and the data x, type by letter). I: signed, U: unsigned, F: float.
_OPERATIONS: dict[str, tuple[str, str]] = {
    "ADD": ("m+x", "u"),
    "SUB": ("m-x", "u"),
    "RSUB": ("x-m", "u"),
    "SUB_CLAMP": ("m<x?0:m-x", "u"),
    "CSUB": ("m<x?0:m-x", "u"),
    "COND_SUB": ("m>=x?m-x:m", "u"),
    "SMIN": ("m<x?m:x", "i"),
    "SMAX": ("m>x?m:x", "i"),
    "UMIN": ("m<x?m:x", "u"),
    "UMAX": ("m>x?m:x", "u"),
    "AND": ("m&x", "u"),
    "OR": ("m|x", "u"),
    "XOR": ("m^x", "u"),
    "INC": ("m>=x?0:m+1", "u"),
    "DEC": ("(m==0||m>x)?x:m-1", "u"),
    "SWAP": ("x", "u"),
}


@dataclass(frozen=True)
class _Atomic:
    bits: int
    type: str
    expression: str
    compare: bool = False


def operation(name: str, default: int = 32) -> _Atomic:
    """What an atomic's name without its prefix says. Raises Untranslated."""
    bits = default
    letter = ""
    if name.endswith("_X2"):
        name, bits = name[:-3], 64
    if found := re.search(r"_([BUIF])(32|64)$", name):
        name, letter, bits = name[: found.start()], found[1], int(found[2])
    if name in ("PK_ADD_F16", "PK_ADD_BF16"):
        return _Atomic(32, "u32", f"pk_add_{'bf16' if 'BF' in name else 'f16'}(m,x)")
    name = name.replace("_NUM", "")
    if name in ("CMPSWAP", "CMPST", "CMPSTORE"):
        if letter == "F":
            return _Atomic(bits, f"u{bits}", f"as_f{bits}(m)==as_f{bits}(y)?x:m", True)
        return _Atomic(bits, f"u{bits}", "m==y?x:m", True)
    if letter == "F" or name in ("FMIN", "FMAX"):
        name = name.removeprefix("F")
        convert = f"as_f{bits}"
        values = {
            "ADD": f"bits({convert}(m)+{convert}(x))",
            "MIN": f"bits(x_fmin({convert}(m),{convert}(x)))",
            "MAX": f"bits(x_fmax({convert}(m),{convert}(x)))",
        }
        if name not in values:
            raise Untranslated(f"atomic {name}")
        return _Atomic(bits, f"u{bits}", values[name])
    if name in ("MIN", "MAX"):
        name = ("S" if letter == "I" else "U") + name
    if name == "MSKOR":
        return _Atomic(bits, f"u{bits}", "(m&~y)|x", True)
    if name == "WRAP":
        return _Atomic(bits, f"u{bits}", "m>=x?m-x:m+y", True)
    name = {"WRXCHG": "SWAP", "STOREXCHG": "SWAP", "SUB_CLAMP": "SUB_CLAMP"}.get(name, name)
    if name not in _OPERATIONS:
        raise Untranslated(f"atomic {name}")
    expression, kind = _OPERATIONS[name]
    return _Atomic(bits, f"{kind}{bits}", expression)


def _value(pointer: str, bits: int, at: int = 0) -> str:
    if bits == 32:
        return f"{pointer}[l+{at}*W]"
    return f"((u64){pointer}[l+{at}*W]|(u64){pointer}[l+{at + 1}*W]<<32)"


def _update(atomic: _Atomic, data: str, data2: str, shared: str, result: str) -> str:
    """Statements for one lane with its pointer in p."""
    t = atomic.type
    text = f"const {t} x=({t}){data};" + (f"const {t} y=({t}){data2};" if atomic.compare else "")
    text += f"const u{atomic.bits} old=(u{atomic.bits})update<{t}>(p,{shared},[&]({t} m){{return ({t})({atomic.expression});}});(void)old;"
    if result:
        text += f"{result}[l]=(u32)old;" + (f"{result}[l+W]=(u32)(old>>32);" if atomic.bits == 64 else "")
    return text


def _atomic(c: Context, name: str, place: _Place) -> Step:
    atomic = operation(name)
    i = c.instruction
    words = atomic.bits // 32
    accumulate = 256 if c.mode.cdna and c.raw("acc") else 0
    if i.has("vdata"):
        register = c.raw("vdata")
        destination = register
    else:
        register, destination = c.first("data", "vsrc"), c.raw("vdst")
    if i.has("th"):
        returns = bool(c.raw("th") & 1)
    else:
        returns = bool(c.first("sc0", "glc"))
    before = place.before + f"const u32*pd={c.form.row(register + accumulate)};"
    result = ""
    if returns:
        before += f"u32*d={c.form.row(destination + accumulate)};"
        result = "d"
    # Compare-and-swap: the new value first, then what is expected.
    body = _update(atomic, _value("pd", atomic.bits), _value("pd", atomic.bits, words), place.shared, result)
    if place.resolve == "buffer":
        body = f"if(p){{{body}}}"
    doubles = "Doubles doubles(w);" if "f64" in atomic.expression else ""
    text = f"{doubles}{before}ACTIVE_LANES{{{_resolve(place, 4 * words)}{body}}}return op+1;"
    if returns:
        return _loaded(c, text, LOAD_VECTOR, destination + accumulate, words)
    return c.step(text, "by hand", kind=STORE)


def lds(c: Context) -> Step:
    """DS instructions."""
    i = c.instruction
    name = i.name.removeprefix("DS_")
    if name == "NOP":
        return c.step("return op+1;", "by hand")
    if i.has("gds") and c.raw("gds"):
        raise Untranslated("the global data share has no translation")
    if name == "CONDXCHG32_RTN_B64":
        return _conditional(c)
    if name in ("CONSUME", "APPEND"):
        return _append(c, "-" if name == "CONSUME" else "+")
    if name.startswith("GWS_"):
        raise Untranslated(i.name)
    accumulate = 256 if c.mode.cdna and c.raw("acc") else 0
    first, second = c.raw("offset0"), c.raw("offset1")
    if name in ("BPERMUTE_B32", "PERMUTE_B32", "SWIZZLE_B32", "BPERMUTE_FI_B32"):
        return _permute(c, name, first | second << 8)
    before = f"const u64 ex=exec_of<W>(w);const u32*pa={c.form.row(c.raw('addr'))};"
    two = re.match(
        r"(READ2|LOAD_2ADDR|WRITE2|STORE_2ADDR|WRXCHG2|STOREXCHG_2ADDR)(_RTN)?(_STRIDE64|ST64)?(?:_RTN)?_B(32|64)$",
        name,
    )
    if two:
        bits = int(two[4])
        unit = bits // 8 * (64 if two[3] else 1)
        words = bits // 32
        places = [f"(pa[l]+{c.form.operand(o * unit)})" for o in (first, second)]
        pointers = "".join(f"u8*p{k}=lds_at(w,{a},{4 * words});if(!p{k})OUTSIDE(l,{a});" for k, a in enumerate(places))
        if two[1] in ("READ2", "LOAD_2ADDR"):
            d = c.raw("vdst") + accumulate
            row = c.form.row(d)
            moves = "".join(f"d[l+{k}*W]=t[{k}];" for k in range(2 * words))
            text = (
                f"{before}u32*d={row};ACTIVE_LANES{{{pointers}u32 t[{2 * words}];__builtin_memcpy(t,p0,{4 * words});"
                f"__builtin_memcpy(t+{words},p1,{4 * words});{moves}}}return op+1;"
            )
            return _loaded(c, text, LOAD_LDS, d, 2 * words)
        rows = [c.form.row(c.raw(f"data{k}") + accumulate) for k in (0, 1)]
        writes = ""
        for k, row in enumerate(rows):
            fill = "".join(f"t[{j}]={row}[l+{j}*W];" for j in range(words))
            writes += f"{{u32 t[{words}];{fill}__builtin_memcpy(p{k},t,{4 * words});}}"
        if "XCHG" in two[1]:
            # Both places are read before either is written.
            d = c.raw("vdst") + accumulate
            before += f"u32*d={c.form.row(d)};"
            old = "".join(f"u32 o{k}[{words}];__builtin_memcpy(o{k},p{k},{4 * words});" for k in (0, 1))
            moves = "".join(f"d[l+{k * words + j}*W]=o{k}[{j}];" for k in (0, 1) for j in range(words))
            text = f"{before}ACTIVE_LANES{{{pointers}{old}{writes}{moves}}}return op+1;"
            return _loaded(c, text, LOAD_LDS, d, 2 * words)
        return c.step(f"{before}ACTIVE_LANES{{{pointers}{writes}}}return op+1;", "by hand", kind=STORE)
    offset = first | second << 8
    place = _Place(before, f"((u64)(u32)(pa[l]+{c.form.operand(offset)}))", "lds")
    if "_ADDTID_" in name:
        # The lane's own word behind M0 and the offset.
        base = f"((u64)(u32)((w->s[RP_M0]&{c.mode.lds_mask}u)+{c.form.operand(offset)}+4*l))"
        place = _Place("const u64 ex=exec_of<W>(w);const u32*pa=w->v;", base, "lds")
        name = name.replace("_ADDTID", "")
    if transposed := re.match(r"READ_B(?:64|96)_TR_B(\d+)$", name):
        return _transposed(c, int(transposed[1]), c.raw("vdst") + accumulate, place)
    if name.startswith(("READ_", "LOAD_")):
        return _load(c, name, place, c.raw("vdst") + accumulate, LOAD_LDS)
    if name.startswith(("WRITE_", "STORE_")):
        return _store(c, name, place, c.raw("data0") + accumulate)
    returns = "_RTN" in name
    atomic = operation(name.replace("_RTN", ""))
    words = atomic.bits // 32
    before += f"const u32*pd={c.form.row(c.raw('data0') + accumulate)};"
    other = ""
    if atomic.compare:
        before += f"const u32*pe={c.form.row(c.raw('data1') + accumulate)};"
        other = _value("pe", atomic.bits)
    data = _value("pd", atomic.bits)
    if atomic.compare and "CMPST_" in name:
        # gfx9: the first operand is what is expected, the second the new value.
        data, other = other, data
    elif name.startswith("MSKOR"):
        # The first operand is the mask, the second what is put there.
        data, other = other, data
    result = ""
    if returns:
        before += f"u32*d={c.form.row(c.raw('vdst') + accumulate)};"
        result = "d"
    body = _update(atomic, data, other, "false", result)
    place = _Place(before, place.address, "lds")
    doubles = "Doubles doubles(w);" if "f64" in atomic.expression else ""
    text = f"{doubles}{before}ACTIVE_LANES{{{_resolve(place, 4 * words)}{body}}}return op+1;"
    if returns:
        return _loaded(c, text, LOAD_LDS, c.raw("vdst") + accumulate, words)
    return c.step(text, "by hand", kind=STORE)


def _conditional(c: Context) -> Step:
    """Two words, each replaced where the upper bit of its new value is set, and by the other 31; both old ones return."""
    accumulate = 256 if c.mode.cdna and c.raw("acc") else 0
    offset = c.form.operand(c.raw("offset0") | c.raw("offset1") << 8)
    d = c.raw("vdst") + accumulate
    a, s = c.form.row(c.raw("addr")), c.form.row(c.raw("data0") + accumulate)
    text = (
        f"const u64 ex=exec_of<W>(w);const u32*pa={a};const u32*pd={s};u32*d={c.form.row(d)};ACTIVE_LANES{{"
        f"const u32 a=(pa[l]+{offset})&0xfff8u;u8*p=lds_at(w,a,8);if(!p)OUTSIDE(l,a);u32 t[2];__builtin_memcpy(t,p,8);"
        "for(int k=0;k<2;k++){const u32 x=pd[l+k*W];if(x>>31)poke<u32>(p+4*k,x&0x7fffffffu);}"
        "for(int k=0;k<2;k++)d[l+k*W]=t[k];}return op+1;"
    )
    return _loaded(c, text, LOAD_LDS, d, 2)


def _append(c: Context, sign: str) -> Step:
    """A counter in LDS at M0[31:16] and the offset grows by the count of active lanes; all get what it was."""
    offset = c.form.operand(c.raw("offset0") | c.raw("offset1") << 8)
    d = c.raw("vdst") + (256 if c.mode.cdna and c.raw("acc") else 0)
    text = (
        f"const u64 ex=exec_of<W>(w);const int l=0;const u32 a=(w->s[RP_M0]>>16)+{offset};u8*p=lds_at(w,a,4);"
        f"if(!p)OUTSIDE(l,a);const u32 was=peek<u32>(p);poke<u32>(p,was{sign}(u32)__builtin_popcountll(ex));"
        f"u32*d={c.form.row(d)};ACTIVE_LANES d[l]=was;return op+1;"
    )
    return _loaded(c, text, LOAD_LDS, d, 1)


def _permute(c: Context, name: str, offset: int) -> Step:
    """Data between lanes without LDS. Lanes out of EXEC bring zero."""
    d = c.raw("vdst")
    row = c.form.row(d)
    if name == "SWIZZLE_B32":
        s = c.form.row(c.raw("addr"))
        loop = f"for(int l=0;l<W;l++){{const int q=swizzle_lane({c.form.operand(offset)},l);t[l]=ex>>q&1?{s}[q]:0;}}"
    else:
        a, s = c.form.row(c.raw("addr")), c.form.row(c.raw("data0"))
        o = c.form.operand(offset)
        # RDNA permutes within 32 lanes.
        within = "(W-1)" if c.mode.cdna else "31"
        keep = "" if c.mode.cdna else "|(l&32)"
        if name == "PERMUTE_B32":
            loop = (
                "__builtin_memset(t,0,sizeof t);for(int l=0;l<W;l++)if(ex>>l&1)"
                f"t[(({a}[l]+{o})>>2&{within}){keep}]={s}[l];"
            )
        else:
            inactive = "true" if "FI" in name else "false"
            loop = (
                f"const u32*a={a};const u32*s={s};const u32 o={o};for(int l=0;l<W;l++)"
                f"{{const int q=(((a[l]+o)>>2)&{within}){keep};t[l]={inactive}||(ex>>q&1)?s[q]:0;}}"
            )
    text = f"const u64 ex=exec_of<W>(w);alignas(64) u32 t[W];{loop}write_row<W>({row},t,ex);return op+1;"
    return _loaded(c, text, LOAD_LDS, d, 1)

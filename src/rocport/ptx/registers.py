"""The types of PTX as C++ types, and its special registers and literals."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocport.ptx.headers import COMPAT, WARP

C_TYPE = {
    "s8": "signed char", "u8": "unsigned char", "b8": "unsigned char",
    "s16": "short", "u16": "unsigned short", "b16": "unsigned short",
    "s32": "int", "u32": "unsigned", "b32": "unsigned",
    "s64": "long long", "u64": "unsigned long long", "b64": "unsigned long long",
    "f32": "float", "f64": "double",
    "f16": "__half", "f16x2": "__half2", "bf16": "__hip_bfloat16", "bf16x2": "__hip_bfloat162",
    "pred": "bool",
}  # fmt: skip
VECTOR = {
    "s8": "char", "u8": "uchar", "b8": "uchar", "s16": "short", "u16": "ushort", "b16": "ushort", "f16": "ushort",
    "bf16": "ushort", "s32": "int", "u32": "uint", "b32": "uint", "f16x2": "uint", "bf16x2": "uint", "s64": "longlong",
    "u64": "ulonglong", "b64": "ulonglong", "f32": "float", "f64": "double",
}  # fmt: skip
CLASS = {"h": "b16", "r": "b32", "l": "b64", "f": "f32", "d": "f64", "n": "imm"}
BITS = {"b16": 16, "b32": 32, "b64": 64, "f32": 32, "f64": 64, "pred": 1}
NEW_REGISTER = {
    "pred": "pred", "b16": "b16", "u16": "b16", "s16": "b16", "f16": "b16", "bf16": "b16", "b8": "b16", "u8": "b16",
    "s8": "b16", "b32": "b32", "u32": "b32", "s32": "b32", "f16x2": "b32", "bf16x2": "b32", "b64": "b64", "u64": "b64",
    "s64": "b64", "f32": "f32", "f64": "f64",
}  # fmt: skip
REGISTER_TYPE = {
    "b16": "unsigned short", "b32": "unsigned", "b64": "unsigned long long", "f32": "float", "f64": "double",
    "pred": "bool",
}  # fmt: skip
SPECIAL: dict[str, tuple[str, str, str]] = {
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
PREDEFINED = re.compile(
    r"%(?:n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|n?clusterid|cluster_\w+|is_explicit_cluster|lanemask_\w+|clock\w*|pm\d"
    r"|envreg\d|globaltimer\w*|reserved_smem\w*|\w+_smem_size|current_graph_exec)\b"
)
"""Registers that PTX itself declares; others with a percent sign are a program's."""
SPECIAL_NOTES = {
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
TYPES = frozenset(C_TYPE) - {"pred"}
"""Types that stand as a modifier."""


@dataclass(frozen=True)
class Register:
    """Where a value lives: a C++ lvalue or expression and its register class."""

    text: str
    kind: str


def literal(text: str) -> Register | None:
    if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uU]?", text):
        return Register(text, "imm")
    single = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text)
    if single:
        return Register(f"__uint_as_float(0x{single.group(1)}u)", "f32")
    double = re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", text)
    if double:
        return Register(f"__longlong_as_double(0x{double.group(1)}ll)", "f64")
    if re.fullmatch(r"-?\d+\.\d*(?:[eE][+-]?\d+)?", text):
        return Register(text, "imm")
    return None

"""What the Triton kernels share: scales, code tables, packed words. Imported by the Triton tiers only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from rocport.ops.formats import QuantTensor
from rocport.ops.tables import table
from rocport.runtime.machine import Platform, platform

# How a kernel reads the scale of a group; constexpr arguments of the kernels.
SCALE_PLAIN = 0
SCALE_NESTED = 1
SCALE_E8M0 = 2
SCALE_TABLE = 3


@triton.jit
def load_scale(scales, scale_table, absmax2, offset, at, mask, MODE: tl.constexpr):
    """The fp32 scale of group `at`: plain, nested (table[code] * absmax2 + offset), 2^(e - 127), or e4m3 by table."""
    return finish_scale(
        tl.load(scales + at, mask=mask, other=0), scale_table, absmax2, offset, at, mask, MODE
    )  # fmt: skip


@triton.jit
def finish_scale(raw, scale_table, absmax2, offset, at, mask, MODE: tl.constexpr):
    """The fp32 scale of group `at` from what is stored for it."""
    if MODE == 0:
        scale = raw.to(tl.float32)
    elif MODE == 1:
        inner = tl.load(scale_table + raw.to(tl.int32))
        scale = inner * tl.load(absmax2 + at // 256, mask=mask, other=0.0) + tl.load(offset)
    elif MODE == 2:
        exponent = raw.to(tl.int32)
        scale = tl.where(exponent == 0, 1 << 22, exponent << 23).to(tl.float32, bitcast=True)
    else:
        scale = tl.load(scale_table + raw.to(tl.int32))
    return scale


@triton.jit
def column(tile, AT: tl.constexpr, WIDTH: tl.constexpr):
    """Column `AT` of an integer tile [T, WIDTH] as [T]. A row lies in one lane, so this moves nothing."""
    index = tl.arange(0, WIDTH)
    return tl.sum(tl.where((index == AT)[None, :], tile, 0), 1)


@triton.jit
def joined_values(words, PER: tl.constexpr, BITS: tl.constexpr, HIGH_FIRST: tl.constexpr):
    """Packed words [A, W] to codes [A, W * PER], built by joins: the codes of a word stay in the lane that loaded it,
    side by side, so that a tile of them is stored and loaded in wide pieces. A broadcast over a new dimension spreads
    them over lanes. HIGH_FIRST: the even element of a byte is its high half."""
    A: tl.constexpr = words.shape[0]
    W: tl.constexpr = words.shape[1]
    parts = ()
    for j in tl.static_range(PER):
        if HIGH_FIRST:
            code = (words >> ((j ^ 1) * BITS)) & ((1 << BITS) - 1)
        else:
            code = (words >> (j * BITS)) & ((1 << BITS) - 1)
        parts = parts + (code,)
    if PER == 16:
        parts = halve(parts, 8)
    if PER >= 8:
        parts = halve(parts, 4)
    parts = halve(parts, 2)
    return tl.reshape(tl.join(parts[0], parts[1]), (A, W * PER))


@triton.jit
def lane_table(table, like):
    """Table entry `lane % 16` in every lane, in the shape of the integer tensor `like`: for `lane_lookup`. NVIDIA."""
    lane = tl.inline_asm_elementwise("mov.u32 $0, %laneid;", "=r,r", [like], tl.int32, True, 1)
    return tl.load(table + (lane & 15))


@triton.jit
def lane_lookup(entries, index):
    """The table of `lane_table` at `index` modulo 16, by one shuffle: lanes read their neighbours' entries. NVIDIA."""
    return tl.inline_asm_elementwise(
        "shfl.sync.idx.b32 $0, $1, $2, 0x101f, 0xffffffff;", "=f,f,r", [entries, index], tl.float32, True, 1
    )


@triton.jit
def halve(parts, HALF: tl.constexpr):
    """Join part i with part i + HALF, for each i below HALF."""
    joined = ()
    for i in tl.static_range(HALF):
        joined = joined + (tl.join(parts[i], parts[i + HALF]),)
    return joined


@triton.jit
def wait_for_the_one_before():
    """In a kernel launched with `launch_pdl`: wait until the kernel before has ended and all that it wrote is seen.
    Nothing that another kernel may have written is to be read before. NVIDIA."""
    tl.inline_asm_elementwise("griddepcontrol.wait; mov.u32 $0, 0;", "=r", [], tl.int32, False, 1)


@triton.jit
def let_the_next_begin():
    """The kernel after, where it is launched with `launch_pdl`, may take the place of what ends here. NVIDIA."""
    tl.inline_asm_elementwise("griddepcontrol.launch_dependents; mov.u32 $0, 0;", "=r", [], tl.int32, False, 1)


@dataclass(frozen=True)
class Arguments:
    """A QuantTensor as kernel arguments: tensors in order, and what is fixed at compile time."""

    codes: torch.Tensor
    scales: torch.Tensor
    biases: torch.Tensor
    table: torch.Tensor
    scale_table: torch.Tensor
    absmax2: torch.Tensor
    offset: torch.Tensor
    kind: str
    bits: int
    group: int
    lut: bool
    scale_mode: int
    flat: bool
    matrices: int
    """Matrices [N, K] it holds."""

    @property
    def named(self) -> dict[str, torch.Tensor]:
        """The tensors by the names of the kernels' parameters."""
        names = ("codes", "scales", "biases", "table", "scale_table", "absmax2", "offset")
        return dict(zip(names, self.tensors, strict=True))

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        return (
            self.codes, self.scales, self.biases, self.table, self.scale_table, self.absmax2, self.offset
        )  # fmt: skip


def arguments(q: QuantTensor) -> Arguments:
    """Kernel arguments of `q`. Unused tensors are stood in for by the scales: they are never read."""
    device = q.codes.device
    fmt = q.format
    codes = q.codes.contiguous().view(-1)
    if fmt.flat:
        padding = -codes.numel() % 4
        if padding or codes.data_ptr() % 16:
            codes = torch.nn.functional.pad(codes, (0, padding)).clone()
        codes = codes.view(torch.int32)
    scales = q.scales.contiguous()
    mode = SCALE_PLAIN
    scale_table = absmax2 = offset = scales
    if q.absmax2 is not None and q.offset is not None:
        mode, absmax2, offset = SCALE_NESTED, q.absmax2, q.offset
        scale_table = table("dynamic8", device)
    elif fmt.kind == "nvfp4":
        mode, scale_table = SCALE_TABLE, table("mxfp8", device)
    elif fmt.kind in ("mxfp4", "mxfp8"):
        mode = SCALE_E8M0
    lut = fmt.kind != "affine"
    return Arguments(
        codes=codes,
        scales=scales,
        biases=q.biases.contiguous() if q.biases is not None else scales,
        table=table(fmt.kind, device) if lut else scales,
        scale_table=scale_table,
        absmax2=absmax2,
        offset=offset,
        kind=fmt.kind,
        bits=fmt.bits,
        group=fmt.group,
        lut=lut,
        scale_mode=mode,
        flat=fmt.flat,
        matrices=q.shape[0] if len(q.shape) == 3 else 1,
    )


def refuse_triton(platform: Platform) -> str:
    """Why Triton kernels cannot run on `platform`; empty when they can."""
    if platform.kind == "cpu" and not platform.interpreted:
        return "needs a GPU (or TRITON_INTERPRET=1, which is slow), have the CPU"
    if platform.kind == "cuda" and platform.capability is not None and platform.capability < (7, 5):
        return "needs compute capability 7.5 or later, have {}.{}".format(*platform.capability)
    if platform.kind == "rocm" and platform.target is not None and platform.target.matrix == "none":
        return f"needs a target with matrix instructions that Triton compiles for, have {platform.gfx}"
    return ""


@contextlib.contextmanager
def on_device(tensor: torch.Tensor) -> Iterator[None]:
    """Launch on the device that holds `tensor`: Triton launches on the current one."""
    if tensor.is_cuda and tensor.device.index != torch.cuda.current_device():
        with torch.cuda.device(tensor.device):
            yield
    else:
        yield


def compute_units(device: torch.device) -> int:
    """Multiprocessors (compute units) of `device`; 132, those of an NVIDIA H200, where there is none."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 132


def warps(threads: int, device: torch.device) -> int:
    """Warps of that many threads at the wavefront of `device`."""
    where = platform(device)
    return threads // (where.target.wavefront if where.target else 32)


def follows(where: Platform) -> bool:
    """Whether a kernel can be launched while the one before it ends (`wait_for_the_one_before`): on NVIDIA from compute
    capability 9.0."""
    return where.kind == "cuda" and where.capability is not None and where.capability >= (9, 0)


def takes_ptx(device: torch.device) -> bool:
    """Kernels for `device` may use PTX: not on ROCm, and not under Triton's interpreter."""
    return platform(device).kind == "cuda"

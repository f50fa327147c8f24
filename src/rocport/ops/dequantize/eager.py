"""The specification of dequantization: fp32 multiply, then add, then one rounding to the asked type."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never
from rocport.ops.formats import NESTED_BLOCK, QuantTensor
from rocport.ops.tables import table


def unpack_stream(words: torch.Tensor, bits: int, count: int) -> torch.Tensor:
    """int32 [..., W] to codes int64 [..., count]; the inverse of `pack_stream`."""
    wide = words.to(torch.int64) & 0xFFFFFFFF
    start = torch.arange(count, device=words.device) * bits
    at, shift = start // 32, start % 32
    following = (at + 1).clamp(max=words.shape[-1] - 1)
    joined = wide[..., at] | wide[..., following] << 32
    return joined >> shift & (1 << bits) - 1


def absmax(q: QuantTensor) -> torch.Tensor:
    """The fp32 absmax of a flat format, [blocks], unnested where it is nested."""
    if q.absmax2 is None or q.offset is None:
        return q.scales.float()
    inner = table("dynamic8", q.scales.device)[q.scales.long()]
    outer = q.absmax2.repeat_interleave(NESTED_BLOCK)[: inner.numel()]
    return inner * outer + q.offset


def scales(q: QuantTensor) -> torch.Tensor:
    """The fp32 scale of each group of a microscaling format."""
    if q.format.kind == "nvfp4":
        return q.scales.view(torch.float8_e4m3fn).float()
    return torch.exp2(q.scales.float() - 127)


def run(q: QuantTensor, dtype: torch.dtype) -> torch.Tensor:
    """Dense tensor of `q.shape` and `dtype`; see `rocport.ops.dequantize`."""
    fmt = q.format
    if fmt.flat:
        codes = q.codes.view(-1)
        if fmt.bits == 4:
            codes = torch.stack((codes >> 4, codes & 15), -1).view(-1)
        values = table(fmt.kind, codes.device)[codes[: q.numel].long()]
        spread = absmax(q).repeat_interleave(fmt.group)[: q.numel]
        return (values * spread).view(q.shape).to(dtype)
    codes = unpack_stream(q.codes, fmt.bits, q.shape[-1])
    if fmt.kind == "affine":
        assert q.biases is not None
        scale = q.scales.float().repeat_interleave(fmt.group, -1)
        return (scale * codes.float() + q.biases.float().repeat_interleave(fmt.group, -1)).to(dtype)
    return (table(fmt.kind, codes.device)[codes] * scales(q).repeat_interleave(fmt.group, -1)).to(dtype)


TIER = Tier("eager", 100, run, never, "rocport")

"""The specification of quantization, in fp32 whatever the type of the input."""

from __future__ import annotations

import torch

from rocport.ops.dispatch import Tier, never
from rocport.ops.formats import NESTED_BLOCK, Format, QuantTensor, blocks
from rocport.ops.tables import table


def pack_stream(codes: torch.Tensor, bits: int) -> torch.Tensor:
    """Codes [..., K] to int32 [..., K * bits / 32]: element i takes bits [i * bits, (i + 1) * bits) of the row."""
    lead, count = codes.shape[:-1], codes.shape[-1]
    planes = (codes.to(torch.int64).unsqueeze(-1) >> torch.arange(bits, device=codes.device)) & 1
    stream = planes.reshape(*lead, count * bits // 32, 32) << torch.arange(32, device=codes.device)
    return stream.sum(-1).to(torch.int32)


def _nearest(scaled: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Index of the value nearest to each element, `values` increasing; halfway goes to the lower value."""
    return torch.bucketize(scaled, (values[:-1] + values[1:]) / 2)


def _fp4(scaled: torch.Tensor) -> torch.Tensor:
    """Nearest FP4 code: nearest magnitude, halfway to the smaller, then the sign; zero is always positive."""
    size, code = table("fp4", scaled.device)[:8].sort()
    nearest = code[_nearest(scaled.abs(), size)].to(torch.uint8)
    return torch.where((scaled < 0) & (nearest > 0), nearest + 8, nearest)


def _affine(x: torch.Tensor, fmt: Format) -> QuantTensor:
    groups = x.float().reshape(*x.shape[:-1], x.shape[-1] // fmt.group, fmt.group)
    high, low = groups.amax(-1), groups.amin(-1)
    levels = float(2**fmt.bits - 1)
    # By a tensor: PyTorch on a GPU divides by a number by multiplying with its reciprocal, one bit off at times.
    scale = ((high - low) / torch.full_like(high, levels)).clamp(min=1e-7)
    anchor_low = low.abs() > high.abs()
    scale = torch.where(anchor_low, scale, -scale)
    edge = torch.where(anchor_low, low, high)
    zero = torch.round(edge / scale)
    scale = torch.where(zero != 0, edge / zero, scale)
    bias = torch.where(zero == 0, torch.zeros_like(edge), edge)
    codes = torch.round((groups - bias.unsqueeze(-1)) / scale.unsqueeze(-1)).clamp(0, levels)
    packed = pack_stream(codes.flatten(-2), fmt.bits)
    return QuantTensor(fmt, tuple(x.shape), x.dtype, packed, scale.to(x.dtype), bias.to(x.dtype))


def _flat(x: torch.Tensor, fmt: Format, nested: bool) -> QuantTensor:
    flat = x.reshape(-1).float()
    count = blocks(flat.numel(), fmt.group)
    padded = torch.nn.functional.pad(flat, (0, count * fmt.group - flat.numel())).view(count, fmt.group)
    absmax = padded.abs().amax(-1) if count else flat.new_empty(0)
    reciprocal = 1.0 / absmax.clamp(min=torch.finfo(torch.float32).tiny)
    scaled = (padded * reciprocal.unsqueeze(-1)).clamp(-1, 1).view(-1)[: flat.numel()]
    if fmt.bits == 4:
        scaled = torch.nn.functional.pad(scaled, (0, scaled.numel() % 2))
    codes = _fp4(scaled) if fmt.kind == "fp4" else _nearest(scaled, table(fmt.kind, x.device)).to(torch.uint8)
    if fmt.bits == 4:
        codes = codes[::2] << 4 | codes[1::2]
    result = QuantTensor(fmt, tuple(x.shape), x.dtype, codes, absmax)
    return nest(result) if nested else result


def nest(quantized: QuantTensor) -> QuantTensor:
    """Quantize the absmax of a flat format: minus its mean, in blocks of 256, to the 8-bit dynamic type."""
    offset = quantized.scales.mean()
    inner = _flat(quantized.scales - offset, Format("dynamic8", 8, NESTED_BLOCK), False)
    return QuantTensor(
        quantized.format, quantized.shape, quantized.dtype, quantized.codes, inner.codes, None, inner.scales, offset
    )


def _microscaling(x: torch.Tensor, fmt: Format) -> QuantTensor:
    groups = x.float().reshape(*x.shape[:-1], x.shape[-1] // fmt.group, fmt.group)
    largest = groups.abs().amax(-1)
    limit = 448.0 if fmt.kind == "mxfp8" else 6.0
    ratio = largest / torch.full_like(largest, limit)
    if fmt.kind == "nvfp4":
        stored = ratio.to(torch.float8_e4m3fn)
        scale, scales = stored.float(), stored.view(torch.uint8)
    else:
        # ceil(log2(ratio)), from the float's own exponent: log2 rounds up just above a power of two.
        mantissa, power = torch.frexp(ratio)
        exponent = torch.where(mantissa == 0.5, power - 1, power).clamp(-127, 127)
        exponent = torch.where(largest == 0, torch.zeros_like(exponent), exponent).float()
        scale, scales = torch.exp2(exponent), (exponent + 127).to(torch.uint8)
    safe = torch.where(scale == 0, torch.ones_like(scale), scale).unsqueeze(-1)
    scaled = torch.where(scale.unsqueeze(-1) == 0, torch.zeros_like(groups), groups / safe).flatten(-2)
    if fmt.kind == "mxfp8":
        codes = scaled.clamp(-limit, limit).to(torch.float8_e4m3fn).view(torch.uint8)
    else:
        codes = e2m1_codes(scaled)
    return QuantTensor(fmt, tuple(x.shape), x.dtype, pack_stream(codes, fmt.bits), scales)


def e2m1_codes(scaled: torch.Tensor) -> torch.Tensor:
    """Nearest E2M1 code, halfway to the even code, zero always positive."""
    size = scaled.abs()
    values = table("mxfp4", scaled.device)[:8]
    middle = (values[:-1] + values[1:]) / 2
    below = torch.bucketize(size, middle)
    above = torch.bucketize(size, middle, right=True)
    code = torch.where(below % 2 == 0, below, above)
    return code + torch.where((scaled < 0) & (code > 0), 8, 0)


def run(x: torch.Tensor, fmt: Format, nested: bool = False) -> QuantTensor:
    """Quantize `x`; see `rocport.ops.quantize`."""
    if fmt.kind == "affine":
        return _affine(x, fmt)
    return _flat(x, fmt, nested) if fmt.flat else _microscaling(x, fmt)


TIER = Tier("eager", 100, run, never, "rocport")

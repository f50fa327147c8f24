"""Dense to quantized.

quantize(x: [..., K] fp32, fp16 or bf16, format: str or Format, nested=False) -> QuantTensor of the same shape.

Affine and microscaling formats need K a multiple of the group; flat ones (nf4, fp4, dynamic8) take any shape. `nested`
quantizes the absmax of nf4 and fp4 as bitsandbytes' compress_statistics does. Raises ValueError for anything else.
"""

from __future__ import annotations

import torch

from rocport.ops.dispatch import operator
from rocport.ops.formats import Format, QuantTensor
from rocport.runtime.machine import platform


def quantize(x: torch.Tensor, format: str | Format, *, nested: bool = False, tier: str = "") -> QuantTensor:
    """Quantize `x`; see the module. The scale arithmetic is fp32 whatever the type of `x`."""
    fmt = Format.parse(format) if isinstance(format, str) else format
    if not x.is_floating_point():
        raise ValueError(f"quantize needs a floating-point tensor, have {x.dtype}")
    if nested and fmt.kind not in ("nf4", "fp4"):
        raise ValueError(f"nested is for nf4 and fp4, have {fmt.name}")
    if not fmt.flat and (x.dim() < 1 or x.shape[-1] % fmt.group):
        raise ValueError(f"{fmt.name} needs the last dimension a multiple of {fmt.group}, have {tuple(x.shape)}")
    x = x.detach()
    chosen = operator("quantize").select(platform(x.device), x, fmt, nested, tier=tier)
    result: QuantTensor = chosen.run(x, fmt, nested)
    return result


def cases(device: torch.device) -> tuple[object, ...]:
    """A call to explain and to test with: arguments after the platform."""
    return torch.zeros(64, 256, device=device, dtype=torch.bfloat16), Format.parse("nf4b64"), False

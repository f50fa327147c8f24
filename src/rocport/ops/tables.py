"""The code tables of `rocport.facts.codes` as tensors."""

from __future__ import annotations

from functools import cache

import torch

from rocport.facts.codes import CODES, dynamic_map


@cache
def table(kind: str, device: torch.device, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The code table of `kind` on `device`: 16 entries, or 256 for `dynamic8`. Shared: do not write to it."""
    if kind == "dynamic8":
        values = dynamic_map()
    elif kind in CODES:
        values = CODES[kind]
    elif kind == "mxfp8":
        return torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).to(dtype).to(device)
    else:
        raise ValueError(f"{kind!r} has no code table: expected one of {', '.join((*CODES, 'dynamic8', 'mxfp8'))}")
    return torch.tensor(values, dtype=dtype, device=device)

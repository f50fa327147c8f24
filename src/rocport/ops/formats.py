"""Quantized formats and the tensors they are stored in. What a checkpoint of bitsandbytes or MLX holds, unchanged."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch

AFFINE_BITS = (2, 3, 4, 5, 6, 8)
AFFINE_GROUPS = (32, 64, 128)
BLOCKS_4BIT = (32, 64, 128, 256, 512, 1024, 2048, 4096)
BLOCKS_8BIT = (64, 128, 256, 512, 1024, 2048, 4096)
NESTED_BLOCK = 256
"""absmax values that share one second-level absmax, in bitsandbytes."""

_NAME = re.compile(r"(?P<kind>affine)(?P<bits>\d)g(?P<group>\d+)|(?P<block>nf4|fp4|dynamic8)b(?P<size>\d+)")
_MICROSCALING = {"mxfp4": (4, 32), "nvfp4": (4, 16), "mxfp8": (8, 32)}


@dataclass(frozen=True)
class Format:
    """One way to store weights in a few bits.

    `affine` (MLX): value = scale * code + bias, groups of `group` along the last dimension, codes a little-endian bit
    stream. `nf4`, `fp4`, `dynamic8` (bitsandbytes): value = table[code] * absmax, blocks of `group` over the flattened
    tensor, the even element of a byte in its high half. `mxfp4`, `nvfp4`, `mxfp8`: value = table[code] * scale, groups
    along the last dimension, the even element in the low half.
    """

    kind: str
    bits: int
    group: int

    @property
    def name(self) -> str:
        if self.kind == "affine":
            return f"affine{self.bits}g{self.group}"
        return self.kind if self.kind in _MICROSCALING else f"{self.kind}b{self.group}"

    @property
    def flat(self) -> bool:
        """Blocks run over the flattened tensor and may cross rows."""
        return self.kind in ("nf4", "fp4", "dynamic8")

    @staticmethod
    @cache
    def parse(name: str) -> Format:
        """`affine4g64`, `nf4b64`, `fp4b128`, `dynamic8b256`, `mxfp4`, `nvfp4` or `mxfp8`. Raises ValueError."""
        if name in _MICROSCALING:
            return Format(name, *_MICROSCALING[name])
        if match := _NAME.fullmatch(name):
            if match["kind"]:
                bits, group = int(match["bits"]), int(match["group"])
                if bits in AFFINE_BITS and group in AFFINE_GROUPS:
                    return Format("affine", bits, group)
            else:
                size = int(match["size"])
                if size in (BLOCKS_8BIT if match["block"] == "dynamic8" else BLOCKS_4BIT):
                    return Format(match["block"], 8 if match["block"] == "dynamic8" else 4, size)
        raise ValueError(
            f"{name!r} is not a format: expected affine{{2,3,4,5,6,8}}g{{32,64,128}}, nf4b/fp4b{{32..4096}}, "
            "dynamic8b{64..4096}, mxfp4, nvfp4 or mxfp8"
        )


@dataclass(frozen=True)
class QuantTensor:
    """A quantized tensor of dense `shape` (last dimension K) and dense `dtype`.

    `codes`: int32 [..., K * bits / 32] for affine and microscaling formats, uint8 [bytes] for flat ones.
    `scales`: [..., K / group] (affine in the dense type, microscaling uint8), or absmax fp32 [blocks], uint8 when
    nested.
    `biases`: [..., K / group], affine only.
    `absmax2` fp32 [blocks / 256], `offset` fp32 []: set when the absmax is itself quantized (bitsandbytes' nested
    form).
    """

    format: Format
    shape: tuple[int, ...]
    dtype: torch.dtype
    codes: torch.Tensor
    scales: torch.Tensor
    biases: torch.Tensor | None = None
    absmax2: torch.Tensor | None = None
    offset: torch.Tensor | None = None
    plans: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """How calls on this tensor are served: kept by `rocport.ops.plans`."""

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out the plans: they point to this one's tensors."""
        return self.__dict__ | {"plans": {}}

    @property
    def parts(self) -> tuple[torch.Tensor | None, ...]:
        """What is stored, in the order of the fields."""
        return (self.codes, self.scales, self.biases, self.absmax2, self.offset)

    @property
    def nested(self) -> bool:
        return self.absmax2 is not None

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def to(self, device: torch.device | str) -> QuantTensor:
        """The same tensor on another device."""

        def move(tensor: torch.Tensor | None) -> torch.Tensor | None:
            return None if tensor is None else tensor.to(device)

        return replace(
            self,
            codes=self.codes.to(device),
            scales=self.scales.to(device),
            biases=move(self.biases),
            absmax2=move(self.absmax2),
            offset=move(self.offset),
        )

    def nbytes(self) -> int:
        """Bytes stored, scales included."""
        return sum(part.numel() * part.element_size() for part in self.parts if part is not None)


def as_int32(words: torch.Tensor) -> torch.Tensor:
    """MLX stores words as uint32, for which PyTorch has few operations: the same bits as int32."""
    return words.view(torch.int32) if words.dtype == torch.uint32 else words


def blocks(numel: int, size: int) -> int:
    """How many blocks of `size` cover `numel` elements."""
    return -(-numel // size)

"""bitsandbytes' 4-bit weights inside a safetensors checkpoint: which tensors belong together, and what they say.

A weight `W` is stored as packed nibbles (first value in the high nibble) under its own name, with

    W.absmax                               one scale a block: float32, or uint8 when nested
    W.quant_map                            the 16 values of the 4-bit code, float32
    W.nested_absmax, W.nested_quant_map    scales of the scales, when nested ("double quantization")
    W.quant_state.bitsandbytes__nf4        JSON as uint8: quant_type, blocksize, dtype, shape, nested_*

Source: QuantState of bitsandbytes 0.50.2, https://github.com/bitsandbytes-foundation/bitsandbytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.tensorfile import Tensor

MARK = ".quant_state.bitsandbytes__"
TYPES = ("nf4", "fp4")
DTYPES: Mapping[str, str] = {"float16": "F16", "bfloat16": "BF16", "float32": "F32"}
"""torch's name -> safetensors' name."""


@dataclass(frozen=True)
class QuantizedWeight:
    """One 4-bit weight. Block sizes count values; `shape` and `dtype` are those of the weight it stands for."""

    name: str
    quant_type: str
    blocksize: int
    dtype: str
    shape: tuple[int, ...]
    packed: Tensor
    absmax: Tensor
    code: Tensor
    state: Tensor
    nested_absmax: Tensor | None = None
    nested_code: Tensor | None = None
    nested_blocksize: int = 0
    nested_offset: float = 0.0

    @property
    def elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def blocks(self) -> int:
        return -(-self.elements // self.blocksize)

    @property
    def nested(self) -> bool:
        return self.nested_absmax is not None

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """Every tensor that is stored for this weight, the packed one included."""
        optional = (self.nested_absmax, self.nested_code)
        return (self.packed, self.absmax, self.code, self.state, *(part for part in optional if part is not None))


def find_quantized(tensors: Mapping[str, Tensor]) -> dict[str, QuantizedWeight]:
    """Every 4-bit weight by name. Raises CheckpointError when a part is missing or does not fit."""
    found = {}
    for name, tensor in tensors.items():
        weight, mark, kind = name.partition(MARK)
        if mark:
            found[weight] = _weight(weight, kind, tensor, tensors)
    return found


def _weight(name: str, kind: str, state: Tensor, tensors: Mapping[str, Tensor]) -> QuantizedWeight:
    if kind not in TYPES:
        raise CheckpointError(f"{state.path}: {name}: 4-bit type {kind!r} is unknown; expected nf4 or fp4")
    data = _state(name, state)

    def part(suffix: str, dtypes: tuple[str, ...]) -> Tensor:
        tensor = tensors.get(name + suffix)
        if tensor is None:
            raise CheckpointError(f"{state.path}: {name}: its part {suffix or 'weight'!r} is missing")
        if dtypes and tensor.dtype not in dtypes:
            raise CheckpointError(f"{tensor.path}: {tensor.name}: is {tensor.dtype}, expected {' or '.join(dtypes)}")
        return tensor

    nested = f"{name}.nested_absmax" in tensors
    weight = QuantizedWeight(
        name=name,
        quant_type=kind,
        blocksize=_number(data, "blocksize", name, state),
        dtype=_dtype(data, name, state),
        shape=_shape(data, name, state),
        packed=part("", ()),
        absmax=part(".absmax", ("U8",) if nested else ("F32", "F16", "BF16")),
        code=part(".quant_map", ("F32",)),
        state=state,
        nested_absmax=part(".nested_absmax", ("F32",)) if nested else None,
        nested_code=part(".nested_quant_map", ("F32",)) if nested else None,
        nested_blocksize=_number(data, "nested_blocksize", name, state) if nested else 0,
        nested_offset=_offset(data, name, state) if nested else 0.0,
    )
    _check_sizes(weight)
    return weight


def _check_sizes(weight: QuantizedWeight) -> None:
    def expect(tensor: Tensor, count: int, what: str) -> None:
        if count != tensor.elements:
            raise CheckpointError(f"{tensor.path}: {tensor.name}: {tensor.elements} {what}, expected {count}")

    if weight.packed.nbytes != -(-weight.elements // 2):
        raise CheckpointError(
            f"{weight.packed.path}: {weight.name}: {weight.packed.nbytes} bytes cannot hold {weight.elements} nibbles"
        )
    expect(weight.absmax, weight.blocks, f"scales for blocks of {weight.blocksize}")
    expect(weight.code, 16, "code values")
    if weight.nested_absmax is not None and weight.nested_code is not None:
        expect(weight.nested_absmax, -(-weight.blocks // weight.nested_blocksize), "scales of scales")
        expect(weight.nested_code, 256, "code values")


def _state(name: str, state: Tensor) -> dict[str, Any]:
    if state.nbytes > 1_000_000:
        raise CheckpointError(f"{state.path}: {state.name}: {state.nbytes} bytes are no quantization state")
    try:
        data = json.loads(state.read())
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{state.path}: {state.name}: is not JSON ({error})") from error
    if not isinstance(data, dict):
        raise CheckpointError(f"{state.path}: {name}: its quantization state is not an object")
    return data


def _number(data: Mapping[str, Any], key: str, name: str, state: Tensor) -> int:
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 2 or value % 2:
        raise CheckpointError(f"{state.path}: {name}: {key} is {value!r}; expected an even number of values")
    return value


def _dtype(data: Mapping[str, Any], name: str, state: Tensor) -> str:
    value = data.get("dtype")
    if value not in DTYPES:
        raise CheckpointError(f"{state.path}: {name}: dtype is {value!r}; expected {', '.join(DTYPES)}")
    return str(value)


def _shape(data: Mapping[str, Any], name: str, state: Tensor) -> tuple[int, ...]:
    value = data.get("shape")
    if not isinstance(value, list) or not all(isinstance(n, int) and n >= 0 for n in value):
        raise CheckpointError(f"{state.path}: {name}: shape is {value!r}; expected a list of sizes")
    return tuple(value)


def _offset(data: Mapping[str, Any], name: str, state: Tensor) -> float:
    value = data.get("nested_offset")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise CheckpointError(f"{state.path}: {name}: nested_offset is {value!r}; expected a number")
    return float(value)

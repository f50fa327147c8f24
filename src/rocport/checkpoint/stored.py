"""Every way a weight is stored in safetensors that rocport reads, behind one interface: values of a range, one value.

| layout | whose | tensors of weight `X.weight` |
|---|---|---|
| dense | anybody's | F16, BF16, F32 |
| nf4b64, fp4b128, ... | bitsandbytes | see `quantstate` |
| int8 | bitsandbytes (LLM.int8) | int8 [N, K], `X.SCB` fp32 [N]: code * SCB / 127; `X.weight_format` |
| affine4g64, ... | MLX | words [N, K * bits / 32], `X.scales`, `X.biases` [N, K / group]: scale * code + bias |
| mxfp4, nvfp4, mxfp8 | MLX | words, `X.scales` uint8: table[code] * scale |
| fp8 | transformers, vLLM | F8 [N, K], `X.weight_scale` (one, or a row) or `X.weight_scale_inv` (a tile) |
| mxfp4 of gpt-oss | OpenAI | `X_blocks` [E, N, K / 32, 16], `X_scales` [E, N, K / 32]; the dense tensor is [E, K, N] |
| gptq4g128, ... | GPTQ | `X.qweight` [K * bits / 32, N], `X.qzeros`, `X.scales` [G, N], `X.g_idx` [K] |
| awq4g128, ... | AutoAWQ (GEMM) | `X.qweight` [K, N / 8], `X.qzeros`, `X.scales` [G, N]; nibbles interleaved |

| Q4_K, Q8_0, ... | llama.cpp's GGUF | blocks of 32 or 256 values (`gguf_blocks`); rows of q and k in another order |

Sources: bitsandbytes 0.50.2, MLX 0.32, transformers 5.23 (integrations/mxfp4.py, finegrained_fp8.py), GPTQModel and
AutoAWQ 0.2.9 (`utils/packing_utils.py`). `value` decodes one value in plain Python and shares nothing with `values`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from rocport.checkpoint import codec
from rocport.checkpoint.errors import CheckpointError
from rocport.checkpoint.quantstate import QuantizedWeight, find_quantized
from rocport.checkpoint.tensorfile import Tensor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rocport.checkpoint.codec import Floats

FLOATS = {"F16": "float16", "BF16": "bfloat16", "F32": "float32"}
FP8 = ("F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ")
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
MICROSCALING = {"mxfp4": (4, 32), "nvfp4": (4, 16), "mxfp8": (8, 32)}


class Weight:
    """A matrix (or a stack of them) as a checkpoint holds it. `dtype` is torch's name of the type it stands for."""

    name: str
    layout: str
    shape: tuple[int, ...]
    dtype: str
    parts: tuple[Tensor, ...]
    """Every tensor that is stored for it; the first names the file it is in."""
    unit: int
    """Ranges begin at a multiple of this and, but for the last, are a multiple long."""

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    def values(self, begin: int, count: int) -> Floats:
        """float32 values [begin, begin + count) of the flattened weight."""
        raise NotImplementedError

    def value(self, index: int) -> float:
        """One value, by other means than `values`."""
        raise NotImplementedError

    def release(self) -> None:
        """Drop what was read for its values."""
        for kept in ("_scales", "_loaded"):
            self.__dict__.pop(kept, None)

    def pieces(self, step: int) -> Iterator[Floats]:
        """All values in pieces of at most `step`, a multiple of the unit."""
        for begin in range(0, self.elements, step):
            yield self.values(begin, min(step, self.elements - begin))


def _array(tensor: Tensor, kind: str) -> NDArray[Any]:
    import numpy as np

    return np.frombuffer(tensor.read(), kind).reshape(tensor.shape)


def _floats(tensor: Tensor) -> Floats:
    return codec.from_bytes(tensor.read(), tensor.dtype).reshape(tensor.shape)


def _one(tensor: Tensor, index: int) -> float:
    """Element `index` of a tensor of floats, in plain Python."""
    size = tensor.nbytes // max(tensor.elements, 1)
    data = tensor.read(index * size, size)
    if tensor.dtype == "BF16":
        data = b"\0\0" + data
    return float(struct.unpack({"F16": "<e"}.get(tensor.dtype, "<f"), data)[0])


def _word(tensor: Tensor, index: int) -> int:
    return int.from_bytes(tensor.read(4 * index, 4), "little")


def _single(value: float) -> float:
    """Rounded to float32."""
    return codec.reference_value(0, 1.0, [value])


@dataclass
class Dense(Weight):
    """Stored as it is."""

    tensor: Tensor

    def __post_init__(self) -> None:
        self.name, self.layout, self.shape = self.tensor.name, "dense", self.tensor.shape
        self.dtype, self.parts, self.unit = FLOATS[self.tensor.dtype], (self.tensor,), 1

    def values(self, begin: int, count: int) -> Floats:
        size = self.tensor.nbytes // max(self.elements, 1)
        return codec.from_bytes(self.tensor.read(begin * size, count * size), self.tensor.dtype)

    def value(self, index: int) -> float:
        return _one(self.tensor, index)


@dataclass
class Blocks(Weight):
    """bitsandbytes' 4-bit blocks."""

    weight: QuantizedWeight

    def __post_init__(self) -> None:
        w = self.weight
        self.name, self.layout, self.shape, self.dtype = w.name, f"{w.quant_type}b{w.blocksize}", w.shape, w.dtype
        self.parts, self.unit = w.parts, math.lcm(2, w.blocksize)

    @cached_property
    def _scales(self) -> Floats:
        import numpy as np

        w = self.weight
        if w.nested_absmax is None or w.nested_code is None:
            return _floats(w.absmax).reshape(-1)
        return codec.decode_scales(
            np.frombuffer(w.absmax.read(), np.uint8), _floats(w.nested_absmax).reshape(-1),
            _floats(w.nested_code).reshape(-1), w.nested_blocksize, w.nested_offset,
        )  # fmt: skip

    def scales(self) -> Floats:
        """One a block, fp32, no longer nested."""
        return self._scales

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        w = self.weight
        packed = np.frombuffer(w.packed.read(begin // 2, -(-count // 2)), np.uint8)
        first, last = begin // w.blocksize, -(-(begin + count) // w.blocksize)
        return codec.decode(packed, self._scales[first:last], _floats(w.code).reshape(-1), w.blocksize, count)

    def value(self, index: int) -> float:
        w = self.weight
        byte = w.packed.read(index // 2, 1)[0]
        code = [_one(w.code, at) for at in range(16)]
        return codec.reference_value(byte & 15 if index % 2 else byte >> 4, self._scale(index // w.blocksize), code)

    def _scale(self, block: int) -> float:
        w = self.weight
        if w.nested_absmax is None or w.nested_code is None:
            return _one(w.absmax, block)
        inner = _one(w.nested_code, w.absmax.read(block, 1)[0])
        outer = _one(w.nested_absmax, block // w.nested_blocksize)
        return _single(_single(inner * outer) + _single(w.nested_offset))


@dataclass
class Int8(Weight):
    """bitsandbytes' LLM.int8 rows."""

    name: str
    tensor: Tensor
    absmax: Tensor
    order: Tensor | None
    dtype: str

    def __post_init__(self) -> None:
        self.layout, self.shape, self.unit = "int8", self.tensor.shape, self.tensor.shape[-1]
        self.parts = (self.tensor, self.absmax, *(() if self.order is None else (self.order,)))
        if self.order is not None and any(self.order.read()):
            raise CheckpointError(f"{self.order.path}: {self.order.name}: only weights stored by rows are read")

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        codes = np.frombuffer(self.tensor.read(begin, count), np.int8).reshape(-1, self.unit).astype(np.float32)
        rows = _floats(self.absmax).reshape(-1)[begin // self.unit : (begin + count) // self.unit]
        result: Floats = (codes * (rows / np.float32(127))[:, None]).reshape(-1)
        return result

    def value(self, index: int) -> float:
        (code,) = struct.unpack("b", self.tensor.read(index, 1))
        return _single(code * _single(_one(self.absmax, index // self.unit) / 127))


@dataclass
class Words(Weight):
    """MLX's affine and microscaling words. `shape` may be a stack."""

    name: str
    tensor: Tensor
    scales: Tensor
    biases: Tensor | None
    kind: str
    bits: int
    group: int
    dtype: str

    def __post_init__(self) -> None:
        self.unit = self.tensor.shape[-1] * 32 // self.bits
        self.shape = (*self.tensor.shape[:-1], self.unit)
        self.layout = f"affine{self.bits}g{self.group}" if self.kind == "affine" else self.kind
        self.parts = (self.tensor, self.scales, *(() if self.biases is None else (self.biases,)))

    def _rows(self, tensor: Tensor, begin: int, end: int) -> bytes:
        size = tensor.nbytes * self.unit // max(self.elements, 1)
        return tensor.read(begin * size, (end - begin) * size)

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        first, last = begin // self.unit, (begin + count) // self.unit
        words = np.frombuffer(self._rows(self.tensor, first, last), "<u4").reshape(last - first, -1)
        codes = _stream(words, self.bits, self.unit)
        raw = self._rows(self.scales, first, last)
        if self.kind == "affine" and self.biases is not None:
            scale = codec.from_bytes(raw, self.scales.dtype).reshape(last - first, -1)
            bias = codec.from_bytes(self._rows(self.biases, first, last), self.biases.dtype).reshape(last - first, -1)
            wide = np.repeat(scale, self.group, 1) * codes.astype(np.float32) + np.repeat(bias, self.group, 1)
        else:
            scale = _microscales(np.frombuffer(raw, np.uint8), self.kind).reshape(last - first, -1)
            wide = _elements(self.bits)[codes] * np.repeat(scale, self.group, 1)
        result: Floats = wide.astype(np.float32).reshape(-1)
        return result

    def value(self, index: int) -> float:
        row, at = divmod(index, self.unit)
        words, start = self.tensor.shape[-1], at * self.bits
        code = _word(self.tensor, row * words + start // 32) >> (start % 32)
        if start % 32 + self.bits > 32:
            code |= _word(self.tensor, row * words + start // 32 + 1) << (32 - start % 32)
        code &= (1 << self.bits) - 1
        group = row * (self.unit // self.group) + at // self.group
        if self.kind == "affine" and self.biases is not None:
            return _single(_single(_one(self.scales, group) * code) + _one(self.biases, group))
        scale = self.scales.read(group, 1)[0]
        return _single(_element(code, self.bits) * (_e4m3(scale) if self.kind == "nvfp4" else 2.0 ** (scale - 127)))


@dataclass
class Fp8(Weight):
    """8-bit floats with one scale, one a row, or one a tile of `tile`."""

    name: str
    tensor: Tensor
    scale: Tensor | None
    dtype: str

    def __post_init__(self) -> None:
        self.layout, self.shape, self.unit = "fp8", self.tensor.shape, self.tensor.shape[-1]
        self.parts = (self.tensor, *(() if self.scale is None else (self.scale,)))
        count = 1 if self.scale is None else self.scale.elements
        rows = self.shape[0]
        if count not in (1, rows) and (self.scale is None or len(self.scale.shape) != 2 or len(self.shape) != 2):
            raise CheckpointError(f"{self.tensor.path}: {self.name}: {count} scales do not fit {list(self.shape)}")
        self.tile = (rows, self.unit)
        if count == rows:
            self.tile = (1, self.unit)
        elif count > 1 and self.scale is not None:
            self.tile = (-(-rows // self.scale.shape[0]), -(-self.unit // self.scale.shape[1]))

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        table = np.array([_fp8(code, self.tensor.dtype) for code in range(256)], np.float32)
        wide = table[np.frombuffer(self.tensor.read(begin, count), np.uint8)].reshape(-1, self.unit)
        if self.scale is None:
            return wide.reshape(-1)
        scales = _floats(self.scale).reshape(-(-self.shape[0] // self.tile[0]), -1)
        rows = np.arange(begin // self.unit, (begin + count) // self.unit) // self.tile[0]
        spread = np.repeat(scales[rows], self.tile[1], 1)[:, : self.unit]
        result: Floats = (wide * spread).astype(np.float32).reshape(-1)
        return result

    def value(self, index: int) -> float:
        value = _fp8(self.tensor.read(index, 1)[0], self.tensor.dtype)
        if self.scale is None:
            return value
        row, at = divmod(index, self.unit)
        across = -(-self.unit // self.tile[1])
        return _single(value * _one(self.scale, row // self.tile[0] * across + at // self.tile[1]))


@dataclass
class OssBlocks(Weight):
    """gpt-oss' mxfp4: [E, N, K / 32, 16] bytes, which stand for [E, K, N]."""

    name: str
    blocks: Tensor
    scales: Tensor

    def __post_init__(self) -> None:
        experts, rows, groups, _ = self.blocks.shape
        self.shape, self.layout, self.dtype = (experts, groups * 32, rows), "mxfp4", "bfloat16"
        self.unit, self.parts = groups * 32 * rows, (self.blocks, self.scales)

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        first, last = begin // self.unit, (begin + count) // self.unit
        _, width, rows = self.shape
        packed = np.frombuffer(self.blocks.read(begin // 2, count // 2), np.uint8)
        codes = np.stack((packed & 15, packed >> 4), -1).reshape(last - first, rows, width)
        raw = np.frombuffer(self.scales.read(begin // 32, count // 32), np.uint8)
        scale = _microscales(raw, "mxfp4").reshape(last - first, rows, -1)
        wide = _elements(4)[codes] * np.repeat(scale, 32, 2)
        result: Floats = np.ascontiguousarray(wide.transpose(0, 2, 1), np.float32).reshape(-1)
        return result

    def value(self, index: int) -> float:
        expert, rest = divmod(index, self.unit)
        at, row = divmod(rest, self.shape[2])
        stored = (expert * self.shape[2] + row) * self.shape[1] + at
        byte = self.blocks.read(stored // 2, 1)[0]
        scale = self.scales.read(stored // 32, 1)[0]
        return _single(_element(byte >> 4 if stored % 2 else byte & 15, 4) * 2.0 ** (scale - 127))


@dataclass
class Slice(Weight):
    """Matrix `at` of a stack."""

    name: str
    stack: Weight
    at: int

    def __post_init__(self) -> None:
        self.layout, self.shape, self.dtype = self.stack.layout, self.stack.shape[1:], self.stack.dtype
        self.parts, self.unit = self.stack.parts, self.stack.unit

    def values(self, begin: int, count: int) -> Floats:
        return self.stack.values(self.at * self.elements + begin, count)

    def value(self, index: int) -> float:
        return self.stack.value(self.at * self.elements + index)

    def release(self) -> None:
        self.stack.release()


@dataclass
class Stack(Weight):
    """Matrices of one shape as one, [E, N, K]."""

    name: str
    each: tuple[Weight, ...]

    def __post_init__(self) -> None:
        first = self.each[0]
        self.layout, self.shape, self.dtype = first.layout, (len(self.each), *first.shape), first.dtype
        self.parts, self.unit = tuple(part for one in self.each for part in one.parts), first.unit

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        size, pieces = self.each[0].elements, []
        while count > 0:
            at, inside = divmod(begin, size)
            taken = min(count, size - inside)
            pieces.append(self.each[at].values(inside, taken))
            begin, count = begin + taken, count - taken
        return np.concatenate(pieces) if pieces else np.empty(0, np.float32)

    def value(self, index: int) -> float:
        at, inside = divmod(index, self.each[0].elements)
        return self.each[at].value(inside)

    def release(self) -> None:
        for one in self.each:
            one.release()


_MIXTRAL = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
_EXPERT = re.compile(r"(.+)\.experts\.(\d+)\.(gate_proj|up_proj|down_proj|w1|w2|w3)\.weight")
_SWITCH = re.compile(r"(.+)\.switch_mlp\.(gate_proj|up_proj|down_proj)\.weight")


def stacked(weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """`weights` with the experts of each mixture as one stack, as MLX names them: `P.switch_mlp.gate_proj.weight` for
    `P.experts.E.gate_proj.weight` (or Mixtral's w1, w2, w3). Experts that are not all there, or not alike, stay."""
    groups: dict[str, dict[int, Weight]] = {}
    for name, weight in weights.items():
        if match := _EXPERT.fullmatch(name):
            part = _MIXTRAL.get(match[3], match[3])
            groups.setdefault(f"{match[1]}.switch_mlp.{part}.weight", {})[int(match[2])] = weight
    result = dict(weights)
    for name, found in groups.items():
        each = tuple(found[at] for at in sorted(found))
        alike = len({(one.shape, one.layout, one.dtype) for one in each}) == 1 and len(each[0].shape) == 2
        if alike and set(found) == set(range(len(each))):
            for one in each:
                del result[one.name]
            result[name] = Stack(name, each)
    return result


def apart(weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """`weights` with MLX's stacks of experts as one matrix each, as transformers names them."""
    result: dict[str, Weight] = {}
    for name, weight in weights.items():
        match = _SWITCH.fullmatch(name)
        if match is None or len(weight.shape) != 3:
            result[name] = weight
            continue
        parts = {new: old for old, new in _MIXTRAL.items()} if match[1].endswith("block_sparse_moe") else {}
        for at in range(weight.shape[0]):
            one = f"{match[1]}.experts.{at}.{parts.get(match[2], match[2])}.weight"
            result[one] = Slice(one, weight, at)
    return result


AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
"""Place in a word of column 8 * i + j, by j."""


@dataclass
class Columns(Weight):
    """GPTQ and AWQ: integers of [K, N], which stand for [N, K]. `shift` is what GPTQ stores its zero points less by."""

    name: str
    kind: str
    bits: int
    group: int
    qweight: Tensor
    qzeros: Tensor
    scales: Tensor
    g_idx: Tensor | None
    shift: int
    dtype: str = "float16"

    def __post_init__(self) -> None:
        per = 32 // self.bits
        rows, columns = self.qweight.shape
        into, out = (rows * per, columns) if self.kind == "gptq" else (rows, columns * per)
        self.shape, self.unit, self.layout = (out, into), into, f"{self.kind}{self.bits}g{self.group}"
        parts = (self.qweight, self.qzeros, self.scales, self.g_idx)
        self.parts = tuple(part for part in parts if part is not None)
        groups = -(-into // self.group)
        if self.scales.shape != (groups, out) or self.qzeros.shape != (groups, out // per):
            raise CheckpointError(f"{self.qweight.path}: {self.name}: scales {list(self.scales.shape)} do not fit")

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any, Any]:
        """Words of the weight, zero points [G, N], scales [G, N], the group of each of K."""
        import numpy as np

        zeros = self._spread(_array(self.qzeros, "<u4"))
        group = np.arange(self.unit) // self.group if self.g_idx is None else _array(self.g_idx, "<i4")
        return _array(self.qweight, "<u4"), zeros + self.shift, _floats(self.scales), group

    def _spread(self, words: NDArray[Any]) -> NDArray[Any]:
        """Words [R, C] to the integers of their columns [R, C * per]."""
        import numpy as np

        per = 32 // self.bits
        order = np.array(AWQ_ORDER if self.kind == "awq" else range(per), np.uint32)
        codes = words[:, :, None] >> (order * self.bits)[None, None, :] & ((1 << self.bits) - 1)
        return codes.reshape(words.shape[0], -1).astype(np.int32)

    def values(self, begin: int, count: int) -> Floats:
        import numpy as np

        words, zeros, scales, group = self._loaded
        first, last = begin // self.unit, (begin + count) // self.unit
        if self.kind == "gptq":
            shifts = (np.arange(32 // self.bits, dtype=np.uint32) * self.bits)[None, :, None]
            codes = (words[:, None, first:last] >> shifts & ((1 << self.bits) - 1)).reshape(self.unit, -1)
        else:
            per = 32 // self.bits
            some = self._spread(words[:, first // per : -(-last // per)])
            codes = some[:, first % per : first % per + last - first]
        wide = (codes.astype(np.int32) - zeros[group, first:last]).astype(np.float32) * scales[group, first:last]
        result: Floats = np.ascontiguousarray(wide.T).reshape(-1)
        return result

    def value(self, index: int) -> float:
        out, at = divmod(index, self.unit)
        per, mask = 32 // self.bits, (1 << self.bits) - 1
        columns = self.shape[0]
        group = at // self.group
        if self.g_idx is not None:
            group = _word(self.g_idx, at)
        place = AWQ_ORDER[out % per] if self.kind == "awq" else out % per
        if self.kind == "gptq":
            code = _word(self.qweight, at // per * columns + out) >> at % per * self.bits & mask
        else:
            code = _word(self.qweight, at * (columns // per) + out // per) >> place * self.bits & mask
        zero = (_word(self.qzeros, group * (columns // per) + out // per) >> place * self.bits & mask) + self.shift
        return _single((code - zero) * _one(self.scales, group * columns + out))


def _stream(words: NDArray[Any], bits: int, count: int) -> NDArray[np.uint32]:
    """Rows of words to rows of `count` codes: code i takes bits [i * bits, (i + 1) * bits) of its row."""
    import numpy as np

    if 32 % bits == 0:
        shifts = np.arange(32 // bits, dtype=np.uint32) * bits
        codes = words[:, :, None] >> shifts & ((1 << bits) - 1)
        return codes.reshape(words.shape[0], -1)[:, :count].astype(np.uint32)
    start = np.arange(count, dtype=np.int64) * bits
    wide = words.astype(np.uint64)
    following = np.minimum(start // 32 + 1, words.shape[1] - 1)
    joined = wide[:, start // 32] | wide[:, following] << np.uint64(32)
    return (joined >> (start % 32).astype(np.uint64) & np.uint64((1 << bits) - 1)).astype(np.uint32)


def _element(code: int, bits: int) -> float:
    """E2M1 or E4M3, the elements of microscaling formats."""
    if bits == 8:
        return _e4m3(code)
    return -E2M1[code & 7] if code & 8 else E2M1[code]


@lru_cache
def _elements(bits: int) -> Floats:
    import numpy as np

    return np.array([_element(code, bits) for code in range(1 << bits)], np.float32)


def _microscales(raw: NDArray[Any], kind: str) -> Floats:
    import numpy as np

    if kind == "nvfp4":
        table: Floats = _elements(8)[raw]
        return table
    scales: Floats = np.ldexp(np.float32(1), raw.astype(np.int32) - 127).astype(np.float32)
    return scales


def _e4m3(code: int) -> float:
    return _fp8(code, "F8_E4M3")


def _fp8(code: int, kind: str) -> float:
    """One 8-bit float. OCP OFP8 1.0, section 5; fnuz: a bias one more, no infinity, 0x80 is NaN."""
    exponent_bits = 4 if "E4M3" in kind else 5
    fnuz = kind.endswith("FNUZ")
    mantissa_bits, bias = 7 - exponent_bits, (1 << exponent_bits - 1) - (0 if fnuz else 1)
    sign = -1.0 if code & 0x80 else 1.0
    exponent, mantissa = (code & 0x7F) >> mantissa_bits, code & (1 << mantissa_bits) - 1
    if fnuz and code == 0x80:
        return float("nan")
    if not fnuz and exponent == (1 << exponent_bits) - 1:
        if exponent_bits == 5:
            return sign * float("inf") if mantissa == 0 else float("nan")
        if mantissa == 7:
            return float("nan")
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)


def find_weights(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> dict[str, Weight]:
    """Every quantized weight by the name of its dense tensor. `config` is the model's config.json, empty without one.

    Raises CheckpointError when a part is missing, does not fit, or is stored in a way that is not known.
    """
    found: dict[str, Weight] = {name: Blocks(weight) for name, weight in find_quantized(tensors).items()}
    said = config.get("quantization_config")
    said = said if isinstance(said, dict) else {}
    dtype = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16").removeprefix("torch.")
    dtype = dtype if dtype in FLOATS.values() else "bfloat16"
    for name in tensors:
        if name.endswith(".SCB") and getattr(tensors.get(f"{name[:-4]}.weight"), "dtype", "") != "I8":
            path = tensors[name].path
            raise CheckpointError(f"{path}: {name} belongs to a weight in bitsandbytes' 8-bit format, which is missing")
    for name, tensor in tensors.items():
        module, _, last = name.rpartition(".")
        one: Weight | None = None
        if last == "weight" and f"{module}.SCB" in tensors and tensor.dtype == "I8":
            one = Int8(name, tensor, tensors[f"{module}.SCB"], tensors.get(f"{module}.weight_format"), dtype)
        elif last == "weight" and tensor.dtype in ("U32", "I32") and f"{module}.scales" in tensors:
            one = _words(name, module, tensors, config, dtype)
        elif last == "weight" and tensor.dtype in FP8:
            scale = next((tensors[f"{name}{s}"] for s in ("_scale_inv", "_scale") if f"{name}{s}" in tensors), None)
            one = Fp8(name, tensor, scale, dtype)
        elif name.endswith("_blocks") and f"{name[:-7]}_scales" in tensors and len(tensor.shape) == 4:
            one = OssBlocks(name[:-7], tensor, tensors[f"{name[:-7]}_scales"])
        elif last == "qweight":
            one = _columns(module, tensors, said)
        if one is not None:
            found[one.name] = one
    return found


def _words(
    name: str, module: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any], dtype: str
) -> Weight | None:
    said = config.get("quantization")
    if not isinstance(said, dict):
        raise CheckpointError(f"{tensors[name].path}: {name}: words with scales, but config.json says no group size")
    own = said.get(module)
    own = {**said, **own} if isinstance(own, dict) else said
    kind = str(own.get("mode", "affine"))
    tensor, scales, biases = tensors[name], tensors[f"{module}.scales"], tensors.get(f"{module}.biases")
    group = MICROSCALING[kind][1] if kind in MICROSCALING else own.get("group_size")
    if not isinstance(group, int) or group <= 0 or scales.shape[:-1] != tensor.shape[:-1] or not scales.shape[-1]:
        raise CheckpointError(f"{tensor.path}: {name}: {list(scales.shape)} scales of groups of {group!r} do not fit")
    bits, rest = divmod(tensor.shape[-1] * 32, scales.shape[-1] * group)
    if rest or bits not in (2, 3, 4, 5, 6, 8) or (kind == "affine") != (biases is not None):
        raise CheckpointError(f"{tensor.path}: {name}: {kind} words of {bits} bits are not known")
    if kind not in (*MICROSCALING, "affine"):
        raise CheckpointError(f"{tensor.path}: {name}: MLX's mode {kind!r} is not known")
    dense = FLOATS.get(scales.dtype, dtype)
    return Words(name, tensor, scales, biases, kind, bits, group, dense)


def _columns(module: str, tensors: Mapping[str, Tensor], said: Mapping[str, Any]) -> Weight:
    method, bits = str(said.get("quant_method", "")), said.get("bits", said.get("w_bit"))
    path = tensors[f"{module}.qweight"].path
    if method not in ("gptq", "awq") or bits not in (2, 4, 8) or (method == "awq" and bits != 4):
        raise CheckpointError(
            f"{path}: {module}: {method or 'an unnamed method'} of {bits!r} bits is not read: GPTQ of 2, 4, 8, AWQ of 4"
        )
    if method == "awq" and str(said.get("version", "gemm")).lower() != "gemm":
        raise CheckpointError(f"{path}: {module}: AWQ's layout {said['version']!r} is not read: gemm is")
    missing = [part for part in ("qzeros", "scales") if f"{module}.{part}" not in tensors]
    if missing:
        raise CheckpointError(f"{path}: {module}: its part {missing[0]!r} is missing")
    qweight, scales = tensors[f"{module}.qweight"], tensors[f"{module}.scales"]
    into = qweight.shape[0] * (32 // bits if method == "gptq" else 1)
    group = said.get("group_size", said.get("q_group_size", 128))
    group = group if isinstance(group, int) and group > 0 else into
    shift = 1 if method == "gptq" and said.get("checkpoint_format", "gptq") == "gptq" else 0
    return Columns(
        f"{module}.weight", method, bits, group, qweight, tensors[f"{module}.qzeros"], scales,
        tensors.get(f"{module}.g_idx"), shift, FLOATS.get(scales.dtype, "float16"),
    )  # fmt: skip

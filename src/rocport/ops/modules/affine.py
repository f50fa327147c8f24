"""Layers that hold MLX's quantized checkpoints as they are: `weight`, `scales`, `biases` (and `bias`)."""

from __future__ import annotations

from typing import Any

import torch

from rocport.ops.dequantize import dequantize
from rocport.ops.formats import Format, QuantTensor, as_int32
from rocport.ops.gather_qmm import gather_qmm
from rocport.ops.quantize import quantize
from rocport.ops.quantized_matmul import quantized_matmul


class _Affine(torch.nn.Module):
    """Packed weights as buffers-like parameters: frozen, sharded by FSDP like any parameter."""

    weight: torch.nn.Parameter
    scales: torch.nn.Parameter
    biases: torch.nn.Parameter | None
    bias: torch.nn.Parameter | None

    def __init__(self, shape: tuple[int, ...], format: str, dtype: torch.dtype, device: torch.device | None) -> None:
        super().__init__()
        self._quantized: QuantTensor | None = None
        self._quantized_from: tuple[torch.nn.Parameter | None, ...] = ()
        fmt = Format.parse(format)
        if fmt.flat and len(shape) == 2:
            raise ValueError(f"{format} is a flat format of bitsandbytes: use Linear4bit")
        if shape[-1] % fmt.group:
            raise ValueError(f"{format} needs in_features a multiple of {fmt.group}, have {shape[-1]}")
        self.format = fmt
        self.shape = shape
        size, stored = (8, torch.uint8) if fmt.flat else (32, torch.int32)
        words = (*shape[:-1], shape[-1] * fmt.bits // size)
        groups = (*shape[:-1], shape[-1] // fmt.group)
        affine = fmt.kind == "affine"
        kind = dtype if affine else torch.float32 if fmt.flat else torch.uint8
        self.dtype = dtype
        self._frozen("weight", torch.zeros(words, dtype=stored, device=device))
        self._frozen("scales", torch.zeros(groups, dtype=kind, device=device))
        self._frozen("biases", torch.zeros(groups, dtype=kind, device=device) if affine else None)

    def _frozen(self, name: str, value: torch.Tensor | None) -> None:
        self.register_parameter(name, None if value is None else torch.nn.Parameter(value, requires_grad=False))

    def quantized(self) -> QuantTensor:
        """The packed weight. The same object from call to call while the parameters are: its plans are kept with it."""
        if torch.compiler.is_compiling():
            return self._packed()
        held = self._parameters
        q, made_from = self._quantized, self._quantized_from
        if (
            q is None
            or made_from[0] is not held["weight"]
            or made_from[1] is not held["scales"]
            or made_from[2] is not held["biases"]
            or q.format is not self.format
            or (q.format.flat and not self._views(q))
        ):
            q = self._quantized = self._packed()
            self._quantized_from = held["weight"], held["scales"], held["biases"]
        return q

    def _views(self, q: QuantTensor) -> bool:
        """What is kept are views of parameters, and they lie where these do."""
        return q.codes.data_ptr() == self.weight.data_ptr() and q.scales.data_ptr() == self.scales.data_ptr()

    def _packed(self) -> QuantTensor:
        if self.format.flat:
            codes, scales = self.weight.view(-1), self.scales.view(-1)
            return QuantTensor(self.format, self.shape, self.dtype, codes, scales)
        dtype = self.scales.dtype if self.scales.is_floating_point() else torch.bfloat16
        return QuantTensor(self.format, self.shape, dtype, self.weight, self.scales, self.biases)

    def _apply(self, *args: Any, **kwargs: Any) -> _Affine:
        # What is kept would hold the tensors as they were before a move, and their types.
        self._quantized, self._quantized_from = None, ()
        super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out what is kept."""
        return self.__dict__ | {"_quantized": None, "_quantized_from": ()}

    def _load_from_state_dict(self, state_dict: dict[str, torch.Tensor], prefix: str, *args: object) -> None:
        # MLX stores words as uint32, for which PyTorch has no copy to int32 that keeps the bits.
        key = prefix + "weight"
        if key in state_dict and not self.format.flat:
            state_dict[key] = as_int32(state_dict[key])
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _fill(self, q: QuantTensor) -> None:
        self._frozen("weight", q.codes.view(self.weight.shape))
        self._frozen("scales", q.scales.view(self.scales.shape))
        self._frozen("biases", q.biases)


class QuantizedLinear(_Affine):
    """y = x W^T + bias with W [out_features, in_features] in `format`: `affine4g64`, ..., `mxfp4`, `nvfp4`, `mxfp8`.

    State dict as MLX's QuantizedLinear: `weight` (words), `scales`, `biases`, and `bias` where there is one.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = False,
        format: str = "affine4g64",
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | None = None,
    ) -> None:
        super().__init__((out_features, in_features), format, dtype, device)
        self.in_features, self.out_features = in_features, out_features
        value = torch.nn.Parameter(torch.zeros(out_features, dtype=dtype, device=device)) if bias else None
        self.register_parameter("bias", value)

    @classmethod
    def from_linear(cls, linear: torch.nn.Linear, format: str = "affine4g64") -> QuantizedLinear:
        """Quantize a dense layer."""
        weight = linear.weight.detach()
        out, into = weight.shape
        layer = cls(into, out, linear.bias is not None, format, weight.dtype, weight.device)
        layer._fill(quantize(weight, format))
        if linear.bias is not None:
            layer.bias = torch.nn.Parameter(linear.bias.detach().clone())
        return layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: [..., in_features] to [..., out_features]."""
        return quantized_matmul(x, self.quantized(), self._parameters["bias"])

    def extra_repr(self) -> str:
        return f"in={self.shape[1]}, out={self.shape[0]}, format={self.format.name}, bias={self.bias is not None}"


class QuantizedEmbedding(_Affine):
    """A table [count, features] in MLX's words; a row is decoded when it is asked for.

    State dict as MLX's QuantizedEmbedding.
    """

    def __init__(
        self,
        count: int,
        features: int,
        format: str = "affine4g64",
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | None = None,
    ) -> None:
        super().__init__((count, features), format, dtype, device)

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        """index: [...] integers to [..., features]."""
        flat = index.reshape(-1)
        biases = None if self.biases is None else self.biases[flat]
        dtype = self.scales.dtype if self.scales.is_floating_point() else torch.bfloat16
        shape = (flat.numel(), self.shape[1])
        rows = dequantize(QuantTensor(self.format, shape, dtype, self.weight[flat], self.scales[flat], biases))
        return rows.view(*index.shape, -1)

    def as_linear(self) -> QuantizedLinear:
        """The head that shares this table."""
        layer = QuantizedLinear(self.shape[1], self.shape[0], False, self.format.name, device=torch.device("meta"))
        layer.weight, layer.scales, layer.biases = self.weight, self.scales, self.biases
        return layer

    def extra_repr(self) -> str:
        return f"count={self.shape[0]}, features={self.shape[1]}, format={self.format.name}"


class SwitchLinear(_Affine):
    """One quantized matrix an expert, W [experts, out_features, in_features].

    State dict as MLX's QuantizedSwitchLinear; in bitsandbytes' 4-bit forms `weight` [experts, out, in / 2] (bytes) and
    `scales` [experts, out, in / block] (fp32), for which bitsandbytes has no layer.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        experts: int,
        bias: bool = False,
        format: str = "affine4g64",
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | None = None,
    ) -> None:
        super().__init__((experts, out_features, in_features), format, dtype, device)
        value = torch.nn.Parameter(torch.zeros(experts, out_features, dtype=dtype, device=device)) if bias else None
        self.register_parameter("bias", value)

    @classmethod
    def from_weight(cls, weight: torch.Tensor, format: str = "affine4g64") -> SwitchLinear:
        """Quantize a dense stack [experts, out_features, in_features]."""
        experts, out, into = weight.shape
        layer = cls(into, out, experts, False, format, weight.dtype, weight.device)
        layer._fill(quantize(weight, format))
        return layer

    def forward(self, x: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        """x: [..., in_features], experts: [..., top] to [..., top, out_features]."""
        flat = experts.dim() == 2
        # What is flat already is not reshaped: that would be a third of the call's host time.
        rows, index = (x, experts) if flat else (x.reshape(-1, x.shape[-1]), experts.reshape(-1, experts.shape[-1]))
        out = gather_qmm(rows, self.quantized(), index)
        if (bias := self._parameters["bias"]) is not None:
            out = out + bias[index].to(out.dtype)
        return out if flat else out.view(*experts.shape, -1)

    def extra_repr(self) -> str:
        return f"experts={self.shape[0]}, in={self.shape[2]}, out={self.shape[1]}, format={self.format.name}"

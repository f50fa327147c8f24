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
        fmt = Format.parse(format)
        if fmt.flat:
            raise ValueError(f"{format} is a flat format of bitsandbytes: use Linear4bit")
        if shape[-1] % fmt.group:
            raise ValueError(f"{format} needs in_features a multiple of {fmt.group}, have {shape[-1]}")
        self.format = fmt
        self.shape = shape
        words = (*shape[:-1], shape[-1] * fmt.bits // 32)
        groups = (*shape[:-1], shape[-1] // fmt.group)
        affine = fmt.kind == "affine"
        kind = dtype if affine else torch.uint8
        self._frozen("weight", torch.zeros(words, dtype=torch.int32, device=device))
        self._frozen("scales", torch.zeros(groups, dtype=kind, device=device))
        self._frozen("biases", torch.zeros(groups, dtype=kind, device=device) if affine else None)

    def _frozen(self, name: str, value: torch.Tensor | None) -> None:
        self.register_parameter(name, None if value is None else torch.nn.Parameter(value, requires_grad=False))

    def quantized(self) -> QuantTensor:
        """The packed weight. The same object from call to call while the parameters are: its plans are kept with it."""
        if torch.compiler.is_compiling():
            return self._packed()
        held = self._parameters
        q = self._quantized
        if (
            q is None
            or q.codes is not held["weight"]
            or q.scales is not held["scales"]
            or q.biases is not held["biases"]
            or q.format is not self.format
        ):
            q = self._quantized = self._packed()
        return q

    def _packed(self) -> QuantTensor:
        dtype = self.scales.dtype if self.scales.is_floating_point() else torch.bfloat16
        return QuantTensor(self.format, self.shape, dtype, self.weight, self.scales, self.biases)

    def _apply(self, *args: Any, **kwargs: Any) -> _Affine:
        # What is kept would hold the tensors as they were before a move, and their types.
        self._quantized = None
        super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out what is kept."""
        return self.__dict__ | {"_quantized": None}

    def _load_from_state_dict(self, state_dict: dict[str, torch.Tensor], prefix: str, *args: object) -> None:
        # MLX stores words as uint32, for which PyTorch has no copy to int32 that keeps the bits.
        key = prefix + "weight"
        if key in state_dict:
            state_dict[key] = as_int32(state_dict[key])
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _fill(self, q: QuantTensor) -> None:
        self._frozen("weight", q.codes)
        self._frozen("scales", q.scales)
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

    State dict as MLX's QuantizedSwitchLinear.
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
        out = gather_qmm(x.reshape(-1, x.shape[-1]), self.quantized(), experts.reshape(-1, experts.shape[-1]))
        if (bias := self._parameters["bias"]) is not None:
            out = out + bias[experts.reshape(-1, experts.shape[-1])].to(out.dtype)
        return out.view(*experts.shape, -1)

    def extra_repr(self) -> str:
        return f"experts={self.shape[0]}, in={self.shape[2]}, out={self.shape[1]}, format={self.format.name}"

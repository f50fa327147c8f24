"""Layers that hold bitsandbytes' checkpoints as they are: Linear4bit (NF4, FP4, nested or not) and Linear8bitLt."""

from __future__ import annotations

import json
from typing import Any

import torch

from rocport.ops.formats import NESTED_BLOCK, Format, QuantTensor, blocks
from rocport.ops.int8_linear import int8_linear
from rocport.ops.quantize import quantize
from rocport.ops.quantized_matmul import quantized_matmul
from rocport.ops.tables import table


class Linear4bit(torch.nn.Module):
    """y = x W^T + bias with W in NF4 or FP4, frozen.

    State dict as bitsandbytes' Linear4bit: `weight` (uint8 [bytes, 1]), `weight.absmax`, `weight.quant_map`,
    `weight.quant_state.bitsandbytes__nf4` (JSON as bytes), `weight.nested_absmax`, `weight.nested_quant_map`, `bias`.
    """

    weight: torch.nn.Parameter
    absmax: torch.nn.Parameter
    nested_absmax: torch.nn.Parameter | None
    nested_offset: torch.nn.Parameter | None
    bias: torch.nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        quant_type: str = "nf4",
        blocksize: int = 64,
        nested: bool = True,
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | None = None,
    ) -> None:
        super().__init__()
        self._quantized: QuantTensor | None = None
        # In a tuple: a module registers a parameter that is assigned to it.
        self._quantized_from: tuple[torch.nn.Parameter, ...] = ()
        self.in_features, self.out_features, self.dtype = in_features, out_features, dtype
        self.format = Format.parse(f"{quant_type}b{blocksize}")
        numel = in_features * out_features
        count = blocks(numel, blocksize)
        self._frozen("weight", torch.zeros(blocks(numel, 2), 1, dtype=torch.uint8, device=device))
        self._frozen("absmax", torch.zeros(count, dtype=torch.uint8 if nested else torch.float32, device=device))
        inner = torch.zeros(blocks(count, NESTED_BLOCK), device=device) if nested else None
        self._frozen("nested_absmax", inner)
        self._frozen("nested_offset", torch.zeros((), device=device) if nested else None)
        value = torch.nn.Parameter(torch.zeros(out_features, dtype=dtype, device=device)) if bias else None
        self.register_parameter("bias", value)

    def _frozen(self, name: str, value: torch.Tensor | None) -> None:
        self.register_parameter(name, None if value is None else torch.nn.Parameter(value, requires_grad=False))

    @classmethod
    def from_linear(
        cls, linear: torch.nn.Linear, quant_type: str = "nf4", blocksize: int = 64, nested: bool = True
    ) -> Linear4bit:
        """Quantize a dense layer."""
        weight = linear.weight.detach()
        out, into = weight.shape
        layer = cls(into, out, linear.bias is not None, quant_type, blocksize, nested, weight.dtype, weight.device)
        layer._fill(quantize(weight, layer.format, nested=nested))
        if linear.bias is not None:
            layer.bias = torch.nn.Parameter(linear.bias.detach().clone())
        return layer

    def _fill(self, q: QuantTensor) -> None:
        self._frozen("weight", q.codes.view(-1, 1))
        self._frozen("absmax", q.scales)
        self._frozen("nested_absmax", q.absmax2)
        self._frozen("nested_offset", q.offset)

    def quantized(self) -> QuantTensor:
        """The packed weight. The same object from call to call while the parameters are: its plans are kept with it."""
        if torch.compiler.is_compiling():
            return self._packed()
        held = self._parameters
        q = self._quantized
        if (
            q is None
            or q.scales is not held["absmax"]
            or q.absmax2 is not held["nested_absmax"]
            or q.offset is not held["nested_offset"]
            or self._quantized_from[0] is not held["weight"]
            or q.codes.data_ptr() != self._quantized_from[0].data_ptr()
            or q.dtype is not self.dtype
            or q.format is not self.format
        ):
            q = self._quantized = self._packed()
            self._quantized_from = (self.weight,)
        return q

    def _packed(self) -> QuantTensor:
        return QuantTensor(
            self.format,
            (self.out_features, self.in_features),
            self.dtype,
            self.weight.view(-1),
            self.absmax,
            None,
            self.nested_absmax,
            self.nested_offset,
        )

    def _apply(self, *args: Any, **kwargs: Any) -> Linear4bit:
        # What is kept would hold the tensors as they were before a move.
        self._quantized, self._quantized_from = None, ()
        super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out what is kept."""
        return self.__dict__ | {"_quantized": None, "_quantized_from": ()}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: [..., in_features] to [..., out_features]."""
        return quantized_matmul(x, self.quantized(), self._parameters["bias"])

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        fmt = self.format
        device = self.weight.device

        def put(name: str, value: torch.Tensor) -> None:
            destination[prefix + name] = value if keep_vars else value.detach()

        put("weight", self.weight)
        if self.bias is not None:
            put("bias", self.bias)
        put("weight.absmax", self.absmax)
        put("weight.quant_map", table(fmt.kind, device).clone())
        state: dict[str, Any] = {
            "quant_type": fmt.kind,
            "blocksize": fmt.group,
            "dtype": str(self.dtype).removeprefix("torch."),
            "shape": [self.out_features, self.in_features],
        }
        if self.nested_absmax is not None and self.nested_offset is not None:
            put("weight.nested_absmax", self.nested_absmax)
            put("weight.nested_quant_map", table("dynamic8", device).clone())
            state |= {
                "nested_blocksize": NESTED_BLOCK,
                "nested_dtype": "float32",
                "nested_offset": self.nested_offset.item(),
            }
        packed = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
        put(f"weight.quant_state.bitsandbytes__{fmt.kind}", packed)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        device = self.weight.device
        own = {key: key.removeprefix(prefix) for key in state_dict if key.startswith(prefix)}
        states = [key for key, name in own.items() if name.startswith("weight.quant_state.bitsandbytes__")]
        if prefix + "weight" not in state_dict or len(states) != 1:
            missing_keys.append(prefix + "weight.quant_state.bitsandbytes__{nf4,fp4}")
            return
        state = json.loads(bytes(state_dict[states[0]].cpu().tolist()))
        if tuple(state["shape"]) != (self.out_features, self.in_features):
            error_msgs.append(
                f"{prefix}weight is {tuple(state['shape'])}, the layer is {(self.out_features, self.in_features)}"
            )
            return
        try:
            fmt = Format.parse(f"{state['quant_type']}b{state['blocksize']}")
        except ValueError as error:
            error_msgs.append(f"{prefix}weight: {error}")
            return
        maps = {"quant_map": fmt.kind, "nested_quant_map": "dynamic8"}
        for name, kind in maps.items():
            stored = state_dict.get(f"{prefix}weight.{name}")
            if stored is not None and not torch.allclose(stored.float().cpu(), table(kind, torch.device("cpu"))):
                error_msgs.append(f"{prefix}weight.{name} is not the {kind} table: this code table is not supported")
                return
        self.format = fmt
        self.dtype = getattr(torch, state["dtype"])
        codes = state_dict[prefix + "weight"].contiguous().view(torch.uint8).view(-1, 1)
        self._frozen("weight", codes.to(device))
        self._frozen("absmax", state_dict[prefix + "weight.absmax"].to(device))
        nested = state_dict.get(prefix + "weight.nested_absmax")
        self._frozen("nested_absmax", None if nested is None else nested.to(device))
        offset = None if nested is None else torch.tensor(state["nested_offset"], device=device)
        self._frozen("nested_offset", offset)
        bias = state_dict.get(prefix + "bias")
        if self.bias is not None and bias is not None:
            with torch.no_grad():
                self.bias.copy_(bias)
        elif self.bias is not None and strict:
            missing_keys.append(prefix + "bias")
        known = {"weight", "bias", "weight.absmax", "weight.quant_map", "weight.nested_absmax"}
        known |= {"weight.nested_quant_map", states[0].removeprefix(prefix)}
        unexpected_keys += [key for key, name in own.items() if name not in known]

    def extra_repr(self) -> str:
        return (
            f"in={self.in_features}, out={self.out_features}, format={self.format.name}, bias={self.bias is not None}"
        )


class Linear8bitLt(torch.nn.Module):
    """y = x W^T + bias by LLM.int8, W frozen.

    State dict as bitsandbytes' Linear8bitLt: `weight` (int8), `SCB` (absmax of each row), `weight_format` (0: rows),
    `bias`.
    """

    bias: torch.nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        threshold: float = 6.0,
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features, self.dtype, self.threshold = in_features, out_features, dtype, threshold
        codes = torch.zeros(out_features, in_features, dtype=torch.int8, device=device)
        self.weight = torch.nn.Parameter(codes, requires_grad=False)
        self.SCB = torch.nn.Parameter(torch.zeros(out_features, device=device), requires_grad=False)
        self.register_buffer("weight_format", torch.tensor(0, dtype=torch.uint8))
        value = torch.nn.Parameter(torch.zeros(out_features, dtype=dtype, device=device)) if bias else None
        self.register_parameter("bias", value)

    @classmethod
    def from_linear(cls, linear: torch.nn.Linear, threshold: float = 6.0) -> Linear8bitLt:
        """Quantize a dense layer by rows, rounded to float16 first as bitsandbytes does."""
        weight = linear.weight.detach()
        out, into = weight.shape
        layer = cls(into, out, linear.bias is not None, threshold, weight.dtype, weight.device)
        half = weight.to(torch.float16).float()
        absmax = half.abs().amax(-1)
        scale = 127.0 / absmax.clamp(min=torch.finfo(torch.float32).tiny)
        codes = torch.round(half * scale.unsqueeze(-1)).to(torch.int8)
        layer.weight = torch.nn.Parameter(codes, requires_grad=False)
        layer.SCB = torch.nn.Parameter(absmax, requires_grad=False)
        if linear.bias is not None:
            layer.bias = torch.nn.Parameter(linear.bias.detach().clone())
        return layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: [..., in_features] to [..., out_features]; differentiable in x and bias."""
        out: torch.Tensor = _Int8.apply(x, self.weight, self.SCB, self.threshold)  # type: ignore[no-untyped-call]
        return out if self.bias is None else out + self.bias.to(out.dtype)


class _Int8(torch.autograd.Function):
    """The gradient of x goes through the dequantized weight, as in bitsandbytes."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, absmax: torch.Tensor, threshold: float
    ) -> torch.Tensor:
        ctx.save_for_backward(weight, absmax)
        ctx.dtype = x.dtype
        return int8_linear(x, weight, absmax, threshold=threshold)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        weight, absmax = ctx.saved_tensors
        dense = (weight.float() * (absmax / 127.0).unsqueeze(1)).to(ctx.dtype)
        return grads[0].to(ctx.dtype) @ dense, None, None, None

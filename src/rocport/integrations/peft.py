"""LoRA of PEFT on rocport's layers, which it refuses otherwise ("Target module ... is not supported").

model = get_peft_model(load(path), with_layers(LoraConfig(r=16, target_modules="all-linear")))
model = PeftModel.from_pretrained(load(path), adapter, config=with_layers(PeftConfig.from_pretrained(adapter)))
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from peft.tuners.lora import LoraConfig, LoraLayer
from peft.tuners.tuners_utils import check_adapters_to_merge

from rocport.ops.dequantize import dequantize
from rocport.ops.modules import Linear4bit, Linear8bitLt, QuantizedLinear
from rocport.ops.quantize import quantize

LAYERS = (Linear4bit, Linear8bitLt, QuantizedLinear)
LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""What "all-linear" stands for here: PEFT's own looks for torch.nn.Linear."""


class LoraLinear(torch.nn.Module, LoraLayer):
    """A frozen packed layer and its low-rank updates."""

    def __init__(
        self, base_layer: torch.nn.Module, adapter_name: str, config: LoraConfig, r: int, lora_alpha: int, **kwargs: Any
    ) -> None:
        super().__init__()
        LoraLayer.__init__(self, base_layer)
        if config.use_dora:
            raise ValueError("DoRA needs the norms of a dense weight: rocport's layers take LoRA")
        self.fan_in_fan_out = False
        self._active_adapter = adapter_name
        me: Any = self
        me.update_layer(adapter_name, r, lora_alpha=lora_alpha, config=config)

    def forward(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """x: [..., in_features] to [..., out_features]."""
        me: Any = self
        me._check_forward_args(x, *args, **kwargs)
        if kwargs.pop("adapter_names", None) is not None:
            raise ValueError("several adapters in one batch: rocport's layers take one at a time")
        if me.disable_adapters and me.merged:
            self.unmerge()
        out: torch.Tensor = me.base_layer(x)
        if me.disable_adapters or me.merged:
            return out
        for name in me.active_adapters:
            if name in me.lora_A:
                down, up = me.lora_A[name], me.lora_B[name]
                into = x if torch.is_autocast_enabled() else me._cast_input_dtype(x, down.weight.dtype)
                out = out + (up(down(me.lora_dropout[name](into))) * me.scaling[name]).to(out.dtype)
        return out

    def get_delta_weight(self, adapter: str) -> torch.Tensor:
        """What the adapter adds to the weight, [out_features, in_features]."""
        me: Any = self
        delta: torch.Tensor = me.lora_B[adapter].weight @ me.lora_A[adapter].weight * me.scaling[adapter]
        return delta

    def merge(self, safe_merge: bool = False, adapter_names: list[str] | None = None) -> None:
        """Add the adapters to the packed weight, which rounds it anew."""
        me: Any = self
        for name in check_adapters_to_merge(self, adapter_names) or ():
            if name in me.lora_A:
                self._add(self.get_delta_weight(name), safe_merge)
                me.merged_adapters.append(name)

    def unmerge(self) -> None:
        """Take merged adapters off again; the weight was rounded twice then."""
        me: Any = self
        while me.merged_adapters:
            if (name := me.merged_adapters.pop()) in me.lora_A:
                self._add(-self.get_delta_weight(name), False)

    def _add(self, delta: torch.Tensor, check: bool) -> None:
        warnings.warn("a merged adapter is rounded to the packed weight's form; to keep it exact, merge it into "
                      "the dense checkpoint: rocport model convert SRC DST --to bf16", stacklevel=3)  # fmt: skip
        me: Any = self
        base: Any = me.get_base_layer()
        weight = dense_weight(base) + delta
        if check and not torch.isfinite(weight).all():
            raise ValueError("the adapter is not finite; nothing was merged")
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0], False, weight.device, torch.float32)
        linear.weight = torch.nn.Parameter(weight, requires_grad=False)
        if isinstance(base, Linear8bitLt):
            base.load_state_dict(Linear8bitLt.from_linear(linear).state_dict(), strict=False)
        elif isinstance(base, Linear4bit):
            base._fill(quantize(weight.to(base.dtype), base.format, nested=base.nested_absmax is not None))
        else:
            base._fill(quantize(weight.to(base.scales.dtype), base.format.name))


def dense_weight(layer: torch.nn.Module) -> torch.Tensor:
    """The weight of one of `LAYERS`, fp32 [out_features, in_features]."""
    if isinstance(layer, Linear8bitLt):
        return layer.weight.float() * (layer.SCB / 127.0).unsqueeze(1)
    assert isinstance(layer, Linear4bit | QuantizedLinear)
    return dequantize(layer.quantized(), torch.float32)


def with_layers(config: LoraConfig) -> LoraConfig:
    """`config` with rocport's layers known to it; "all-linear" becomes the projections of a decoder."""
    if config.target_modules == "all-linear":
        config.target_modules = set(LINEAR)
    config._register_custom_module(dict.fromkeys(LAYERS, LoraLinear))
    return config

"""The experts of a mixture with packed matrices, as transformers calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from rocport.ops import plans, served
from rocport.ops.experts import mixture
from rocport.ops.modules.affine import SwitchLinear
from rocport.ops.swiglu import swiglu


class SwitchExperts(torch.nn.Module):
    """y[t] = sum over j of weights[t, j] * down_e(act(gate_e x[t]) * up_e x[t]) with e = index[t, j].

    State dict: `gate_up_proj` (each expert's gate, then its up) and `down_proj`, each a `SwitchLinear`. One with MLX's
    `gate_proj` and `up_proj` apart is read as well. `fused`: where `act` is SiLU, it and the product are one operator,
    rounded once.
    """

    def __init__(
        self, gate_up: SwitchLinear, down: SwitchLinear, act: Callable[[torch.Tensor], torch.Tensor], fused: bool = True
    ) -> None:
        super().__init__()
        self.gate_up_proj, self.down_proj = gate_up, down
        self.act_fn, self.fused = act, fused

    @classmethod
    def from_experts(cls, theirs: Any, form: str, fused: bool = True) -> SwitchExperts:
        """Quantize transformers' experts: `gate_up_proj` [E, 2 I, H] and `down_proj` [E, H, I]."""
        both, down = (SwitchLinear.from_weight(w.detach(), form) for w in (theirs.gate_up_proj, theirs.down_proj))
        return cls(both, down, theirs.act_fn, fused)

    def forward(self, x: torch.Tensor, index: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """x [T, H], index [T, top] of experts, weights [T, top] of what they say, to [T, H]."""
        if self._sorted(x, index, weights):
            both, down = self.gate_up_proj.quantized(), self.down_proj.quantized()
            return mixture(x.contiguous(), both, down, index, weights, self._gated, plans.dense)
        inner = self._gated(*self.gate_up_proj(x, index).chunk(2, -1))
        each = self.down_proj(inner.flatten(0, 1), index.reshape(-1, 1)).view(*index.shape, -1)
        return torch.bmm(weights.to(each.dtype).unsqueeze(1), each).squeeze(1)

    def _gated(self, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        silu = self.fused and type(self.act_fn).__name__ in ("SiLU", "SiLUActivation")
        return swiglu(gate, up) if silu else self.act_fn(gate) * up

    def _sorted(self, x: torch.Tensor, index: torch.Tensor, weights: torch.Tensor) -> bool:
        """Whether both products would sort the rows by expert, and nothing but the result is wanted of them."""
        layers = (self.gate_up_proj, self.down_proj)
        if any(type(layer) is not SwitchLinear or layer.bias is not None for layer in layers):
            return False
        if index.numel() <= self.gate_up_proj.shape[0] or not served.direct(x):
            return False
        if torch.is_grad_enabled() and (x.requires_grad or weights.requires_grad):
            return False
        return all(plans.sorts(x, layer.quantized(), index) for layer in layers)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        for part in ("weight", "scales", "biases"):
            apart = [f"{prefix}{name}.{part}" for name in ("gate_proj", "up_proj")]
            if all(key in state_dict for key in apart):
                # Rows are packed each for itself.
                state_dict[f"{prefix}gate_up_proj.{part}"] = torch.cat([state_dict.pop(key) for key in apart], 1)
        super()._load_from_state_dict(state_dict, prefix, *args)

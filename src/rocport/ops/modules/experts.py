"""The experts of a mixture with packed matrices, as transformers calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

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
        gate, up = self.gate_up_proj(x, index).chunk(2, -1)
        silu = self.fused and type(self.act_fn).__name__ in ("SiLU", "SiLUActivation")
        inner = swiglu(gate, up) if silu else self.act_fn(gate) * up
        each = self.down_proj(inner.flatten(0, 1), index.reshape(-1, 1)).view(*index.shape, -1)
        return torch.bmm(weights.to(each.dtype).unsqueeze(1), each).squeeze(1)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        for part in ("weight", "scales", "biases"):
            apart = [f"{prefix}{name}.{part}" for name in ("gate_proj", "up_proj")]
            if all(key in state_dict for key in apart):
                # Rows are packed each for itself.
                state_dict[f"{prefix}gate_up_proj.{part}"] = torch.cat([state_dict.pop(key) for key in apart], 1)
        super()._load_from_state_dict(state_dict, prefix, *args)

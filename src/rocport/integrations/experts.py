"""The experts of transformers' mixtures in packed form: `rocport.ops.modules.SwitchExperts` in place of theirs.

transformers keeps the experts of a layer in two stacks of matrices, `gate_up_proj` and `down_proj`, which are no linear
layers: bitsandbytes leaves them dense. What is replaced is found by what it computes: a small copy of each class with
its settings is compared with ours in fp32, as in `rocport.integrations.fused`. Experts that clamp stay dense.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from rocport.integrations.fused import agree, settings, twin
from rocport.ops.formats import Format
from rocport.ops.modules import SwitchExperts, SwitchLinear


class _Dense(torch.nn.Module):
    """One dense matrix an expert: what `SwitchLinear` computes, before it is packed."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.stack = weight

    def forward(self, x: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        return torch.einsum("tk,tjnk->tjn", x, self.stack[experts])


def experts_of(model: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """The experts of `model` that ours can stand for, by the name of their module."""
    known: dict[Any, bool] = {}
    for name, module in model.named_modules():
        both, down = getattr(module, "gate_up_proj", None), getattr(module, "down_proj", None)
        if not isinstance(both, torch.nn.Parameter) or not isinstance(down, torch.nn.Parameter) or both.dim() != 3:
            continue
        if both.shape != (down.shape[0], 2 * down.shape[2], down.shape[1]):
            continue
        kind = settings(module)
        if kind not in known:
            known[kind] = _computes_ours(module)
        if known[kind]:
            yield name, module


def _computes_ours(module: Any) -> bool:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        both, down = torch.randn(3, 8, 8), torch.randn(3, 8, 4)
        x, weights = torch.randn(5, 8), torch.rand(5, 2)
    index = torch.tensor([[0, 1], [2, 0], [1, 2], [0, 2], [1, 0]])
    stacks = {"gate_up_proj": torch.nn.Parameter(both), "down_proj": torch.nn.Parameter(down)}
    theirs = twin(module, **stacks, num_experts=3, hidden_dim=8, intermediate_dim=4)
    ours: Any = SwitchExperts(_stand_in(both), _stand_in(down), getattr(module, "act_fn", None) or torch.relu)
    return agree(lambda scale: theirs(scale * x, index, weights), lambda scale: ours(scale * x, index, weights))


def _stand_in(weight: torch.Tensor) -> Any:
    return _Dense(weight)


def fits(module: Any, form: str) -> bool:
    """Whether `form` packs these experts: groups that do not cross rows."""
    group = Format.parse(form).group
    return not any(stack.shape[-1] % group for stack in (module.gate_up_proj, module.down_proj))


def pack_experts(model: torch.nn.Module, form: str, fused: bool = True, skip: tuple[str, ...] = ()) -> list[str]:
    """Pack the experts of `model` in place. Returns the names of those that stay dense, for `skip` (ends of names),
    because the groups of `form` do not fit their rows or because they compute something else."""
    ours = dict(experts_of(model))
    left = []
    for name, module in list(model.named_modules()):
        both = getattr(module, "gate_up_proj", None)
        if not isinstance(both, torch.nn.Parameter) or both.dim() != 3:
            continue
        if name not in ours or name.endswith(skip or ("\0",)) or not fits(module, form):
            left.append(name)
            continue
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, SwitchExperts.from_experts(module, form, fused))
    return left


def empty_experts(module: Any, form: str, dtype: torch.dtype, fused: bool = True) -> SwitchExperts:
    """Packed experts of the shapes of `module`, on the CPU, to load a state into."""
    count, out, into = module.gate_up_proj.shape
    both = SwitchLinear(into, out, count, False, form, dtype)
    down = SwitchLinear(out // 2, into, count, False, form, dtype)
    return SwitchExperts(both, down, module.act_fn, fused)

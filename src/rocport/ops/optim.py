"""Optimizers whose state is 8 bits a value, block by block (arXiv 2110.02861): AdamW8bit, Lion8bit, SGD8bit.

torch.optim classes: `state_dict` and `load_state_dict` carry the packed state, so that a run goes on where it stopped.
Tensors below `min_8bit_size` elements (4096, as in bitsandbytes) keep fp32 state.

With `paged=True` the state of large parameters lies in the host's pinned memory and visits the GPU for its parameter's
update. bitsandbytes' paged optimizers use managed memory instead, which pages itself; but on an AMD GPU without XNACK
it stays with the host, and every access crosses the bus. Here the state crosses it twice a step, as a copy, whatever
the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from rocport.ops.adamw8bit import BLOCK, Hyper, State, adamw8bit
from rocport.ops.tables import table


def _signed(device: torch.device) -> torch.Tensor:
    return table("dynamic8", device)


def unsigned_table(device: torch.device) -> torch.Tensor:
    """The 8-bit dynamic type of values that are never negative: seven decades, twice the steps of the signed one."""
    values = [0.0, 1.0]
    for decade in range(7):
        edges = torch.linspace(0.1, 1, 2 ** (decade + 1) + 1, dtype=torch.float32)
        values += (10.0 ** (decade - 6) * ((edges[:-1] + edges[1:]) / 2)).tolist()
    return torch.tensor(sorted(values), dtype=torch.float32, device=device)


class _Packed:
    """A state tensor in 8 bits; views on what the optimizer's state keeps."""

    def __init__(self, codes: torch.Tensor, absmax: torch.Tensor, table: torch.Tensor) -> None:
        self.codes, self.absmax, self.table = codes, absmax, table

    def read(self) -> torch.Tensor:
        return self.table[self.codes.long()] * self.absmax.repeat_interleave(BLOCK)[: self.codes.numel()]

    def write(self, value: torch.Tensor) -> None:
        padded = torch.nn.functional.pad(value, (0, -value.numel() % BLOCK)).view(-1, BLOCK)
        self.absmax.copy_(padded.abs().amax(-1))
        tiny = torch.finfo(torch.float32).tiny
        scaled = value / self.absmax.repeat_interleave(BLOCK)[: value.numel()].clamp(min=tiny)
        middle = (self.table[:-1] + self.table[1:]) / 2
        self.codes.copy_(torch.bucketize(scaled, middle).to(torch.uint8))


PAGED_FROM = 100_000
"""Elements of a parameter from which its state is paged, as in bitsandbytes: a copy of less is all latency."""


class _Optimizer8bit(torch.optim.Optimizer):
    """Steps, and state in 8 bits where the parameter is large."""

    moments: tuple[str, ...]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any], min_8bit_size: int, paged: bool) -> None:
        if defaults["lr"] < 0:
            raise ValueError(f"learning rate {defaults['lr']}: expected at least 0")
        super().__init__(params, {**defaults, "min_8bit_size": min_8bit_size, "paged": paged})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update. Raises ValueError for sparse gradients."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if p.grad.is_sparse:
                    raise ValueError(f"{type(self).__name__} takes no sparse gradients")
                state = self.state[p]
                local = p.to_local() if hasattr(p, "to_local") else p
                grad = p.grad.to_local() if hasattr(p.grad, "to_local") else p.grad
                if not state:
                    self._begin(state, local, group)
                state["step"] += 1
                if local.numel():
                    held = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
                    here = {name: value.to(local.device, non_blocking=True) for name, value in held.items()}
                    self._update(local, grad, state | here, group)
                    for name, value in held.items():
                        if here[name] is not value:
                            value.copy_(here[name], non_blocking=True)
        return loss

    def _begin(self, state: dict[str, Any], p: torch.Tensor, group: dict[str, Any]) -> None:
        state["step"] = 0
        for name in self.moments:
            if p.numel() < group["min_8bit_size"]:
                state[name] = self._room(p.numel(), torch.float32, p).zero_()
                continue
            zero = int((self._table(name, p.device) == 0).nonzero()[0])
            state[name] = self._room(p.numel(), torch.uint8, p).fill_(zero)
            state[f"absmax_{name}"] = self._room(-(-p.numel() // BLOCK), torch.float32, p).zero_()

    def _room(self, count: int, dtype: torch.dtype, p: torch.Tensor) -> torch.Tensor:
        """Memory for state of `p`: by it, or pinned in the host's. What the optimizer was made with counts, not what
        its groups carry from a run that was saved."""
        paged = self.defaults["paged"] and p.numel() >= PAGED_FROM and p.is_cuda
        return torch.empty(count, dtype=dtype, device="cpu" if paged else p.device, pin_memory=paged)

    def _table(self, name: str, device: torch.device) -> torch.Tensor:
        return unsigned_table(device) if name == "v" else _signed(device)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As torch's, but packed state keeps its type: torch casts it to that of a parameter of floats."""
        super().load_state_dict(state_dict)
        index = {id(p): at for at, p in enumerate(p for group in self.param_groups for p in group["params"])}
        for p, state in self.state.items():
            for name, value in state_dict["state"][index[id(p)]].items():
                if isinstance(value, torch.Tensor):
                    local = p.to_local() if hasattr(p, "to_local") else p
                    state[name] = self._room(value.numel(), value.dtype, local).copy_(value)

    def state_dict(self) -> dict[str, Any]:
        """As torch's. Waits for paged state that is still on its way back."""
        if self.defaults["paged"]:
            for device in {p.device for group in self.param_groups for p in group["params"] if p.is_cuda}:
                torch.cuda.synchronize(device)
        return super().state_dict()

    def _read(self, state: dict[str, Any], name: str) -> torch.Tensor:
        value: torch.Tensor = state[name]
        if value.dtype == torch.uint8:
            return _Packed(value, state[f"absmax_{name}"], self._table(name, value.device)).read()
        return value

    def _write(self, state: dict[str, Any], name: str, value: torch.Tensor) -> None:
        held: torch.Tensor = state[name]
        if held.dtype == torch.uint8:
            _Packed(held, state[f"absmax_{name}"], self._table(name, held.device)).write(value)
        else:
            held.copy_(value)

    def _update(self, p: torch.Tensor, grad: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        raise NotImplementedError


class AdamW8bit(_Optimizer8bit):
    """AdamW (arXiv 1711.05101); bitsandbytes' kernel where it serves, `ops.adamw8bit` says."""

    moments = ("m", "v")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        min_8bit_size: int = 4096,
        paged: bool = False,
    ) -> None:
        own = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, own, min_8bit_size, paged)

    def _update(self, p: torch.Tensor, grad: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        first, second = group["betas"]
        hyper = Hyper(state["step"], group["lr"], first, second, group["eps"], group["weight_decay"])
        if state["m"].dtype == torch.uint8:
            maps = _signed(p.device), unsigned_table(p.device)
            packed = State(state["m"], state["v"], state["absmax_m"], state["absmax_v"], *maps)
            adamw8bit(p, grad.contiguous(), packed, hyper)
            return
        g, m, v = grad.reshape(-1).float(), state["m"], state["v"]
        m.lerp_(g, 1 - first)
        v.mul_(second).addcmul_(g, g, value=1 - second)
        rate = hyper.lr / (1 - first**hyper.step)
        root = (v / (1 - second**hyper.step)).sqrt() + hyper.eps
        value = p.reshape(-1).float() * (1 - hyper.lr * hyper.weight_decay) - rate * m / root
        p.copy_(value.view(p.shape))


class Lion8bit(_Optimizer8bit):
    """Lion (arXiv 2302.06675): the sign of a mix of momentum and gradient."""

    moments = ("m",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        min_8bit_size: int = 4096,
        paged: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay}, min_8bit_size, paged)

    def _update(self, p: torch.Tensor, grad: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        first, second = group["betas"]
        g, m = grad.reshape(-1).float(), self._read(state, "m")
        direction = (m * first + g * (1 - first)).sign()
        value = p.reshape(-1).float() * (1 - group["lr"] * group["weight_decay"]) - group["lr"] * direction
        self._write(state, "m", m * second + g * (1 - second))
        p.copy_(value.view(p.shape))


class SGD8bit(_Optimizer8bit):
    """SGD with momentum, as torch.optim.SGD without dampening."""

    moments = ("m",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        min_8bit_size: int = 4096,
        paged: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}, min_8bit_size, paged)

    def _update(self, p: torch.Tensor, grad: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = grad.reshape(-1).float() + group["weight_decay"] * p.reshape(-1).float()
        m = self._read(state, "m") * group["momentum"] + g
        self._write(state, "m", m)
        p.copy_((p.reshape(-1).float() - group["lr"] * m).view(p.shape))

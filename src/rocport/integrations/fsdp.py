"""QLoRA over several processes: FSDP2 of PyTorch on models with rocport's packed layers.

    model = get_peft_model(load("folder"), with_layers(LoraConfig(...)))
    shard(model)  # in every process, after init_process_group
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    ...
    save(model, optimizer, "out/step2")
    restore(model, optimizer, "out/step2")  # in a later run, of any number of processes

Each process keeps its part of the packed weights, of the adapters and of the optimizer. Checked with torch 2.13, gloo
and two processes (tests/integrations/test_fsdp.py). torch 2.11 cannot: its FSDP2 makes every sharded parameter one that
requires a gradient, which integers cannot. 2.12 was not tried.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from packaging.version import Version
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard

CANNOT = (2, 11)
"""The newest torch that was seen to fail."""


def shard(model: torch.nn.Module, mesh: DeviceMesh | None = None) -> torch.nn.Module:
    """Shard `model` over `mesh` (by default all processes), a decoder layer at a time.

    Numbers without a dimension, such as the offset of nested scales, cannot be sharded and stay whole. Raises
    RuntimeError with a torch whose FSDP2 cannot shard integers.
    """
    if Version(torch.__version__).release[:2] <= CANNOT:
        raise RuntimeError(f"FSDP2 of torch {torch.__version__} cannot shard packed weights: it needs torch 2.13")
    whole = {p for p in model.parameters() if p.dim() == 0}
    options: dict[str, Any] = {"ignored_params": whole} | ({} if mesh is None else {"mesh": mesh})
    for name, layers in list(model.named_modules()):
        if name.endswith("layers") and isinstance(layers, torch.nn.ModuleList):
            for layer in layers:
                fully_shard(layer, **options)
    fully_shard(model, **options)
    return model


def _trained(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def save(model: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: str | Path) -> None:
    """Write what is trained, and the optimizer's state of it, to `folder`; every process its part.

    The packed weights are those of the checkpoint the model was loaded from, and are not written again.
    """
    weights = _trained(model)
    state: dict[str, Any] = {f"weight.{name}": p for name, p in weights.items()}
    for name, p in weights.items():
        state |= {f"state.{key}.{name}": value for key, value in optimizer.state[p].items()}
    state_dict_saver.save(state, checkpoint_id=folder)


def restore(model: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: str | Path) -> None:
    """Put what `save` wrote into a model and an optimizer made as those were. Raises KeyError for a folder that holds
    other weights."""
    weights = _trained(model)
    stored = FileSystemReader(folder).read_metadata().state_dict_metadata
    if unknown := {f"weight.{name}" for name in weights} ^ {key for key in stored if key.startswith("weight.")}:
        raise KeyError(f"{folder}: {len(unknown)} weights are on one side only, such as {min(unknown)}")
    state: dict[str, Any] = {f"weight.{name}": p for name, p in weights.items()}
    for entry, kept in stored.items():
        kind, _, rest = entry.partition(".")
        if kind == "state" and isinstance(kept, TensorStorageMetadata):
            key, _, name = rest.partition(".")
            p = weights[name]
            value: Any = torch.zeros_like(p) if kept.size == p.shape else torch.zeros(kept.size)
            state[entry] = optimizer.state[p][key] = value
    state_dict_loader.load(state, checkpoint_id=folder)

"""Small checkpoints made with bitsandbytes itself, never compiled, saved as transformers saves them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
# torch.compile imports Dynamo, and compiles anew for each dtype: 20 s of a core before the first small tensor.
with mock.patch.object(torch, "compile", lambda function, **_: function):
    bnb = pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
safetensors_torch = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")


def quantize(
    name: str,
    shape: tuple[int, ...],
    *,
    kind: str = "nf4",
    blocksize: int = 64,
    nested: bool = False,
    dtype: str = "bfloat16",
    storage: str = "uint8",
    seed: int = 0,
) -> tuple[dict[str, Any], Any]:
    """(tensors as a checkpoint holds them, what bitsandbytes decodes them to)."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(*shape, generator=generator).to(getattr(torch, dtype))
    packed, state = bnb.functional.quantize_4bit(
        weight,
        blocksize=blocksize,
        quant_type=kind,
        compress_statistics=nested,
        quant_storage=getattr(torch, storage),
    )
    tensors = {name: packed}
    for key, value in state.as_dict(packed=True).items():
        tensors[f"{name}.{key}"] = value
    return tensors, bnb.functional.dequantize_4bit(packed, state)


def reload(tensors: dict[str, Any], name: str) -> Any:
    """Decode a 4-bit weight of a loaded checkpoint with bitsandbytes."""
    parts = {key[len(name) + 1 :]: value for key, value in tensors.items() if key.startswith(name + ".")}
    state = bnb.functional.QuantState.from_dict(parts, device=torch.device("cpu"))
    return bnb.functional.dequantize_4bit(tensors[name], state), state


def save_model(folder: Path, shards: list[dict[str, Any]], config: dict[str, Any]) -> None:
    """A model folder: shards, index when there are several, config and a tokenizer file."""
    folder.mkdir(parents=True, exist_ok=True)
    count = len(shards)
    names = (
        ["model.safetensors"]
        if count == 1
        else [f"model-{i:05}-of-{count:05}.safetensors" for i in range(1, count + 1)]
    )
    for name, tensors in zip(names, shards, strict=True):
        safetensors_torch.save_file(tensors, folder / name, metadata={"format": "pt"})
    if count > 1:
        mapping = {key: name for name, tensors in zip(names, shards, strict=True) for key in tensors}
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": 1}, "weight_map": mapping})
        )
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")


def load(path: Path) -> dict[str, Any]:
    return dict(safetensors_torch.load_file(path))

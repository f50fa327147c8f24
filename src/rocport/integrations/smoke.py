"""First tokens and first training steps of a checkpoint: what `rocport model generate` and `lora` run."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rocport.integrations.transformers import load

STATE_FILE = "rocport-training.pt"


@dataclass(frozen=True)
class Decoded:
    """`layers`: how many of which class hold the weights."""

    device: str
    layers: str
    weight_bytes: int
    tokens: list[int]
    tokens_a_second: float


@dataclass(frozen=True)
class Trained:
    """`resumed`: the steps an earlier run had made; `losses` those of this one."""

    device: str
    resumed: int
    losses: list[float]
    trained: int


def _device(device: str | None) -> torch.device:
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def layers_of(model: torch.nn.Module) -> str:
    """Modules that hold matrices, by class."""
    counts = Counter(
        type(module).__name__
        for module in model.modules()
        if isinstance(weight := getattr(module, "weight", None), torch.nn.Parameter) and weight.dim() > 1
    )
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def decode(path: Path, prompt: list[int], count: int, device: str | None, form: str) -> Decoded:
    """Greedy decoding of `count` tokens after `prompt`. Raises what `load` raises; ValueError for an unknown token."""
    where = _device(device)
    model: Any = load(path, where, form=form)
    vocabulary = model.get_input_embeddings().weight.shape[0]
    if not prompt or not all(0 <= token < vocabulary for token in prompt):
        raise ValueError(f"prompt {prompt}: expected token numbers below {vocabulary}")
    ids = torch.tensor([prompt], device=where)
    settings = {"do_sample": False, "pad_token_id": 0, "min_new_tokens": count, "max_new_tokens": count}
    begin = time.perf_counter()
    out = model.generate(ids, attention_mask=torch.ones_like(ids), **settings)[0, len(prompt) :].tolist()
    rate = count / (time.perf_counter() - begin)
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    return Decoded(str(where), layers_of(model), size, out, rate)


def train(
    path: Path, out: Path, steps: int, rank: int, batch: int, sequence: int, rate: float, device: str | None
) -> Trained:
    """Steps of a LoRA on random tokens that depend on the step's number alone, so that a run in two parts is the same
    as one. After each step OUT is replaced by what a later run goes on from. Raises ValueError when OUT holds a run of
    another rank."""
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict

    from rocport.integrations.peft import with_layers
    from rocport.ops.optim import AdamW8bit

    where = _device(device)
    model: Any = load(path, where)
    vocabulary = model.get_input_embeddings().weight.shape[0]
    torch.manual_seed(0)
    adapted: Any = get_peft_model(model, with_layers(LoraConfig(r=rank, target_modules="all-linear")))
    weights = [p for p in adapted.parameters() if p.requires_grad]
    optimizer = AdamW8bit(weights, lr=rate)
    first, state = 0, out / STATE_FILE
    if state.is_file():
        held = torch.load(state, map_location=where, weights_only=True)
        if held["rank"] != rank:
            raise ValueError(
                f"{out}: holds a run of rank {held['rank']}; name another folder, or --rank {held['rank']}"
            )
        set_peft_model_state_dict(adapted, held["adapter"])
        optimizer.load_state_dict(held["optimizer"])
        first = held["step"]
    adapted.train()
    losses = []
    for step in range(first, steps):
        generator = torch.Generator().manual_seed(step)
        tokens = torch.randint(0, vocabulary, (batch, sequence), generator=generator).to(where)
        loss = adapted(tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        out.mkdir(parents=True, exist_ok=True)
        partial = out / f".{STATE_FILE}.partial"
        adapter = get_peft_model_state_dict(adapted)
        torch.save({"rank": rank, "step": step + 1, "adapter": adapter, "optimizer": optimizer.state_dict()}, partial)
        os.replace(partial, state)
    adapted.save_pretrained(out)
    (out / "losses.json").write_text(json.dumps({"from_step": first + 1, "losses": losses}) + "\n", encoding="utf-8")
    return Trained(str(where), first, losses, sum(p.numel() for p in weights))

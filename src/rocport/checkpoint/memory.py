"""What a training step of a decoder needs beside its weights, counted from the shapes in its config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STATE_BYTES: Mapping[str, int] = {"adamw": 2, "adamw8bit": 2, "adamw8bit-paged": 2, "lion8bit": 1, "sgd": 0}
"""Optimizer state of one weight: values of the weight's own type for adamw, bytes for the 8-bit ones."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder of q, k, v, o and a gated MLP of three matrices. `mlp` is what a token passes through."""

    hidden: int
    layers: int
    query: int
    key: int
    mlp: int
    vocabulary: int


@dataclass(frozen=True)
class Training:
    """`lora_rank` None: every weight is trained."""

    batch: int
    sequence: int
    lora_rank: int | None
    optimizer: str
    checkpointing: bool


@dataclass(frozen=True)
class Needed:
    """Bytes beside the frozen or 16-bit weights."""

    trained: int
    """Trained weights that are not among the model's, their gradients and the optimizer's state."""
    activations: int
    logits: int

    @property
    def total(self) -> int:
        return self.trained + self.activations + self.logits


def needed(shape: Shape, parameters: int, training: Training) -> Needed:
    """The peak of a step of 16-bit compute with fused attention.

    A layer keeps 12 bytes a token of the hidden size, 4 of the queries', 4 of the keys' and 8 of the MLP's: fitted to
    what autograd saves in transformers 5.23's Llama with a LoRA on every projection, nine shapes, off by 1 % at most.
    The logits take 12 bytes each: 16-bit, fp32, and the gradients of both. Together 6.25e9 bytes for the step of
    `benchmarks/model.py llama`, where an NVIDIA H200 allocated 6.37e9.
    """
    tokens = training.batch * training.sequence
    layer = tokens * (12 * shape.hidden + 4 * shape.query + 4 * shape.key + 8 * shape.mlp)
    kept = layer * shape.layers
    if training.checkpointing:
        kept = layer + tokens * 2 * shape.hidden * shape.layers
    state = STATE_BYTES[training.optimizer]
    if training.lora_rank is None:
        wide = 2 if training.optimizer == "adamw" else 1
        # Paged state is the host's; adapters are counted as too small to page, which most are.
        trained = parameters * (2 + (0 if training.optimizer.endswith("-paged") else state * wide))
    else:
        sides = 4 * shape.hidden + 2 * shape.query + 2 * shape.key + 3 * (shape.hidden + shape.mlp)
        count = shape.layers * training.lora_rank * sides
        # PEFT keeps adapters in fp32.
        trained = count * (4 + 4 + state * (4 if training.optimizer == "adamw" else 1))
    return Needed(trained, kept, 12 * tokens * shape.vocabulary)

"""A small decoder-only transformer, trained for a few steps: the example that `rocport capture` records.

RMS norm, rotary position embedding, grouped-query attention with a causal mask, SwiGLU. Weights and data are drawn on
the CPU, so that every device starts from the same numbers.

    python train.py --device cuda --dtype bfloat16 --steps 3
"""

from __future__ import annotations

import argparse
import math

import torch
from torch import Tensor, nn

VOCABULARY, WIDTH, HEADS, KV_HEADS, LAYERS, BATCH, LENGTH = 96, 64, 4, 2, 2, 2, 24


class RMSNorm(nn.Module):
    """x: [batch, length, width] -> the same, each row divided by its root mean square."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * scale).to(x.dtype) * self.weight


def rope_angles(length: int, size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines: [length, size / 2], float32."""
    frequency = 10000.0 ** (-torch.arange(0, size, 2, device=device, dtype=torch.float32) / size)
    angles = torch.outer(torch.arange(length, device=device, dtype=torch.float32), frequency)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x: [batch, heads, length, size]; rotates the two halves of every head."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Attention(nn.Module):
    """Grouped-query attention: KV_HEADS keys and values serve HEADS queries."""

    def __init__(self) -> None:
        super().__init__()
        self.size = WIDTH // HEADS
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, KV_HEADS * self.size, bias=False)
        self.v = nn.Linear(WIDTH, KV_HEADS * self.size, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q = self.q(x).view(batch, length, HEADS, self.size).transpose(1, 2)
        k = self.k(x).view(batch, length, KV_HEADS, self.size).transpose(1, 2)
        v = self.v(x).view(batch, length, KV_HEADS, self.size).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k = k.repeat_interleave(HEADS // KV_HEADS, dim=1)
        v = v.repeat_interleave(HEADS // KV_HEADS, dim=1)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.size)
        scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores.float(), dim=-1).to(v.dtype)
        mixed = torch.matmul(weights, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention = RMSNorm(WIDTH)
        self.attention = Attention()
        self.before_feed_forward = RMSNorm(WIDTH)
        self.feed_forward = FeedForward()

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.before_attention(x), cos, sin, mask)
        return x + self.feed_forward(self.before_feed_forward(x))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        cos, sin = rope_angles(length, WIDTH // HEADS, tokens.device)
        mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        return self.head(self.norm(x))


def train(device: torch.device, dtype: torch.dtype, steps: int) -> list[float]:
    """Losses, one a step."""
    torch.manual_seed(0)
    model = Transformer().to(device=device, dtype=dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    tokens = torch.randint(0, VOCABULARY, (steps, BATCH, LENGTH + 1)).to(device)
    losses = []
    for batch in tokens:
        logits = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.float().reshape(-1, VOCABULARY), batch[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    losses = train(torch.device(options.device), getattr(torch, options.dtype), options.steps)
    print(" ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    main()

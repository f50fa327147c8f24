# SPDX-License-Identifier: Apache-2.0
"""Small Triton kernels with known answers, for triton_run.py: what an interpreter has to get right."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def dot(a, b, c, N: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@triton.jit  # type: ignore[untyped-decorator]
def round_bf16(x, y, N: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at).to(tl.bfloat16))


@triton.jit  # type: ignore[untyped-decorator]
def row_sum(x, y, columns, N: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, N)
    values = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(values, axis=0))


def _dot(dtype: torch.dtype) -> str:
    size = 16
    a = ((torch.arange(size * size) % 7) - 3).reshape(size, size).to(dtype)
    b = ((torch.arange(size * size) % 5) - 2).reshape(size, size).to(dtype)
    c = torch.zeros(size, size)
    dot[(1,)](a, b, c, size)
    return "ok" if torch.equal(c, a.float() @ b.float()) else "tl.dot gives other numbers"


def _round() -> str:
    bits = torch.arange(64, dtype=torch.int32) * 0x1800 + 0x3F800000
    x = bits.view(torch.float32)
    y = torch.zeros(64, dtype=torch.bfloat16)
    round_bf16[(1,)](x, y, 64)
    return "ok" if torch.equal(y, x.to(torch.bfloat16)) else "float32 to bfloat16 is not rounded to the nearest"


def _sum() -> str:
    x = torch.arange(60, dtype=torch.float32)
    y = torch.zeros(3)
    row_sum[(3,)](x, y, 20, 32)
    return "ok" if torch.equal(y, x.reshape(3, 20).sum(1)) else "a masked row sum gives other numbers"


def run() -> dict[str, str]:
    """Test -> `ok`, or what is wrong; and the version of triton."""
    outcome = {"triton": triton.__version__}
    for name, test in {
        "dot-f32": lambda: _dot(torch.float32),
        "dot-f16": lambda: _dot(torch.float16),
        "dot-bf16": lambda: _dot(torch.bfloat16),
        "round-bf16": _round,
        "masked-sum": _sum,
    }.items():
        try:
            outcome[name] = test()
        except Exception as error:  # an interpreter may fail in any way
            outcome[name] = f"{type(error).__name__}: {error}"[:200]
    return outcome

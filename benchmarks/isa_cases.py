"""What benchmarks/isa.py runs as machine code: every call of `rocport.ops.codegen`, cut, and the norms in float32."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from rocport import ops
from rocport.facts.targets import load_target
from rocport.ops import codegen
from rocport.ops.codegen import Call, Drawn, both_ways
from rocport.runtime.machine import Platform, assume

SIZES = (64, 128, 256, 512, 1024, 2048, codegen.SHAPE[0])


def first_half(label: str) -> bool:
    """The half that is looked at while mending; the other is set aside."""
    return zlib.crc32(label.encode()) % 2 == 0


def _keys(target: str, size: int) -> dict[str, set[tuple[Any, ...]]]:
    found = {}
    with assume(Platform("rocm", target=load_target(target))):
        for call in codegen.calls(size=size):
            with codegen.recording() as made:
                call.run()
            found[call.label] = {codegen.key(launch) for launch in made}
    return found


def cut(target: str) -> dict[str, int]:
    """Label -> the smallest of SIZES at which the call makes the very kernels that it makes at full size."""
    full = _keys(target, SIZES[-1])
    sizes: dict[str, int] = {}
    for size in SIZES:
        for label, made in _keys(target, size).items():
            if label not in sizes and made == full[label]:
                sizes[label] = size
    return sizes


def cases(target: str, wanted: Callable[[str], bool]) -> Iterator[tuple[int, Call]]:
    """(size, call) of every wanted label, drawn operands; the float32 ones last, with size 0."""
    sizes = cut(target)
    for size in sorted(set(sizes.values())):
        if any(sizes[label] == size and wanted(label) for label in sizes):
            # The operands are drawn call by call; `calls` asks nothing of the machine.
            yield from ((size, call) for call in codegen.calls(Drawn(), size) if sizes[call.label] == size)
    yield from ((0, call) for call in in_float32())


def in_float32() -> Iterator[Call]:
    """The norms and losses of few rows in float32, where rounding to bfloat16 hides nothing."""
    torch.manual_seed(0)
    for width in (128, 4096, 16384):
        row, w = torch.randn(5, width), torch.randn(width)
        target = torch.tensor([1, 5, -100, 99, 0])
        for label, function, inputs in (
            ("rms_norm", ops.rms_norm, (row, w)),
            ("layer_norm", ops.layer_norm, (row, w, w.flip(0))),
            ("softmax", ops.softmax, (row,)),
            ("swiglu", ops.swiglu, (row, row.flip(0))),
            ("cross_entropy", lambda y, t=target, tier="": ops.cross_entropy(y, t, tier=tier), (row,)),
        ):

            def both(
                tier: str, function: Callable[..., torch.Tensor] = function, inputs: tuple[torch.Tensor, ...] = inputs
            ) -> list[torch.Tensor]:
                leaves = [t.clone().requires_grad_() for t in inputs]
                return both_ways(Drawn(1), lambda *x: function(*x, tier=tier), *leaves)

            yield Call(
                f"{label} D={width} float32", lambda both=both: both("triton"), lambda both=both: both("eager"), 3e-6
            )

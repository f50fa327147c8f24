"""Triton tiles made for NVIDIA's shared memory: a block has 64 KB of LDS on most AMD GPUs, not 100 to 228.
A pipelined loop keeps `num_stages - 1` tiles of both operands there, so `BLOCK_M=128, BLOCK_N=256, BLOCK_K=64,
num_stages=4` wants 144 KB and fails with "out of resource: shared memory". The autotuner drops such a configuration,
and what is left may be slow. Estimated at two bytes a value. Right when smaller tiles stand in the list too, chosen by
the target's LDS. One finding a list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, partial

from rocport.facts.targets import all_targets, listed, load_target
from rocport.model import Applicability, Confidence, Context, Example, Finding, GfxTarget, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

_LDS = 65536
_BYTES = 2
_AXES = ("M", "N", "K")

RULE = Rule(
    name="triton-lds",
    summary="Triton tiles larger than the LDS",
    severity=Severity.SLOW,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"num_stages"}),
    phase=5,
    examples=(
        Example(
            "import triton\nc = triton.Config({'BLOCK_M': 128, 'BLOCK_N': 256, 'BLOCK_K': 64}, num_stages=4)\n",
            path="m.py",
        ),
        Example("k[grid](a, b, BLOCK_M=256, BLOCK_N=128, BLOCK_K=64, num_stages=3)\n", path="m.py"),
    ),
    clean=(
        Example(
            "import triton\nc = triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32}, num_stages=4)\n",
            path="m.py",
        ),
        Example("k[grid](a, b, BLOCK_M=256, BLOCK_N=128, BLOCK_K=64, num_stages=1)\n", path="m.py"),
        Example("k[grid](a, b, BLOCK_M=M, BLOCK_N=128, BLOCK_K=64, num_stages=4)\n", path="m.py"),
    ),
    sources=("facts/targets: LDS sizes", "https://github.com/triton-lang/triton/tree/main/third_party/amd"),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    limit = min((load_target(name).lds_bytes for name in context.options.targets), default=_LDS)
    seen: set[ast.AST] = set()
    nodes: list[ast.Call] = []
    wanted: dict[ast.AST, int] = {}
    for call in source.find(ast.Call):
        size = _bytes(call)
        if size <= limit:
            continue
        parent = source.parents.get(call)
        holder = parent if isinstance(parent, (ast.List, ast.Tuple)) else call
        if holder not in seen:
            seen.add(holder)
            nodes.append(call)
            wanted[call] = size
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"about {wanted[node] // 1024} KB of tiles; a block may have {limit // 1024} KB of LDS",
            fix="smaller tiles or fewer stages for AMD; num_stages=2 is its usual depth",
            confidence=Confidence.LOW,
            holds=_limits(),
        )


def _has(lds_bytes: int, target: GfxTarget) -> bool:
    return target.lds_bytes == lds_bytes


@cache
def _limits() -> str:
    """LDS a block may have, by target: `64 KB; gfx950 160 KB`."""
    sizes = sorted({target.lds_bytes for target in all_targets() if target.released})
    more = (f"{listed(partial(_has, size))} {size >> 10} KB" for size in sizes[1:])
    return "; ".join((f"{sizes[0] >> 10} KB of LDS", *more))


def _bytes(call: ast.Call) -> int:
    """LDS that a configuration's tiles take; 0 where it is not written out."""
    sizes: dict[str, int] = {}
    stages = 0
    for word in call.keywords:
        value = word.value.value if isinstance(word.value, ast.Constant) else None
        if isinstance(value, int) and word.arg == "num_stages":
            stages = value
        elif isinstance(value, int) and word.arg:
            _note(sizes, word.arg, value)
    table = call.args[0] if call.args and isinstance(call.args[0], ast.Dict) else None
    for key, item in zip(table.keys, table.values, strict=True) if table else ():
        if isinstance(key, ast.Constant) and isinstance(item, ast.Constant) and isinstance(item.value, int):
            _note(sizes, str(key.value), item.value)
    if stages < 2 or any(axis not in sizes for axis in _AXES):
        return 0
    return (sizes["M"] + sizes["N"]) * sizes["K"] * _BYTES * (stages - 1)


def _note(sizes: dict[str, int], name: str, value: int) -> None:
    if "BLOCK" in name.upper() and name[-1:].upper() in _AXES:
        sizes[name[-1].upper()] = value

"""Triton launch shapes made for 32 lanes a warp: `num_warps=32` is 2048 threads on wavefronts of 64.
A block has at most 1024 threads, so `num_warps=32` fails with "invalid argument" on gfx9 (16 is the most there). On
RDNA, whose wavefronts have 32 lanes, it runs. Lists of values for autotuning that hold 32 are named as well, and a
number of warps computed by dividing by 32: it makes blocks twice as large as meant. Right when the value is chosen by
platform, or the divisor is the target's warp size.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.facts.targets import families, listed, wave64
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, finding
from rocport.rules.python.gate import edited, open_lines
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_MOST = 16
"""1024 threads, what a block may have, on wavefronts of 64 lanes."""

RULE = Rule(
    name="triton-num-warps",
    summary="Triton block of more than 1024 threads on wave64",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"num_warps", b"NUM_WARPS", b"num_warp"}),
    phase=5,
    where=Range(target={"wavefront": (64,)}),
    examples=(
        Example(
            "import triton\nc = [triton.Config({}, num_warps=n) for n in [4, 8, 16, 32]]\n",
            contains=("for n in ([4, 8, 16] if _rocm_compat.WAVE64 else [4, 8, 16, 32])]",),
            path="m.py",
        ),
        Example(
            "kernel[grid](x, num_warps=32)\n",
            contains=("num_warps=(16 if _rocm_compat.WAVE64 else 32))",),
            path="m.py",
        ),
        Example(
            "NUM_WARPS = [8, 16, 32]\n", contains=("= ([8, 16] if _rocm_compat.WAVE64 else [8, 16, 32])",), path="m.py"
        ),
        Example(
            "kernel[grid](x, num_warps=BLOCK // 32)\n",
            contains=("num_warps=(max(1, BLOCK // 64) if _rocm_compat.WAVE64 else BLOCK // 32))",),
            path="m.py",
        ),
    ),
    clean=(
        Example("kernel[grid](x, num_warps=16, BLOCK=32)\n", path="m.py"),
        Example("NUM_WARPS = [4, 8, 16] if is_amd else [4, 8, 16, 32]\n", path="m.py"),
        Example("kernel[grid](x, BLOCK=32)\nnum_warps = 4\n", path="m.py"),
        Example("kernel[grid](x, num_warps=BLOCK // WARP)\nn = m // 32\n", path="m.py"),
    ),
    sources=("https://github.com/fla-org/flash-linear-attention/pull/464",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for keyword in source.find(ast.keyword):
        if keyword.arg == "num_warps" and (_has_32(keyword.value) or _divides_by_32(keyword.value)):
            nodes.append(keyword.value)
    for assign in source.find(ast.Assign):
        names = {
            inner.id.lower() for target in assign.targets for inner in ast.walk(target) if isinstance(inner, ast.Name)
        }
        if any("num_warp" in name for name in names) and (_has_32(assign.value) or _divides_by_32(assign.value)):
            nodes.append(assign)
    for comprehension in source.find(ast.comprehension):
        target = comprehension.target
        outer = source.parents.get(comprehension)
        if isinstance(target, ast.Name) and outer is not None and _has_32(comprehension.iter):
            uses = (word.value for word in ast.walk(outer) if isinstance(word, ast.keyword) and word.arg == "num_warps")
            if any(isinstance(use, ast.Name) and use.id == target.id for use in uses):
                nodes.append(comprehension.iter)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    nodes = [node for node in nodes if not _chosen(source, node)]
    gate = Gate(source, "WAVE64")
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"num_warps counts wavefronts of 64 lanes on {families(wave64)}: blocks get more threads than meant"
            if any(isinstance(inner, ast.BinOp) for inner in ast.walk(node))
            else "num_warps=32 is 2048 threads on wavefronts of 64 lanes: more than a block may have",
            fix="at most 16 there (8 is a good bound for autotuning); keep 32 for CUDA",
            holds=listed(wave64),
        )
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _edits(gate: Gate, node: ast.AST) -> tuple[Edit, ...]:
    """At most 16 wavefronts of 64 lanes: lists lose what is more, a number becomes 16, `n // 32` becomes `n // 64`."""
    value = node.value if isinstance(node, ast.Assign) else node
    if isinstance(value, ast.Constant):
        return gate.choice(value, str(_MOST))
    if isinstance(value, (ast.List, ast.Tuple)) and all(isinstance(item, ast.Constant) for item in value.elts):
        kept = [gate.text(item) for item in value.elts if not _has_32(item)] or [str(_MOST)]
        inner = ", ".join(kept) + ("," if isinstance(value, ast.Tuple) and len(kept) == 1 else "")
        return gate.choice(value, f"[{inner}]" if isinstance(value, ast.List) else f"({inner})")
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.FloorDiv) and _is_32(value.right):
        return gate.choice(value, f"max(1, {gate.text(value.left)} // 64)")
    return ()


def _is_32(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and value.value == 32


def _chosen(source: PythonSource, node: ast.AST) -> bool:
    """True when the value itself asks for the platform: `[8, 16] if is_amd else [8, 16, 32]`."""
    return any(isinstance(inner, ast.IfExp) and source.says_amd(inner.test) for inner in ast.walk(node))


def _has_32(value: ast.AST) -> bool:
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return any(_has_32(element) for element in value.elts)
    if isinstance(value, ast.IfExp):
        return _has_32(value.body) or _has_32(value.orelse)
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value >= 32


def _divides_by_32(value: ast.AST) -> bool:
    return any(
        isinstance(inner, ast.BinOp)
        and isinstance(inner.op, (ast.FloorDiv, ast.Div))
        and isinstance(inner.right, ast.Constant)
        and inner.right.value == 32
        for inner in ast.walk(value)
    )

"""`rsqrt(x + eps)` in a Triton kernel, where eps is a `tl.constexpr` of the kernel: a Python number, not a float32.
On AMD's RDNA GPUs NaN was reported from layer norms written so (gfx1100, gfx1151): the constant was not promoted to
float32 before the addition. Right when eps is made a float32 first, `tl.full((), eps, tl.float32)`, or comes in as an
argument without `constexpr`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="triton-constexpr-eps",
    summary="rsqrt of a sum with a constexpr",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"rsqrt"}),
    phase=5,
    where=Range(target={"wavefront": (32,)}),
    examples=(
        Example(
            "import triton.language as tl\n@triton.jit\ndef k(x, eps: tl.constexpr):\n    r = tl.math.rsqrt(x + eps)\n",
            path="m.py",
        ),
    ),
    clean=(
        Example(
            "@triton.jit\ndef k(x, eps: tl.constexpr):\n    e = tl.full((), eps, tl.float32)\n    r = rsqrt(x + e)\n",
            path="m.py",
        ),
        Example("@triton.jit\ndef k(x, eps):\n    r = tl.math.rsqrt(x + eps)\n", path="m.py"),
        Example("def norm(x, eps):\n    return x * torch.rsqrt(x.pow(2).mean() + eps)\n", path="m.py"),
    ),
    sources=("https://github.com/unslothai/unsloth/pull/4110",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for function in source.find(ast.FunctionDef):
        if not any("jit" in ast.unparse(decorator) for decorator in function.decorator_list):
            continue
        constants = {
            item.arg
            for item in function.args.args
            if item.annotation is not None and "constexpr" in ast.unparse(item.annotation)
        }
        for call in ast.walk(function):
            if (
                isinstance(call, ast.Call)
                and ast.unparse(call.func).rsplit(".", 1)[-1] == "rsqrt"
                and len(call.args) == 1
                and isinstance(call.args[0], ast.BinOp)
                and any(
                    isinstance(side, ast.Name) and side.id in constants
                    for side in (call.args[0].left, call.args[0].right)
                )
            ):
                nodes.append(call)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "a constexpr added before rsqrt: NaN was reported from this on RDNA",
            fix="make it a float32 first: tl.full((), eps, tl.float32)",
            confidence=Confidence.LOW,
            holds="reported for RDNA3 and RDNA3.5 in February 2026",
        )

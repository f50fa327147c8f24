"""A warp size of 32 written into Python, alone or beside warps (`num_warps * 32`, `props.max_threads_per_block // 32`):
launch shapes, table layouts and block sizes follow it.
gfx9 wavefronts have 64 lanes, RDNA's 32, gfx1250's 32. `torch.cuda.get_device_properties(0).warp_size` answers on both
vendors. Right when the constant is CUDA's own logical width (a kernel ported with 32-lane warps keeps it).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.facts.targets import families, listed, wave64
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, finding
from rocport.rules.python.gate import edited, open_lines
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_NAME = re.compile(
    r"(?i)^_?(?:k_?)?(?:cuda_|gpu_)?(?:warp_?size|threads_per_warp|lanes_per_warp|warp_?lanes|num_lanes|warp_width)$"
)

_WARPS = re.compile(r"(?i)(?:^|_)n?warps?(?:_per_\w+)?$")
_THREADS = re.compile(r"(?i)^(?:max_)?(?:num_)?threads_per_(?:multi_?processor|block|cta|sm)$")

RULE = Rule(
    name="python-warp-size",
    summary="warp size of 32 in Python",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"arp_size", b"ARP_SIZE", b"arpSize", b"PER_WARP", b"per_warp", b"lanes", b"LANES"})
    | {b"warps", b"WARPS", b"_warp", b"threads_per_", b"THREADS_PER_"},
    phase=3,
    where=Range(target={"wavefront": (64,)}),
    examples=(
        Example("WARP_SIZE = 32\n", contains=("WARP_SIZE = (64 if _rocm_compat.WAVE64 else 32)\n",), path="m.py"),
        Example(
            "launch(x, warp_size=32)\n",
            contains=("warp_size=(64 if _rocm_compat.WAVE64 else 32))",),
            path="m.py",
        ),
        Example(
            "def f(num_warps):\n    return num_warps * 32\n",
            contains=("return num_warps * (64 if _rocm_compat.WAVE64 else 32)\n",),
            path="m.py",
        ),
        Example("def f(p, n):\n    return n * (p.max_threads_per_multi_processor // 32)\n", path="m.py"),
        Example("def f(warps_per_block):\n    return warps_per_block << 5\n", path="m.py"),
    ),
    clean=(
        Example("def f(num_warps, threads, n):\n    return num_warps * n, threads // 32, n * 32\n", path="m.py"),
        Example("WARP_SIZE = props.warp_size\n", path="m.py"),
        Example("WARP_SIZE = 64 if is_rocm else 32\n", path="m.py"),
        Example("def f(warp_size):\n    return warp_size\nwarmup_size = 32\n", path="m.py"),
    ),
    sources=("facts/targets: wavefront sizes",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for assign in source.find(ast.Assign, ast.AnnAssign):
        targets = assign.targets if isinstance(assign, ast.Assign) else [assign.target]
        names = [target.id if isinstance(target, ast.Name) else getattr(target, "attr", "") for target in targets]
        if assign.value is not None and _is_32(assign.value) and any(_NAME.match(name) for name in names):
            nodes.append(assign)
    for keyword in source.find(ast.keyword):
        if keyword.arg and _NAME.match(keyword.arg) and _is_32(keyword.value):
            nodes.append(keyword.value)
    nodes += _beside_warps(source)
    nodes.sort(key=lambda node: node.lineno)
    gate = Gate(source, "WAVE64")
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"32 lanes a warp: wavefronts have 64 on {families(wave64)}",
            fix="read torch.cuda.get_device_properties(device).warp_size, or keep 32 where kernels keep logical warps",
            confidence=Confidence.MEDIUM,
            holds=listed(wave64),
        )
        # Ported kernels keep CUDA's 32-lane warps unless asked otherwise, and what is passed to them stays 32.
        logical = context.options.warp == "logical32" and bool(context.project.device_functions)
        edits: list[Edit] = []
        for other in others if not logical else ():
            value = other.value if isinstance(other, (ast.Assign, ast.AnnAssign)) else other
            edits += gate.choice(value, "64") if value is not None and _is_32(value) else ()
        yield edited(item, gate, edits)


def _beside_warps(source: PythonSource) -> Iterator[ast.expr]:
    """The 32 of `num_warps * 32` and `max_threads_per_block // 32`, and the 5 of `num_warps << 5`."""
    for node in source.find(ast.BinOp):
        sides = [(node.left, node.right)]
        if isinstance(node.op, ast.Mult):
            sides.append((node.right, node.left))
        for named, number in sides:
            name = named.id if isinstance(named, ast.Name) else getattr(named, "attr", "")
            by_lanes = isinstance(node.op, (ast.LShift, ast.RShift)) and _is_number(number, 5)
            counted = _WARPS if isinstance(node.op, (ast.Mult, ast.LShift)) else _THREADS
            divided = isinstance(node.op, (ast.Mult, ast.FloorDiv, ast.Div, ast.Mod)) and _is_32(number)
            if (by_lanes or divided) and counted.search(name):
                yield number


def _is_32(value: ast.AST) -> bool:
    return _is_number(value, 32)


def _is_number(value: ast.AST, number: int) -> bool:
    return isinstance(value, ast.Constant) and value.value == number

"""Manual CUDA graph capture: HIP captures too, but not everything that CUDA captures is legal or checked there.
HIP may replay an illegal capture with wrong results where CUDA raises, and capture without a warm-up on a side stream
fails more often. What is legal on both works as it stands, so the places are SAFE; outputs of a replay are best
compared with an eager run. A mere test for graph support is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places
from rocport.syntax.python import PythonSource

_CALLS = frozenset({"torch.cuda.graph", "torch.cuda.make_graphed_callables"})

RULE = Rule(
    name="cuda-graph-capture",
    summary="manual CUDA graph capture",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.SAFE,
    languages=PYTHON,
    triggers=frozenset({b"cuda.graph", b"make_graphed_callables", b"import graph", b"CUDAGraph"}),
    phase=7,
    holds="every ROCm release; what capture refuses differs between them",
    examples=(Example("import torch\nwith torch.cuda.graph(g):\n    y = f(x)\n", path="m.py"),),
    clean=(
        Example("import torch\ng = torch.cuda.CUDAGraph()\n", path="m.py"),
        Example("if torch.version.hip is None:\n    with torch.cuda.graph(g):\n        y = f(x)\n", path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/hipgraph.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes = [node for node in source.find(ast.Call) if call_name(source, node) in _CALLS]
    for node in open_places(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "captures a graph: HIP does not refuse every illegal capture, replays can differ",
            fix="warm up on a side stream, synchronise, and compare the replay with an eager run on the AMD GPU",
            confidence=Confidence.LOW,
        )
        yield replace(item, applicability=Applicability.SAFE)

"""Starting workers by fork after the GPU was used: the HIP runtime does not survive it.
CUDA forbids it as well, but looks at fewer calls as initialisation; on ROCm a parent that asked for the devices leaves
children that hang or fail. Right when `spawn` is used on ROCm, and where the file uses the standard library's processes
and no library for GPUs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_CALLS = ("set_start_method", "get_context", "start_processes", "notebook_launcher", "elastic_launch", "LaunchConfig")

_GPU = frozenset({"torch", "accelerate", "cupy", "jax", "numba", "tensorflow", "triton", "vllm", "deepspeed", "ray"})
_KEYWORDS = ("start_method", "context", "mp_context", "method")

RULE = Rule(
    name="fork-start-method",
    summary="worker processes by fork",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"'fork'", b'"fork"'}),
    phase=1,
    holds="HIP runtime of every release",
    examples=(
        Example(
            "import torch.multiprocessing as mp\nmp.set_start_method('fork')\n",
            contains=("set_start_method((\"spawn\" if _rocm_compat.IS_ROCM else 'fork'))",),
            path="m.py",
        ),
        Example("launch(f, start_method='fork')\n", path="m.py"),
        Example("import torch\nnotebook_launcher(f, start_method='fork')\n", absent=("_rocm_compat",), path="m.py"),
        Example("import torch\nstart_method = 'spawn' if xpu else 'fork'\n", path="m.py"),
    ),
    clean=(
        Example("mp.set_start_method('spawn')\n", path="m.py"),
        Example("import multiprocessing as mp\nmp.set_start_method('fork')\n", path="service.py"),
        Example("method = 'fork'  # a command of git\nrun('git', 'fork')\n", path="m.py"),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/multiprocessing.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if source.modules.isdisjoint(_GPU) and ("multiprocessing" in source.modules or b"start_method" not in source.data):
        return
    nodes: list[Any] = []
    for node, text in source.strings:
        if text != "fork":
            continue
        parent = source.parents.get(node)
        named = isinstance(parent, ast.keyword) and parent.arg in _KEYWORDS
        chosen = source.statement(node)
        if isinstance(chosen, ast.Assign) and any("start_method" in word for word in map(ast.unparse, chosen.targets)):
            named = True
        if named or (parent is not None and call_name(source, parent).endswith(_CALLS)):
            nodes.append(node)
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "fork after the HIP runtime was touched breaks the children",
            fix="start_method='spawn' where torch.version.hip is set",
            confidence=Confidence.MEDIUM,
        )
        # What is defined in a notebook cannot be sent to a spawned process: there fork is the only way.
        notebook = b"notebook" in source.data
        here = [other for other in others if not notebook and replaceable(source, other)]
        yield edited(item, gate, [edit for other in here for edit in gate.choice(other, '"spawn"')])

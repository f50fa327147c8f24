"""`torch.hip`, `device="hip"`, `autocast("hip")` and backend `"rccl"` do not exist: PyTorch keeps CUDA's names on ROCm.
`torch.cuda`, `"cuda"` and `"nccl"` are the right spelling there; `autocast("hip")` raises. Right to change always.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, by_line, call_name, finding
from rocport.rules.python.gate import edited
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_DEVICE_CALLS = (
    "torch.device",
    ".to",
    "autocast",
    "torch.autocast",
    "init_process_group",
    "torch.empty",
    "torch.zeros",
    "torch.randn",
)

RULE = Rule(
    name="hip-device-name",
    summary="device, module or backend name that PyTorch does not have",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"torch.hip", b"'hip'", b'"hip"', b"'rccl'", b'"rccl"', b"'hip:", b'"hip:'}),
    phase=1,
    holds="torch for ROCm, every release; measured on 2.13",
    examples=(
        Example(
            "import torch\nx = torch.zeros(3, device='hip')\n",
            contains=("device=(\"cuda\" if _rocm_compat.IS_ROCM else 'hip'))",),
            path="m.py",
        ),
        Example(
            "import torch\ntorch.hip.synchronize()\n",
            contains=("(torch.cuda if _rocm_compat.IS_ROCM else torch.hip).synchronize()",),
            path="m.py",
        ),
        Example("dist.init_process_group('rccl')\n", path="m.py"),
    ),
    clean=(
        Example(
            "import torch\nx = torch.zeros(3, device='cuda')\nb = 'hip' if torch.version.hip else 'cuda'\n", path="m.py"
        ),
        Example("launch(backend='hip')\n", path="m.py"),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/hip.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for attribute in source.find(ast.Attribute):
        if source.dotted(attribute) == "torch.hip":
            nodes.append(attribute)
    for node, text in source.strings:
        parent = source.parents.get(node)
        device = text == "hip" or text.startswith("hip:")
        if isinstance(parent, ast.keyword):
            call = source.parents.get(parent)
            in_torch = call is not None and call_name(source, call).startswith("torch.")
            if (device and parent.arg in ("device", "device_type") and in_torch) or (
                text == "rccl" and parent.arg == "backend"
            ):
                nodes.append(node)
        elif isinstance(parent, ast.Call) and parent.args[:1] == [node] and (device or text == "rccl"):
            nodes += [node] if call_name(source, parent).endswith(_DEVICE_CALLS) else []
    gate = Gate(source)
    for _, others in sorted(by_line(node for node in nodes if not _behind(source, node)).items()):
        item = finding(
            RULE,
            source,
            others[0],
            "PyTorch has no such name; on ROCm it keeps cuda and nccl",
            fix="write cuda (or nccl)",
        )
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _edits(gate: Gate, node: ast.expr) -> tuple[Edit, ...]:
    """PyTorch's own name, on ROCm; elsewhere the name fails as it did."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        right = node.value.replace("rccl", "nccl").replace("hip", "cuda")
        return gate.choice(node, repr(right).replace("'", '"'))
    return gate.choice(node, "torch.cuda")


def _behind(source: PythonSource, node: ast.AST) -> bool:
    """True for the branch that a port leaves for other platforms."""
    return any(
        isinstance(parent, ast.IfExp) and parent.orelse is child and "_rocm_compat" in set(source.words(parent.test))
        for parent, child in source.ancestors(node)
    )

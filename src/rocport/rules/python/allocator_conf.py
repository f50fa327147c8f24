"""`expandable_segments` and `backend:cudaMallocAsync` in the allocator's settings.
The first is supported on ROCm only from torch 2.11 and ROCm 7, the second stops the program there.
Older torch warns and ignores it; with newer ones a hang has been reported, and together with `max_split_size_mb` the
reserved memory grew to all VRAM or memory was corrupted on gfx1201. Right when the setting depends on the versions.
`max_split_size_mb` alone works on ROCm and is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.facts.holds import holds
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_ON = "expandable_segments:True"
_ASYNC = "backend:cudaMallocAsync"
_INSTEAD = {_ON: "expandable_segments:False", _ASYNC: "backend:native"}
_SETTINGS = re.compile(r"[\w.]+:[\w.]+(?:,[\w.]+:[\w.]+)*")

RULE = Rule(
    name="allocator-conf",
    summary="setting of the allocator that ROCm refuses or ignores",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"expandable_segments", b"cudaMallocAsync"}),
    phase=1,
    examples=(
        Example(
            "import os\nif 'expandable_segments:True' in os.getenv('PYTORCH_CUDA_ALLOC_CONF', ''):\n    pass\n",
            absent=("_rocm_compat",),
            path="m.py",
        ),
        Example(
            "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n",
            contains=("('expandable_segments:False' if _rocm_compat.IS_ROCM else 'expandable_segments:True')",),
            path="m.py",
        ),
        Example(
            "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'backend:cudaMallocAsync'\n",
            contains=("('backend:native' if _rocm_compat.IS_ROCM else 'backend:cudaMallocAsync')",),
            path="m.py",
        ),
    ),
    clean=(
        Example(
            "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb:128'  # not expandable_segments\n", path="m.py"
        ),
        Example("conf = 'expandable_segments:False'\n", path="m.py"),
        Example(
            "if not torch.version.hip:\n    os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n",
            path="m.py",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/192259",
        "https://github.com/pytorch/pytorch/pull/177974",
        "https://github.com/ROCm/legacy-rocm-build/issues/5041",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    ignored = holds(Range(torch="<2.11"), context.options)
    nodes = [node for node, text in source.strings if any(name in text.replace(" ", "") for name in _INSTEAD)]
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        if _ASYNC in str(node.value):
            item = finding(
                RULE,
                source,
                node,
                "the backend cudaMallocAsync raises in PyTorch for ROCm",
                fix="set it for CUDA only",
                holds="reported with torch 2.9",
            )
        else:
            item = finding(
                RULE,
                source,
                node,
                "expandable_segments is ignored before torch 2.11 on ROCm, and a hang is reported after",
                fix="set it for CUDA only, or from torch 2.11 with ROCm 7 after a trial; never with max_split_size_mb",
                confidence=Confidence.MEDIUM if ignored else Confidence.LOW,
                holds="torch < 2.11 ignores it on ROCm; later a hang was reported with a nightly of 2.14",
            )
        edits = [
            edit
            for other in others
            if _sets(source, other) and replaceable(source, other)
            for edit in gate.choice(other, _instead(gate.text(other)))
        ]
        yield edited(item, gate, edits)


def _instead(text: str) -> str:
    for name, other in _INSTEAD.items():
        text = text.replace(name, other)
    return text


def _sets(source: PythonSource, node: ast.Constant) -> bool:
    """True for settings that are written, not looked for, and not part of a message."""
    parent = source.parents.get(node)
    if not isinstance(node.value, str) or not _SETTINGS.fullmatch(node.value) or _instead(node.value) == node.value:
        return False
    call = isinstance(parent, ast.Call) and call_name(source, parent).rsplit(".", 1)[-1] in ("setdefault", "putenv")
    return call or isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Dict, ast.keyword))

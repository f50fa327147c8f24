"""Out of memory recognised by its CUDA text: on ROCm the message says `HIP out of memory`.
A test for `"CUDA out of memory"` is False there, so the retry or the smaller batch never happens; the same holds for
`"CUDNN_STATUS_NOT_SUPPORTED"` and `"CUDA error"`. `torch.OutOfMemoryError` is raised on both. Right when the test is
for the class, or for `" out of memory"`. Texts that are only printed or raised are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

_TEXT = re.compile(r"(?i)CUDA out of memory|cuda error|CUDNN_STATUS|cuda runtime error|CUBLAS_STATUS|cudaError")

RULE = Rule(
    name="oom-text",
    summary="error recognised by CUDA's wording",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"out of memory",
            b"CUDNN_STATUS",
            b"CUBLAS_STATUS",
            b"CUDA error",
            b"cudaError",
            b"cuda error",
            b"cuda runtime",
        }
    ),
    phase=5,
    examples=(
        Example("if 'CUDA out of memory' in str(e):\n    retry()\n", path="m.py"),
        Example("texts = ['CUDA out of memory.', 'CUDNN_STATUS_NOT_SUPPORTED.']\n", path="m.py"),
    ),
    clean=(
        Example("if ' out of memory' in str(e):\n    retry()\n", path="m.py"),
        Example("raise RuntimeError('CUDA out of memory')\n", path="m.py"),
        Example("ok = 'CUDA out of memory' in s or 'HIP out of memory' in s\n", path="m.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDACachingAllocator.cpp",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes = [
        node for node, text in source.strings if _TEXT.search(text) and len(text) < 120 and _compared(source, node)
    ]
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)} does not stand in the message ROCm raises",
            fix="catch torch.OutOfMemoryError, or look for ' out of memory'",
        )


def _compared(source: PythonSource, node: ast.AST) -> bool:
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Compare):
            return True
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            return name in ("startswith", "endswith", "search", "match", "find")
        if isinstance(parent, ast.stmt):
            return isinstance(parent, ast.Assign) and isinstance(parent.value, (ast.List, ast.Tuple, ast.Set))
    return False

"""Out of memory recognised by its CUDA text: on ROCm the message says `HIP out of memory`.
A test for `"CUDA out of memory"` is False there, so the retry or the smaller batch never happens; the same holds for
`"CUDNN_STATUS_NOT_SUPPORTED"` and `"CUDA error"`. `torch.OutOfMemoryError` is raised on both. Right when the test is
for the class, or for `" out of memory"`. Texts that are only printed or raised are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, text_of
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.syntax.gating import Gate
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
    holds="torch for ROCm, every release",
    examples=(
        Example(
            "if 'CUDA out of memory' in str(e):\n    retry()\n",
            contains=(
                "if ('CUDA out of memory' in str(e) or _rocm_compat.IS_ROCM and 'HIP out of memory' in str(e)):\n",
            ),
            path="m.py",
        ),
        Example(
            "if 'CUDA error' not in text:\n    raise\n",
            contains=("('CUDA error' not in text and not (_rocm_compat.IS_ROCM and 'HIP error' in text))",),
            path="m.py",
        ),
        Example(
            "texts = ['CUDA out of memory.', 'CUDNN_STATUS_NOT_SUPPORTED.']\n",
            contains=("('HIP out of memory.' if _rocm_compat.IS_ROCM else 'CUDA out of memory.')",),
            path="m.py",
        ),
        Example(
            "for name in os.listdir(dir):\n    try:\n        f(name)\n    except RuntimeError as e:\n"
            "        if 'CUDA out of memory' in str(e):\n            retry()\n",
            path="m.py",
        ),
    ),
    clean=(
        Example("if ' out of memory' in str(e):\n    retry()\n", path="m.py"),
        Example("names = [x for x in dir(this) if x.startswith('cudaError') and x != 'cudaError']\n", path="m.py"),
        Example("LINKS = [('cudaError_t', 'https://docs'), ('cudaSuccess', 'https://docs')]\n", path="m.py"),
        Example("raise RuntimeError('CUDA out of memory')\n", path="m.py"),
        Example("ok = 'CUDA out of memory' in s or 'HIP out of memory' in s\n", path="m.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDACachingAllocator.cpp",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes = [
        node for node, text in source.strings if _TEXT.search(text) and len(text) < 120 and _compared(source, node)
    ]
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)} does not stand in the message ROCm raises",
            fix="catch torch.OutOfMemoryError, or look for ' out of memory'",
        )
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _edits(gate: Gate, node: ast.Constant) -> tuple[Edit, ...]:
    """On ROCm the test also holds for HIP's wording; a list of texts gets it too."""
    source = gate.source
    text = text_of(node)
    there = re.sub(r"(?i)cuda (out of memory|error|runtime error)", _hip, text).replace("cudaError", "hipError")
    if there == text or not replaceable(source, node):
        return ()
    quoted = gate.text(node).replace(text, there)
    if there not in quoted:
        return ()
    parent = source.parents[node]
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and parent.left is node:
        where = gate.text(parent.comparators[0])
        if isinstance(parent.ops[0], ast.In):
            return gate.also(parent, f"{quoted} in {where}")
        if isinstance(parent.ops[0], ast.NotIn):
            return gate.neither(parent, f"{quoted} in {where}")
    return gate.choice(node, quoted)


def _hip(match: re.Match[str]) -> str:
    return ("HIP " if match[0].startswith("CUDA") else "hip ") + match[1]


def _of_names(source: PythonSource, test: ast.expr) -> bool:
    """True for a test of a name that `dir` or `vars` lists, which is no message."""
    tested = set(source.words(test))
    for loop, _ in source.ancestors(test):
        parts: list[Any] = [loop] if isinstance(loop, ast.For) else getattr(loop, "generators", [])
        for part in parts:
            called = call_name(source, part.iter) if isinstance(part.iter, ast.Call) else ""
            lists = called in ("dir", "vars", "globals") or "__dict__" in source.words(part.iter)
            if lists and not tested.isdisjoint(source.words(part.target)):
                return True
    return False


def _compared(source: PythonSource, node: ast.AST) -> bool:
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Compare):
            return not _of_names(source, parent)
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            return name in ("startswith", "endswith", "search", "match", "find") and not _of_names(source, parent)
        if isinstance(parent, ast.stmt):
            if not isinstance(parent, ast.Assign) or not isinstance(parent.value, (ast.List, ast.Tuple, ast.Set)):
                return False
            return source.parents[node] is parent.value
    return False

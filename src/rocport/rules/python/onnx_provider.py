"""ONNX Runtime's `CUDAExecutionProvider` and `TensorrtExecutionProvider` are NVIDIA's: an AMD build has other ones.
AMD's wheels register `MIGraphXExecutionProvider` (up to ONNX Runtime 1.22 also `ROCMExecutionProvider`), so a session
made with `providers=["CUDAExecutionProvider"]` runs on the CPU after a warning, and a test for the name in
`get_available_providers()` finds no GPU. Right when the provider is chosen from the available ones, or AMD's stand in
the same list. One finding a function; a test that a session runs on TensorRT is left alone, and so are test files,
which name the provider they were written for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, is_test_path, open_places
from rocport.syntax.python import PythonSource

_NVIDIA = frozenset({"CUDAExecutionProvider", "TensorrtExecutionProvider"})
_AMD = ("MIGraphXExecutionProvider", "ROCMExecutionProvider")

RULE = Rule(
    name="onnx-cuda-provider",
    summary="ONNX Runtime provider of NVIDIA",
    severity=Severity.SLOW,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(name.encode() for name in _NVIDIA),
    phase=5,
    examples=(
        Example("s = ort.InferenceSession('m.onnx', providers=['CUDAExecutionProvider'])\n", path="m.py"),
        Example("ok = 'CUDAExecutionProvider' in ort.get_available_providers()\n", path="m.py"),
    ),
    clean=(
        Example(
            "s = ort.InferenceSession(m, providers=['MIGraphXExecutionProvider', 'CUDAExecutionProvider'])\n",
            path="m.py",
        ),
        Example("s = ort.InferenceSession(m, providers=['CPUExecutionProvider'])\n", path="m.py"),
        Example("s = ort.InferenceSession(m, providers=ort.get_available_providers())\n", path="m.py"),
        Example("if provider == 'TensorrtExecutionProvider':\n    cache = True\n", path="m.py"),
        Example("assert s.get_providers() == ['CUDAExecutionProvider']\n", path="tests/test_m.py"),
    ),
    sources=(
        "https://onnxruntime.ai/docs/execution-providers/MIGraphX-ExecutionProvider.html",
        "https://github.com/microsoft/onnxruntime/pull/25181",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if is_test_path(source.path):
        return
    scopes: set[ast.AST] = set()
    nodes: list[Any] = []
    for node, text in source.strings:
        if text not in _NVIDIA or any(
            word in _AMD or "ROCM" in word for word in source.words(_expression(source, node))
        ):
            continue
        if text.startswith("Tensorrt") and isinstance(source.parents.get(node), ast.Compare):
            continue
        scope = next(
            (parent for parent, _ in source.ancestors(node) if isinstance(parent, (ast.FunctionDef, ast.ClassDef))),
            source.tree,
        )
        if scope not in scopes:
            scopes.add(scope)
            nodes.append(node)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{node.value}: not in ONNX Runtime's builds for AMD, the session falls back to the CPU",
            fix="choose from onnxruntime.get_available_providers(); AMD's is MIGraphXExecutionProvider",
            confidence=Confidence.MEDIUM,
            holds="ONNX Runtime < 1.23 also had a ROCMExecutionProvider; MIGraphX since",
        )


def _expression(source: PythonSource, node: ast.AST) -> ast.AST:
    """The outermost expression around a string."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.stmt):
            return child
    return node

"""A project's own question "is this CUDA?" (`_is_cuda()`, `IS_CUDA_SYSTEM`) answers no on ROCm, and AMD has no branch.
The helper asks for `torch.version.cuda`, or its name says that NVIDIA is meant; on ROCm the code behind it is left out
although torch's "cuda" device and "nccl" backend are there and right. Right when the helper, or the chain of tests,
asks for `torch.version.hip` too. Helpers that ask `torch.cuda.is_available()` are True on ROCm and left alone.
TensorFlow's `is_built_with_cuda()` is False in its builds for ROCm.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, is_test_path, open_places
from rocport.syntax.python import PythonSource

_ELSEWHERE = re.compile(
    r"^_?(?:is_nvidia(?:_gpu)?|IS_NVIDIA(?:_GPU)?|is_cuda_(?:system|platform|build)|IS_CUDA_(?:SYSTEM|PLATFORM|BUILD))$"
)

RULE = Rule(
    name="cuda-predicate",
    summary="own question for CUDA without a branch for AMD",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"version.cuda",
            b"is_nvidia",
            b"IS_NVIDIA",
            b"is_cuda_",
            b"IS_CUDA_",
            b"platform.is_cuda",
            b"is_built_with_cuda",
        }
    ),
    phase=1,
    holds="torch for ROCm, every release",
    examples=(
        Example(
            "import torch\ndef _is_cuda():\n    return torch.version.cuda is not None\n"
            "def backend():\n    if _is_cuda():\n        return 'nccl'\n    return 'gloo'\n",
            path="m.py",
        ),
        Example("import tensorflow as tf\nassert tf.test.is_built_with_cuda()\n", path="m.py"),
        Example(
            "from vllm.platforms import current_platform\nif current_platform.is_cuda():\n    import vllm._C\n",
            path="m.py",
        ),
        Example("from p import IS_CUDA_SYSTEM\nif IS_CUDA_SYSTEM:\n    import fast_kernels\n", path="m.py"),
    ),
    clean=(
        Example("ok = tf.test.is_built_with_cuda() or tf.test.is_built_with_rocm()\n", path="m.py"),
        Example("from p import IS_NVIDIA_HOPPER\nn = 4 if IS_NVIDIA_HOPPER else 8\n", path="m.py"),
        Example(
            "def _is_cuda():\n    return torch.cuda.is_available()\nif _is_cuda():\n    pass\n",
            path="m.py",
        ),
        Example(
            "from p import *\nif IS_CUDA_SYSTEM:\n    a()\nelif IS_ROCM_SYSTEM:\n    b()\n",
            path="m.py",
        ),
        Example(
            "def _is_cuda():\n    return torch.version.cuda is not None or torch.version.hip is not None\n"
            "if _is_cuda():\n    pass\n",
            path="m.py",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/notes/hip.html",
        "https://www.tensorflow.org/api_docs/python/tf/test/is_built_with_gpu_support",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if is_test_path(source.path):
        return
    functions = _functions(source)
    nodes: list[Any] = []
    for node in source.find(ast.Call, ast.Name):
        name = getattr(node.func if isinstance(node, ast.Call) else node, "id", "")
        asked = name in functions if isinstance(node, ast.Call) else _ELSEWHERE.match(name) is not None
        if isinstance(node, ast.Call):
            # vLLM's platform; is_cuda_alike() is True on both.
            asked = asked or call_name(source, node).endswith("current_platform.is_cuda")
            if _ELSEWHERE.match(name):
                continue
        if asked and not isinstance(getattr(node, "ctx", None), ast.Store) and _decides(source, node):
            nodes.append(node)
    tensorflow = [
        call
        for call in source.find(ast.Call)
        if call_name(source, call).endswith(".is_built_with_cuda")
        and not source.says_amd(source.statement(call) or call)
    ]
    nodes = sorted([*nodes, *tensorflow], key=lambda node: node.lineno)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)} is False on ROCm, and no branch asks for AMD",
            fix="ask is_built_with_gpu_support(), which is True on both"
            if node in tensorflow
            else "ask for torch.version.hip in the helper, or in a branch of its own",
            confidence=Confidence.MEDIUM,
        )


def _functions(source: PythonSource) -> frozenset[str]:
    """Functions of the file that answer by torch.version.cuda alone."""
    return frozenset(
        function.name
        for function in source.find(ast.FunctionDef)
        if len(function.body) <= 3
        and any(
            isinstance(inner, ast.Attribute) and source.dotted(inner) == "torch.version.cuda"
            for inner in ast.walk(function)
        )
        and any(isinstance(inner, ast.Compare) or _is_bool(inner) for inner in ast.walk(function))
        and not source.says_amd(function)
    )


def _is_bool(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool"


def _decides(source: PythonSource, node: ast.AST) -> bool:
    """True in the test of an if whose chain has no branch for AMD."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is parent.test:
            return not (isinstance(parent, ast.If) and _chain_says_amd(source, parent))
        if isinstance(parent, ast.UnaryOp) or (isinstance(parent, ast.BoolOp) and not source.says_amd(parent)):
            continue
        return False
    return False


def _chain_says_amd(source: PythonSource, node: ast.If) -> bool:
    branch: list[ast.stmt] = node.orelse
    while len(branch) == 1 and isinstance(branch[0], ast.If):
        if source.says_amd(branch[0].test):
            return True
        branch = branch[0].orelse
    return False

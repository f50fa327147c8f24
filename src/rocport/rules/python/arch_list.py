"""`TORCH_CUDA_ARCH_LIST` says for which GPUs torch builds an extension; on ROCm torch reads `PYTORCH_ROCM_ARCH`.
A script that sets the first leaves the second to its default: every target torch was built for, or the GPU that is
present. One that reads it, or refuses without it, decides by a variable that AMD's users do not set. Right when both
are treated, by `torch.version.hip`. One finding a file, at the first place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="arch-list-variable",
    summary="TORCH_CUDA_ARCH_LIST in a script",
    severity=Severity.SLOW,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"TORCH_CUDA_ARCH_LIST"}),
    phase=4,
    holds="torch for ROCm, 2.13 read",
    examples=(
        Example("import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.0;9.0'\n", path="setup.py"),
        Example("import os\narchs = os.environ.get('TORCH_CUDA_ARCH_LIST', None)\n", path="setup.py"),
    ),
    clean=(
        Example("if torch.version.hip is None:\n    os.environ['TORCH_CUDA_ARCH_LIST'] = '8.0;9.0'\n", path="setup.py"),
        Example("import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = ''\n", path="setup.py"),
        Example("print('set TORCH_CUDA_ARCH_LIST to build faster')\n", path="setup.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/main/torch/utils/cpp_extension.py",),
)


def _is_emptied(statement: ast.AST) -> bool:
    """True for `os.environ["TORCH_CUDA_ARCH_LIST"] = ""`: no choice of targets to carry over."""
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant) and not statement.value.value


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes = [
        node
        for node, text in source.strings
        if text == "TORCH_CUDA_ARCH_LIST"
        and isinstance(source.parents.get(node), (ast.Subscript, ast.Call, ast.Compare, ast.keyword, ast.Dict))
        and not _is_emptied(source.statement(node))
    ]
    for node in list(open_places(source, nodes))[:1]:
        yield finding(
            RULE,
            source,
            node,
            "TORCH_CUDA_ARCH_LIST is not read on ROCm; PYTORCH_ROCM_ARCH is",
            fix="treat PYTORCH_ROCM_ARCH alike where torch.version.hip is set",
            confidence=Confidence.MEDIUM,
        )

"""A setup.py that takes `-D__CUDA_NO_HALF_OPERATORS__` out of PyTorch's `COMMON_NVCC_FLAGS`, so that halves have
operators. On ROCm that list is not used: `COMMON_HIPCC_FLAGS` defines `__HIP_NO_HALF_OPERATORS__` and
`__HIP_NO_HALF_CONVERSIONS__`, and nothing takes them out, so that `static_cast<float>(half)` does not compile. The
port takes them out there. Right wherever the flag is one of these: SAFE.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.rules.python.gate import edited
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_LIST = "COMMON_NVCC_FLAGS"

RULE = Rule(
    name="torch-nvcc-flags",
    summary="flag taken out of PyTorch's list for nvcc",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    languages=PYTHON,
    triggers=frozenset({_LIST.encode()}),
    phase=4,
    examples=(
        Example(
            "import torch.utils.cpp_extension as ext\n"
            "for flag in ['-D__CUDA_NO_HALF_OPERATORS__', '-D__CUDA_NO_HALF_CONVERSIONS__']:\n"
            "    ext.COMMON_NVCC_FLAGS.remove(flag)\n",
            contains=(
                'ext.COMMON_HIPCC_FLAGS[:] = [flag for flag in ext.COMMON_HIPCC_FLAGS if "__HIP_NO_HALF_" not in flag]',
                "ext.COMMON_NVCC_FLAGS.remove(flag)",
            ),
            path="setup.py",
        ),
    ),
    clean=(
        Example("import ext\next.COMMON_NVCC_FLAGS.remove('-O3')\n", path="setup.py"),
        Example(
            "import torch.utils.cpp_extension as ext\nflag = '-D__CUDA_NO_HALF_OPERATORS__'\n"
            "(ext.COMMON_HIPCC_FLAGS if hip else ext.COMMON_NVCC_FLAGS).remove(flag)\n",
            path="setup.py",
        ),
    ),
    sources=("torch/utils/cpp_extension.py of PyTorch 2.11",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if b"__CUDA_NO_HALF" not in source.data or b"COMMON_HIPCC_FLAGS" in source.data:
        return
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and _removes(node)]
    gate = Gate(source)
    for node in open_places(source, calls):
        statement = source.statement(node)
        if not isinstance(statement, ast.Expr) or statement.value is not node:
            continue
        flags = gate.text(node).partition(".remove(")[0].removesuffix(_LIST) + "COMMON_HIPCC_FLAGS"
        item = finding(
            RULE,
            source,
            node,
            f"{_LIST} is nvcc's: on ROCm COMMON_HIPCC_FLAGS keeps halves without operators and conversions",
            holds="all PyTorch for ROCm",
            fix="take __HIP_NO_HALF_OPERATORS__ and __HIP_NO_HALF_CONVERSIONS__ out of COMMON_HIPCC_FLAGS",
        )
        edits = gate.either(statement, f'{flags}[:] = [flag for flag in {flags} if "__HIP_NO_HALF_" not in flag]')
        yield edited(item, gate, edits, Applicability.SAFE)


def _removes(node: ast.Call) -> bool:
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr != "remove":
        return False
    owner = called.value
    return (isinstance(owner, ast.Attribute) and owner.attr == _LIST) or (
        isinstance(owner, ast.Name) and owner.id == _LIST
    )

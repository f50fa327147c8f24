"""An extension built from sources that nothing translates: inline PTX that AMD GPUs have no counterpart for, CUTLASS.
`CUDAExtension` translates names and nothing else; such `asm("...")`, CUTE and CUTLASS stop hipcc, and with them the
whole package. Right when the sources are left out on ROCm and the call site has a fallback, or when the kernels have a
branch of their own for AMD. Sources whose PTX `port` translates are none of these. One finding an extension.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="extension-ptx-source",
    summary="extension with sources hipify cannot translate",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b'.cu"', b".cu'"}),
    phase=4,
    holds="torch's hipify up to 2.13",
    examples=(
        Example(
            "from torch.utils.cpp_extension import CUDAExtension\n"
            "ext = CUDAExtension('a', ['bind.cpp', 'csrc/gemm_ptx.cu'])\n",
            path="setup.py",
            options={"ptx": "csrc/gemm_ptx.cu"},
        ),
    ),
    clean=(
        Example(
            "from torch.utils.cpp_extension import CUDAExtension\next = CUDAExtension('a', ['csrc/plain.cu'])\n",
            path="setup.py",
            options={"ptx": "csrc/gemm_ptx.cu"},
        ),
        Example(
            "if not IS_ROCM:\n    sources.append('csrc/gemm_ptx.cu')\n",
            path="setup.py",
            options={"ptx": "csrc/gemm_ptx.cu"},
        ),
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if not context.project.ptx_sources:
        return
    folder = posixpath.dirname(source.path)
    places: dict[ast.AST, list[str]] = {}
    for node, text in source.strings:
        if not text.endswith(".cu"):
            continue
        path = posixpath.normpath(posixpath.join(folder, text))
        if path in context.project.ptx_sources:
            places.setdefault(_holder(source, node), []).append(text)
    nodes: list[Any] = sorted(places, key=lambda node: node.lineno)
    for node in open_places(source, nodes):
        named = places[node]
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        yield finding(
            RULE,
            source,
            node,
            f"builds {named[0]}{more}: inline PTX that nothing translates, or CUTLASS",
            fix="leave it out where torch.version.hip is set, with a fallback at the call, or port the kernels first",
            confidence=Confidence.MEDIUM,
        )


def _holder(source: PythonSource, node: ast.AST) -> ast.AST:
    """The call of the extension around a source, or the statement."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if name.endswith(("Extension", "load")):
                return parent
        if isinstance(parent, ast.stmt):
            return node if isinstance(child, ast.expr) and isinstance(parent, ast.Expr) else parent
    return node

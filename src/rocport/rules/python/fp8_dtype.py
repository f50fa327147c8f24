"""fp8 written as NVIDIA's: `torch.float8_e4m3fn`, Triton's `float8e4nv`, and the maxima 448 and 57344.
gfx942 multiplies the fnuz kinds only (`float8_e4m3fnuz`, largest value 240); gfx950, gfx1200, gfx1201 and gfx1250 take
the OCP kinds (448); other targets have no fp8 instructions. So it is a table of three rows, not "ROCm means fnuz". The
same bits mean half the value in fnuz: weights that are loaded have to be rescaled. Right when the type is chosen by
`gcnArchName`; then the place is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, any_target, finding, open_places
from rocport.syntax.python import PythonSource

_TYPES = frozenset({"float8_e4m3fn", "float8_e5m2", "float8e4nv", "float8e5", "float8_e4m3", "fp8e4nv"})
_MAXIMA = frozenset({448.0, 57344.0})

RULE = Rule(
    name="fp8-dtype",
    summary="fp8 type or range of NVIDIA",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"float8", b"fp8", b"FP8"}),
    phase=5,
    examples=(
        Example("import torch\nq = x.to(torch.float8_e4m3fn)\n", path="m.py"),
        Example("fp8_max = 448.0\n", path="fp8.py"),
        Example("w = (a, x.to(tl.float8e4nv))\n", path="m.py"),
    ),
    clean=(
        Example("fp8 = torch.float8_e4m3fnuz if 'gfx942' in arch else torch.float8_e4m3fn\n", path="m.py"),
        Example("x = x.to(torch.float8_e4m3fnuz)\n", path="m.py"),
        Example("width = 448\nfp8 = None\n", path="m.py"),
        Example("print(torch.finfo(dtype).max, 'float8')\n", path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/en/latest/reference/precision-support.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if not any_target(context, lambda target: target.fp8 != "ocp"):
        return
    nodes: list[Any] = []
    for node in source.find(ast.Attribute):
        if node.attr in _TYPES and source.dotted(node).split(".")[0] in ("torch", "tl", "triton", "jnp", "ml_dtypes"):
            nodes.append(node)
    for constant in source.find(ast.Constant):
        value = constant.value
        if (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and float(value) in _MAXIMA
            and _of_fp8(source, constant)
        ):
            nodes.append(constant)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)} is fp8 as NVIDIA and gfx950/gfx12 have it; gfx942 has fnuz types with maximum 240",
            fix="choose the type by gcnArchName and the maximum by torch.finfo; rescale loaded weights for fnuz",
            holds="gfx942: fnuz; gfx950, gfx1200, gfx1201, gfx1250: OCP; other targets: no fp8 instructions",
            confidence=Confidence.MEDIUM,
        )


def _of_fp8(source: PythonSource, node: ast.Constant) -> bool:
    """A maximum of fp8 rather than any number 448: written as a float, or beside a name of fp8."""
    statement = source.statement(node)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.With)):
        return isinstance(node.value, float)
    named = any(
        "fp8" in word.lower() or "e4m3" in word.lower() or "float8" in word.lower() for word in source.words(statement)
    )
    return named or isinstance(node.value, float)

"""Launch options of Triton's CUDA backend: `num_ctas` above 1 (clusters, sm_90) and `maxnreg`.

Triton's AMD backend raises ValueError for a cluster on targets that cannot launch one, and KeyError for `maxnreg`,
which it does not have. Right when the option is given for CUDA alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="triton-option",
    summary="Triton launch option that AMD's backend refuses",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"num_ctas", b"maxnreg"}),
    phase=5,
    holds="Triton 3.9 read",
    examples=(
        Example("import triton\nk[(1,)](x, num_ctas=2)\n", path="m.py"),
        Example("import triton\nc = [triton.Config({'B': 64}, num_warps=4, maxnreg=168)]\n", path="m.py"),
    ),
    clean=(
        Example("import triton\nk[(1,)](x, num_ctas=1, maxnreg=None)\n", path="m.py"),
        Example("import triton\nif not is_hip:\n    k[(1,)](x, maxnreg=128)\n", path="m.py"),
        Example("plan(num_ctas=2)\n", path="m.py"),
    ),
    sources=("triton/backends/amd/compiler.py of Triton 3.9",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if "triton" not in source.modules:
        return
    asked = (keyword for keyword in source.find(ast.keyword) if keyword.arg in ("num_ctas", "maxnreg"))
    nodes = [keyword.value for keyword in asked if not _is_default(keyword.value)]
    for node in open_places(source, sorted(nodes, key=lambda node: node.lineno)):
        yield finding(
            RULE,
            source,
            node,
            "num_ctas above 1 and maxnreg are options of Triton's CUDA backend: AMD's raises an error",
            fix="give it where torch.version.hip is None; waves_per_eu bounds registers on AMD",
        )


def _is_default(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (None, 1)

"""Kernels of numba's CUDA target run on NVIDIA GPUs only: `from numba import cuda`.

numba has no AMD target: `@cuda.jit` raises CudaSupportError on ROCm, and AMD's numba-hip, which takes such kernels
with `hip` in the place of `cuda`, is a package of its own. Its warps are wavefronts, so shuffles
(`cuda.shfl_down_sync`), votes and `cuda.warpsize` count 64 lanes on CDNA. Nothing is edited: named once for the import
and at each warp operation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding
from rocport.syntax.python import PythonSource

_WARP = frozenset(
    """
    shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync ballot_sync any_sync all_sync eq_sync match_any_sync
    match_all_sync activemask warpsize lanemask_lt laneid syncwarp
    """.split()  # noqa: SIM905 - a table to read
)

RULE = Rule(
    name="numba-cuda",
    summary="kernel of numba's CUDA target",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    phase=5,
    holds="numba and numba-cuda as they were in November 2026",
    languages=PYTHON,
    triggers=frozenset({b"numba"}),
    examples=(
        Example("from numba import cuda\n", path="m.py"),
        Example("import numba.cuda\n", path="m.py"),
        Example(
            "from numba import cuda\n@cuda.jit\ndef k(x):\n    x[0] = cuda.shfl_down_sync(0xffffffff, x[0], 16)\n",
            path="m.py",
        ),
    ),
    clean=(
        Example("from numba import njit\n", path="m.py"),
        Example("import numba\nf = numba.jit\n", path="m.py"),
    ),
    sources=("https://numba.readthedocs.io/en/stable/cuda/overview.html", "https://github.com/ROCm/numba-hip"),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    names: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "numba":
            found = {alias.asname or alias.name for alias in node.names if alias.name == "cuda"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba.cuda"):
            found = {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found = {alias.asname or alias.name for alias in node.names if alias.name.startswith("numba.cuda")}
        else:
            continue
        if found:
            names |= found
            yield finding(
                RULE,
                source,
                node,
                "numba's CUDA target runs on NVIDIA GPUs only",
                fix="install numba-hip and import its hip in the place of numba's cuda on AMD",
            )
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in _WARP and ast.unparse(node.value) in names:
            yield finding(
                RULE,
                source,
                node,
                f"numba's {node.attr} counts 32 lanes on NVIDIA GPUs; a wavefront of CDNA has 64",
                fix="let the kernel ask for the warp's size",
            )

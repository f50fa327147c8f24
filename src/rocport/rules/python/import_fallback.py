"""A CUDA-only module imported under `try` whose handler does nothing: on ROCm the names are missing without a word.
`except ImportError: pass` hides what the module and the code beside it in the `try` would have defined; the first use
raises NameError, or a feature test far away takes another way. Right when the handler binds a fallback (another
library, `scaled_dot_product_attention`, plain PyTorch), or a flag that is asked before use. One finding a `try`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.rules.python.cuda_import import CUDA_ONLY
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="import-without-fallback",
    summary="CUDA-only import whose handler binds nothing",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(name.encode() for name in CUDA_ONLY),
    phase=5,
    holds="packages as they were in November 2026 (facts/packages)",
    examples=(
        Example(
            "try:\n    import dropout_layer_norm\n    class FastNorm(Norm):\n        pass\n"
            "except ImportError:\n    pass\n",
            path="m.py",
        ),
    ),
    clean=(
        Example("try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n", path="m.py"),
        Example(
            "HAS = False\ntry:\n    import flash_attn\n    HAS = True\nexcept ImportError:\n    pass\n", path="m.py"
        ),
        Example(
            "try:\n    import cupy\nexcept ImportError:\n    pytest.skip('no cupy', allow_module_level=True)\n",
            path="m.py",
        ),
        Example("try:\n    import numpy\nexcept ImportError:\n    pass\n", path="m.py"),
    ),
    sources=("facts/packages",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for attempt in source.find(ast.Try):
        if not attempt.handlers or not all(_does_nothing(handler) for handler in attempt.handlers) or attempt.orelse:
            continue
        imported = next((node for node in attempt.body if _is_cuda_only(node)), None)
        if imported is not None and not _flagged(attempt):
            nodes.append(imported)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)[:60]}: absent on ROCm, and the handler puts nothing in its place",
            fix="bind a fallback in the handler, or a flag that is asked before use",
            confidence=Confidence.MEDIUM,
        )


def _is_cuda_only(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in CUDA_ONLY for alias in node.names)
    return isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] in CUDA_ONLY


def _does_nothing(handler: ast.ExceptHandler) -> bool:
    return all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, (ast.Constant, ast.Call)) and not _leaves(node.value))
        for node in handler.body
    )


def _leaves(value: ast.Constant | ast.Call) -> bool:
    """True for a call that ends the module: nothing behind it runs without the import."""
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith(("skip", "exit", "importorskip", "quit"))


def _flagged(attempt: ast.Try) -> bool:
    """True when the body sets a flag: `HAS_FLASH = True`."""
    return any(
        isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is True
        for node in attempt.body
    )

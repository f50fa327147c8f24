"""Launch options of Triton's CUDA backend: `num_ctas` above 1 (clusters, sm_90), `maxnreg` and `launch_pdl`.

Triton's AMD backend raises ValueError for a cluster on targets that cannot launch one, and KeyError for the other two,
which it does not have. Right when the option is given for CUDA alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="triton-option",
    summary="Triton launch option that AMD's backend refuses",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"num_ctas", b"maxnreg", b"launch_pdl"}),
    phase=5,
    holds="Triton 3.9 read",
    examples=(
        Example("import triton\nk[(1,)](x, num_ctas=2)\n", path="m.py"),
        Example("import triton\nk[(1,)](x, launch_pdl=True)\n", path="m.py"),
        Example("from mine import k\nkw = {'num_ctas': 2}\nk[(1,)](x, **kw)\n", path="m.py"),
        Example("import triton\nc = [triton.Config({'B': 64}, num_warps=4, maxnreg=168)]\n", path="m.py"),
    ),
    clean=(
        Example("import triton\nk[(1,)](x, num_ctas=1, maxnreg=None)\n", path="m.py"),
        Example("import triton\nif not is_hip:\n    k[(1,)](x, maxnreg=128)\n", path="m.py"),
        Example("plan(num_ctas=2)\n", path="m.py"),
        Example("import triton\nb = heuristics(num_ctas=2)\n", path="m.py"),
    ),
    sources=("triton/backends/amd/compiler.py of Triton 3.9",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    launches = [call for call in source.find(ast.Call) if _launches(source, call)]
    given = [keyword for call in launches for keyword in call.keywords]
    spread = {keyword.value.id for keyword in given if keyword.arg is None and isinstance(keyword.value, ast.Name)}
    pairs = [pair for keyword in given for pair in _pairs(keyword)]
    for node in source.find(ast.Assign, ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if node.value is None:
                continue
            if isinstance(target, ast.Name) and target.id in spread:
                pairs += _pairs(ast.keyword(None, node.value))
            if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Constant):
                continue
            if isinstance(target.value, ast.Name) and target.value.id in spread:
                pairs.append((target.slice.value, node.value))
    nodes = [
        value
        for name, value in pairs
        if name == "launch_pdl" or (name in ("num_ctas", "maxnreg") and not _is_default(value))
    ]
    for node in open_places(source, sorted(nodes, key=lambda node: node.lineno)):
        yield finding(
            RULE,
            source,
            node,
            "num_ctas above 1, maxnreg and launch_pdl are options of Triton's CUDA backend: AMD's raises an error",
            fix="give it where torch.version.hip is None; waves_per_eu bounds registers on AMD",
        )


def _launches(source: PythonSource, call: ast.Call) -> bool:
    """True for `kernel[grid](...)`, which launches, and for `triton.Config(...)`; another call's keyword is its own."""
    if isinstance(call.func, ast.Subscript):
        return True
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call_name(source, call)
    return "triton" in source.modules and name.rsplit(".", 1)[-1] in ("Config", "warmup", "run")


def _pairs(keyword: ast.keyword) -> list[tuple[object, ast.expr]]:
    """(name, value) of `name=value`, and of what `**{...}` and `**dict(...)` spread."""
    value = keyword.value
    if keyword.arg is not None:
        return [(keyword.arg, value)]
    if isinstance(value, ast.Dict):
        keys = zip(value.keys, value.values, strict=True)
        return [(key.value, item) for key, item in keys if isinstance(key, ast.Constant)]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return [pair for item in value.keywords for pair in _pairs(item)]
    return []


def _is_default(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (None, 1)

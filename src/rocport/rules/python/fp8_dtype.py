"""fp8 written as NVIDIA's: `torch.float8_e4m3fn`, Triton's `float8e4nv`, and the maximum 448.
gfx942 multiplies the fnuz kinds only (`float8_e4m3fnuz`, largest value 240); gfx950, gfx1200, gfx1201 and gfx1250 take
the OCP kinds (448); other targets have no fp8 instructions. So it is a table of three rows, not "ROCm means fnuz". The
same bits mean half the value in fnuz: weights that are loaded have to be rescaled. Right when the type is chosen by
`gcnArchName`; then the place is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.facts.targets import fnuz, listed, ocp
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, finding
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_TYPES = frozenset({"float8_e4m3fn", "float8_e5m2", "float8e4nv", "float8e5", "float8_e4m3", "fp8e4nv"})
_MAXIMA = frozenset({448.0})
"""Of e4m3: the largest e5m2 is 57344 in both kinds."""
_FNUZ = {
    "float8_e4m3fn": "float8_e4m3fnuz",
    "float8_e5m2": "float8_e5m2fnuz",
    "float8e4nv": "float8e4b8",
    "float8e5": "float8e5b16",
}
"""torch's and Triton's names of the kinds gfx942 multiplies."""

RULE = Rule(
    name="fp8-dtype",
    summary="fp8 type or range of NVIDIA",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"float8", b"fp8", b"FP8"}),
    phase=5,
    where=Range(target={"fp8": ("fnuz", "none", "unknown")}),
    examples=(
        Example(
            "import torch\nq = x.to(torch.float8_e4m3fn)\n",
            contains=(
                "import _rocm_compat\n",
                "x.to((torch.float8_e4m3fnuz if _rocm_compat.FP8_FNUZ else torch.float8_e4m3fn))",
            ),
            path="m.py",
        ),
        Example("fp8_max = 448.0\n", contains=("(240.0 if _rocm_compat.FP8_FNUZ else 448.0)",), path="fp8.py"),
        Example(
            "import torch\nif x.dtype == torch.float8_e4m3fn:\n    pass\n",
            contains=(
                "if (x.dtype == torch.float8_e4m3fn or _rocm_compat.FP8_FNUZ and x.dtype == torch.float8_e4m3fnuz):",
            ),
            path="m.py",
        ),
        Example(
            "import torch\nok = x.dtype in (torch.float8_e4m3fn, torch.int8)\nodd = y is not torch.float8_e5m2\n",
            contains=(
                "((torch.float8_e4m3fn, torch.int8, torch.float8_e4m3fnuz) if _rocm_compat.FP8_FNUZ else (",
                "(y is not torch.float8_e5m2 and not (y == torch.float8_e5m2fnuz) if _rocm_compat.FP8_FNUZ else",
            ),
            path="m.py",
        ),
        Example("import torch\nw = raw.view(torch.float8_e4m3fn)\n", absent=("_rocm_compat",), path="m.py"),
        Example(
            "import triton\n@triton.jit\ndef kernel(x):\n    return x.to(tl.float8e4nv)\n",
            absent=("_rocm_compat",),
            path="m.py",
        ),
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
    gate = Gate(source, "FP8_FNUZ")
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)} is fp8 as NVIDIA and {listed(ocp)} have it; {listed(fnuz)} has fnuz, up to 240",
            fix="choose the type by gcnArchName and the maximum by torch.finfo; rescale loaded weights for fnuz",
            holds=f"{listed(fnuz)}: fnuz; {listed(ocp)}: OCP; other targets: no fp8 instructions",
            confidence=Confidence.MEDIUM,
        )
        item = replace(item, cause="NVIDIA's fp8")
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _edits(gate: Gate, node: ast.expr) -> tuple[Edit, ...]:
    """A type that is made becomes gfx942's own; one that is compared with is accepted beside it."""
    source = gate.source
    if not replaceable(source, node):
        return ()
    if isinstance(node, ast.Constant):
        return gate.choice(node, "240" if isinstance(node.value, int) else "240.0")
    fnuz = _fnuz(gate, node)
    parent = source.parents[node]
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "view":
        return ()  # Bytes read as another kind are other numbers: which kind they are, only a reader knows.
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and fnuz:
        left, right = parent.left, parent.comparators[0]
        other = gate.text(left if right is node else right)
        plain = all(isinstance(side, (ast.Name, ast.Attribute)) for side in (left, right))
        if isinstance(parent.ops[0], (ast.Eq, ast.Is)) and plain:
            return gate.also(parent, f"{other} == {fnuz}")
        if isinstance(parent.ops[0], (ast.NotEq, ast.IsNot)) and plain:
            return gate.neither(parent, f"{other} == {fnuz}")
    if isinstance(parent, (ast.Tuple, ast.List, ast.Set)) and isinstance(source.parents[parent], ast.Compare):
        kinds = [_fnuz(gate, element) for element in parent.elts]
        brackets = {ast.Tuple: "()", ast.List: "[]", ast.Set: "{}"}[type(parent)]
        both = ", ".join([gate.text(element) for element in parent.elts] + [kind for kind in kinds if kind])
        return gate.choice(parent, f"{brackets[0]}{both}{brackets[1]}")
    return gate.choice(node, fnuz) if fnuz else ()


def _fnuz(gate: Gate, node: ast.AST) -> str:
    """The same type as gfx942 has it; empty for what is no fp8 type."""
    if not isinstance(node, ast.Attribute) or node.attr not in _FNUZ:
        return ""
    return gate.text(node).removesuffix(node.attr) + _FNUZ[node.attr]


def _of_fp8(source: PythonSource, node: ast.Constant) -> bool:
    """A maximum of fp8 rather than any number 448: written as a float, or beside a name of fp8."""
    statement = source.statement(node)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.With)):
        return isinstance(node.value, float)
    named = any(
        "fp8" in word.lower() or "e4m3" in word.lower() or "float8" in word.lower() for word in source.words(statement)
    )
    return named or isinstance(node.value, float)

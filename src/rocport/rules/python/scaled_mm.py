"""`torch._scaled_mm` takes another fp8 kind on each AMD GPU, and no fp8 at all on most.
hipBLASLt multiplies fnuz values on gfx942 only and OCP values on gfx950 and gfx12 only; weights stored as
`float8_e4m3fn` raise on gfx942 until they are cast to fnuz and their scale is doubled (the same bits mean half the
value). Row-wise scales and a second result differ between torch releases. Right when the call is chosen by
`gcnArchName`; then the place is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.facts.targets import fnuz, listed, ocp
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

_NAMES = frozenset({"_scaled_mm", "_scaled_grouped_mm", "_scaled_mm_v2", "scaled_mm"})

RULE = Rule(
    name="fp8-scaled-mm",
    summary="scaled fp8 matrix product",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"scaled_mm", b"scaled_grouped_mm"}),
    phase=5,
    where=Range(target={"fp8": ("fnuz", "none", "unknown")}),
    examples=(
        Example("import torch\ny = torch._scaled_mm(a, b.t(), scale_a=s, scale_b=t, out_dtype=d)\n", path="m.py"),
    ),
    clean=(
        Example("import torch\ny = torch.mm(a, b)\n", path="m.py"),
        Example("import torch\nif not is_rocm:\n    y = torch._scaled_mm(a, b)\n", path="m.py"),
        Example("op = torch.ops.aten._scaled_mm.default\n", path="m.py"),
    ),
    sources=(
        "https://rocm.docs.amd.com/projects/hipBLASLt/en/latest/reference/data-type-support.html",
        "https://github.com/pytorch/pytorch/pull/117822",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes = [
        node
        for node in source.find(ast.Call)
        if isinstance(node.func, ast.Attribute)
        and node.func.attr in _NAMES
        and source.dotted(node.func).startswith(("torch._s", "torch.nn.functional.s", "torch.ops.aten._s"))
    ]
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node.func)} takes fnuz values on {listed(fnuz)}, OCP values on {listed(ocp)}, else raises",
            fix=f"cast weights to fnuz and double their scale on {listed(fnuz)}; another product where there is no fp8",
            confidence=Confidence.MEDIUM,
            holds=f"{listed(fnuz)}: fnuz; {listed(ocp)}: OCP; other targets: not supported",
        )

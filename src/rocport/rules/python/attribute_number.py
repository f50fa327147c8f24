"""Numbers of CUDA's enumerators written into Python: HIP numbers its attributes otherwise.
`cudaDevAttrMaxSharedMemoryPerBlockOptin = 97` handed to a compiled extension asks HIP for another attribute, or for
none, and answers with a wrong value. Right when the extension names the attribute in C++, where it is translated, or
the number is chosen by `torch.version.hip`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

_NAME = re.compile(r"^_*(?:cudaDevAttr|cudaDeviceAttr|CU_DEVICE_ATTRIBUTE_|cudaFuncAttribute|CU_FUNC_ATTRIBUTE_)\w+$")

RULE = Rule(
    name="cuda-attribute-number",
    summary="number of a CUDA attribute",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"cudaDev", b"CU_DEVICE_ATTRIBUTE", b"FuncAttribute", b"CU_FUNC_ATTRIBUTE"}),
    phase=1,
    holds="every ROCm release",
    examples=(
        Example("cudaDevAttrMaxSharedMemoryPerBlockOptin = 97\nm = ops.get_device_attribute(97)\n", path="m.py"),
        Example("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: int = 75\n", path="m.py"),
    ),
    clean=(
        Example("cudaDevAttrMaxSharedMemoryPerBlockOptin = 74 if is_hip() else 97\n", path="m.py"),
        Example("n = ops.cudaDevAttrMaxThreadsPerBlock\n", path="m.py"),
    ),
    sources=("https://github.com/ROCm/HIP/blob/amd-staging/include/hip/hip_runtime_api.h",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes = []
    for node in source.find(ast.Assign, ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        number = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
        if number and any(isinstance(target, ast.Name) and _NAME.match(target.id) for target in targets):
            nodes.append(node)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "the number of a CUDA attribute: HIP's has another one",
            fix="name the attribute in the extension's C++, or choose the number by torch.version.hip",
            confidence=Confidence.MEDIUM,
        )

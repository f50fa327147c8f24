"""Numbers of CUDA's enumerators written into Python: HIP numbers its attributes otherwise.
`cudaDevAttrMaxSharedMemoryPerBlockOptin = 97` handed to a compiled extension asks HIP for another attribute, or for
none, and answers with a wrong value; so does a number that ctypes hands to the C function itself. Right when the
extension names the attribute in C++, where it is translated, or the number is chosen by `torch.version.hip`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places, text_of
from rocport.syntax.python import PythonSource

_NAME = re.compile(r"^_*(?:cudaDevAttr|cudaDeviceAttr|CU_DEVICE_ATTRIBUTE_|cudaFuncAttribute|CU_FUNC_ATTRIBUTE_)\w+$")

_CALLS = {
    "cudaDeviceGetAttribute": 1,
    "cudaFuncSetAttribute": 1,
    "cuDeviceGetAttribute": 1,
    "cuFuncGetAttribute": 1,
    "cuFuncSetAttribute": 1,
}
"""C functions, and which argument is the attribute."""

RULE = Rule(
    name="cuda-attribute-number",
    summary="number of a CUDA attribute",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {b"cudaDev", b"CU_DEVICE_ATTRIBUTE", b"FuncAttribute", b"CU_FUNC_ATTRIBUTE", b"GetAttribute", b"SetAttribute"}
    ),
    phase=1,
    holds="every ROCm release",
    examples=(
        Example("cudaDevAttrMaxSharedMemoryPerBlockOptin = 97\nm = ops.get_device_attribute(97)\n", path="m.py"),
        Example("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: int = 75\n", path="m.py"),
        Example("ATTR = 16\nlib['cuDeviceGetAttribute'](ctypes.byref(v), ATTR, 0)\n", path="m.py"),
        Example("ask = getattr(lib, 'cudaFuncSetAttribute')\nask(f, ctypes.c_int(8), 65536)\n", path="m.py"),
        Example("v = ctypes.c_int()\ncuda.cuDeviceGetAttribute(ctypes.byref(v), 16, device)\n", path="m.py"),
    ),
    clean=(
        Example("_, n = driver.cuDeviceGetAttribute(driver.CUdevice_attribute.X, 0)\n", path="m.py"),
        Example("cudaDevAttrMaxSharedMemoryPerBlockOptin = 74 if is_hip() else 97\n", path="m.py"),
        Example("ATTR = driver.X\nlib.cuDeviceGetAttribute(ctypes.byref(v), ATTR, 0)\n", path="m.py"),
        Example("n = ops.cudaDevAttrMaxThreadsPerBlock\n", path="m.py"),
    ),
    sources=("https://github.com/ROCm/HIP/blob/amd-staging/include/hip/hip_runtime_api.h",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[ast.Assign | ast.AnnAssign | ast.Call] = []
    for node in source.find(ast.Assign, ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if _is_number(node.value) and any(_NAME.match(name) for name in names):
            nodes.append(node)
    assigned = [(node.targets, node.value) for node in source.find(ast.Assign)]
    assigned += [([node.target], node.value) for node in source.find(ast.AnnAssign) if node.value is not None]
    named = [(target.id, value) for targets, value in assigned for target in targets if isinstance(target, ast.Name)]
    numbers = {name for name, value in named if _is_number(value)}
    functions = {name: function for name, value in named if (function := _function(source, value)) in _CALLS}
    for call in source.find(ast.Call):
        function = _function(source, call.func)
        index = _CALLS.get(functions.get(function, function))
        if index is None or len(call.args) != 3:
            continue
        if _is_number(given := call.args[index]) or _said(given) in numbers:
            nodes.append(call)
    nodes.sort(key=lambda node: node.lineno)
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "the number of a CUDA attribute: HIP's has another one",
            fix="name the attribute in the extension's C++, or choose the number by torch.version.hip",
            confidence=Confidence.MEDIUM,
        )


def _function(source: PythonSource, node: ast.AST) -> str:
    """The last name of `lib.name`, `lib["name"]` and `getattr(lib, "name")`."""
    if isinstance(node, ast.Subscript):
        return text_of(node.slice)
    if isinstance(node, ast.Call):
        asks = isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1
        return text_of(node.args[1]) if asks else ""
    return source.dotted(node).rsplit(".", 1)[-1] if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _said(node: ast.AST) -> str:
    """The name that is given as it is, or in `ctypes.c_int(NAME)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else ""


def _is_number(node: ast.expr | None) -> bool:
    """True for a number as written, and for `ctypes.c_int(16)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    return isinstance(node, ast.Constant) and isinstance(node.value, int)

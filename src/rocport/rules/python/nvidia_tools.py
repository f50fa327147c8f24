"""`nvidia-smi`, `pynvml` and their kin do not exist on an AMD machine: FileNotFoundError, ImportError, or "no GPU".
`torch.cuda` answers most questions on both vendors (device count, memory, utilisation through amdsmi); for the rest
there are the `amdsmi` package and `rocm-smi`. Right when the vendor is asked first; an import under `try` is left
alone, its use is not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, open_places
from rocport.syntax.python import PythonSource

_MODULES = frozenset(
    {"pynvml", "py3nvml", "nvidia_smi", "nvsmi", "GPUtil", "gpustat", "codecarbon", "nvitop", "pynvml_utils"}
)
_COMMAND = re.compile(
    r"nvidia-smi|libnvidia-ml|libcuda\.so|nvcuda\.dll|cudart64|libcudart|lspci.*(?i:nvidia)|nvidia-settings"
)
_ASKS = re.compile(r"(?i)avail|find_spec|installed|import_module|has_package|version$")
_HELPER = re.compile(r"(?i)^is_(?:py3?nvml|nvidia|pynvml|codecarbon)\w*$")

RULE = Rule(
    name="nvidia-tool",
    summary="NVML or nvidia-smi",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"nvml",
            b"nvidia",
            b"NVIDIA",
            b"nvsmi",
            b"GPUtil",
            b"gpustat",
            b"codecarbon",
            b"nvitop",
            b"libcuda",
            b"cudart",
            b"nvcuda",
        }
    ),
    phase=5,
    examples=(
        Example("import pynvml\npynvml.nvmlInit()\n", path="m.py"),
        Example("import subprocess\nsubprocess.run(['nvidia-smi', '-L'])\n", path="m.py"),
        Example("from py3nvml import py3nvml as nvml\n", path="m.py"),
        Example("def can_measure():\n    return importlib.util.find_spec('pynvml') is not None\n", path="m.py"),
    ),
    clean=(
        Example("try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n", path="m.py"),
        Example("if is_rocm:\n    run('rocm-smi')\nelse:\n    run('nvidia-smi')\n", path="m.py"),
        Example("'''Like nvidia-smi.'''\nimport torch\n", path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/projects/amdsmi/en/latest/",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for imported in source.find(ast.Import, ast.ImportFrom):
        names = (
            [alias.name for alias in imported.names] if isinstance(imported, ast.Import) else [imported.module or ""]
        )
        if any(name.split(".")[0] in _MODULES for name in names) and not source.guarded(imported):
            nodes.append(imported)
    for call in source.find(ast.Call):
        function = call.func
        if (
            isinstance(function, ast.Attribute)
            and (function.attr.startswith("nvml") or source.dotted(function).split(".")[0] in _MODULES)
        ) or (isinstance(function, ast.Name) and (function.id.startswith("nvml") or _HELPER.match(function.id))):
            nodes.append(call)
    for constant, text in source.strings:
        asked = text in _MODULES and _ASKS.search(call_name(source, source.parents[constant]))
        if asked or (len(text) < 300 and _COMMAND.search(text)):
            nodes.append(constant)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "NVIDIA's management tools are absent on an AMD machine",
            fix="ask torch.cuda, or amdsmi where torch.version.hip is set",
        )

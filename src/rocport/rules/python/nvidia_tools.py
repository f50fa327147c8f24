"""`nvidia-smi`, `pynvml` and their kin do not exist on an AMD machine: FileNotFoundError, ImportError, or "no GPU".
`torch.cuda` answers most questions on both vendors (device count, memory, utilisation through amdsmi); for the rest
there are the `amdsmi` package and `rocm-smi`. Right when the vendor is asked first; an import under `try` is left
alone, its use is not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.facts.lookup import counterpart
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import block_of, edited, open_lines, replaceable
from rocport.rules.python.optional import bound_instead, import_gate
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_MODULES = frozenset(
    {"pynvml", "py3nvml", "nvidia_smi", "nvsmi", "GPUtil", "gpustat", "codecarbon", "nvitop", "pynvml_utils"}
)
_COMMAND = re.compile(
    r"nvidia-smi|libnvidia-ml|libcuda\.so|nvcuda\.dll|cudart64|libcudart|lspci.*(?i:nvidia)|nvidia-settings"
    r"|^/dev/nvidia|^/proc/driver/nvidia"
)
_RUNTIME = re.compile(r"libcuda(?:rt)?\.so|libcudart|nvcuda\.dll|cudart64")
_SHARED = re.compile(r"(?:.*/)?(?:lib)?([a-zA-Z][\w-]*?)(?:64_\d+|\.(?:so|dll)[\d.]*)*")
_ASKS = re.compile(r"(?i)avail|find_spec|installed|import_module|has_package|version$")
_HELPER = re.compile(r"(?i)^is_(?:py3?nvml|nvidia_(?:smi|ml)|pynvml|codecarbon)\w*$")

_NVML = frozenset({"pynvml", "py3nvml"})
SERVED = frozenset(
    {
        "NVML_TEMPERATURE_GPU",
        "NVMLError",
        "nvmlDeviceGetCount",
        "nvmlDeviceGetHandleByIndex",
        "nvmlDeviceGetMemoryInfo",
        "nvmlDeviceGetName",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetTemperature",
        "nvmlDeviceGetUtilizationRates",
        "nvmlInit",
        "nvmlShutdown",
    }
)
"""What the generated module's `nvml` answers."""

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
            b"CDLL",
            b"LoadLibrary",
            b"find_library",
        }
    ),
    phase=5,
    holds="every ROCm release",
    examples=(
        Example(
            "import pynvml\npynvml.nvmlInit()\n",
            contains=("if _rocm_compat.IS_ROCM:\n    pynvml = _rocm_compat.nvml\nelse:\n    import pynvml\npynvml.",),
            path="m.py",
        ),
        Example(
            "import pynvml\npynvml.nvmlDeviceGetNvLinkState(h, 0)\n",
            contains=('pynvml = _rocm_compat.optional("pynvml")',),
            path="m.py",
        ),
        Example(
            "import shutil\nok = shutil.which('nvidia-smi') is not None\n",
            contains=("which((\"rocm-smi\" if _rocm_compat.IS_ROCM else 'nvidia-smi'))",),
            path="m.py",
        ),
        Example("import subprocess\nsubprocess.run(['nvidia-smi', '-L'])\n", path="m.py"),
        Example("import os\nhas = os.path.exists('/dev/nvidiactl')\n", path="m.py"),
        Example("import ctypes\nblas = ctypes.CDLL('libcublas.so.12')\n", path="m.py"),
        Example("from ctypes.util import find_library\nhas = find_library('nvrtc') is not None\n", path="m.py"),
        Example("from py3nvml import py3nvml as nvml\n", path="m.py"),
        Example("def can_measure():\n    return importlib.util.find_spec('pynvml') is not None\n", path="m.py"),
    ),
    clean=(
        Example("if shutil.which('nvidia-smi'):\n    run(['nvidia-smi'])\n", path="m.py"),
        Example(
            "def f():\n    if shutil.which('nvidia-smi') is None:\n        return 0\n    run('nvidia-smi -L')\n",
            path="m.py",
        ),
        Example("try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n", path="m.py"),
        Example("if is_rocm:\n    run('rocm-smi')\nelse:\n    run('nvidia-smi')\n", path="m.py"),
        Example("import ctypes\nm = ctypes.CDLL('libm.so.6')\nc = find_library('c')\n", path="m.py"),
        Example("'''Like nvidia-smi.'''\nimport torch\n", path="m.py"),
    ),
    sources=("https://rocm.docs.amd.com/projects/amdsmi/en/latest/",),
)


def own_modules(context: Context) -> frozenset[str]:
    """Those that the tree itself is: it uses nobody else's."""
    files = context.project.files
    return frozenset(
        name for name in _MODULES if {f"{name}/__init__.py", f"src/{name}/__init__.py", f"{name}.py"} & files
    )


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    modules = _MODULES - own_modules(context)
    for imported in source.find(ast.Import, ast.ImportFrom):
        names = (
            [alias.name for alias in imported.names] if isinstance(imported, ast.Import) else [imported.module or ""]
        )
        if isinstance(imported, ast.ImportFrom) and imported.level:
            continue  # `from .pynvml import x` is of the project
        if any(name.split(".")[0] in modules for name in names) and not source.guarded(imported):
            nodes.append(imported)
    for call in source.find(ast.Call):
        function = call.func
        if (
            isinstance(function, ast.Attribute)
            and (function.attr.startswith("nvml") or source.dotted(function).split(".")[0] in modules)
        ) or (isinstance(function, ast.Name) and (function.id.startswith("nvml") or _HELPER.match(function.id))):
            nodes.append(call)
    for constant, text in source.strings:
        if source.guarded(constant) and "--query" in ast.unparse(source.parents[constant]):
            continue  # a number to show, and the program goes on without it
        asked = text in modules and _ASKS.search(call_name(source, source.parents[constant]))
        if asked or (len(text) < 300 and _COMMAND.search(text) and not _sought_first(source, constant)):
            nodes.append(constant)
    opened = {node: name for node in source.find(ast.Call) if (name := _opened(node))}
    nodes += opened
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    gate = Gate(source)
    served = _served(source)
    if any(source.dotted(attribute) == "_rocm_compat.nvml" for attribute in source.find(ast.Attribute)):
        nodes = [node for node in nodes if not isinstance(node, ast.Call)]
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "NVIDIA's management tools are absent on an AMD machine",
            fix="ask torch.cuda, or amdsmi where torch.version.hip is set",
        )
        if isinstance(node, ast.Constant) and (runtime := _RUNTIME.search(str(node.value))):
            item = replace(item, message=f"{runtime[0]}: a library of CUDA's, not there on ROCm")
        library = counterpart("link", next((opened[other] for other in others if other in opened), ""))
        if library is not None:
            item = replace(
                item,
                message=f"opens {library.cuda}: a CUDA library, not there on ROCm",
                fix=f"open {library.hip}, whose functions have HIP's names, where torch.version.hip is set"
                if library.hip
                else library.note.partition(":")[2].strip() or "leave it out where torch.version.hip is set",
            )
        item = replace(item, cause=library.cuda if library is not None else "NVIDIA's management tools")
        if served and isinstance(node, ast.Call) and not any(isinstance(other, ast.Constant) for other in others):
            yield replace(item, applicability=Applicability.SAFE, fix="nothing here: the port changes the import")
            continue
        yield edited(item, *_edits(gate, node, served)) if len(others) == 1 else item


def _sought_first(source: PythonSource, node: ast.AST) -> bool:
    """True for a tool that runs only where `shutil.which` found it, and for that question itself where it decides
    nothing else."""
    parent, statement = source.parents[node], source.statement(node)
    if _seeks(source, parent) and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        return any(name in source.words(other.test) and not _refuses(other) for other in source.find(ast.If))
    if _seeks(source, parent) and isinstance(statement, ast.If):
        return not _refuses(statement) and (_leaves(statement) or any(map(_names_a_tool, statement.body)))
    for outer, child in source.ancestors(node):
        if isinstance(outer, ast.If) and child in outer.body and _asks_first(source, outer):
            return True
        for before in block_of(source, child) if isinstance(child, ast.stmt) else ():
            if before is child:
                break
            if isinstance(before, ast.If) and _leaves(before) and _asks_first(source, before):
                return True
    return False


def _seeks(source: PythonSource, node: ast.AST) -> bool:
    """True for `shutil.which("nvidia-smi")`."""
    return isinstance(node, ast.Call) and call_name(source, node).endswith("which") and _names_a_tool(node)


def _asks_first(source: PythonSource, node: ast.If) -> bool:
    return any(_seeks(source, call) for call in ast.walk(node.test))


def _leaves(node: ast.If) -> bool:
    return isinstance(node.body[-1], (ast.Return, ast.Continue))


def _refuses(node: ast.If) -> bool:
    """True where somebody without the tool gets no further: `if not which(...): raise`."""
    last = node.body[-1]
    return isinstance(last, ast.Raise) or (isinstance(last, ast.Expr) and "exit" in ast.unparse(last))


def _names_a_tool(node: ast.AST) -> bool:
    texts = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str))
    return any(_COMMAND.search(text) for text in texts)


def _opened(call: ast.Call) -> str:
    """The link name of CUDA's library that a call of ctypes loads or looks for; empty for every other call."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in ("CDLL", "LoadLibrary", "PyDLL", "find_library") or not call.args:
        return ""
    file = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
    match = _SHARED.fullmatch(file) if isinstance(file, str) else None
    return match[1] if match is not None and counterpart("link", match[1]) is not None else ""


def _edits(gate: Gate, node: ast.AST, served: bool) -> tuple[Gate, tuple[Edit, ...]]:
    """PyTorch answers for NVML where it can; other packages are tried. A test for the tool asks for AMD's."""
    source = gate.source
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        if not served:
            return import_gate(gate, node)
        using = Gate(source, uses=frozenset({"nvml"}))
        values = {name: f"_rocm_compat.nvml.{name}" for name in SERVED} | dict.fromkeys(_NVML, "_rocm_compat.nvml")
        return using, bound_instead(using, node, values)
    if isinstance(node, ast.Constant) and node.value == "nvidia-smi" and replaceable(source, node):
        asks = call_name(source, source.parents[node]).rsplit(".", 1)[-1] == "which"
        return gate, gate.choice(node, '"rocm-smi"') if asks else ()
    return gate, ()


def _served(source: PythonSource) -> bool:
    """True when NVML is imported at the top by name, and the generated module answers everything asked of it."""
    imports = [
        node
        for node in source.find(ast.Import, ast.ImportFrom)
        if any(alias.name in _NVML or alias.name in SERVED for alias in node.names)
        and (not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] in _NVML)
    ]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    asked = {
        attribute.attr
        for attribute in source.find(ast.Attribute)
        if isinstance(attribute.value, ast.Name) and attribute.value.id in names
    }
    imported = {alias.name for node in imports for alias in node.names}
    return len(imports) == 1 and imports[0] in source.tree.body and asked <= SERVED and imported <= SERVED | _NVML

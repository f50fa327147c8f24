"""Modules that exist for CUDA only, imported without a way around: ImportError at start on ROCm.
flash-attn's extension modules (`dropout_layer_norm`, `rotary_emb`, `flash_attn_2_cuda`), flashinfer, xformers, apex,
transformer-engine, TensorRT, CuPy wheels, DeepGEMM and others have no AMD wheel or another API there. Right when the
import is tried and the call has three tiers: AMD's library, `scaled_dot_product_attention`, plain PyTorch. Imports
under `try`, under a test that asks for the package or the platform, and a project's own modules are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.facts.packages import find_package, packages
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.deps.cuda_requirement import SAYS, package_cause, ships
from rocport.rules.python.common import PYTHON, finding
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.rules.python.optional import import_gate
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

# nvidia-tool speaks of pynvml; MLX is for Apple's machines first, and for the CPU too.
CUDA_ONLY = frozenset(item.imported for item in packages() if item.state == "cuda-only") - {
    "pynvml",
    "mlx",
} | frozenset(
    """
    flash_attn flash_attn_2_cuda flash_attn_cuda flash_attn_interface flash_attn_3 dropout_layer_norm rotary_emb
    fused_dense_lib xentropy_cuda_lib xformers apex amp_C transformer_engine tensorrt_llm
    torch_tensorrt cupy pycuda deep_ep cutlass nvidia pynvjitlink spas_sage_attn
    flash_mla vllm_flash_attn exllama_kernels cumem_allocator awq_ext marlin_cuda fused_layer_norm_cuda
    scaled_upper_triang_masked_softmax_cuda
    mamba_ssm causal_conv1d_cuda selective_scan_cuda minference natten
    """.split()  # noqa: SIM905 - a table to read
)
_SUFFIX = re.compile(
    r"(?:^|[._])(?:cuda|cuda_ext|cuda_lib|cuda_kernels?)$|cumem_allocator|CuMemAllocator|vllm_flash_attn"
)
_ASKS = re.compile(r"(?i)avail|^has_|^_?have|installed|find_spec|type_checking|support|use_|enabled")
_WHEEL = re.compile(r"_cuda(?:_tensorcores)?$")

RULE = Rule(
    name="cuda-only-import",
    summary="import of a CUDA-only module without a fallback",
    severity=Severity.BREAKS_IMPORT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(name.encode() for name in CUDA_ONLY) | {b"_cuda", b"cumem"},
    phase=5,
    holds="packages as they were in November 2026 (facts/packages)",
    examples=(
        Example(
            "import dropout_layer_norm\n",
            contains=(
                "if _rocm_compat.IS_ROCM:\n"
                '    dropout_layer_norm = _rocm_compat.optional("dropout_layer_norm")\n'
                "else:\n    import dropout_layer_norm\n",
            ),
            path="m.py",
        ),
        Example(
            "from flash_attn import flash_attn_func\n",
            contains=("    flash_attn_func = _rocm_compat.flash_attn_func\nelse:\n    from flash_attn import",),
            path="m.py",
        ),
        Example(
            "from flash_attn.bert_padding import (\n    pad_input,\n    unpad_input as unpad,\n)\n",
            contains=(
                '    pad_input, unpad = _rocm_compat.optional("flash_attn.bert_padding", "pad_input", "unpad_input")\n',
                "else:\n    from flash_attn.bert_padding import (\n        pad_input,\n",
            ),
            path="m.py",
        ),
        Example("import cudf as pd\n", contains=('    pd = _rocm_compat.optional("cudf")\n',), path="m.py"),
        Example("from apex.optimizers import *\n", absent=("_rocm_compat",), path="m.py"),
        Example("from vllm.device_allocator.cumem import CuMemAllocator\n", path="m.py"),
        Example("import torch\nif torch.cuda.is_available():\n    from llama_cpp_cuda import Llama\n", path="m.py"),
        Example("llama = importlib.import_module('llama_cpp_cuda')\n", path="m.py"),
    ),
    clean=(
        Example("try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n", path="m.py"),
        Example("if is_flash_attn_available():\n    from flash_attn import flash_attn_func\n", path="m.py"),
        Example("if model.xformers_enabled():\n    import xformers.ops\n", path="m.py"),
        Example("from .flash_attn import attention\nimport torch.cuda\n", path="m.py"),
        Example("from torch.cuda import nvtx\n", path="m.py"),
    ),
    sources=("facts/packages",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for node in source.find(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.ImportFrom) and node.level:
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        parts = [*names, *(alias.name for alias in node.names)]
        first = {name.split(".")[0] for name in names}
        if first & {"torch", "numba", "triton", "jax"} or _own(first, names, context):
            continue
        cuda_only = bool(first & CUDA_ONLY) or any(_SUFFIX.search(part) for part in parts)
        if cuda_only and not source.guarded(node) and not _asked_for(source, node):
            nodes.append(node)
    for call in source.find(ast.Call):
        if ast.unparse(call.func).endswith(("import_module", "__import__")) and call.args:
            name = call.args[0]
            text = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
            asks = text.split(".")[0] in CUDA_ONLY or _WHEEL.search(text)
            if asks and not source.guarded(call) and not _own({text.split(".")[0]}, [text], context):
                nodes.append(call)
    nodes.sort(key=lambda node: node.lineno)
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)[:60]}: {_there(_module(node))}",
            fix=_instead(_module(node)),
            confidence=Confidence.MEDIUM if _in_function(source, node) else Confidence.HIGH,
        )
        item = replace(item, cause=package_cause(_module(node)))
        yield edited(item, *_edits(gate, node)) if len(others) == 1 else item


def _there(module: str) -> str:
    """What an AMD machine has of a package."""
    package = find_package(module)
    if package is not None and package.state in ("build", "separate", "fork"):
        return f"{SAYS[package.state]}; ImportError where nobody did"
    return "a CUDA-only module; ImportError on ROCm"


def _instead(module: str) -> str:
    package = find_package(module)
    other = package.replacement if package is not None else ""
    return f"try it, and fall back to {other or 'what serves it on ROCm (rocport compat), or plain PyTorch'}"


def _module(node: ast.stmt | ast.Call) -> str:
    """The package that is imported: who finds another for it has settled every import of it."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0]
    if isinstance(node, ast.Import):
        return node.names[0].name.split(".")[0]
    return str(ast.literal_eval(node.args[0])).split(".")[0] if isinstance(node, ast.Call) else ""


def _edits(gate: Gate, node: ast.stmt | ast.Call) -> tuple[Gate, tuple[Edit, ...]]:
    """What is there is imported on ROCm too; what is not is false, and says so when it is used."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return import_gate(gate, node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module" and len(node.args) == 1:
        using = Gate(gate.source, uses=frozenset({"optional"}))
        if replaceable(gate.source, node):
            return using, using.choice(node, f"_rocm_compat.optional({gate.text(node.args[0])})")
    return gate, ()


def _asked_for(source: PythonSource, node: ast.AST) -> bool:
    """Under a test that asks for the package (`if is_xformers_available():`, `if HAS_FLASH:`), or in a function that
    something skips without it (`@withPackage('cugraph')`)."""
    module = _module(node) if isinstance(node, (ast.stmt, ast.Call)) else ""
    return any(
        (isinstance(parent, ast.If) and child in parent.body and any(map(_ASKS.search, _asked(source, parent.test))))
        or (
            isinstance(parent, ast.FunctionDef)
            and any(f"'{module}'" in ast.unparse(mark) for mark in parent.decorator_list)
        )
        for parent, child in source.ancestors(node)
    )


def _asked(source: PythonSource, test: ast.AST) -> list[str]:
    """Words of a test; `torch.cuda.is_available()` asks for a GPU and not for a package, and is True on ROCm."""
    return [word for word in source.words(test) if word != "is_available"]


def _own(first: set[str], modules: list[str], context: Context) -> bool:
    """True for a package of the tree itself, or an extension module that its setup.py names or that it builds from a
    source of the name. A source named as a known package (`csrc/flash_attn.cu`) does not make that package its own."""
    files = context.project.files
    if first <= context.project.extensions or any(ships(context, name) for name in first):
        return True
    if any(f"/{name}/" in f"/{file}" for name in first - CUDA_ONLY for file in files):
        return True  # a folder on the path of the tests or the programs
    if any(_made_of(name, file) for name in first - CUDA_ONLY for file in files):
        return True
    sources = {f"{name}{suffix}" for name in _built(first) for suffix in (".cpp", ".cu", ".cc")}
    if sources and any(file.rpartition("/")[2] in sources for file in files):
        return True
    if any(f"{module.replace('.', '/')}.py" in files for module in modules):
        return True  # a folder without __init__.py is a package, too
    return any(
        f"{name}/__init__.py" in files or f"{name}.py" in files or f"src/{name}/__init__.py" in files for name in first
    )


def _made_of(name: str, file: str) -> bool:
    """True for a source that an extension module is named after: `correlation_cuda` of `src/correlation_cuda_kernel.cu`
    or `correlation.cpp`."""
    base = file.rpartition("/")[2]
    return base.endswith((".cpp", ".cu", ".cc")) and base.startswith(re.split(r"_(?:cuda|ext|kernel)", name)[0] or name)


def _built(first: set[str]) -> set[str]:
    """The names that can be an extension module of the tree."""
    return {name for name in first if name not in CUDA_ONLY or _WHEEL.search(name)}


def _in_function(source: PythonSource, node: ast.AST) -> bool:
    return any(isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) for parent, _ in source.ancestors(node))

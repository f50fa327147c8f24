"""A part of a library that only its builds for CUDA have, in code that says nothing else of CUDA.
`sdpa_kernel(SDPBackend.CUDNN_ATTENTION)` leaves `scaled_dot_product_attention` no kernel; Triton's AMD backend takes
`ieee`, `bf16x3` and `bf16x6` as `input_precision` (gfx942 `tf32` too); the GPU parts of Faiss and OpenCV's wheels are
CUDA's; XGBoost and CatBoost compute on the CPU or refuse; vLLM has Marlin on NVIDIA GPUs only, and a JAX for ROCm knows
no platform `cuda`. Right when the call is chosen by platform. A list of
attention backends that has others in it falls back by itself and is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.deps.cuda_requirement import package_cause
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import edited, open_lines
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_BACKENDS = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH")
_PARTS = (
    (
        re.compile(r"faiss\.(?:StandardGpuResources|GpuIndex\w*|GpuCloner\w*|index_cpu_to_\w*gpu\w*)"),
        "Faiss's wheels with a GPU part are CUDA's",
        "build Faiss with FAISS_ENABLE_ROCM=ON, or use its CPU index where torch.version.hip is set",
    ),
    (
        re.compile(r"cv2\.(?:cuda\b.*|cuda_\w+)"),
        "OpenCV's cuda module has no build for AMD",
        "compute it with torch or torchvision, or on the CPU, where torch.version.hip is set",
    ),
)
_JAX = ("JAX for ROCm has no platform 'cuda'", "ask for 'gpu', which is either, or 'rocm'")
_VARLEN = "torch.nn.attention.varlen.varlen_attn"
_SPLITS = (
    "num_splits: torch's attention raises on ROCm where it is given",
    "leave it out where torch.version.hip is set",
)
_TREES = re.compile(r"(xgboost|catboost)\.")

RULE = Rule(
    name="cuda-only-call",
    summary="part of a library that only its CUDA build has",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"CUDNN_ATTENTION",
            b"input_precision",
            b"faiss",
            b"cv2",
            b"xgboost",
            b"catboost",
            b"marlin",
            b"jax",
            b"num_splits",
        }
    ),
    phase=5,
    holds="packages as they were in November 2026; Triton 3.9",
    examples=(
        Example(
            "from torch.nn.attention import sdpa_kernel, SDPBackend\nwith sdpa_kernel(SDPBackend.CUDNN_ATTENTION):\n"
            "    pass\n",
            contains=(
                "sdpa_kernel(([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH] "
                "if _rocm_compat.IS_ROCM else SDPBackend.CUDNN_ATTENTION))",
            ),
            path="m.py",
        ),
        Example("import triton.language as tl\nc = tl.dot(a, b, input_precision='tf32x3')\n", path="m.py"),
        Example("import faiss\nr = faiss.StandardGpuResources()\n", path="m.py"),
        Example("import cv2\nm = cv2.cuda.GpuMat()\n", path="m.py"),
        Example("import xgboost as xgb\nm = xgb.XGBClassifier(tree_method='hist', device='cuda:0')\n", path="m.py"),
        Example("from vllm import LLM\nm = LLM('x', quantization='awq_marlin')\n", path="m.py"),
        Example(
            "import jax\njax.config.update('jax_platforms', 'cuda')\nd = jax.devices(backend='cuda')\n", path="m.py"
        ),
        Example(
            "from torch.nn.attention.varlen import varlen_attn\nmore = {}\nmore['num_splits'] = 1\n"
            "o = varlen_attn(q, k, v, **more)\np = varlen_attn(q, k, v, num_splits=1)\n",
            path="m.py",
        ),
        Example(
            "from torch.nn.attention.varlen import varlen_attn\nmore = {'num_splits': 1}\n"
            "o = varlen_attn(q, k, v, **more)\n",
            path="m.py",
        ),
    ),
    clean=(
        Example("import jax\nd = jax.devices('gpu')\nm = LLM('x', quantization='awq')\n", path="m.py"),
        Example("with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH]):\n    pass\n", path="m.py"),
        Example("import triton.language as tl\nc = tl.dot(a, b, input_precision='ieee')\n", path="m.py"),
        Example("import faiss, cv2\ni = faiss.IndexFlatL2(8)\nm = cv2.imread('a')\n", path="m.py"),
        Example("import xgboost as xgb\nm = xgb.XGBClassifier(device='cpu')\n", path="m.py"),
        Example(
            "from torch.nn.attention.varlen import varlen_attn\nmore = {}\nother = {}\nother['num_splits'] = 1\n"
            "o = varlen_attn(q, k, v, **more)\nf(num_splits=1)\n",
            path="m.py",
        ),
        Example("import cv2\nif cv2.cuda.getCudaEnabledDeviceCount():\n    m = cv2.cuda.GpuMat()\n", path="m.py"),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/168873",
        "https://github.com/triton-lang/triton/blob/main/third_party/amd/backend/compiler.py",
        "https://github.com/facebookresearch/faiss/blob/main/INSTALL.md",
        "https://github.com/pytorch/torchtitan/pull/3738",
        "https://github.com/dmlc/xgboost/issues/11336",
        "https://github.com/catboost/catboost/issues/1928",
        "https://docs.vllm.ai/en/latest/features/quantization/",
        "https://github.com/jax-ml/jax/blob/main/jax/_src/xla_bridge.py",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    said: dict[ast.AST, tuple[str, str]] = {}
    for attribute in source.find(ast.Attribute):
        parent = source.parents.get(attribute)
        name = "" if isinstance(parent, ast.Attribute) else source.dotted(attribute)
        part = next((part for part in _PARTS if part[0].fullmatch(name)), None)
        if part is not None and not _asked_for(source, attribute):
            said[attribute] = (f"{name}: {part[1]}", part[2])
    varlen: list[ast.Call] = []
    for call in source.find(ast.Call):
        name = call_name(source, call)
        for keyword in call.keywords:
            if trouble := _keyword(name, keyword):
                said[keyword] = trouble
        if _VARLEN in (name, source.dotted(call.args[0]) if name == "functools.partial" and call.args else ""):
            varlen.append(call)
        words = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
        if name in ("jax.devices", "jax.local_devices", "jax.config.update") and "cuda" in words:
            said[call] = _JAX
        if name.rpartition(".")[2] == "sdpa_kernel" and _only_cudnn(call) is not None:
            said[call] = (
                "cuDNN's attention is no backend on ROCm, and no other is named: no kernel is left",
                "name FLASH_ATTENTION, EFFICIENT_ATTENTION and MATH beside it",
            )
    said |= dict.fromkeys(_splits(source, varlen), _SPLITS)
    gate = Gate(source)
    nodes = sorted(said, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
    for node, others in open_lines(source, nodes):
        message, fix = said[node]
        cause = package_cause("faiss-gpu") if message.startswith("faiss.") else message.partition(": ")[2]
        item = replace(finding(RULE, source, node, message, fix=fix), cause=cause)
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _splits(source: PythonSource, calls: Sequence[ast.Call]) -> list[ast.AST]:
    """Where calls of torch's varlen_attn get `num_splits`: a keyword, or an item of a dictionary they are given."""
    if not calls:
        return []
    given = {ast.unparse(word.value) for call in calls for word in call.keywords if word.arg is None}
    found = [item for call in calls for word in call.keywords for item in _split_items(word)]
    for assign in source.find(ast.Assign, ast.AnnAssign):
        for target in assign.targets if isinstance(assign, ast.Assign) else [assign.target]:
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) in given:
                found += [target] if getattr(target.slice, "value", "") == "num_splits" else []
            elif assign.value is not None and ast.unparse(target) in given:
                found += _split_items(assign.value)
    for call in source.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in given:
            found += _split_items(call) if call.func.attr in ("update", "setdefault") else []
    return found


def _split_items(node: ast.AST) -> list[ast.AST]:
    """`num_splits=1` and `"num_splits": 1` in an expression."""
    return [
        inner
        for inner in ast.walk(node)
        if (isinstance(inner, ast.keyword) and inner.arg == "num_splits")
        or (isinstance(inner, ast.Constant) and inner.value == "num_splits")
    ]


def _keyword(name: str, keyword: ast.keyword) -> tuple[str, str] | None:
    """What is wrong with a keyword of a call on AMD GPUs, and what to do; None where nothing is."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if not isinstance(value, str):
        return None
    if keyword.arg == "input_precision" and value.lower().startswith("tf32"):
        kept = "targets with tf32 matrix instructions" if value.lower() == "tf32" else "no AMD GPU"
        return (
            f"input_precision={value!r}: Triton's AMD backend takes it on {kept}, and raises elsewhere",
            "leave it out, or pass 'ieee' or 'bf16x3' as a tl.constexpr chosen by target",
        )
    if keyword.arg in ("quantization", "quantization_method") and value.endswith("marlin"):
        return (
            f"{keyword.arg}={value!r}: vLLM has no Marlin kernels on AMD GPUs",
            "name the format: awq, gptq, or nothing",
        )
    if name.startswith("jax.") and keyword.arg == "backend" and value == "cuda":
        return _JAX
    trees = _TREES.match(name)
    device = keyword.arg in ("device", "task_type") and value.lower().startswith(("cuda", "gpu"))
    if trees and (device or (keyword.arg == "tree_method" and value == "gpu_hist")):
        return (
            f"{keyword.arg}={value!r}: {trees[1]} has no build for AMD GPUs",
            "compute on the CPU where torch.version.hip is set, or use LightGBM built with USE_ROCM",
        )
    return None


def _only_cudnn(call: ast.Call) -> ast.expr | None:
    """The argument of sdpa_kernel that names cuDNN's backend and no other; None where there is none."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "backends"]
    argument = next(iter([*call.args, *named]), None)
    one = argument.elts[0] if isinstance(argument, (ast.List, ast.Tuple)) and len(argument.elts) == 1 else argument
    return argument if isinstance(one, ast.Attribute) and one.attr == "CUDNN_ATTENTION" else None


def _edits(gate: Gate, node: ast.AST) -> tuple[Edit, ...]:
    argument = _only_cudnn(node) if isinstance(node, ast.Call) else None
    if argument is None:
        return ()
    prefix = gate.text(argument).strip("[]() ,").rpartition(".")[0]
    return gate.choice(argument, f"[{', '.join(f'{prefix}.{name}' for name in _BACKENDS)}]")


def _asked_for(source: PythonSource, node: ast.AST) -> bool:
    """Under, or in, a test that asks OpenCV or Faiss for GPUs: it is False without one that they can use."""
    return any(
        isinstance(parent, (ast.If, ast.IfExp))
        and re.search(r"getCudaEnabledDeviceCount|get_num_gpus", ast.unparse(parent.test))
        for parent, _ in source.ancestors(node)
    )

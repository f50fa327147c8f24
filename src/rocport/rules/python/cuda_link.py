"""CUDA libraries and folders named in a Python build script: `cublas`, `-lcurand`, `/usr/local/cuda/include`.
ROCm has hipBLAS, hipRAND, hipSPARSE and so on; torch's build adds the HIP runtime itself. CUTLASS has no AMD build.
Right when the list is made for the platform; torch maps library names of `libraries=` for a few, but not folders.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter

from rocport.facts.lookup import link_triggers
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.build.common import BY_HAND, CUDA_PATH, cuda_library, library_cause, namespace_cause
from rocport.rules.build.nvcc import hip_library
from rocport.rules.python.common import PYTHON, finding, is_build_script, open_places
from rocport.rules.python.gate import edited, whole_string
from rocport.rules.python.lists import list_edits, list_of, named, rocm_folder
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_CUTLASS = re.compile(r"(?:^|/)(?:cutlass|cute)(?:/|$)")
_GIVEN = frozenset(
    {"extra_ldflags", "extra_include_paths", "libraries", "library_dirs", "include_dirs", "extra_link_args"}
)
"""What `torch.utils.cpp_extension` calls an extension's libraries and folders."""
_ENV = re.compile(r"^CONDA_PREFIX$|^CUDNN_")

RULE = Rule(
    name="cuda-link",
    summary="CUDA library or folder in a build script",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=link_triggers() | {b"/cuda", b"cutlass", b"nvidia", b"CUDNN_", b"CONDA_PREFIX"},
    phase=4,
    holds="every ROCm release",
    examples=(
        Example(
            "ext = CUDAExtension('a', ['a.cu'], libraries=['cublas', 'cusparse'])\n",
            contains=("libraries=(['hipblas', 'hipsparse'] if _IS_ROCM else ['cublas', 'cusparse'])",),
            path="setup.py",
        ),
        Example(
            "include_dirs = ['/usr/local/cuda/include']\n", contains=("['/opt/rocm/include'] if",), path="setup.py"
        ),
        Example(
            "from torch.utils.cpp_extension import load\nm = load('m', ['a.cu'], extra_ldflags=['-lcublas'])\n",
            contains=("extra_ldflags=(['-lhipblas'] if _rocm_compat.IS_ROCM else ['-lcublas'])",),
            path="m.py",
        ),
        Example(
            "include_dirs = [root / 'csrc/cutlass/include', os.path.join(here, 'csrc', 'cutlass')]\n", path="setup.py"
        ),
    ),
    clean=(
        Example("libraries = ['hipblas'] if IS_ROCM else ['cublas']\n", path="setup.py"),
        Example("setup(keywords='rnn lstm cudnn torch')\n", path="setup.py"),
        Example("sources = ['csrc/cublas_wrap.cpp']\n", path="setup.py"),
        Example("ENGINE = 'cudnn'\nshow(engines=['cublas'], folder='/usr/local/cuda')\n", path="run.py"),
        Example("dist.init_process_group(backend='nccl')\n", path="setup.py"),
    ),
    sources=("https://github.com/ROCm/HIPIFY/blob/amd-staging/docs/supported_apis.md",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    script = is_build_script(source.path)
    nodes = [
        node
        for node, text in source.strings
        if len(text) < 200
        and not _describes(source, node)
        and (script or _is_linked(source, node, text))
        and _is_cudas(source, node, text)
    ]
    gate = Gate(source)
    for node in open_places(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)[:60]}: not there on ROCm",
            fix=_advice(node),
            confidence=Confidence.MEDIUM,
        )
        cause = (_CUTLASS.search(str(node.value)) and namespace_cause("cutlass")) or _CAUSE
        yield edited(replace(item, cause=cause), gate, _edits(gate, node))
    for node in open_places(source, [node for node in nodes if cuda_library(str(node.value), by_hand=True)[0]]):
        item = finding(RULE, source, node, f"{ast.unparse(node)[:60]}: {BY_HAND}", fix=_advice(node))
        yield replace(item, cause=library_cause(cuda_library(str(node.value), by_hand=True)[0]))


_CAUSE = "CUDA's folders and libraries in Python"
_DESCRIBES = frozenset({"keywords", "description", "long_description", "classifiers", "name"})


def _describes(source: PythonSource, node: ast.AST) -> bool:
    """True for what a package is found by: `keywords='rnn cudnn'`."""
    for parent, _ in source.ancestors(node):
        if isinstance(parent, (ast.keyword, ast.stmt)):
            return isinstance(parent, ast.keyword) and parent.arg in _DESCRIBES
    return False


def _is_linked(source: PythonSource, node: ast.AST, text: str) -> bool:
    """True for a linker's flag, and for what an extension that is built in the program (`load(...)`) is given."""
    if text.startswith("-l"):
        return True
    above = itertools.takewhile(
        lambda parent: not isinstance(parent, ast.stmt), map(itemgetter(0), source.ancestors(node))
    )
    return any(isinstance(parent, ast.keyword) and parent.arg in _GIVEN for parent in above)


def _is_cudas(source: PythonSource, node: ast.Constant, text: str) -> bool:
    if text == "nccl":
        # The name of a backend of torch's too, which stays as it is on ROCm.
        return named(source, node, "librar")
    patterns = (CUDA_PATH, _CUTLASS, _ENV)
    return bool(cuda_library(text)[0]) or any(pattern.search(text) for pattern in patterns)


def _advice(node: ast.Constant) -> str:
    library, advice = cuda_library(str(node.value))
    return advice if library else "leave the folder to torch's build, where torch.version.hip is set"


def _edits(gate: Gate, node: ast.Constant) -> tuple[Edit, ...]:
    """ROCm's own list, or ROCm's name in place of a single one."""
    source = gate.source
    whole = whole_string(source, node)
    listed = list_of(source, whole)
    if listed is not None:
        made = list_edits(gate, listed)
        return made[0] if made else ()
    parent = source.parents[whole]
    if whole is not node or not isinstance(parent, (ast.Call, ast.keyword, ast.Assign, ast.AugAssign)):
        return ()
    text = str(node.value)
    library = hip_library(text)
    if library:
        return gate.choice(node, f'"{library}"')
    folder = rocm_folder(text)
    return gate.choice(node, f'"{folder}"') if folder else ()

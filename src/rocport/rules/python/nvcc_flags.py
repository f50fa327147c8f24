"""Compiler flags of nvcc that clang refuses when it compiles HIP (`unknown argument`), in Python build scripts.
Each listed flag was tried with clang 19: `--expt-*`, `--use_fast_math`, `-Xptxas`, `-maxrregcount`, `--threads`,
`-gencode`, `-arch=sm_*` and others are refused; `-use_fast_math` with one dash is read as `-u` and does nothing.
`-lineinfo`, `-Xcompiler`, `-diag-suppress`, `-dc`, `-O3` and `-std=` pass and are left alone. Also
`-U__CUDA_NO_HALF_*` without its twin `-U__HIP_NO_HALF_*`: torch defines the HIP macro on ROCm, so the half operators
stay off. Right when the flags are added for CUDA only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.build.common import ARCH_FLAG, HALF_MACRO, NVCC_FLAG
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.syntax.python import PythonSource

RULE = Rule(
    name="nvcc-flag",
    summary="compiler flag only nvcc takes",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"--expt-",
            b"-expt-",
            b"use_fast_math",
            b"-Xptxas",
            b"--ptxas",
            b"maxrregcount",
            b"--threads",
            b"-Xfatbin",
            b"gencode",
            b"--generate",
            b"-arch=",
            b"arch=compute",
            b"sm_",
            b"compute_",
            b"__CUDA_NO_",
            b"--default-stream",
            b"-extended",
            b"-ccbin",
            b"--fmad",
            b"-t=0",
        }
    ),
    phase=4,
    examples=(
        Example("flags = ['-O3', '--expt-relaxed-constexpr', '--use_fast_math']\n", path="setup.py"),
        Example("flags += ['-gencode', 'arch=compute_80,code=sm_80']\n", path="setup.py"),
        Example("flags = ['-U__CUDA_NO_HALF_OPERATORS__']\n", path="setup.py"),
        Example("flags.append(f'-gencode=arch=compute_{n},code=sm_{n}')\n", path="setup.py"),
    ),
    clean=(
        Example("flags = ['-O3', '-std=c++17', '-lineinfo', '-Xcompiler', '-fPIC']\n", path="setup.py"),
        Example("flags = ['-U__CUDA_NO_HALF_OPERATORS__', '-U__HIP_NO_HALF_OPERATORS__']\n", path="setup.py"),
        Example("if not IS_ROCM:\n    flags.append('--use_fast_math')\n", path="setup.py"),
        Example("parser.add_argument('--threads', type=int)\n", path="run.py"),
    ),
    sources=("https://clang.llvm.org/docs/HIPSupport.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    half_twin = b"__HIP_NO_HALF" in source.data
    nodes: list[Any] = []
    words: dict[ast.AST, str] = {}
    for constant, text in source.strings:
        if len(text) > 400:
            continue
        match = NVCC_FLAG.search(text) or ARCH_FLAG.search(text)
        if match is None and not half_twin:
            match = HALF_MACRO.search(text)
        if match is None or _is_option(source, constant) or _is_prose(text):
            continue
        nodes.append(constant)
        words[constant] = match[0].strip()
    for node in open_places(source, nodes):
        half = words[node].startswith("-U")
        yield finding(
            RULE,
            source,
            node,
            f"{words[node]}: "
            + ("the HIP macro of the same meaning stays defined" if half else "clang refuses this nvcc flag for HIP"),
            fix="add -U__HIP_NO_HALF_OPERATORS__ -U__HIP_NO_HALF_CONVERSIONS__ on ROCm"
            if half
            else "pass it for CUDA only; targets of AMD are PYTORCH_ROCM_ARCH or --offload-arch",
        )


def _is_option(source: PythonSource, node: ast.AST) -> bool:
    """An option this script itself takes (`add_argument("--threads")`) is no flag of a compiler."""
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            return name in ("add_argument", "option", "add_option")
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_prose(text: str) -> bool:
    return text.count(" ") > 6 and not text.lstrip().startswith("-")

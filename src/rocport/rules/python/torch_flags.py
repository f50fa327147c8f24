"""A setup.py that takes `-D__CUDA_NO_HALF_OPERATORS__` out of PyTorch's `COMMON_NVCC_FLAGS`, so that halves have
operators. On ROCm that list is not used: `COMMON_HIPCC_FLAGS` defines `__HIP_NO_HALF_OPERATORS__` and
`__HIP_NO_HALF_CONVERSIONS__`, and nothing takes them out, so that `static_cast<float>(half)` does not compile. The
port takes them out there. Right wherever the flag is one of these: SAFE.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.rules.python.gate import edited
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_LIST = "COMMON_NVCC_FLAGS"
_HIP_LIST = "COMMON_HIPCC_FLAGS"

RULE = Rule(
    name="torch-nvcc-flags",
    summary="flag taken out of PyTorch's list for nvcc",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({_LIST.encode()}),
    phase=4,
    examples=(
        Example(
            "import torch.utils.cpp_extension as ext\n"
            "for flag in ['-D__CUDA_NO_HALF_OPERATORS__', '-D__CUDA_NO_HALF_CONVERSIONS__']:\n"
            "    ext.COMMON_NVCC_FLAGS.remove(flag)\n",
            contains=(
                'ext.COMMON_HIPCC_FLAGS[:] = [flag for flag in ext.COMMON_HIPCC_FLAGS if "__HIP_NO_HALF_" not in flag]',
                "ext.COMMON_NVCC_FLAGS.remove(flag)",
            ),
            path="setup.py",
        ),
        Example(
            "# COMMON_HIPCC_FLAGS is another list\nfrom torch.utils.cpp_extension import COMMON_NVCC_FLAGS\n"
            "COMMON_NVCC_FLAGS.remove('-D__CUDA_NO_HALF_OPERATORS__')\n",
            contains=(
                "    from torch.utils.cpp_extension import COMMON_HIPCC_FLAGS; COMMON_HIPCC_FLAGS[:] = [flag for",
            ),
            path="setup.py",
        ),
        Example(
            "from torch.utils.cpp_extension import COMMON_NVCC_FLAGS as FLAGS\n"
            "FLAGS.remove('-D__CUDA_NO_HALF_OPERATORS__')\n",
            contains=("    from torch.utils.cpp_extension import COMMON_HIPCC_FLAGS; COMMON_HIPCC_FLAGS[:] = ",),
            path="setup.py",
        ),
        Example(
            "import torch.utils.cpp_extension as ext\next.COMMON_NVCC_FLAGS = ['-O3']\n",
            contains=("    ext.COMMON_HIPCC_FLAGS[:] = [flag for flag in ext.COMMON_HIPCC_FLAGS if",),
            path="setup.py",
        ),
        Example(
            "import torch.utils.cpp_extension as ext\n"
            "ext.COMMON_NVCC_FLAGS[:] = [f for f in ext.COMMON_NVCC_FLAGS if 'NO_HALF' not in f]\n",
            contains=("    ext.COMMON_HIPCC_FLAGS[:] = [flag for flag in ext.COMMON_HIPCC_FLAGS if",),
            path="setup.py",
        ),
    ),
    clean=(
        Example(
            "import torch.utils.cpp_extension as ext\next.COMMON_NVCC_FLAGS = [*ext.COMMON_NVCC_FLAGS, '-O3']\n",
            path="setup.py",
        ),
        Example("import ext\next.COMMON_NVCC_FLAGS.remove('-O3')\n", path="setup.py"),
        Example(
            "import torch.utils.cpp_extension as ext\nflag = '-D__CUDA_NO_HALF_OPERATORS__'\n"
            "(ext.COMMON_HIPCC_FLAGS if hip else ext.COMMON_NVCC_FLAGS).remove(flag)\n",
            path="setup.py",
        ),
    ),
    sources=("torch/utils/cpp_extension.py of PyTorch 2.11",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    named = {name for node in ast.walk(source.tree) for name in _named(node)}
    if _HIP_LIST in named:
        return
    places = [
        node for node in ast.walk(source.tree) if (_removes(source, node) and _of_halves(source)) or _sets(source, node)
    ]
    gate = Gate(source)
    for node in open_places(source, places):
        statement = source.statement(node)
        if isinstance(node, ast.Call) and not (isinstance(statement, ast.Expr) and statement.value is node):
            continue
        flags, ahead = _hip_list(source, gate, _list_of(node))
        item = finding(
            RULE,
            source,
            node,
            f"{_LIST} is nvcc's: on ROCm {_HIP_LIST} keeps halves without operators and conversions",
            holds="all PyTorch for ROCm",
            fix=f"take __HIP_NO_HALF_OPERATORS__ and __HIP_NO_HALF_CONVERSIONS__ out of {_HIP_LIST}",
        )
        rocm = f'{ahead}{flags}[:] = [flag for flag in {flags} if "__HIP_NO_HALF_" not in flag]'
        kind = Applicability.SAFE if isinstance(node, ast.Call) else Applicability.REVIEW
        yield edited(item, gate, gate.either(statement, rocm) if isinstance(statement, ast.stmt) else (), kind)


def _named(node: ast.AST) -> Iterator[str]:
    """The names a node reads, sets or imports."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield node.name


def _of_halves(source: PythonSource) -> bool:
    return any("__CUDA_NO_HALF" in text for _, text in source.strings)


def _removes(source: PythonSource, node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "remove" and _is_the_list(source, called.value)


def _sets(source: PythonSource, node: ast.AST) -> bool:
    """True for `ext.COMMON_NVCC_FLAGS = [...]`, and for all of it by `[:]`, with a value that names no such flag."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0]
    whole = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice) and target.slice.lower is None
    owner = target.value if isinstance(target, ast.Subscript) and whole else target
    if isinstance(owner, ast.Name) and not whole:
        return False  # a name of the file's own from here on
    return _is_the_list(source, owner) and not _adds_halves(node.value)


def _adds_halves(value: ast.expr) -> bool:
    """True for a list that has the flags itself, or all that there were before."""
    listed = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value] if isinstance(value, ast.BinOp) else []
    return any(
        (isinstance(inner, ast.Constant) and isinstance(inner.value, str) and "__CUDA_NO_HALF" in inner.value)
        or _LIST in _named(inner)
        for item in listed
        for inner in ast.walk(item)
    )


def _list_of(node: ast.Call | ast.Assign) -> ast.expr:
    """The list that a place changes."""
    if isinstance(node, ast.Call):
        return node.func.value if isinstance(node.func, ast.Attribute) else node.func
    target = node.targets[0]
    return target.value if isinstance(target, ast.Subscript) else target


def _is_the_list(source: PythonSource, node: ast.expr) -> bool:
    return source.dotted(node).rpartition(".")[2] == _LIST


def _hip_list(source: PythonSource, gate: Gate, node: ast.expr) -> tuple[str, str]:
    """How a place names the list of ROCm's, and the import that it needs ahead of it."""
    if isinstance(node, ast.Attribute):
        return gate.text(node).removesuffix(_LIST) + _HIP_LIST, ""
    module = source.dotted(node).rpartition(".")[0] or "torch.utils.cpp_extension"
    return _HIP_LIST, f"from {module} import {_HIP_LIST}; "

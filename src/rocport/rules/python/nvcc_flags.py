"""Compiler flags of nvcc that clang refuses when it compiles HIP (`unknown argument`), in Python build scripts.
Each listed flag was tried with clang 19: `--expt-*`, `--use_fast_math`, `-Xptxas`, `-maxrregcount`, `--threads`,
`-gencode`, `-arch=sm_*` and others are refused; `-use_fast_math` with one dash is read as `-u` and does nothing.
`-diag-suppress 20012` takes its value for an input file. `-lineinfo`, `-Xcompiler`, `-dc`, `-O3` and `-std=` pass and
are left alone. Also `-U__CUDA_NO_HALF_*` without its twin `-U__HIP_NO_HALF_*`: torch defines the HIP macro on ROCm, so
the half operators stay off. Right when the flags are added for CUDA only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.build.common import ARCH_FLAG, HALF_MACRO, NVCC_FLAG
from rocport.rules.build.nvcc import hip_flags, takes_value
from rocport.rules.python.common import PYTHON, call_name, finding, is_test_path, open_places, text_of
from rocport.rules.python.gate import behind_version_test, block_of, edited, runs, version_gate, whole_string
from rocport.rules.python.lists import list_edits, list_of, string_edits
from rocport.syntax.gating import Gate
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
            b"PER_THREAD_DEFAULT_STREAM",
            b"-extended",
            b"-ccbin",
            b"-fmad",
            b"-prec-",
            b"-ftz=",
            b"-t=0",
            b"-diag-suppress",
            b"-diag_suppress",
            b"-Xcudafe",
            b"--compiler-options",
            b"-Xcompiler=",
            b"split-compile",
            b"-usage",
            b"-rdc=",
            b"forward-unknown",
        }
    ),
    phase=4,
    holds="each flag tried with clang 19 and HIP 6.4; hipcc is clang in every ROCm release",
    examples=(
        Example(
            "flags = ['-O3', '--expt-relaxed-constexpr', '--threads', '4']\n",
            contains=("flags = (['-O3'] if _IS_ROCM else ['-O3', '--expt-relaxed-constexpr', '--threads', '4'])",),
            path="setup.py",
        ),
        Example(
            "flags += ['-gencode', 'arch=compute_80,code=sm_80']\n", contains=("([] if _IS_ROCM else",), path="setup.py"
        ),
        Example(
            "flags = []\nflags.append('-gencode')\nflags.append('arch=compute_80,code=sm_80')\n",
            contains=("if not _IS_ROCM:\n    flags.append('-gencode')\n    flags.append('arch=",),
            path="setup.py",
        ),
        Example(
            "flags = ['-U__CUDA_NO_HALF_OPERATORS__']\n",
            contains=("['-U__HIP_NO_HALF_OPERATORS__'] if _IS_ROCM else",),
            path="setup.py",
        ),
        Example(
            "flags.append('--use_fast_math')\n", contains=("flags.extend(", "-fgpu-approx-transc"), path="setup.py"
        ),
        Example(
            "flags = ['-O3', '-DCUDA_API_PER_THREAD_DEFAULT_STREAM']\n",
            contains=("'-fgpu-default-stream=per-thread'",),
            path="setup.py",
        ),
        Example("flags += ['-diag-suppress', '20012,186']\n", contains=("([] if _IS_ROCM else",), path="setup.py"),
        Example("os.environ['NVCC_FLAGS'] = '-O3 -Xptxas -v'\n", contains=("('-O3' if",), path="pkg/build_ops.py"),
        Example("BLOCKS = {'sm_70': 32, 'sm_75': 16}\nn = BLOCKS[arch]\n", path="m.py"),
        Example("flags.append(f'-gencode=arch=compute_{n},code=sm_{n}')\n", path="setup.py"),
        Example("load('m', ['a.cu'], extra_cuda_cflags=['-arch=sm_90'])\n", path="tests/test_build.py"),
    ),
    clean=(
        Example("flags = ['-O3', '-std=c++17', '-lineinfo', '-Xcompiler', '-fPIC']\n", path="setup.py"),
        Example("flags = ['-U__CUDA_NO_HALF_OPERATORS__', '-U__HIP_NO_HALF_OPERATORS__']\n", path="setup.py"),
        Example("if not IS_ROCM:\n    flags.append('--use_fast_math')\n", path="setup.py"),
        Example("parser.add_argument('--threads', type=int)\n", path="run.py"),
        Example("flags += ['-Xcompiler=/std:c++17']\n", path="setup.py"),
        Example("def get_arch_list():\n    return ['sm_90', 'sm_100']\n", path="tests/test_build.py"),
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
        if (
            match is None
            or _is_option(source, constant)
            or _is_prose(text)
            or _is_title(source, constant)
            or text.startswith("-Xcompiler=/")
        ):
            continue
        if is_test_path(source.path) and _TARGET.fullmatch(text):
            continue  # what a test compares with, or has a stand-in answer
        nodes.append(constant)
        words[constant] = match[0].strip()
    places = list(open_places(source, nodes))
    gate = Gate(source)
    dropped = runs(source, [statement for node in places for statement in _dropped(source, node)])
    for node in places:
        if _is_row(source, node):
            yield finding(
                RULE,
                source,
                node,
                "a table by NVIDIA's target: an AMD GPU is in no row",
                severity=Severity.WRONG_RESULT,
                fix="add rows by gcnArchName, or ask torch.cuda.get_device_properties for what the table tells",
            )
            continue
        half = words[node].startswith("-U")
        item = finding(
            RULE,
            source,
            node,
            f"{words[node]}: "
            + ("the HIP macro of the same meaning stays defined" if half else "clang refuses this nvcc flag for HIP"),
            fix="add -U__HIP_NO_HALF_OPERATORS__ -U__HIP_NO_HALF_CONVERSIONS__ on ROCm"
            if half
            else "pass it for CUDA only; targets of AMD are PYTORCH_ROCM_ARCH or --offload-arch",
        )
        statement = source.statement(node)
        compare = behind_version_test(source, node)
        if compare is not None and not source.gated(compare):
            yield edited(item, gate, version_gate(gate, compare), Applicability.SAFE)
        elif isinstance(statement, ast.stmt) and statement in dropped:
            yield edited(item, gate, gate.off(dropped[statement]), Applicability.SAFE)
        else:
            made = edited(item, gate, *_edits(gate, node))
            yield replace(made, cause="nvcc's flags in Python") if made.edits else made


def _edits(gate: Gate, node: ast.Constant) -> tuple[tuple[Edit, ...], Applicability]:
    """The edits for a flag that stands in a list, a comprehension or a string of its own."""
    source = gate.source
    whole = whole_string(source, node)
    statement = source.statement(node)
    if (text := _appended(statement)) is not None and _argument(statement) is whole:
        new = hip_flags([text])
        if new is None or not new[0] or len(new[0]) < 2:
            return string_edits(gate, node), Applicability.REVIEW
        flags = ", ".join(f'"{flag}"' for flag in new[0])
        assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call), "as _argument found it"
        extend = f"{gate.text(statement.value.func).removesuffix('append')}extend([{flags}])"
        return gate.either(statement, extend), Applicability.REVIEW
    listed = list_of(source, whole)
    if listed is not None:
        return list_edits(gate, listed) or ((), Applicability.MANUAL)
    parent = source.parents[whole]
    if isinstance(parent, ast.ListComp) and parent.elt is whole:
        return gate.choice(parent, "[]"), Applicability.SAFE
    if isinstance(whole, ast.Constant) and _is_line(source, whole):
        return string_edits(gate, whole), Applicability.REVIEW
    return (), Applicability.MANUAL


def _is_line(source: PythonSource, node: ast.AST) -> bool:
    """True for a string that is bound, split or put into the environment; not for one that others are compared with."""
    parent = source.parents[node]
    if isinstance(parent, ast.Attribute):
        return parent.attr == "split"
    if isinstance(parent, ast.Call):
        return node in parent.args and call_name(source, parent).endswith(("environ.get", "getenv", "setdefault"))
    return isinstance(parent, (ast.Assign, ast.AugAssign, ast.keyword, ast.Dict, ast.BinOp))


def _dropped(source: PythonSource, node: ast.AST) -> list[ast.stmt]:
    """`flags.append("-gencode")` and what appends its value: statements ROCm does without."""
    text = _appended(statement := source.statement(node))
    if text is None or not isinstance(statement, ast.Expr):
        return []
    if takes_value(text):
        block = block_of(source, statement)
        after = block[block.index(statement) + 1 :][:1]
        return [statement, *after] if after and _argument(after[0]) is not None else []
    return [statement] if hip_flags([text]) == [()] else []


def _argument(statement: ast.AST) -> ast.expr | None:
    """What a statement appends to a list; None when it does nothing of the kind."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    return call.args[0] if len(call.args) == 1 else None


def _appended(statement: ast.AST) -> str | None:
    """The text a statement appends to a list, `{}` for what is not known; None when it appends no string."""
    argument = _argument(statement)
    if isinstance(argument, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in argument.values)
    return text_of(argument) or None


def _is_row(source: PythonSource, node: ast.AST) -> bool:
    """True for a key of `{"sm_70": 32, "sm_80": 32}`."""
    parent = source.parents[node]
    return isinstance(parent, ast.Dict) and node in parent.keys


def _is_option(source: PythonSource, node: ast.AST) -> bool:
    """An option this script itself takes (`add_argument("--threads")`) is no flag of a compiler."""
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            return name in ("add_argument", "option", "add_option")
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_title(source: PythonSource, node: ast.AST) -> bool:
    """True for what heads a figure: `fig.suptitle(f"{name} (sm_89)")`."""
    return any(
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in _TITLES
        for parent in takewhile(
            lambda parent: not isinstance(parent, ast.stmt), (up for up, _ in source.ancestors(node))
        )
    )


_TARGET = re.compile(r"sm_\d+a?")
_TITLES = frozenset({"suptitle", "title", "set_title", "set_xlabel", "set_ylabel", "text", "annotate"})


def _is_prose(text: str) -> bool:
    return text.count(" ") > 6 and not text.lstrip().startswith("-")

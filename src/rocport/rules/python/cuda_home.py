"""`CUDA_HOME` is None where PyTorch is built for ROCm, and `CUDA_PATH` is not set there.
`torch.utils.cpp_extension` exports both `CUDA_HOME` and `ROCM_HOME`; on ROCm only the latter is a path. So a test of
`CUDA_HOME` skips or refuses the GPU build although torch is HIP, and `os.path.join(CUDA_HOME, ...)` raises TypeError.
Right when the condition also accepts `torch.version.hip` (or `ROCM_HOME`); a place that does is left alone, and so is
the import of the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, by_line, call_name, finding, is_build_script, open_places
from rocport.rules.python.gate import HOMES, asked, asks_toolkit, edited, governed, guards_toolkit
from rocport.syntax.amd import names_amd
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_NAMES = frozenset({"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CUDA_BIN_PATH", "CUDA_INC_PATH"})
_CAUSE = "CUDA_HOME where ROCm has a folder of its own"
_CALLS = ("CppExtension", "include_paths", "library_paths")

RULE = Rule(
    name="cuda-home",
    summary="build asks for CUDA_HOME",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"CUDA_HOME",
            b"CUDA_PATH",
            b"CUDA_ROOT",
            b"CUDA_TOOLKIT",
            b"CUDA_BIN",
            b"CUDA_INC",
            b"WITH_CUDA",
            b"_CUDA_VERSION",
        }
    ),
    phase=4,
    holds="torch for ROCm, every release",
    examples=(
        Example(
            "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
            "if torch.cuda.is_available() and CUDA_HOME is not None:\n    build()\n",
            contains=("and (_IS_ROCM or CUDA_HOME is not None):", "_IS_ROCM = torch.version.hip is not None"),
            path="setup.py",
        ),
        Example(
            "import os\nif CUDA_HOME is None:\n    raise RuntimeError\n",
            contains=("if not _IS_ROCM and CUDA_HOME is None:",),
            path="setup.py",
        ),
        Example(
            "import os\ninclude = os.path.join(CUDA_HOME, 'include')\n",
            contains=('join((os.environ.get("ROCM_PATH", "/opt/rocm") if _IS_ROCM else CUDA_HOME), ',),
            path="setup.py",
        ),
        Example(
            "import os\nif CUDA_HOME is not None:\n    v = get_nvcc_version(CUDA_HOME)\n",
            contains=("if CUDA_HOME is not None:",),
            path="setup.py",
        ),
        Example("import os\nhome = os.environ.get('CUDA_HOME', '/opt/cuda')\n", path="setup.py"),
        Example("if WINDOWS:\n    os.add_dll_directory(d)\n    args = [CUDA_HOME + '/include']\n", path="setup.py"),
    ),
    clean=(
        Example("from torch.utils.cpp_extension import CUDA_HOME, ROCM_HOME\n", path="setup.py"),
        Example("ok = CUDA_HOME is not None or ROCM_HOME is not None\n", path="setup.py"),
        Example("if torch.version.hip is None:\n    p = os.path.join(CUDA_HOME, 'include')\n", path="setup.py"),
        Example(
            "WITH_CUDA = False\nif ok():\n    WITH_CUDA = CUDA_HOME is not None or torch.version.hip\n", path="setup.py"
        ),
        Example(
            "if 'CUDA_PATH' in os.environ:\n    os.add_dll_directory(os.path.join(os.environ['CUDA_PATH'], 'bin'))\n",
            path="setup.py",
        ),
        Example("WITH_CUDA = torch.cuda.is_available()\n", path="setup.py"),
        Example("'''Set CUDA_HOME first.'''\nCUDA_HOMEPAGE = 1\n", path="setup.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/main/torch/utils/cpp_extension.py",),
)


def _sets_for_hip(source: PythonSource, node: ast.Assign) -> bool:
    """`WITH_CUDA = CUDA_HOME is not None or torch.version.hip`: the script knows ROCm."""
    targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
    return "WITH_CUDA" in targets and names_amd(ast.unparse(node.value))


def _from_toolkit(source: PythonSource, node: ast.Name | ast.Attribute) -> bool:
    """True for `WITH_CUDA = CUDA_HOME is not None`; `torch.cuda.is_available()` is true on ROCm."""
    statement = source.statement(node)
    if not isinstance(node.ctx, ast.Store) or not isinstance(statement, ast.Assign):
        return False
    return not _NAMES.isdisjoint(source.words(statement.value)) or "nvcc" in ast.unparse(statement.value)


def _beside_hip(source: PythonSource, node: ast.expr) -> bool:
    """True in `CUDA_HOME is not None or torch.version.hip`."""
    return any(
        isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.Or) and names_amd(ast.unparse(parent))
        for parent, _ in source.ancestors(node)
    )


def _adds_folder(source: PythonSource, node: ast.AST) -> bool:
    """True for a test whose branch tells Windows where CUDA's DLLs lie: without CUDA there are none to find."""
    return any(
        isinstance(parent, ast.If) and not parent.orelse and all(_adds(source, item) for item in parent.body)
        for parent, _ in source.ancestors(node)
    )


def _adds(source: PythonSource, item: ast.stmt) -> bool:
    return isinstance(item, (ast.Expr, ast.If)) and "add_dll_directory" in source.words(item)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    script = is_build_script(source.path)
    hip = any(_sets_for_hip(source, node) for node in source.find(ast.Assign))
    for node in source.find(ast.Name, ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        wanted = name in _NAMES and isinstance(node.ctx, ast.Load) and not _beside_hip(source, node)
        if wanted or (script and name == "WITH_CUDA" and not hip and _from_toolkit(source, node)):
            nodes.append(node)
    for constant, text in source.strings:
        if (text in _NAMES or text.endswith("_CUDA_VERSION")) and isinstance(
            source.parents.get(constant), (ast.Subscript, ast.Call, ast.Compare)
        ):
            nodes.append(constant)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    gate, lines = Gate(source), by_line(nodes)
    for node in open_places(source, nodes):
        statement = source.statement(node)
        if any(call_name(source, parent).endswith(_CALLS) for parent, _ in source.ancestors(node)):
            continue
        if _adds_folder(source, node):
            continue
        what = "is None on ROCm: this " + (
            "refuses or skips the build" if source.in_test(node) else "has no path there"
        )
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        item = finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node).strip(chr(39))} {what}",
            fix="accept torch.version.hip (ROCM_HOME) beside it; keep this for CUDA",
        )
        here = [other for other in lines[node.lineno] if not source.gated(other)]
        if any(_asks_toolkit(source, other) for other in here):
            # The call is gated where it stands, or behind a test that stays closed.
            closed = all(governed(source, other, HOMES) for other in here)
            known = Applicability.SAFE if closed else Applicability.REVIEW
            yield replace(item, applicability=known, cause=_CAUSE)
            continue
        if all(_stays_closed(source, other) for other in here):
            yield replace(item, applicability=Applicability.SAFE, cause=_CAUSE)
            continue
        edits = {edit for other in here for edit in _edits(gate, other)}
        made = edited(item, gate, sorted(edits))
        yield replace(made, cause=_CAUSE) if made.edits else made


def _asks_toolkit(source: PythonSource, node: ast.AST) -> bool:
    """True for an argument of a function that asks the CUDA toolkit."""
    parent = source.parents[node]
    return isinstance(parent, ast.Call) and node in parent.args and asks_toolkit(call_name(source, parent))


def _stays_closed(source: PythonSource, node: ast.AST) -> bool:
    """True for `if CUDA_HOME is not None:` over what asks the toolkit and builds nothing, without an `else`; also with
    the toolkit asked beside it, `if CUDA_HOME is not None and version() >= 11:`, over what names nothing to build."""
    question = asked(source, node)
    if question is None or not question[1] or not guards_toolkit(source, question[0]):
        return False
    parent = source.parents[question[0]]
    if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
        parent = source.parents[parent]
        body = parent.body if isinstance(parent, ast.If) else []
        if any(_BUILDS.search(word) for item in body for word in source.words(item)) or any(map(_switches_on, body)):
            return False
    return isinstance(parent, ast.If) and not parent.orelse


def _switches_on(statement: ast.AST) -> bool:
    """True for `use_cuda = True`, by which something is built further on."""
    return any(
        isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Constant) and inner.value.value is True
        for inner in ast.walk(statement)
    )


_BUILDS = re.compile(r"(?i)ext|module|source|build|compile|macro|include|librar")


def _edits(gate: Gate, node: ast.expr) -> tuple[Edit, ...]:
    """A test holds on ROCm as it does with CUDA, unless it guards what only CUDA has; a path becomes ROCm's."""
    source = gate.source
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return ()
    value = _value(source, node)
    question = asked(source, value)
    if question is not None:
        test, present = question
        if not present:
            return gate.fails(test)
        return () if guards_toolkit(source, test) else gate.holds(test)
    if isinstance(node, ast.Constant) and node.value not in _NAMES:
        return ()  # a version, no folder
    parent = source.parents[value]
    own = value is not node
    path = isinstance(parent, ast.BinOp) or (
        isinstance(parent, ast.Call) and value in parent.args and call_name(source, parent).endswith(("join", "Path"))
    )
    if not (own or path) or any("nvcc" in word for word in source.words(parent)):
        return ()
    for outer, _ in source.ancestors(value):
        # The text inside an f-string cannot take quotes before Python 3.12.
        if isinstance(outer, ast.JoinedStr):
            return ()
    system = "os" if "os" in source.modules and "os" not in source.aliases else '__import__("os")'
    return gate.choice(value, f'{system}.environ.get("ROCM_PATH", "/opt/rocm")')


def _value(source: PythonSource, node: ast.expr) -> ast.AST:
    """The expression that reads the variable: `os.environ.get("CUDA_HOME")` for the string."""
    if not isinstance(node, ast.Constant):
        return node
    parent = source.parents[node]
    if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load):
        return parent
    if isinstance(parent, ast.Call) and call_name(source, parent).endswith(("environ.get", "getenv")):
        return parent
    return node

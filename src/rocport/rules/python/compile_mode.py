"""`torch.compile` modes and Inductor settings that capture CUDA graphs or autotune everything.
`mode="reduce-overhead"` and `"max-autotune"` turn on graph capture. On ROCm it has been reported as slower, as giving
worse loss (torch 2.10, ROCm 7.0; AMD did not reproduce it on torch 2.14a0) and as crashing (MI350, torch 2.13); so it
is a question of versions, and `mode="default"` is the safe one until it is compared on the machine. Right when the mode
depends on `torch.version.hip`. `torch.compile(model)` alone is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_MODES = frozenset({"reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"})
_GRAPHS = frozenset({"reduce-overhead", "max-autotune"})
"""Modes that capture graphs: the generated module names the one to use in their place."""
_SETTINGS = frozenset(
    {"cudagraphs", "cudagraph_trees", "max_autotune", "memory_planning", "max_autotune_gemm_backends"}
)
_NVFUSER = ("_jit_set_nvfuser_enabled", "_jit_set_nvfuser_single_node_mode", "_set_nvfuser", "nvfuser")

RULE = Rule(
    name="compile-mode",
    summary="torch.compile mode or Inductor setting with CUDA graphs or autotuning",
    severity=Severity.SLOW,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {b"reduce-overhead", b"max-autotune", b"cudagraph", b"max_autotune", b"memory_planning", b"nvfuser"}
    ),
    phase=6,
    examples=(
        Example(
            "import torch\nf = torch.compile(f, mode='reduce-overhead')\n",
            contains=(
                "mode=(_rocm_compat.compile_mode('reduce-overhead') if _rocm_compat.IS_ROCM else 'reduce-overhead'))",
            ),
            path="m.py",
        ),
        Example(
            "@torch.compile(mode='max-autotune', dynamic=False)\ndef f(x):\n    return x\n",
            contains=("_rocm_compat.compile_mode('max-autotune')",),
            path="m.py",
        ),
        Example("f = torch.compile(f, mode='max-autotune-no-cudagraphs')\n", path="m.py"),
        Example("os.environ['MODE'] = 'reduce-overhead'\n", absent=("_rocm_compat",), path="m.py"),
        Example("options = {'mode': 'reduce-overhead'}\n", contains=("{'mode': (_rocm_compat.",), path="m.py"),
        Example(
            "torch._inductor.config.triton.cudagraphs = True\n",
            contains=("if not _rocm_compat.IS_ROCM:\n    torch._inductor.config.triton.cudagraphs = True\n",),
            path="m.py",
        ),
    ),
    clean=(
        Example("f = torch.compile(f)\ng = torch.compile(g, mode='default')\n", path="m.py"),
        Example("mode = 'default' if is_rocm else 'reduce-overhead'\n", path="m.py"),
        Example("torch._inductor.config.triton.cudagraphs = False\n", path="m.py"),
        Example("SPEED = {'reduce-overhead': 'fast'}\nKNOWN = ['max-autotune']\n", path="m.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/187715", "https://github.com/pytorch/helion/pull/3471"),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = [node for node, text in source.strings if text in _MODES and not _is_choice(source, node)]
    for assign in source.find(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Attribute) and target.attr in _SETTINGS and _is_on(assign.value):
                nodes.append(assign)
    for call in source.find(ast.Call):
        if call_name(source, call).endswith(_NVFUSER):
            nodes.append(call)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    gate = Gate(source)
    mode = Gate(source, uses=frozenset({"compile_mode"}))
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)[:60]}: graph capture and full autotuning are not settled on ROCm",
            fix="mode='default' where torch.version.hip is set, until a comparison on the machine says otherwise",
            confidence=Confidence.MEDIUM,
            holds="reported with torch 2.10 to 2.13 and ROCm 7.0 to 7.1; not reproduced on torch 2.14a0, ROCm 7.14",
        )
        item = replace(item, cause="modes of torch.compile")
        modes = [other for other in others if isinstance(other, ast.Constant)]
        edits = [edit for other in others for edit in _edits(mode if modes else gate, other)]
        yield edited(item, mode if modes else gate, edits)


def _edits(gate: Gate, node: ast.AST) -> tuple[Edit, ...]:
    """A mode is looked up in the generated module; a setting or a switch is left out on ROCm."""
    source = gate.source
    if isinstance(node, ast.Constant):
        if node.value in _GRAPHS and replaceable(source, node) and _sets(source, node):
            return gate.choice(node, f"_rocm_compat.compile_mode({gate.text(node)})")
        return ()
    statement = source.statement(node)
    alone = statement is node or (isinstance(statement, ast.Expr) and statement.value is node)
    return gate.off([statement]) if alone and isinstance(statement, ast.stmt) else ()


def _sets(source: PythonSource, node: ast.AST) -> bool:
    """True for a mode that is passed or kept under a name of its own; a variable of the environment, or what a test
    expects, is somebody's input."""
    parent = source.parents.get(node)
    if isinstance(parent, (ast.keyword, ast.arguments)):
        return True
    targets = (
        parent.targets
        if isinstance(parent, ast.Assign)
        else [parent.target]
        if isinstance(parent, ast.AnnAssign)
        else []
    )
    return any(isinstance(target, (ast.Name, ast.Attribute)) for target in targets) or (
        isinstance(parent, (ast.Dict, ast.IfExp, ast.BoolOp)) and not isinstance(source.statement(node), ast.Assert)
    )


def _is_choice(source: PythonSource, node: ast.AST) -> bool:
    """A value offered in a list, as `choices=["default", "reduce-overhead"]`, or tested, is not a mode that is set."""
    parent = source.parents.get(node)
    return (
        isinstance(parent, (ast.List, ast.Tuple, ast.Set, ast.Compare))
        or (isinstance(parent, ast.Dict) and node in parent.keys)
        or isinstance(parent, ast.Subscript)
    )


def _is_on(value: ast.AST) -> bool:
    return not (isinstance(value, ast.Constant) and value.value in (False, None, 0, ""))

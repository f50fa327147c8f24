"""Requirements in setup.py that only CUDA can meet: `install_requires=["flash-attn", "cupy-cuda12x"]`.
pip resolves them on a ROCm machine too, and fails to build them or replaces the ROCm torch. Right when the list is
computed for the platform. What serves each package on ROCm is read from the package facts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.deps.cuda_requirement import package_cause, requirement_name, ships, trouble
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.rules.python.gate import edited
from rocport.rules.python.lists import list_edits, list_of
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_CLONE = re.compile(r"\bgit clone\b.*\s(?:-b|--branch)[ =](\S*cuda\S*)")
_HOLDS = re.compile(r"(?i)requir|reqs?\b|_req|depend|deps|extras|install")
_SAYS = re.compile(r"(?i)warn|print|info|error|exception|debug|log|fail|skip|exit|help|echo|argument")
_INSTALL = re.compile(r"\b(?:pip3?|uv pip|conda|mamba)\s+install\b(.*)")

RULE = Rule(
    name="setup-requirement",
    summary="requirement in setup.py only CUDA can meet",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    phase=0,
    holds="packages as they were in November 2026 (facts/packages)",
    triggers=frozenset(
        {b"setup(", b"install_requires", b"extras_require", b"REQUIRE", b"pip install", b"conda install", b"git clone"}
    ),
    examples=(
        Example(
            "setup(install_requires=['numpy', 'cupy-cuda12x'])\n",
            contains=("(['numpy'] if _IS_ROCM else ['numpy', 'cupy-cuda12x'])",),
            path="setup.py",
        ),
        Example("setup(install_requires=['numpy', 'flash-attn>=2.0'])\n", path="setup.py"),
        Example("run('python -m pip install xformers cupy-cuda12x')\n", path="one.py"),
        Example("run('git clone https://github.com/someone/quant.git -b cuda')\n", path="one.py"),
    ),
    clean=(
        Example(
            "flags = Path(here) / 'flash_attn'\nsetup(name='flash_attn', keywords=['awq', 'xformers'])\n",
            path="setup.py",
        ),
        Example("raise ImportError('please install it: pip install flash-attn')\n", path="m.py"),
        Example("setup(install_requires=['numpy', 'transformers'])\n", path="setup.py"),
        Example("names = ['flash-attn']\nsetup(name='x')\n", path="bench.py"),
    ),
    sources=("facts/packages",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    said: dict[ast.AST, str] = {}
    asked: dict[ast.AST, list[str]] = {}
    setup = source.path.rsplit("/", 1)[-1] == "setup.py"
    for node, text in source.strings:
        if len(text) > 300:
            continue
        installed = None if _told(source, node) else _INSTALL.search(text)
        names: list[str] = []
        if installed:
            names = [re.split(r"[=<>~!\[@]", word)[0] for word in installed[1].split() if not word.startswith("-")]
        elif setup and _is_requirement(source, node):
            names = [name] if (name := requirement_name(text)) else []
        branch = _CLONE.search(text)
        if branch:
            nodes.append(node)
            said[node] = f"clones {branch[1]} of a project: its CUDA branch"
        troubled = {name: message for name in names if (message := trouble(name)) and not ships(context, name)}
        if troubled:
            nodes.append(node)
            asked[node] = list(troubled)
            said[node] = "; ".join(dict.fromkeys(troubled.values()))
    gate = Gate(source)
    for node in open_places(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            said[node],
            fix="compute the list for the platform, or move it to an extra for CUDA",
            confidence=Confidence.MEDIUM,
        )
        listed = list_of(source, node)
        made = list_edits(gate, listed) if listed is not None else None
        item = replace(item, cause=package_cause(*asked[node]) if node in asked else "")
        yield edited(item, gate, made[0] if made else ())


def _is_requirement(source: PythonSource, node: ast.AST) -> bool:
    """True in a keyword or a name that holds requirements; names of packages stand in many other places of setup.py."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.Dict) and child in parent.keys:
            return False
        if isinstance(parent, ast.keyword) and parent.arg:
            return _HOLDS.search(parent.arg) is not None
        if isinstance(parent, (ast.BinOp, ast.Compare, ast.Subscript)) and not isinstance(
            getattr(parent, "op", None), (ast.Add, ast.Mod)
        ):
            return False
        if isinstance(parent, ast.Call):
            owner = parent.func.value if isinstance(parent.func, ast.Attribute) else parent.func
            return child in parent.args and any(_HOLDS.search(word) for word in source.words(owner))
        if isinstance(parent, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return any(_HOLDS.search(word) for target in targets for word in source.words(target))
        if isinstance(parent, (ast.FunctionDef, ast.ClassDef)):
            return _HOLDS.search(parent.name) is not None
    return False


def _told(source: PythonSource, node: ast.AST) -> bool:
    """Text for the user: raised, asserted, warned, logged or printed."""
    for parent, _ in source.ancestors(node):
        if isinstance(parent, (ast.Raise, ast.Assert)):
            return True
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if _SAYS.search(name):
                return True
        if isinstance(parent, ast.stmt):
            return False
    return False

"""Sources collected by a pattern: after the first ROCm build the pattern also finds the files hipify wrote.
torch's build writes `x_hip.cpp` beside the sources, so a second build compiles both and links every symbol twice; what
it makes of `x.cu` is `x.hip`, which `*.cu` does not find. Right when names with `hip` are left out of the list, or
hipify writes elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, is_build_script, open_places
from rocport.rules.python.gate import edited
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_PATTERN = re.compile(r"\*\.(?:cpp|cc|cxx)$")

RULE = Rule(
    name="source-glob",
    summary="pattern that also finds hipified sources",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"*.cpp", b"*.cc", b"*.cxx"}),
    phase=4,
    holds="torch's hipify up to 2.13 writes beside the sources",
    examples=(
        Example(
            "import glob\nsources = glob.glob('csrc/*.cpp') + glob.glob('csrc/cuda/*.cu')\n",
            contains=("""[name for name in glob.glob('csrc/*.cpp') if "_hip." not in str(name)]""",),
            path="setup.py",
        ),
    ),
    clean=(
        Example("files = [p for p in glob.glob('csrc/*.cpp') if 'hip' not in p]\n", path="setup.py"),
        Example("files = glob.glob('*.cpp')\n", path="tools/lint.py"),
        Example("from torch.utils import CUDAExtension\nfiles = glob.glob('csrc/*.cu')\n", path="setup.py"),
    ),
    sources=("https://github.com/pytorch/pytorch/blob/main/torch/utils/hipify/hipify_python.py",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if not is_build_script(source.path) or (b"Extension" not in source.data and b"glob" not in source.data):
        return
    nodes: list[Any] = []
    for call in source.find(ast.Call):
        if not call_name(source, call).endswith(("glob", "iglob", "rglob")):
            continue
        if not any(_PATTERN.search(text) for text in (word for word in source.words(call))):
            continue
        statement = source.statement(call)
        if not any("hip" in word.lower() and "ship" not in word.lower() for word in source.words(statement)):
            nodes.append(call)
    gate = Gate(source)
    ours = any("_hip." in name for name in context.project.basenames)
    for node in open_places(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "this pattern also finds the files hipify writes beside the sources",
            fix="leave out names that hold 'hip'",
            confidence=Confidence.MEDIUM,
        )
        left_out = f'[name for name in {gate.text(node)} if "_hip." not in str(name)]'
        yield edited(item, gate, () if ours else gate.choice(node, left_out))

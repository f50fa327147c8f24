"""CUDA in the names of wheels and versions: `+cu121`, `cu{version}`, `whl/cu118`, `"+cu" in torch.__version__`.
On ROCm the local version reads `+rocm7.2` and the index is `whl/rocm7.2`, so a wheel is not found, or a CUDA build of
torch replaces the ROCm one. Right when the tag is made for the platform.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.build.common import WHEEL_TAG
from rocport.rules.python.common import PYTHON, finding, open_places
from rocport.rules.python.gate import edited, whole_string
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_PREFIX = re.compile(r"(?:^|[-+_/])cu$")
_TAG = re.compile(r"(?<=[-+_./\"'])cu(?=\{)")

RULE = Rule(
    name="cuda-wheel-tag",
    summary="CUDA tag in a wheel name, version or index",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {b"cu1", b"cu{", b"+cu", b"cu' +", b'cu" +', b"cu%", b"/cu", b"cuda_version", b"-cu", b"'cu'", b'"cu"'}
    ),
    phase=0,
    holds="wheels of pytorch.org and of AMD",
    examples=(
        Example("local = f'+cu{version}'\n", contains=("f'+rocm{version}' if _IS_ROCM else",), path="setup.py"),
        Example(
            "is_cuda = '+cu' in torch.__version__\n", contains=("(_rocm_compat.IS_ROCM or '+cu' in torch",), path="m.py"
        ),
        Example("run('pip install torch --index-url https://download.pytorch.org/whl/cu121')\n", path="m.py"),
    ),
    clean=(
        Example("tag = f'rocm{hip}' if torch.version.hip else f'cu{cuda}'\n", path="setup.py"),
        Example("path = 'docs/cube.png'\nname = f'cube{n}'\n", path="m.py"),
        Example("source = 'code/' + name + '.cu'\nother = stem[:-1] + 'cu'\nok = suffix == 'cu'\n", path="m.py"),
    ),
    sources=("https://pytorch.org/get-started/locally/",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for node, text in source.strings:
        parent = source.parents.get(node)
        if len(text) > 300:
            continue
        if (
            WHEEL_TAG.search(text)
            or (
                _PREFIX.search(text)
                and (
                    (
                        isinstance(parent, ast.JoinedStr)
                        and node is not parent.values[-1]
                        and not _is_folder(source, node)
                    )
                    or (isinstance(parent, ast.BinOp) and _goes_on(source, parent, node))
                    or (isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.In, ast.NotIn)))
                )
            )
            or re.search(r"cu%[sd]|cu\{\}|\blib\w+_cuda[\d*]|cuda\(?\\d", text)
        ):
            nodes.append(node)
    gate = Gate(source)
    for node in open_places(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "a CUDA tag: on ROCm it reads rocm<version>",
            fix="make the tag from torch.version.hip where that is set",
            confidence=Confidence.MEDIUM,
        )
        yield edited(item, gate, _edits(gate, node))


def _is_folder(source: PythonSource, node: ast.Constant) -> bool:
    """True for `root / f"cu{major}"`, a folder among others, where nothing speaks of wheels or an index."""
    joined = source.parents[node]
    parent = source.parents[joined]
    if node.value != "cu" or not (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div)):
        return False
    return not any(_OF_WHEELS.search(word) for word in source.words(source.statement(node)))


_OF_WHEELS = re.compile(r"(?i)wh(?:ee)?l|index|url|http")


def _goes_on(source: PythonSource, joined: ast.BinOp, node: ast.Constant) -> bool:
    """True where something is put behind the text, as a version is: `"cu" + version`, and not `stem + ".cu"`."""
    parent = source.parents[joined]
    return isinstance(joined.op, ast.Add) and (
        joined.left is node or (isinstance(parent, ast.BinOp) and parent.left is joined)
    )


def _edits(gate: Gate, node: ast.Constant) -> tuple[Edit, ...]:
    """`rocm` in place of `cu` before a version that is put in; a question whether the tag is there holds."""
    source = gate.source
    whole = whole_string(source, node)
    parent = source.parents[whole]
    if isinstance(parent, ast.Compare) and whole is parent.left and isinstance(parent.ops[0], ast.In):
        return gate.holds(parent)
    if isinstance(whole, ast.JoinedStr):
        text = gate.text(whole)
        new = _TAG.sub("rocm", text)
        return gate.choice(whole, new) if new != text else ()
    text = str(node.value)
    if (
        isinstance(parent, ast.BinOp)
        and isinstance(parent.op, ast.Add)
        and parent.left is node
        and _PREFIX.search(text)
    ):
        return gate.choice(node, f'"{text[:-2]}rocm"')
    return ()

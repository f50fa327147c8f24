"""4-bit block size 64 of bitsandbytes: its kernels did not take it on wavefronts of 64 lanes before 0.49.2.
History: 128 was the smallest on every AMD GPU before 0.49.0; 64 is allowed on 32-lane wavefronts since 0.49.0, on 64
lanes and as the default since 0.49.2; 32 on 64 lanes came with 0.50.0. So a default of 64 is a hazard for
older releases only, and gates must ask the wavefront and not "is ROCm": a test that excludes HIP as a whole is wrong on
RDNA. Other users of the word `blocksize` are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.python.common import PYTHON, by_line, finding
from rocport.rules.python.gate import edited
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_LISTED = frozenset({64, 128, 256})

RULE = Rule(
    name="quant-blocksize",
    summary="4-bit block size and the width of the wavefront",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"blocksize"}),
    phase=5,
    where=Range(target={"wavefront": (64,)}),
    examples=(
        Example(
            "import bitsandbytes\ndef quantize_4bit(A, blocksize=64):\n    pass\n",
            contains=("blocksize=(_rocm_compat.bnb_blocksize(64) if _rocm_compat.IS_ROCM else 64))",),
            path="m.py",
        ),
        Example(
            "import bitsandbytes\n@p('blocksize', [64, 128, 256] if not HIP else [128, 256])\ndef t(): pass\n",
            path="t.py",
        ),
    ),
    clean=(
        Example("def gptq(blocksize=64):\n    pass\n", path="m.py"),
        Example("import bitsandbytes\ndef f(A, blocksize=128):\n    pass\n", path="m.py"),
    ),
    sources=("https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1887",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if b"bitsandbytes" not in source.data and not source.path.startswith("bitsandbytes/"):
        return
    nodes: list[Any] = []
    for function in source.find(ast.FunctionDef):
        arguments = function.args
        ordered = [*arguments.posonlyargs, *arguments.args]
        paired = list(zip(ordered[len(ordered) - len(arguments.defaults) :], arguments.defaults, strict=True))
        paired += [
            (name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
        ]
        nodes += [value for name, value in paired if name.arg == "blocksize" and _is_64(value)]
    nodes += [word.value for word in source.find(ast.keyword) if word.arg == "blocksize" and _is_64(word.value)]
    for values in source.find(ast.List, ast.Tuple):
        sizes = {element.value for element in values.elts if isinstance(element, ast.Constant)}
        if 64 in sizes and len(sizes & _LISTED) > 1 and "blocksize" in set(source.words(source.statement(values))):
            nodes.append(values)
    nodes.sort(key=lambda node: node.lineno)
    gate = Gate(source, uses=frozenset({"bnb_blocksize"}))
    for others in by_line(node for node in nodes if not _chosen(source, node)).values():
        item = finding(
            RULE,
            source,
            others[0],
            "block size 64: not in the kernels for 64-lane wavefronts before bitsandbytes 0.49.2",
            fix="bitsandbytes >= 0.49.2, or 128 on 64-lane wavefronts; ask the wavefront, not whether it is ROCm",
            confidence=Confidence.LOW,
            holds="bitsandbytes < 0.49.2 with 64-lane wavefronts, < 0.49 on every AMD GPU",
        )
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


def _edits(gate: Gate, node: ast.AST) -> tuple[Edit, ...]:
    """The size the installed bitsandbytes takes on this GPU. Its own sources and lists of sizes are left to readers."""
    own = gate.source.path.startswith("bitsandbytes/") or "/bitsandbytes/" in gate.source.path
    if own or not isinstance(node, ast.Constant):
        return ()
    return gate.choice(node, "_rocm_compat.bnb_blocksize(64)")


def _chosen(source: PythonSource, node: ast.AST) -> bool:
    """True for a size that a port has put behind the generated module."""
    return any(
        isinstance(parent, ast.IfExp) and "_rocm_compat" in set(source.words(parent.test))
        for parent, _ in source.ancestors(node)
    )


def _is_64(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and value.value == 64

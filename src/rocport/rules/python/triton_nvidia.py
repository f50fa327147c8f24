"""Triton code that names NVIDIA's backend: inline PTX, libdevice, `tl.extra.cuda`, `triton.backends.nvidia`.
`inline_asm_elementwise` takes PTX on NVIDIA and GCN assembly on AMD, so PTX text fails to compile; the modules of the
NVIDIA backend are absent, or their symbols do not link. `tl.math` and plain operations do the same on both. Right when
the variant is chosen by vendor.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding
from rocport.rules.python.gate import edited, open_lines
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_NAME = re.compile(
    r"(?:tl|triton\.language)\.extra\.cuda|triton\.backends\.nvidia|gluon\.(?:language\.)?nvidia|libcuda_dirs|triton\.language\.libdevice|triton\.common\.build|(?:tl|triton\.language)\.libdevice|triton\.language\.extra\.libdevice\.fast_"
)

RULE = Rule(
    name="triton-nvidia",
    summary="Triton code of NVIDIA's backend",
    severity=Severity.BREAKS_RUN,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"inline_asm",
            b"extra.cuda",
            b"backends.nvidia",
            b"libcuda_dirs",
            b"libdevice",
            b"gluon",
            b"GPUTarget",
            b"asm[",
        }
    ),
    phase=5,
    holds="Triton with its AMD backend, every ROCm release",
    examples=(
        Example(
            "y = tl.inline_asm_elementwise('ex2.approx.f32 $0, $1;', '=f,f', [x], tl.float32, True, 1)\n", path="m.py"
        ),
        Example(
            "from triton.language.extra.cuda import libdevice\n",
            contains=("if _rocm_compat.IS_ROCM:\n    from triton.language.extra.hip import libdevice\nelse:\n",),
            path="m.py",
        ),
        Example(
            "from triton.language.extra.cuda import libdevice\ndef f(x):\n    return libdevice.rsqrt(x)\n",
            contains=("    return libdevice.rsqrt(x)\n",),
            path="m.py",
        ),
        Example("from triton.experimental.gluon.language.nvidia.hopper import tma\n", path="m.py"),
        Example("k = triton.compile(s, target=GPUTarget('cuda', 80, 32))\nptx = k.asm['ptx']\n", path="m.py"),
        Example("import triton.language as tl\ny = tl.extra.cuda.libdevice.round(x)\n", path="m.py"),
    ),
    clean=(
        Example("y = tl.math.exp2(x)\nfrom triton.language.extra import libdevice\n", path="m.py"),
        Example("t = GPUTarget(backend, arch, 32)\ncode = k.asm['ttgir']\n", path="m.py"),
        Example("if is_amd:\n    pass\nelse:\n    from triton.language.extra.cuda import libdevice\n", path="m.py"),
    ),
    sources=("https://github.com/triton-lang/triton/tree/main/third_party/amd",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for node in source.find(ast.Import, ast.ImportFrom):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{name}" for name in names]
        if any(_NAME.search(name) for name in names) and not source.guarded(node):
            nodes.append(node)
    imported = {alias.asname or alias.name for node in nodes for alias in node.names}
    for call in source.find(ast.Call):
        name = call_name(source, call)
        first = call.args[0] if call.args else None
        cuda = name.endswith("GPUTarget") and isinstance(first, ast.Constant) and first.value == "cuda"
        if cuda or name.endswith("inline_asm_elementwise"):
            nodes.append(call)
    for item in source.find(ast.Subscript):
        of_asm = isinstance(item.value, ast.Attribute) and item.value.attr == "asm"
        if of_asm and isinstance(item.slice, ast.Constant) and item.slice.value in ("ptx", "cubin"):
            nodes.append(item)
    for attribute in source.find(ast.Attribute):
        parent = source.parents.get(attribute)
        if ast.unparse(attribute).partition(".")[0] in imported:
            continue  # what is imported in its place serves the use too
        if not isinstance(parent, ast.Attribute) and re.search(
            r"^(?:tl|triton\.language)\.extra\.cuda|^triton\.backends\.nvidia", source.dotted(attribute)
        ):
            nodes.append(attribute)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    gate = Gate(source)
    for node, _ in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "PTX or a module of Triton's NVIDIA backend: AMD's does not have it",
            fix="use tl.math or plain Triton operations, chosen by vendor",
        )
        yield edited(item, gate, _edits(gate, node))


def _edits(gate: Gate, node: ast.AST) -> tuple[Edit, ...]:
    """The library of device functions has a twin for AMD; what else stands in NVIDIA's backend has none."""
    if not isinstance(node, ast.ImportFrom) or node.module != "triton.language.extra.cuda":
        return ()
    if [alias.name for alias in node.names] != ["libdevice"]:
        return ()
    return gate.either(node, gate.text(node).replace("extra.cuda", "extra.hip"))

"""Messages and checks that refuse everything but NVIDIA: "requires an NVIDIA GPU".
The refusal stops an AMD machine whose torch would do the work, or sends its user to install CUDA. Right when the text
and the condition name both vendors. Only raised, asserted and warned texts are looked at; not those where `CUDA_HOME`
was found, nor behind a return of who has it, which the port lets ROCm take.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, text_of
from rocport.rules.python.gate import HOMES, edited, governed, open_lines, passed, replaceable
from rocport.syntax.amd import names_amd
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

REFUSES = re.compile(
    r"(?i)(?:requir|need|must|only|support|necessary|without|no|install)\w*\b.{0,60}"
    r"\b(?:nvidia(?!-\w| api)|nvcc|cuda (?:gpu|toolkit|device|card))"
    r"|\b(?:nvidia(?!-\w| api)|nvcc|cuda (?:toolkit|gpu))\b.{0,60}"
    r"(?:requir|need|must|only|not found|not available|not (?:been )?install|missing|necessary)"
)
_SAYS = frozenset({"warn", "warning", "error", "critical", "exit", "print_error_and_exit", "warn_once", "skip"})

_NVML = re.compile(rb"\bimport py3?nvml|\bfrom py3?nvml|\bnvml[A-Z]\w+")
_GPU = re.compile(r"(?i)\b(an? |)nvidia (gpus?|devices?|(?:graphics )?cards?)\b")
_TOOLS = re.compile(r"(?i)nvcc|toolkit|install|cuda \d")

RULE = Rule(
    name="vendor-message",
    summary="message that refuses other vendors",
    severity=Severity.COSMETIC,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"NVIDIA", b"Nvidia", b"nvidia", b"CUDA", b"nvcc"}),
    phase=1,
    holds="every ROCm release",
    examples=(
        Example(
            "if not ok:\n    raise RuntimeError('An NVIDIA GPU is required')\n",
            contains=("('An AMD or NVIDIA GPU is required' if _rocm_compat.IS_ROCM else 'An NVIDIA GPU is required')",),
            path="m.py",
        ),
        Example("raise RuntimeError('needs an NVIDIA GPU with nvcc')\n", absent=("_rocm_compat",), path="m.py"),
        Example("if not torch.cuda.is_available() or not ok():\n    raise OSError('no CUDA device')\n", path="m.py"),
        Example("assert backend == 'cuda', 'needs a CUDA GPU'\n", path="m.py"),
        Example("assert device_backend == 'cuda', 'needs a CUDA GPU'\n", path="m.py"),
        Example("if torch.cuda.is_available():\n    raise OSError('no CUDA device')\n", path="m.py"),
        Example("if device != 'cuda':\n    f()\nelse:\n    raise OSError('no CUDA device')\n", path="m.py"),
    ),
    clean=(
        Example("raise RuntimeError('An NVIDIA or AMD GPU is required')\n", path="m.py"),
        Example("print('An NVIDIA GPU is required')\n", path="m.py"),
        Example("raise ValueError('bad shape')  # NVIDIA only\n", path="m.py"),
        Example("if not torch.cuda.is_available():\n    raise RuntimeError('No CUDA device.')\n", path="m.py"),
        Example("assert DEVICE == 'cuda', 'needs a CUDA GPU'\n", path="m.py"),
        Example("assert torch.cuda.device_count() > 0, 'needs a CUDA GPU'\n", path="m.py"),
        Example(
            "if x.device.type == 'cuda' and not torch.cuda.is_available():\n    raise OSError('no CUDA device')\n",
            path="m.py",
        ),
        Example(
            "if CUDA_HOME is not None:\n    v = get_nvcc_version(CUDA_HOME)\n    if v < 11:\n"
            "        raise RuntimeError('only supported with CUDA toolkit 11: is nvcc missing?')\n",
            path="setup.py",
        ),
        Example(
            "def check():\n    if CUDA_HOME is not None:\n        return\n    warnings.warn('nvcc was not found')\n",
            path="setup.py",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/hip.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    nodes: list[Any] = []
    for call in source.find(ast.Call):
        name = ast.unparse(call.func).rsplit(".", 1)[-1]
        raised = isinstance(source.parents.get(call), ast.Raise)
        if (not raised and name not in _SAYS) or governed(source, call, HOMES) or passed(source, call, HOMES):
            continue
        for argument in call.args:
            text = "".join(text_of(part) for part in ast.walk(argument) if isinstance(part, ast.Constant))
            text = _ADDRESS.sub("", text)
            if REFUSES.search(text) and not names_amd(text) and not _of_tensors(source, call, text):
                nodes.append(call)
                break
    for assertion in source.find(ast.Assert):
        text = _ADDRESS.sub("", text_of(assertion.msg))
        if REFUSES.search(text) and not names_amd(text) and not _of_tensors(source, assertion, text):
            nodes.append(assertion)
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        item = finding(
            RULE,
            source,
            node,
            "refuses, or sends to CUDA, who has an AMD GPU",
            fix="name both vendors; see that the condition accepts torch.version.hip",
            confidence=Confidence.LOW,
        )
        if _NVML.search(source.data):
            item = replace(item, cause="NVIDIA's management tools")
        yield edited(item, gate, [edit for other in others for edit in _edits(gate, other)])


_ADDRESS = re.compile(r"\S+://\S+")
_NVIDIAS = re.compile(r"(?i)nvidia|nvcc|toolkit|\bcuda \d")
_DEVICE = re.compile(r"(?i)device(?:_?(?:type|str|string|name))?(?:\.type)?$")
_ON_DEVICE = frozenset({"is_cuda", "device"})


def _of_tensors(source: PythonSource, node: ast.AST, text: str) -> bool:
    """True for `assert x.is_cuda, "must be on a CUDA device"` and its like: torch calls AMD's GPUs so, and the test
    holds for them. Not where the text names NVIDIA or its tools."""
    test = node.test if isinstance(node, ast.Assert) else None
    if _NVIDIAS.search(text):
        return False
    if test is None:
        above = next((parent for parent, _ in source.ancestors(node) if isinstance(parent, ast.If)), None)
        if above is not None and source.statement(node) in above.orelse:
            return _asks_torch(above.test) and _without_gpu(above.test, False)
        test = above.test if above is not None and source.statement(node) in above.body else None
    if test is None:
        return False
    of_tensors = any(isinstance(inner, ast.Attribute) and inner.attr in _ON_DEVICE for inner in ast.walk(test))
    return of_tensors or (_asks_torch(test) and _without_gpu(test, not isinstance(node, ast.Assert)))


def _asks_torch(test: ast.expr) -> bool:
    """True for a test of nothing but whether torch has a GPU, which on ROCm is AMD's: `not torch.cuda.is_available()`,
    `device == "cuda"`."""
    match test:
        case ast.BoolOp(values=parts):
            return all(map(_asks_torch, parts))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _asks_torch(inner)
        case ast.Call(func=called, args=[], keywords=[]):
            return ast.unparse(called) in ("torch.cuda.is_available", "torch.cuda.device_count")
        case ast.Compare(left=left, ops=[_], comparators=[ast.Constant(value=int())]):
            return _asks_torch(left)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value="cuda")]):
            return isinstance(left, (ast.Name, ast.Attribute)) and _DEVICE.search(ast.unparse(left)) is not None
    return False


def _without_gpu(test: ast.expr, when: bool) -> bool:
    """True where a test of `_asks_torch` comes out as `when` only on a machine without a GPU, or with too few: what is
    said there is not said to who has an AMD GPU."""
    match test:
        case ast.BoolOp(op=op, values=parts):
            found = [_without_gpu(part, when) for part in parts]
            return any(found) if isinstance(op, ast.And) == when else all(found)
        case ast.UnaryOp(operand=inner):
            return _without_gpu(inner, not when)
        case ast.Compare(ops=[ast.Lt() | ast.LtE()]):
            return when
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            return when
        case ast.Compare(ops=[ast.NotEq()], comparators=[ast.Constant(value=value)]) if value != 0:
            return when
    return not when


def _edits(gate: Gate, node: ast.AST) -> list[Edit]:
    """On ROCm a plain text that asks for NVIDIA's GPU names AMD's too; one that sends to CUDA's tools is left."""
    parts = node.args if isinstance(node, ast.Call) else [node.msg] if isinstance(node, ast.Assert) else []
    edits: list[Edit] = []
    for part in parts:
        if not isinstance(part, ast.Constant) or not isinstance(part.value, str) or not replaceable(gate.source, part):
            continue
        text = gate.text(part)
        both = _GPU.sub(
            lambda found: f"{'An ' if found[1] == 'An ' else found[1] and 'an '}AMD or NVIDIA {found[2]}", text
        )
        if both != text and not _TOOLS.search(text):
            edits += gate.choice(part, both)
    return edits

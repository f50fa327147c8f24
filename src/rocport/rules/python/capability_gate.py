"""Decisions by CUDA compute capability read AMD's numbers as NVIDIA's.
`torch.cuda.get_device_capability()` answers (9, 4) on gfx942, (9, 5) on gfx950 and (11, 0) on gfx1100: `major >= 8`
passes, `== (9, 0)` does not, and `major == 9` selects Hopper code. Right when the decision names the platform first
(`torch.version.hip`) and reads `gcnArchName` on AMD. Printing the capability is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from rocport.facts.targets import capabilities
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, call_name, finding, is_build_script
from rocport.rules.python.gate import edited, open_lines, replaceable
from rocport.syntax.gating import Gate
from rocport.syntax.python import PythonSource

_QUERY = re.compile(
    r"(?:^|\.)(?:_?get_(?:device|compute|cuda|gpu)_capability|get_device_sm|get_sm_version|get_sm_count_major|"
    r"get_cuda_arch|compute_capability|has_device_capability|is_device_capability|device_capability|get_compute_capabilities|get_arch_list)$"
)
_NAME = re.compile(
    r"(?i)^_?(?:is_|has_|supports?_)?(?:sm_?\d[\dx]{1,2}(?:a|_or_\w+|_up|_plus)?|hopper|ampere|blackwell|turing|ada|volta)(?:_supported|_available|_gpu|_or_\w+)?$"
)
_LATER = re.compile(r"(?i)hopper|blackwell|sm_?(?:9|1[0-2])\d")
_HAS = re.compile(r"(?:^|[._])(?:has|is)_device_capability(?:_family)?$")
_CAPABILITY = re.compile(r"(?i)capabilit|^(?:.*_)?(?:cap|cc|sm|major|arch)(?:_.*)?$|compute|sm_?version")
_HOPPER = 9
_VOLTA = 7
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_DECIDED = ("fails", "holds")
_PROPERTY = frozenset({"major", "minor", "arch"})
_DEVICES = frozenset({"torch.cuda.get_device_properties", "triton.runtime.driver.active.get_current_target"})
"""What gives an object with `major` and `minor`, or with Triton's `arch`, which is a name such as gfx942 on AMD."""

RULE = Rule(
    name="capability-gate",
    summary="decision by CUDA compute capability",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset(
        {
            b"capabilit",
            b"get_device_properties",
            b"is_sm",
            b"get_sm",
            b"is_hopper",
            b"hopper",
            b"ampere",
            b"blackwell",
            b"get_arch_list",
            b"get_current_target",
            b"sm_",
        }
    ),
    phase=1,
    examples=(
        Example(
            "import torch\nif torch.cuda.get_device_capability()[0] >= 8:\n    use_flash()\n",
            absent=("_rocm_compat",),
            path="m.py",
        ),
        Example(
            "import torch\nif torch.cuda.get_device_capability() >= (9, 0):\n    use_hopper()\n",
            contains=("if not _rocm_compat.IS_ROCM and torch.cuda.get_device_capability() >= (9, 0):",),
            path="m.py",
        ),
        Example(
            "import torch\nmajor, minor = torch.cuda.get_device_capability(0)\nis_sm90 = major == 9 and minor == 0\n",
            contains=("is_sm90 = (not _rocm_compat.IS_ROCM and (major == 9 and minor == 0))",),
            path="m.py",
        ),
        Example(
            "import torch\ncap = torch.cuda.get_device_capability()\nif cap[0] < 9 or not is_hopper:\n    raise X\n",
            contains=("if (_rocm_compat.IS_ROCM or cap[0] < 9) or not (not _rocm_compat.IS_ROCM and is_hopper):",),
            path="m.py",
        ),
        Example(
            "def f(w):\n    if w and not is_hopper():\n        raise X\n",
            contains=("if w and not (not _rocm_compat.IS_ROCM and is_hopper()):",),
            absent=("is_hopper)()",),
            path="m.py",
        ),
        Example(
            "import torch\nn = tiles(torch.cuda.get_device_capability())\nif n > 12:\n    raise X\n",
            absent=("_rocm_compat",),
            path="m.py",
        ),
        Example(
            "p = torch.cuda.get_device_properties(0)\nsm = p.major * 10 + p.minor\nuse_tma = sm >= 90\n", path="m.py"
        ),
        Example(
            "import triton\nt = triton.runtime.driver.active.get_current_target()\nnew = t.arch >= 90\n", path="m.py"
        ),
        Example("if torch.cuda.get_device_capability()[0] > 6:\n    use_tensor_cores()\n", path="m.py"),
        Example("p = torch.cuda.get_device_properties(0)\nif p.major < 8:\n    raise RuntimeError\n", path="m.py"),
        Example(
            "def is_nvidia():\n    return torch.cuda.is_available()\n"
            "if is_nvidia():\n    fast = torch.cuda.get_device_capability() >= (9, 0)\n",
            path="m.py",
        ),
        Example(
            "major = torch.cuda.get_device_capability()[0]\nd = torch.float8_e4m3fn if major >= 8 else torch.half\n",
            path="m.py",
        ),
        Example(
            "major = torch.cuda.get_device_capability()[0]\nd = torch.bfloat16 if major > 8 else torch.half\n",
            path="m.py",
        ),
        Example("record = {'cap': torch.cuda.get_device_capability()}\nuse(record)\n", path="m.py"),
        Example("built = build({'cap': torch.cuda.get_device_capability()})\nprint(built)\n", path="m.py"),
    ),
    clean=(
        Example("print(torch.cuda.get_device_capability())\n", path="m.py"),
        Example(
            "if torch.version.hip is None and torch.cuda.get_device_capability()[0] >= 8:\n    pass\n", path="m.py"
        ),
        Example("p = torch.cuda.get_device_properties(0)\ntotal = p.total_memory\n", path="m.py"),
        Example(
            "def arch():\n    if not torch.cuda.is_available() or not torch.version.cuda:\n        return None\n"
            "    return torch.cuda.get_device_capability() >= (9, 0)\n",
            path="m.py",
        ),
        Example("if is_nvidia():\n    fast = torch.cuda.get_device_capability() >= (9, 0)\n", path="m.py"),
        Example("if version.major >= 8:\n    pass\n", path="m.py"),
        Example(
            "major = torch.cuda.get_device_capability()[0]\nd = torch.bfloat16 if major >= 8 else torch.float16\n",
            path="m.py",
        ),
        Example(
            "record = {'gpu': {'capability': torch.cuda.get_device_capability()}}\nprint(json.dumps(record))\n",
            path="m.py",
        ),
        Example("if torch.cuda.get_device_capability()[0] < 8:\n    warnings.warn('slow')\n", path="m.py"),
        Example("if torch.cuda.get_device_capability() < (6, 0):\n    raise RuntimeError\n", path="m.py"),
        Example(
            "def f(x):\n    if x.small and torch.cuda.get_device_capability() < (8, 0):\n        return quick(x)\n"
            "    return general(x)\n",
            path="m.py",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/notes/hip.html",
        "facts/targets",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    properties = source.bound_to(_DEVICES)
    bound = capability_names(source)
    nodes: list[Any] = []
    for node in source.find(ast.Call):
        name = call_name(source, node) or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if _QUERY.search(name):
            nodes.append(node)
    compared: set[str] = set()
    for place in source.find(ast.Compare):
        if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in place.ops):
            continue
        for inner in (place.left, *place.comparators):
            if any(_is_capability(source, part, bound, properties) for part in ast.walk(inner)):
                nodes.append(place)
                compared.update(word for side in (place.left, *place.comparators) for word in source.words(side))
                break
    if not is_build_script(source.path):
        nodes = [node for node in nodes if not _decided_later(source, node, compared)]
    for name_node in source.find(ast.Name):
        if isinstance(name_node.ctx, ast.Load) and _NAME.match(name_node.id) and source.in_test(name_node):
            nodes.append(name_node)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    gate = Gate(source)
    for node, others in open_lines(source, nodes):
        compares = [_compared(source, other) for other in others]
        if _only_shown(source, node) or _only_recorded(source, node):
            continue
        if all(_before_volta(one) or _way_for_older(source, one) or _chooses_16_bits(source, one) for one in compares):
            continue
        item = finding(
            RULE,
            source,
            node,
            "CUDA compute capability decides here; AMD GPUs answer 9.x to 12.x and are neither Hopper nor Blackwell",
            fix="ask torch.version.hip first, then gcnArchName; keep this test for CUDA",
            confidence=Confidence.HIGH if isinstance(node, ast.Compare) else Confidence.MEDIUM,
            holds=f"every ROCm; {capabilities()}",
        )
        yield edited(item, gate, _edits(gate, others))


def _edits(gate: Gate, nodes: Sequence[ast.expr]) -> list[Edit]:
    """AMD GPUs are in no class of NVIDIA's from Hopper on, and are no single one of its GPUs.

    What asks for `>= 9` or for one capability fails on ROCm, what refuses `< 9` refuses there too. Tests for 8 and
    below are left to a reader: every AMD GPU passes them, which is right for bf16 and wrong for Ampere's instructions.
    """
    source = gate.source
    edits: dict[ast.AST, tuple[Edit, ...]] = {}
    for node in dict.fromkeys(_compared(source, node) for node in nodes):
        decision = _decision(source, node)
        if decision not in _DECIDED:
            continue
        top: ast.AST = node
        while isinstance(parent := source.parents.get(top), ast.BoolOp):
            decisions = {_decision(source, value) for value in parent.values} - {"minor"}
            if decisions != {decision}:
                break
            top = parent
        if top not in edits and replaceable(source, top):
            edits[top] = gate.fails(top) if decision == "fails" else gate.holds(top)
    return [edit for group in edits.values() for edit in group]


def _compared(source: PythonSource, node: ast.expr) -> ast.expr:
    """The comparison a query is a side of, through subscripts and arithmetic; the call of a name; else the node."""
    caller = source.parents.get(node)
    if isinstance(node, ast.Name) and isinstance(caller, ast.Call) and caller.func is node:
        return caller
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Compare):
            return parent
        if not isinstance(parent, (ast.Subscript, ast.BinOp, ast.Attribute)):
            break
    return node


def _decision(source: PythonSource, node: ast.expr) -> str:
    """`fails` or `holds` on ROCm, `minor` for a test of the second number, empty for what only a reader can tell."""
    if isinstance(node, ast.Name):
        return "fails" if _NAME.match(node.id) and _LATER.search(node.id) else ""
    if isinstance(node, ast.Call):
        name = call_name(source, node) or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if isinstance(node.func, ast.Name) and _NAME.match(node.func.id) and _LATER.search(node.func.id):
            return "fails"
        asks = _HAS.search(name) and len(node.args) == 1 and not node.keywords
        return "fails" if asks and (_major(node.args[0]) or 0) >= _HOPPER else ""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return ""
    left, operator, right = node.left, node.ops[0], node.comparators[0]
    if isinstance(operator, (ast.In, ast.NotIn)):
        listed = isinstance(right, (ast.Tuple, ast.List, ast.Set)) and all(_major(item) for item in right.elts)
        return ("fails" if isinstance(operator, ast.In) else "holds") if listed else ""
    mirrored = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
    kind = type(operator)
    capability, limit = left, right
    if _major(left) is not None:
        kind = mirrored.get(kind, kind)
        capability, limit = right, left
    major = _major(limit)
    words = list(source.words(capability))
    if "minor" in words:
        return "minor"
    if not any(_CAPABILITY.search(word) for word in words):
        return ""
    if major is None:
        return ""
    if kind in (ast.Eq, ast.NotEq):
        return "fails" if kind is ast.Eq else "holds"
    above = kind in (ast.GtE, ast.Lt)
    if major < (_HOPPER if above else _HOPPER - 1):
        return ""
    return "fails" if kind in (ast.GtE, ast.Gt) else "holds"


def _major(node: ast.AST) -> int | None:
    """The major number of a capability that is written out: `9`, `(9, 0)`, `90`, `9.0`, `"9.0"`; None for others."""
    try:
        value = ast.literal_eval(ast.unparse(node))
    except (ValueError, TypeError, SyntaxError):
        return None
    if isinstance(value, (tuple, list)) and value:
        value = value[0]
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) // 10 if value >= 20 else int(value)


def _decided_later(source: PythonSource, node: ast.AST, compared: set[str]) -> bool:
    """A capability that is only kept, in a name that a comparison further on is reported for."""
    statement = source.statement(node)
    if isinstance(node, ast.Compare) or not isinstance(statement, ast.Assign):
        return False
    names = {name.id for target in statement.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return bool(names & compared)


def capability_names(source: PythonSource) -> frozenset[str]:
    """Names that a file gives a compute capability."""
    return _bound(source, source.bound_to(_DEVICES))


def _bound(source: PythonSource, properties: frozenset[str]) -> frozenset[str]:
    """Names that hold a capability: what a query returned, or a number made of a device's properties."""
    found: set[str] = set()
    for node in source.find(ast.Assign):
        if any(
            (isinstance(inner, ast.Call) and _QUERY.search(call_name(source, inner) or ""))
            or _is_capability(source, inner, frozenset(), properties)
            for inner in ast.walk(node.value)
        ):
            for target in node.targets:
                found.update(inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name))
    return frozenset(found)


def _is_capability(source: PythonSource, node: ast.AST, bound: frozenset[str], properties: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in bound or node.id in ("compute_capability", "cuda_capability", "device_capability")
    if isinstance(node, ast.Attribute) and node.attr in _PROPERTY:
        value = node.value
        return (isinstance(value, ast.Name) and value.id in properties) or call_name(source, value).endswith(
            ("get_device_properties", "get_current_target")
        )
    return False


_SHOWS = frozenset({"print", "info", "debug", "warning", "warn", "print_env", "echo"})


def _before_volta(node: ast.AST) -> bool:
    """True for a comparison with a generation that every AMD GPU answers as CUDA's newer ones do: `major < 6`."""
    if not isinstance(node, ast.Compare) or not any(isinstance(one, _ORDERED) for one in node.ops):
        return False
    asked = []
    for left, one, right in zip((node.left, *node.comparators), node.ops, node.comparators, strict=False):
        before, after = _major(left), _major(right)
        if after is not None:
            asked.append(after + isinstance(one, (ast.Gt, ast.LtE)))
        if before is not None:
            asked.append(before + isinstance(one, (ast.Lt, ast.GtE)))
    return bool(asked) and max(asked) < _VOLTA


def _way_for_older(source: PythonSource, node: ast.AST) -> bool:
    """True for `if small and get_device_capability() < (8, 0):` that returns: one more way for older GPUs, beside the
    general one, which newer ones take and AMD's with them."""
    parent, branch = source.parents.get(node), source.statement(node)
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Lt)
        and (_major(node.comparators[0]) or _HOPPER) < _HOPPER
        and isinstance(parent, ast.BoolOp)
        and isinstance(parent.op, ast.And)
        and isinstance(branch, ast.If)
        and branch.test is parent
        and not branch.orelse
        and isinstance(branch.body[-1], ast.Return)
    )


_16_BITS = frozenset({"bfloat16", "bf16", "float16", "fp16", "half", "float32", "fp32", "float"})


def _chooses_16_bits(source: PythonSource, node: ast.AST) -> bool:
    """True for `torch.bfloat16 if major >= 8 else torch.float16` and the same as an `if`: every AMD GPU passes a bound
    of 8 or less, and torch computes with bfloat16 on all that ROCm serves."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _ORDERED):
        return False
    limits = [limit for side in (node.left, node.comparators[0]) if (limit := _major(side)) is not None]
    if len(limits) != 1 or limits[0] >= _HOPPER or (isinstance(node.ops[0], (ast.Gt, ast.LtE)) and limits[0] >= 8):
        return False
    match source.parents.get(node):
        case ast.IfExp(test=test, body=one, orelse=other):
            return test is node and _is_16_bits(one) and _is_16_bits(other)
        case ast.If(
            test=test, body=[ast.Assign(targets=[to], value=one)], orelse=[ast.Assign(targets=[of], value=two)]
        ):
            same = ast.unparse(to) == ast.unparse(of)
            return test is node and same and _is_16_bits(one) and _is_16_bits(two)
    return False


def _is_16_bits(node: ast.expr) -> bool:
    name = node.value if isinstance(node, ast.Constant) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in _16_BITS


def _only_recorded(source: PythonSource, node: ast.AST) -> bool:
    """True for an item of a dictionary that is written as JSON or printed, and read nowhere: a record of what ran."""
    record = node
    while isinstance(kept := source.parents.get(record), ast.Dict) and record in kept.values:
        record = kept
    statement = source.statement(node)
    if record is node or not isinstance(statement, ast.Assign) or statement.value is not record:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    uses = [name for name in source.find(ast.Name) if name.id in names and isinstance(name.ctx, ast.Load)]
    return bool(uses) and len(names) == len(statement.targets) and all(_is_written(source, use) for use in uses)


def _is_written(source: PythonSource, name: ast.AST) -> bool:
    call = source.parents.get(name)
    return (
        isinstance(call, ast.Call)
        and name in call.args
        and ast.unparse(call.func) in ("json.dump", "json.dumps", "print")
    )


def _only_shown(source: PythonSource, node: ast.AST) -> bool:
    """True where nothing but a text hangs on it: an argument of `print`, or a test of which every branch only warns."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.Call) and _shows(parent):
            return True
        if isinstance(parent, ast.If):
            return parent.test is child and all(
                isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) and _shows(item.value)
                for item in (*parent.body, *parent.orelse)
            )
        if isinstance(parent, ast.stmt):
            return False
    return False


def _shows(call: ast.Call) -> bool:
    return ast.unparse(call.func).rsplit(".", 1)[-1] in _SHOWS

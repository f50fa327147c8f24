"""A project's own device name chooses by vendor, and AMD has no branch: `if KIND == "cuda"`, `elif KIND == "xpu"`.
torch calls an AMD GPU "cuda", so the project's name says "cuda" too and the branch made for NVIDIA runs: its kernels,
its libraries, its capability tests. Right when the chain has a branch for ROCm, or the branch for "cuda" does nothing
but what torch does on both. A comparison of a tensor's or torch.device's own type (`x.device.type == "cuda"`) is right
as it is and left alone, and so is a chain without another vendor. A list of supported devices that holds the project's
own `DEVICE.CUDA` alone (`SUPPORTS_DEVICES = [DEVICE.CUDA]`) says the same: once there is a name for ROCm, it is not in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, is_test_path, open_places
from rocport.syntax.python import PythonSource

_OTHERS = frozenset({"xpu", "npu", "hpu", "musa", "mlu", "mps", "ascend", "metal"})
_SUPPORTED = re.compile(r"(?i)support\w*_?(?:device|platform|backend|vendor)")
_TORCH_NAMES = frozenset({"device", "torch_device", "device_type", "dev", "device_str"})

RULE = Rule(
    name="device-name-dispatch",
    summary="choice by vendor without a branch for AMD",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b'"cuda"', b"'cuda'", b".CUDA"}),
    phase=1,
    holds="torch for ROCm, every release",
    examples=(
        Example("if DEVICE_TYPE == 'cuda':\n    a()\nelif DEVICE_TYPE == 'xpu':\n    b()\n", path="m.py"),
        Example(
            "class D:\n    def repo(self):\n        if self.type == 'cuda':\n            return A()\n"
            "        elif self.type == 'mps':\n            return B()\n",
            path="m.py",
        ),
        Example("class Linear:\n    SUPPORTS_DEVICES = [DEVICE.CUDA]\n", path="m.py"),
    ),
    clean=(
        Example("SUPPORTED_DEVICES = [DEVICE.CUDA, DEVICE.ROCM]\n", path="m.py"),
        Example("SUPPORTED_DEVICES = ['cuda', 'cpu']\n", path="m.py"),
        Example("if x.device.type == 'cuda':\n    a()\nelif x.device.type == 'mps':\n    b()\n", path="m.py"),
        Example("if device == 'cuda':\n    a()\nelif device == 'xpu':\n    b()\n", path="m.py"),
        Example(
            "if SYSTEM == 'cuda':\n    a()\nelif SYSTEM == 'rocm':\n    b()\nelif SYSTEM == 'xpu':\n    c()\n",
            path="m.py",
        ),
        Example("if KIND == 'cuda':\n    a()\nelif KIND == 'cpu':\n    b()\n", path="m.py"),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/hip.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if is_test_path(source.path):
        return
    nodes = [node.test for node in source.find(ast.If) if _compared(node.test) == "cuda" and _chain(source, node)]
    whitelists = [node for node in source.find(ast.Assign, ast.AnnAssign) if _whitelist(source, node)]
    for node in open_places(source, whitelists):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)[:60]}: AMD's GPUs are in the list only as long as the project calls them CUDA",
            fix="see that the kernels behind it run on ROCm, and name ROCm here if the project has a name for it",
            confidence=Confidence.LOW,
        )
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            f"{ast.unparse(node)[:60]}: torch calls an AMD GPU cuda, so this branch runs there",
            fix="a branch for torch.version.hip, or see that this one does only what torch does on both",
            confidence=Confidence.LOW,
        )


def _whitelist(source: PythonSource, node: ast.Assign | ast.AnnAssign) -> bool:
    """A list of supported devices with the project's own name for CUDA, and none for AMD."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    named = any(_SUPPORTED.search(word) for target in targets for word in source.words(target))
    if not named or not isinstance(node.value, (ast.List, ast.Tuple, ast.Set)) or source.says_amd(node.value):
        return False
    return any(isinstance(item, ast.Attribute) and item.attr == "CUDA" for item in node.value.elts)


def _compared(test: ast.expr) -> str:
    """The text a project's own name is compared with; empty for another test."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return ""
    value = test.comparators[0]
    left = test.left
    name = left.attr if isinstance(left, ast.Attribute) else getattr(left, "id", "")
    if name in _TORCH_NAMES or not name or (isinstance(left, ast.Attribute) and _is_device(left.value)):
        return ""
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _is_device(owner: ast.expr) -> bool:
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return "device" in name.lower()


def _chain(source: PythonSource, node: ast.If) -> bool:
    """True when a later branch of the chain is another vendor's and none is AMD's."""
    other = False
    branch: list[ast.stmt] = node.orelse
    while len(branch) == 1 and isinstance(branch[0], ast.If):
        test = branch[0].test
        if source.says_amd(test):
            return False
        other = other or _compared(test) in _OTHERS
        branch = branch[0].orelse
    return other

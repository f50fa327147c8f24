"""Text for the user about CUDA's version, driver, binaries or setup: an AMD machine has none of these.
"CUDA driver not installed", "compiled for a different CUDA version", "install the CUDA toolkit": whoever reads it on
ROCm looks in the wrong place, and a test of such a text (`"CUDA binary not found" in message`) decides by wording.
Right when the text is made for the platform. Texts that say "CUDA" for the device, as torch does on both platforms, are
left alone, and so are documentation, options' help, classifiers and tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding, is_test_path, open_places
from rocport.rules.python.vendor_message import REFUSES
from rocport.syntax.amd import names_amd
from rocport.syntax.python import PythonSource

_TEXT = re.compile(
    r"(?i)\bcuda (?:setup|versions?\b|binar|runtime|driver|toolkit|architectures?|(?:runtime )?librar|\d\d|\d+\.\d)"
    r"|\b(?:detect|compiled (?:with|for)|linked|specified|installed) cuda\b|\bnvidia (?:driver|gpu|card)"
)
_ASKS = re.compile(
    r"(?i)\b(?:installed|installing|reinstall|not found|not detect\w+|not available|missing|please|updat\w+|upgrad\w+|"
    r"check (?:your|that|if)|make sure|ensure|requires?|required|need(?:s|ed)?|fail\w*|mismatch\w*|incompatible|"
    r"unsupported|not supported|must|should|without|no nvidia|compil\w+ (?:with|for))|(?<!pre)install\b"
)
"""What asks for something: a text that only tells of a version sends nobody anywhere."""
_OPTION = ("add_argument", "option", "Option", "add_option", "Field", "field")

RULE = Rule(
    name="cuda-wording",
    summary="text for the user about CUDA's setup",
    severity=Severity.COSMETIC,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"CUDA ", b"cuda ", b"Cuda ", b"NVIDIA ", b"Nvidia ", b"nvidia "}),
    phase=1,
    holds="every ROCm release",
    examples=(
        Example("print('1. The CUDA driver is not installed')\n", path="m.py"),
        Example("note = 'The library must match the linked CUDA version exactly'\n", path="m.py"),
    ),
    clean=(
        Example("raise RuntimeError('this layer wants a tensor on a CUDA device')\n", path="m.py"),
        Example("'''Find out which CUDA version is installed here.'''\n", path="m.py"),
        Example("p.add_argument('--cuda', help='the CUDA version to build for')\n", path="m.py"),
        Example("note = 'The CUDA or ROCm version of the library must match'\n", path="m.py"),
        Example("print('# Snapshot of just `CUDA 0`')\n", path="m.py"),
        Example("ax.set_title('runtime with CUDA runtime and a warm cache')\n", path="m.py"),
        Example("p = Preference(docs='Whether to detect CUDA installation paths')\n", path="m.py"),
        Example("classifiers = ['Environment :: GPU :: NVIDIA CUDA :: 12']\n", path="setup.py"),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/hip.html",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    if is_test_path(source.path):
        return
    nodes: list[Any] = [
        node
        for node, text in source.strings
        if text.count(" ") > 2
        and " :: " not in text
        and _TEXT.search(text)
        and _ASKS.search(text)
        and not REFUSES.search(text)
        and not names_amd(text)
        and not _is_help(source, node)
        and not _is_caption(source, node)
    ]
    for node in open_places(source, nodes):
        yield finding(
            RULE,
            source,
            node,
            "sends the user of an AMD GPU to CUDA",
            fix="word it for the platform, by torch.version.hip",
            confidence=Confidence.LOW,
        )


_CAPTIONS = re.compile(r"(?:title|label|text|annotate|legend|caption|heading|add_subplot|docs?)$", re.I)


def _is_caption(source: PythonSource, node: ast.AST) -> bool:
    """What a picture, a table or a page is headed by: it describes what was measured."""
    for parent, child in source.ancestors(node):
        if isinstance(parent, ast.keyword) and _CAPTIONS.search(parent.arg or ""):
            return True
        if isinstance(parent, ast.Call) and child is not parent.func:
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if _CAPTIONS.search(name):
                return True
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_help(source: PythonSource, node: ast.AST) -> bool:
    """The description of an option, a field or a warning filter."""
    for parent, _ in source.ancestors(node):
        if isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if name in _OPTION:
                return True
        if isinstance(parent, ast.keyword) and parent.arg in ("help", "description", "reason"):
            return True
        if isinstance(parent, ast.stmt):
            return False
    return False

"""`UNSLOTH_ALLOW_PREQUANTIZED`, a variable that Unsloth does not read.
Notes on AMD GPUs tell people to set it to 0 so that 4-bit checkpoints are not loaded. Unsloth decides that itself, from
the version of bitsandbytes and the wavefront (`ALLOW_PREQUANTIZED_MODELS` in its device_type.py is a constant), so the
line has no effect: the checkpoint is loaded all the same. Right is another checkpoint, or a bitsandbytes that takes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding
from rocport.syntax.python import PythonSource

VARIABLE = "UNSLOTH_ALLOW_PREQUANTIZED"

RULE = Rule(
    name="unsloth-variable",
    summary="variable that Unsloth does not read",
    severity=Severity.COSMETIC,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({VARIABLE.encode()}),
    phase=5,
    holds="Unsloth 2026.8.19",
    examples=(
        Example(f"import os\nos.environ['{VARIABLE}'] = '0'\n", path="m.py"),
        Example(f"import os\nos.environ.setdefault('{VARIABLE}', '0')\n", path="m.py"),
    ),
    clean=(
        Example("from unsloth.device_type import ALLOW_PREQUANTIZED_MODELS\n", path="m.py"),
        Example(f'"""{VARIABLE} does not exist."""\n', path="m.py"),
    ),
    sources=(
        "https://github.com/unslothai/unsloth/blob/015bdef0d94a241bcd94eec7a405b1700632180d/unsloth/device_type.py",
    ),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    for node in source.find(ast.Constant):
        if node.value == VARIABLE:
            yield finding(
                RULE,
                source,
                node,
                f"{VARIABLE} is not read by Unsloth: setting it changes nothing",
                fix="rocport model inspect MODEL says what loads; Unsloth itself asks the version of bitsandbytes",
                confidence=Confidence.MEDIUM,
            )

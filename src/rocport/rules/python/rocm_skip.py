"""A test skipped on every AMD GPU: `skipif(HIP_ENVIRONMENT, reason="not supported on ROCm yet")`.
What fails on one target works on another: wavefronts have 64 lanes on gfx9 and 32 on RDNA, fp8 differs between gfx942
and gfx950. A skip for ROCm as a whole outlives its reason, and hides the regressions of the others. Right when the
reason names a version or the mark asks for the wavefront, the gfx target or the library.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.python.common import PYTHON, finding
from rocport.syntax.amd import names_amd
from rocport.syntax.python import PythonSource

_NARROW = re.compile(r"(?i)gfx|warp|wave|mi\d{2,3}|navi|rdna|cdna|\d+\.\d+|#\d+|issues/")

RULE = Rule(
    name="rocm-wide-skip",
    summary="test skipped on all of ROCm",
    severity=Severity.COSMETIC,
    applicability=Applicability.MANUAL,
    languages=PYTHON,
    triggers=frozenset({b"skipif", b"skipIf", b"skip_if", b"skipUnless"}),
    phase=8,
    holds="every ROCm release",
    examples=(
        Example(
            "@pytest.mark.skipif(HIP_ENVIRONMENT, reason='not supported on ROCm yet')\ndef test(): pass\n", path="t.py"
        ),
        Example("@unittest.skipIf(torch.version.hip is not None, 'fails on ROCm')\ndef test(): pass\n", path="t.py"),
    ),
    clean=(
        Example("@pytest.mark.skipif(ROCM_WARP_SIZE_64, reason='block size 64')\ndef test(): pass\n", path="t.py"),
        Example("@pytest.mark.skipif(is_rocm, reason='hangs before ROCm 6.2')\ndef test(): pass\n", path="t.py"),
        Example("@pytest.mark.skipif(not torch.cuda.is_available(), reason='no GPU')\ndef test(): pass\n", path="t.py"),
    ),
    sources=("https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1748",),
)


def check(source: PythonSource, context: Context) -> Iterator[Finding]:
    for call in source.find(ast.Call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in ("skipif", "skipIf", "skip_if") or not call.args:
            continue
        words = list(source.words(call))
        if source.says_amd(call.args[0]) and not any(
            _NARROW.search(word) for word in words if names_amd(word) or " " in word
        ):
            yield finding(
                RULE,
                source,
                call,
                "skipped on every AMD GPU",
                fix="ask for the wavefront, the gfx target or the library version that fails",
                confidence=Confidence.LOW,
            )

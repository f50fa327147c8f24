"""The Triton tier agrees with eager on small shapes, under Triton's CPU interpreter, in one child process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXACT = ("quantize", "dequantize")
TOLERANCE = 2e-6


@pytest.fixture(scope="module")
def results() -> dict[str, float]:
    pytest.importorskip("triton", reason="triton is not installed")
    script = Path(__file__).with_name("interpreted.py")
    environment = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    child = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=3600, check=False
    )
    assert child.returncode == 0, child.stderr[-3000:]
    return dict(json.loads(line) for line in child.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", ["quantize", "dequantize", "rows", "rows-half", "tiles", "groups", "gather", "grouped", "elementwise"]
)
def test_agrees_with_eager(results, kernel):
    cases = {case: value for case, value in results.items() if case.split()[0] == kernel}
    assert cases
    limit = 0 if kernel in EXACT else TOLERANCE
    assert {case: value for case, value in cases.items() if not value <= limit} == {}

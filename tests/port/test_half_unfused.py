"""Half arithmetic that CUDA never fuses, in the header."""

from __future__ import annotations

import re
from pathlib import Path

import rocport.port

HEADER = Path(rocport.port.__file__).with_name("headers") / "rocport_half.h"


def test_rounded_operations_are_those_that_clang_may_not_fuse() -> None:
    """HIP's __fmul_rn is a plain product, which clang merges: hadd_rn(hmul_rn(x, x), m) was one v_fma_f16."""
    made = re.findall(r"^ROCPORT_HALF_BINARY\(h(add|sub|mul)_(?:rn|sat), .*", HEADER.read_text(), re.M)
    assert made == ["add", "sub", "mul"] * 2
    assert not re.search(r"^ROCPORT_HALF_BINARY\(.*\b__f(?:add|sub|mul)_rn\(", HEADER.read_text(), re.M)

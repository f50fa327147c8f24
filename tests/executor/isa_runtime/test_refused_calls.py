"""The math libraries refuse what they would get wrong, and the trace of copies stays whole."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

from rocport.model import HANGING_S

from .conftest import HipCompile

_LIBRARIES = ("-lhipblas", "-lhipblaslt", "-lhipfft", "-lhiprand", "-lhipsparse", "-lMIOpen")


def test_captures_record_and_misfits_and_short_operands_are_refused(hip: HipCompile, tmp_path: Path) -> None:
    program = hip(Path(__file__).with_name("refused_calls.cpp"), "-O0", "-std=c++17", *_LIBRARIES)
    trace = tmp_path / "trace"
    done = subprocess.run(
        [program], capture_output=True, text=True, timeout=HANGING_S, check=False,
        env={**os.environ, "ROCPORT_TRACE": str(trace)},
    )  # fmt: skip
    assert done.stdout == "PASSED\n", done.stdout + done.stderr
    assert "hipsparseCreateIdentityPermutation in a captured stream" in done.stderr
    assert "hipblasSscal" not in done.stderr
    assert "out of bounds: hipblasLtMatmul's bias of 8 bytes at byte 8 of an allocation of 12 bytes" in done.stderr
    data, sizes = trace.read_bytes(), []
    while data:
        magic, sequence, size, kept, name = struct.unpack_from("<4sQQQQ", data)
        assert (magic, sequence, kept) == (b"RPXT", len(sizes), size)
        sizes.append(size)
        data = data[36 + name + kept :]
    assert sizes == [16, *[256] * 800]

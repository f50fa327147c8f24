# SPDX-License-Identifier: Apache-2.0
"""Run in a child process: a script under Triton's interpreter with two of its methods put right.

    python triton_run.py SCRIPT [ARGUMENTS]
    python triton_run.py --test [--as-is]     prints JSON: test -> ok, or what is wrong

The interpreter keeps bfloat16 values as 16-bit integers. `create_dot` multiplies those integers, and the conversion
from float32 drops the lower half instead of rounding to the nearest. Seen in Triton 3.9; later versions are tested the
same way.

A launch puts the interpreter's functions in the place of Triton's language, and every call of a device function within
it looked through the whole language again for what is replaced already: half the time of kernels made of small ones.
"""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any


def correct() -> None:
    """Replaces `create_dot` and `cast_impl` of the interpreter's builder where bfloat16 is concerned."""
    import numpy
    import triton.language as tl
    from triton.runtime import interpreter

    builder: Any = interpreter.InterpreterBuilder
    handle: Any = interpreter.TensorHandle
    dot, cast = builder.create_dot, builder.cast_impl

    def widened(data: Any) -> Any:
        return (data.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)

    def rounded(data: Any) -> Any:
        bits = numpy.ascontiguousarray(data, dtype=numpy.float32).view(numpy.uint32)
        nearest = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)
        return numpy.where(numpy.isnan(data), numpy.uint16(0x7FC0), nearest)

    def create_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
        if tl.bfloat16 not in (a.dtype.scalar, b.dtype.scalar):
            return dot(self, a, b, d, *rest)
        x, y = (widened(t.data) if t.dtype.scalar == tl.bfloat16 else t.data for t in (a, b))
        return handle(numpy.matmul(x, y, dtype=d.data.dtype) + d.data, d.dtype.scalar)

    def cast_impl(self: Any, source: Any, target: Any) -> Any:
        if source.dtype.scalar == tl.float32 and target.scalar == tl.bfloat16:
            return handle(rounded(source.data).reshape(source.data.shape), tl.bfloat16)
        return cast(self, source, target)

    builder.create_dot = create_dot
    builder.cast_impl = cast_impl


def replace_once() -> None:
    """Lets each launch replace the language once for each module of kernels, not again for every call."""
    from triton.runtime import interpreter

    whole: Any = interpreter
    replace_language, launch = whole._patch_lang, whole.GridExecutor.__call__
    done: set[int] = set()

    def replace(function: Any) -> Any:
        module = id(function.__globals__)
        if module in done:
            return None
        done.add(module)
        return replace_language(function)

    def launched(self: Any, *arguments: Any, **named: Any) -> Any:
        done.clear()  # a launch undoes its replacements when it ends
        try:
            return launch(self, *arguments, **named)
        finally:
            done.clear()

    whole._patch_lang, whole.GridExecutor.__call__ = replace, launched


def main(arguments: list[str]) -> None:
    """As in the module's first lines."""
    if arguments[:1] == ["--test"]:
        from pathlib import Path

        if "--as-is" not in arguments:
            correct()
            replace_once()
        module = runpy.run_path(str(Path(__file__).with_name("triton_tests.py")))
        print(json.dumps(module["run"]()))
        return
    correct()
    replace_once()
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Compiles a module for a running program: `python -m rocport.executor.rtc SOURCE OUTPUT [options]`, as hiprtc does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rocport.executor.base import BuildError
from rocport.executor.compiler import CompilerError
from rocport.executor.cpu import CpuExecutor
from rocport.project.unit import Unit

_KEPT = ("-D", "-U", "-I", "-std=", "-include")


def main(arguments: Sequence[str]) -> int:
    """Exit status 0, or 1 with the compiler's words on stderr."""
    source, output, *options = arguments
    flags = [option.replace("--std=", "-std=", 1) for option in options]
    unit = Unit(source, flags=tuple(flag for flag in flags if flag.startswith(_KEPT)))
    try:
        CpuExecutor().build_module(unit, Path(output))
    except (BuildError, CompilerError) as error:
        print(getattr(error, "log", "") or error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

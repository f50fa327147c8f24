# SPDX-License-Identifier: Apache-2.0
"""Triton kernels in Triton's own interpreter (TRITON_INTERPRET=1): a script is run as it is, with no GPU.

The interpreter of Triton 3.9 multiplies the raw bits of bfloat16 operands in `tl.dot`, and truncates where hardware
rounds from float32 to bfloat16; both silently. So each operation that scripts lean on is tried first, in a process of
its own. `tl.dot` and the rounding are put right by `torch_child/triton_run.py`, which replaces two methods of the
interpreter; what still fails then is named in the capability, and a script that uses it is refused.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from rocport.executor.amd import run_plain
from rocport.executor.base import (
    BuildError,
    BuildOptions,
    Capability,
    Level,
    RunOptions,
    RunResult,
    Trust,
)
from rocport.executor.program import Program
from rocport.model import HANGING_S
from rocport.project.unit import Unit

CHILD = Path(__file__).with_name("torch_child") / "triton_run.py"
_DEFAULT_BUILD = BuildOptions()
_DEFAULT_RUN = RunOptions()
# Test -> what of a script makes it depend on that test.
USES: Mapping[str, re.Pattern[str]] = {
    "dot-bf16": re.compile(r"\btl\.dot\b"),
    "round-bf16": re.compile(r"bfloat16"),
}


@lru_cache(maxsize=8)
def operations(python: str, corrected: bool) -> Mapping[str, str]:
    """Test -> `ok` or what is wrong, as the child reports; `error` -> why nothing could be tried."""
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [python, str(CHILD), "--test", *(["--as-is"] if not corrected else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGING_S, check=False, env=environment)
        outcome: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError) as error:
        return {"error": str(error)}
    except ValueError:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        return {"error": last}
    return outcome


class TritonInterpreter:
    """Triton's interpreter in a Python that has triton and torch."""

    name = "triton-interpreter"

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python

    def probe(self) -> Capability:
        """triton and torch can be imported, and what the interpreter gets right."""
        outcome = operations(self._python, True)
        if "error" in outcome:
            return Capability(self.name, refusal=f"{outcome['error']} (it wants triton and torch in {self._python})")
        wrong = [f"{name}: {text}" for name, text in outcome.items() if name != "triton" and text != "ok"]
        as_is = [n for n, text in operations(self._python, False).items() if n != "triton" and text != "ok"]
        detail = f"Triton {outcome.get('triton', '?')}"
        detail += f"; corrected here: {', '.join(as_is)}" if as_is and not wrong else ""
        detail += f"; wrong: {'; '.join(wrong)}" if wrong else ""
        trust = Trust.UNTESTED if wrong else Trust.SELF_TESTED
        return Capability(self.name, (), (), Level.SOURCE, trust, detail)

    def build(self, program: Program, folder: Path, options: BuildOptions = _DEFAULT_BUILD) -> Path:
        """A script needs no build: returns its path.

        Raises:
            BuildError: it is no Python script, or it uses an operation that the interpreter gets wrong.
        """
        source = program.units[0].source
        if source.suffix != ".py":
            raise BuildError(f"{source}: Triton's interpreter runs Python scripts")
        text = source.read_text(errors="replace")
        for name, said in operations(self._python, True).items():
            if said != "ok" and name in USES and USES[name].search(text):
                raise BuildError(f"{source}: uses what this interpreter gets wrong ({name}: {said})")
        return source

    def run(
        self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions = _DEFAULT_RUN
    ) -> RunResult:
        """The script under the corrected interpreter. Widths and orders mean nothing to it."""
        command = [self._python, str(CHILD), str(executable), *arguments]
        return run_plain(command, cwd, options, {"TRITON_INTERPRET": "1"})


def script_program(path: Path) -> Program:
    """A Python script as a program."""
    return Program(path.stem, path.resolve().parent, (Unit(str(path.resolve())),), (), ((),))

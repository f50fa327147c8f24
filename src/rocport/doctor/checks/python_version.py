"""Are Python and glibc new enough for the wheels?"""

from __future__ import annotations

import re

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine
from rocport.facts.rocm import torch_releases

CHECK = Check("python-version", "Python and glibc", ("H054",))


def run(machine: Machine) -> Result:
    python, glibc = machine.version("python"), machine.version("glibc")
    if python is None:
        return skipped("the Python version is not known")
    match = re.match(r"(\d+)\.(\d+)", python.value)
    newest = next((r for r in torch_releases() if r.python_min and r.sure != "unverified"), None)
    if match is None or newest is None:
        return skipped("the Python version cannot be read", python.evidence)
    mine = (int(match[1]), int(match[2]))
    low = tuple(int(n) for n in newest.python_min.split("."))
    installed = machine.version("torch")
    if mine < low and installed is None and machine.gpus:
        return problem(
            "warn",
            f"Python {python.value}: the wheels of torch {newest.version} begin with {newest.python_min}",
            [python.evidence],
            "pip says 'no matching distribution' or takes an old torch.",
            (f"# create the environment with Python {newest.python_min} to {newest.python_max}",),
            "python --version",
        )
    libc = re.match(r"(\d+)\.(\d+)", glibc.value) if glibc else None
    if glibc and libc and (int(libc[1]), int(libc[2])) < (2, 28) and machine.gpus:
        return problem(
            "warn",
            f"glibc {glibc.value} is older than 2.28, which current wheels need",
            [glibc.evidence],
            "pip finds no wheel.",
            ("# use a distribution of 2019 or later, or a container",),
            "ldd --version | head -1",
        )
    return ok(f"Python {python.value}", python.evidence)

"""Are Python and glibc new enough for the wheels?"""

from __future__ import annotations

import re

from rocport.doctor.check import Check, Result, ok, says, skipped
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
        return says(
            "python-version.python-wheels-torch-begin",
            [python.evidence],
            python=python.value,
            newest_version=newest.version,
            newest_python_min=newest.python_min,
            newest_python_max=newest.python_max,
        )
    libc = re.match(r"(\d+)\.(\d+)", glibc.value) if glibc else None
    if glibc and libc and (int(libc[1]), int(libc[2])) < (2, 28) and machine.gpus:
        return says("python-version.glibc-older-2-28", [glibc.evidence], glibc=glibc.value)
    return ok(f"Python {python.value}", python.evidence)

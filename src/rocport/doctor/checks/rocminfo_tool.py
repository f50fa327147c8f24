"""Is rocminfo there? bitsandbytes before 0.50 and several installers ask it, and guess when it is missing."""

from __future__ import annotations

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import package_version

CHECK = Check("rocminfo-tool", "rocminfo", ("H020",))


def run(machine: Machine) -> Result:
    missing = machine.setting("rocminfo_missing")
    told = machine.symptoms("bnb-no-rocminfo")
    if told or (missing is not None and machine.gpus):
        bnb = package_version(machine, "bitsandbytes")
        guesses = told or (bnb is not None and bnb < Version("0.50.0"))
        evidence = [s.evidence for s in told] + ([missing.evidence] if missing else [])
        if not guesses:
            return ok("not installed, and nothing here needs it", *evidence)
        return says("rocminfo-tool.rocminfo-missing-bitsandbytes-before-0", evidence)
    if machine.probed("rocminfo"):
        return ok("runs")
    return skipped("not looked for")

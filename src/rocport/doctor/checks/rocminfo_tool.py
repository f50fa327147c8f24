"""Is rocminfo there? bitsandbytes before 0.50 and several installers ask it, and guess when it is missing."""

from __future__ import annotations

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, problem, skipped
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
        return problem(
            "warn",
            "rocminfo is missing, and bitsandbytes before 0.50 asks it for the wavefront width",
            evidence,
            "It then takes 64, which is wrong on RDNA and refuses block size 64.",
            ("pip install -U 'bitsandbytes>=0.50'", 'rocm-sdk init && export PATH="$(rocm-sdk path --bin):$PATH"'),
            "rocminfo | head -1",
        )
    if machine.probed("rocminfo"):
        return ok("runs")
    return skipped("not looked for")

"""flash-attn on ROCm: its CK library exists for a few Instinct targets, elsewhere Triton has to be switched on."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("flash-attn", "flash-attn", ("H081", "H082"))
LAST = Version("2.8.3.post2")


def run(machine: Machine) -> Result:
    package = machine.package("flash-attn")
    told = machine.symptoms("flash-attn-missing")
    built, switch = machine.setting("flash_attn_ck"), machine.env("FLASH_ATTENTION_TRITON_AMD_ENABLE")
    if package is None and not told:
        return skipped("flash-attn is not installed, or not in the list")
    on = switch is not None and str(switch.value) == "TRUE"
    old = True
    if package is not None:
        try:
            old = Version(package.version) <= LAST
        except InvalidVersion:
            old = True
    if told or (built is not None and not built.value and not on and old and machine.gpus):
        return says(
            "flash-attn.flash-attn-no-ck-library",
            [
                *(s.evidence for s in told),
                package.evidence if package else None,
                built.evidence if built else None,
                switch.evidence if switch else None,
            ],
        )
    if built is None:
        return skipped("whether its library was built is not in what was read", package.evidence if package else None)
    return ok("usable", built.evidence, switch.evidence if switch else None)

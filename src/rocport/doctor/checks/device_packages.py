"""pip-installed ROCm: is the device package of this GPU there?"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("device-packages", "device packages of pip-installed ROCm", ("H052", "H053"))


def run(machine: Machine) -> Iterator[Result]:
    sdk = machine.package("rocm-sdk-core")
    devices = {p.name.removeprefix("rocm-sdk-device-"): p for p in machine.packages("rocm-sdk-device-")}
    if sdk is None:
        yield skipped("ROCm is not installed by pip")
        return
    if not devices:
        yield skipped("no per-device package: the older per-family wheels carry all their targets", sdk.evidence)
        return
    wanted = [g for g in machine.gpus if g.hardware]
    for gpu in wanted:
        if gpu.hardware in devices:
            yield ok(f"rocm-sdk-device-{gpu.hardware}", devices[gpu.hardware].evidence)
        else:
            yield says(
                "device-packages.device-package-missing-installed",
                [gpu.evidence[0], *(p.evidence for p in devices.values())],
                gpu_hardware=gpu.hardware,
                devices=", ".join(sorted(devices)),
            )
    if not wanted:
        yield skipped("no GPU whose gfx is known", sdk.evidence)

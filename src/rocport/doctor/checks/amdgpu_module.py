"""Is the amdgpu kernel module loaded and alive?"""

from __future__ import annotations

from rocport.doctor.check import Check, Result, ok, problem, skipped
from rocport.doctor.machine import Machine

CHECK = Check("amdgpu-module", "amdgpu kernel module", ("H001", "H002", "H010"))


def run(machine: Machine) -> Result:
    if machine.flag("wsl") or machine.flag("windows"):
        return skipped("WSL and Windows have no amdgpu module")
    rejected = machine.symptoms("key-rejected")
    loaded, state = machine.setting("amdgpu_loaded"), machine.setting("amdgpu_initstate")
    secure = machine.setting("secure_boot")
    if rejected:
        return problem(
            "fail",
            "the kernel refused the amdgpu module: its signature is not enrolled",
            [rejected[0].evidence, secure.evidence if secure else None],
            "The DKMS driver is not loaded under Secure Boot, so no GPU is there.",
            (
                "sudo mokutil --import /var/lib/shim-signed/mok/MOK.der",
                "# reboot and enroll the key in the blue MOK screen, or switch Secure Boot off in the firmware",
            ),
            "cat /sys/module/amdgpu/initstate",
            sudo=True,
            reboot=True,
        )
    symptom = machine.symptoms("module-not-loaded")
    missing = symptom or (loaded is not None and not loaded.value)
    if missing:
        amd = any(s.source == "pci" for g in machine.gpus for s in g.sightings)
        if not symptom and not amd:
            return skipped("no AMD GPU on the PCI bus, so no module is expected", loaded.evidence if loaded else None)
        return problem(
            "fail",
            "the amdgpu module is not loaded",
            [symptom[0].evidence if symptom else None, loaded.evidence if loaded else None],
            "There is no /dev/kfd, and every ROCm program finds no device.",
            (
                "sudo modprobe amdgpu",
                "# if that fails: install the module for the running kernel (linux-modules-extra-$(uname -r), "
                "amdgpu-dkms), look for a blacklist or nomodeset, and for Secure Boot",
                "sudo dmesg | grep -i amdgpu | tail -20",
            ),
            "cat /sys/module/amdgpu/initstate",
            sudo=True,
        )
    dead = machine.symptoms("module-not-live")
    if dead or (state is not None and state.value != "live"):
        return problem(
            "fail",
            "the amdgpu module is loaded but its initialisation did not end",
            [dead[0].evidence if dead else None, state.evidence if state else None],
            "The GPU cannot be used until the driver starts again.",
            ("sudo dmesg | grep -i amdgpu | tail -40", "sudo reboot"),
            "cat /sys/module/amdgpu/initstate",
            sudo=True,
            reboot=True,
        )
    if loaded is not None and loaded.value:
        return ok("loaded", loaded.evidence)
    return skipped("the captured text says nothing of the module")

"""Can this user open /dev/kfd?"""

from __future__ import annotations

import errno

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Evidence, Machine

CHECK = Check(
    "kfd-access", "/dev/kfd", ("H003", "H004", "H005", "H007", "H008", "H009", "H027", "H029", "H030", "H031")
)
VERIFY = "rocminfo | grep -c 'Device Type: *GPU'"
CONSEQUENCE = "The HSA runtime cannot start: no ROCm program sees a GPU."


def run(machine: Machine) -> Result:
    if machine.flag("wsl"):
        return skipped("WSL reaches the GPU through /dev/dxg and has no /dev/kfd")
    if machine.flag("windows"):
        return skipped("Windows has no /dev/kfd")
    node = next((n for n in machine.facts.nodes if n.path == "/dev/kfd"), None)
    contained = machine.setting("container")
    unsupported = machine.symptoms("kfd-unsupported")
    if machine.symptoms("pcie-atomics"):
        return says("kfd-access.driver-skipped-gpu-pcie-slot", [s.evidence for s in machine.symptoms("pcie-atomics")])
    error, evidence = _error(machine)
    if error == errno.EACCES or error == errno.EPERM:
        return _denied(machine, evidence, contained is not None)
    if error == errno.ENOMEM:
        return says("kfd-access.opening-dev-kfd-gives-enomem", [*evidence, *(s.evidence for s in unsupported)])
    if error == errno.EINVAL:
        return says("kfd-access.opening-dev-kfd-gives-einval", evidence)
    if error == errno.ENOENT:
        if machine.live and not machine.gpus and not machine.flag("amdgpu_loaded"):
            return skipped("no AMD GPU on the PCI bus, so no /dev/kfd is expected", *evidence)
        if contained is not None:
            return says("kfd-access.dev-kfd-not-container", [*evidence, contained.evidence])
        return says("kfd-access.dev-kfd-missing", evidence)
    if error:
        return says("kfd-access.dev-kfd-cannot-opened", evidence)
    if node is not None:
        return ok("opens read-write", node.evidence)
    owner, groups = machine.setting("kfd_group"), machine.setting("user_groups")
    if owner is not None and groups is not None and str(owner.value) not in str(groups.value).split():
        return _denied(machine, [owner.evidence, groups.evidence], contained is not None)
    if machine.symptoms("not-in-group"):
        return _denied(machine, [machine.symptoms("not-in-group")[0].evidence], contained is not None)
    if any(s.source in ("rocminfo", "torch") and s.gfx for g in machine.gpus for s in g.sightings):
        return ok("opened by the runtime: it lists the GPU", machine.gpus[0].evidence[0])
    return skipped("the captured text says nothing of /dev/kfd")


def _error(machine: Machine) -> tuple[int, list[Evidence]]:
    node = next((n for n in machine.facts.nodes if n.path == "/dev/kfd"), None)
    if node is not None:
        return (errno.ENOENT if not node.exists else node.errno or 0), [node.evidence]
    for name, code in (
        ("kfd-permission", errno.EACCES),
        ("kfd-memory", errno.ENOMEM),
        ("kfd-invalid", errno.EINVAL),
        ("kfd-missing", errno.ENOENT),
    ):
        found = machine.symptoms(name)
        if found:
            return code, [s.evidence for s in found]
    return 0, []


def _denied(machine: Machine, evidence: list[Evidence], contained: bool) -> Result:
    unnamed = machine.symptoms("no-user-name")
    node = next((n for n in machine.facts.nodes if n.path == "/dev/kfd"), None)
    gid = node.gid if node else None
    fix = [
        "sudo usermod -a -G render,video $USER",
        "# log out and in again (or reboot): groups are read at login. Never run the program with sudo instead",
        f"# in a container: --device=/dev/kfd --device=/dev/dri --group-add {gid or '$(stat -c %g /dev/kfd)'} "
        "(the number: the image's render group may have another one)",
    ]
    if machine.flag("selinux_enforcing"):
        fix.append("sudo setsebool -P container_use_devices=1  # SELinux; podman: --group-add keep-groups")
    return problem(
        "fail",
        "permission denied on /dev/kfd: the user is not in the group that owns it (render)",
        [*evidence, *(s.evidence for s in unnamed)],
        CONSEQUENCE,
        fix[2:] + fix[:2] if contained or unnamed else fix,
        "test -w /dev/kfd && rocminfo | head -1",
        sudo=True,
        relogin=True,
    )

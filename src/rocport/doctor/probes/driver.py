"""The amdgpu module, the kernel and its command line, NUMA balancing, Secure Boot: files only.

Settings: amdgpu_loaded, amdgpu_initstate, amdgpu_in_tree, cmdline, numa_nodes, numa_balancing, secure_boot,
nvidia_gpu. Versions: driver, kernel.
"""

from __future__ import annotations

import re

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting, Sighting, VersionFact


def probe(host: Host) -> Facts:
    """Read /sys/module/amdgpu, /proc and the PCI functions below /sys/bus/pci."""
    if not host.exists("/proc") and not host.exists("/sys"):
        return Facts()
    settings: list[Setting] = []
    versions: list[VersionFact] = []

    def note(name: str, value: str | int | bool, where: str, text: str) -> None:
        settings.append(Setting(name, value, Evidence("driver", where, text)))

    module = "/sys/module/amdgpu"
    loaded = host.exists(module)
    note("amdgpu_loaded", loaded, module, "present" if loaded else "not there")
    if loaded:
        state = host.read(f"{module}/initstate")
        if state is not None:
            note("amdgpu_initstate", state, f"{module}/initstate", state)
        version = host.read(f"{module}/version")
        if version:
            versions.append(VersionFact("driver", version, Evidence("driver", f"{module}/version", version)))
        else:
            note("amdgpu_in_tree", True, f"{module}/version", "not there: the driver of the kernel itself")
    release = host.read("/proc/sys/kernel/osrelease")
    if release:
        versions.append(VersionFact("kernel", release, Evidence("driver", "/proc/sys/kernel/osrelease", release)))
    cmdline = host.read("/proc/cmdline")
    if cmdline:
        note("cmdline", cmdline, "/proc/cmdline", cmdline[:300])
    config = host.read(f"/boot/config-{release}") if release else None
    if config and "CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y" in config:
        note("iommu_passthrough_default", True, f"/boot/config-{release}", "CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y")
    nodes = len(host.glob("/sys/devices/system/node", "node[0-9]*"))
    if nodes:
        note("numa_nodes", nodes, "/sys/devices/system/node", f"{nodes} nodes")
    balancing = host.read("/proc/sys/kernel/numa_balancing")
    if balancing and balancing.isdigit():
        note("numa_balancing", int(balancing), "/proc/sys/kernel/numa_balancing", balancing)
    for path in host.glob("/sys/firmware/efi/efivars", "SecureBoot-*"):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if len(data) >= 5:
            note("secure_boot", data[4] == 1, host.shown(path), "on" if data[4] == 1 else "off")
    sightings = _pci(host, settings)
    return Facts(
        probed=frozenset({"driver", "pci"}),
        settings=tuple(settings),
        versions=tuple(versions),
        sightings=tuple(sightings),
    )


def _pci(host: Host, settings: list[Setting]) -> list[Sighting]:
    """AMD GPUs on the PCI bus (display and processing-accelerator classes), with their memory pools."""
    seen = []
    for folder in host.glob("/sys/bus/pci/devices", "*"):
        base = host.shown(folder)
        kind = host.read(f"{base}/class") or ""
        if not kind.startswith(("0x03", "0x12")):
            continue
        vendor, device = host.read(f"{base}/vendor") or "", host.read(f"{base}/device") or ""
        evidence = Evidence("pci", base, f"vendor {vendor} device {device} class {kind}")
        if vendor == "0x10de":
            settings.append(Setting("nvidia_gpu", True, evidence))
        if vendor != "0x1002" or not re.fullmatch(r"0x[0-9a-f]{4}", device):
            continue
        minor = next((p.name for p in host.glob(f"{base}/drm", "renderD*")), "")
        seen.append(
            Sighting(
                source="pci",
                evidence=evidence,
                chip_id=int(device, 16),
                pci=folder.name,
                render_minor=int(minor.removeprefix("renderD")) if minor.removeprefix("renderD").isdigit() else None,
                vram_bytes=_number(host.read(f"{base}/mem_info_vram_total")),
                gtt_bytes=_number(host.read(f"{base}/mem_info_gtt_total")),
                product=host.read(f"{base}/product_name") or "",
            )
        )
    return seen


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None

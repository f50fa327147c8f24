"""Container, WSL, Windows, operating system, SELinux.

Settings: container (docker, podman, lxc, kubernetes, container), wsl, windows, os, selinux_enforcing.
"""

from __future__ import annotations

import re

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting


def probe(host: Host) -> Facts:
    settings: list[Setting] = []

    def note(name: str, value: str | bool, where: str, text: str) -> None:
        settings.append(Setting(name, value, Evidence("platform", where, text)))

    if host.platform.startswith("win"):
        note("windows", True, "sys.platform", host.platform)
        return Facts(probed=frozenset({"platform"}), settings=tuple(settings))
    release = host.read("/etc/os-release") or ""
    name = re.search(r'^PRETTY_NAME="?([^"\n]+)', release, re.MULTILINE)
    if name:
        note("os", name.group(1), "/etc/os-release", name.group(1))
    kernel = host.read("/proc/sys/kernel/osrelease") or ""
    if "microsoft" in kernel.lower():
        note("wsl", True, "/proc/sys/kernel/osrelease", kernel)
    elif host.exists("/dev/dxg"):
        note("wsl", True, "/dev/dxg", "present")
    kind = _container(host)
    if kind:
        note("container", kind[0], kind[1], kind[2])
    if host.read("/sys/fs/selinux/enforce") == "1":
        note("selinux_enforcing", True, "/sys/fs/selinux/enforce", "1")
    if host.exists("/dev/dxg"):
        note("dxg", True, "/dev/dxg", "present")
    return Facts(probed=frozenset({"platform"}), settings=tuple(settings))


def _container(host: Host) -> tuple[str, str, str] | None:
    if host.exists("/.dockerenv"):
        return "docker", "/.dockerenv", "present"
    if host.exists("/run/.containerenv"):
        return "podman", "/run/.containerenv", "present"
    if host.env.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes", "environment", "KUBERNETES_SERVICE_HOST is set"
    name = host.env.get("container", "")
    if name:
        return ("lxc" if name.startswith("lxc") else "container"), "environment", f"container={name}"
    text = host.read("/proc/1/cgroup") or ""
    match = re.search(r"docker|lxc|kubepods|containerd|podman", text)
    if match:
        return ("lxc" if match.group() == "lxc" else "container"), "/proc/1/cgroup", match.group()
    return None

"""May this user open the GPU: /dev/kfd, /dev/dri/renderD*, groups, limits, shared memory.

Settings: user, groups, memlock_bytes, nofile, shm_bytes. A missing limit is unlimited (-1).
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from rocport.doctor.host import Host
from rocport.doctor.machine import DeviceNode, Evidence, Facts, Setting


def probe(host: Host) -> Facts:
    """Open the nodes read-write and close them again; nothing is sent to the driver."""
    if host.platform.startswith("win") or not host.exists("/dev"):
        return Facts()
    nodes = [_node(host, host.path("/dev/kfd"))]
    nodes += [_node(host, path) for path in host.glob("/dev/dri", "renderD*")]
    settings: list[Setting] = []
    if host.real:
        settings += _process()
    shm = _shm(host)
    if shm is not None:
        settings.append(Setting("shm_bytes", shm, Evidence("limits", "/dev/shm", f"{shm >> 20} MiB")))
    return Facts(probed=frozenset({"access"}), nodes=tuple(nodes), settings=tuple(settings))


def _node(host: Host, path: Path) -> DeviceNode:
    shown = host.shown(path)
    try:
        gid: int | None = path.stat().st_gid
    except OSError:
        return DeviceNode(shown, False, None, None, Evidence("access", shown, "not there"))
    try:
        os.close(os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0)))
        code = 0
    except OSError as error:
        code = error.errno or errno.EIO
    text = "opens read-write" if code == 0 else f"{os.strerror(code)} (group id {gid})"
    return DeviceNode(shown, True, code, gid, Evidence("access", shown, text))


def _process() -> list[Setting]:
    import resource

    found = []
    with contextlib.suppress(OSError):
        groups = sorted({*os.getgroups(), os.getegid()})
        text = " ".join(str(g) for g in groups)
        found.append(Setting("groups", text, Evidence("access", "process groups", text)))
    found.append(Setting("uid", os.geteuid(), Evidence("access", "process", f"uid {os.geteuid()}")))
    for name, which in (("memlock_bytes", resource.RLIMIT_MEMLOCK), ("nofile", resource.RLIMIT_NOFILE)):
        soft, hard = resource.getrlimit(which)
        value = -1 if soft == resource.RLIM_INFINITY else soft
        shown = "unlimited" if value < 0 else str(value)
        limit = "unlimited" if hard == resource.RLIM_INFINITY else str(hard)
        found.append(Setting(name, value, Evidence("limits", f"getrlimit {name}", f"soft {shown}, hard {limit}")))
    return found


def _shm(host: Host) -> int | None:
    try:
        info = os.statvfs(host.path("/dev/shm"))
    except OSError:
        return None
    return info.f_frsize * info.f_blocks

"""ROCm trees on disk: /opt/rocm*, the core layout of ROCm 7.9 and later, a distribution's own, and ROCM_PATH.

Versions: rocm (one for every tree). Settings: rocm_root, gxx_newest, libstdcxx_newest, c_compiler, nvcc, miopen_cache.
"""

from __future__ import annotations

import os
import re
import shutil

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting, VersionFact

_VERSION = re.compile(r"^(\d+\.\d+(?:\.\d+)?)")


def probe(host: Host) -> Facts:
    versions: list[VersionFact] = []
    settings: list[Setting] = []
    roots: dict[str, str] = {}
    for name in ("ROCM_PATH", "ROCM_HOME"):
        value = host.env.get(name)
        if value:
            roots[value] = name
    for path in host.glob("/opt", "rocm*"):
        roots.setdefault(host.shown(path), "folder")
        for core in host.glob(host.shown(path), "core-*"):
            roots.setdefault(host.shown(core), "folder")
    if host.exists("/usr/share/rocm") or host.exists("/usr/lib/x86_64-linux-gnu/libamdhip64.so"):
        roots.setdefault("/usr", "distribution")
    seen: set[str] = set()
    for root in roots:
        for name in (".info/version", "share/rocm/version", ".info/version-dev"):
            text = host.read(f"{root}/{name}")
            match = _VERSION.match(text or "")
            if match:
                evidence = Evidence("install", f"{root}/{name}", (text or "").splitlines()[0])
                try:
                    real = str(host.path(root).resolve())
                except (OSError, RuntimeError):
                    real = root
                settings.append(Setting("rocm_root", root, evidence))
                if real not in seen:
                    seen.add(real)
                    versions.append(VersionFact("rocm", match.group(1), evidence))
                break
    hip = host.read("/opt/rocm/share/hip/version") or host.read("/opt/rocm/.hipVersion") or ""
    parts = dict(re.findall(r"^HIP_VERSION_(MAJOR|MINOR|PATCH)=(\d+)", hip, re.MULTILINE))
    if {"MAJOR", "MINOR"} <= parts.keys():
        value = ".".join(parts[k] for k in ("MAJOR", "MINOR", "PATCH") if k in parts)
        versions.append(VersionFact("hip", value, Evidence("install", "/opt/rocm/share/hip/version", value)))
    settings += _toolchain(host)
    if host.real:
        settings += _caches(host)
    return Facts(probed=frozenset({"install"}), versions=tuple(versions), settings=tuple(settings))


def _toolchain(host: Host) -> list[Setting]:
    """The newest GCC folder clang will pick, and the newest C++ headers that are there."""
    found = []
    gcc = [p.name for p in host.glob("/usr/lib/gcc/x86_64-linux-gnu", "*") if p.name.isdigit()]
    headers = [p.name for p in host.glob("/usr/include/c++", "*") if p.name.isdigit()]
    if gcc:
        newest = max(gcc, key=int)
        where = f"/usr/lib/gcc/x86_64-linux-gnu/{newest}"
        found.append(Setting("gcc_newest", int(newest), Evidence("install", where, "present")))
        shown = ", ".join(sorted(headers, key=int)) or "none"
        evidence = Evidence("install", "/usr/include/c++", f"C++ headers of GCC {shown}")
        found.append(Setting("libstdcxx_newest", max((int(h) for h in headers), default=0), evidence))
    if host.real:
        compiler = host.env.get("CC") or next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), "")
        text = compiler or "no cc, gcc or clang on PATH"
        found.append(Setting("c_compiler", compiler, Evidence("install", "PATH", text)))
        nvcc = shutil.which("nvcc")
        if nvcc:
            found.append(Setting("nvcc", nvcc, Evidence("install", "PATH", nvcc)))
    return found


def _caches(host: Host) -> list[Setting]:
    """MIOpen's cache folder, when it is not writable. Its variables win over the home folder."""
    home = host.env.get("HOME", "")
    folders = [host.env.get("MIOPEN_USER_DB_PATH") or (f"{home}/.config/miopen" if home else "")]
    folders.append(host.env.get("MIOPEN_CUSTOM_CACHE_DIR") or (f"{home}/.cache/miopen" if home else ""))
    found = []
    for folder in folders:
        if not folder:
            continue
        probe_at = host.path(folder)
        while not probe_at.exists() and probe_at != probe_at.parent:
            probe_at = probe_at.parent
        if not os.access(probe_at, os.W_OK):
            evidence = Evidence("install", folder, f"{probe_at} is not writable")
            found.append(Setting("miopen_cache_unwritable", folder, evidence))
    return found

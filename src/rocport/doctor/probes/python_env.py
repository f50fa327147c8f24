"""Installed Python packages and torch's build, read from metadata and torch/version.py, nothing imported.

Versions: python, glibc, torch, torch_hip, torch_rocm, torch_cuda, triton, bitsandbytes, rocm (of pip).
Settings: torch_without_hip, torch_bundles_hsa, bnb_libraries, flash_attn_ck, torch_folder, device_wheels.
"""

from __future__ import annotations

import ast
import os
import platform
import re
import sys
from pathlib import Path

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Package, Setting, VersionFact
from rocport.doctor.probes.pip_list import normal, versions_of

_FOLDER = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*?)-(?P<version>\d[\w.+!]*)\.(?:dist|egg)-info$")


def site_packages_of(python: Path) -> tuple[Path, ...]:
    """The package folders of another interpreter (its executable, or the folder of a virtual environment).

    Found by the layout, without running it. Empty when the layout is not known.
    """
    base = python if python.is_dir() else python.parent.parent
    found = [
        p for pattern in ("lib/python3*/site-packages", "lib64/python3*/site-packages") for p in base.glob(pattern)
    ]
    windows = base / "Lib" / "site-packages"
    return tuple([*found, windows] if windows.is_dir() else found)


def folders(host: Host) -> tuple[Path, ...]:
    """The folders looked at: those given, else an active virtual environment's, else this interpreter's."""
    if host.site_packages is not None:
        return host.site_packages
    if not host.real:
        return tuple(
            p
            for pattern in ("usr/local/lib/python3*/*-packages", "opt/venv/lib/python3*/site-packages")
            for p in sorted(host.root.glob(pattern))
        )
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = host.env.get(name)
        if prefix and Path(prefix) != Path(sys.prefix):
            found = site_packages_of(Path(prefix))
            if found:
                return found
    return tuple(Path(p) for p in sys.path if p.endswith(("-packages",)) and Path(p).is_dir())


def probe(host: Host) -> Facts:
    packages: list[Package] = []
    versions: list[VersionFact] = []
    settings: list[Setting] = []
    where = folders(host)
    for folder in where:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in sorted(names):
            match = _FOLDER.match(name)
            if match:
                evidence = Evidence("pip", str(folder / name), f"{match['name']} {match['version']}")
                package = Package(normal(match["name"]), match["version"], evidence)
                if all(p.name != package.name for p in packages):
                    packages.append(package)
    for folder in where:
        if (folder / "torch" / "version.py").is_file():
            _torch(folder / "torch", versions, settings)
            break
    versions += versions_of(packages)
    for package in packages:
        if package.name in ("rocm", "rocm-sdk-core"):
            match = re.match(r"\d+\.\d+(?:\.\d+)?", package.version)
            if match:
                versions.append(VersionFact("rocm", match.group(), package.evidence))
                break
    for folder in where:
        _extensions(folder, settings)
    if host.real and host.site_packages is None:
        text = platform.python_version()
        versions.append(VersionFact("python", text, Evidence("python", sys.executable, text)))
        libc = platform.libc_ver()
        if libc[0] == "glibc":
            versions.append(VersionFact("glibc", libc[1], Evidence("python", "libc", libc[1])))
    return Facts(
        probed=frozenset({"packages", "packages-complete", "python"}) if where else frozenset(),
        packages=tuple(packages),
        versions=tuple(versions),
        settings=tuple(settings),
    )


def _torch(folder: Path, versions: list[VersionFact], settings: list[Setting]) -> None:
    """torch/version.py is assignments of strings and None: read as a syntax tree, never run."""
    path = folder / "version.py"
    try:
        tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, SyntaxError, ValueError):
        return
    values: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            assigned, names = node.value, node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            assigned, names = node.value, [node.target]
        else:
            continue
        for target in names:
            if isinstance(target, ast.Name) and isinstance(assigned, ast.Constant):
                values[target.id] = assigned.value
    for key, name in (("__version__", "torch"), ("rocm", "torch_rocm"), ("hip", "torch_hip"), ("cuda", "torch_cuda")):
        value = values.get(key)
        if isinstance(value, str) and value:
            versions.append(VersionFact(name, value, Evidence("torch", str(path), f"{key} = {value!r}")))
    if "hip" in values and values["hip"] is None:
        settings.append(Setting("torch_without_hip", True, Evidence("torch", str(path), "hip = None")))
    settings.append(Setting("torch_folder", str(folder), Evidence("torch", str(folder), "installed")))
    hsa = folder / "lib" / "libhsa-runtime64.so"
    if hsa.exists():
        settings.append(Setting("torch_bundles_hsa", str(hsa), Evidence("torch", str(hsa), "in the wheel")))


def _extensions(folder: Path, settings: list[Setting]) -> None:
    """Libraries whose presence or absence alone tells something."""
    bnb = folder / "bitsandbytes"
    if bnb.is_dir():
        names = sorted(p.stem.removeprefix("libbitsandbytes_") for p in bnb.glob("libbitsandbytes_*.*"))
        rocm = [n for n in names if n.startswith("rocm")]
        evidence = Evidence("bitsandbytes", str(bnb), f"libraries: {', '.join(names) or 'none'}")
        settings.append(Setting("bnb_libraries", " ".join(rocm), evidence))
    if (folder / "flash_attn").is_dir():
        built = any(folder.glob("flash_attn_2_cuda*.so"))
        text = "flash_attn_2_cuda is there" if built else "no flash_attn_2_cuda library"
        settings.append(Setting("flash_attn_ck", built, Evidence("flash-attn", str(folder), text)))

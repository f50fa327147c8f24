"""torch.utils.collect_env, vLLM's version of it, and device properties as Python prints them."""

from __future__ import annotations

import re

from rocport.doctor.machine import Evidence, Facts, Package, Setting, Sighting, VersionFact
from rocport.doctor.probes.names import gfx_of
from rocport.doctor.text import Line, holds

_KEYS = (
    "PyTorch version",
    "Is debug build",
    "CUDA used to build PyTorch",
    "ROCM used to build PyTorch",
    "OS",
    "GCC version",
    "Clang version",
    "CMake version",
    "Libc version",
    "Python version",
    "Python platform",
    "Is CUDA available",
    "CUDA runtime version",
    "CUDA_MODULE_LOADING set to",
    "GPU models and configuration",
    "Nvidia driver version",
    "cuDNN version",
    "Is XPU available",
    "HIP runtime version",
    "MIOpen runtime version",
    "Is XNNPACK available",
    "Caching allocator config",
    "CPU",
    "Versions of relevant libraries",
    "ROCM Version",
    "vLLM Version",
)
_NEXT = "|".join(re.escape(k) for k in _KEYS)
# the values end at the line's end, or, in a paste that lost its line breaks, at the next key
_VALUE = re.compile(rf"(?:^|(?<=\s))({_NEXT})\s*:[ \t]*(.*?)(?=\s(?:{_NEXT})\s*:|$)", re.MULTILINE)
# Whatever this parser finds stands in a text with one of these.
_LONG_KEYS = tuple(key.lower() for key in _KEYS if len(key) > 3)
_WORDS = (*_LONG_KEYS, "deviceproperties(", "gcnarchname", "'gfx")
_SHORT_KEYS = (r"os\s*:", r"cpu\s*:")
_GPU = re.compile(r"^(?:GPU \d+:\s*)?(.*?)\s*(?:\((gfx[^)\s]*)\))?$")
_PROPS = re.compile(r"DeviceProperties\(name='([^']*)'.*?gcnArchName='([^']*)'")
_ARCH_NAME = re.compile(r"gcnArchName['\"]?\s*[:=]\s*['\"]?(gfx[0-9a-f:+a-z-]+)", re.IGNORECASE)
_ARCH_LIST = re.compile(r"\[((?:\s*'gfx[0-9a-f]+',?)+)\s*\]")


def parse(lines: list[Line], where: str) -> Facts:
    """Versions, the GPU line (its gfx is gcnArchName), allocator configuration, and whether torch saw a GPU."""
    sightings: list[Sighting] = []
    versions: list[VersionFact] = []
    settings: list[Setting] = []
    packages: list[Package] = []
    seen: set[str] = set()
    in_gpus = False
    if not holds(lines, _WORDS, _SHORT_KEYS):
        return Facts()
    for line in lines:
        spot = f"{where}:{line.number}"
        text = line.text
        found = list(_VALUE.finditer(text))
        if in_gpus and not found:
            more = re.match(r"^GPU \d+:\s*(.+?)\s*$", text.strip())
            if more:
                sighting = _gpu(text.strip(), spot)
                if sighting:
                    sightings.append(sighting)
                continue
            in_gpus = bool(text.strip()) and False
        for match in found:
            key, value = match.group(1), match.group(2).strip()
            evidence = Evidence("torch", spot, f"{key}: {value}"[:300])
            if key in seen and key not in ("GPU models and configuration",):
                continue
            if key not in ("OS", "CPU", "ROCM Version"):
                seen.add(key)
            if key == "GPU models and configuration":
                in_gpus = True
                sighting = _gpu(value, spot)
                if sighting:
                    sightings.append(sighting)
            else:
                _fact(key, value, evidence, versions, settings, packages)
        for props in _PROPS.finditer(text):
            gfx, features = gfx_of(props.group(2))
            if gfx:
                shown = f"{props.group(1)} ({props.group(2)})"
                sightings.append(
                    Sighting("torch", Evidence("torch", spot, shown), gfx, None, props.group(1), features=features)
                )
        if "DeviceProperties(" not in text:
            for arch in () if text.startswith("gcnArchName:  ") else _ARCH_NAME.finditer(text):  # hipInfo's line
                gfx, features = gfx_of(arch.group(1))
                if gfx:
                    evidence = Evidence("torch", spot, f"gcnArchName {arch.group(1)}")
                    sightings.append(Sighting("torch", evidence, gfx, features=features))
        compiled = _ARCH_LIST.search(text)
        if compiled:
            names = " ".join(re.findall(r"gfx[0-9a-f]+", compiled.group(1)))
            settings.append(Setting("torch_arch_list", names, Evidence("torch", spot, text.strip()[:300])))
    if not (sightings or "PyTorch version" in seen or settings or versions):
        return Facts()
    probed = {"torch"} if "PyTorch version" in seen or sightings else set()
    return Facts(
        probed=frozenset(probed),
        sightings=tuple(_once(sightings)),
        versions=tuple(versions),
        packages=tuple(packages),
        settings=tuple(settings),
    )


def _once(sightings: list[Sighting]) -> list[Sighting]:
    """One GPU printed twice (properties of one device, then its name) stays one: only a GPU list has several."""
    listed = [s for s in sightings if s.evidence.text.startswith("GPU")]
    if listed:
        return listed
    kept: list[Sighting] = []
    for sighting in sightings:
        if not any(k.gfx == sighting.gfx for k in kept):
            kept.append(sighting)
    return kept


def _gpu(value: str, spot: str) -> Sighting | None:
    match = _GPU.match(value)
    if match is None or not value or value.lower() in ("no cuda", "could not collect", "n/a"):
        return None
    product, arch = match.group(1).strip().removesuffix("NoGCNArchNameOnOldPyTorch"), match.group(2) or ""
    gfx, features = gfx_of(arch)
    if not gfx and re.search(r"nvidia|geforce|tesla|quadro|\bRTX\b|\bGTX\b|intel", product, re.IGNORECASE):
        return None
    if not gfx and not re.search(r"amd|radeon|instinct|\bMI\d", product, re.IGNORECASE):
        return None
    return Sighting("torch", Evidence("torch", spot, f"GPU: {value}"), gfx, None, product, features=features)


def _fact(
    key: str,
    value: str,
    evidence: Evidence,
    versions: list[VersionFact],
    settings: list[Setting],
    packages: list[Package],
) -> None:
    if value in ("", "N/A", "Could not collect", "None"):
        if key == "ROCM used to build PyTorch" and value == "N/A":
            settings.append(Setting("torch_without_hip", True, evidence))
        return
    if key == "PyTorch version":
        versions.append(VersionFact("torch", value, evidence))
        packages.append(Package("torch", value, evidence))
    elif key == "CUDA used to build PyTorch":
        versions.append(VersionFact("torch_cuda", value, evidence))
    elif key == "ROCM used to build PyTorch":
        versions.append(VersionFact("torch_hip", value, evidence))
    elif key == "CUDA runtime version" and value[0].isdigit():
        settings.append(Setting("nvcc", value, evidence))
    elif key == "Nvidia driver version" and value[0].isdigit():
        settings.append(Setting("nvidia_gpu", True, evidence))
    elif key == "HIP runtime version":
        versions.append(VersionFact("hip", value, evidence))
    elif key == "MIOpen runtime version":
        versions.append(VersionFact("miopen", value, evidence))
    elif key == "Clang version":
        match = re.search(r"roc-(\d+\.\d+\.\d+)", value)
        if match:
            versions.append(VersionFact("rocm", match.group(1), evidence))
    elif key == "Python version":
        versions.append(VersionFact("python", value.split()[0], evidence))
    elif key == "Libc version":
        versions.append(VersionFact("glibc", value.removeprefix("glibc-"), evidence))
    elif key == "Is CUDA available":
        settings.append(Setting("torch_sees_gpu", value == "True", evidence))
    elif key == "Caching allocator config":
        settings.append(Setting("allocator_config", value, evidence))
    elif key == "OS":
        settings.append(Setting("os", value, evidence))
        if "Windows" in value:
            settings.append(Setting("windows", True, evidence))
    elif key == "Python platform":
        _platform(value, evidence, versions, settings)


def _platform(value: str, evidence: Evidence, versions: list[VersionFact], settings: list[Setting]) -> None:
    if "microsoft" in value.lower():
        settings.append(Setting("wsl", True, evidence))
    if value.startswith("Windows"):
        settings.append(Setting("windows", True, evidence))
    match = re.match(r"Linux-(\d+\.\d+[\w.+-]*?)-(?:x86_64|aarch64)", value)
    if match:
        versions.append(VersionFact("kernel", match.group(1), evidence))

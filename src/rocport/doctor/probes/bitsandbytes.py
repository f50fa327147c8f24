"""What `python -m bitsandbytes` and an import of it print."""

from __future__ import annotations

import re

from rocport.doctor.machine import Evidence, Facts, Package, Setting, Symptom, VersionFact
from rocport.doctor.text import Line, holds

_BANNER = re.compile(r"^=*\s*bitsandbytes v(\d[\w.+]*)\s*=*$")
_INSTALLED = re.compile(r"\bbitsandbytes[-=]{1,2}(\d+\.\d+[\w.]*)")
_MISSING = re.compile(r"libbitsandbytes_(rocm\d+|cpu|cuda\d+)\.(?:so|dll)")
_RELATED = re.compile(r"^(accelerate|diffusers|numpy|pip|peft|safetensors|transformers|triton|trl): (\S.*)$")
_SYMPTOMS = (
    ("bnb-symbol", re.compile(r"libbitsandbytes_\w+\.so: undefined symbol")),
    (
        "bnb-library-missing",
        re.compile(r"Configured (?:ROCm|CUDA) binary not found at"),
    ),
    ("bnb-library-missing", re.compile(r"Could not find the bitsandbytes (?:ROCm|CUDA) binary at")),
    ("bnb-library-missing", re.compile(r"libbitsandbytes_\w+\.so: cannot open shared object")),
    ("bnb-library-missing", re.compile(r"No compatible ROCm (?:binary|library) found")),
    ("bnb-fallback", re.compile(r"No prebuilt binary for ROCm [\d.]+, loading ROCm")),
    ("bnb-cuda-version", re.compile(r"BNB_CUDA_VERSION=\S* detected for ROCm")),
    ("bnb-no-gpu", re.compile(r"No CUDA, ROCm, or XPU detected")),
    ("bnb-no-rocminfo", re.compile(r"Could not detect ROCm (?:GPU architecture|warp size)")),
    ("bnb-no-code", re.compile(r"Error invalid device function at line \d+ in file .*ops\.(?:hip|cu)")),
    ("bnb-blocksize", re.compile(r"blocksize must be one of|Blockwise quantization only supports .*blocksizes")),
)

_WORDS = (
    *("bitsandbytes", "binary", "BNB_CUDA_VERSION", "No CUDA, ROCm, or XPU", "Could not detect ROCm", "ROCM_VERSION"),
    *("No compatible ROCm", "Error invalid device function", "locksize"),
)
"""One of them is in every line that something is read from, or that what follows it is read after."""


def parse(lines: list[Line], where: str) -> Facts:
    """The version banner, torch's and HIP's version, the library it wanted, and its known error messages."""
    if not holds(lines, _WORDS):
        return Facts()
    versions: list[VersionFact] = []
    settings: list[Setting] = []
    packages: list[Package] = []
    symptoms: list[Symptom] = []
    banner = False
    for line in lines:
        text = line.stripped
        evidence = Evidence("bitsandbytes", f"{where}:{line.number}", text[:300])
        match = _BANNER.match(text)
        if match:
            banner = True
            versions.append(VersionFact("bitsandbytes", match.group(1), evidence))
            packages.append(Package("bitsandbytes", match.group(1), evidence))
            continue
        if banner:
            _banner_line(text, evidence, versions, packages)
            if text.startswith("Platform: Windows"):
                settings.append(Setting("windows", True, evidence))
        installed = _INSTALLED.search(text)
        if installed and "not found" not in text and not banner:
            versions.append(VersionFact("bitsandbytes", installed.group(1).rstrip("."), evidence))
            packages.append(Package("bitsandbytes", installed.group(1).rstrip("."), evidence))
        for name, pattern in _SYMPTOMS:
            if pattern.search(text):
                symptoms.append(Symptom(name, evidence))
                wanted = _MISSING.search(text)
                if wanted and wanted.group(1).startswith("rocm"):
                    settings.append(Setting("bnb_wanted_library", wanted.group(1), evidence))
                break
        setting = re.search(r"PyTorch settings found: ROCM_VERSION=(\d+)", text)
        if setting:
            settings.append(Setting("bnb_rocm_digits", setting.group(1), evidence))
        if text == "SUCCESS!" and banner:
            settings.append(Setting("bnb_works", True, evidence))
    if not (versions or symptoms or settings):
        return Facts()
    return Facts(
        probed=frozenset({"bitsandbytes"} if banner or symptoms or settings else ()),
        versions=tuple(versions),
        packages=tuple(packages),
        settings=tuple(settings),
        symptoms=tuple(symptoms),
    )


def _banner_line(text: str, evidence: Evidence, versions: list[VersionFact], packages: list[Package]) -> None:
    match = re.match(r"^(PyTorch|HIP|Python|libc|CUDA): (\S+)$", text)
    if match and match.group(2) != "N/A":
        key, value = match.groups()
        name = {"PyTorch": "torch", "HIP": "torch_hip", "Python": "python", "libc": "glibc", "CUDA": "torch_cuda"}[key]
        versions.append(VersionFact(name, value.removeprefix("glibc-"), evidence))
        if name == "torch":
            packages.append(Package("torch", value, evidence))
    related = _RELATED.match(text)
    if related and related.group(2) != "not found":
        packages.append(Package(related.group(1), related.group(2), evidence))
    platform = re.match(r"^Platform: Linux-(\d+\.\d+[\w.+-]*?)-(?:x86_64|aarch64)", text)
    if platform:
        versions.append(VersionFact("kernel", platform.group(1), evidence))

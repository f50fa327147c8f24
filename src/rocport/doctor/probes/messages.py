"""Messages in captured text that name a condition of the machine: rocminfo's, the kernel log's, torch's, RCCL's."""

from __future__ import annotations

import re

from rocport.doctor.machine import Evidence, Facts, Setting, Symptom, VersionFact
from rocport.doctor.text import Line

# name, pattern; the names are the checks' keys
_SYMPTOMS = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("module-not-loaded", r"ROCk module is NOT loaded"),
        ("module-not-loaded", r"Driver not initialized \(amdgpu not found in modules\)"),
        ("module-not-live", r"ROCk module is NOT live"),
        ("kfd-permission", r"Unable to open /dev/kfd read-write: Permission denied"),
        ("kfd-permission", r"/dev/kfd:? Permission denied|Permission denied: ['\"]?/dev/kfd"),
        ("kfd-invalid", r"Unable to open /dev/kfd read-write: Invalid argument"),
        ("kfd-memory", r"Unable to open /dev/kfd read-write: Cannot allocate memory"),
        ("kfd-missing", r"Unable to open /dev/kfd read-write: No such file"),
        ("kfd-missing", r"/dev/kfd['\"]?:? No such file or directory"),
        ("not-in-group", r"is not member of \"?(?:render|video)\"? group"),
        ("no-user-name", r"Failed to get user name to check for (?:render|video) group"),
        ("kfd-unsupported", r"kfd kfd: amdgpu: \S.* not supported in kfd"),
        ("pcie-atomics", r"PCI rejects atomics|PCIe atomic ops? (?:is|are) not supported"),
        ("key-rejected", r"could not insert '?amdgpu'?: Key was rejected|Loading of unsigned module is rejected"),
        ("mes-hang", r"MES failed to respond to msg=|MES might be in unrecoverable state"),
        ("memory-fault", r"Memory access fault by GPU node-\d+"),
        ("gpu-reset", r"amdgpu.*GPU reset begin|HW Exception by GPU node-\d+"),
        (
            "invalid-device-function",
            r"hip ?error:? invalid device function|hipErrorNoBinaryForGpu",
        ),
        ("no-hip-device", r"hipErrorNoDevice|No HIP GPUs are available|no ROCm-capable device is detected"),
        ("tensile-missing", r"Cannot read \S*TensileLibrary\S*: .* for GPU arch"),
        ("hipblaslt-arch", r"Attempting to use hipBLASLt on an? unsupported architecture! ?(?!Overriding)$"),
        ("hipblaslt-warning", r"Attempting to use hipBLASLt on an? unsupported architecture! Overriding"),
        ("torch-not-cuda", r"Torch not compiled with CUDA enabled"),
        ("smi-error", r"AMDSMI_STATUS_FILE_ERROR"),
        ("triton-target", r"unsupported target: '?gfx"),
        ("allocator-too-small", r"max_split_size_mb too small"),
        ("expandable-unsupported", r"expandable_segments not supported on this platform"),
        ("visible-inconsistent", r"Inconsistant values found\. Please use either HIP_VISIBLE_DEVICES"),
        ("visible-stacked", r"HIP_VISIBLE_DEVICES contains more devices than ROCR_VISIBLE_DEVICES"),
        ("iommu-missing", r"Missing \"?iommu=pt\"? from kernel command line"),
        ("numa-balancing", r"NUMA auto balancing enabled which can lead to variability"),
        ("flash-attn-missing", r"No module named 'flash_attn_2_cuda'"),
        ("hip-oom", r"HIP out of memory\."),
        (
            "system-library",
            r"ImportError: /opt/rocm[^:]*/lib/\S+: undefined symbol|Could not load /opt/rocm\S*/lib/rocblas",
        ),
        ("sysdeps-missing", r"librocm_sysdeps_\S+: cannot open shared object"),
        ("cc-missing", r"Failed to find C compiler\. Please specify via CC"),
        ("vllm-unspecified", r"vLLM is running on UnspecifiedPlatform|No platform detected, vLLM"),
        ("shm-bus-error", r"DataLoader worker .* is killed by signal: Bus error"),
        ("miopen-header", r"fatal error: '(?:limits|cmath|type_traits)' file not found"),
    )
)
_WSL = re.compile(r"WSL environment detected|microsoft-standard-WSL2|/dev/dxg\b|librocdxg", re.IGNORECASE)
# collect_env, bitsandbytes and nvidia-smi on a machine where an NVIDIA GPU works
_NVIDIA = re.compile(
    r"GPU models and configuration:.*(?:NVIDIA|GeForce|Tesla|Quadro)|Highest Compute Capability: \(|NVIDIA-SMI \d",
    re.IGNORECASE,
)
_UNAME = re.compile(r"^Linux \S+ (\d+\.\d+[\w.+-]*) #\d+")
# ls -l /dev/kfd with rights for owner and group only, and id
_KFD_LISTED = re.compile(r"^crw-rw----\+?\s+\d+\s+root\s+(\S+)\s.*/dev/kfd$")
_ID = re.compile(r"^uid=\d+\([^)]*\) gid=\S+ groups=(\S.*)$")
_CMDLINE = re.compile(r"BOOT_IMAGE=\S+.*")
_ROCM_FIELD = re.compile(
    r"^(?:#+\s*)?(?:\*\*)?ROCm (?:version|Version|core)(?:\*\*)?\s*[:=]\s*(?:ROCm )?v?(\d+\.\d+(?:\.\d+)?)\b"
)
_ROCM_PACKAGE = re.compile(r"^(?:ii\s+)?rocm-core(?:/\S+)?\s+(\d+\.\d+\.\d+)\.\d{5}")
_ROCM_HEADING = re.compile(r"^(?:#+\s*)(?:ROCm Version|ROCM version)\s*$", re.IGNORECASE)
_ROCM_ANSWER = re.compile(r"^(?:ROCm\s*)?v?(\d+\.\d+(?:\.\d+)?)$", re.IGNORECASE)


MUTE = 20_000
"""Different lines of which nothing was learnt that are remembered."""


def parse(lines: list[Line], where: str) -> Facts:
    """Symptoms, WSL, kernel version and command line, and a ROCm version that is written out as such."""
    symptoms: list[Symptom] = []
    settings: list[Setting] = []
    versions: list[VersionFact] = []
    counted: set[str] = set()
    heading = False
    mute: set[str] = set()  # lines of which nothing was learnt: logs repeat themselves
    for line in lines:
        text = line.stripped
        if not text or (text in mute and not heading):
            continue
        learnt = (len(counted), len(settings), len(versions), heading)
        evidence = Evidence("log", f"{where}:{line.number}", text[:300])
        for name, pattern in _SYMPTOMS:
            if pattern.search(text) and name not in counted:
                counted.add(name)
                symptoms.append(Symptom(name, evidence))
        if "wsl" not in counted and _WSL.search(text) and not text.startswith("#"):
            counted.add("wsl")
            settings.append(Setting("wsl", True, evidence))
        if "nvidia" not in counted and _NVIDIA.search(text):
            counted.add("nvidia")
            settings.append(Setting("nvidia_gpu", True, evidence))
        match = _UNAME.match(text)
        if match:
            versions.append(VersionFact("kernel", match.group(1), evidence))
        match = _KFD_LISTED.search(text)
        if match:
            settings.append(Setting("kfd_group", match.group(1), evidence))
        match = _ID.match(text)
        if match:
            settings.append(Setting("user_groups", " ".join(re.findall(r"\(([^)]*)\)", match.group(1))), evidence))
        match = _CMDLINE.search(text)
        if match:
            settings.append(Setting("cmdline", match.group(), evidence))
        match = _ROCM_FIELD.match(text) or _ROCM_PACKAGE.match(text)
        if match is None and heading:
            match = _ROCM_ANSWER.match(text)
        heading = bool(_ROCM_HEADING.match(text))
        if match:
            versions.append(VersionFact("rocm", match.group(1), evidence))
        override = re.search(r"HSA_OVERRIDE_GFX_VERSION[=: ]+\"?(\d+\.\d+\.\d+)", text)
        if override and "override" not in counted:
            counted.add("override")
            settings.append(Setting("override_mentioned", override.group(1), evidence))
        if (len(counted), len(settings), len(versions), heading) == learnt and len(mute) < MUTE:
            mute.add(text)
    return Facts(symptoms=tuple(symptoms), settings=tuple(settings), versions=tuple(versions))

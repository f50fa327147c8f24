"""Environment variables that change what ROCm, HIP, torch, Triton, MIOpen, RCCL and bitsandbytes do."""

from __future__ import annotations

import re

from rocport.doctor.host import Host
from rocport.doctor.machine import Evidence, Facts, Setting
from rocport.doctor.text import Line

_WATCHED = re.compile(
    r"^(?:HSA_|HIP_|HCC_|ROCR_|ROCM_|ROC_|AMD_|GPU_|CUDA_VISIBLE_DEVICES$|CUDA_LAUNCH_BLOCKING$|CUDA_HOME$|CUDA_PATH$|"
    r"PYTORCH_|TORCH|TRITON_|AITER_|FLASH_ATTENTION_|MIOPEN_|NCCL_|RCCL_|BNB_|ROCBLAS_|HIPBLASLT_|TENSILE_|DISABLE_ADDMM|"
    r"RAY_|COMFYUI_ENABLE_MIOPEN$|LD_LIBRARY_PATH$|GPU_ARCHS$|LOCAL_RANK$|MIOPEN)"
)
_LINE = re.compile(
    r"^(?:\$ |> |# )?(?:export\s+|set\s+|ENV\s+|-e\s+|declare -x\s+|\$env:|Environment=)?[\"']?"
    r"([A-Z][A-Z0-9_]{2,60})[ \t]*=[ \t]*"
    r"(\"[^\"]*\"|'[^']*'|\S*)"
)
_INLINE = re.compile(r"\b((?:HSA_OVERRIDE_GFX_VERSION|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES)[\w]*)=(\S+)")
_ALLOCATOR = re.compile(r"\b(PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF)=(\S+)")


def watched(name: str) -> bool:
    """True for a variable that a check asks for."""
    return _WATCHED.match(name) is not None


def parse(lines: list[Line], where: str) -> Facts:
    """`NAME=value` lines of an `env` dump or a script, for the names that matter."""
    found: dict[str, Setting] = {}
    for line in lines:
        text = line.stripped
        if "=" not in text:
            continue
        matches = []
        match = _LINE.match(text)
        if match:
            matches.append(match)
        matches += list(_INLINE.finditer(text)) + list(_ALLOCATOR.finditer(text))
        for match in matches:
            name, value = match.group(1), match.group(2).strip("\"';")
            if watched(name) and (value or "VISIBLE_DEVICES" in name):
                evidence = Evidence("env", f"{where}:{line.number}", f"{name}={value}")
                found[name] = Setting(name, value, evidence)
    return Facts(probed=frozenset({"env"}) if found else frozenset(), env=tuple(found.values()))


def probe(host: Host) -> Facts:
    """The watched variables of the process. Sets `probed` to env: what is not there is not set."""
    env = tuple(
        Setting(name, value, Evidence("env", "environment", f"{name}={value}"))
        for name, value in sorted(host.env.items())
        if watched(name)
    )
    return Facts(probed=frozenset({"env", "env-complete"}), env=env)

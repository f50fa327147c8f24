"""Whose GPU a paste is about: evidence for AMD, for NVIDIA, or none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocport.explain.text import clean

AMD = "amd"
NVIDIA = "nvidia"
UNKNOWN = "unknown"

# A GPU of AMD, or software that runs on nothing else. A CUDA build on an AMD machine is the commonest mistake there is,
# so one such line outweighs any number of the other vendor's names.
_AMD = re.compile(
    r"\bgfx(?:[6-9]|1[0-2])[0-9a-f]{2,3}\b|\bRadeon\b|\bInstinct\b|\bMI(?:\d{2}|\d{3}[AX]?)\b|\bRX ?[4-9]\d{2,3}0\b"
    r"|\b(?:[5-9]\d00|90[67]0) ?XTX?\b|\bVega ?(?:\d{2}|VII|FE)\b|Strix Halo|Ryzen AI|\bMI\d{3}[AX]?\b"
    r"|rocm|\bamdgpu\b|\bhip(?:cc|blas|sparse|fft|rtc|Error|Malloc|Get|Ipc|Launch|Init|Module|_)|\bHIP\b|\bHSA_"
    r"|\bhsa[ _]|\bkfd\b|miopen|rocblas|rccl|amdsmi|amd-smi|\baiter\b|zluda|composable_kernel|ck_tile|migraphx|amdgcn"
    r"|hsaco|\bROCR?_|directml|\bAMD GPU",
    re.IGNORECASE,
)
_NOT_AMD = re.compile(r"\bAMD64\b|hsa256", re.IGNORECASE)

# An NVIDIA GPU at work, or its compiler.
_NVIDIA = re.compile(
    r"NVIDIA (?:GeForce|RTX|GTX|Tesla|Quadro|TITAN|A\d{2,3}|H\d{3}|B\d{3}|L\d|GB?\d)|\bGeForce\b|\b[RG]TX ?-?\d{3,4}"
    r"|NVIDIA-SMI \d|nvidia-smi detects|CUDA capability sm_\d|\bsm_\d{2,3}\b|compute_\d{2,3}\b"
    r"|CUDA kernel errors might be asynchronously reported|TORCH_USE_CUDA_DSA|Automatically detected platform cuda"
    r"|NVRM:|\bXid\b.{0,40}\bNV|libbitsandbytes_cuda\d|\b(?:V100|A100|H100|H200|B200|L40S?|T4|P100|K80)\b"
    r"|Auto Selected CUDA Backend|\bCUDA:? ?v?1[0-9]\.\d|Using CUDA device|cuda compute capability \d",
)
# A CUDA build of something: on an AMD machine a mistake, on an NVIDIA machine as it should be.
_CUDA_BUILD = re.compile(
    r"\+cu1\d\d\b|nvidia-[a-z]+-cu1[123]\b|\bnvcc\b|libcud(?:a|nn|art)|\bcudnn\b|libcublas|cublas(?:Lt)?64_\d"
    r"|CUDA driver version is insufficient|Torch not compiled with CUDA",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Vendor:
    """`name` is amd, nvidia or unknown; `line` and `text` the evidence (line 0: none). `cuda_build` is True when a CUDA
    build is named and no GPU of any vendor is."""

    name: str
    line: int = 0
    text: str = ""
    cuda_build: bool = False


def vendor_of(text: str) -> Vendor:
    """The vendor a paste speaks of. Any evidence of AMD wins; without it, any of NVIDIA."""
    cleaned = clean(text)
    found = _first(_AMD, _NOT_AMD.sub("", cleaned))
    if found is not None:
        return Vendor(AMD, *found)
    found = _first(_NVIDIA, cleaned)
    if found is not None:
        return Vendor(NVIDIA, *found)
    found = _first(_CUDA_BUILD, cleaned)
    if found is not None:
        return Vendor(UNKNOWN, *found, cuda_build=True)
    return Vendor(UNKNOWN)


def _first(pattern: re.Pattern[str], text: str) -> tuple[int, str] | None:
    """Line number and line of the first match."""
    match = pattern.search(text)
    if match is None:
        return None
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = " ".join(text[max(start, match.start() - 100) : end if end >= 0 else len(text)].split())
    return text.count("\n", 0, match.start()) + 1, line[:160]

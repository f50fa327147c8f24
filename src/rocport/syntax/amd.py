"""Whose is it? One answer to "is this branch, this file, this name AMD's already?" for every reader."""

from __future__ import annotations

import re

# A word of AMD's platform: `is_rocm`, `HIP_HOME`, `torch.version.hip`, `"gfx942"`; not `chip` or `relationship`.
_WORD = re.compile(r"(?i)(?:^|[^a-z])(?:is_?)?(?:hip(?:ify|cc|blas\w*|_\w*)?|rocm\w*|amd\w*|gfx\w*)(?:[^a-z]|$)")
_PATH = re.compile(r"(?i)(?:^|[/._-])(?:hip|rocm|amd)[^/]*(?:$|/)")
_MACRO = re.compile(rb"_*(?:\w*_)?(?:HIP|ROCM|HIPCC|AMDGCN|AMDGPU|AMD)(?:_\w*|CC)?_*")


def names_amd(text: str) -> bool:
    """True when a name, string, line or condition speaks of ROCm, HIP or AMD: `ENABLE_HIP`, `torch.version.hip`."""
    return _WORD.search(text) is not None


def is_amd_path(path: str) -> bool:
    """True for files that are AMD's already: `requirements-rocm.txt`, `Dockerfile.rocm`, `csrc/hip/...`."""
    return _PATH.search(path) is not None


def is_amd_macro(name: bytes) -> bool:
    """True for a macro a conditional asks for AMD by: `__HIP__`, `USE_ROCM`, `WITH_HIP`, `CUTLASS_ENABLE_AMD`."""
    return _MACRO.fullmatch(name) is not None

"""Whose is it? One answer to "is this branch, this file, this name AMD's already?" for every reader."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

_CUDAS, _AMDS = ("cuda", "nvidia"), ("hip", "rocm", "amd", "amdgpu")
# A word of AMD's platform: `is_rocm`, `HIP_HOME`, `torch.version.hip`, `"gfx942"`; not `chip` or `relationship`, nor
# the processor of `linux/amd64`, which Python's platform module calls AMD64.
_WORD = re.compile(r"(?i)(?:^|[^a-z])(?:is_?)?(?:hip(?:ify|cc|blas\w*|_\w*)?|rocm\w*|amd(?!64)\w*|gfx\w*)(?:[^a-z]|$)")
_PATH = re.compile(r"(?i)(?:^|[/._-])(?:hip|rocm|amd)[^/]*(?:$|/)")
_OF_AMD = re.compile(r"(?i)[._-](?:hip|rocm|amd)[\d.]*(?=[._-]|\Z)")
_RECIPE = re.compile(r"(?i)(?:docker|container|requirements|environment|constraints|conda|compose)")
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


def twins(name: str) -> set[str]:
    """The names that AMD's twin of what is named so can have: `USE_HIP` of `USE_CUDA`, `build-rocm` of `build-cuda`."""
    return {
        name.replace(case(cuda), case(amd))
        for case in (str.lower, str.upper, str.capitalize)
        for cuda in _CUDAS
        if case(cuda) in name
        for amd in _AMDS
    }


def ported_sides(files: Iterable[str]) -> Mapping[str, str]:
    """Folders (with `/`) and files of CUDA's that have a twin for AMD beside them, and the twin: `lib/targets/cuda/`
    beside `lib/targets/hip/`, `CUDAStream.cu` beside `HIPStream.cpp`, `Dockerfile` beside `Dockerfile.rocm`. One that
    somebody has begun is none: a folder that holds less than half of what CUDA's does."""
    paths = dict.fromkeys(sorted(files))
    for path in list(paths):
        paths |= {path[:at]: None for at, letter in enumerate(path, start=1) if letter == "/"}
    sizes = Counter(path.rstrip("/").rpartition("/")[0] + "/" for path in paths)
    beside = {(folder, stem.lower()): path for path in paths for folder, stem in _named(path)}
    found: dict[str, str] = {}
    for path in paths:
        names = ((folder, twin.lower()) for folder, stem in _named(path) for twin in sorted(twins(stem)))
        twin = next((beside[name] for name in names if name in beside), None)
        if twin is not None and sizes[path] <= 2 * sizes[twin]:
            found[path] = twin
    for path in paths:
        folder, slash, name = path.rpartition("/")
        plain = folder + slash + _OF_AMD.sub("", name)
        if plain != path and plain in paths and _RECIPE.match(name):
            found.setdefault(plain, path)
    return found


def _named(path: str) -> Iterator[tuple[str, str]]:
    """Where a folder or a file lies, and its name: a file's with and without its suffix."""
    folder, _, name = path.rstrip("/").rpartition("/")
    if path.endswith("/"):
        yield folder, name + "/"
        return
    yield folder, name
    if stem := name.rpartition(".")[0]:
        yield folder, stem


def ported_side(path: str, sides: Mapping[str, str]) -> tuple[str, str] | None:
    """The outermost of the sides that a file belongs to, and its twin for AMD."""
    ends = [at for at, letter in enumerate(path, start=1) if letter == "/"]
    return next(((side, sides[side]) for side in (*(path[:end] for end in ends), path) if side in sides), None)

"""What stands for nvcc's flags when clang compiles HIP.

Every flag was tried with clang 19 and HIP 6.4 headers: what is here is refused there (`unknown argument`, or its value
is taken for an input file), what is not here is taken or only warned about. `--use_fast_math` promises less than
clang's `-ffast-math` (nvcc keeps infinities and NaN), so it becomes the three flags that say the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocport.facts.lookup import counterpart

_DROPPED = re.compile(
    r"-{1,2}(?:expt-relaxed-constexpr|expt-extended-lambda|extended-lambda|res-usage|resource-usage|keep|source-in-ptx"
    r"|forward-unknown-to-host-compiler|forward-unknown-to-host-linker|allow-unsupported-compiler|compress-all"
    r"|generate-line-info|lineinfo|restrict|static-global-template-stub=\w+|relocatable-device-code=false|rdc=false|ftz=false"
    r"|prec-div=true|prec-sqrt=true|default-stream=(?:legacy|null))"
    r"|arch=(?:compute|sm)_.*|code=(?:compute|sm)_.*|-t\d+"
)
# The value follows behind `=` or as the next word.
_VALUED = re.compile(
    r"-{1,2}(?:gencode|generate-code|threads|Xptxas|ptxas-options|maxrregcount|Xfatbin|fatbin-options|Xnvlink"
    r"|nvlink-options|Xcudafe|ccbin|compiler-bindir|cudart|diag-suppress|diag_suppress|diag-error|split-compile"
    r"|gpu-architecture|gpu-code|compress-mode)(?P<value>=.*)?|-t(?P<threads>=.*)?|--Werror"
)
# `-arch arm64` is Apple's.
_ARCH = re.compile(r"-(?:arch|code)(?:=(?:sm_|compute_|native|all|\{|\$[({]).*)?")
_CUDA_TARGET = re.compile(r"(?:sm|compute)_.*|native|all(?:-major)?|\{.*|\$[({].*")
_HOST = re.compile(r"(?:-Xcompiler|--compiler-options)(?:=(?P<value>.*))?")
# Values of their own, behind `=` or as the next word.
_SWITCHES = frozenset({"relocatable-device-code", "rdc", "fmad", "ftz", "prec-div", "prec-sqrt", "default-stream"})
_CMAKE = re.compile(r"(?:.*/)?cmake|\$[({]CMAKE(?:_COMMAND)?[)}]")
_HALF = re.compile(r"-U\s?__CUDA_NO_HALF2?_(?:OPERATORS|CONVERSIONS)__")

FAST_MATH = (
    "-fgpu-flush-denormals-to-zero",
    "-fgpu-approx-transcendentals",
    "-fno-hip-fp32-correctly-rounded-divide-sqrt",
)
_REPLACED = {
    "use_fast_math": FAST_MATH,
    "disable-warnings": ("-w",),
    "device-debug": ("-g",),
    # `clang -dc` compiles and links: it takes no notice of the flag.
    "pre-include": ("-include",),
    "dc": ("-fgpu-rdc", "-c"),
    "device-c": ("-fgpu-rdc", "-c"),
    "rdc=true": ("-fgpu-rdc",),
    "relocatable-device-code=true": ("-fgpu-rdc",),
    "default-stream=per-thread": ("-fgpu-default-stream=per-thread",),
    "DCUDA_API_PER_THREAD_DEFAULT_STREAM": ("-fgpu-default-stream=per-thread",),
    "DCUDA_API_PER_THREAD_DEFAULT_STREAM=1": ("-fgpu-default-stream=per-thread",),
    "ftz=true": ("-fgpu-flush-denormals-to-zero",),
    "fmad=true": ("-ffp-contract=fast",),
    "fmad=false": ("-ffp-contract=off",),
    "prec-div=false": ("-fno-hip-fp32-correctly-rounded-divide-sqrt",),
    "prec-sqrt=false": ("-fno-hip-fp32-correctly-rounded-divide-sqrt",),
}


def hip_flags(words: Sequence[str]) -> list[tuple[str, ...] | None] | None:
    """What each word of a command line becomes on ROCm: None keeps it, a tuple stands for it.

    `{}` in a word is text that is not known. The whole is None where a flag's value is not among the words.
    """
    found: list[tuple[str, ...] | None] = []
    at = 0
    while at < len(words):
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else None
        here, taken = _one(word, following)
        if word == "-G" and not any(_CMAKE.fullmatch(before) for before in words[:at]):
            here = ("-g",)
        if taken and following is None:
            return None
        found.append(here)
        if taken:
            found.append(_hosted(following) if here is not None and _HOST.fullmatch(word) else ())
        at += 2 if taken else 1
    return found


def takes_value(word: str) -> bool:
    """True for a flag whose value is the next word."""
    return _one(word, None)[1]


def _one(word: str, following: str | None) -> tuple[tuple[str, ...] | None, bool]:
    """(what a word becomes, whether it takes the next one with it)."""
    bare = word.lstrip("-")
    dashes = len(word) - len(bare)
    if dashes in (1, 2) and bare in _REPLACED:
        return _REPLACED[bare], False
    if dashes in (1, 2) and bare in _SWITCHES:
        return _REPLACED.get(f"{bare}={following}", ()), True
    host = _HOST.fullmatch(word)
    if host:
        return (tuple(host["value"].split(",")), False) if host["value"] is not None else ((), True)
    if _DROPPED.fullmatch(word):
        return (), False
    valued = _VALUED.fullmatch(word)
    if valued:
        return (), valued["value"] is None and valued["threads"] is None
    if _ARCH.fullmatch(word):
        if "=" in word:
            return (), False
        return ((), True) if following is None or _CUDA_TARGET.fullmatch(following) else (None, False)
    if _HALF.fullmatch(word):
        return (word.replace("__CUDA_NO_", "__HIP_NO_"),), False
    return None, False


def _hosted(value: str | None) -> tuple[str, ...] | None:
    """What `-Xcompiler VALUE` passes on: several flags may stand in one value, apart by commas."""
    return tuple(value.split(",")) if value and "," in value and not value.startswith("-Wl,") else None


def hip_library(word: str) -> str | None:
    """The library of ROCm for one of CUDA's, spelled as asked (`cublas`, `-lcublas`): empty for none; None: keep it."""
    prefix = "-l" if word.startswith("-l") else ""
    row = counterpart("link", word.removeprefix("-l"))
    if row is None:
        return None
    return prefix + row.hip if row.hip else ""

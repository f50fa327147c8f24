"""PyTorch's CUDA headers have another path in a ROCm wheel: `ATen/hip/HIPContext.h` for `ATen/cuda/CUDAContext.h`.

`BuildExtension` runs torch's hipify over the sources of an extension and rewrites these includes; a CMake build, or a
compiler called by hand, does not, and a ROCm wheel has no `ATen/cuda`. The port asks which header is there. The names
stay CUDA's: since torch 2.11 ROCm builds declare them (pytorch#174087), and before that hipify rewrites them in an
extension's sources; the wrappers it then names (`...MasqueradingAsCUDA`) are included where they exist.

Right with and without hipify, and on a CUDA build, where the second branch is the original line.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import include_names

_FOLDERS = {"ATen/cuda/": "ATen/hip/", "ATen/native/cuda/": "ATen/native/hip/", "c10/cuda/": "c10/hip/"}
# The header of the wrapper classes that hipify names for torch before 2.11.
_WRAPPERS = {
    "ATen/cuda/CUDAContext.h": "ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h",
    "c10/cuda/CUDAStream.h": "ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h",
    "c10/cuda/CUDAGuard.h": "ATen/hip/impl/HIPGuardImplMasqueradingAsCUDA.h",
    "c10/cuda/CUDACachingAllocator.h": "ATen/hip/impl/HIPCachingAllocatorMasqueradingAsCUDA.h",
}

RULE = Rule(
    name="torch-header",
    summary="PyTorch header that a ROCm wheel has under another path",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"ATen", b"c10"}),
    examples=(
        Example(
            "#include <ATen/cuda/CUDAEvent.h>\n",
            contains=(
                "#if __has_include(<ATen/hip/HIPEvent.h>)\n#include <ATen/hip/HIPEvent.h>\n"
                "#else\n#include <ATen/cuda/CUDAEvent.h>\n#endif\n",
            ),
        ),
        Example("#include <c10/cuda/CUDAGuard.h>\n", contains=("HIPGuardImplMasqueradingAsCUDA.h",)),
    ),
    clean=(
        "#include <ATen/ATen.h>\n",
        "#include <c10/util/Half.h>\n",
        "#if __has_include(<c10/hip/HIPStream.h>)\n#else\n#include <c10/cuda/CUDAStream.h>\n#endif\n",
    ),
    sources=("torch.utils.hipify of PyTorch 2.13", "https://github.com/pytorch/pytorch/pull/174087"),
)


def rocm_path(name: str) -> str | None:
    """Path of the header in a ROCm wheel; None for a header that is not PyTorch's CUDA side."""
    for folder, renamed in _FOLDERS.items():
        if name.startswith(folder):
            rest = name[len(folder) :]
            base = posixpath.basename(rest).replace("CUDA", "HIP").replace("cuda", "hip")
            return renamed + posixpath.join(posixpath.dirname(rest), base)
    return None


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not any(rocm_path(name) for name in include_names(source.data)):
        return
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        renamed = rocm_path(found[0]) if found else None
        if found is None or renamed is None or is_project_file(found[0], source, context):
            continue
        name, _, end = found
        if f"__has_include(<{renamed}>)".encode() in source.data:
            continue
        yield finding(
            RULE,
            source,
            directive.first,
            f"<{name}> is <{renamed}> in a ROCm wheel of PyTorch; the port includes the one that is there",
            last=directive.last - 1,
            edits=[Edit(Span(directive.start, end), _block(name, renamed, source.newline))],
            routine=True,
        )


def _block(name: str, renamed: str, newline: bytes) -> bytes:
    lines = [f"#if __has_include(<{renamed}>)", f"#include <{renamed}>"]
    wrapper = _WRAPPERS.get(name)
    if wrapper is not None:
        lines += [f"#if __has_include(<{wrapper}>)", f"#include <{wrapper}>", "#endif"]
    lines += ["#else", f"#include <{name}>", "#endif"]
    return newline.join(line.encode() for line in lines)

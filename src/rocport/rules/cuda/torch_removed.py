"""PyTorch 1.11 removed `THC/` and `TH/`; extensions written before include `THC/THCAtomics.cuh` and the like.
No PyTorch for a ROCm that is still maintained has them, so the extension is lost for a header of which it mostly uses
`atomicAdd`. The port includes what took their place: `ATen/cuda/Atomic.cuh`, `ATen/cuda/DeviceUtils.cuh`,
`ATen/cuda/ThrustAllocator.h`, and for `THC/THC.h` a header of its own with `THCudaMalloc`, `THCudaCheck`, `THCCeilDiv`
and others over today's PyTorch. `AT_CHECK` became `TORCH_CHECK`, `C10_UNUSED_DISPATCH_CUDA_WORKAROUND` is C++17's
`[[maybe_unused]]`, and `lazyInitCUDA()` no longer returns a state.

Right with PyTorch 1.13 and later. A PyTorch that has the old header still takes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, replace, replace_range
from rocport.rules.cuda.include_header import is_project_file, spelled
from rocport.syntax.cuda import CudaSource

_OURS = "rocport_thc.h"
# What stands for a removed header: headers of today's PyTorch as a ROCm wheel and a CUDA wheel have them, or ours.
_HEADERS: dict[str, tuple[str, ...]] = {
    "THC/THCAtomics.cuh": ("ATen/hip/Atomic.cuh", "ATen/cuda/Atomic.cuh"),
    "THC/THCDeviceUtils.cuh": ("ATen/hip/DeviceUtils.cuh", "ATen/cuda/DeviceUtils.cuh"),
    "THC/THCNumerics.cuh": ("ATen/hip/NumericLimits.cuh", "ATen/cuda/NumericLimits.cuh"),
    "THC/THCThrustAllocator.cuh": ("ATen/hip/ThrustAllocator.h", "ATen/cuda/ThrustAllocator.h"),
    "THC/THC.h": (),
    "THC/THCGeneral.h": (),
    "THC/THCGeneral.hpp": (),
    "THC/THCBlas.h": (),
    "TH/TH.h": (),
}
# What rocport_thc.h has, and older PyTorch's ATen/cuda headers brought along with THC.h.
_BROUGHT = frozenset({b"THCudaCheck", b"THCudaMalloc", b"THCudaFree", b"THCCeilDiv", b"THCState_getCurrentStream"})
# Name -> what stands for it, the release it went with, the oldest that has the new one.
_NAMES = {
    b"AT_CHECK": (b"TORCH_CHECK", "1.2", "torch >= 1.5"),
    b"C10_UNUSED_DISPATCH_CUDA_WORKAROUND": (b"[[maybe_unused]]", "2.0", "torch >= 1.5"),
}

RULE = Rule(
    name="torch-removed",
    summary="header or name that PyTorch has removed",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"THC", b"TH", b"lazyInitCUDA", *_NAMES, *_BROUGHT}),
    examples=(
        Example("#include <THC/THCGenerateFloatTypes.h>\n", contains=("#include <THC/THCGenerateFloatTypes.h>",)),
        Example(
            "#include <THC/THCAtomics.cuh>\n",
            contains=(
                "#if __has_include(<THC/THCAtomics.cuh>)\n#include <THC/THCAtomics.cuh>\n"
                "#elif __has_include(<ATen/hip/Atomic.cuh>)\n#include <ATen/hip/Atomic.cuh>\n"
                "#else\n#include <ATen/cuda/Atomic.cuh>\n#endif\n",
            ),
        ),
        Example(
            "#include <THC/THC.h>\nextern THCState *state;\nvoid *f(int n) { return THCudaMalloc(state, n); }\n",
            contains=('#include "rocport_thc.h"', "THCudaMalloc(state, n)"),
            absent=("#include <THC/THC.h>",),
        ),
        Example(
            "#define CASE(T, x) { using T C10_UNUSED_DISPATCH_CUDA_WORKAROUND = x; }\n",
            contains=("{ using T [[maybe_unused]] = x; }",),
        ),
        Example(
            "#include <ATen/cuda/CUDAContext.h>\nvoid f() { THCudaCheck(cudaGetLastError()); }\n",
            contains=('#include "rocport_thc.h"', "THCudaCheck(hipGetLastError())"),
        ),
        Example('void f(bool b) { AT_CHECK(b, "no"); }\n', contains=('TORCH_CHECK(b, "no")',)),
        Example(
            "THCState *state = at::globalContext().lazyInitCUDA();\n",
            contains=("THCState *state = nullptr;", '#include "rocport_thc.h"'),
        ),
    ),
    clean=(
        "#include <ATen/Dispatch.h>\n",
        "#define AT_CHECK TORCH_CHECK\n",
        "#if __has_include(<THC/THCAtomics.cuh>)\n#include <THC/THCAtomics.cuh>\n#endif\n",
        "void f() { at::globalContext().lazyInitCUDA(); }\n",
        "#define THCudaCheck(x) check(x)\nvoid f() { THCudaCheck(g()); }\n",
    ),
    sources=(
        "https://github.com/pytorch/pytorch/pull/69041",
        "https://github.com/pytorch/pytorch/pull/89582",
        "headers of PyTorch 2.13",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        if found is None or not found[0].startswith(("THC/", "TH/")) or is_project_file(found[0], source, context):
            continue
        name, _, end = found
        if f"__has_include(<{name}>)".encode() in source.data:
            continue
        if name not in _HEADERS:
            yield finding(
                RULE,
                source,
                directive.first,
                f"<{name}> is gone since PyTorch 1.11, and nothing stands for it",
                last=directive.last - 1,
                applicability=Applicability.MANUAL,
                fix="write what needs it with ATen: a tensor of any type by AT_DISPATCH_FLOATING_TYPES",
                holds="torch >= 1.11",
                cause="THC's tensors",
            )
            continue
        today = _HEADERS[name]
        instead = f"<{today[1]}>" if today else _OURS
        yield finding(
            RULE,
            source,
            directive.first,
            f"<{name}> is gone since PyTorch 1.11; {instead} has what code takes from it",
            last=directive.last - 1,
            applicability=Applicability.SAFE,
            edits=[Edit(Span(directive.start, end), _block(name, today, source.newline))],
            headers=() if today else (_OURS,),
            holds="torch >= 1.11",
        )
    yield from _without_include(source)
    if not source.names.isdisjoint(_NAMES) and not context.project.macros.keys() & _NAMES.keys():
        for position in source.find(*_NAMES):
            if source.directive_of(position) is None or source.at(position - 1) != b"define":
                new, since, holds = _NAMES[source.texts[position]]
                yield finding(
                    RULE,
                    source,
                    position,
                    f"{source.texts[position].decode()} is {new.decode()} since PyTorch {since}",
                    applicability=Applicability.SAFE,
                    edits=[replace(source, position, new)],
                    holds=holds,
                )
    for position in source.find(b"lazyInitCUDA"):
        first = position - 6
        if source.texts[first:position] != [b"at", b"::", b"globalContext", b"(", b")", b"."]:
            continue
        if source.at(first - 1) == b"=" and source.texts[position + 1 : position + 3] == [b"(", b")"]:
            yield finding(
                RULE,
                source,
                first,
                "lazyInitCUDA() returns nothing any more, and the state is of no use",
                last=position + 2,
                applicability=Applicability.SAFE,
                edits=[replace_range(source, first, position + 3, b"nullptr")],
                headers=[_OURS],
                holds="torch >= 1.11",
            )


def _without_include(source: CudaSource) -> Iterator[Finding]:
    """A name of THC's in a file that names no header of THC's: it came with another one."""
    used = sorted(source.find(*_BROUGHT))
    if not used or b"THC" in source.names or any(source.at(position - 1) == b"define" for position in used):
        return
    name = source.texts[used[0]].decode()
    message = f"{name} came with ATen/cuda's headers until PyTorch 1.11; {_OURS} has it"
    safe = Applicability.SAFE
    yield finding(RULE, source, used[0], message, applicability=safe, headers=[_OURS], holds="torch >= 1.11")


def _block(name: str, today: tuple[str, ...], newline: bytes) -> bytes:
    if not today:
        return f"// {_OURS} stands for <{name}>".encode()
    rocm, cuda = today
    lines = [f"#if __has_include(<{name}>)", f"#include <{name}>", f"#elif __has_include(<{rocm}>)"]
    lines += [f"#include <{rocm}>", "#else", f"#include <{cuda}>", "#endif"]
    return newline.join(line.encode() for line in lines)

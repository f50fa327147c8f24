"""`warpSize` is 32 in CUDA; in HIP it is the wavefront's width, and no constant since ROCm 7.

The port keeps 32-lane warps, so every place that asks for the width must hear 32: `warpSize` in device code, the
`warpSize` member of the device properties, `cudaDevAttrWarpSize`, and PyTorch's `C10_WARP_SIZE` and
`at::cuda::warp_size()`, which are 64 on CDNA. A host that plans its launches with 64 while the kernels work in 32
lanes computes wrong results without any error.

A variable, parameter or member the project itself calls `warpSize` is left alone where it is seen: in its scope, not in
the kernel beside it.

With `--warp=native` nothing is replaced; each site is for review because the value is 64 or 32 by target.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding import Owner, binder
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, replace, replace_range
from rocport.rules.cuda.warp_common import HEADER, OF_WAVEFRONTS, amd_only
from rocport.syntax.cuda import CudaSource

_ATTRIBUTES = {
    b"cudaDevAttrWarpSize": b"cudaDeviceGetAttribute",
    b"CU_DEVICE_ATTRIBUTE_WARP_SIZE": b"cuDeviceGetAttribute",
}

RULE = Rule(
    name="warp-size",
    summary="warp size asked of the device",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=3,
    binds=True,
    triggers=frozenset({b"warpSize", b"C10_WARP_SIZE", b"warp_size", *_ATTRIBUTES}),
    examples=(
        Example(
            "__global__ void k(int *p) { p[0] = threadIdx.x % warpSize; }\n",
            contains=("threadIdx.x % rocport::warp_size",),
        ),
        Example(
            "#include <cuda_runtime.h>\nint f(cudaDeviceProp p) { return 4 * p.warpSize; }\n",
            contains=("return 4 * rocport::warp_size;",),
        ),
        Example(
            "#include <ATen/cuda/CUDAContext.h>\n"
            "int f() { return at::cuda::getCurrentDeviceProperties()->warpSize + at::cuda::warp_size(); }\n",
            contains=("return rocport::warp_size + rocport::warp_size;",),
        ),
        Example(
            "#include <cuda_runtime.h>\nvoid f(int *w) { cudaDeviceGetAttribute(w, cudaDevAttrWarpSize, 0); }\n",
            contains=("rocport::get_warp_size_attribute(w, 0)",),
        ),
        Example("#ifdef __HIP_PLATFORM_AMD__\n#define LANES warpSize\n#endif\n", contains=("#define LANES warpSize",)),
        Example(
            "#define warpSize 32\n__device__ int f(int i) { return i % warpSize; }\n",
            contains=("#define project_warpSize 32", "i % rocport::warp_size"),
        ),
        Example(
            "int plan(int warpSize) { return 4 * warpSize; }\n"
            "__global__ void k(int *p) { p[0] = threadIdx.x % warpSize; }\n",
            contains=("return 4 * warpSize", "threadIdx.x % rocport::warp_size"),
        ),
        Example("#define LANES warpSize\n", contains=("#define LANES rocport::warp_size",)),
        Example(
            "__global__ void k(int *p) { p[0] = threadIdx.x % warpSize; }\n",
            contains=("threadIdx.x % warpSize",),
            options={"warp": "native"},
        ),
    ),
    clean=(
        "typedef enum { CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11, CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10 } CUdevice_attribute;\n",
        "__device__ int f(int warpSize) { return warpSize * 2; }\n",
        "template <int warpSize> __device__ int f() { return warpSize; }\n",
        "struct Plan { int warpSize; };\nint f(Plan plan);\n",
        "int warp_size = 4;\n",
    ),
    sources=(
        "https://rocm.docs.amd.com/projects/HIP/ (warpSize is not a compile-time constant since ROCm 7)",
        "c10/macros/Macros.h of PyTorch (C10_WARP_SIZE under USE_ROCM)",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    bound = binder(source, context)
    member = bool(bound.definitions(b"warpSize", "member"))
    for position in source.find(b"warpSize"):
        own = bound.bind(position) if source.at(position - 1) not in (b".", b"->") else None
        if own is not None and own.owner is Owner.PROJECT and own.what != "macro":
            continue
        if amd_only(source, position):
            if not native and not _is_name(source, position):
                yield _by_hand(source, position)
            continue
        if source.at(position - 1) in (b".", b"->"):
            if member and not _is_device_property(source, position):
                continue
            yield _member(source, position, native)
        elif not _is_name(source, position):
            yield _answer(source, position, position, native)
        elif not native and _defines_32(source, position):
            yield finding(
                RULE,
                source,
                position,
                "a macro named warpSize breaks HIP's headers, which have a member of that name; renamed",
                severity=Severity.BREAKS_BUILD,
                applicability=Applicability.REVIEW,
                edits=[replace(source, position, b"project_warpSize")],
                fix="delete the macro: its uses are rocport::warp_size in the port",
            )
    for position in source.find(b"C10_WARP_SIZE"):
        if not _is_name(source, position) and not amd_only(source, position):
            yield _answer(source, position, position, native)
    for position in source.find(b"warp_size"):
        at_cuda = source.at(position - 1) == b"::" and source.at(position - 2) == b"cuda"
        if at_cuda and source.at(position + 1) == b"(" and not amd_only(source, position):
            first = position - 4 if source.at(position - 4) == b"at" else position - 2
            yield _answer(source, first, position + 2, native)
    for attribute, function in _ATTRIBUTES.items():
        for position in source.find(attribute):
            declared = source.at(position + 1) == b"=" and source.at(position - 1) in (b",", b"{")
            if not declared and not _is_name(source, position) and not amd_only(source, position):
                yield _attribute(source, position, function, native)


def _defines_32(source: CudaSource, position: int) -> bool:
    directive = source.directive_of(position)
    if directive is None or directive.name != b"define" or position != directive.first + 2:
        return False
    return source.text(position + 1, directive.last).strip(b" ()") == b"32"


def _by_hand(source: CudaSource, position: int) -> Finding:
    return finding(
        RULE,
        source,
        position,
        "warpSize in a branch written for AMD is 64 on CDNA, beside code that keeps 32-lane warps",
        applicability=Applicability.REVIEW,
        fix="use rocport::warp_size in this branch too, or check that it never meets 32-lane code",
        cause=OF_WAVEFRONTS,
    )


def _answer(source: CudaSource, first: int, last: int, native: bool) -> Finding:
    """The tokens [first, last] ask for the width; the answer is the header's constant."""
    text = source.text(first, last + 1).decode("utf-8", "replace")
    if native:
        return finding(
            RULE,
            source,
            first,
            f"{text} is the wavefront's width: 64 on CDNA, 32 on RDNA, and no constant since ROCm 7",
            last=last,
            applicability=Applicability.REVIEW,
            fix="check array sizes, template arguments and launch sizes computed from it",
        )
    return finding(
        RULE,
        source,
        first,
        f"{text} is 32 in the port, on any wavefront: rocport::warp_size",
        last=last,
        applicability=Applicability.SAFE,
        edits=[replace_range(source, first, last + 1, b"rocport::warp_size")],
        headers=[HEADER],
    )


def _member(source: CudaSource, position: int, native: bool) -> Finding:
    """`props.warpSize` as a value; where it is written to, by hand."""
    first = _postfix_start(source, position)
    after = source.at(position + 1)
    if first is None or (after == b"=" and source.at(position + 2) != b"="):
        return finding(
            RULE,
            source,
            position,
            "warpSize of the device properties is 64 on CDNA, but the port's kernels work in 32 lanes",
            fix="write rocport::warp_size (32) here",
        )
    return _answer(source, first, position, native)


def _postfix_start(source: CudaSource, position: int) -> int | None:
    """First token of `a.b(c)[d]->member`, for the member at `position`."""
    at = position - 2
    while at >= 0:
        text = source.at(at)
        if text in (b")", b"]"):
            opening = source.pairs.get(at)
            if opening is None:
                return None
            if text == b")" and not source.is_ident(opening - 1):
                return opening
            at = opening - 1
            continue
        if not source.is_ident(at):
            return None
        if source.at(at - 1) in (b".", b"->", b"::"):
            if source.at(at - 1) == b"::" and not source.is_ident(at - 2):
                return at - 1
            at -= 2
            continue
        return at
    return None


def _attribute(source: CudaSource, position: int, function: bytes, native: bool) -> Finding:
    name = source.at(position).decode()
    for candidate in source.find(function):
        call = source.call(candidate)
        if call is None or len(call.args) != 3 or call.args[1] != (position, position + 1):
            continue
        if native:
            break
        target = source.text(*call.args[0])
        return finding(
            RULE,
            source,
            candidate,
            f"{name} is 32 in the port, on any wavefront: rocport::get_warp_size_attribute",
            last=position,
            applicability=Applicability.SAFE,
            edits=[
                Edit(
                    Span(source.starts[candidate], source.starts[call.args[2][0]]),
                    b"rocport::get_warp_size_attribute(" + target + b", ",
                )
            ],
            headers=[HEADER],
        )
    return finding(
        RULE,
        source,
        position,
        f"{name} gives the wavefront's width (64 on CDNA), but the port's kernels work in 32 lanes",
        applicability=Applicability.REVIEW if native else Applicability.MANUAL,
        fix="use rocport::warp_size (32) where the answer plans launches or sizes of the port's kernels",
    )


def _is_name(source: CudaSource, position: int) -> bool:
    """True where the identifier is not a use: a macro being defined or asked for, or a member of some namespace."""
    if source.qualified(position):
        return True
    directive = source.directive_of(position)
    if directive is None or directive.name == b"pragma":
        return False
    return directive.name != b"define" or position == directive.first + 2


def _is_device_property(source: CudaSource, position: int) -> bool:
    """True for `x.warpSize` where the file declares `x` as device properties."""
    owner = source.at(position - 2)
    types = (b"cudaDeviceProp", b"hipDeviceProp_t")
    return any(
        source.at(at - 1) in (*types, b"*", b"&") and any(source.at(at - back) in types for back in (1, 2))
        for at in source.find(owner)
    ) or owner in (b")", b"]")

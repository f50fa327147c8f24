"""Some files declare again what nvcc declares by itself, so that an editor knows it: `extern const dim3 blockDim;`.

In HIP `blockDim` and the like have types of their own, and such a declaration is an error. The port leaves it out.
`__device_builtin__` and its kin are attributes of CUDA's own headers, empty to a program, and
`__thrust_exec_check_disable__` silences a warning of nvcc's in Thrust: left out as well. A source that NVRTC compiles,
too, declares `uint64_t` itself, often as another type than that of stdint.h, which HIP's runtime header reads: the
latter stands. SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace, replace_range
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_VARIABLES = frozenset({b"threadIdx", b"blockIdx", b"blockDim", b"gridDim", b"warpSize"})
_BEFORE = frozenset({b"extern", b"const", b"dim3", b"uint3", b"int", b"__device__", b"__device_builtin__"})
_ATTRIBUTES = frozenset(
    {
        b"__device_builtin__",
        b"__cudart_builtin__",
        b"__device_builtin_texture_type__",
        b"__device_builtin_surface_type__",
        b"__thrust_exec_check_disable__",
    }
)
# Types of stdint.h that are no `long long` on Linux.
_INTEGERS = frozenset({b"uint64_t", b"int64_t", b"uintptr_t", b"intptr_t"})
_LONG_LONG = ([b"unsigned", b"long", b"long"], [b"long", b"long"], [b"signed", b"long", b"long"])

RULE = Rule(
    name="builtin-redeclared",
    summary="declaration of a name that the compiler knows",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=_VARIABLES | _ATTRIBUTES | _INTEGERS,
    examples=(
        Example(
            "#ifndef __CUDA_ARCH__\nextern const dim3 blockDim;\nextern const uint3 threadIdx;\n#endif\n",
            absent=("extern", "blockDim", "threadIdx"),
        ),
        Example(
            "extern __device__ __device_builtin__ void __syncthreads(void);\n",
            contains=("extern __device__  void __syncthreads(void);",),
        ),
        Example(
            "__thrust_exec_check_disable__ template <class T> __host__ __device__ T f(T a) { return a; }\n",
            absent=("__thrust_exec_check_disable__",),
        ),
        Example(
            'extern "C" {\ntypedef unsigned long long int uint64_t;\n}\n'
            "using int64_t = long long;\ntypedef uint64_t uintptr_t;\n",
            contains=("typedef uint64_t uintptr_t;",),
            absent=("long",),
        ),
    ),
    clean=(
        "__global__ void k(int *p) { const int i = threadIdx.x; p[i] = blockDim.x; }\n",
        "struct S { int warpSize; };\n",
        "namespace my { typedef unsigned long long uint64_t; }\n",
        "typedef unsigned long uint64_t;\nvoid f(uint64_t a);\n",
        "void f(const dim3 blockDim);\n",
    ),
    sources=("hip/amd_detail/amd_hip_runtime.h of ROCm 6.4; device_launch_parameters.h of CUDA",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    declared: list[tuple[int, int]] = []
    for position in sorted(source.find(*_VARIABLES)):
        first = position
        while source.at(first - 1) in _BEFORE:
            first -= 1
        if b"extern" not in source.texts[first:position] or source.at(position + 1) != b";":
            continue
        if amd_only(source, position):
            continue
        declared.append((first, position + 2))
        name = source.texts[position].decode()
        yield finding(
            RULE,
            source,
            first,
            f"{name} has a type of its own in HIP, and is declared already",
            last=position + 1,
            edits=[replace_range(source, first, position + 2, b"")],
        )
    for position in sorted(source.find(*_ATTRIBUTES)):
        directive = source.directive_of(position)
        if directive is not None or any(first <= position < last for first, last in declared):
            continue
        if not amd_only(source, position):
            name = source.texts[position].decode()
            message = f"{name} is an attribute of CUDA's own headers, and says nothing to a program"
            yield finding(RULE, source, position, message, edits=[replace(source, position, b"")])
    yield from _integers(source)


def _integers(source: CudaSource) -> Iterator[Finding]:
    scopes = Scopes(source)
    for position in sorted(source.find(*_INTEGERS)):
        alias = source.at(position - 1) == b"using" and source.at(position + 1) == b"="
        first = position - 1
        while not alias and source.at(first) in (b"unsigned", b"signed", b"long", b"int"):
            first -= 1
        end = source.texts.index(b";", position, position + 8) if b";" in source.texts[position : position + 8] else 0
        words = source.texts[position + 2 : end] if alias else source.texts[first + 1 : position]
        known = [word for word in words if word != b"int"] in _LONG_LONG and (alias or source.at(first) == b"typedef")
        if not known or not end or (not alias and end != position + 1) or amd_only(source, position):
            continue
        # The braces of `extern "C"` are a namespace without a name here.
        if any(scope.kind is not Kind.NAMESPACE or scope.name for scope in scopes.enclosing(position)):
            continue
        yield finding(
            RULE,
            source,
            first,
            f"{source.texts[position].decode()} is no long long in stdint.h, which HIP's header reads",
            last=end,
            edits=[replace_range(source, first, end + 1, b"")],
        )

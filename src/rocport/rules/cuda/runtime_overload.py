"""Calls that CUDA's C++ headers take in more shapes than HIP's: default arguments and templates HIP does not have.

`cudaLaunchCooperativeKernel(k, grid, block, args)` leaves shared memory and stream to defaults;
`cudaGraphInstantiate(&e, g, flags)` is CUDA 12's form, which HIP calls `hipGraphInstantiateWithFlags`;
`cudaHostGetDevicePointer(&p, h, 0)` takes a pointer of any type, `nvrtcCompileProgram(p, n, options)` a `char **`;
`cudaEventCreate(&e, flags)` is `cudaEventCreateWithFlags`. The port writes the arguments out, the other name, the
cast: the call stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace_range
from rocport.rules.cuda.definitions import arguments
from rocport.rules.cuda.warp_common import is_definition, is_name_only
from rocport.syntax.cuda import CudaSource

# Name -> the values of its last parameters, and how many it has.
_DEFAULTS = {b"cudaLaunchCooperativeKernel": ((b"0", b"0"), 6), b"cudaMalloc3DArray": ((b"0",), 4)}
# Name -> the argument that HIP takes as this type alone.
_POINTERS = {b"cudaHostGetDevicePointer": (0, b"void **"), b"nvrtcCompileProgram": (2, b"const char **")}
# Name -> what it is with so many arguments, and how many the other function takes.
_OTHER = {
    b"cudaGraphInstantiate": (b"hipGraphInstantiateWithFlags", (2, 3), 3),
    b"cudaEventCreate": (b"hipEventCreateWithFlags", (2,), 2),
}

RULE = Rule(
    name="runtime-overload",
    summary="form of a runtime call that HIP lacks",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({*_DEFAULTS, *_POINTERS, *_OTHER}),
    examples=(
        Example("void f() { cudaLaunchCooperativeKernel(k, 1, 32, args); }\n", contains=("1, 32, args, 0, 0)",)),
        Example(
            "void f() { cudaLaunchCooperativeKernel(k, dim3(1, 2), 32, args, 8); }\n",
            contains=("dim3(1, 2), 32, args, 8, 0)",),
        ),
        Example("void f() { cudaGraphInstantiate(&e, g, 0); }\n", contains=("hipGraphInstantiateWithFlags(&e, g, 0)",)),
        Example("void f() { cudaGraphInstantiate(&e, g); }\n", contains=("hipGraphInstantiateWithFlags(&e, g, 0)",)),
        Example("void f() { cudaEventCreate(&e, 2); }\n", contains=("hipEventCreateWithFlags(&e, 2)",)),
        Example(
            "void f(float *d, float *h) { cudaHostGetDevicePointer(&d, h, 0); }\n",
            contains=("((void **)(&d), h, 0)",),
        ),
        Example("void f() { cudaMalloc3DArray(&a, &desc, extent); }\n", contains=("(&a, &desc, extent, 0)",)),
        Example(
            "void f(char **o) { nvrtcCompileProgram(p, 2, o); }\n",
            contains=("hiprtcCompileProgram(p, 2, (const char **)(o))",),
        ),
    ),
    clean=(
        "void f() { cudaGraphInstantiate(&e, g, NULL, NULL, 0); cudaEventCreate(&e); }\n",
        "void f() { cudaHostGetDevicePointer((void **)&d, h, 0); }\n",
        "cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g);\n",
        "void f() { X::cudaEventCreate(a, b); }\n",
        "void f() { cudaLaunchCooperativeKernel((void *)k, 1, 32, args, 0, s); }\n",
        "void f() { cudaMalloc3DArray(&a, &desc, extent, cudaArrayLayered); }\n",
        "void f() { nvrtcCompileProgram(p, 0, nullptr); nvrtcCompileProgram(p, 1, (const char **)o); }\n",
    ),
    sources=("hip/hip_runtime_api.h of ROCm 6.4", "cuda_runtime.h of CUDA 12"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*RULE.triggers):
        name = source.texts[position]
        if name in context.project.macros or is_name_only(source, position) or is_definition(source, position):
            continue
        called = source.at(position + 1) == b"(" and position + 1 in source.pairs
        given = arguments(source, position + 1, source.pairs[position + 1]) if called else []
        edits = _edits(source, position, name, given)
        if edits:
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()}: HIP has the call in one form, and it is written out",
                edits=edits,
            )


def _edits(source: CudaSource, position: int, name: bytes, given: list[tuple[int, int]]) -> list[Edit]:
    last = source.starts[source.pairs[position + 1]] if given else 0
    if name in _OTHER:
        other, counts, takes = _OTHER[name]
        if len(given) not in counts:
            return []
        edits = [replace_range(source, position, position + 2, other + b"(")]
        return [*edits, insert(last, b", 0")] if len(given) < takes else edits
    if name in _POINTERS:
        index, pointer = _POINTERS[name]
        first, end = given[index] if index < len(given) else (0, 0)
        word = pointer.split()[0]
        known = word in source.texts[first:end] or source.texts[first:end] in ([b"0"], [b"NULL"], [b"nullptr"])
        if first == end or known or source.path.endswith(".c"):
            return []
        return [insert(source.starts[first], b"(" + pointer + b")("), insert(source.end(end - 1), b")")]
    values, takes = _DEFAULTS[name]
    missing = values[len(given) - takes :] if takes - len(values) <= len(given) < takes else ()
    return [insert(last, b"".join(b", " + word for word in missing))] if missing else []

"""Calls that CUDA's C++ headers take in more shapes than HIP's: default arguments and templates HIP does not have.

`cudaLaunchCooperativeKernel(k, grid, block, args)` leaves shared memory and stream to defaults;
`cudaGraphInstantiate(&e, g, flags)` is CUDA 12's form, which HIP calls `hipGraphInstantiateWithFlags`;
`cudaHostGetDevicePointer(&p, h, 0)` takes a pointer of any type, `nvrtcCompileProgram(p, n, options)` a `char **`;
`cudaEventCreate(&e, flags)` is `cudaEventCreateWithFlags`. The port writes the arguments out, the other name, the
cast: the call stays the same.

CUDA 13's `cuCtxCreate(&c, &params, flags, device)` loses its parameters, where they are a variable that is made empty
and given to such calls alone, and the variable is left out on AMD. What asks for something by `CUctxCreateParams` is
MANUAL.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rocport.binding.scopes import Scopes
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert, replace_range
from rocport.rules.cuda.definitions import PLATFORM, arguments, leave_out_on_hip
from rocport.rules.cuda.warp_common import is_definition, is_name_only
from rocport.syntax.cuda import CudaSource

_CONTEXT = (b"cuCtxCreate", b"cuCtxCreate_v4")
_PARAMETERS = b"CUctxCreateParams"
_SPECIFIERS = frozenset({b"const", b"static", b"volatile", b"constexpr", b"struct", b"register"})
_EMPTY = ((), (b"=", b"{", b"}"), (b"{", b"}"), (b"=", b"{", b"0", b"}"))
# Name -> the values of its last parameters, and how many it has.
DEFAULTS = {b"cudaLaunchCooperativeKernel": ((b"0", b"0"), 6), b"cudaMalloc3DArray": ((b"0",), 4)}
# Name -> the argument that HIP takes as this type alone.
_POINTERS = {b"cudaHostGetDevicePointer": (0, b"void **"), b"nvrtcCompileProgram": (2, b"const char **")}
# The same of what is another function where its name is written, and this one where it is pasted: hipHostMalloc takes a
# pointer of any type, hipMallocHost does not.
_WHERE_PASTED = {b"cudaMallocHost": (0, b"void **")}
# What a macro pastes to `cuda` -> the name that this makes, where its arguments alone are written.
_PASTED = {
    name.removeprefix(b"cuda"): name for name in (*DEFAULTS, *_POINTERS, *_WHERE_PASTED) if name.startswith(b"cuda")
}
# Name -> what it is with so many arguments, and how many the other function takes.
_OTHER = {
    b"cudaGraphInstantiate": (b"hipGraphInstantiateWithFlags", (2, 3), 3),
    b"cuGraphInstantiate": (b"hipGraphInstantiateWithFlags", (3,), 3),
    b"cudaEventCreate": (b"hipEventCreateWithFlags", (2,), 2),
}

RULE = Rule(
    name="runtime-overload",
    summary="form of a runtime call that HIP lacks",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({*DEFAULTS, *_POINTERS, *_PASTED, *_OTHER, *_CONTEXT, _PARAMETERS}),
    claims=frozenset({_PARAMETERS}),
    examples=(
        Example("void f() { cudaLaunchCooperativeKernel(k, 1, 32, args); }\n", contains=("1, 32, args, 0, 0)",)),
        Example(
            "void f() { cudaLaunchCooperativeKernel(k, dim3(1, 2), 32, args, 8); }\n",
            contains=("dim3(1, 2), 32, args, 8, 0)",),
        ),
        Example("void f() { cudaGraphInstantiate(&e, g, 0); }\n", contains=("hipGraphInstantiateWithFlags(&e, g, 0)",)),
        Example("void f() { cuGraphInstantiate(&e, g, 0); }\n", contains=("hipGraphInstantiateWithFlags(&e, g, 0)",)),
        Example("void f() { cudaGraphInstantiate(&e, g); }\n", contains=("hipGraphInstantiateWithFlags(&e, g, 0)",)),
        Example("void f() { cudaEventCreate(&e, 2); }\n", contains=("hipEventCreateWithFlags(&e, 2)",)),
        Example(
            "void f(float *d, float *h) { cudaHostGetDevicePointer(&d, h, 0); }\n",
            contains=("((void **)(&d), h, 0)",),
        ),
        Example(
            "#define CALL(f) check(cuda##f)\nvoid f(float *d, float *h) { CALL(HostGetDevicePointer(&d, h, 0)); }\n",
            contains=("CALL(HostGetDevicePointer((void **)(&d), h, 0))",),
        ),
        Example(
            "#define CALL(f) check(cuda##f)\nvoid f(float *h) { cudaMallocHost(&h, 4); CALL(MallocHost(&h, 4)); }\n",
            contains=("hipHostMalloc(&h, 4)", "CALL(MallocHost((void **)(&h), 4))"),
        ),
        Example(
            '#include "error.h"\nvoid f(float *d, float *h) { cuda(HostGetDevicePointer(&d, h, 0)); }\n',
            contains=("cuda(HostGetDevicePointer((void **)(&d), h, 0))",),
        ),
        Example("void f() { cudaMalloc3DArray(&a, &desc, extent); }\n", contains=("(&a, &desc, extent, 0)",)),
        Example(
            "void f(char **o) { nvrtcCompileProgram(p, 2, o); }\n",
            contains=("hiprtcCompileProgram(p, 2, (const char **)(o))",),
        ),
        Example(
            "void f() {\n  CUctxCreateParams p = {};\n  check(cuCtxCreate(&c, &p, 0, d));\n}\n",
            contains=("#if !ROCPORT_HIP", "check(hipCtxCreate(&c, 0, d));"),
        ),
        Example(
            "void f() {\n  static const CUctxCreateParams p = {};\n  cuCtxCreate(&c, &p, 0, d);\n}\n",
            contains=(
                "#if !ROCPORT_HIP  // HIP's contexts have no parameters\n  static const CU",
                "hipCtxCreate(&c, 0, d)",
            ),
        ),
        Example(
            "void f() { for (CUctxCreateParams p = {}; go();) cuCtxCreate(&c, &p, 0, d); }\n",
            contains=("for (CUctxCreateParams p = {}; go();) hipCtxCreate(&c, &p, 0, d)",),
        ),
        Example(
            "void f() { if (a) CUctxCreateParams p = {}; cuCtxCreate(&c, &p, 0, d); }\n",
            contains=("if (a) CUctxCreateParams p = {}; hipCtxCreate(&c, &p, 0, d)",),
        ),
        Example("void f() { cuCtxCreate(&c, NULL, 0, d); }\n", contains=("hipCtxCreate(&c, 0, d)",)),
        Example(
            "void f() {\n  CUctxCreateParams p = {};\n  p.cigParams = &q;\n  cuCtxCreate(&c, &p, 0, d);\n}\n",
            contains=("hipCtxCreate(&c, &p, 0, d)",),
        ),
    ),
    clean=(
        "void f() { cuGraphInstantiate(&e, g, NULL, NULL, 0); }\n",
        "void f() { cudaGraphInstantiate(&e, g, NULL, NULL, 0); cudaEventCreate(&e); }\n",
        "void f() { cudaHostGetDevicePointer((void **)&d, h, 0); }\n",
        "cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g);\n",
        "void f() { X::cudaEventCreate(a, b); }\n",
        "void f() { check(HostGetDevicePointer(&d, h, 0)); }\n",
        "int HostGetDevicePointer(int **, int *, int);\n#define CALL(f) f\n"
        "void f() { CALL(HostGetDevicePointer(&d, h, 0)); }\n",
        "void f() { cudaLaunchCooperativeKernel((void *)k, 1, 32, args, 0, s); }\n",
        "void f() { cudaMalloc3DArray(&a, &desc, extent, cudaArrayLayered); }\n",
        "void f() { nvrtcCompileProgram(p, 0, nullptr); nvrtcCompileProgram(p, 1, (const char **)o); }\n",
    ),
    sources=("hip/hip_runtime_api.h of ROCm 6.4", "cuda_runtime.h of CUDA 12", "cuda.h of CUDA 13: cuCtxCreate_v4"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from _contexts(source)
    for position in source.find(*DEFAULTS, *_POINTERS, *_OTHER, *_PASTED):
        name = source.texts[position]
        if name in _PASTED and not _is_pasted(source, position):
            continue
        if name in context.project.macros or is_name_only(source, position) or is_definition(source, position):
            continue
        called = source.at(position + 1) == b"(" and position + 1 in source.pairs
        given = arguments(source, position + 1, source.pairs[position + 1]) if called else []
        name = _PASTED.get(name, name)  # on AMD it is hip's, whatever a shim of the project calls CUDA's
        edits = _edits(source, position, name, given)
        if edits:
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()}: HIP has the call in one form, and it is written out",
                applicability=Applicability.SAFE,
                edits=edits,
            )


def _is_pasted(source: CudaSource, position: int) -> bool:
    """A call that a macro is given which pastes it to `cuda`: one of this file, or `cuda(...)` of another."""
    macro = source.at(position - 2) if source.at(position - 1) == b"(" else b""
    return _pasting(source).get(macro, macro == b"cuda")


@lru_cache(maxsize=2)
def _pasting(source: CudaSource) -> dict[bytes, bool]:
    """The macros of a file, and whether one of the name pastes something to `cuda`."""
    found: dict[bytes, bool] = {}
    for one in source.directives:
        if one.name == b"define":
            pastes = any(source.texts[at : at + 2] == [b"cuda", b"##"] for at in range(one.first, one.last))
            found[source.at(one.first + 2)] = pastes or found.get(source.at(one.first + 2), False)
    return found


def _contexts(source: CudaSource) -> Iterator[Finding]:
    """Contexts made with parameters, and those parameters."""
    calls: dict[int, Edit] = {}
    asked: dict[int, int] = {}  # the place of a variable's name in a call -> the call
    for position in source.find(*_CONTEXT):
        if source.at(position + 1) != b"(" or position + 1 not in source.pairs:
            continue
        given = arguments(source, position + 1, source.pairs[position + 1])
        words = source.texts[given[1][0] : given[1][1]] if len(given) == 4 else []
        edit = Edit(Span(source.starts[given[1][0]], source.starts[given[2][0]]), b"") if words else None
        if edit is not None and words in ([b"NULL"], [b"nullptr"], [b"0"]):
            yield _context(source, position, [edit])
        elif edit is not None and len(words) == 2 and words[0] == b"&":
            calls[position], asked[given[1][0] + 1] = edit, position
    scopes = Scopes(source)
    semicolons = source.index.get(b";", [])
    for position in source.find(_PARAMETERS):
        name = source.at(position + 1)
        first = position
        while source.at(first - 1) in _SPECIFIERS:
            first -= 1
        begins = source.at(first - 1) in (b";", b"{", b"}", b"") or source.directive_of(first - 1) is not None
        after = bisect.bisect_left(semicolons, position)
        end = semicolons[after] if after < len(semicolons) else position
        close = next((scope.close for scope in scopes.enclosing(position)), position)
        named = source.index.get(name, [])
        uses = named[bisect.bisect_right(named, end) : bisect.bisect_left(named, close)]
        empty = tuple(source.texts[position + 2 : end]) in _EMPTY
        if source.is_ident(position + 1) and begins and empty and uses and all(at in asked for at in uses):
            edits = leave_out_on_hip(source, first, end, b"HIP's contexts have no parameters")
            yield _context(source, position, edits, [PLATFORM])
            for at in uses:
                yield _context(source, asked[at], [calls[asked[at]]])
        else:
            yield finding(
                RULE,
                source,
                position,
                f"{_PARAMETERS.decode()} has no HIP counterpart: HIP makes contexts without parameters",
                applicability=Applicability.MANUAL,
                fix="leave out on AMD what the parameters ask for, and give hipCtxCreate its three arguments",
            )


def _context(source: CudaSource, position: int, edits: list[Edit], headers: Sequence[str] = ()) -> Finding:
    message = "a context's parameters, which are empty: HIP's hipCtxCreate has none"
    return finding(
        RULE, source, position, message, applicability=Applicability.SAFE, edits=edits, headers=list(headers)
    )


def _edits(source: CudaSource, position: int, name: bytes, given: list[tuple[int, int]]) -> list[Edit]:
    last = source.starts[source.pairs[position + 1]] if given else 0
    if name in _OTHER:
        other, counts, takes = _OTHER[name]
        if len(given) not in counts:
            return []
        edits = [replace_range(source, position, position + 2, other + b"(")]
        return [*edits, insert(last, b", 0")] if len(given) < takes else edits
    if pointers := _POINTERS.get(name) or _WHERE_PASTED.get(name):
        index, pointer = pointers
        first, end = given[index] if index < len(given) else (0, 0)
        word = pointer.split()[0]
        known = word in source.texts[first:end] or source.texts[first:end] in ([b"0"], [b"NULL"], [b"nullptr"])
        if first == end or known or source.path.endswith(".c"):
            return []
        return [insert(source.starts[first], b"(" + pointer + b")("), insert(source.end(end - 1), b")")]
    values, takes = DEFAULTS[name]
    missing = values[len(given) - takes :] if takes - len(values) <= len(given) < takes else ()
    return [insert(last, b"".join(b", " + word for word in missing))] if missing else []

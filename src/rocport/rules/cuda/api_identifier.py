"""CUDA library and runtime names become the HIP names that really exist.

Every identifier is looked up once in the symbol facts (facts/libraries): a name the HIP headers declare is replaced, a
name they lack is a MANUAL finding and stays as it is, because a likely name that does not exist is worse than none. So
does a call with more or fewer arguments than HIP takes. A symbol with a note (another signature, other semantics) is
replaced and listed for REVIEW with that note, other semantics at the first place in a file. A note that asks nothing of
anybody is SAFE.

The edit is right wherever the identifier is the library's. What the project declares as a parameter, local or member
of that name is left alone. A macro of the project that stands before a function of the library, such as
`#define cudaMalloc(p, n) traced(p, n)`, is renamed with its uses, so that they still pass through it; where another
name that the project calls becomes the same HIP name, those calls would pass through it too: REVIEW.

The label `case CUFFT_NVRTC_FAILURE:` of a number that HIP does not have is left out on AMD, where nothing returns it;
what follows the label stays. `struct cudaGraphicsResource` loses its `struct`: HIP's name is a typedef and no tag.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import replace as changed
from functools import cache, lru_cache
from typing import Literal

from rocport.binding import Binder, Binding, Owner, binder
from rocport.binding.branches import branches
from rocport.facts.symbols import Symbol, libraries, load, without_counterpart
from rocport.model import (
    Applicability,
    Context,
    Definition,
    Edit,
    Example,
    Finding,
    RocmVersion,
    Rule,
    Severity,
    Span,
)
from rocport.rules import discover
from rocport.rules.cuda.common import DYNAMIC_PARALLELISM, GENCO, finding, replace
from rocport.rules.cuda.definitions import PLATFORM, arguments, leave_out_on_hip, macro_parameters, may_be_several
from rocport.rules.cuda.runtime_overload import RULE as WRITTEN_OUT
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="api-identifier",
    summary="CUDA API name",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(load().identifiers),
    fallback=True,
    binds=True,
    examples=(
        Example(
            "#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n",
            contains=("hipMalloc(p, 4)",),
            absent=("cudaMalloc",),
        ),
        Example(
            "#include <nccl.h>\nncclResult_t f(ncclSimInfo_t *info) { return ncclGroupSimulateEnd(info); }\n",
            contains=("return ncclGroupSimulateEnd(info);",),
        ),
        Example(
            "#include <cublasLt.h>\nsize_t f() { return cublasLtGetVersion(); }\n",
            contains=("return cublasLtGetVersion();",),
        ),
        Example(
            "#include <cuda_runtime.h>\nnamespace gpu { cudaError_t cudaFree(void *p, int tag); }\n"
            "using gpu::cudaFree;\nvoid f(void *p) { cudaFree(p, 1); gpu::cudaFree(p, 2); ::cudaFree(p); }\n",
            contains=("hipError_t hipFree(void *p", "using gpu::hipFree;", "{ hipFree(p, 1); gpu::hipFree(p, 2);"),
        ),
        Example(
            "#include <cuda_runtime.h>\ncudaError_t (*get)(void **, size_t) = cudaMallocHost;\n"
            "void f(void **p) { cudaMallocHost(p, 4); }\n",
            contains=("(*get)(void **, size_t) = hipMallocHost;", "{ hipHostMalloc(p, 4); }"),
        ),
        Example("__global__ void k() { cudaDeviceSynchronize(); }\n", contains=("cudaDeviceSynchronize",)),
        Example(
            "#include <cuda_runtime.h>\n#define cudaFree(p) (free_count++, cudaFree(p))\n"
            "void f(void *p) { cudaFree(p); }\n",
            contains=("#define hipFree(p) (free_count++, hipFree(p))", "{ hipFree(p); }"),
        ),
        Example("#include <ctime>\n__device__ long g() { return clock(); }\n", contains=("return clock()",)),
        Example(
            "#ifdef WITH_CUDA\n#include <cuda_runtime.h>\n#else\nusing cudaStream_t = int *;\n#endif\n"
            "struct S { cudaStream_t stream; };\n",
            contains=("using hipStream_t = int *;", "{ hipStream_t stream; }"),
        ),
        Example(
            "struct cudaGraphicsResource *vbo;\nvoid f(struct cudaDeviceProp *p);\n",
            contains=("\nhipGraphicsResource *vbo;", "(struct hipDeviceProp_t *p)"),
        ),
        Example(
            "#define CHECK(x) if ((x) != cudaSuccess) abort()\n",
            contains=("hipSuccess",),
        ),
        Example(
            'const char *name(cufftResult e) {\n  switch (e) {\n    case CUFFT_SUCCESS:\n      return "SUCCESS";\n'
            '    case CUFFT_NVRTC_FAILURE:\n      return "NVRTC";\n  }\n  return 0;\n}\n',
            contains=("case HIPFFT_SUCCESS:", "#if !ROCPORT_HIP", "    case CUFFT_NVRTC_FAILURE:\n#endif\n"),
        ),
        Example("#define NAME(e) case CUFFT_NVRTC_FAILURE: return #e;\n", contains=("case CUFFT_NVRTC_FAILURE:",)),
        Example(
            "#include <cuda_runtime.h>\nclass cudaGraphicsResource;\nvoid hold(class cudaGraphicsResource *r);\n",
            contains=("#if !ROCPORT_HIP  // HIP has a typedef of it\nclass ", "hold(hipGraphicsResource *r)"),
        ),
        Example(
            "#include <cuda_runtime.h>\nstruct cudaGraphicsResource *r;\n",
            contains=("\nhipGraphicsResource *r;",),
            path="a.c",
        ),
        Example(
            "#include <cuda_runtime.h>\nstruct cudaGraphicsResource;\nvoid draw(struct cudaGraphicsResource **r);\n",
            contains=("#if !ROCPORT_HIP", "void draw(hipGraphicsResource **r);"),
        ),
    ),
    clean=(
        "struct Pool { void *cudaMalloc(int n); };\nvoid *f(Pool &p) { return p.cudaMalloc(4); }\n",
        '// cudaMalloc in a comment\nconst char *s = "cudaMalloc";\n',
        "void my_cudaMalloc();\n",
        "#ifdef cudaFree\nint a;\n#elif !defined(CU_STREAM_DEFAULT)\nint b;\n#endif\n",
        "#define FAIL(m) (cudaError(m, __LINE__))\nvoid cudaError(const char *m, int line) {}\n",
        "namespace mine {\nusing cudaStream_t = int *;\ncudaStream_t stream;\n}\n",
        "#if CUDART_VERSION >= 13000\nauto x = cudaMemPoolCreateUsageHwDecompress;\n#endif\n",
        "struct ncclComm *ncclCommShrink(int n);\n",
        "void add(BaseClock *clock) { clock->tick(); }\n",
        "#include <ctime>\ndouble f() { return clock() / double(CLOCKS_PER_SEC) + std::clock(); }\n",
    ),
    sources=("HIP headers of ROCm 6.4 and the ROCm 10 bindings; see facts/libraries",),
)

_C_CLOCK = re.compile(rb"#[ \t]*include[ \t]*[<\"](?:ctime|time\.h)[>\"]|\bCLOCKS_PER_SEC\b")

# PyTorch 2.9's wheels are built with it; a name that came later is worth a look.
_OLDEST_USED = RocmVersion(6, 4)


@cache
def claimed() -> frozenset[bytes]:
    """Names another rule answers for."""
    return frozenset().union(*(loaded.rule.claims for loaded in discover()))


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    identifiers = load().identifiers
    bound = binder(source, context)
    view = branches(source, context.project.torch_extension)
    for name in (source.names & identifiers.keys()) - claimed():
        symbol = identifiers[name]
        if symbol.hip == symbol.cuda and not symbol.note and not _is_lacking(symbol, context.options.rocm):
            continue
        shared = _passed_through(bound, symbol)
        said = False
        for position in source.find(name):
            if name == b"clock" and _is_the_host_s(source, position):
                continue
            owned = _owned_by(source, bound, position, symbol)
            if isinstance(owned, bool):
                continue
            if owned is not None:
                yield _renamed_macro(source, position, symbol, owned)
            elif shared is not None and (shared[1].parameters is None or source.at(position + 1) == b"("):
                yield _shared(source, position, symbol, *shared)
            else:
                if symbol.hip == symbol.cuda and _is_declared(source, position):
                    continue
                found = _finding(source, position, symbol, context.options.rocm, said)
                if found.applicability is not Applicability.SAFE and view.is_dead(source.starts[position]):
                    if found.edits:  # renamed with the rest of the file, in a branch that no build for AMD takes
                        yield changed(found, applicability=Applicability.SAFE)
                    continue
                yield found
                if not found.edits and not symbol.note and found.applicability is Applicability.REVIEW:
                    break  # HIP keeps the name: from which release on it has it is said once
                said |= symbol.note.startswith("semantics:") and found.applicability is Applicability.REVIEW


def _is_declared(source: CudaSource, position: int) -> bool:
    """True for a declaration in a copy of the library's header: whoever calls it needs it, and is named there."""
    before = source.at(position - 1)
    if before in (b"struct", b"enum", b"union"):
        return True
    typed = before == b"*" or (source.is_ident(position - 1) and before not in _BEFORE_CALLS)
    return typed and source.at(position + 1) == b"(" and source.enclosing(position) is None


_BEFORE_CALLS = frozenset((b"return", b"else", b"case", b"do", b"throw", b"co_return", b"not", b"and", b"or"))


def is_way_to_hip(bound: Binder, name: bytes) -> bool:
    """True for a macro of the project that is HIP's name wherever it is defined, `#define cudaFree hipFree`: what the
    port writes in its place."""
    symbol = load().identifiers.get(name)
    return symbol is not None and symbol.hip != "" and bound.bodies(name) == {symbol.hip.encode()}


def _owned_by(source: CudaSource, bound: Binder, position: int, symbol: Symbol) -> Literal[True] | Binding | None:
    """True for a name of the project's own that stays; its binding for a macro that is renamed with its uses."""
    directive = source.directive_of(position)
    if directive is not None and directive.name == b"include":
        return True
    named = position in bound.macro_names
    if named and symbol.hip and symbol.hip.encode() in bound.bodies(symbol.cuda.encode(), here=True):
        return True  # renamed, it would be a macro of its own name, and hide HIP's
    binding = bound.bind(position)
    if binding.owner is Owner.CUDA and not named and source.names_macro(position) and not _is_macro(symbol):
        return True  # not defined in CUDA, nor in HIP under this name; HIP's own name may be a macro
    if binding.owner is Owner.PROJECT:
        if _stands_in(bound, position, symbol, binding):
            return None
        if binding.what == "macro" and is_way_to_hip(bound, symbol.cuda.encode()):
            return None
        return binding if binding.what == "macro" and symbol.hip else True
    if source.at(position - 1) in (b".", b"->"):
        return True
    called = source.at(position + 1) == b"("
    if symbol.kind == "type" and called and bound.definitions(symbol.cuda.encode(), "function"):
        return True  # a function hides a type of its name
    if directive is not None and named:
        return not symbol.hip or Binding(Owner.PROJECT, "macro", source.path, source.line(directive.start))
    return None


def _is_macro(symbol: Symbol) -> bool:
    """True for a macro of CUDA's headers; cublas_v2.h has one for each function that has a second version."""
    return symbol.kind == "macro" or f"{symbol.cuda}_v2".encode() in load().identifiers


def _stands_in(bound: Binder, position: int, symbol: Symbol, binding: Binding) -> bool:
    """True for a type at file scope with the name of one of CUDA's: no unit can have both.

    It takes CUDA's place in a build without a GPU (`using cudaStream_t = int *;`), and changes its name with it.
    """
    if binding.what != "type" or symbol.kind != "type" or not symbol.hip.isidentifier():
        return False
    name = symbol.cuda.encode()
    return all(not item.owner and item.kind == "type" for item in bound.definitions(name)) and not any(
        declared.owner for declared in bound.scopes.declarations(name)
    )


def _renamed_macro(source: CudaSource, position: int, symbol: Symbol, binding: Binding) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{symbol.cuda} is the project's own macro ({binding.path}:{binding.line}), and {symbol.hip} with all its uses",
        applicability=Applicability.SAFE,
        edits=[replace(source, position, symbol.hip.encode())],
    )


@cache
def _same_in_hip() -> dict[str, tuple[bytes, ...]]:
    """HIP name -> the CUDA names that become it, where there are several."""
    found: dict[str, list[bytes]] = {}
    for name, symbol in load().identifiers.items():
        if symbol.hip:
            found.setdefault(symbol.hip, []).append(name)
    return {hip: tuple(names) for hip, names in found.items() if len(names) > 1}


def _passed_through(bound: Binder, symbol: Symbol) -> tuple[bytes, Definition] | None:
    """A macro of the project for another CUDA name that becomes the same HIP name."""
    if not bound.own:
        return None
    for other in _same_in_hip().get(symbol.hip, ()):
        macros = bound.definitions(other, "macro") if other != symbol.cuda.encode() else []
        if macros and not bound.definitions(symbol.cuda.encode(), "macro"):
            return other, macros[0]
    return None


def _shared(source: CudaSource, position: int, symbol: Symbol, other: bytes, macro: Definition) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{symbol.cuda} becomes {symbol.hip}, and so does {other.decode()}, which the project has made a macro "
        f"({macro.path or source.path}:{macro.line}): this call passes through it too",
        applicability=Applicability.REVIEW,
        edits=[replace(source, position, symbol.hip.encode())],
        fix=f"write ({symbol.hip})(...) where the macro is not meant, or give the macro another name",
        cause=f"macros for CUDA's names in {macro.path or source.path}",
    )


def _is_the_host_s(source: CudaSource, position: int) -> bool:
    """True for the C library's `clock()`: `std::clock`, or a call outside device code of a file that has its header or
    no device code at all; and for a variable of the name."""
    if source.at(position + 1) != b"(" and source.directive_of(position) is None:
        return True
    if source.at(position - 1) == b"::" and source.at(position - 2) == b"std":
        return True
    if source.in_device(position) or source.directive_of(position) is not None or source.at(position + 1) != b"(":
        return False
    return _C_CLOCK.search(source.data) is not None or source.meant.isdisjoint((b"__device__", b"__global__"))


def _on_device(source: CudaSource, position: int, symbol: Symbol) -> bool:
    """True for a call of the runtime from device code alone: CUDA's device runtime, which HIP does not have."""
    if symbol.kind != "function" or symbol.library != "runtime" or source.at(position + 1) != b"(":
        return False
    function = source.enclosing(position)
    return function is not None and b"__host__" not in function.specifiers


@cache
def _untagged() -> frozenset[str]:
    """Types of HIP's that no tag names, where CUDA's are tags."""
    return frozenset(name for library in libraries().values() for name in library.untagged)


def _elaborated(source: CudaSource, position: int, symbol: Symbol) -> Finding | None:
    """`struct cudaX`, where HIP's name is a typedef: the name alone; a declaration of the tag is left out."""
    if symbol.hip not in _untagged() or source.at(position - 1) not in (b"struct", b"class", b"enum", b"union"):
        return None
    keyword = source.at(position - 1).decode()
    in_directive = source.directive_of(position) is not None
    if source.at(position + 1) == b";" and not in_directive:
        edits = leave_out_on_hip(source, position - 1, position + 1, b"HIP has a typedef of it")
    else:
        edits = [Edit(Span(source.starts[position - 1], source.end(position)), symbol.hip.encode())]
    return finding(
        RULE,
        source,
        position,
        f"{keyword} {symbol.cuda} is {symbol.hip} alone: in HIP the name is a typedef, which `{keyword}` cannot name",
        applicability=Applicability.SAFE,
        edits=edits,
        headers=[PLATFORM] if len(edits) > 1 else [],
    )


def _label(source: CudaSource, position: int, symbol: Symbol) -> Finding | None:
    """A case label of a number that HIP lacks: left out on AMD, as nothing there returns it."""
    if symbol.kind != "enum" or source.directive_of(position) is not None:
        return None
    if source.at(position - 1) != b"case" or source.at(position + 1) != b":":
        return None
    return finding(
        RULE,
        source,
        position,
        f"{symbol.cuda} has no HIP counterpart, so nothing returns it on AMD: its case label is left out there",
        applicability=Applicability.SAFE,
        edits=leave_out_on_hip(source, position - 1, position + 1, b"HIP has no such number"),
        headers=[PLATFORM],
    )


def _finding(source: CudaSource, position: int, symbol: Symbol, rocm: RocmVersion | None, said: bool) -> Finding:
    """`said`: the note of the symbol stands at an earlier place of the file already."""
    if symbol.cuda.startswith("cuda") and _on_device(source, position, symbol):
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} is called from device code: HIP has no device runtime (dynamic parallelism)",
            fix="move the call to the host",
            cause=DYNAMIC_PARALLELISM,
        )
    special = _elaborated(source, position, symbol) if symbol.hip else _label(source, position, symbol)
    if special is not None:
        return special
    if not symbol.hip and source.at(position - 2) == b"typedef" and source.at(position - 1) == b"struct":
        return finding(
            RULE, source, position, f"struct {symbol.cuda} is declared here", applicability=Applicability.SAFE
        )
    if not symbol.hip:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} has no HIP counterpart" + (f": {symbol.note}" if symbol.note else ""),
            fix="write this part again with what HIP has, or leave it out under `#ifdef __HIP_PLATFORM_AMD__`",
            cause=lacking(symbol),
        )
    if rocm is not None and symbol.declared_in(rocm) is False:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} is {symbol.hip}, which ROCm {rocm} does not declare ({_range(symbol)})",
            fix="port for a ROCm that has it, or write this part with what there is",
            holds=_range(symbol),
        )
    if symbol.cuda.encode() not in WRITTEN_OUT.triggers and _fits(source, position, symbol) is False:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} is {symbol.hip}, which does not take the arguments of this call; {symbol.note}",
            fix=f"write the call again with {symbol.hip}",
            holds=_range(symbol),
        )
    narrow = _is_lacking(symbol, rocm)
    settled = symbol.note.startswith("settled:") and not narrow
    uncalled = _UNCALLED.search(symbol.note)
    if uncalled is not None and source.at(position + 1) != b"(" and source.directive_of(position) is None:
        symbol = dataclasses.replace(symbol, hip=uncalled.group(1))
    if settled or (said and not narrow):
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} is {symbol.hip}; {symbol.note}",
            applicability=Applicability.SAFE,
            routine=settled,
            edits=[] if symbol.hip == symbol.cuda else [replace(source, position, symbol.hip.encode())],
            holds=_range(symbol),
        )
    note = "" if _is_met(source, position, symbol) else symbol.note
    reasons = [reason for reason in (_range(symbol) if narrow else "", note) if reason]
    if symbol.hip == symbol.cuda:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda}: {'; '.join(reasons)}",
            applicability=Applicability.REVIEW,
            holds=_range(symbol),
            cause=_newer(symbol) if narrow and not note else _says(note) if not narrow else "",
        )
    return finding(
        RULE,
        source,
        position,
        "; ".join([f"{symbol.cuda} is {symbol.hip}", *reasons]),
        applicability=Applicability.REVIEW if reasons else Applicability.SAFE,
        routine=not reasons,
        edits=[replace(source, position, symbol.hip.encode())],
        holds=_range(symbol),
        cause=GENCO
        if "code object" in note
        else _newer(symbol)
        if narrow and not note
        else _says(note)
        if not narrow
        else "",
    )


def _says(note: str) -> str:
    """What the functions that one sentence is said of have in common: `cudaProfilerStart` and `cudaProfilerStop`."""
    if note.startswith("type: argument"):
        return "arguments that have another type in HIP"
    return note if note.startswith("semantics:") else ""


_OLD_GL = re.compile(r"cu(?:da)?GL[A-Z]\w+")
_CALLED_BY_HAND = frozenset(["cublas", "cublaslt", "cusolver", "cusparse", "cufft", "curand", "nccl", "nvtx"])
"""Libraries with a counterpart: a project calls in one place what that has not."""
_TENSOR_MAP = re.compile(r"cuTensorMap|CUtensorMap|CU_TENSOR_MAP")
_PACKED = re.compile(r"__f(?:add|mul|fma)2_r[nzdu]\Z")


def lacking(symbol: Symbol) -> str:
    """What one answer is for where HIP lacks a name: its library, what it has in common with others, or itself."""
    return without_counterpart(symbol) or _of_a_family(symbol) or f"{symbol.cuda}, which HIP lacks"


def _of_a_family(symbol: Symbol) -> str:
    """What names without a counterpart have in common that one answer is for; empty: each is a question of its own."""
    if _OLD_GL.match(symbol.cuda):
        return "CUDA's old interface to OpenGL"
    if _TENSOR_MAP.match(symbol.cuda):
        return "descriptors of TMA"
    if _PACKED.match(symbol.cuda):
        return "arithmetic of two floats at once"
    if symbol.note:
        return symbol.note
    if symbol.library in _CALLED_BY_HAND:
        return f"names of {symbol.library} that HIP does not have"
    return f"values of {symbol.library} that HIP does not have" if symbol.kind == "enum" else ""


# A function whose address is taken: HIP's has other parameters, which a call does not show.
_UNCALLED = re.compile(r"not called it is (\w+)")
_TAKES = re.compile(r"HIP takes (\d+)(?:(?:-| or )(\d+))?(?: argument|$)")
# What other rules do at every place where the note would be asked for.
_DONE_ELSEWHERE = (
    "HIPBLAS_V2 defined before the include",
    "define HIPBLAS_V2",
    "if HIPBLAS_USE_HIP_HALF is defined before the include",
    "the kernel is passed as reinterpret_cast",
)
# A pointer to what may be changed is taken for one to what may not.
_CONST = re.compile(r"^type: argument \d+ is (\w+)_const_t and not \1_t$")
_SINCE_13 = re.compile(r"in CUDA 1[3-9]\.\d+ \(not in 12")


_PROFILES = frozenset({"cudaProfilerStart", "cudaProfilerStop", "cuProfilerStart", "cuProfilerStop"})


def _is_met(source: CudaSource, position: int, symbol: Symbol) -> bool:
    """True where the note asks for nothing: the call has as many arguments as HIP takes, the name is not called at all,
    or another rule of the port sees to it."""
    if any(done in symbol.note for done in _DONE_ELSEWHERE):
        return True
    begins = source.at(position - 1) in (b";", b"{", b"}") or source.directive_of(position - 1) is not None
    if symbol.cuda in _PROFILES and begins and source.directive_of(position) is None:
        return True  # nobody looks at what it returns
    if symbol.kind == "function" and symbol.note.startswith(("type:", "arity:")) and source.at(position + 1) != b"(":
        return True
    if _CONST.search(symbol.note):
        return True
    if symbol.cuda == "CUdeviceptr":
        return not _counted_with(source, position)
    if _SINCE_13.search(symbol.note):
        return _gives_number(source, position)
    return _fits(source, position, symbol) is True


def _fits(source: CudaSource, position: int, symbol: Symbol) -> bool | None:
    """Whether a call has as many arguments as HIP takes; None where the row or the call does not tell."""
    taken = _TAKES.search(symbol.note)
    call = source.call(position) if symbol.note.startswith("arity:") and taken is not None else None
    if taken is None or call is None:
        return None
    least, most = int(taken.group(1)), int(taken.group(2) or taken.group(1))
    given = arguments(source, call.open, call.close)
    if any(may_be_several(source, *part) for part in given):
        return None
    if len(given) < least:
        # A macro's parameter may stand for several arguments: `#define A(tail) f(x, tail)`, used with a macro.
        one = macro_parameters(source, position)[0]
        if any(last - first == 1 and source.at(first) in one for first, last in given):
            return None
    return least <= len(given) <= most


def _gives_number(source: CudaSource, position: int) -> bool:
    """True for a call whose last argument surely is the number of a device, which CUDA 13's form does not take: a
    literal, `cudaCpuDeviceId`, or a variable that the function declares as an integer."""
    call = source.call(position)
    given = arguments(source, call.open, call.close) if call is not None else []
    if not given:
        return False
    first, last = given[-1]
    if source.at(first) == b"-":
        first += 1
    if last - first != 1:
        return False
    name = source.at(first)
    if name in (b"cudaCpuDeviceId", b"CU_DEVICE_CPU") or name.isdigit():
        return True
    function = source.enclosing(position)
    begin = function.params[0] if function is not None else 0
    before = [
        source.at(at - 1) for at in source.index.get(name, ()) if begin < at < position and source.is_ident(at - 1)
    ]
    declared = [text for text in before if text not in (b"return", b"else", b"case")]
    return bool(declared) and set(declared) <= {b"int", b"CUdevice"}


# Sums are void-pointer's.
_COUNTS = frozenset((b"%", b"&", b"|", b"^", b"<<", b">>", b"/"))
_INTEGERS = frozenset(b"int long unsigned size_t ptrdiff_t uintptr_t intptr_t uint64_t int64_t printf fprintf".split())


def _counted_with(source: CudaSource, position: int) -> bool:
    """True where a name declared with the type at a token is compared bit by bit, divided or kept as a number."""
    at = position + 1
    while source.at(at) in (b"*", b"&", b"const"):
        at += 1
    counted, kept = _counting(source, source.at(at)) if source.is_ident(at) else (False, [])
    return counted or any(use != at for use in kept[:2])


@lru_cache(maxsize=16)
def _counting(source: CudaSource, name: bytes) -> tuple[bool, list[int]]:
    """Whether a name is compared bit by bit or divided somewhere, and where it is kept as a number."""
    places = source.index.get(name, ())
    counted = any(source.at(use + 1) in _COUNTS for use in places)
    return counted, [use for use in places if _kept_as_number(source, use)]


def _kept_as_number(source: CudaSource, use: int) -> bool:
    first = source.since(use, b";", b"{", b"}", b",")
    given = source.at(use - 1) in (b"=", b".", b"->", b")") or b"printf" in source.texts[first:use]
    return given and source.at(first) in _INTEGERS


def _range(symbol: Symbol) -> str:
    """The ROCm releases that declare the HIP name, in words; empty when all inspected ones do."""
    parts = []
    if symbol.since:
        parts.append(f"since ROCm {symbol.since.lstrip('~')}" + (" or earlier" if symbol.since[0] == "~" else ""))
    if symbol.until:
        parts.append(f"until ROCm {symbol.until.lstrip('~')}")
    return ", ".join(parts)


def _newer(symbol: Symbol) -> str:
    return f"needs ROCm {symbol.since.lstrip('~')}" if symbol.since and not symbol.until else ""


def _is_lacking(symbol: Symbol, rocm: RocmVersion | None) -> bool:
    """True unless the ROCm the port is for is known to declare the name; all that people use where none is given."""
    return _is_narrow(symbol) if rocm is None else symbol.declared_in(rocm) is not True


def _is_narrow(symbol: Symbol) -> bool:
    """True when a ROCm release people still use lacks the name."""
    since = RocmVersion.parse(symbol.since.lstrip("~")) if symbol.since else _OLDEST_USED
    return bool(symbol.until) or since > _OLDEST_USED

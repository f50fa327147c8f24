"""A macro that a CUDA build defines decides whether GPU code is compiled: `HAVE_CUDA`, `WITH_CUDNN`, `CUDA_ENABLED`.

The build, or NVIDIA's compiler, defines it where it finds CUDA. On ROCm nobody does, so the GPU code is left out in
silence and the program runs on the CPU. Right when the build defines the macro for HIP as well, or the conditional also
asks for HIP's macro; a conditional that does is left alone, and so is one over a macro that the build files define
(`if(CUDA_FOUND)` of CMake asks for ROCm too in a port), that a file of the same units defines where the port compiles
it, or that has a twin for AMD in a conditional of the file or in the build. So is a conditional that only includes
headers of other projects: who uses them without them does not compile. So is one that no file of a project with a build
names, other than in conditionals: nobody sets it for CUDA either, unless a library of another project does. Every other
is named once a file: which conditionals hold GPU code and which CUDA's own has to be read. The port changes nothing
here, as the macro is the build's to define.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rocport.binding.branches import CUDA_NAMES
from rocport.binding.collect import live, macros
from rocport.facts.symbols import libraries, load
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.amd import is_amd_macro, twins
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import first_on_line

_GUARD = re.compile(
    rb"\w*?(?:^|_)(?:CUDA|CUDNN|NVCC|NVIDIA|CUBLAS(?:LT)?|CUFFT|CURAND|CUSPARSE|CUSOLVER|NVRTC|CUDACC|CUTLASS|CUPTI|TENSORRT)"
    rb"(?:[A-Z]*_\w*|\d*)?\Z"
)
_WORD = re.compile(rb"(?:-D)?(\w+)")
_WORDS = (b"CU", b"NV", b"TENSORRT")
_SWITCHES = frozenset({"use", "have", "has", "with", "enable", "build", "cuda", "nvidia", "nvcc"})
_DEFINED = re.compile(rb"#[ \t]*define[ \t]+([A-Za-z_]\w*)")
_HEADER_GUARD = re.compile(rb"\w+_(?:H|HPP|CUH|HH|HXX|INC|INCLUDED|H_INCLUDED)_*\Z")
# What clang or HIP's headers define too, or what says nothing about a build for AMD: another compiler's own macros.
_HARMLESS = frozenset(
    b"__CUDA__ __CUDACC_DEBUG__ __NVCC_DIAG_PRAGMA_SUPPORT__ CUDA_R_16F CUDA_VERSION_MAJOR "
    b"__CUDA_NO_HALF_OPERATORS__ __CUDA_NO_HALF_CONVERSIONS__ __CUDA_NO_HALF2_OPERATORS__ __CUDA_ARCH_FEAT_SM90_ALL "
    b"__CUDA_ARCH_HAS_FEATURE__ __NVCOMPILER_CUDA__ _NVHPC_CUDA __CUDABE__ __CUDA_LIBDEVICE__ "
    b"CUDA_API_PER_THREAD_DEFAULT_STREAM __CUDA_API_PER_THREAD_DEFAULT_STREAM".split()
)
_FOR_AUTHORS = re.compile(rb"(?:^|_)(?:DEBUG|TEST|CHECK|VERBOSE|TIMING|PROFILE|TRACE|PRINT)(?:_|\Z)|^NVIDIA_P2P_")
"""What no build sets, on either platform: the author's own looks at the code, and what NVIDIA's driver can do. Nor is
`CUTLASS_ARCH_MMA_SM90_SUPPORTED` a project's: CUTLASS sets it for its own code, and is named where it is included."""
_CONDITIONALS = (b"if", b"ifdef", b"elif")
_ASKING = (*_CONDITIONALS, b"ifndef", b"elifdef", b"elifndef")

RULE = Rule(
    name="own-cuda-guard",
    summary="the project's own macro for CUDA guards GPU code",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=4,
    examples=(
        Example("#if HAVE_CUDA\nvoid f();\n#endif\n", contains=("#if HAVE_CUDA",)),
        Example("//#define USE_CUDA_HALF\n#ifdef USE_CUDA\nvoid f();\n#endif\n"),
        Example("#ifdef CUDA_ENABLED\nvoid f();\n#endif\n"),
        Example("#if defined(GPU_CUDA) || defined(FAST)\nvoid f();\n#endif\n"),
        Example("#if __CUDA_ARCH_LIST__ >= 700\nvoid f();\n#endif\n"),
        Example("#undef HAVE_HIP\nint HAVE_AMD;\n#ifdef HAVE_CUDA\nvoid f();\n#endif\n"),
        Example("#ifdef WITH_CUDA\nvoid f();\n#endif\n", contains=("#ifdef WITH_CUDA",)),
        Example("#ifdef WITH_CUDA\n#include <cuda.h>\nvoid f();\n#endif\n"),
        Example("#ifdef WITH_CUDA\n#include <cuda.h>\n#else\n#include <none.h>\n#endif\n"),
        Example("#ifdef WITH_CUDA\n#include <cuda.h>\n#endif\n#ifdef WITH_CUDA\nvoid f();\n#endif\n"),
        Example("#ifdef WITH_CUDA\n#include <cuda.h>\n#define HAVE_IT\n#endif\n"),
    ),
    clean=(
        "#if defined(HAVE_CUDA) || defined(HAVE_ROCM)\nvoid f();\n#endif\n",
        "#if defined(USE_CUDA) && 0\nvoid f();\n#endif\n",
        "#ifndef USE_CUDA\nint cpu;\n#endif\n",
        "#ifdef WITH_CUDA\n#include <cuda.h>\n#include <cublas_v2.h>\n#endif\n",
        "int HAVE_CUDA_DEVICES = 1;\n",
        "#ifdef ACC_GPU_CUDA_ENABLED\nvoid f();\n#endif\n#ifdef ACC_GPU_HIP_ENABLED\nvoid f();\n#endif\n",
        "#define USE_CUDA 1\n#if USE_CUDA\nvoid f();\n#endif\n",
        "#ifdef MY_CUDA_TOOLS_H\nvoid f();\n#endif\n",
        "#ifdef TEST_CUDA_CODE\nvoid f();\n#endif\n",
        "//#define USE_CUDA_HALF\n#ifdef USE_CUDA_HALF\nvoid f();\n#endif\n",
        "#ifdef NVIDIA_P2P_CAP_PERSISTENT\nvoid f();\n#endif\n",
        "#ifdef CUTLASS_ARCH_MMA_SM90_SUPPORTED\nvoid f();\n#endif\n",
        "#ifdef BARRACUDA\nvoid f();\n#endif\n",
        "#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__\n#pragma nv_diag_suppress 20012\n#endif\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    asked = {name for name in source.names if _may_guard(name) and _is_open(source, name, context)}
    if not asked:
        return
    seen: set[bytes] = set()
    for number, directive in enumerate(source.directives):
        if directive.name not in _CONDITIONALS or _only_includes(source, number, context):
            continue
        words = source.texts[directive.first : directive.last]
        guard = next((word for word in words if word in asked), None)
        if guard is None or any(is_amd_macro(word) for word in words) or b"!" in words or words[-2:] == [b"&&", b"0"]:
            continue
        if guard in seen:
            continue
        seen.add(guard)
        library = _library(guard)
        yield finding(
            RULE,
            source,
            directive.first,
            f"{guard.decode()}: nothing defines it in a ROCm build, and this code is left out in silence",
            last=directive.last - 1,
            confidence=Confidence.MEDIUM,
            fix=f"leave it so where nothing is written for {library}'s place; else define {guard.decode()}"
            if library
            else f"define {guard.decode()} for the HIP build too",
            cause=library,
        )


def _library(guard: bytes) -> str:
    """The library that a macro asks for, where none of it has a counterpart: `USE_CUDNN`; else empty."""
    words = guard.decode().lower().split("_")
    return next(
        (
            known.title
            for name, known in libraries().items()
            if known.title and name in words and known.applicability == "MANUAL"
        ),
        "",
    )


def _only_includes(source: CudaSource, number: int, context: Context) -> bool:
    """True for `#ifdef USE_CUDA`, headers of other projects and `#endif`: what uses them without them stops the build,
    and what stands under a guard of its own is named there."""
    first = at = source.directives[number].last
    for later in range(number + 1, len(source.directives)):
        directive = source.directives[later]
        header = b"".join(source.texts[directive.first + 2 : directive.last]).strip(b'<>"').rpartition(b"/")[2]
        if directive.first != at or directive.name == b"endif":
            return first < at == directive.first
        if directive.name != b"include" or header.decode("utf-8", "replace") in context.project.basenames:
            return False
        at = directive.last
    return False


def _is_open(source: CudaSource, name: bytes, context: Context) -> bool:
    """True for a macro that neither the tree nor another rule of the port answers for."""
    if name in CUDA_NAMES or name in _HARMLESS or name in load().identifiers or _HEADER_GUARD.match(name):
        return False
    if (
        name.endswith(b"_DISABLED")
        or _FOR_AUTHORS.search(name)
        or name.startswith(b"CUTLASS_ARCH_")
        or name in _commented_out(source.data)
    ):
        return False
    project = context.project
    if not _is_set(source, name, context):
        return False
    if not project.defined.isdisjoint({name.decode()} | twins(name.decode())) or _has_twin(source, name):
        return False
    if any(live(source, directive.start, name) != (False, False) for directive in macros(source, name)):
        return False
    return not any(
        item.kind == "macro" and item.live != (False, False) and project.together(source.path, item.path)
        for item in project.definitions.get(name, ())
    )


@lru_cache(maxsize=1)
def _commented_out(data: bytes) -> frozenset[bytes]:
    return frozenset(re.findall(rb"//#define (\w+)", data))


def own_guards(data: bytes) -> set[bytes]:
    """The macros that the bytes of a file seem to define and that this rule could ask for: a cheap superset."""
    if b"define" not in data:
        return set()
    return {
        match[1] for match in _DEFINED.finditer(data) if _may_guard(match[1]) and first_on_line(data, match.start())
    }


def guard_names(data: bytes) -> set[bytes]:
    """The words of a file that this rule could ask for."""
    if not any(word in data for word in _WORDS):
        return set()
    return {word for word in set(_WORD.findall(data)) if _may_guard(word)}


def _may_guard(name: bytes) -> bool:
    named = b"CU" in name or b"NV" in name or b"TENSORRT" in name  # as in _WORDS, without a loop for each name
    return named and _GUARD.match(name) is not None


def _is_set(source: CudaSource, name: bytes, context: Context) -> bool:
    """True for a macro that somebody sets for CUDA: the project, or a library whose name it has."""
    named = context.project.named
    if named is None or name.decode() in named or name.startswith(b"__"):
        return True
    owner = next((word for word in name.decode().lower().split("_") if word not in _SWITCHES), "")
    return bool(owner) and any(
        owner in re.split(r"[^a-z]+", header.lower())
        for header in context.project.includes.get(source.path, ())
        if header.rpartition("/")[2] not in context.project.basenames
    )


def _has_twin(source: CudaSource, name: bytes) -> bool:
    """True where a conditional asks for the same of AMD under a name of its own: `ACC_GPU_CUDA` and `ACC_GPU_HIP`."""
    return any(
        (directive := source.directive_of(at)) is not None and directive.name in _ASKING
        for twin in source.names.intersection(twin.encode() for twin in twins(name.decode()))
        for at in source.find(twin)
    )

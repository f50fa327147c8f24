"""Conditionals over `__CUDA_ARCH__`, `CUDART_VERSION` and the like flip silently under HIP, which defines none of them.
`#if __CUDA_ARCH__ >= 700` is false, `#if __CUDA_ARCH__ < 600` is true (an undefined name is 0), `#ifdef __CUDACC__`
hides device code. The port decides every one of them the way one CUDA build does: sm_80 with CUDA 12.4, the values of
`rocport_platform.h`. That build is the newest before Hopper's features, which only NVIDIA hardware has, and before CUDA
13 changed signatures that HIP keeps.

- `#ifdef __CUDA_ARCH__` (is this the device pass?) asks for `__HIP_DEVICE_COMPILE__`: SAFE. Around functions for the
  device it asks for `__HIPCC__`: HIP's host pass reads the kernels that call them, too.
- `__CUDACC__` and `__NVCC__` (is this compiled as CUDA?) also take `__HIPCC__`: SAFE; and `__CUDACC_RTC__` (is this
  compiled at run time?) `__HIPCC_RTC__`.
- `defined(__CUDACC__) && !defined(__clang__)` tells nvcc from clang, and HIP's compiler is clang: REVIEW, whatever
  else the condition asks.
- comparisons ask the ROCPORT_ name, and the finding says which branch is taken. One number of an architecture asks
  whether it has a feature, which the other rules judge where it is used: SAFE. Several numbers, and numbers that the
  branches define (a tile, a count of stages), are chosen for generations of NVIDIA's GPUs: REVIEW at the branch that is
  taken. A version of the toolkit is REVIEW where a branch defines a macro or stops the build, or sets what no rule
  looks at (`return true;`), at its first place in a file and where another answer is given; else it chooses among
  CUDA's names, which other rules judge: SAFE, as is one of nvcc (what does the compiler understand?).
- where the branch sm_80 compiles holds PTX or tensor-core code that HIP cannot take and another branch of the same
  conditional is a fallback that works, the port takes the fallback: REVIEW.

A conditional that already asks for HIP (`USE_ROCM`, `__HIP_PLATFORM_AMD__`, `__HIPCC__`, ...) is its author's decision
and is left alone.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise

from rocport.binding.branches import (
    ARCH,
    COMPILER,
    CUDA_NAMES,
    PLATFORM_VALUES,
    RUN_TIME_COMPILER,
    Forced,
    branches,
    respects_hip,
)
from rocport.convergence.values import integer
from rocport.facts.symbols import in_families, load
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace, replace_range
from rocport.rules.cuda.compute_capability import is_printed
from rocport.rules.cuda.inline_ptx import unportable
from rocport.syntax.conditionals import Branch, Chain
from rocport.syntax.cuda import CudaSource, Directive, Function, between

HEADER = "rocport_platform.h"

_RENAMED = {name: b"ROCPORT_" + name.strip(b"_") for name in PLATFORM_VALUES}
_FEATURE = b"__CUDA_ARCH_HAS_FEATURE__"
_HIP_COMPILER = {**dict.fromkeys(COMPILER, b"__HIPCC__"), RUN_TIME_COMPILER: b"__HIPCC_RTC__"}

RULE = Rule(
    name="platform-conditional",
    summary="conditional over a macro that HIP does not define",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=CUDA_NAMES | {_FEATURE},
    claims=CUDA_NAMES,
    examples=(
        Example(
            "#ifdef __CUDA_ARCH__\nint device;\n#endif\n",
            contains=("#ifdef __HIP_DEVICE_COMPILE__",),
            absent=("rocport_platform.h",),
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n__device__ void f(float *a) { *a = 1; }\n#endif\n"
            "template <class T> __global__ void k(T *a) { f(a); }\n",
            contains=("#ifdef __HIPCC__",),
        ),
        Example(
            "#ifdef __CUDACC__\n#define HD __host__ __device__\n#endif\n",
            contains=("#if defined(__CUDACC__) || defined(__HIPCC__)",),
        ),
        Example(
            "#define NEW __CUDA_ARCH__ >= 700\n#define NUMBER __CUDA_ARCH__ / 10\n#if NEW\nint x = NUMBER;\n#endif\n",
            contains=("#define NEW ROCPORT_CUDA_ARCH >= 700", "#define NUMBER ROCPORT_CUDA_ARCH_VALUE / 10"),
        ),
        Example(
            "#if defined(__CUDACC__) && !defined(__clang__)\nint x;\n#endif\n",
            contains=("#if (defined(__CUDACC__) || defined(__HIPCC__)) && !defined(__clang__)",),
        ),
        Example("#ifdef __CUDACC_RTC__\nint x;\n#endif\n", contains=("|| defined(__HIPCC_RTC__)",)),
        Example(
            "#ifndef __CUDACC_EXTENDED_LAMBDA__\n#error\n#endif\n",
            contains=("#if !defined(__CUDACC_EXTENDED_LAMBDA__) && !defined(__HIPCC__)",),
        ),
        Example(
            "#if CCCL_MAJOR_VERSION >= 3\nusing cuda::maximum;\n#endif\n",
            contains=("#if ROCPORT_CCCL_MAJOR_VERSION >= 3",),
        ),
        Example("#ifndef __NVCC__\nint x;\n#endif\n", contains=("#if !defined(__NVCC__) && !defined(__HIPCC__)",)),
        Example(
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600\n"
            "__device__ double atomicAdd(double *a, double b);\n#endif\n",
            contains=('#include "rocport_platform.h"', "defined(__HIP_DEVICE_COMPILE__) && ROCPORT_CUDA_ARCH < 600"),
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n__device__ __forceinline__\n#else\nstatic inline\n#endif\n"
            "int f(int x) { return x; }\n"
            "__device__ int g(int x) { return f(x); }\n",
            contains=("#else\n#if defined(__HIPCC__)\n__host__ __device__\n#endif\nstatic inline\n#endif",),
        ),
        Example(
            "#ifndef __CUDA_ARCH__\ninline bool eq(double a, double b) { return a == b; }\n#else\n"
            "__device__ bool eq(float a, float b) { return a == b; }\n#endif\n"
            "bool f(double a) { return eq(a, 1); }\n__global__ void k(bool *p) { *p = eq(1.f, 2.f); }\n",
            contains=("#ifndef __CUDA_ARCH__\ninline bool", "#endif\n#ifdef __HIPCC__\n__device__ bool"),
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n__device__ int f(int a) { return a; }\n#else\nint f(int a) { return a; }\n#endif\n",
            contains=("#ifdef __HIPCC__\n__device__ int", "#endif\n#ifndef __CUDA_ARCH__\nint f"),
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n__device__ int f(int a) { return a; }\n#else\n"
            "constexpr int f(int a) { return a; }\n#endif\n",
            contains=("#ifdef __HIP_DEVICE_COMPILE__",),
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n__device__\n#endif\nint f(int a);\n__device__ int g(int a) { return f(a); }\n",
            contains=("#ifdef __HIPCC__\n__host__ __device__\n#endif\nint f",),
        ),
        Example(
            "#if __CUDA_ARCH__ < 700\n__device__ __forceinline__ __half hcos(__half a) { return a; }\n#endif\n",
            contains=("#if ROCPORT_CUDA_ARCH_VALUE < 700",),
        ),
        Example(
            "#if __CUDA_ARCH__ >= 800\nconstexpr int BLOCK = 256;\n__device__ int f(int x) { return x; }\n"
            "#else\nconstexpr int BLOCK = 128;\n__device__ int f(int x) { return -x; }\n#endif\n",
            contains=("#if ROCPORT_CUDA_ARCH >= 800",),
            absent=("ROCPORT_CUDA_ARCH_VALUE",),
        ),
        Example(
            "#if __CUDA_ARCH__ < 700\n// old\ntemplate <class T = int>\n#ifdef FAST\n#endif\n"
            "__device__ T f(T x) { return x; }\n#endif\n",
            contains=("#if ROCPORT_CUDA_ARCH < 700",),
        ),
        Example(
            "#if __CUDA_ARCH__ < 700\n#ifndef OWN\n/* old */\ntemplate <class T = int>\n"
            "__device__ __attribute__((noinline)) T f(T x) { return x; };\n#endif\n#else\n#endif\n",
            contains=("#if ROCPORT_CUDA_ARCH_VALUE < 700",),
        ),
        Example("#if __CUDA_ARCH__ >= 300 && CUDART_VERSION < 8000\nint x;\n#endif\n"),
        Example(
            "void f(float *p) {\n#if CUDART_VERSION >= 11020\n  cudaFreeAsync(p, 0);\n  pooled = true;\n#endif\n}\n",
            contains=("#if ROCPORT_CUDART_VERSION >= 11020",),
        ),
        Example("#if CUDART_VERSION >= 11000\nint x;\n#endif\n", contains=("#if ROCPORT_CUDART_VERSION >= 11000",)),
        Example("#if __CUDA_ARCH__ >= 7 * 100\nint x;\n#endif\n", contains=("#if ROCPORT_CUDA_ARCH >= 7 * 100",)),
        Example("#if CUDART_VERSION >= 9000\nint x;\n#endif\n", contains=("#if ROCPORT_CUDART_VERSION >= 9000",)),
        Example(
            "__device__ void f(float *d) {\n"
            "#if __CUDA_ARCH__ >= 800\n"
            '  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32 {%0}, {%1};" : "+f"(d[0]) : "f"(d[1]));\n'
            "#else\n"
            "  d[0] += d[1];\n"
            "#endif\n}\n",
            contains=("#if !ROCPORT_HIP && (ROCPORT_CUDA_ARCH >= 800)",),
        ),
        Example(
            "__device__ void f(float *d) {\n#if __CUDA_ARCH__ == 750\n"
            '  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32 {%0}, {%1};" : "+f"(d[0]) : "f"(d[2]));\n'
            "#else\n"
            '  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32 {%0}, {%1};" : "+f"(d[0]) : "f"(d[1]));\n'
            "#endif\n}\n",
            contains=("#if ROCPORT_CUDA_ARCH == 750",),
        ),
        Example(
            "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\n"
            "__device__ double atomicAdd(double *a, double b) { return *a; }\n#endif\n",
            contains=("#if !defined(__HIP_DEVICE_COMPILE__) || ROCPORT_CUDA_ARCH >= 600",),
        ),
        Example('static_assert(CUDA_VERSION >= 9000, "old");\n', contains=("ROCPORT_CUDA_VERSION >= 9000",)),
    ),
    clean=(
        "#if defined(__CUDACC__) || defined(__HIPCC__)\nint x;\n#endif\n",
        "#ifdef USE_ROCM\nint x;\n#elif __CUDA_ARCH__ >= 700\nint x;\n#endif\n",
        "#if defined(__HIP_PLATFORM_AMD__) || CUDA_VERSION >= 11000\nint x;\n#endif\n",
        "#ifdef MY_CUDA_ARCH\nint x;\n#endif\n",
    ),
    sources=(
        "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html (compiler defines)",
        "versions of CUDA 12.4.1: the nvidia-*-cu12 wheels that PyTorch 2.6 for CUDA 12.4 requires",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    view = branches(source, context.project.torch_extension)
    held = _Held(source)
    forced = {item.branch.directive.first: item for item in view.forced(lambda a, b: unportable(source, a, b, context))}
    seen: set[int] = set()
    told: set[tuple[bytes, bool | None, bool]] = set()
    numbers = _defining_numbers(source)
    for chain, taken in zip(view.chains, view.taken, strict=True):
        seen.update(branch.directive.first for branch in chain.branches)
        if respects_hip(source, chain):
            continue
        if held.overloads_by_pass(chain):
            yield _overloaded(source, chain)
            continue
        functions = _chooses_device_functions(source, chain, held)
        look = _looked_at(source, chain, taken.device, told, numbers)
        for branch, device in zip(chain.branches, taken.device, strict=True):
            begin = branch.directive.first
            yield from _condition(
                source, chain, branch.directive, forced.get(begin), device, functions, held, begin == look
            )
    yield from _elsewhere(source, seen)


def _looked_at(
    source: CudaSource,
    chain: Chain,
    device: tuple[bool | None, ...],
    told: set[tuple[bytes, bool | None, bool]],
    numbers: list[int],
) -> int | None:
    """The directive of a chain that somebody has to look at, by its first token.

    `told`: questions about versions that were asked earlier in the file. `numbers`: the tokens that define a number.
    """
    asks = [branch.directive for branch in chain.branches]
    compared = [
        at
        for item in asks
        for at in range(item.first + 2, item.last)
        if source.texts[at] in RULE.triggers and not _is_settled(source, item, at)
    ]
    compared = [at for at in compared if not source.texts[at].startswith(b"__CUDACC_VER_")]
    versions = {_question(source, at) for at in compared if source.texts[at] != ARCH}
    if versions:
        fresh = versions - told
        told |= versions
        if not fresh:
            return None
    elif not compared or not (_numbers(source, compared) > 1 or _holds(source, chain, numbers)):
        return None
    holding = {item.first for item in asks if any(item.first < at < item.last for at in compared)}
    chosen = next((item.first for item, taken in zip(asks, device, strict=True) if taken), None)
    return chosen if chosen in holding else min(holding)


def _question(source: CudaSource, at: int) -> tuple[bytes, bool | None, bool]:
    """What a comparison of a version asks: the macro, whether the port's version has reached the number, and whether
    one version alone is meant. `CUDA_VERSION < 12000` asks what `CUDA_VERSION >= 12000` does."""
    name = source.texts[at]
    compared = _comparison(source, at)
    if compared is None or name not in PLATFORM_VALUES:
        return name, None, False
    relation, number, _, _ = compared
    return name, number <= PLATFORM_VALUES[name], relation in (b"==", b"!=")


def _numbers(source: CudaSource, compared: list[int]) -> int:
    """How many generations the comparisons tell apart: numbers beside `__CUDA_ARCH__` and an operator."""
    found = {number for at in compared for number in map(integer, source.texts[at + 1 : at + 4])}
    found |= {item[1] for item in (_comparison(source, at) for at in compared) if item is not None}
    return len(found - {None})


def _defining_numbers(source: CudaSource) -> list[int]:
    """The tokens of the file that define a number, in order: `#define STAGES (4)`, `constexpr int TILE = 256;`,
    `constexpr int TILE{256};`, `using Tile = Shape<128, 64>;`."""
    return sorted(
        [at for at in source.find(b"define") if _is_number_macro(source, at)]
        + [at for at in source.find(*_CONSTANT) if _is_number_constant(source, at)]
        + [at for at in source.find(b"using", b"typedef") if _is_number_type(source, at)]
    )


_ARITHMETIC = frozenset(b"( ) + - * / % << | ,".split())


def _is_number_macro(source: CudaSource, at: int) -> bool:
    directive = source.directive_of(at)
    if directive is None or directive.first != at - 1:
        return False
    body = [text for text in source.texts[at + 2 : directive.last] if text != b"\\"]
    numbers = [integer(text) is not None for text in body]
    return any(numbers) and all(one or text in _ARITHMETIC for one, text in zip(numbers, body, strict=True))


def _is_number_constant(source: CudaSource, at: int) -> bool:
    near = source.texts[at + 1 : at + 7]
    gives = next((i for i, text in enumerate(near) if text in (b"=", b"{", b";")), len(near))
    if near[:1] == [b"("] or gives == len(near) or near[gives] == b";" or b"*" in near[:gives]:
        return False
    return integer(source.at(at + 2 + gives)) is not None


def _is_number_type(source: CudaSource, at: int) -> bool:
    """True for another name of a template's instance for numbers: `using Tile = Shape<128, 64>`."""
    end = at + 1
    while end < min(at + 64, len(source.texts)) and source.texts[end] not in (b";", b"{", b"}"):
        end += 1
    texts = source.texts[at:end]
    return b"<" in texts and any(integer(text) is not None for text in texts[texts.index(b"<") :])


def _holds(source: CudaSource, chain: Chain, places: list[int]) -> bool:
    """True where one of the places, in order, lies between the chain's directives."""
    first = bisect.bisect_left(places, source.token_at(chain.start))
    return first < len(places) and places[first] < source.token_at(chain.end)


_CONSTANT = frozenset({b"constexpr", b"const", b"enum"})


def _condition(
    source: CudaSource,
    chain: Chain,
    directive: Directive,
    forced: Forced | None,
    taken: bool | None,
    functions: bool,
    held: _Held,
    look: bool,
) -> Iterator[Finding]:
    """`taken`: whether device code takes the branch; `functions`: the chain chooses nothing but device functions;
    `look`: of the chain's branches this is the one that somebody has to look at."""
    positions = [at for at in range(directive.first + 2, directive.last) if source.texts[at] in RULE.triggers]
    if not positions and forced is None:
        return
    last = directive.last - 1
    edits, names, presence = _edits(source, directive, positions)
    if presence and _holds_device_functions(source, chain, held):
        edits = [
            replace(source, at, b"__HIPCC__") if source.texts[at] == ARCH else edit
            for at, edit in zip(positions, edits, strict=True)
        ]
        yield finding(
            RULE,
            source,
            directive.first,
            "HIP's host pass reads device code, too: functions for the device are declared in both",
            last=last,
            edits=edits,
            applicability=Applicability.SAFE,
        )
        return
    if presence and directive is chain.branches[0].directive and (made := _specified_alike(source, chain, edits)):
        yield finding(
            RULE,
            source,
            directive.first,
            "HIP's host pass reads device code, too: what its functions call is a function for both there",
            last=last,
            edits=made,
            applicability=Applicability.SAFE,
        )
        return
    if forced is not None:
        edits = _force(source, directive, edits, forced)
        verb = "taken" if forced.take else "skipped"
        yield finding(
            RULE,
            source,
            directive.first,
            f"{verb} under HIP: what an sm_80 build compiles holds {forced.reason}, and a fallback stands beside it",
            last=last,
            edits=edits,
            headers=[HEADER],
            fix="see that the fallback computes the same",
        )
        return
    message = f"{_listed(names)} is not defined by HIP"
    clang = not _CLANG.isdisjoint(source.texts[directive.first + 2 : directive.last])
    if presence:
        clang = clang and not _leaves_both_out(source, directive, names)
        yield finding(
            RULE,
            source,
            directive.first,
            f"{message}; the port asks for {_counterparts(names)}" + (_CLANG_TOLD if clang else ""),
            last=last,
            edits=edits,
            applicability=Applicability.REVIEW if clang else Applicability.SAFE,
            fix=_WITHOUT_CLANG if clang else "",
        )
        return
    settled = not look or all(_is_settled(source, directive, at) for at in positions)
    settled = settled or (ARCH not in names and not _decides_more(source, chain, directive, taken))
    # Nothing is left out, nothing stands in its place, and no macro tells others.
    alone = taken is True and len(chain.branches) == 1 and not _sets_macros(source, chain)
    settled = settled or (alone and all(_is_settled(source, directive, at, _OF_SM_80) for at in positions))
    where = "in device code"
    if functions and ARCH in names:
        where = "in both passes"
        edits = [
            replace(source, at, b"ROCPORT_CUDA_ARCH_VALUE") if source.texts[at] == ARCH else edit
            for at, edit in zip(positions, edits, strict=True)
        ]
    yield finding(
        RULE,
        source,
        directive.first,
        f"{message}; the port decides as a build for sm_80 with CUDA 12.4 does"
        + (_CLANG_TOLD if clang else _outcome(taken, where)),
        last=last,
        edits=edits,
        headers=[HEADER],
        applicability=Applicability.SAFE if settled and not clang else Applicability.REVIEW,
        fix=_WITHOUT_CLANG if clang else "see that the branch suits AMD GPUs",
        cause="" if clang else "parts by NVIDIA's architecture" if ARCH in names else "versions of CUDA's toolkit",
    )


def _sets_macros(source: CudaSource, chain: Chain) -> bool:
    """True where a branch defines a macro, other than a header's guard, or stops the build."""
    told = _told(source)
    at = bisect.bisect_right(told, chain.start)
    return at < len(told) and told[at] < chain.end


@lru_cache(maxsize=2)
def _told(source: CudaSource) -> list[int]:
    """Where a file tells others something: a macro that is no header's guard, or that the build stops."""
    return [
        item.start
        for item in source.directives
        if item.name in (b"define", b"undef", b"error")
        and not source.at(item.first + 2).endswith((b"_H", b"_HPP", b"_CUH", b"_H_"))
    ]


def _decides_more(source: CudaSource, chain: Chain, directive: Directive, taken: bool | None) -> bool:
    """True where a branch defines a macro or stops the build, or where the one that is compiled sets what no other rule
    looks at (`return true;`, a type, a number). Else it chooses among CUDA's names, and each name that is compiled has
    a finding of its own where HIP's differs."""
    if any(
        item.name in (b"define", b"undef", b"error") and chain.start < item.start < chain.end
        for item in source.directives
    ):
        return True
    compiled = next((item for item in chain.branches if item.directive is directive), None)
    if taken is False:
        compiled = chain.branches[-1] if chain.branches[-1].directive.name == b"else" else None
    if compiled is None or _TOOLKIT.isdisjoint(source.texts[directive.first : directive.last]):
        return False
    at, end = (bisect.bisect_left(source.starts, place) for place in (compiled.start, compiled.end))
    code = [source.at(number) for number in range(at, end) if source.directive_of(number) is None]
    known = load().identifiers.keys() | in_families(source.data[compiled.start : compiled.end])
    judged = [word in known or word.startswith(b"__") for word in code]
    return bool(code) and (not any(judged) or any(map(_sets, *_statements(code, judged))))


def _statements(code: list[bytes], judged: list[bool]) -> tuple[list[list[bytes]], list[bool]]:
    """The statements outside braces, and of each whether another rule judges a name of it."""
    found: list[list[bytes]] = [[]]
    known, depth = [False], 0
    for word, one in zip(code, judged, strict=True):
        depth += (word == b"{") - (word == b"}")
        if word in (b";", b"}") and depth == 0:
            found.append([])
            known.append(False)
            continue
        found[-1].append(word)
        known[-1] |= one
    return found, known


def _sets(statement: list[bytes], judged: bool) -> bool:
    """True for `return true`, `pooled = 1`, `constexpr int n = 4` with nothing that another rule judges."""
    if judged or len(statement) < 2:
        return False
    plain = statement[0] == b"return" or (statement[1] == b"=" and len(statement) == 3)
    return plain or statement[0] in (b"constexpr", b"using", b"typedef", b"enum") or b"constexpr" in statement[:3]


def _leaves_both_out(source: CudaSource, directive: Directive, names: Collection[bytes]) -> bool:
    """True for `#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)`: nvcc did not take it, and clang
    for HIP does not, whatever the other macros are."""
    words = source.texts[directive.first + 2 : directive.last]
    asked = [item for item in words if item not in (b"(", b")")]
    denied = {
        macro
        for bang, word, macro in zip(asked, asked[1:], asked[2:], strict=False)
        if (bang, word) == (b"!", b"defined")
    }
    if (b"!", b"(") in pairwise(words) or {b"||", b"?"} & set(words):
        return False
    return b"__clang__" in denied and not denied.isdisjoint(COMPILER) and denied.issuperset(names)


_TOOLKIT = frozenset({b"CUDART_VERSION", b"CUDA_VERSION"})
_CLANG_TOLD = "; __clang__ is defined by it, and was not by nvcc: another branch may be taken"
_WITHOUT_CLANG = "leave __clang__ out where nvcc's branch is meant for AMD, too"
_CLANG = frozenset({b"__clang__", b"__clang_major__", b"__clang_version__"})
_OLDEST = {ARCH: 500, b"CUDART_VERSION": 9000, b"CUDA_VERSION": 9000, b"__CUDACC_VER_MAJOR__": 9}
"""What every GPU and toolkit in use is at least: CUDA 12 builds for sm_50 and later."""
_OF_SM_80 = dict.fromkeys(_TOOLKIT, 11000)
"""What every toolkit is at least that builds for sm_80, as which the port decides."""
_COMPARED = (b"<", b"<=", b">", b">=", b"==", b"!=")


def _is_settled(source: CudaSource, directive: Directive, at: int, least: Mapping[bytes, int] | None = None) -> bool:
    """True for a name that is asked whether it is defined, or compared with a version that all in use have passed."""
    if _asks_defined(source, directive, at):
        return True
    oldest, compared = (_OLDEST if least is None else least).get(source.texts[at]), _comparison(source, at)
    if oldest is None or compared is None:
        return False
    relation, number, first, last = compared
    if number > oldest:
        return False
    rest = [text for text in source.texts[last : directive.last] if text != b"\\"]
    ahead = source.texts[directive.first + 2 : first]
    if (rest and rest[0] not in (b"&&", b"||", b")")) or (ahead and ahead[-1] not in (b"&&", b"||", b"(", b"\\")):
        return False  # the 7 of `7 * 100`
    return number < oldest or relation in (b"<", b">=")


_MIRRORED = {b"<": b">", b"<=": b">=", b">": b"<", b">=": b"<=", b"==": b"==", b"!=": b"!="}


def _comparison(source: CudaSource, at: int) -> tuple[bytes, int, int, int] | None:
    """(relation, number, first token, the token behind the last) of `NAME >= 700` and of `700 <= NAME`, which is the
    same; None where no number stands beside the name."""
    # `>=` is two tokens.
    twice = source.at(at + 1) == b">" and source.at(at + 2) == b"="
    relation, behind = (b">=", at + 3) if twice else (source.at(at + 1), at + 2)
    number = integer(source.at(behind))
    if relation in _COMPARED and number is not None:
        return relation, number, at, behind + 1
    twice = source.at(at - 1) == b"=" and source.at(at - 2) == b">"
    relation, first = (b">=", at - 3) if twice else (source.at(at - 1), at - 2)
    number = integer(source.at(first))
    if relation in _MIRRORED and number is not None:
        return _MIRRORED[relation], number, first, at + 1
    return None


def _holds_device_functions(source: CudaSource, chain: Chain, held: _Held) -> bool:
    """True for `#ifdef __CUDA_ARCH__` around functions for the device, without another branch and without #error."""
    if len(chain.branches) != 1:
        return False
    branch = chain.branches[0]
    texts = source.texts[branch.directive.first + 1 : branch.directive.last]
    if texts not in ([b"ifdef", ARCH], [b"if", b"defined", b"(", ARCH, b")"], [b"if", b"defined", ARCH]):
        return False
    if not held.defines_device_functions(branch):
        return False
    return source.enclosing(branch.directive.first) is None


def _overloaded(source: CudaSource, chain: Chain) -> Finding:
    """Both branches, each a conditional of its own: __CUDA_ARCH__ is never defined by HIP."""
    first, second = (branch.directive for branch in chain.branches)
    asked = first.first + 2
    edits = [replace(source, asked, b"__HIPCC__")] if source.texts[asked - 1] == b"ifdef" else []
    follows = b"#ifndef " + ARCH if edits else b"#ifdef __HIPCC__"
    return finding(
        RULE,
        source,
        first.first,
        "HIP's passes read host and device code alike: a function for each, which clang tells apart",
        last=first.last - 1,
        edits=[*edits, replace(source, second.first + 1, b"endif" + source.newline + follows)],
        applicability=Applicability.SAFE,
    )


_SPECIFIERS = frozenset(b"static inline constexpr __device__ __host__ __forceinline__ __inline__ __noinline__".split())


def _specified_alike(source: CudaSource, chain: Chain, edits: list[Edit]) -> list[Edit]:
    """The edits that make a function for both of `#ifdef __CUDA_ARCH__`, `__device__`, `#else`, `static inline`,
    `#endif`, and of one without `#else`; empty for any other conditional."""
    first = chain.branches[0].directive
    if len(chain.branches) > 2 or ARCH not in source.texts[first.first : first.last]:
        return []
    said: list[tuple[int, set[bytes]]] = []
    for branch in chain.branches:
        at = branch.directive.last
        begin, words = source.line_start(at), set()
        while at < len(source.texts) and source.starts[at] < branch.end:
            if source.texts[at] not in _SPECIFIERS:
                return []
            words.add(source.texts[at])
            at += 1
        said.append((begin, words))
    device = [b"__device__" in words for _, words in said]
    if device.count(True) != 1 or not all(words for _, words in said):
        return []
    if len(said) == 2:
        both = source.newline.join([b"#if defined(__HIPCC__)", b"__host__ __device__", b"#endif", b""])
        return [*edits, insert(said[device.index(False)][0], both)]
    if source.texts[first.first + 1 : first.last] != [b"ifdef", ARCH] or b"__host__" in said[0][1]:
        return []
    return [replace(source, first.last - 1, b"__HIPCC__"), insert(said[0][0], b"__host__ ")]


def _chooses_device_functions(source: CudaSource, chain: Chain, held: _Held) -> bool:
    """True for branches that hold definitions of functions for the device and nothing else, outside functions.

    HIP declares its own in the host pass, too, where the number is not defined and a fallback for old GPUs collides.
    What the host reads (a constant, a type) keeps the host's branch.
    """
    asks = [branch.directive for branch in chain.branches]
    if any(at for item in asks for at in range(item.first + 2, item.last) if _asks_of(source, item, at)):
        return False
    return source.enclosing(asks[0].first) is None and held.only_device_functions(chain)


_CONDITIONAL = frozenset(b"if ifdef ifndef elif elifdef elifndef else endif".split())
_NEUTRAL = _CONDITIONAL | {b"pragma"}
_ENDS = frozenset({b";", b"{", b"}", b"=", b"constexpr", b"consteval"})
"""What no head of a function for the device alone holds; the host may ask a constexpr function."""
_WITH_ARGUMENTS = frozenset({b"__attribute__", b"__launch_bounds__", b"__align__", b"alignas", b"decltype"})


class _Held:
    """What a file holds outside its functions for the device, read once for all conditionals of it."""

    def __init__(self, source: CudaSource) -> None:
        self._source = source
        self._refusals = [item.start for item in source.directives if item.name == b"error"]
        own = (item.name for item in source.functions if b"__device__" in item.specifiers and item.body is not None)
        self._device = sorted((source.starts[name], source.texts[name]) for name in own)
        self._defined = [start for start, _ in self._device]
        self._constexpr = sorted(source.starts[at] for at in source.find(b"constexpr", b"consteval"))
        self._told = [item.start for item in source.directives if item.name not in _NEUTRAL]

    @cached_property
    def _read(self) -> tuple[list[int], list[int], list[int]]:
        """Where what is no function for the device alone stands; where those functions start; where they end."""
        source = self._source
        others: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        functions = {item.name: item for item in source.functions}
        texts, head, at = source.texts, None, 0
        while at < len(texts):
            directive = source.directive_of(at)
            function = functions.get(at)
            follows, stands = at + 1, True
            if directive is not None:
                follows = directive.last
                stands = directive.name in _CONDITIONAL and head is None
                head = None
            elif function is not None and (body := function.body) is not None and _for_device_alone(function):
                starts.append(source.starts[at if head is None else head])
                ends.append(source.end(body[1]))
                head, follows = None, body[1] + 1
                follows += source.at(follows) == b";"
            elif texts[at] in _ENDS:
                stands, head = False, None
            else:
                head = at if head is None else head
                follows, stands = _past(source, at)
            if not stands:
                others.append(source.starts[at])
            at = max(follows, at + 1)
        if head is not None:
            others.append(source.starts[head])
        return others, starts, ends

    def defines_device_functions(self, branch: Branch) -> bool:
        """True where a branch defines a function for the device, and does not refuse."""
        refuses = between(self._refusals, branch.start, branch.end)
        return not refuses and bool(between(self._defined, branch.start, branch.end))

    def overloads_by_pass(self, chain: Chain) -> bool:
        """True for `#ifdef __CUDA_ARCH__`, functions for the device, `#else`, functions for the host with their names.

        clang takes both for overloads, unless one is constexpr: for host and device, that is.
        """
        if len(chain.branches) != 2 or chain.branches[1].directive.name != b"else":
            return False
        first, last = chain.branches[0].directive, chain.branches[1]
        begins = self._source.texts[first.first + 1 : first.last]
        if begins not in ([b"ifdef", ARCH], [b"ifndef", ARCH]) or self._source.enclosing(first.first) is not None:
            return False
        host, device = chain.branches if begins[0] == b"ifndef" else chain.branches[::-1]
        others, starts, _ = self._read
        if between(self._told, first.start, last.end) or between(self._constexpr, first.start, last.end):
            return False
        if between(others, device.start, device.end) or not between(starts, device.start, device.end):
            return False
        if between(self._defined, host.start, host.end):
            return False
        low, high = (bisect.bisect_left(self._device, (place,)) for place in (device.start, device.end))
        return all(self._defines(name, host) for _, name in self._device[low:high])

    def _defines(self, name: bytes, branch: Branch) -> bool:
        """True where a branch defines a function of that name."""
        places = self._source.index[name]
        for at in places[bisect.bisect_left(places, branch.directive.last) :]:
            if self._source.starts[at] >= branch.end:
                break
            close = self._source.pairs.get(at + 1)
            if close is not None and self._source.at(close + 1) in (b"{", b"const", b"noexcept"):
                return True
        return False

    def only_device_functions(self, chain: Chain) -> bool:
        """True where the branches hold whole definitions of functions for the device, at least one, and no more."""
        start, end = chain.branches[0].start, chain.end
        if between(self._told, start, end) or not between(self._defined, start, end):
            return False
        others, starts, ends = self._read
        if between(others, start, end):
            return False
        for branch in chain.branches:
            at = bisect.bisect_left(starts, branch.end) - 1
            if at >= 0 and starts[at] >= branch.start and ends[at] > branch.end:
                return False
        return bool(between(starts, start, end))


def _for_device_alone(function: Function) -> bool:
    return b"__device__" in function.specifiers and not {b"__host__", b"__global__"} & function.specifiers


def _past(source: CudaSource, at: int) -> tuple[int, bool]:
    """(the token behind this one of a function's head, and what is in brackets; whether a head can hold it)."""
    text, before = source.texts[at], source.at(at - 1)
    if text == b"<":
        close = source.angle_end(at)
    elif (text == b"(" and before in _WITH_ARGUMENTS) or (text == b"[" and source.at(at + 1) == b"["):
        close = source.pairs.get(at)
    else:
        return at + 1, text not in (b"(", b"[")
    return (at, False) if close is None else (close + 1, True)


def _asks_of(source: CudaSource, directive: Directive, at: int) -> bool:
    return source.texts[at] == ARCH and _asks_defined(source, directive, at)


def _edits(source: CudaSource, directive: Directive, positions: list[int]) -> tuple[list[Edit], list[bytes], bool]:
    """Edits that rename the macros of one condition, the macros, and whether it only asks if they are defined."""
    texts = source.texts
    edits: list[Edit] = []
    names: list[bytes] = []
    presence = True
    for at in positions:
        name = texts[at]
        if name not in names:
            names.append(name)
        asks = _asks_defined(source, directive, at)
        if name in COMPILER or name == RUN_TIME_COMPILER:
            edits.append(_compiler(source, directive, at, asks))
        elif name == ARCH and asks:
            edits.append(replace(source, at, b"__HIP_DEVICE_COMPILE__"))
        elif name == _FEATURE:
            call = source.call(at)
            edits.append(replace_range(source, at, (call.close if call else at) + 1, b"0"))
            presence = False
        else:
            edits.append(replace(source, at, b"ROCPORT_CUDA_ARCH" if name == ARCH else _RENAMED[name]))
            presence = False
    return edits, names, presence


def _asks_defined(source: CudaSource, directive: Directive, at: int) -> bool:
    if directive.name in (b"ifdef", b"ifndef", b"elifdef", b"elifndef"):
        return True
    before = source.at(at - 1)
    return before == b"defined" or (before == b"(" and source.at(at - 2) == b"defined")


def _compiler(source: CudaSource, directive: Directive, at: int, asks: bool) -> Edit:
    name = source.texts[at]
    either = b"defined(" + name + b") || defined(" + _HIP_COMPILER[name] + b")"
    if directive.name in (b"ifdef", b"elifdef"):
        keyword = directive.name.removesuffix(b"def")
        return replace_range(source, directive.first + 1, at + 1, keyword + b" " + either)
    if directive.name in (b"ifndef", b"elifndef"):
        keyword = directive.name.removesuffix(b"ndef")
        neither = b" !defined(" + name + b") && !defined(" + _HIP_COMPILER[name] + b")"
        return replace_range(source, directive.first + 1, at + 1, keyword + neither)
    if not asks:
        return replace(source, at, b"(" + either + b")")
    if source.at(at - 1) == b"defined":
        return replace_range(source, at - 1, at + 1, b"(" + either + b")")
    return replace_range(source, at - 2, at + 2, b"(" + either + b")")


def _force(source: CudaSource, directive: Directive, edits: list[Edit], forced: Forced) -> list[Edit]:
    before = b"ROCPORT_HIP || (" if forced.take else b"!ROCPORT_HIP && ("
    start, end = source.starts[directive.first + 2], source.end(directive.last - 1)
    if directive.name in (b"if", b"elif"):
        return [insert(start, before), *edits, insert(end, b")")]
    negated = b"!" if directive.name.endswith(b"ndef") else b""
    keyword = b"elif " if directive.name.startswith(b"el") else b"if "
    name = b"__HIP_DEVICE_COMPILE__" if source.texts[directive.first + 2] == ARCH else source.texts[directive.first + 2]
    condition = keyword + before + negated + b"defined(" + name + b"))"
    return [replace_range(source, directive.first + 1, directive.last, condition)]


def _outcome(taken: bool | None, where: str) -> str:
    return {True: f": taken {where}", False: f": not taken {where}", None: ""}[taken]


def _listed(names: list[bytes]) -> str:
    return " or ".join(name.decode() for name in names)


def _counterparts(names: list[bytes]) -> str:
    wanted = {
        _HIP_COMPILER[name].decode() + " too" if name in _HIP_COMPILER else "__HIP_DEVICE_COMPILE__" for name in names
    }
    return " and ".join(sorted(wanted))


def _elsewhere(source: CudaSource, seen: set[int]) -> Iterator[Finding]:
    """Uses outside `#if`: in macro bodies and in code."""
    lines: set[int] = set()
    for position in sorted(source.find(*CUDA_NAMES)):
        directive = source.directive_of(position)
        if directive is not None and (directive.first in seen or directive.name in (b"include", b"error", b"pragma")):
            continue
        name = source.texts[position]
        if name in COMPILER or name == RUN_TIME_COMPILER:
            if directive is not None and _asks_defined(source, directive, position):
                yield finding(
                    RULE,
                    source,
                    position,
                    f"{name.decode()} is not defined by HIP; the port asks for {_HIP_COMPILER[name].decode()} too",
                    edits=[_compiler(source, directive, position, True)],
                    applicability=Applicability.SAFE,
                )
            continue
        line = source.line(source.starts[position])
        # One look at a line is enough, however many parts of a version it puts together.
        asserted = source.at(position - 2) == b"static_assert"  # a build it does not suit stops, and says why
        shown = directive is None and name != ARCH and is_printed(source, position)
        once = Applicability.SAFE if line in lines or asserted or shown else Applicability.REVIEW
        lines.add(line)
        if name != ARCH:
            yield _plain(source, position, _RENAMED[name], once, (HEADER,))
        elif directive is not None and _for_conditionals(source, directive):
            yield _plain(source, position, b"ROCPORT_CUDA_ARCH", once, (HEADER,))
        else:
            yield _plain(source, position, b"ROCPORT_CUDA_ARCH_VALUE", once, (HEADER,))


def _for_conditionals(source: CudaSource, directive: Directive) -> bool:
    """True for `#define X ... __CUDA_ARCH__ ...` whose X is meant for `#if`, and for `#define __CUDA_ARCH__`."""
    if source.texts[directive.first + 2] == ARCH or b"defined" in source.texts[directive.first : directive.last]:
        return True
    users = (source.directive_of(at) for at in source.find(source.texts[directive.first + 2]))
    return any(user is not None and user.name in (b"if", b"elif") for user in users)


def _plain(
    source: CudaSource, position: int, text: bytes, applicability: Applicability, headers: tuple[str, ...]
) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{source.texts[position].decode()} is not defined by HIP; the port has {text.decode()}",
        edits=[replace(source, position, text)],
        applicability=applicability,
        headers=headers,
    )

"""A name of CUDA's that the project has given a meaning of its own: a macro, or a function CUDA no longer declares.

`#define __shfl(v, lane) __shfl_sync(0xffffffff, v, lane, 16)` makes every `__shfl(v, 3)` of the project its own, of
width 16. Where the builds of the port surely define such a macro, its uses are left as they are and only its text is
ported: SAFE. Where a condition over names nobody knows decides, the uses are ported as CUDA's, and the macro is for
REVIEW.

A function the project calls `__any` or `__shfl_down` is the one its calls mean, as CUDA declares neither since sm_70;
HIP declares both. Definition and calls get a name of their own: REVIEW.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from rocport.binding import Binder, Owner, binder
from rocport.binding.bind import RETIRED
from rocport.binding.collect import live, macros
from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.conditionals import switch_around
from rocport.syntax.cuda import CudaSource, Directive

RULE = Rule(
    name="own-name",
    summary="the project's own meaning of a CUDA name",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    binds=True,
    examples=(
        Example(
            "#define __shfl(v, l) __shfl_sync(~0u, v, l, 16)\n__device__ int f(int v) { return __shfl(v, 3); }\n",
            contains=(
                "#define __shfl(v, l) rocport::shfl_sync(rocport::full_warp_mask, v, l, 16)",
                "return __shfl(v, 3)",
            ),
        ),
        Example(
            "__device__ int __any(int p) { return p; }\n__device__ int f(int p) { return __any(p); }\n",
            contains=("int project_any(int p)", "return project_any(p)"),
        ),
        Example(
            "#ifdef SLOW\n#define __ballot(p) slow(p)\n#endif\n__device__ int f(int p) { return __ballot(p); }\n",
            contains=("return rocport::ballot(p)",),
        ),
        Example("#ifdef __clang__\n#define __device__\n#endif\n__device__ int f(int a) { return a; }\n"),
        Example("#ifdef NDEBUG\n#define __device__\n#endif\n__device__ int f(int a) { return a; }\n"),
        Example("#ifdef FAST\n#define __device__ inline\n#endif\n__device__ int f(int a) { return a; }\n"),
    ),
    clean=(
        "__device__ at::Half __shfl_up(const at::Half v, unsigned d) { return __shfl_up(v.operator __half(), d); }\n",
        "#ifndef __device__\n#define __device__\n#endif\n__device__ int f(int a) { return a; }\n",
        "#ifdef __JETBRAINS_IDE__\n#define __device__\n#define __shared__\n#endif\n__device__ int f(int a);\n",
        "#ifdef BY_HAND\n#define __global__\n#define __device__\n#endif\n__device__ int f(int a) { return a; }\n",
        "#ifdef TIDY\n#if !defined(__device__)\n#define __device__\n#endif\n#endif\n__device__ int f(int a);\n",
        "#if defined __SUNPRO_CC && !defined __RESTRICT\n#define _Restrict\n#define __restrict__\n#endif\n",
        "#define SHFL(v, l) __shfl_sync(0xffffffff, v, l)\n",
        "struct T { __device__ int __any(int p); };\n",
    ),
    sources=("https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (warp vote and shuffle functions, deprecation)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = binder(source, context)
    renamed = load().identifiers
    for name in sorted(bound.own):
        symbol = renamed.get(name)
        if (symbol is not None and symbol.hip != symbol.cuda) or name in _OTHERS:
            continue
        yield from _macros(source, name, context)
        if name in RETIRED:
            yield from _functions(source, bound, name)


_OTHERS = frozenset((b"warpSize", b"__restrict__", b"__restrict"))
"""Another rule's to name, and words of the compilers that configure scripts define where one lacks them."""


def _macros(source: CudaSource, name: bytes, context: Context) -> Iterator[Finding]:
    for directive in macros(source, name):
        if not name.startswith(b"__"):
            continue
        states = live(source, directive.start, name)
        if states[0] is False:
            continue
        if name in _OF_HIP and (_is_default(source, directive, name) or _is_off(source, directive, context)):
            continue
        sure = states[0] is True
        shown = name.decode()
        yield finding(
            RULE,
            source,
            directive.first + 2,
            f"{shown} is the project's own macro here: its uses keep this text"
            if sure
            else f"{shown} is CUDA's, or this macro where an unknown condition holds: its uses are ported as CUDA's",
            applicability=Applicability.SAFE if sure else Applicability.REVIEW,
            fix="" if sure else "say which of the two a build for ROCm shall use, and rename the macro",
            cause="" if sure else "CUDA's names that are macros of the project's where an unknown condition holds",
        )


_OF_HIP = frozenset(
    b"__device__ __host__ __global__ __shared__ __constant__ __forceinline__ __noinline__ __launch_bounds__".split()
)
"""HIP's headers define them as macros, as CUDA's do."""


def _is_default(source: CudaSource, directive: Directive, name: bytes) -> bool:
    """True for `#ifndef __device__`, `#define __device__`: for a compiler of the host alone."""
    at = bisect_left(source.directives, directive.first, key=lambda item: item.first)
    before = source.directives[max(at - 1, 0) : at]
    return any(
        (item.name == b"ifndef" and source.at(item.first + 2) == name)
        or source.text(item.first + 1, item.last).replace(b" ", b"")
        in (b"if!defined(" + name + b")", b"if!defined" + name)
        for item in before
    )


def _is_off(source: CudaSource, directive: Directive, context: Context) -> bool:
    """True for a word that is made nothing behind a switch to which neither the tree nor its build gives a value: HIP's
    build, as CUDA's, has the word's own meaning, and who sets the switch has none in either."""
    name = switch_around(source, directive.start) if directive.last == directive.first + 3 else b""
    return (
        bool(name)
        and not name.startswith(b"_")  # a compiler's own: HIP's defines __clang__
        and name != b"NDEBUG"
        and name.decode() not in context.project.defined
        and name not in context.project.macros
        and name not in _given(source)
    )


@lru_cache(maxsize=2)
def _given(source: CudaSource) -> frozenset[bytes]:
    """The macros that a file defines."""
    return frozenset(source.at(item.first + 2) for item in source.directives if item.name == b"define")


def _functions(source: CudaSource, bound: Binder, name: bytes) -> Iterator[Finding]:
    for position in sorted(source.find(name)):
        binding = bound.bind(position)
        if binding.owner is not Owner.PROJECT or binding.what != "function":
            continue
        declares = any(item.position == position for item in bound.scopes.declarations(name))
        inside = source.at(position - 1) == b"::"
        if inside or any(item.owner for item in bound.definitions(name, "function")):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} is the project's own function ({binding.path}:{binding.line}), and HIP declares one of "
            "that name over the whole wavefront: renamed",
            applicability=Applicability.REVIEW if declares else Applicability.SAFE,
            edits=[replace(source, position, b"project" + name[1:])],
            fix="see whether it does what CUDA's did; if so, delete it" if declares else "",
        )

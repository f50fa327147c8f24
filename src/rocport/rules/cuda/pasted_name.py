"""A macro that pastes or stringizes names: `cuda##fn`, `__shfl_##op`, `STR(kernel source)`.

The name that `##` makes stands nowhere in the text, so no rule of names sees it. The part that is written is translated
where every CUDA name that starts with it keeps its rest: `cuda##fn` becomes `hip##fn`, `__shfl_##op` becomes
`rocport::shfl_##op`. For REVIEW, because which names are pasted is seen only where the macro is used; MANUAL where the
names known to be pasted do not all fit.

A macro that makes a string of its argument (`#x`) makes text of device code; its translation calls headers of the port
that a run-time compiler does not find by itself: REVIEW.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rocport.binding.scopes import Scopes, What
from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace_range
from rocport.rules.cuda.warp_common import HEADER, INTRINSICS, amd_only
from rocport.syntax.cuda import CudaSource, Directive

RULE = Rule(
    name="pasted-name",
    summary="CUDA name made by pasting or stringizing",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    binds=True,
    examples=(
        Example("#define CALL(f) cuda##f()\nvoid g() { CALL(DeviceSynchronize); }\n", contains=("hip##f()",)),
        Example("#define GEMM(T) cublas##T##gemm\n", contains=("hipblas##T##gemm",)),
        Example("#define UP(op, v) __shfl_##op(v, 1)\n", contains=("rocport::shfl_##op(v, 1)",)),
        Example(
            "#define VOTE(op) __##op##_sync\nauto v = VOTE(any)(~0u, 1);\n", contains=("rocport::op##_sync",), absent=()
        ),
        Example("#define LOAD(x) x##_fn = get(#x)\nvoid f() { LOAD(cuInit); }\n"),
        Example('#include "cat.h"\nvoid f(void *p) { CAT(cuda, Free)(p); }\n', contains=("CAT(hip, Free)",)),
        Example(
            "#define CAT(a, b) a##b\n#define RT(name) CAT(cuda, name)\nvoid f(void *p) { RT(Free)(p); }\n",
            contains=("#define RT(name) CAT(hip, name)",),
        ),
        Example('#include "cat.h"\n#define RT(name) CAT(cuda, name)\n', contains=("CAT(hip, name)",)),
        Example('#include "cat.h"\n#define RT(name) CAT(cuda, name##Async)\n', contains=("CAT(cuda, name##Async)",)),
        Example(
            "int cudaMine(int a);\n#define CALL(f) cuda##f(1)\n#define ALL(X) X(Mine)\nvoid g() { ALL(CALL); }\n",
            contains=("hip##f(1)",),
        ),
        Example("#define NAME(x) nvml##x\nint a = NAME(Init);\n", contains=("nvml##x",)),
    ),
    clean=(
        "#define JOIN(a, b) a##b\nint JOIN(x, y);\n",
        "#define KERNEL(T) my_kernel_##T\n",
        "#define PARAM(name) long ncclDev##name() { return 1; }\nPARAM(Threads)\n",
        "#define STR(x) #x\nconst char *s = STR(hello);\n",
    ),
    sources=("https://en.cppreference.com/w/cpp/preprocessor/replace (# and ## operators)",),
)

_PREFIX = re.compile(
    rb"(?:cuda[A-Za-z_]*|cu(?=[A-Z]|blas|fft|rand|sparse|solver|dnn)[A-Za-z_]*|cu|nccl\w*|nvml\w*|nvrtc\w*|cupti\w*|nvtx\w*"
    rb"|CU(?:DA|BLAS|FFT|RAND|SPARSE|SOLVER|DNN)?_\w*|CU(?:DA|BLAS|FFT|RAND|SPARSE|SOLVER|DNN)|NCCL_?\w*"
    rb"|__(?:shfl|ballot|any|all|match|reduce|syncwarp|activemask)\w*|__)\Z"
)


_HALVES = frozenset(
    b"cuda cu cublas cufft curand cusparse cusolver cusolverDn cudnn nccl nvrtc cudaError cudaMemcpy cudaStream "
    b"cudaEvent CUBLAS_ CUBLAS_OP_ CUDA_ CU_ CUDNN_ __shfl __shfl_ __".split()
)


@cache
def _targets() -> dict[bytes, bytes]:
    """What the CUDA names that can be pasted become."""
    found = {
        name: symbol.hip.encode()
        for name, symbol in load().identifiers.items()
        if symbol.hip != symbol.cuda and symbol.kind != "header"
    }
    found |= {name: b"rocport::" + name[2:] for name in INTRINSICS}
    return found


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    yield from _halves(source)
    if b"##" not in source.texts and b"#" not in source.texts:
        return
    for directive in source.directives:
        if directive.name != b"define" or amd_only(source, directive.first):
            continue
        names = _parameters(source, directive)
        if not names:
            continue
        yield from _pastes(source, directive, names, context)
        yield from _arguments(source, directive, names)
        if _stringizes(source, directive, names):
            yield from _strings(source, directive)


@cache
def _can_be_cudas(start: bytes, end: bytes) -> bool:
    """True where some name of CUDA's opens and closes as what is pasted does; the names of a library whose own are not
    in the tables can be any."""
    names = [*load().identifiers, *INTRINSICS]
    known = any(name.startswith(start[:4]) for name in names)
    return not known or any(name.startswith(start) and name.endswith(end) for name in names)


def _halves(source: CudaSource) -> Iterator[Finding]:
    """Both halves of a name given to a macro that joins them: `CAT(cuda, Free)`."""
    for position in sorted(source.find(*_HALVES)):
        if source.at(position - 1) not in (b"(", b",") or source.at(position + 1) != b",":
            continue
        if source.at(position + 3) not in (b",", b")", b"##") or amd_only(source, position):
            continue
        made = source.at(position) + source.at(position + 2)
        whole = source.at(position + 3) != b"##"
        if made not in _targets() or not whole:
            yield from _halves_through(source, position, whole)
            continue
        text = _prefix(source.at(position), {made})
        shown = (
            f"{source.at(position).decode()} and {source.at(position + 2).decode()} make {made.decode()} when pasted"
        )
        fix = "see that the macro pastes them; write the HIP name out where it does not exist under that spelling"
        yield _of_halves(source, position, shown, text, fix)


def _of_halves(source: CudaSource, position: int, shown: str, text: bytes | None, fix: str) -> Finding:
    """`text` takes the first half's place; None: no rename of it translates every name that the halves make."""
    return finding(
        RULE,
        source,
        position,
        shown,
        last=position + 2,
        applicability=Applicability.MANUAL if text is None else Applicability.REVIEW,
        edits=[] if text is None else [replace_range(source, position, position + 1, text)],
        headers=[HEADER] if text is not None and text.startswith(b"rocport::") else [],
        fix=fix,
    )


def _halves_through(source: CudaSource, position: int, whole: bool) -> Iterator[Finding]:
    """The definition `#define RT(name) CAT(cuda, name)`, where CAT joins two words; `whole`: nothing else is pasted to
    the name. What RT is used for decides where this file uses it; elsewhere it may be used for anything."""
    directive = source.directive_of(position)
    joins = source.at(position - 2) if source.at(position - 1) == b"(" else b""
    half, name = source.at(position), source.at(position + 2)
    if directive is None or directive.name != b"define" or half == b"__":
        return
    names = _parameters(source, directive)
    if name not in names:
        return
    pasting = any(
        other.name == b"define"
        and source.at(other.first + 2) == joins
        and b"##" in source.texts[other.first : other.last]
        for other in source.directives
    )
    if not pasting and not _JOINS.search(joins):
        return
    made = set(_made(source, directive, names, [half, name])) if whole else set()
    known = {item for item in made if item in _targets()}
    others = _not_of_cuda(source, directive, names, [half, name]) if whole else set()
    text = _prefix(half, known) if whole and not others else None
    written = f"{half.decode()} and the macro's {name.decode()}"
    if known | others:
        shown = f"{written} make {_listed(known | others)} when pasted" + (
            f"; HIP has no {_listed(others)}" if others else ""
        )
    else:
        shown = f"{written} make names when pasted, which this file does not show"
    fix = "see that every name the macro is used for exists in HIP under that spelling; write out those that do not"
    yield _of_halves(source, position, shown, text, fix)


def _not_of_cuda(source: CudaSource, directive: Directive, names: list[bytes], group: list[bytes]) -> set[bytes]:
    """Names that uses of the macro make and that have no counterpart in HIP; uses in other macros pass arguments on."""
    return {
        item
        for item in _made(source, directive, names, group, outside_macros=True)
        if item not in _targets() and _NAME.match(item)
    }


def _own(source: CudaSource, start: bytes) -> set[bytes]:
    """Functions of this file's that start as the pasted names do, and which no rename of those reaches."""
    scopes = Scopes(source)
    names = {name for name in source.names if name.startswith(start) and name not in _targets()}
    return {name for name in names if any(one.what is What.FUNCTION for one in scopes.declarations(name))}


def _listed(names: set[bytes]) -> str:
    return ", ".join(sorted(name.decode("utf-8", "replace") for name in names))


_NAME = re.compile(rb"[A-Za-z_]\w*\Z")
_JOINS = re.compile(rb"(?i)cat|join|paste|glue")


def _parameters(source: CudaSource, directive: Directive) -> list[bytes]:
    """Names of a function-like macro's parameters."""
    return [source.at(last - 1) for first, last in source.macro_parameters(directive) or () if last > first]


def _groups(source: CudaSource, directive: Directive) -> Iterator[list[int]]:
    """Tokens of each `a ## b ## c` in the body; a `##` at its end, which no compiler takes, joins nothing."""
    at = directive.first + 4
    while at < directive.last:
        group = [at - 1]
        while source.at(at) == b"##" and at + 1 < directive.last:
            group.append(at + 1)
            at += 2
        if len(group) > 1:
            yield group
        else:
            at += 1


def _pastes(source: CudaSource, directive: Directive, names: list[bytes], context: Context) -> Iterator[Finding]:
    native = context.options.warp == "native"
    for group in _groups(source, directive):
        fixed = [source.at(at) if source.at(at) not in names else None for at in group]
        made = set(_made(source, directive, names, [source.at(at) for at in group]))
        known = {name for name in made if name in _targets()}
        first = fixed[0]
        opens = first is not None and _PREFIX.match(first) is not None and first != b"__"
        if not known and not (opens and _can_be_cudas(first or b"", fixed[-1] or b"")):
            continue
        if native and (known & INTRINSICS or (first or b"").startswith(b"__")):
            continue
        written = b"##".join(source.at(at) for at in group).decode("utf-8", "replace")
        becomes = _prefix(first, known) if first is not None else None
        others = set() if first is None else _not_of_cuda(source, directive, names, [source.at(at) for at in group])
        lacking = ""
        if known and others:
            lacking = f"{_listed(known)}, and {_listed(others)}, which HIP does not have"
        elif becomes is None and not (first in _targets() and first is not None):
            lacking = f"{_listed(known) or 'a CUDA name'}, which no rename of one of its parts translates"
        if lacking:
            yield finding(
                RULE,
                source,
                group[0],
                f"{written} makes {lacking}",
                last=group[-1],
                applicability=Applicability.MANUAL,
                fix="write the HIP names out, in a branch for __HIP_PLATFORM_AMD__",
            )
            continue
        text = becomes if becomes is not None else _targets()[first or b""]
        of_warp = text.startswith(b"rocport::")
        own = _own(source, first) if first else set()
        last = group[0] + 1
        if text == b"rocport::":
            text, last = text + source.at(group[1]), group[1] + 1
        yield finding(
            RULE,
            source,
            group[0],
            f"{written} makes a CUDA name: the written part becomes {text.decode()}"
            + (f"; {_listed(own)} of the project's own keep their names" if own else ""),
            last=group[-1],
            applicability=Applicability.REVIEW,
            edits=[replace_range(source, group[0], last, text)],
            headers=[HEADER] if of_warp else [],
            fix="see that every name the macro is used for exists in HIP under that spelling",
        )


def _arguments(source: CudaSource, directive: Directive, names: list[bytes]) -> Iterator[Finding]:
    """Uses whose argument is renamed and pasted into a name of the project's: `LOAD(cuInit)` makes `cuInit_fn`."""
    pasted = [[source.at(at) for at in group] for group in _groups(source, directive)]
    for use in source.find(source.at(directive.first + 2)) if pasted else ():
        close = source.pairs.get(use + 1)
        if use == directive.first + 2 or source.at(use + 1) != b"(" or close is None:
            continue
        given = source.split(use + 1, close)
        if len(given) != len(names):
            continue
        values = {name: source.text(*part) for name, part in zip(names, given, strict=True)}
        made = {
            (b"".join(values.get(part, part) for part in group), value)
            for group in pasted
            for part in group
            if (value := values.get(part, b"")) in _targets() and value not in INTRINSICS
        }
        for name, value in sorted(made):
            if name in _targets() or name == value:
                continue
            yield finding(
                RULE,
                source,
                use,
                f"{value.decode()} is renamed and pasted: the name {name.decode()} that this use made changes with it",
                last=close,
                applicability=Applicability.REVIEW,
                fix=f"rename the declaration of {name.decode()} in the same way",
                cause=f"names that {source.at(use).decode()} makes",
            )
            break


def _made(
    source: CudaSource, directive: Directive, names: list[bytes], group: list[bytes], outside_macros: bool = False
) -> Iterator[bytes]:
    """The names the uses of the macro in this file make."""
    for use in source.find(source.at(directive.first + 2)):
        if use == directive.first + 2 or source.at(use + 1) != b"(" or use + 1 not in source.pairs:
            continue
        given = source.split(use + 1, source.pairs[use + 1])
        if len(given) != len(names) or (outside_macros and source.directive_of(use) is not None):
            continue
        values = {name: source.text(*part) for name, part in zip(names, given, strict=True)}
        yield b"".join(values.get(part, part) for part in group)


def _prefix(first: bytes, known: set[bytes]) -> bytes | None:
    """What the written first part becomes so that every known name becomes its counterpart."""
    if first.startswith(b"__"):
        starts = {name for name in _targets() if name.startswith(first) and name in INTRINSICS}
        return b"rocport::" + first[2:] if starts and (len(first) > 4 or known <= INTRINSICS) else None
    names = known or {name for name in _targets() if name.startswith(first)}
    found: dict[bytes, int] = {}
    for name in names:
        rest, target = name[len(first) :], _targets()[name]
        if target.endswith(rest) and rest:
            start = target[: len(target) - len(rest)]
            found[start] = found.get(start, 0) + 1
    if not found:
        return None
    best = max(found, key=lambda start: found[start])
    return best if not known or found[best] == len(known) else None


def _stringizes(source: CudaSource, directive: Directive, names: list[bytes]) -> bool:
    body = source.pairs.get(directive.first + 3, directive.first + 3) + 1
    wanted = {*names, b"__VA_ARGS__"}
    return any(source.at(at) == b"#" and source.at(at + 1) in wanted for at in range(body, directive.last - 1))


def _strings(source: CudaSource, directive: Directive) -> Iterator[Finding]:
    """Uses of a stringizing macro around device code."""
    for use in source.find(source.at(directive.first + 2)):
        close = source.pairs.get(use + 1)
        if use == directive.first + 2 or source.at(use + 1) != b"(" or close is None:
            continue
        words = source.texts[use + 2 : close]
        if b"__global__" in words or b"__device__" in words:
            yield finding(
                RULE,
                source,
                use,
                f"{source.at(use).decode()} makes a string of device code: a run-time compiler for HIP reads it "
                "without the headers of the port",
                last=close,
                applicability=Applicability.REVIEW,
                fix="give the run-time compiler (hipRTC) the port's headers, or put their text before the string",
            )

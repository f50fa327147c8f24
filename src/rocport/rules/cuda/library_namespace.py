"""Namespaces of CUDA's C++ libraries: `cub` is `hipcub`, `thrust::cuda` is `thrust::hip`, and some have no counterpart.
The namespaces and what serves them come from the library facts. A name that hipCUB does not have is REVIEW.
A namespace without a counterpart (`cute`,
`cutlass`, `cuda::barrier`, `cuda::std`, ...) is named at every line that uses it and left as it is: AMD's
matrix libraries have other interfaces (rocWMMA, Composable Kernel), not other names.

`at::cuda`, `c10::cuda`, `torch::cuda` and a project's own `foo::cuda` are not CUDA's and are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rocport.binding.branches import branches
from rocport.facts.symbols import Symbol, libraries, load, without_counterpart
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.rules.cuda.standard_library import supported
from rocport.syntax.cuda import CudaSource


@cache
def _namespaces() -> dict[bytes, list[tuple[tuple[bytes, ...], Symbol]]]:
    """First component -> (components, symbol), the longest first."""
    found: dict[bytes, list[tuple[tuple[bytes, ...], Symbol]]] = {}
    for name, symbol in load().namespaces.items():
        if name.startswith("nvcuda"):
            continue  # tensor-core: a header of the port has it
        parts = tuple(part.encode() for part in name.split("::"))
        found.setdefault(parts[0], []).append((parts, symbol))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return found


RULE = Rule(
    name="library-namespace",
    summary="namespace of a CUDA C++ library",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(_namespaces()),
    examples=(
        Example(
            "#include <cub/cub.cuh>\nusing R = cub::BlockReduce<float, 256>;\n",
            contains=("hipcub::BlockReduce<float, 256>",),
        ),
        Example("void f() { cub::SyncStream(s); }\n", contains=("hipcub::SyncStream(s)",)),
        Example("using namespace cub;\n", contains=("using namespace hipcub;",)),
        Example("namespace c = ::cub;\n", contains=("namespace c = ::hipcub;",)),
        Example("auto p = thrust::cuda::par.on(s);\n", contains=("thrust::hip::par.on(s)",)),
        Example("cutlass::half_t x;\n", contains=("cutlass::half_t x;",)),
    ),
    clean=(
        "auto s = at::cuda::getCurrentCUDAStream();\n",
        "int cub = 3; int y = x.cub;\n",
        "#ifdef __HIP_PLATFORM_AMD__\nnamespace cub = hipcub;\n#endif\n",
        "namespace mine { namespace cuda { struct barrier; } }\nmine::cuda::barrier *b;\n",
    ),
    sources=("facts/libraries: library.toml of cub, thrust, libcudacxx and tensor_cores",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    lines: set[tuple[int, str]] = set()
    for first, entries in _namespaces().items():
        for position in source.find(first):
            matched = _match(source, position, entries)
            if matched is None:
                continue
            parts, symbol = matched
            last = position + 2 * (len(parts) - 1)
            if symbol.hip:
                yield _renamed(source, position, last, symbol)
                continue
            if supported(source, position) or (source.at(last + 1) == b"::" and symbol.cuda == "cuda::std"):
                continue  # standard-library: a header of the port has it, or that rule names it
            line = source.line(source.starts[position])
            if (line, symbol.cuda) in lines or _is_dead(source, position, context):
                continue
            lines.add((line, symbol.cuda))
            note = symbol.note.removeprefix("use: ")
            yield finding(
                RULE,
                source,
                position,
                f"{symbol.cuda} has no counterpart in ROCm" + (f": {note}" if note else ""),
                last=last,
                fix=note or "write this part again with what HIP has",
                cause=without_counterpart(symbol),
            )


def _match(
    source: CudaSource, position: int, entries: list[tuple[tuple[bytes, ...], Symbol]]
) -> tuple[tuple[bytes, ...], Symbol] | None:
    """The namespace that starts at an identifier, where it is used as one."""
    before = source.at(position - 1)
    if before in (b".", b"->") or source.qualified(position):
        return None
    directive = source.directive_of(position)
    if directive is not None and directive.name in (b"include", b"if", b"ifdef", b"ifndef", b"elif"):
        return None
    for parts, symbol in entries:
        last = position + 2 * (len(parts) - 1)
        spelled = all(
            source.at(position + 2 * number) == part and (number == 0 or source.at(position + 2 * number - 1) == b"::")
            for number, part in enumerate(parts)
        )
        if spelled and _names_namespace(source, position, last):
            return parts, symbol
    return None


def _names_namespace(source: CudaSource, first: int, last: int) -> bool:
    """Followed by `::`, or the whole of a using directive or namespace alias; or the name of a class template."""
    after = source.at(last + 1)
    if after == b"::" or (last > first and after in (b"<", b"(", b";", b",", b">", b"&", b"*")):
        return True
    start = first - 1 if source.at(first - 1) == b"::" else first
    before = source.at(start - 1)
    if after == b"{" and before == b"namespace":
        return True
    if after != b";":
        return False
    return before == b"namespace" or (before == b"=" and source.at(start - 3) == b"namespace")


def _renamed(source: CudaSource, position: int, last: int, symbol: Symbol) -> Finding:
    cuda, hip = symbol.cuda.split("::"), symbol.hip.split("::")
    edits = [
        replace(source, position + 2 * number, new.encode())
        for number, (old, new) in enumerate(zip(cuda, hip, strict=True))
        if old != new
    ]
    name = source.at(last + 2).decode("utf-8", "replace") if source.at(last + 1) == b"::" else ""
    note, fix = symbol.note, ""
    if name in libraries()[symbol.library].lacking:
        note = f"{symbol.hip}::{name} is not in the headers of ROCm 6.4"
        fix = f"see that the {symbol.hip} you build with has {name}, or write out what it does"
    return finding(
        RULE,
        source,
        position,
        f"{symbol.cuda} is {symbol.hip}" + (f"; {note}" if note else ""),
        last=last,
        applicability=Applicability.REVIEW if note else Applicability.SAFE,
        routine=not note and cuda[0] == "cub",
        edits=edits,
        fix=fix,
    )


def _is_dead(source: CudaSource, position: int, context: Context) -> bool:
    return branches(source, context.project.torch_extension).is_dead(source.starts[position])

"""CUDA headers become the HIP headers that declare the same names.

HIP's library headers live in a folder of their own (`hipblas/hipblas.h`, not `hipblas.h`). A header without a
counterpart (`cute/...`, `cuda/semaphore`) stays and is a MANUAL finding. An include of a header of the project is left
alone: the port keeps file names. `<cuda.h>` beside a `cuda.h` of the project is CUDA's or the project's as the include
paths say: REVIEW; so is `"cuda.h"` where the project's lies deep in another part of the tree.

The same is done for `__has_include(<cuda_runtime.h>)` and for a header named in a macro that an include takes
(`#define RUNTIME <cuda_runtime.h>`); where the macro of an include is defined nowhere in the tree, MANUAL.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterator
from itertools import takewhile

from rocport.facts.symbols import Symbol, load, without_counterpart
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.conditionals import switch_around
from rocport.syntax.cuda import CudaSource, Directive

# Headers that hipify maps in part or not at all, or whose HIP header holds other names: these stay listed.
_LISTED = ("cub/", "curand", "cuda_bf16", "device_launch_parameters", "vector_functions")

# Libraries whose headers a rule of their own replaces.
_ELSEWHERE = frozenset({"nvtx"})

RULE = Rule(
    name="include-header",
    summary="CUDA header",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"include", b"include_next", b"import", b"__has_include", b"define"}),
    examples=(
        Example("#include <cublas_v2.h>\n", contains=("#include <hipblas/hipblas.h>",)),
        Example('#include "cuda_runtime.h"\n', contains=("<hip/hip_runtime.h>",)),
        Example(
            "#include <thrust/system/cuda/experimental/pinned_allocator.h>\n"
            "thrust::system::cuda::experimental::pinned_allocator<int> a;\n",
            contains=('#include "rocport_thrust.h"', "thrust::system::hip::experimental::pinned_allocator<int> a;"),
        ),
        Example(
            "#define RUNTIME <cuda_runtime.h>\n#include RUNTIME\n", contains=("#define RUNTIME <hip/hip_runtime.h>",)
        ),
        Example(
            "#if __has_include(<cuda_runtime.h>)\nint gpu;\n#endif\n", contains=("__has_include(<hip/hip_runtime.h>)",)
        ),
        Example("#if __has_include(<cuda/std/atomic>)\n#if A\n#else\n#endif\nint gpu;\n#endif\n"),
        Example('#include "/usr/local/cuda/include/cuda_runtime.h"\n', contains=("#include <hip/hip_runtime.h>",)),
        Example("#include/**/<cublas_v2.h>\n", contains=("<hipblas/hipblas.h>",)),
        Example("#include_next <cuda_runtime.h>\n", contains=("#include_next <hip/hip_runtime.h>",)),
        Example("#include GENERATED_HEADER\n", contains=("#include GENERATED_HEADER",)),
        Example(
            "#include <cooperative_groups/reduce.h>\n",
            contains=('#include "rocport_cg.h"',),
            absent=("cooperative_groups/reduce.h",),
        ),
        Example("#include <curand.h>\n", path="a.c", contains=('#include "rocport_hiprand.h"',)),
        Example(
            "#include <cuda_gl_interop.h>\n",
            contains=("#include <hip/hip_runtime.h>\n#include <hip/hip_gl_interop.h>\n",),
        ),
        Example("#include <cuda_bf16.h>\n", contains=("#include <hip/hip_bf16.h>",)),
        Example("#include <cuda_bf16.h>\n", path="a.cpp", contains=('#include "rocport_bf16.h"',)),
        Example("#include <thrust/device_vector.h>\nthrust::device_vector<int> v;\n", path="a.cpp"),
    ),
    clean=(
        "#if __has_include(<cuda/std/atomic>)\n#if A\n#else\n#endif\n#else\n#include <atomic>\n#endif\n",
        "#include <nvtx3/nvtx3.hpp>\n",
        "#include <vector>\n",
        '#include "my_cuda_runtime.h"\n',
        "#include <thrust/device_vector.h>\nthrust::device_vector<int> v;\n",
        Example("#include <thrust/device_vector.h>\n__global__ void k();\n", path="a.cpp"),
    ),
    sources=("header folders of the ROCm 6.4 packages",),
)


def spelled(source: CudaSource, directive: Directive) -> tuple[str, int, int] | None:
    """Header name of an include and the byte range of `<...>` or `"..."`; None for a computed include."""
    data = source.data
    if directive.first + 2 >= directive.last:
        return None
    start = source.starts[directive.first + 2]
    rest = data[start : directive.end]
    stripped = rest.lstrip()
    start += len(rest) - len(stripped)
    closing = {b"<": b">", b'"': b'"'}.get(stripped[:1])
    if closing is None:
        return None
    end = data.find(closing, start + 1, directive.end)
    if end < 0:
        return None
    name = data[start + 1 : end].decode("utf-8", "surrogateescape").strip()
    return _PIECE.sub(r"cuda/std/\1", name), start, end + 1


def is_project_file(name: str, source: CudaSource, context: Context) -> bool:
    """True when the include names a file of the tree itself."""
    near = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), name))
    if near in context.project.files:
        return True
    same = context.project.by_basename.get(posixpath.basename(name), ())
    return any(path.endswith("/" + name) or path == name for path in same)


_NEAR = 2


def _far_from(name: str, source: CudaSource, context: Context) -> bool:
    """True when every file of that name lies deep in a part of the tree that the source is not in.

    `cuda/tree/util/cuda/cuda.h` is not what `cuda/backprop/kernel.cu` includes as "cuda.h"; `include/cuda.h` may be.
    """
    here = posixpath.dirname(source.path).split("/")
    for path in context.project.by_basename.get(posixpath.basename(name), ()):
        if path == name or path.endswith("/" + name):
            folder = path[: -len(name)].rstrip("/").split("/")
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(here, folder, strict=False)))
            if len(folder) - shared <= _NEAR:
                return False
    return True


def served_includes(
    rule: Rule, source: CudaSource, context: Context, names: Container[str], header: str, gives: str
) -> Iterator[Finding]:
    """Includes of CUDA's headers `names` that go, because a header of the port gives what they declare."""
    for directive in source.directives:
        if directive.name != b"include" or amd_only(source, directive.first):
            continue
        found = spelled(source, directive)
        if found is None or found[0] not in names or is_project_file(found[0], source, context):
            continue
        yield finding(
            rule,
            source,
            directive.first,
            f"<{found[0]}> is {header}: {gives}",
            last=directive.last - 1,
            applicability=Applicability.SAFE,
            edits=[Edit(Span(directive.start, source.end(directive.last - 1)), b"")],
            headers=[header],
        )


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    table = load()
    named = any(table.header(name.decode()) for name in set(_QUOTED.findall(source.data)))
    yield from _thrust(source)
    for directive in source.directives:
        if directive.name in (b"include", b"import", b"include_next"):
            found = spelled(source, directive)
            if found is None:
                yield from _computed(source, directive, context)
                continue
            name, start, end = found
            symbol = table.header(name)
            if symbol is None:
                yield from _by_path(source, directive, context)
            if symbol is None or name in OTHERS or symbol.library in _ELSEWHERE:
                continue
            angle = source.data[start : start + 1] == b"<"
            if is_project_file(name, source, context):
                far = _far_from(name, source, context)
                if far and angle:
                    yield _finding(source, directive, symbol, start, end)
                elif far or angle:
                    yield _either(source, directive, symbol, start, end)
                continue
            if name in _OURS:
                yield _ours(source, directive, name, _OURS[name])
                continue
            if name == "curand.h" and context.project.reached_by(source.path, ".c"):
                # hipRAND's own header is no C.
                yield _ours(source, directive, name, "rocport_hiprand.h")
                continue
            if name.startswith("cuda_bf16.") and context.project.reached_by(source.path, _HOST):
                # HIP's own header is for its compiler only.
                yield _ours(source, directive, name, "rocport_bf16.h")
                continue
            yield _finding(source, directive, symbol, start, end)
        elif named and directive.name in (b"define", b"if", b"elif"):
            yield from _mentioned(source, directive, context)


def _thrust(source: CudaSource) -> Iterator[Finding]:
    """Thrust in a source that the host's compiler compiles: CUDA's can be read there, ROCm's cannot."""
    if not source.path.endswith(_HOST) or not source.names.isdisjoint((b"__global__", b"__CUDACC__", b"__device__")):
        return
    for directive in source.directives:
        found = spelled(source, directive) if directive.name == b"include" else None
        if found is not None and found[0].startswith("thrust/"):
            yield finding(
                RULE,
                source,
                directive.first,
                f"<{found[0]}>: rocThrust is for HIP's compiler, g++ and clang++ stop in its first header",
                last=directive.last - 1,
                applicability=Applicability.MANUAL,
                fix="compile this source as HIP: with hipcc, LANGUAGE HIP in CMake, or as a .cu of a PyTorch extension",
                cause="Thrust in a source of the host's compiler",
            )
            return


_QUOTED = re.compile(rb"[<\"]\s*(\w+[./][\w./+-]+)\s*[>\"]")
# Headers that other rules answer for: a header of the port has what is in them.
OTHERS = frozenset(
    [
        "helper_cuda.h",
        "helper_functions.h",
        "helper_math.h",
        "helper_string.h",
        "helper_timer.h",
        "mma.h",
        "crt/mma.h",
        "cuda/atomic",
        "cuda/barrier",
        "cuda/cmath",
        "cuda/latch",
        "cuda/pipeline",
        "cuda/std/algorithm",
        "cuda/std/array",
        "cuda/std/atomic",
        "cuda/std/barrier",
        "cuda/std/bit",
        "cuda/std/ccomplex",
        "cuda/std/cmath",
        "cuda/std/complex",
        "cuda/std/cstddef",
        "cuda/std/cstdint",
        "cuda/std/functional",
        "cuda/std/initializer_list",
        "cuda/std/iterator",
        "cuda/std/latch",
        "cuda/std/limits",
        "cuda/std/numbers",
        "cuda/std/numeric",
        "cuda/std/tuple",
        "cuda/std/type_traits",
        "cuda/std/utility",
        "cuda/std/version",
        "cuda/version",
        "nv/target",
    ]
)
# libcu++'s own pieces of a header: `cuda/std/__algorithm/min.h` of `cuda/std/algorithm`.
_PIECE = re.compile(r"cuda/std/__(\w+)/.*")
# Sources that the host's compiler compiles.
_HOST = (".cpp", ".cc", ".cxx")
# Headers whose functions a header of the port has.
_OURS = {"cooperative_groups/reduce.h": "rocport_cg.h", "cooperative_groups/scan.h": "rocport_cg.h"}
_OURS["cooperative_groups/memcpy_async.h"] = "rocport_cg.h"
_OURS |= dict.fromkeys(("cuda_pipeline.h", "cuda_pipeline_primitives.h"), "rocport_pipeline.h")
_OURS["thrust/system/cuda/experimental/pinned_allocator.h"] = "rocport_thrust.h"


# Headers of HIP's that lean on another, where CUDA's includes it.
_BEFORE = {"hip/hip_gl_interop.h": b"<hip/hip_runtime.h>\n#include "}


def _ours(source: CudaSource, directive: Directive, name: str, header: str) -> Finding:
    start, end = source.starts[directive.first], source.end(directive.last - 1)
    return finding(
        RULE,
        source,
        directive.first,
        f"<{name}>: what it declares is in {header}",
        last=directive.last - 1,
        applicability=Applicability.SAFE,
        edits=[Edit(Span(start, end), b"")],
        headers=[header],
    )


def _either(source: CudaSource, directive: Directive, symbol: Symbol, start: int, end: int) -> Finding:
    return finding(
        RULE,
        source,
        directive.first,
        f"<{symbol.cuda}> is CUDA's, and the project has a file of that name too: the include paths say which is meant",
        last=directive.last - 1,
        applicability=Applicability.REVIEW,
        edits=[Edit(Span(start, end), f"<{symbol.hip}>".encode())] if symbol.hip else [],
        fix="spell the project's own file with quotes and its folder",
        cause="headers that CUDA and the project both have",
    )


def _by_path(source: CudaSource, directive: Directive, context: Context) -> Iterator[Finding]:
    """A CUDA header named through a folder: `"/usr/local/cuda/include/cuda_runtime.h"`, `"..\\x\\cuda.h"`."""
    found = spelled(source, directive)
    if found is None:
        return
    name, start, end = found
    plain = name.replace("\\", "/")
    last = posixpath.basename(plain)
    symbol = load().header(last)
    if (
        symbol is None
        or "/" not in plain
        or is_project_file(plain, source, context)
        or last in context.project.basenames
    ):
        return
    if not (posixpath.isabs(plain) or "cuda" in plain.lower() or "\\" in name):
        return
    yield finding(
        RULE,
        source,
        directive.first,
        f"{name} names CUDA's {last} by its folder, which is not there on ROCm",
        last=directive.last - 1,
        applicability=Applicability.REVIEW if symbol.hip else Applicability.MANUAL,
        edits=[Edit(Span(start, end), f"<{symbol.hip}>".encode())] if symbol.hip else [],
        fix="see that no file of the project's own is meant",
        cause="headers of CUDA's by their folder" if symbol.hip else without_counterpart(symbol),
    )


def _mentioned(source: CudaSource, directive: Directive, context: Context) -> Iterator[Finding]:
    """CUDA headers in a macro's text that an include takes, and in `__has_include`."""
    asks = b"__has_include" in source.texts[directive.first : directive.last]
    if not asks and not (
        directive.name == b"define" and source.at(directive.first + 3) in (b"<", *_strings(source, directive))
    ):
        return
    offset = source.starts[directive.first]
    text = source.data[offset : directive.end]
    for match in _MENTIONED.finditer(text):
        name = match.group(1).decode("utf-8", "replace")
        symbol = load().header(name)
        if symbol is None or is_project_file(name, source, context):
            continue
        if asks and not symbol.hip:
            if _has_other(source, directive):
                continue
            yield finding(
                RULE,
                source,
                directive.first,
                f"<{name}> is never there on ROCm: the other branch is taken without a word",
                last=directive.last - 1,
                applicability=Applicability.REVIEW,
                fix="see that the other branch is right on AMD",
            )
            continue
        yield _finding(source, directive, symbol, offset + match.start(), offset + match.end())


def _has_other(source: CudaSource, directive: Directive) -> bool:
    """True where the conditional has a branch for whoever lacks the header: the author has thought of it."""
    depth = 0
    for item in source.directives:
        if item.first <= directive.first:
            continue
        if item.name in (b"if", b"ifdef", b"ifndef"):
            depth += 1
        elif item.name == b"endif" and depth == 0:
            return False
        elif item.name == b"endif":
            depth -= 1
        elif depth == 0 and item.name in (b"else", b"elif"):
            return True
    return False


def _strings(source: CudaSource, directive: Directive) -> tuple[bytes, ...]:
    text = source.at(directive.first + 3)
    return (text,) if text.startswith(b'"') and directive.last == directive.first + 4 else ()


def _computed(source: CudaSource, directive: Directive, context: Context) -> Iterator[Finding]:
    """`#include MACRO`: followed where the macro's text is known."""
    name = source.at(directive.first + 2)
    if not source.is_ident(directive.first + 2):
        return
    bodies = [
        source.at(item.first + 3)
        for item in source.directives
        if item.name == b"define" and source.at(item.first + 2) == name
    ]
    if bodies or name in context.project.macros:
        return
    if name.decode() not in context.project.defined and switch_around(source, directive.start) == name:
        return  # a hook for who defines it
    yield finding(
        RULE,
        source,
        directive.first,
        f"{name.decode()} names the header, and nothing in the tree defines it: what it includes was not looked at",
        last=directive.last - 1,
        fix="see that a build for ROCm defines it as a ported header",
    )


_MENTIONED = re.compile(rb"[<\"]\s*([\w./+-]+)\s*[>\"]")


def _finding(source: CudaSource, directive: Directive, symbol: Symbol, start: int, end: int) -> Finding:
    if not symbol.hip:
        return finding(
            RULE,
            source,
            directive.first,
            f"<{symbol.cuda}> has no HIP counterpart" + (f": {symbol.note}" if symbol.note else ""),
            last=directive.last - 1,
            fix="replace what the file takes from it, then drop the include",
            cause=without_counterpart(symbol),
        )
    return finding(
        RULE,
        source,
        directive.first,
        f"<{symbol.cuda}> is <{symbol.hip}>" + (f"; {symbol.note}" if symbol.note else ""),
        last=directive.last - 1,
        applicability=Applicability.REVIEW if symbol.note else Applicability.SAFE,
        routine=not symbol.note and not symbol.cuda.startswith(_LISTED),
        edits=[Edit(Span(start, end), _BEFORE.get(symbol.hip, b"") + f"<{symbol.hip}>".encode())],
    )

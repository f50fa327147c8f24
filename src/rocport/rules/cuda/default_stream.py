"""Macros that choose the default stream of each thread: `CUDA_API_PER_THREAD_DEFAULT_STREAM`.

Defined before the runtime's header, the macro gives every host thread a default stream of its own. HIP has the same
under the name `HIP_API_PER_THREAD_DEFAULT_STREAM`; the port defines that too, so that calls that name no stream do not
wait for one another on AMD either. Right where the macro comes before the first include, as CUDA asks as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace
from rocport.syntax.cuda import CudaSource

_CUDA = b"CUDA_API_PER_THREAD_DEFAULT_STREAM"
_HIP = b"HIP_API_PER_THREAD_DEFAULT_STREAM"

RULE = Rule(
    name="default-stream",
    summary="macro that chooses the default stream",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({_CUDA, b"__CUDA_API_PER_THREAD_DEFAULT_STREAM"}),
    claims=frozenset({_CUDA, b"__CUDA_API_PER_THREAD_DEFAULT_STREAM"}),
    examples=(
        Example(
            "#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1\n#include <cuda_runtime.h>\n",
            contains=("#define HIP_API_PER_THREAD_DEFAULT_STREAM 1\n#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1\n",),
        ),
        Example(
            "#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM\nint each;\n#endif\n",
            contains=("#ifdef HIP_API_PER_THREAD_DEFAULT_STREAM",),
        ),
    ),
    clean=("#define MY_CUDA_API_PER_THREAD_DEFAULT_STREAM\n",),
    sources=("hip/hip_runtime_api.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(_CUDA, b"__CUDA_API_PER_THREAD_DEFAULT_STREAM"):
        directive = source.directive_of(position)
        if directive is None:
            continue
        if directive.name == b"define" and position == directive.first + 2:
            text = source.data[source.starts[position] + len(source.at(position)) : directive.end]
            edit = insert(directive.start, b"#define " + _HIP + text + source.newline)
        elif directive.name in (b"if", b"ifdef", b"ifndef", b"elif", b"undef"):
            edit = replace(source, position, _HIP)
        else:
            continue
        yield finding(
            RULE,
            source,
            position,
            f"{source.at(position).decode()} is {_HIP.decode()} in HIP",
            edits=[edit],
        )

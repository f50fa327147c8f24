"""`AT_DISPATCH_*(tensor.type(), ...)` no longer compiles with current PyTorch, on any platform.

`Tensor::type()` returns the deprecated type object; the dispatch macros want a scalar type, and the conversion between
the two is gone from torch 2.13's headers. `tensor.scalar_type()` is what the macros have taken since torch 1.2, so the
edit is right for every PyTorch with ROCm support, and on CUDA.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="torch-dispatch-type",
    summary="dispatch over a deprecated tensor type",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"type"}),
    examples=(
        Example(
            'AT_DISPATCH_FLOATING_TYPES(x.type(), "f", [&] {});\n',
            contains=("AT_DISPATCH_FLOATING_TYPES(x.scalar_type(),",),
        ),
        Example(
            'AT_DISPATCH_ALL_TYPES_AND(at::kHalf, out[0].type(), "f", [&] {});\n', contains=("out[0].scalar_type(),",)
        ),
    ),
    clean=(
        'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] { g(y.type()); });\n',
        "auto t = x.type();\n",
    ),
    sources=("ATen/Dispatch.h and c10/core/DeprecatedTypeProperties.h of PyTorch 2.13",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for name in sorted(word for word in source.names if word.startswith(b"AT_DISPATCH_")):
        for position in source.find(name):
            call = source.call(position)
            for first, last in call.args if call is not None else ():
                dot = last - 4
                if dot > first and source.texts[dot:last] in (
                    [b".", b"type", b"(", b")"],
                    [b"->", b"type", b"(", b")"],
                ):
                    yield finding(
                        RULE,
                        source,
                        dot + 1,
                        f"{name.decode()} over type(): current PyTorch takes scalar_type() only",
                        edits=[replace(source, dot + 1, b"scalar_type")],
                    )

"""`prop.major >= 8` asks for an NVIDIA generation; on AMD GPUs `major` is the gfx number, and the test means nothing.
gfx942 reports 9.4 and gfx1100 reports 11.0, so a test for Ampere or Hopper passes, and picks kernels made for those.
The comparison is left as it is: what it stands for (an instruction, an amount of shared memory) has to be asked for AMD
by name, `prop.gcnArchName`, or by the attribute itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.facts.targets import capabilities
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_PROPERTIES = frozenset(
    {
        b"cudaDeviceProp",
        b"cudaGetDeviceProperties",
        b"getDeviceProperties",
        b"getCurrentDeviceProperties",
        b"get_device_properties",
        b"cudaDeviceProp_v2",
    }
)
_OPERATORS = frozenset({b"<", b">", b"<=", b"==", b"!=", b"*", b"+"})

RULE = Rule(
    name="compute-capability",
    summary="decision by compute capability",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=_PROPERTIES,
    examples=(
        Example("bool f(cudaDeviceProp p) { return p.major >= 8; }\n"),
        Example("int f() { cudaDeviceProp *p = g(); return p->major * 10 + p->minor; }\n"),
        Example("bool f() { auto p = cuda::get_device_properties(0); return p.major >= 8; }\n"),
    ),
    clean=(
        'void f(cudaDeviceProp p) { printf("%d.%d", p.major, p.minor); }\n',
        "struct Version { int major; };\nbool f(Version v) { return v.major >= 8; }\n",
    ),
    sources=(
        "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html (identifying architectures)",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(b"major"):
        if source.at(position - 1) not in (b".", b"->"):
            continue
        after, before = source.at(position + 1), _before(source, position)
        if after not in _OPERATORS and before not in _OPERATORS:
            continue
        if branches(source, context.project.torch_extension).is_dead(source.starts[position]):
            continue
        yield finding(
            RULE,
            source,
            position,
            f"decides by compute capability: AMD GPUs report their gfx number ({capabilities()})",
            fix="ask for the feature, or for prop.gcnArchName under __HIP_PLATFORM_AMD__",
        )


def _before(source: CudaSource, position: int) -> bytes:
    """The token before the expression `a.b->major`."""
    at = position - 1
    while source.at(at) in (b".", b"->", b"::"):
        at -= 1
        if source.at(at) in (b")", b"]") and at in source.pairs:
            at = source.pairs[at] - 1
        at -= 1
    return source.at(at)

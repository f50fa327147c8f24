"""`prop.major >= 8` asks for an NVIDIA generation; on AMD GPUs `major` is the gfx number, and the test means nothing.
gfx942 reports 9.4 and gfx1100 reports 11.0, so a test for Ampere or Hopper passes, and picks kernels made for those.
The comparison is left as it is: what it stands for (an instruction, an amount of shared memory) has to be asked for AMD
by name, `prop.gcnArchName`, or by the attribute itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.binding.scopes import Kind, Scopes
from rocport.convergence.values import integer
from rocport.facts.targets import capabilities
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
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
_QUERIES = frozenset(
    {
        b"cudaDevAttrComputeCapabilityMajor",
        b"cudaDevAttrComputeCapabilityMinor",
        b"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
        b"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
        b"cuDeviceComputeCapability",
    }
)
_PRINTS = frozenset(b"printf fprintf snprintf sprintf cout cerr clog print format LOG INFO puts to_string".split())
_NAMES_TARGET = re.compile(rb"(?:sm|compute)_%")
_FLAGS_TARGET = re.compile(rb"=(?:sm|compute)_%")
"""What a program prints for a build to read; `, sm_%d%d` is read by a person."""
_COMPARE = frozenset({b"<", b">", b"<=", b">=", b"==", b"!="})
_PASCAL, _NO_GPU = 6, 1000
"""The last generation before tensor cores; helper_cuda.h's emulation says 9999."""
_OPERATORS = frozenset({b"<", b">", b"<=", b"==", b"!=", b"*", b"+"})

RULE = Rule(
    name="compute-capability",
    summary="decision by compute capability",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=3,
    triggers=_PROPERTIES | _QUERIES,
    examples=(
        Example("bool f(cudaDeviceProp p) { return p.major >= 8; }\n"),
        Example("int f() { cudaDeviceProp *p = g(); return p->major * 10 + p->minor; }\n"),
        Example("bool f(cudaDeviceProp p) { return p.major > 6; }\n"),
        Example("bool f(cudaDeviceProp p) { return p.major <= 6; }\n"),
        Example("bool f() { auto p = cuda::get_device_properties(0); return p.major >= 8; }\n"),
        Example("bool f(cudaDeviceProp p) { const int arch = p.major; return arch >= 9; }\n"),
        Example(
            'void f(char *o, cudaDeviceProp p) { sprintf(o, "--gpu-architecture=compute_%d%d", p.major, p.minor); }\n'
        ),
        Example('void f(cudaDeviceProp p) { printf("-gencode arch=compute_%d%d", p.major, p.minor); }\n'),
        Example("void f(int *v) { cudaDeviceGetAttribute(v, cudaDevAttrComputeCapabilityMajor, 0); }\n"),
        Example("void f(int *a, int *b, CUdevice d) { cuDeviceComputeCapability(a, b, d); }\n"),
        Example("int f() { int m; cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0); return m; }\n"),
        Example("bool f() { int m; cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0); return m<8; }\n"),
        Example("void f() { int m; cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0); g(1, m, 2); }\n"),
        Example("int g(int a);\nint f() { return g(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) > 7; }\n"),
    ),
    clean=(
        'void f(cudaDeviceProp p, Info &info) { info["major"] = p.major; info["minor"] = p.minor; }\n',
        'void f(cudaDeviceProp p) { printf(", sm_%d%d, %d cores", p.major, p.minor, cores(p.major, p.minor) * 2); }\n',
        "void f() { int m = 0;\n cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0);\n"
        ' if (m < 1) exit(1);\n printf("%d", m); }\n',
        'void f(E e) { e.value("MAJOR", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR); }\n',
        'void f(cudaDeviceProp p) { printf("%d.%d", p.major, p.minor); }\n',
        'void f(cudaDeviceProp p) { APP_NOTE("Compute {}.{}", p.major, p.minor); }\n',
        "bool f(cudaDeviceProp p) { return p.major == 3 || p.major < 6; }\n",
        "bool f(cudaDeviceProp p) { return p.major > 0 && p.major < 9999; }\n",
        "struct Version { int major; };\nbool f(Version v) { return v.major >= 8; }\n",
        "void f(cudaDeviceProp p) { std::cout << p.major << '.' << p.minor; }\n",
    ),
    sources=(
        "https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html (identifying architectures)",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    view = branches(source, context.project.torch_extension)
    properties = not _PROPERTIES.isdisjoint(source.names)
    lines: set[int] = set()
    for position in sorted(source.find(b"major", *_QUERIES)):
        member = source.at(position) == b"major"
        if member and (not properties or source.at(position - 1) not in (b".", b"->") or is_printed(source, position)):
            continue
        if source.directive_of(position) is not None and not member:
            continue
        line = source.line(source.starts[position])
        if line in lines or view.is_dead(source.starts[position]) or amd_only(source, position):
            continue
        if member and _is_greatest(source, position):
            continue
        if _before_volta(source, position) if member else _is_listed(source, position) or _is_shown(source, position):
            continue
        lines.add(line)
        yield finding(
            RULE,
            source,
            position,
            f"decides by compute capability: AMD GPUs report their gfx number ({capabilities()})"
            if member
            else f"{source.at(position).decode()} is the gfx number on AMD ({capabilities()}): what is decided by it "
            "means another thing there",
            fix="ask for the feature, or for prop.gcnArchName under __HIP_PLATFORM_AMD__",
            cause="decides by compute capability",
        )


def _is_listed(source: CudaSource, position: int) -> bool:
    """True for a row of a table of names, `.value("MAJOR", CU_DEVICE_ATTRIBUTE_...)`: what asks by it decides."""
    return source.at(position - 1) == b"," and source.at(position - 2)[-1:] == b'"' and source.at(position + 1) in _ENDS


_ENDS = (b")", b"}")


def _is_shown(source: CudaSource, position: int) -> bool:
    """True where the number that a call asks for is only shown in its function, or compared as every AMD GPU answers as
    CUDA's newer ones do."""
    name = source.at(position - 2)
    bodies = [scope for scope in Scopes(source).enclosing(position) if scope.kind is Kind.FUNCTION]
    if source.at(position - 3) != b"&" or not bodies:
        return False
    uses = [at for at in source.find(name) if bodies[-1].open < at < bodies[-1].close and at != position - 2]
    return all(
        (source.at(at - 1) in (b"int", b",") and source.at(at + 1) in (b"=", b";"))
        or (source.at(at - 1) == b"int" and source.at(at + 1) == b",")
        or _before_volta(source, at)
        or is_printed(source, at)
        for at in uses
    )


def _before_volta(source: CudaSource, position: int) -> bool:
    """True for a comparison that every AMD GPU answers as CUDA's newer ones do, `prop.major < 6`: what it asks for
    (shuffles, atomics of doubles) is there. Tensor cores begin with 7."""
    after = source.at(position + 1)
    at = position + (3 if source.at(position + 2) == b"=" else 2)
    number = integer(source.at(at)) if after in _COMPARE else None
    if number is None or source.at(at + 1) in _OPERATORS:
        return False
    asked = number + (after == b"<=" or (after == b">" and at == position + 2))
    return not _PASCAL < asked < _NO_GPU


def _is_greatest(source: CudaSource, position: int) -> bool:
    """True for `best = MAX(best, prop.major)` and `prop.major == best`, where nothing else is asked of `best` than what
    every AMD GPU answers as CUDA's newer ones do: it takes the greatest number there is, on either platform."""
    bodies = [scope for scope in Scopes(source).enclosing(position) if scope.kind is Kind.FUNCTION]
    name = source.at(position + 2) if source.at(position + 1) == b"==" else _of_greatest(source, position)
    if not bodies or not name or not (name[:1].isalpha() or name[:1] == b"_"):
        return False
    uses = [at for at in source.find(name) if bodies[-1].open < at < bodies[-1].close]
    taken = {at for at in uses if source.at(at + 1) == b"=" and source.at(at + 2) in (*_LARGER, b"std")}
    taken |= {at for at in uses if source.at(at - 1) == b"(" and source.at(at - 2) in _LARGER}
    return len(taken) > 1 and all(
        at in taken
        or (source.at(at + 1) in (b"=", b";", b",") and source.is_ident(at - 1))
        or (source.at(at + 1) == b"=" and integer(source.at(at + 2)) is not None)
        or (source.at(at - 1) == b"," and integer(source.at(at + 2)) is not None and source.at(at + 1) == b"=")
        or (source.at(at - 1) == b"==" and source.at(at - 2) == b"major")
        or _before_volta(source, at)
        or is_printed(source, at)
        for at in uses
    )


_LARGER = (b"MAX", b"max")


def _of_greatest(source: CudaSource, position: int) -> bytes:
    """`best` of `best = MAX(best, prop.major)`, with the number as the second of the two."""
    comma = source.since(position, b",") - 1
    if source.at(position + 1) != b")" or position - comma > 6 or source.at(comma - 2) != b"(":
        return b""
    name, at = source.at(comma - 1), comma - 3
    if source.at(at) not in _LARGER:
        return b""
    at -= 3 if source.at(at - 1) == b"::" else 1
    return name if source.at(at) == b"=" and source.at(at - 1) == name else b""


_OF_SAMPLES = frozenset({b"_ConvertSMVer2Cores", b"_ConvertSMVer2ArchName", b"_ConvertSMVer2CoresDRV"})
"""Tables of CUDA's samples, which give a name to show, or one number of cores for every GPU that they do not know."""


def is_printed(source: CudaSource, position: int) -> bool:
    """True where the number is only shown: an argument of printf, put into a stream, or named among a device's
    properties, `info["major"] = prop.major`."""
    after, before = source.at(position + 1), _before(source, position)
    member = source.at(position - 1) in (b".", b"->")
    at = position - (3 if member else 1)
    if after == b";" and source.at(at) == b"=" and source.at(at - 1) == b"]":
        return source.at(at - 2)[-1:] == b'"'
    if after in _OPERATORS or before in _OPERATORS:
        return False
    at, text = position, b""
    while at > 0 and source.at(at) not in (b";", b"{", b"}"):
        at -= 1
        if source.at(at) in _OF_SAMPLES:
            return True
        if source.at(at) in _PRINTS:
            return not (_FLAGS_TARGET if source.at(at) == b"printf" else _NAMES_TARGET).search(text)
        if source.at(at)[:1] == b'"':
            text = source.at(at)
    # LOG_INFO("Compute {}.{}", p.major, p.minor): a text to fill in, and the number as it is.
    shown = text and before in (b",", b"(") and after in (b",", b")")
    return before == b"<<" or bool(shown and not _NAMES_TARGET.search(text))


def _before(source: CudaSource, position: int) -> bytes:
    """The token before the expression `a.b->major`."""
    at = position - 1
    while source.at(at) in (b".", b"->", b"::"):
        at -= 1
        if source.at(at) in (b")", b"]") and at in source.pairs:
            at = source.pairs[at] - 1
        at -= 1
    return source.at(at)

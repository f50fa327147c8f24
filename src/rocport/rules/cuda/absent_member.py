"""`prop.sparseCudaArraySupported`, `attributes.requiredClusterWidth`: members that HIP lacks or spells otherwise.

HIP's counterparts of CUDA's structures lack what came with Hopper (clusters), with NUMA and with later drivers, and
spell some members otherwise. Every member was compared (`members.csv`): one with another name is renamed, one that HIP
lacks is MANUAL. What is declared with a type of the project's own, or is a member that the project declares, is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocport.binding import Binder, Owner, binder
from rocport.binding.scopes import What
from rocport.facts.members import other_members
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

_MEMBERS = other_members()

RULE = Rule(
    name="absent-member",
    summary="member of a CUDA structure that HIP has not, or under another name",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(_MEMBERS),
    examples=(
        Example(
            "int f(cudaDeviceProp p) { return p.sparseCudaArraySupported; }\n",
            contains=("p.sparseHipArraySupported",),
        ),
        Example(
            "int f(const cudaDeviceProp *p) { return p->deferredMappingCudaArraySupported; }\n",
            contains=("p->deferredMappingHipArraySupported",),
        ),
        Example(
            "void f() { CUDA_KERNEL_NODE_PARAMS p = {}; p.gridDimX = 4; p.blockDimX = 64; }\n",
            contains=("p.gridDim.x = 4; p.blockDim.x = 64;",),
        ),
        Example("int f() { cudaDeviceProp p, q; return q.sparseCudaArraySupported; }\n", contains=("sparseHip",)),
        Example("bool f(cudaFuncAttributes &a) { return a.requiredClusterWidth > 0; }\n"),
        Example("int f(Device &d) { return d.properties().hostNumaId; }\n"),
        Example("void f() { cudaTextureDesc t{}; t.seamlessCubemap = 1; }\n"),
        Example("void f() { cudaMemPoolProps p{}; p.usage = 0; }\n"),
    ),
    clean=(
        "struct Mine { int hostNumaId; };\nint f(Mine m) { return m.hostNumaId; }\n",
        "int f(Memory m, cudaMemPoolProps p) { return m.usage + of(p).usage; }\n",
        "int hostNumaId;\nint g() { return hostNumaId; }\n",
        "int f(cudaDeviceProp p) { return p.persistingL2CacheMaxSize + p.major; }\n",
    ),
    sources=(
        "hip/hip_runtime_api.h and hip/driver_types.h of ROCm 6.4",
        "driver_types.h, texture_types.h and cuda.h of CUDA 11.8, 12.9 and 13.0",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = binder(source, context)
    for position in sorted(source.find(*(source.names & _MEMBERS.keys()))):
        if source.at(position - 1) not in (b".", b"->") or bound.bind(position).owner is Owner.PROJECT:
            continue
        name = source.at(position)
        struct = _structure(source, bound, position, _MEMBERS[name])
        if not struct:
            continue
        other = _MEMBERS[name][struct]
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} of {struct.decode()} is {other.decode()} in HIP"
            if other
            else f"HIP's counterpart of {struct.decode()} has no {name.decode()}",
            applicability=Applicability.SAFE if other else Applicability.MANUAL,
            edits=[replace(source, position, other)] if other else (),
            fix="" if other else "leave it out on AMD, with what it decides",
            cause="" if other else f"{struct.decode()}::{name.decode()}",
        )


def _structure(source: CudaSource, bound: Binder, position: int, structs: Mapping[bytes, bytes]) -> bytes:
    """The structure of CUDA's whose member a token names; empty for others. What is left of the dot is told by its
    declaration; where none is seen, by a name that only CUDA's structure has."""
    left = position - 2
    while source.at(left) == b"]" and left in source.pairs:
        left = source.pairs[left] - 1
    seen = bound.scopes.visible(left) if source.is_ident(left) and source.at(left - 1) not in (b".", b"->") else None
    if seen is not None:
        stops = (b";", b"{", b"}", b"(", *((b",",) if seen.what is What.PARAMETER else ()))
        words = source.texts[source.since(seen.position, *stops) : seen.position]
        if b"auto" not in words:
            return next((word for word in words if word in structs), b"")
    name = source.at(position)
    return next(iter(structs)) if len(name) >= _TELLING and not name.islower() else b""


_TELLING = 10
"""Letters of a member's name that no other structure has by chance."""

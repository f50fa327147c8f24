"""Calls that only tune NVIDIA's caches: how L1 and shared memory are parted, what stays in L2, and how much a kernel of
a module may ask for.

AMD's LDS is no part of a cache, no part of L2 is set aside, and a kernel of a module takes up to 64 KB of LDS without
being told. `cuFuncSetAttribute` sets nothing else, and HIP's takes no function of a module. The call becomes what it
returns, and its other arguments are still evaluated; `cudaSharedmemCarveoutMaxShared` and its kin become their numbers.
A launch that asks for more LDS than there is fails as before. Right on every AMD GPU: no result depends on a hint.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, replace, replace_range
from rocport.rules.cuda.definitions import arguments, may_be_several
from rocport.rules.cuda.warp_common import is_definition, is_name_only
from rocport.syntax.cuda import Call, CudaSource

_NUMBERS = {
    b"cudaSharedmemCarveoutDefault": b"-1",
    b"cudaSharedmemCarveoutMaxL1": b"0",
    b"cudaSharedmemCarveoutMaxShared": b"100",
    b"CU_SHAREDMEM_CARVEOUT_DEFAULT": b"-1",
    b"CU_SHAREDMEM_CARVEOUT_MAX_L1": b"0",
    b"CU_SHAREDMEM_CARVEOUT_MAX_SHARED": b"100",
}
_LIMITS = (b"cudaLimitPersistingL2CacheSize", b"CU_LIMIT_PERSISTING_L2_CACHE_SIZE")
_WINDOWS = (b"cudaStreamAttributeAccessPolicyWindow", b"CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW")
_ATTRIBUTES = (
    b"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    b"CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT",
)
# Call -> how many arguments it has, the place of the one that must be one of these names, and the names.
_CALLS: dict[bytes, tuple[int, int, tuple[bytes, ...]]] = {
    b"cudaCtxResetPersistingL2Cache": (0, 0, ()),
    b"cuCtxResetPersistingL2Cache": (0, 0, ()),
    b"cudaDeviceSetLimit": (2, 0, _LIMITS),
    b"cuCtxSetLimit": (2, 0, _LIMITS),
    b"cudaStreamSetAttribute": (3, 1, _WINDOWS),
    b"cuStreamSetAttribute": (3, 1, _WINDOWS),
    b"cuFuncSetAttribute": (3, 1, _ATTRIBUTES),
}
_VALUE = b"cudaStreamAttrValue"
_CLAIMED = frozenset({*_NUMBERS, *_LIMITS, *_WINDOWS, _VALUE, b"cuFuncSetAttribute"}) | {
    name for name, (count, _, _) in _CALLS.items() if not count
}

RULE = Rule(
    name="hint-call",
    summary="hint to NVIDIA's caches",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=_CLAIMED | frozenset(_CALLS),
    claims=_CLAIMED,
    examples=(
        Example(
            "void f() { cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, n()); cudaCtxResetPersistingL2Cache(); }\n",
            contains=("void f() { (void)(n()); (void)0; }",),
        ),
        Example(
            "void f(int n) { CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, n)); }\n",
            contains=("CHECK(((void)(n), hipSuccess));",),
        ),
        Example(
            "CUresult f(CUfunction k, int n) {\n"
            "  return cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, n);\n}\n",
            contains=("return ((void)(k), (void)(n), hipSuccess);",),
        ),
        Example(
            "void f(cudaStream_t s, void *p) {\n  cudaStreamAttrValue v = {};\n  v.accessPolicyWindow.base_ptr = p;\n"
            "  cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);\n}\n",
            contains=("hipLaunchAttributeValue v = {};", "  (void)(s), (void)(&v);\n"),
        ),
        Example(
            "__global__ void k();\nvoid f() {\n  cudaFuncSetAttribute((const void *)k, "
            "cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);\n}\n",
            contains=("hipFuncAttributePreferredSharedMemoryCarveout, 100);",),
        ),
        Example("void f(CUfunction k, CUfunction_attribute a) { cuFuncSetAttribute(k, a, 1); }\n"),
        Example("void f(size_t *n) { cudaDeviceGetLimit(n, cudaLimitPersistingL2CacheSize); }\n"),
    ),
    clean=(
        "void f() { cudaDeviceSetLimit(cudaLimitStackSize, 1024); }\n",
        "struct S { void cuFuncSetAttribute(int, int, int); };\nvoid f(S s) { s.cuFuncSetAttribute(1, 2, 3); }\n",
    ),
    sources=(
        "hip/hip_runtime_api.h of ROCm 6.4: hipLimit_t, hipFuncSetAttribute, hipLaunchAttributeValue",
        "driver_types.h of CUDA 12.9: cudaSharedCarveout",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    answered: set[int] = set()
    for position in sorted(source.find(*_CALLS)):
        name = source.texts[position]
        call = source.call(position)
        if call is None or is_name_only(source, position) or is_definition(source, position):
            continue
        count, place, names = _CALLS[name]
        given = arguments(source, call.open, call.close) if call.open + 1 < call.close else []
        asked = source.texts[slice(*given[place])] if len(given) == count and names else []
        if len(given) != count or (names and (len(asked) != 1 or asked[0] not in names)):
            continue
        if any(may_be_several(source, *part) for part in given):
            continue
        answered |= {position, *((given[place][0],) if names else ())}
        yield finding(
            RULE,
            source,
            position,
            f"{name.decode()} only tunes a cache that AMD GPUs lack: it is left out, and succeeds",
            last=call.close,
            applicability=Applicability.SAFE,
            edits=_edits(source, call, [part for at, part in enumerate(given) if at != place or not names]),
        )
    yield from _names(source, answered)


def _edits(source: CudaSource, call: Call, kept: list[tuple[int, int]]) -> list[Edit]:
    """The call as a statement of its own, or as an expression that says it went well; what is kept stays in place."""
    whole = source.at(call.name - 1) in (b";", b"{", b"}") and source.at(call.close + 1) == b";"
    whole = whole and source.directive_of(call.name) is None
    if not kept:
        return [replace_range(source, call.name, call.close + 1, b"(void)0" if whole else b"hipSuccess")]
    starts = [source.starts[first] for first, _ in kept]
    ends = [source.end(last - 1) for _, last in kept]
    spans = zip([source.starts[call.name], *ends], [*starts, source.end(call.close)], strict=True)
    before, after = (b"(void)(", b")") if whole else (b"((void)(", b"), hipSuccess)")
    texts = [before, *[b"), (void)("] * (len(kept) - 1), after]
    return [Edit(Span(*span), text) for span, text in zip(spans, texts, strict=True)]


def _names(source: CudaSource, answered: set[int]) -> Iterator[Finding]:
    for position in sorted(source.find(*_CLAIMED)):
        name = source.texts[position]
        if position in answered or is_name_only(source, position) or is_definition(source, position):
            continue
        if name in _NUMBERS or name == _VALUE:
            text = _NUMBERS.get(name, b"hipLaunchAttributeValue")
            message = f"{name.decode()}: {text.decode()}; it is of a hint that AMD GPUs pass over"
            edits = [replace(source, position, text)]
            yield finding(RULE, source, position, message, applicability=Applicability.SAFE, edits=edits)
        else:
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()} has no HIP counterpart: it is of a cache that AMD GPUs lack",
                fix="leave out on AMD what asks for it",
            )

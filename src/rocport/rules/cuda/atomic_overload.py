"""Programs define `atomicMax(float *, float)` and the like because CUDA lacks them; HIP has them: a redefinition.
So are those that old GPUs lacked, `#if __CUDA_ARCH__ < 600` around `atomicAdd(double *, double)` of CUDA's own guide:
HIP declares it for the host pass, too, in which that condition holds. So are those for `uint64_t`, which is `unsigned
long` on Linux: CUDA has them for `unsigned long long` only, HIP for both.
HIP's overloads for float and double do the same in one operation, and return the old value. The program's own is left
out when compiled for AMD. SAFE for the loop of CUDA's guide, which adds (or takes `max`, `fmin`, ...) and swaps until
nobody came between, and gives the old value back, without a word more. REVIEW of every other: the two may differ for
NaN and for the sign of zero, and where the program's function gives something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import PLATFORM, leave_out_on_hip, parameters
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start

_EXTREMES = (b"float", b"double", b"longlong", b"unsignedlong")
_NAMES = {b"atomicMax": _EXTREMES, b"atomicMin": _EXTREMES, b"atomicAdd": (b"float", b"double", b"unsignedlong")}
_NAMES |= dict.fromkeys(
    (b"atomicCAS", b"atomicSub", b"atomicExch", b"atomicAnd", b"atomicOr", b"atomicXor"), (b"unsignedlong",)
)
# What unsigned long is called on Linux.
_LONG = frozenset({b"uint64_t", b"std::uint64_t", b"size_t", b"std::size_t", b"ulong", b"unsignedlongint"})

RULE = Rule(
    name="atomic-overload",
    summary="atomic overload that HIP has and CUDA lacks",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(_NAMES),
    examples=(
        Example(
            "__device__ static float atomicMax(float *a, float v)\n{\n  return *a = v;\n}\n",
            contains=("#if !ROCPORT_HIP", "#endif"),
        ),
        Example(
            "#if __CUDA_ARCH__ < 600\n__device__ double atomicAdd(double *address, double val)\n{\n"
            "  return *address += val;\n}\n#endif\n",
            contains=("#if !ROCPORT_HIP", "#endif"),
        ),
        Example(
            "__device__ double atomicAdd(double *p, double v) {\n  unsigned long long *a = (unsigned long long *)p;\n"
            "  unsigned long long old = *a, seen;\n  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __double_as_longlong(v + __longlong_as_double(seen)));\n"
            "  } while (seen != old);\n  return __longlong_as_double(old);\n}\n",
            contains=("#if !ROCPORT_HIP", "#endif"),
        ),
        Example(
            "__device__ float atomicMax(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(fmaxf(v, __int_as_float(seen))));\n"
            "  } while (seen != old);\n  return __int_as_float(old);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ float atomicMax(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(v + fmaxf(v, __int_as_float(seen))));\n"
            "  } while (seen != old);\n  return __int_as_float(old);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ float atomicAdd(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(0.5f * v + __int_as_float(seen)));\n"
            "  } while (seen != old);\n  return __int_as_float(old);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ float atomicMax(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(fmaxf(fabsf(v), __int_as_float(seen))));\n"
            "  } while (seen != old);\n  return __int_as_float(old);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ float atomicAdd(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(v + __int_as_float(seen)));\n"
            "  } while (seen != old);\n  return __int_as_float(old) + v;\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ float atomicAdd(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(v + seen));\n"
            "  } while (seen != old);\n  return __int_as_float(old);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ float atomicMin(float *p, float v) {\n  int *a = (int *)p, old = *a, seen;\n"
            "  do {\n    seen = old;\n"
            "    old = atomicCAS(a, seen, __float_as_int(fminf(v, __int_as_float(seen))));\n"
            "  } while (seen != old);\n  return __int_as_float(old);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ std::uint64_t atomicCAS(std::uint64_t *p, std::uint64_t a, std::uint64_t b) {\n"
            "  return atomicCAS(reinterpret_cast<unsigned long long *>(p), (unsigned long long)a, b);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "#ifdef __CUDACC__\n#define DEVICE __device__\n#else\n#define DEVICE\n#endif\n"
            "DEVICE std::uint64_t atomicExch(std::uint64_t *p, std::uint64_t v) {\n"
            "  return atomicExch(reinterpret_cast<unsigned long long *>(p), (unsigned long long)v);\n}\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "__device__ size_t atomicXor(size_t *p, uint64_t v) { size_t old = *p; *p ^= v; return old; }\n",
            contains=("#if !ROCPORT_HIP",),
        ),
    ),
    clean=(
        "__device__ long atomicXor(long *p, long v) { return *p ^= v; }\n",
        "__device__ float atomicMaxFloat(float *a, float v) { return *a = v; }\n",
        "__global__ void k(int *a) { atomicMax(a, 1); }\n",
        "__device__ __half atomicAdd(__half *a, __half v) { return *a = v; }\n",
        "struct Pair { float x; };\n__device__ void atomicMax(Pair *a, Pair v) { *a = v; }\n",
    ),
    sources=("hip/amd_detail/amd_hip_atomic.h of ROCm 6.4",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_NAMES):
        open_ = position + 1
        if source.at(open_) != b"(" or open_ not in source.pairs or source.directive_of(position) is not None:
            continue
        close = source.pairs[open_]
        if source.at(close + 1) not in (b"{", b";") or not _declares(source, position, context):
            continue
        given = parameters(source, open_, close)
        types = [type_ for type_, _ in given]
        if len(types) != (3 if source.texts[position] == b"atomicCAS" else 2) or not types[0].endswith(b"*"):
            continue
        named = (types[0].removesuffix(b"*"), *types[1:])
        values = {b"unsignedlong" if type_ in _LONG else type_ for type_ in named}
        if len(values) != 1 or values.isdisjoint(_NAMES[source.texts[position]]):
            continue
        body = close + 1
        last = source.pairs.get(body, body)
        yield finding(
            RULE,
            source,
            position,
            f"HIP has {source.texts[position].decode()}({types[0].decode()}, {types[1].decode()}); "
            "this definition is left out on AMD",
            last=close,
            applicability=Applicability.SAFE
            if _forwards(source, position, body, last) or _is_the_loop(source, position, body, last, given)
            else Applicability.REVIEW,
            edits=leave_out_on_hip(source, definition_start(source, position), last, b"HIP has this overload"),
            headers=[PLATFORM],
            fix="see that the function returns the old value and treats NaN as you need it",
            cause="atomics of the project's that HIP has",
        )


def _forwards(source: CudaSource, position: int, first: int, last: int) -> bool:
    """True for a body that only calls the function of the same name: `unsigned long`'s that asks for long long's."""
    begins = source.texts[first + 1 : first + 4] == [b"return", source.texts[position], b"("]
    return begins and source.pairs.get(first + 3) == last - 2


def _is_the_loop(source: CudaSource, position: int, first: int, last: int, given: list[tuple[bytes, bytes]]) -> bool:
    """True for a declaration, and for a body that is CUDA's loop around what HIP's overload does, and nothing else."""
    if first == last:
        return True
    if source.texts[position] not in _COMBINED:
        return False
    (_, address), (type_, value) = given
    body = source.texts[first + 1 : last]
    loop = _LOOP.fullmatch(b" ".join(body[body.index(b"do") :])) if b"do" in body else None
    if loop is None or body.count(value) != 1:
        return False
    if not _only_declares(b" ".join(body[: body.index(b"do")]), loop, type_, address):
        return False
    bits, number = _CASTS.get(type_, (_NO_CAST, _NO_CAST))
    nothing = loop["result"] is None and source.at(position - 1) == b"void"
    old = number.fullmatch(loop["result"] or b"")
    new = bits.fullmatch(loop["new"])
    combined = _COMBINED[source.texts[position]].fullmatch(_bare(new[1])) if new else None
    if combined is None or not (nothing or (old is not None and _bare(old[1]) in (loop["old"], loop["seen"]))):
        return False
    sides = [_bare(side) for side in combined.groups() if side is not None]
    held = [number.fullmatch(side) for side in sides if side != value]
    return value in sides and [_bare(match[1]) for match in held if match] == [loop["seen"]]


def _only_declares(head: bytes, loop: re.Match[bytes], type_: bytes, address: bytes) -> bool:
    """True where nothing is ahead of the loop but declarations of its variables: the address as an integer's, unless
    the loop takes the parameter itself, what was read there, and what was seen."""
    place, old, seen = re.escape(loop["place"]), re.escape(loop["old"]), re.escape(loop["seen"])
    integer = _INTEGERS.get(type_, _WIDE)
    given = re.escape(address)
    pointer = rb"%b \*" % integer
    cast = rb"(?:\( %b \) (?:%b|\( %b \))|reinterpret_cast < %b > \( %b \))" % (pointer, given, given, pointer, given)
    wanted = {
        rb"\* (?:const )?%b = %b" % (place, cast): loop["place"],
        rb"%b = (?:\* %b|%b \[ 0 \])" % (old, place, place): loop["old"],
        seen: loop["seen"],
    }
    found = []
    for statement in head.removesuffix(b";").split(b";"):
        declared = re.fullmatch(rb"\s*(?:%b|(auto)) ((?:\* |\w).*?)\s*" % integer, statement)
        if declared is None:
            return False
        declarators = declared[2].split(b" , ")
        if declared[1] and (len(declarators) > 1 or b"=" not in declarators[0]):
            return False
        for declarator in declarators:
            if declared[1] and re.fullmatch(rb"%b = %b" % (place, cast), declarator):
                declarator = b"* " + declarator
            found.append(next((name for form, name in wanted.items() if re.fullmatch(form, declarator)), b""))
    own = [] if loop["place"] == address else [loop["place"]]
    return sorted(found) == sorted([*own, loop["old"], loop["seen"]]) and len({*found, address}) == 3 + len(own)


def _bare(text: bytes) -> bytes:
    """An expression, its words apart, without the parentheses around all of it."""
    while text.startswith(b"( ") and text.endswith(b" )") and b"(" not in text[1:] and b")" not in text[:-1]:
        text = text[2:-2]
    return text


# The integers of a number's size, as which its bits are swapped.
_WIDE = rb"(?:(?:unsigned |signed )?long long(?: int)?|unsigned long(?: int)?|u?int64_t)"
_INTEGERS = {b"float": rb"(?:(?:unsigned |signed )?int|unsigned|uint|u?int32_t)", b"double": _WIDE}
_LOOP = re.compile(
    rb"do \{ (?P<seen>\w+) = (?P<old>\w+) ; (?P=old) = atomicCAS \( (?P<place>\w+) , (?P=seen) , (?P<new>[^;{}]+) \) ; "
    rb"\} while \( (?:(?P=seen) != (?P=old)|(?P=old) != (?P=seen)) \) ;(?: return(?: (?P<result>[^;{}]+))? ;)?"
)
_NO_CAST = re.compile(rb"(.+)")
# Type -> how its bits are named as an integer's, and how an integer's are named as the type's.
_CASTS = {
    b"float": (re.compile(rb"__float_as_u?int \( (.+) \)"), re.compile(rb"__u?int_as_float \( (.+) \)")),
    b"double": (re.compile(rb"__double_as_longlong \( (.+) \)"), re.compile(rb"__longlong_as_double \( (.+) \)")),
}
_SIDES = rb"([^+,]+)"
_COMBINED = {
    b"atomicAdd": re.compile(
        rb"(?:%b \+ %b|__[df]add_rn \( %b , %b \))" % (_SIDES, _SIDES, _SIDES, _SIDES),
    ),
    b"atomicMax": re.compile(rb"(?:(?:std )?:: )?f?maxf? \( %b , %b \)" % (_SIDES, _SIDES)),
    b"atomicMin": re.compile(rb"(?:(?:std )?:: )?f?minf? \( %b , %b \)" % (_SIDES, _SIDES)),
}


def _declares(source: CudaSource, position: int, context: Context) -> bool:
    """True for a declaration: a type stands before the name, and before that a device specifier or a macro of one."""
    before = source.at(position - 1)
    if not (source.is_ident(position - 1) or before in (b"*", b"&")) or before in (b"return", b"else"):
        return False
    start = definition_start(source, position)
    words = source.texts[start:position]
    return any(word == b"__device__" or b"__device__" in context.project.macros.get(word, b"") for word in words)

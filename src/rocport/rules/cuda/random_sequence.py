"""Random numbers differ: hipRAND does not give cuRAND's sequence for the same generator and seed.

rocRAND's generators have their own offsets and orderings, so a test that compares with numbers recorded from cuRAND
fails, and a run cannot be repeated number by number on the other platform. Distributions are the same. REVIEW, once a
file, where the file compares something with a number, `h[0] == 0.145468f`, or is a test by the words it uses
(`EXPECT_NEAR`, `golden`), and a seed is not the time; SAFE elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_TIMES = frozenset(b"time clock clock64 random_device chrono high_resolution_clock gettimeofday getpid rdtsc".split())
_COMPARES = re.compile(
    rb"(?:EXPECT|ASSERT|CHECK|REQUIRE)_(?!CU|GPU|ERR|LAST|STATUS|KERNEL|LAUNCH)\w+|REQUIRE|CHECK|BOOST_(?:CHECK|TEST|REQUIRE)\w*|\w*(?i:golden|expected|recorded)\w*"
)
_FRACTION = re.compile(rb"-?\d*\.\d{3,}f?|\d{4,}[uUlL]*|0[xX][0-9a-fA-F]{4,}[uUlL]*")
_SEEDS = (b"curandSetPseudoRandomGeneratorSeed", b"curand_init")
_STARTS = (
    b"curandSetPseudoRandomGeneratorSeed",
    b"curandCreateGenerator",
    b"curandCreateGeneratorHost",
    b"curand_init",
)

RULE = Rule(
    name="random-sequence",
    summary="sequence of random numbers",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=5,
    triggers=frozenset(_STARTS),
    examples=(
        Example("void f(curandGenerator_t g) { curandSetPseudoRandomGeneratorSeed(g, 1); }\n"),
        Example("void f(curandGenerator_t g) { curandSetPseudoRandomGeneratorSeed(g, 1); EXPECT_EQ(draw(g), 7); }\n"),
        Example("void f(curandGenerator_t g) { curandSetPseudoRandomGeneratorSeed(g, time(0)); verify(g); }\n"),
        Example("void f(curandGenerator_t g) { int t = clock(); curandSetPseudoRandomGeneratorSeed(g, 1); }\n"),
        Example("__device__ void f(curandState *s) { curand_init(1, 0, 0, s); }\n"),
        Example("__device__ float f() { curandState s; curand_init(1, 0, 0, &s); return curand_uniform(&s); }\n"),
        Example("__device__ void f(curandState *out) { curandState s; curand_init(1, 0, 0, &s); *out = s; }\n"),
        Example("__device__ curandState s;\n__device__ void f() { curand_init(1, 0, 0, &s); }\n"),
        Example(
            "bool f(curandGenerator_t g, float *h) { curandCreateGenerator(&g, 100); return h[0] == 0.145468f; }\n"
        ),
    ),
    clean=(
        "int my_curand_init(int);\n",
        "__device__ void f() { curandState s; curand_init(1, 0, 0, &s); /* curand(&s) */ }\n",
    ),
    sources=("https://rocm.docs.amd.com/projects/rocRAND/en/latest/api-reference/cpp-api.html (cuRAND compatibility)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_STARTS):
        if source.at(position + 1) != b"(" or amd_only(source, position) or _is_idle(source, position):
            continue
        yield finding(
            RULE,
            source,
            position,
            "hipRAND gives other numbers than cuRAND for the same generator and seed: recorded values do not hold",
            applicability=Applicability.REVIEW if _compares(source) and not _is_time(source) else Applicability.SAFE,
            confidence=Confidence.MEDIUM,
            fix="compare distributions, or numbers made on the host",
            cause="cuRAND's numbers",
        )
        return


def _is_idle(source: CudaSource, position: int) -> bool:
    """True for `curand_init(seed, n, 0, &state)` of a local variable that the file names only where it is declared and
    set: nothing is drawn from it."""
    close = source.pairs.get(position + 1, 0)
    if source.at(position) != b"curand_init" or source.at(close - 2) != b"&":
        return False
    scopes = Scopes(source)
    return all(
        at == close - 1
        or (
            source.at(at - 1).startswith(b"curandState")
            and source.at(at + 1) == b";"
            and any(scope.kind is Kind.FUNCTION for scope in scopes.enclosing(at))
        )
        for at in source.find(source.at(close - 1))
    )


def _compares(source: CudaSource) -> bool:
    """True where the file may hold numbers that were recorded from a run."""
    if any(_COMPARES.fullmatch(name) for name in source.index):
        return True
    return any(
        _FRACTION.fullmatch(source.at(at + side))
        for word in (b"==", b"!=")
        for at in source.index.get(word, ())
        for side in (-1, 1)
    )


def _is_time(source: CudaSource) -> bool:
    """True where every call that sets a seed names the time in its arguments; a clock elsewhere only measures."""
    calls = [at + 1 for at in source.find(*_SEEDS) if source.at(at + 1) == b"("]
    seeds = [source.texts[at : source.pairs.get(at, at)] for at in calls]
    return bool(seeds) and not any(_TIMES.isdisjoint(words) for words in seeds)

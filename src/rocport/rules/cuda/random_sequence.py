"""Random numbers differ: hipRAND does not give cuRAND's sequence for the same generator and seed.

rocRAND's generators have their own offsets and orderings, so a test that compares with numbers recorded from cuRAND
fails, and a run cannot be repeated number by number on the other platform. Distributions are the same. REVIEW, once a
file; in a file that takes its seed from the time, whose numbers are others at every run, SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_TIMES = frozenset(b"time clock clock64 random_device chrono high_resolution_clock gettimeofday getpid rdtsc".split())
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
        Example("__device__ void f(curandState *s) { curand_init(1, 0, 0, s); }\n"),
    ),
    clean=("int my_curand_init(int);\n",),
    sources=("https://rocm.docs.amd.com/projects/rocRAND/en/latest/api-reference/cpp-api.html (cuRAND compatibility)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for position in source.find(*_STARTS):
        if source.at(position + 1) != b"(" or amd_only(source, position):
            continue
        yield finding(
            RULE,
            source,
            position,
            "hipRAND gives other numbers than cuRAND for the same generator and seed: recorded values do not hold",
            applicability=Applicability.REVIEW if _TIMES.isdisjoint(source.texts) else Applicability.SAFE,
            confidence=Confidence.MEDIUM,
            fix="compare distributions, or numbers made on the host",
        )
        return

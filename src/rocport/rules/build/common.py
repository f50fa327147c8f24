"""Tables and builders shared by the rules over build files and setup.py."""

from __future__ import annotations

import re
from functools import cache

from rocport.facts.lookup import counterpart, link_names
from rocport.facts.symbols import without_counterpart
from rocport.model import Applicability, Confidence, Finding, Rule, Severity, Span
from rocport.project.build import BuildSource, Line
from rocport.project.cmake import CMakeCommand
from rocport.project.make import ASSIGNS, USES

# Flags clang refuses when it compiles HIP (clang 19, each tried): "unknown argument", or the value that follows is
# taken for an input file (-diag-suppress 20012). -lineinfo, -Xcompiler and -dc only warn, so they are not here.
NVCC_FLAG = re.compile(
    r"(?:^|(?<=[\s=\"',;:]))(?:"
    r"--expt-(?:relaxed-constexpr|extended-lambda)|-expt-(?:relaxed-constexpr|extended-lambda)|--extended-lambda"
    r"|-{1,2}use_fast_math|-Xptxas|--ptxas-options|-{1,2}maxrregcount|--threads(?=[\s=\"',]|$)|-t=?0\b"
    r"|-Xfatbin|-Xnvlink|--default-stream|--generate-line-info|--resource-usage|-{1,2}fmad=|-{1,2}prec-(?:div|sqrt)=|-{1,2}ftz="
    r"|-gencode|--generate-code|-arch=\s?(?:sm|compute)_?|--gpu-architecture|-ccbin|-cudart\b|--source-in-ptx"
    r"|-{1,2}diag[-_]suppress(?=[\s\"',]|$)|--diag[-_]suppress=|-Xcudafe|--compiler-options|-Xcompiler=|-{1,2}split-compile"
    r"|-{1,2}restrict(?=[\s\"',]|$)|-{1,2}res(?:ource)?-usage|-{1,2}extended-lambda|-{1,2}rdc(?==|\s(?:true|false)\b)|--device-(?:c|debug)(?=[\s\"',;>]|$)|-{1,2}forward-unknown-to-host-compiler"
    r"|-allow-unsupported-compiler|--compress-mode|-compress-all|--relocatable-device-code|--cuda-path-ext|--pre-include(?=[\s=\"',;>]|$)"
    r"|-DCUDA_API_PER_THREAD_DEFAULT_STREAM(?:=1)?(?=[\s\"',;>]|$))"
)
_ALSO_INTELS = "-restrict"
_NVCC_HERE = re.compile(r"(?i)nvcc|cuda\w{,40}flags|cmake_cuda|:cuda\b")
ARCH_FLAG = re.compile(r"arch=compute_|code=sm_|\bcompute_\d\d|\bsm_\d\d|-gencode|--generate-code|-arch=")
HALF_MACRO = re.compile(r"-U\s*__CUDA_NO_(?:HALF|BFLOAT16)")
CUDA_PATH = re.compile(r"/usr/local/cuda|nvidia/cuda_runtime|\bCUDA Toolkit\b|targets/x86_64-linux/include")
WHEEL_TAG = re.compile(
    r"(?:\+|whl/|[-_.])cu(?:\d{2,3}|1[0-9]\.?x)(?:\b|(?=torch))|download\.pytorch\.org/whl/cu|\+cu\b|whl/cu"
)


NVIDIA_TOOLS = frozenset(
    {"nvcc", "ptxas", "fatbinary", "bin2c", "cuobjdump", "nvdisasm", "nvprune", "nvlink", "cudafe++", "nvidia-smi"}
)
"""Programs of the CUDA toolkit and of NVIDIA's driver that a build may call."""


FOR_CUDA_ONLY = "workflows for CUDA only"
"""The cause of what a workflow for CUDA alone is built in and by: a job for ROCm beside it settles it."""
_WORKFLOW = re.compile(
    r"(?:^|/)(?:\.github/workflows/|\.gitlab-ci|\.?azure[^/]*(?:/|\Z)|\.travis\.yml|Jenkinsfile"
    r"|\.(?:flexci|pfnci|circleci|buildkite|jenkins|ci)/)"
)


def is_workflow(path: str) -> bool:
    """True for a file that a service for continuous integration reads."""
    return _WORKFLOW.search(path) is not None


BY_HAND = "nothing on ROCm takes its place; what calls it is ported by hand"
NOTHING = "nothing on ROCm takes its place"


def nvcc_flag(text: str, variables: frozenset[str] = frozenset()) -> re.Match[str] | None:
    """The first of nvcc's flags in a line of a build file; None where there is none.

    `-restrict` is Intel's too: it counts beside another one, where nvcc or its flags are named, and in the value of one
    of `variables`, those that nvcc is given.
    """
    flags = list(NVCC_FLAG.finditer(text))
    assigned = ASSIGNS.match(text)
    sure = any(flag[0].strip() != _ALSO_INTELS for flag in flags) or ARCH_FLAG.search(text) or _NVCC_HERE.search(text)
    return flags[0] if flags and (sure or (assigned and assigned[1] in variables)) else None


def nvcc_variables(source: BuildSource) -> frozenset[str]:
    """The variables of a Makefile that stand in a line that names nvcc."""
    lines = (line.text for line in source.lines if "nvcc" in line.text.lower())
    return frozenset(name for text in lines for name in USES.findall(text))


@cache
def _cuda_library() -> re.Pattern[str]:
    # A plain `cuda` is a word like any other; `-lcuda` is the driver's library.
    names = "|".join(re.escape(name) for name in link_names() if name != "cuda")
    return re.compile(
        rf"(?:(?:^|-l|(?<=[\s\"'/;]))(?:lib)?(?:{names})|-lcuda)(?:_static)?(?:\.(?:so[\d.*]*|lib|dll|a))?(?=$|[\s\"';)])"
    )


def cuda_library(text: str, by_hand: bool = False) -> tuple[str, str]:
    """(the first of CUDA's libraries in a text as it stands there, what to do about it); empty where there is none.

    `by_hand`: of those alone that nothing takes the place of, whatever stands beside them.
    """
    for match in _cuda_library().finditer(text):
        spelled = match[0].strip()
        row = counterpart("link", spelled.removeprefix("-l").removeprefix("lib"))
        if by_hand and (row is None or not row.by_hand):
            continue
        note = row.note.partition(":")[2].strip() if row else ""
        return spelled, note or (f"link {row.hip} on ROCm" if row and row.hip else NOTHING)
    return "", ""


def library_cause(spelled: str) -> str:
    """The library that a link name `-lcudnn` is of, where none of it has a place on ROCm; else empty."""
    row = counterpart("link", spelled.removeprefix("-l").removeprefix("lib"))
    return without_counterpart(row) if row is not None else ""


def namespace_cause(name: str) -> str:
    """As `library_cause`, of the library of a namespace, `cutlass`."""
    row = counterpart("namespace", name)
    return without_counterpart(row) if row is not None else ""


def found(
    rule: Rule,
    source: BuildSource,
    place: Line | CMakeCommand,
    message: str,
    *,
    fix: str = "",
    confidence: Confidence = Confidence.HIGH,
    severity: Severity | None = None,
    holds: str = "",
) -> Finding:
    """A finding on a line or on a CMake command, without edits."""
    if isinstance(place, Line):
        first = last = place.number
        span = Span(place.start, place.start + len(place.text.encode()))
    else:
        first, last = place.line, place.end_line
        span = Span(place.start, max(place.start, place.end))
    return Finding(
        rule=rule.name,
        path=source.path,
        span=span,
        line=first,
        end_line=last,
        message=message,
        severity=rule.severity if severity is None else severity,
        applicability=Applicability.MANUAL,
        confidence=confidence,
        fix=fix,
        phase=rule.phase,
        holds=holds or rule.holds,
        source=rule.sources[0] if rule.sources else "",
    )

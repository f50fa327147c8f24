"""Makefiles and shell scripts that call nvcc, pass its flags or link CUDA's libraries.
hipcc takes another set of flags, and there is no nvcc on a ROCm machine. Right when a variable chooses the compiler and
its flags. A line behind a test that asks for HIP or ROCm is left alone, and so is `nvidia-smi || true`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocport.facts.lookup import link_triggers
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource, Line
from rocport.rules.build.common import (
    ARCH_FLAG,
    BY_HAND,
    CUDA_PATH,
    NVCC_FLAG,
    cuda_library,
    found,
    library_cause,
    nvcc_flag,
    nvcc_variables,
)
from rocport.rules.build.make_gate import Blocks
from rocport.syntax.amd import is_amd_path, names_amd

_NVCC = re.compile(r"(?:^|[\s/=(`$])nvcc\b|\bNVCC(?:FLAGS|_FLAGS)?\b")
_ARCH = re.compile(r"(?<!unset )\bTORCH_CUDA_ARCH_LIST\b|\bCUDA_ARCH(?:ITECTURES|S)?\s*[:?]?=")
# clang reads `-lineinfo` as a library `ineinfo`, links where `-dc` asks it to compile, and has no `-G`, which is also
# how cmake is told its generator.
_MISREAD = re.compile(r"(?:^|\s)-(?:lineinfo|dc)(?=\s|$)|^(?!.*(?i:cmake)).*\s-G(?=\s|$)")
# What a project's CI does for one release of CUDA stays CUDA's: a job for ROCm stands beside it.
_CI_OF_CUDA = re.compile(
    r"(?:^|/)\.?(?:github|ci|circleci|gitlab|azure[\w-]*|buildkite)/(?:.*[/_.-])?cu(?:da)?[\d._-]*[/_.-]"
)
_SHOWN = re.compile(r"^\s*cat\s*<<-?\s*[\"']?(\w+)[\"']?\s*$")
_OPENS = re.compile(r"(?:^|[\s;&|])[({]\s*$|\(\)\s*[({]\s*$")
# What takes the output of a group for a person's eyes: a terminal, a log.
_CLOSES = re.compile(r"^\s*[)}](?P<kept>(?!.*(?:\.(?:log|txt)|\btee)\b).*(?:>>?\s*(?![\s&]|/dev/)|(?<!\|)\|(?!\|)).*)?")
# A command that shows the user what it finds, and stops nobody: `nvidia-smi || true`.
_SHOWS = re.compile(
    r"\s*(?:nvidia-smi(?:\s+(?:-L|-q|-i|-d|-m|topo|[\d,]+|[A-Z_,]+|--(?:list|query|format|id)[\w=,.-]*))*|nvcc\s+(?:--version|-V)|(?:command\s+-v|which)\s+(?:nvcc|nvidia-smi))"
    r"(?:\s+(?:2>&1|2>\s*/dev/null))?(?:\s*\|\s*(?:head|tail|grep)\s[^|>&;`$()]*)?"
    r"\s*\|\|\s*(?:true|:|echo\s+(?P<quote>[\"'])[^\"'`$]*(?P=quote))\s*"
)
_ASKS_FOR_IT = re.compile(
    r"\s*if\s+(?:!\s*)?(?:command\s+-v|which|type|hash)\s+(?:nvcc|nvidia-smi)"
    r"(?:\s*(?:&>|2>|>)\s*(?:/dev/null|&1))*\s*(?:;\s*then\s*)?"
)
_SAYS = re.compile(r"\s*(?:echo|printf)\s+(?:-\w+\s+)*(?P<quote>[\"'])(?P<text>.*)(?P=quote)(?:\s*>&2)?\s*;?\s*")
_FUNCTION = re.compile(r"\s*(?:function\s+)?([\w-]+)\s*\(\)\s*[({]\s*$")
_TAKEN = re.compile(r"(?:\$\(|`)\s*([\w-]+)")
_KEPT = re.compile(r"\s*([\w-]+)\b.*?(?:>>?\s*(?![\s&>]|/dev/)|(?<!\|)\|(?!\|))")
_ASKED_FOR = re.compile(r"\$\((?:nvcc\s+(?:--version|-V)|nvidia-smi|which|command\s+-v)\b[^()`;&>$]*\)")
_SMI = re.compile(r"\bnvidia-smi\b|\bnvidia-modprobe\b")

RULE = Rule(
    name="script-nvcc",
    summary="nvcc, its flags or CUDA libraries in a script",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"make", "shell", "yaml"}),
    triggers=link_triggers("-l")
    | {b"nvcc", b"NVCC", b"gencode", b"sm_", b"/usr/local/cuda", b"nvidia-smi", b"CUDA_ARCH"},
    phase=4,
    holds="flags tried with clang 19 and HIP 6.4; every ROCm release",
    examples=(
        Example(
            "NVCC = nvcc\nall:\n\tnvcc -arch=sm_80 a.cu -lcublas\n",
            contains=(
                "ifeq ($(USE_ROCM),1)\nNVCC = hipcc\nelse\nNVCC = nvcc\nendif\n",
                "\thipcc $(foreach arch,$(or $(GPU_TARGETS),gfx90a ",
                "a.cu -lhipblas\nelse\n\tnvcc -arch=sm_80 a.cu -lcublas\nendif\n",
            ),
            path="Makefile",
        ),
        Example(
            "FLAGS = -O3 -restrict\na: a.cu\n\tnvcc $(FLAGS) a.cu\nb: b.c\n\ticc -restrict b.c -lcudart\n",
            contains=("FLAGS = -O3 \nelse", "\ticc -restrict b.c -lamdhip64\nelse"),
            path="Makefile",
        ),
        Example(
            "V := $(shell nvcc -V 2>/dev/null | grep -o 'release [0-9]*' | cut -d' ' -f2)\nF += -DCUDA$(V)\n",
            contains=("V := $(shell echo Cuda compilation tools, release 12.4, V12.4 2>/dev/null | grep -o",),
            path="Makefile",
        ),
        Example(
            "NVCC ?= nvcc\nHIPCC ?= hipcc\na.o: a.cu\n\t$(NVCC) -c a.cu\nb.o: b.hip\n\t$(HIPCC) -c b.hip\n",
            absent=("USE_ROCM",),
            path="Makefile",
        ),
        Example(
            "NVCC ?= nvcc\nHIPCC ?= hipcc\na.o: a.cu\n\t$(NVCC) -c a.cu\nb.o: b.hip\n\t$(CXX) -c b.hip\n",
            contains=("USE_ROCM",),
            path="Makefile",
        ),
        Example("export TORCH_CUDA_ARCH_LIST='8.0;9.0'\n", path="build.sh"),
        Example("nvidia-smi\n", path="run.sh"),
        Example('echo "nvcc -arch=sm_80 a.cu" > job.sh\n', path="run.sh"),
        Example('echo "$(nvcc --version)"\n', path="run.sh"),
        Example(
            'targets() {\n  echo "-gencode arch=compute_80,code=sm_80 -O3"\n}\nhipcc $(targets) a.cu\n', path="run.sh"
        ),
        Example('{\n  echo "clang a.cu -arch=sm_80 -o a"\n} > job.sh\n', path="run.sh"),
        Example('targets() {\n  echo "sm_80 sm_86 sm_90"\n}\n', path="run.sh"),
        Example("cat <<EOF\nwatch nvidia-smi\nEOF\nnvcc a.cu\n", path="run.sh"),
        Example("{\n  cat <<EOF\nnvcc a.cu\nEOF\n} > job.sh\nsh job.sh\n", path="run.sh"),
        Example(
            'NVFLAGS = -O3 -Xcompiler "-fPIC -Wall" -arch=sm_80\nx: x.cu\n\tnvcc $(NVFLAGS) x.cu\n',
            contains=("NVFLAGS = -O3 -fPIC -Wall $(foreach",),
            path="Makefile",
        ),
        Example("seen() {\n  nvidia-smi -L || true\n}\nGPUS=$(seen | wc -l)\n", path="run.sh"),
        Example("seen() {\n  nvidia-smi -L || true\n}\nseen > gpus.txt\n", path="run.sh"),
        Example("nvidia-smi -L > gpus.txt || true\n", path="run.sh"),
        Example("nvidia-smi -pm 1 || true\n", path="run.sh"),
        Example('if which nvcc; then\n  echo "this is $(nvcc a.cu -o a)"\nfi\n', path="run.sh"),
        Example("NVCC = /opt/kokkos/bin/nvcc-wrapper\na: a.cu\n\t$(NVCC) a.cu\n", absent=("hipcc-",), path="Makefile"),
        Example('if ! command -v nvcc &> /dev/null; then\n  echo "nvcc was not found"\n  exit 1\nfi\n', path="run.sh"),
        Example('if command -v nvcc; then\n  echo "sm_80"\nelse\n  echo "no GPU here"\nfi\n', path="run.sh"),
        Example(
            "V = $(shell uname)\nNVCC = /usr/local/$(V)/bin/nvcc -m64\na: a.cu\n\t$(NVCC) a.cu\n",
            contains=("NVCC = hipcc -m64\n",),
            path="Makefile",
        ),
        Example(
            "PATH := a:/usr/local/bin/nvcc\nNVCC = nvcc\na: a.cu\n\t$(NVCC) a.cu\n",
            contains=("PATH := a:/usr/local/bin/nvcc\n",),
            path="Makefile",
        ),
        Example("NVCC = nvcc\nNVCCFLAGS = $(ELSEWHERE)\na: a.cu\n\t$(NVCC) $(NVCCFLAGS) a.cu\n", path="Makefile"),
    ),
    clean=(
        Example("unset TORCH_CUDA_ARCH_LIST\n", path="run.sh"),
        Example("nvidia-smi || true\nnvcc --version 2>&1 | tail -n 1 || true\n", path="run.sh"),
        Example(
            'if ! command -v nvcc &> /dev/null; then\n  echo "nvcc was not found"\nelse\n'
            '  echo "CUDA is $(nvcc --version | tail -n 1)"\nfi\n',
            path="run.sh",
        ),
        Example("ifdef USE_ROCM\nCC = hipcc\nelse\nCC = nvcc\nendif\n", path="Makefile"),
        Example(
            "ifeq ($(cuda),yes)\nCC = nvcc\nendif\n\nifeq ($(amdhip),yes)\nCC = hipcc\nendif\n", path="Makefile.in"
        ),
        Example("CC = icc\nCFLAGS_INTEL = -O3 -restrict\na: a.c\n\t$(CC) -restrict a.c\n", path="Makefile"),
        Example("# nvcc is needed\nhipcc a.cpp\n", path="Makefile"),
        Example('echo "Building for sm_103a with nvcc" >&2\n', path="build.sh"),
        Example("usage() {\n  cat <<EOF\nneeds nvcc\nEOF\n} >&2\n", path="run.sh"),
        Example("export TORCH_CUDA_ARCH_LIST='8.0;9.0'\n", path=".github/workflows/cuda/cu118-Linux-env.sh"),
    ),
    sources=("https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_porting_guide.html",),
)


_BY_A_PROGRAM = "Makefiles that another program writes"
_WRITTEN = re.compile(rb"Generated by qmake|CMAKE generated file|generated by automake|Generated by premake", re.I)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if (
        is_amd_path(source.path)
        or _CI_OF_CUDA.search(source.path)
        or b"Generated by GNU Autoconf" in source.data[:2000]
    ):
        return
    items = list(_found(source))
    if source.language == "make" and _WRITTEN.search(source.data[:2000]):
        items = [replace(item, cause=_BY_A_PROGRAM) for item in items]
    if source.language != "make" or not items:
        yield from items
        return
    if _builds_for_hip(source.data):
        yield from (replace(item, applicability=Applicability.SAFE) for item in items)
        return
    blocks = Blocks(source, [item.line for item in items], context)
    lines = {line.number: line for line in source.lines}
    for item in items:
        made = blocks.edits_at(item.line)
        if not made and (blocks.only_names_a_target(item.line) or blocks.is_plain(item.line)):
            continue
        cause = item.cause if item.cause == _BY_A_PROGRAM else "nvcc in Make"
        yield replace(item, edits=made, applicability=Applicability.REVIEW, cause=cause) if made else item
        if made:
            yield from _by_hand(source, lines[item.line])


def _by_hand(source: BuildSource, line: Line) -> Iterator[Finding]:
    """The library that an edited line leaves out for ROCm, and nothing takes the place of."""
    library, advice = cuda_library(line.text, by_hand=True) if "-l" in line.text else ("", "")
    if library:
        item = found(RULE, source, line, f"{library}: {BY_HAND}", fix=advice)
        yield replace(item, cause=library_cause(library))


def _builds_for_hip(data: bytes) -> bool:
    """True for a Makefile whose recipes run hipcc wherever others of it run nvcc: it chooses already."""
    runs = [len(pattern.findall(data)) for pattern in (_RUNS_NVCC, _RUNS_HIPCC)]
    return 0 < runs[0] <= runs[1]


_RUNS_NVCC, _RUNS_HIPCC = (
    re.compile(rb"(?m)^\t[@-]*(?:\$[({]%s[)}]|%s)\s" % (name, name.lower())) for name in (b"NVCC", b"HIPCC")
)


def _is_told(text: str) -> bool:
    """True for a sentence that a script tells its user, `echo "Building for sm_90"`: it holds no flag, no path and no
    command, so that nobody runs it, keeps it in a file or takes it for what a function returns."""
    match = _ECHO.fullmatch(text.strip())
    words = match["text"].split() if match else []
    if all(ARCH_FLAG.search(word) for word in words):
        return False  # a list of targets, which a loop may go through
    return len(words) > 2 and words[0] not in _COMMANDS and not any(word.startswith("-") for word in words)


_ECHO = re.compile(r"""echo(?: -\w+)* (?P<quote>["'])(?P<text>[^"'`$=/\\<>|]+)(?P=quote)(?: *1?>&2)?;?""")
_COMMANDS = frozenset(
    ("nvcc", "nvidia-smi", "export", "source", "set", "make", "cmake", "pip", "python", "clang", "hipcc")
)


def _shown(lines: Sequence[Line]) -> frozenset[int]:
    """Numbers of the lines that only show a reader something: the text of `cat <<EOF`, `nvidia-smi || true`, a question
    whether nvcc is there whose answers are sentences. Not of a group, or a function, whose output is kept."""
    groups: list[list[int]] = [[]]
    kept: list[bool] = []
    taken = {name for line in lines for name in _TAKEN.findall(line.text)}
    taken |= {kept_of[1] for line in lines if (kept_of := _KEPT.match(line.text))}
    end = ""
    for at, line in enumerate(lines):
        if end:
            groups[-1].append(line.number)
            end = "" if line.text.strip() == end else end
        elif begun := _SHOWN.search(line.text):
            end = begun[1]
        elif kept and (closed := _CLOSES.match(line.text)):
            text = groups.pop()
            groups[-1] += [] if kept.pop() or closed["kept"] else text
        elif _OPENS.search(line.text):
            groups.append([])
            function = _FUNCTION.match(line.text)
            kept.append(function is not None and function[1] in taken)
        elif _SHOWS.fullmatch(line.text):
            groups[-1].append(line.number)
        elif _ASKS_FOR_IT.fullmatch(line.text):
            groups[-1] += _answers(lines, at)
    return frozenset(number for group in groups for number in group)


def _answers(lines: Sequence[Line], at: int) -> list[int]:
    """The numbers of the lines of an `if` whose branches say sentences and do nothing else; empty for another one."""
    found: list[int] = []
    for line in lines[at:]:
        text = line.text.strip()
        said = _SAYS.fullmatch(text)
        if text == "fi":
            return found
        if found and text not in ("then", "else") and not (said and _is_sentence(said["text"])):
            return []
        found.append(line.number)
    return []


def _is_sentence(text: str) -> bool:
    words = text.split()
    if re.search(r"\$\(|`", _ASKED_FOR.sub("", text)):
        return False  # it runs something
    return len(words) > 2 and not (words[0].startswith("-") or ARCH_FLAG.search(words[0]))


def _found(source: BuildSource) -> Iterator[Finding]:
    variables = nvcc_variables(source)
    shown = _shown(source.lines) if source.language == "shell" else frozenset()
    for line in source.lines:
        if line.number in shown or line.gated or names_amd(line.text):
            continue
        if source.language == "shell" and _is_told(line.text):
            continue
        for pattern, what in (
            (_NVCC, "no nvcc on ROCm"),
            (ARCH_FLAG, "a CUDA target"),
            (NVCC_FLAG, "a flag only nvcc takes"),
            (_MISREAD, "a flag that means something else to clang"),
            (_ARCH, "a list of CUDA targets"),
            (CUDA_PATH, "not there on ROCm"),
            (_SMI, "an NVIDIA tool"),
        ):
            match = nvcc_flag(line.text, variables) if pattern is NVCC_FLAG else pattern.search(line.text)
            # A workflow's paths and probes are of the runner; what counts there is for which GPU it builds.
            skipped = pattern in (NVCC_FLAG, _MISREAD) and source.language != "make"
            skipped = skipped or (source.language == "yaml" and pattern in (_NVCC, CUDA_PATH, _SMI))
            if match is None or skipped:
                continue
            item = found(
                RULE,
                source,
                line,
                f"{match[0].strip()}: {what}",
                fix="choose compiler, flags and targets by a variable; hipcc and --offload-arch on ROCm",
                confidence=Confidence.MEDIUM,
            )
            called = source.language == "shell" and pattern in (_NVCC, CUDA_PATH)
            made = source.language == "make"
            yield (
                replace(item, cause="nvcc in Make, by hand" if made else "nvcc in scripts") if made or called else item
            )
            break
        else:
            makes = source.language == "make" and "-l" in line.text
            library, advice = cuda_library(line.text) if makes else ("", "")
            if library:
                yield found(RULE, source, line, f"{library}: a CUDA library", fix=advice)

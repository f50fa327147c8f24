"""Which of the names that CUDA's headers declare have an answer: a port that compiles, or a finding that names them?

    python benchmarks/names.py --cuda DIR [--library NAME ...] [--target GFX[,GFX]] [--list] [--work DIR]

DIR is an include folder of CUDA 12 with everything in it (`cuda_runtime.h`, `crt/`, `cublas_v2.h`, ...), such as the
wheels `nvidia-cuda-runtime-cu12`, `nvidia-cuda-nvcc-cu12`, `nvidia-cublas-cu12`, ... hold, copied into one folder.
The names are those that `facts/libraries/*/library.toml` reads for the library. Each is used once for each of its
overloads, in a line of its own: a call with arguments of the declared types, a variable of a type, the value of an
enumerator. A use that clang does not take as CUDA with the headers of DIR is left out, so that what remains is right
by CUDA's own headers.

The uses are ported as a project is, and compiled for each target, both passes. One is *answered* if its line compiles,
*named* if a MANUAL finding stands at its line, *later* if it does not compile with the headers at hand and a finding
says from which release of ROCm on, *silent* if none of these: a user meets it in the compiler's output. `--list`
prints the silent ones with clang's message.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from declarations import ENUM, FUNCTION, TYPE
from refresh_libraries import Refresh, Release

from rocport import api
from rocport.facts.lookup import counterpart
from rocport.facts.symbols import FOLDER
from rocport.model import Applicability
from rocport.toolchain import Toolchain, find

DEFAULT_TARGETS = "gfx942,gfx1100"


@dataclass(frozen=True)
class Subject:
    """A library's name, the headers a program includes for it, and whether its functions are called on the device."""

    library: str
    headers: tuple[str, ...]
    device: bool = False


SUBJECTS = (
    Subject("intrinsics", ("cuda_runtime.h",), device=True),
    Subject("fp16", ("cuda_fp16.h",), device=True),
    Subject("bf16", ("cuda_bf16.h", "cuda_fp16.h"), device=True),
    Subject("fp8", ("cuda_fp8.h", "cuda_fp16.h", "cuda_bf16.h"), device=True),
    Subject("complex", ("cuComplex.h",), device=True),
    Subject("runtime", ("cuda_runtime.h", "library_types.h", "math_constants.h")),
    Subject("driver", ("cuda.h",)),
    Subject("nvrtc", ("nvrtc.h",)),
    Subject("cublas", ("cublas_v2.h",)),
    Subject("cublaslt", ("cublasLt.h",)),
    Subject("cusparse", ("cusparse.h",)),
    Subject("cusolver", ("cusolverDn.h", "cusolverSp.h", "cusolverRf.h")),
    Subject("cufft", ("cufft.h", "cufftXt.h")),
    Subject("curand", ("curand.h", "curand_kernel.h"), device=True),
    Subject("nccl", ("nccl.h",)),
    Subject("nvtx", ("nvtx3/nvToolsExt.h",)),
)
_DIAGNOSTIC = re.compile(r"^([^\s:][^:\n]*):(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_NOTE = re.compile(r"^([^\s:][^:\n]*):(\d+):\d+: note: (?:in instantiation|expanded from)", re.MULTILINE)
_USE = re.compile(r"\buse_(\d+)\b")


def uses(subject: Subject, cuda: Path) -> list[tuple[str, str]]:
    """(name, line of code) for each name and overload; `@` stands for the number of the line."""
    refresh = Refresh(FOLDER / subject.library, [Release("12", [cuda])], [], {})
    place = "__device__ " if subject.device else ""
    found: dict[str, str] = {}
    for name in refresh.wanted():
        if name not in refresh.cuda.names:
            continue
        kind = refresh.cuda.kind(name)
        if kind == FUNCTION:
            for declared in refresh.cuda.signatures(name, "12"):
                parameters = [_typed(text, number) for number, text in enumerate(declared.parameters or ())]
                if None not in parameters:
                    typed = ", ".join(str(one) for one in parameters)
                    given = ", ".join(f"a{number}" for number in range(len(parameters)))
                    found.setdefault(f"{place}void use_@({typed}) {{ (void){name}({given}); }}", name)
        elif kind == TYPE:
            for word in ("", "struct ", "enum ", "union "):
                found.setdefault(f"{place}void use_@({word}{name} *a) {{ (void)*a; }}", name)
        elif kind == ENUM:
            found.setdefault(f"{place}int use_@() {{ return static_cast<int>({name}); }}", name)
        else:
            found.setdefault(f"{place}void use_@() {{ auto a = {name}; (void)a; }}", name)
    return [(name, line) for line, name in found.items()]


def _typed(text: str, number: int) -> str | None:
    """A parameter with the name `a<number>`; None for one that is read badly."""
    text = text.partition("=")[0].strip()
    array = re.fullmatch(r"(.*?)\s*\b(\w+)?\s*(\[.*\])", text)
    if array:
        return f"{array[1]} a{number} {array[3]}"
    if "(" in text or text == "...":
        return None
    words = text.split()
    if len(words) > 1 and re.fullmatch(r"[A-Za-z_]\w*", words[-1]) and words[-1] not in _TYPE_WORDS:
        others = [word for word in words[:-1] if word not in ("const", "volatile", "struct", "enum", "__restrict__")]
        if others:
            words.pop()
    return f"{' '.join(words)} a{number}"


_TYPE_WORDS = frozenset("int long short char unsigned signed float double bool const void".split())  # noqa: SIM905


def source(subject: Subject, lines: list[tuple[str, str]], kept: list[int]) -> str:
    """A file of the uses, each in the line that its number gives."""
    head = [f"#include <{header}>" for header in subject.headers]
    return "\n".join([*head, *(lines[number][1].replace("@", str(number)) for number in kept)]) + "\n"


def failures(command: list[str], text: str, name: str) -> dict[int, str]:
    """The number of a use -> clang's first message about it. A message about another line counts for -1."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = text.splitlines()
    found: dict[int, str] = {}
    pending = ""
    for line in done.stderr.splitlines():
        match = _DIAGNOSTIC.match(line)
        place = match or (_NOTE.match(line) if pending else None)
        if place is None:
            continue
        message = match[3] if match else pending
        here = Path(place[1]).name == name and int(place[2]) <= len(lines)
        used = _USE.search(lines[int(place[2]) - 1]) if here else None
        if used is not None:
            found.setdefault(int(used[1]), message)
            pending = ""
        else:
            pending = message
            found.setdefault(-1, f"{line[:200]}")
    if done.returncode and not found:
        found[-1] = done.stderr[-300:]
    return found


def cuda_commands(toolchain: Toolchain, cuda: Path, file: Path, device: bool) -> list[list[str]]:
    command = [
        *(str(toolchain.compiler), "-x", "cuda", f"--cuda-path={cuda.parent}", "-nocudalib", "--cuda-gpu-arch=sm_90"),
        *("-fsyntax-only", "-std=c++17", "-w", "-ferror-limit=0", f"-I{cuda}", str(file)),
    ]
    return [[*command, one] for one in (["--cuda-device-only"] if device else ["--cuda-host-only"])]


def measure(subject: Subject, cuda: Path, targets: list[str], work: Path) -> tuple[Counter[str], dict[str, str]]:
    """Counts, and the silent uses with their messages."""
    toolchain = find()
    lines = uses(subject, cuda)
    kept = list(range(len(lines)))
    tree = work / subject.library
    tree.mkdir(parents=True, exist_ok=True)
    file = tree / "uses.cu"
    for _ in range(4):
        text = source(subject, lines, kept)
        file.write_text(text, encoding="utf-8")
        bad: dict[int, str] = {}
        for command in cuda_commands(toolchain, cuda, file, subject.device):
            bad |= failures(command, text, file.name)
        if not bad.keys() & set(kept):
            break
        kept = [number for number in kept if number not in bad]
    out = work / f"{subject.library}-port"
    patch = api.port(tree)
    api.apply(patch, out)
    named, later = set(), set()
    written = text.splitlines()
    for finding in patch.findings:
        number = _USE.search(written[finding.line - 1]) if finding.line else None
        if number and finding.applicability is Applicability.MANUAL:
            named.add(int(number[1]))
        elif number and re.search("[;:] from ROCm ", finding.message):
            later.add(int(number[1]))
    ported = next(iter(sorted(out.rglob("uses.*"))))
    text = ported.read_text(encoding="utf-8")
    broken: dict[int, str] = {}
    for target in (*targets, None):
        command = toolchain.compile_command(
            *(ported, target),
            mode="syntax",
            includes=[out, ported.parent],
            defines=toolchain.hip_defines,
            std="c++17",
            extra=["-w", "-ferror-limit=0"],
        )
        for number, message in failures(command, text, ported.name).items():
            broken.setdefault(number, message)
    silent = {number: message for number, message in broken.items() if number not in named | later}
    counts = Counter(
        uses=len(kept),
        answered=len([number for number in kept if number not in broken and number not in named]),
        named=len([number for number in kept if number in named]),
        later=len([number for number in kept if number in broken and number in later - named]),
        silent=len([number for number in kept if number in silent]),
    )
    texts = {f"{number}": message for number, message in silent.items() if number < 0}
    return counts, texts | {lines[n][1].replace("use_@", ""): m for n, m in silent.items() if n >= 0}


_PRIVATE = re.compile(r"/__|(?:^|/)(?:detail|details|__detail|impl|internal|nvtxDetail|nccl_device)/|^generated_")


def headers(cuda: Path, toolchain: Toolchain) -> tuple[Counter[str], dict[str, str]]:
    """The same question of the headers below DIR that programs include; answered: the include resolves."""
    counts: Counter[str] = Counter()
    silent: dict[str, str] = {}
    for path in sorted(path for path in cuda.rglob("*") if path.is_file()):
        name = path.relative_to(cuda).as_posix()
        if path.suffix not in (".h", ".cuh", ".hpp", ".inl", "") or _PRIVATE.search(name):
            continue
        row = counterpart("header", name)
        counts["uses"] += 1
        if (toolchain.include / (row.hip if row is not None and row.hip else name)).exists():
            counts["answered"] += 1
        elif row is not None and not row.hip:
            counts["named"] += 1
        else:
            counts["silent"] += 1
            silent[name] = "no row in facts/libraries, and HIP has no such header"
    return counts, silent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuda", type=Path, required=True, help="an include folder of CUDA 12")
    parser.add_argument("--library", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--target", default=DEFAULT_TARGETS, metavar="GFX[,GFX]")
    parser.add_argument("--work", type=Path, help="keep the uses and their ports here")
    parser.add_argument("--list", action="store_true", help="print what is silent")
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for subject in SUBJECTS:
            if arguments.library and subject.library not in arguments.library:
                continue
            work = arguments.work or Path(scratch)
            counts, silent = measure(subject, arguments.cuda, arguments.target.split(","), work)
            total += counts
            _print(subject.library, counts, silent, arguments.list)
    print(f"{'all':12} {_line(total)}")
    if not arguments.library:
        _print("headers", *headers(arguments.cuda, find()), arguments.list)


def _print(name: str, counts: Counter[str], silent: Mapping[str, str], listed: bool) -> None:
    print(f"{name:12} {_line(counts)}", flush=True)
    for line, message in silent.items() if listed else ():
        print(f"    {line}\n        {message}")


def _line(counts: Counter[str]) -> str:
    shown = " ".join(f"{key} {counts[key]:5}" for key in ("uses", "answered", "named", "later", "silent"))
    return f"{shown}  ({(counts['uses'] - counts['silent']) / max(counts['uses'], 1):.3f})"


if __name__ == "__main__":
    main()

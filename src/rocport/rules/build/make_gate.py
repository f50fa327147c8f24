"""The edits of Makefiles: lines as hipcc needs them behind `ifeq ($(USE_ROCM),1)`, the originals in the `else`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from itertools import pairwise

from rocport.binding.branches import CUDA
from rocport.facts.targets import default_targets
from rocport.model import Context, Edit, Span
from rocport.project.build import BuildSource
from rocport.project.make import ASSIGNS
from rocport.rules.build.common import nvcc_flag, nvcc_variables
from rocport.rules.build.nvcc import hip_flags, hip_library
from rocport.syntax.project import mirrored

GATE = "ifeq ($(USE_ROCM),1)"
_COMPILER = re.compile(
    r"(?<![\w./)}$:-])(?:(?:\$[({]\w{1,64}[)}]|/)(?:\$[({]\w{1,64}[)}]|[\w.+/-]){0,200}?/bin/)?nvcc(?![\w/-]|\.\w)"
)
# What nvcc says of itself, as a build asks it for the release of CUDA: that of rocport_platform.h.
_ASKED = re.compile(rf"(?:{_COMPILER.pattern})\s+(?:--version|-V)(?=[\s|)])")
_SAID = f"echo Cuda compilation tools, release {CUDA // 1000}.{CUDA % 1000 // 10}, V{CUDA // 1000}.{CUDA % 1000 // 10}"
_TOOLKIT = re.compile(r"/usr/local/cuda(?:-[\d.]+)?(?:/targets/[\w-]+)?(?=[/\s]|$)")
_ARCHITECTURE = re.compile(r"arch=|code=|-gencode|--generate-code|--gpu-architecture")

_TARGET = re.compile(rb"([A-Za-z_]\w*)\s*[:?]?=\s*(?:sm|compute)_\d+[a-z]?")

_PLAIN = re.compile(
    rb"\s*NVCC_?FLAGS\w*\s*[:?+]?=(?:\s*(?:-[DIW][\w./=+-]*|-O\d?|-std=[\w+]+|-g|-m(?:32|64)|\$[({]\w+[)}])(?!\S))*"
)

_HOST = ("-Xcompiler", "--compiler-options")


def _unquoted(words: Sequence[str]) -> list[str]:
    """The words of a line, the quotes taken off flags that nvcc passes on: hipcc takes `-O2 -fPIC` as they are."""
    made = list(words)
    named = [at for at, word in enumerate(words) if word]
    for at, (flag, first) in enumerate(pairwise(named), start=1):
        quote = made[first][:1]
        if made[flag] not in _HOST or quote not in ("'", '"'):
            continue
        closing = (here for here in range(at, len(named)) if made[named[here]][-1:] == quote and made[first] != quote)
        end = next(closing, None)
        if end is None:
            break
        if sum(made[here].count(quote) for here in named[at : end + 1]) == 2:
            made[first] = made[first][1:]
            made[named[end]] = made[named[end]][:-1]
    return made


class Blocks:
    """Neighbouring lines of a Makefile that are put behind one test, and the edits of each."""

    def __init__(self, source: BuildSource, numbers: Sequence[int], context: Context) -> None:
        self.rows = source.data.splitlines(keepends=True)
        self.starts = [0]
        for row in self.rows:
            self.starts.append(self.starts[-1] + len(row))
        self.newline = "\r\n" if b"\r\n" in source.data else "\n"
        self.source = source
        self.context = context
        self.variables = nvcc_variables(source)
        self.assigned = {match[1].encode() for line in source.lines if (match := ASSIGNS.match(line.text))}
        self.edits: dict[int, tuple[Edit, ...]] = {}
        # A tree for ROCm builds for it. In one for both, a variable that nobody set is not 1, so a file that begins
        # with a block does without the declaration.
        self.rocm = context.options.layout == "hip" and b"USE_ROCM" not in source.data
        self.declares = 1 not in set(numbers) and b"USE_ROCM" not in source.data
        logical = {self._logical(number): number for number in sorted(numbers)}
        block: list[tuple[int, int]] = []
        for span in sorted(logical):
            if block and block[-1][1] + 1 != span[0]:
                self._close(block)
                block = []
            block.append(span)
        self._close(block)

    def edits_at(self, number: int) -> tuple[Edit, ...]:
        """The edits for a line: its own, or those of the variable it takes its compiler from."""
        own = self.edits.get(number, ())
        named = re.search(rb"\$[({](NVCC\w*)[)}]", self.rows[number - 1])
        if own or named is None:
            return own
        for at, row in enumerate(self.rows, start=1):
            if at in self.edits and re.match(rb"\s*" + named[1] + rb"\s*[:?]?=", row):
                return self.edits[at]
        return ()

    def only_names_a_target(self, number: int) -> bool:
        """True for a variable that holds a CUDA target and is used in edited lines only: the flags it stood in are
        gone."""
        match = _TARGET.fullmatch(self.rows[number - 1].strip())
        if match is None:
            return False
        use = re.compile(rb"\$[({]" + match[1] + rb"[)}]")
        used = [at for at, row in enumerate(self.rows, start=1) if use.search(row)]
        return bool(used) and all(at in self.edits for at in used)

    def is_plain(self, number: int) -> bool:
        """True for flags of nvcc's that hipcc takes as they stand, in a file whose nvcc is hipcc on ROCm."""
        row = self.rows[number - 1].rstrip()
        if not self.edits or _PLAIN.fullmatch(row) is None:
            return False
        return all(name in self.assigned for name in re.findall(rb"\$[({](\w+)", row))

    def _logical(self, number: int) -> tuple[int, int]:
        """First and last row (1-based) of the logical line a row is part of."""
        first = last = number
        while first > 1 and self.rows[first - 2].rstrip(b"\r\n").endswith(b"\\"):
            first -= 1
        while last < len(self.rows) and self.rows[last - 1].rstrip(b"\r\n").endswith(b"\\"):
            last += 1
        return first, last

    def _close(self, block: list[tuple[int, int]]) -> None:
        """The edits of a run of logical lines; lines that have no form for ROCm end the run."""
        run: list[tuple[tuple[int, int], str]] = []
        for span in block:
            new = self._translated(span)
            if new is None:
                self._write(run)
                run = []
            else:
                run.append((span, new))
        self._write(run)

    def _write(self, run: list[tuple[tuple[int, int], str]]) -> None:
        if not run:
            return
        start, end = self.starts[run[0][0][0] - 1], self.starts[run[-1][0][1]]
        declared = f"USE_ROCM ?= 1{self.newline}" if start == 0 and self.rocm else ""
        head = f"{declared}{GATE}{self.newline}" + "".join(text for _, text in run) + f"else{self.newline}"
        ended = self.source.data[start:end].endswith(b"\n")
        tail = f"{'' if ended else self.newline}endif{self.newline if ended else ''}"
        edits = [Edit(Span(start, start), head.encode()), Edit(Span(end, end), tail.encode())]
        if self.declares:
            edits.append(Edit(Span(0, 0), f"USE_ROCM ?= {int(self.rocm)}{self.newline}".encode()))
        for (first, last), _ in run:
            self.edits.update(dict.fromkeys(range(first, last + 1), tuple(edits)))

    def _translated(self, span: tuple[int, int]) -> str | None:
        """A logical line for hipcc; None where it is no recipe and no variable, or nothing changes."""
        raw = b"".join(self.rows[span[0] - 1 : span[1]])
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return None
        if not text.startswith("\t") and not ASSIGNS.match(text):
            return None
        text_of_hipcc = _COMPILER.sub("hipcc", _ASKED.sub(_SAID, text))
        assigned = ASSIGNS.match(text_of_hipcc)
        # The first value may follow the sign without a space: `LDFLAGS+=-lcudart`.
        name = assigned[0] if assigned and not text.startswith("\t") else ""
        parts = re.split(r"([ \t]*\\\r?\n[ \t]*|\s+)", text_of_hipcc[len(name) :])
        words = _unquoted(parts[::2])
        flags = hip_flags([word for word in words if word])
        if flags is not None and nvcc_flag(text, self.variables) is None:
            flags = [
                None if word == "-restrict" else flag for word, flag in zip(filter(None, words), flags, strict=True)
            ]
        if flags is None or any(
            '"' in after or "'" in after for word, after in pairwise(filter(None, words)) if word in _HOST
        ):
            return None
        chosen = iter(flags)
        made: list[str] = []
        built = False
        for at, word in enumerate(words):
            flag = next(chosen) if word else None
            if flag == () and _ARCHITECTURE.search(word) and not built:
                built = True
                flag = (f"$(foreach arch,$(or $(GPU_TARGETS),{' '.join(default_targets())}),--offload-arch=$(arch))",)
            new = " ".join(flag) if flag is not None else self._word(word)
            gap = parts[2 * at + 1] if 2 * at + 1 < len(parts) else ""
            if word and not new and "\n" not in gap:
                continue
            made += [new, gap]
        out = name + "".join(made)
        out = re.sub(r"[ \t]*\\\r?\n[ \t]*$", "", out)
        out = out if not text.endswith("\n") or out.endswith("\n") else out.rstrip() + self.newline
        out = out if out.endswith("\n") else out + self.newline
        return out if out.rstrip() != text.rstrip() else None

    def _word(self, word: str) -> str:
        library = hip_library(word) if word.startswith("-l") else None
        if library is not None:
            return library
        word = _TOOLKIT.sub("/opt/rocm", word)
        if word.startswith("/opt/rocm") or "/opt/rocm" in word:
            word = word.replace("/lib64", "/lib")
        folder = posixpath.dirname(self.source.path)
        path = posixpath.normpath(posixpath.join(folder, word)) if word.endswith((".cu", ".cup")) else ""
        if self.context.options.layout == "both" and path in self.context.project.files:
            return posixpath.relpath(mirrored(path, self.context.options.mirror), folder or ".")
        return word

"""Compiler errors: parsed, placed in the tree, mapped back to the CUDA line they came from, and explained."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from rocport.facts import lookup
from rocport.facts.failures import Failure, load_failures
from rocport.facts.symbols import Symbol, SymbolTable
from rocport.facts.symbols import load as load_symbols
from rocport.model.verification import Diagnostic, FixIt, Note

_LINE = re.compile(r"^(.+?):(\d+):(\d+): (fatal error|error|note|warning): (.*)$")
_INCLUDED = re.compile(r"^In file included from (.+?):(\d+):$")
# Lines of source below a message. Those below `<inline asm>` are what the assembler was given.
_SNIPPET = re.compile(r"^ *\d* \| ?(.*)$")
_ASSEMBLY = re.compile(
    r"^(?:invalid instruction|invalid operand|unknown token|unexpected token|not a valid operand)\b.*: ([\w.]+)$"
)
FIXITS = "-fdiagnostics-parseable-fixits"
"""The option with which clang prints what it would write, on lines of their own."""
_FIXIT = re.compile(r'^fix-it:"(.*)":\{(\d+):(\d+)-(\d+):(\d+)\}:"(.*)"$')
_ESCAPED = re.compile(r"\\([0-7]{3}|.)")
_NOTES = 8
"""Notes kept of one error."""
_UNPLACED = re.compile(r"^(?:[\w./+-]*clang[\w+.-]*|lld|ld\.lld|[\w./+-]*lld): error: (.*)$")
_MISSING_HEADER = re.compile(r"^'([^']+)' file not found")
_IDENTIFIER = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no template named|no type named|no member named"
    r"|cannot find interface declaration for|undefined (?:hidden )?symbol:) '?(?:\w+::)*(\w+)"
)
_CALL = re.compile(r"no matching function for call to '(\w+)'")
_LDS = re.compile(r"local memory \((\d+)\) exceeds limit \((\d+)\) in (?:function )?'?([^'\n]+)'?")


@dataclass
class Origins:
    """Where each file of a port came from, and which of its lines.

    `sources` maps a path of the port to that of its source, `root` is the source tree; without it only the path is
    known.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    root: Path | None = None
    tree: Path = Path()
    _lines: dict[str, list[int] | None] = field(default_factory=dict)

    def of(self, path: str, line: int) -> tuple[str | None, int | None]:
        """(source path, source line) of a line of the port; None where it is not known."""
        if not self.sources:
            return path, line
        source = self.sources.get(path)
        if not source:
            return None, None
        if path not in self._lines:
            self._lines[path] = self._map(path, source)
        lines = self._lines[path]
        if lines is None or not 1 <= line <= len(lines):
            return source, None
        return source, lines[line - 1]

    def _map(self, path: str, source: str) -> list[int] | None:
        """Line of the source for every line of the port. An inserted line belongs to the one after it."""
        if self.root is None:
            return None
        try:
            before = (self.root / source).read_bytes().splitlines()
            after = (self.tree / path).read_bytes().splitlines()
        except OSError:
            return None
        return [line + 1 for line in aligned(before, after)]


def aligned(before: Sequence[bytes], after: Sequence[bytes]) -> list[int]:
    """For each line of `after` its line in `before`, both from 0, in linear time; an inserted line has the next one's.

    Lines that stand once in both are the same; between two of them the others are paired from both ends.
    """
    if len(before) == len(after):
        return list(range(len(after)))
    olds, news = Counter(before), Counter(after)
    at = {line: number for number, line in enumerate(before) if olds[line] == 1}
    pairs = [(-1, -1)]
    for number, line in enumerate(after):
        if news[line] == 1 and at.get(line, -1) > pairs[-1][0]:
            pairs.append((at[line], number))
    found = [0] * len(after)
    for (old, new), (old_end, new_end) in pairwise([*pairs, (len(before), len(after))]):
        if new >= 0:
            found[new] = old
        old, new = old + 1, new + 1
        while old < old_end and new < new_end and before[old] == after[new]:
            found[new] = old
            old, new = old + 1, new + 1
        while old < old_end and new < new_end and before[old_end - 1] == after[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
            found[new_end] = old_end
        for number in range(new, new_end):
            found[number] = min(old + number - new, max(old_end - 1, old), len(before) - 1)
    return found


def parse(text: str, tree: Path, unit: str, origins: Origins, limit: int = 20) -> tuple[Diagnostic, ...]:
    """The errors in a compiler's output, each at the nearest place in the tree.

    An error inside a header of the SDK is placed where the tree included or instantiated it.
    """
    found: list[Diagnostic] = []
    included: list[tuple[str, int]] = []
    pending: Diagnostic | None = None
    in_stack = in_assembly = in_error = False

    def attach(note: Note | None = None, fixit: FixIt | None = None) -> None:
        nonlocal pending
        last = pending if pending is not None else found[-1]
        notes = (*last.notes, note) if note is not None and len(last.notes) < _NOTES else last.notes
        last = replace(last, notes=notes, fixits=(*last.fixits, fixit) if fixit is not None else last.fixits)
        if pending is not None:
            pending = last
        else:
            found[-1] = last

    for raw in text.splitlines():
        if match := _SNIPPET.match(raw):
            if in_assembly and found and match[1].split():
                # Only the mnemonic: registers differ from target to target.
                found[-1] = replace(found[-1], message=f"{found[-1].message}: {match[1].split()[0]}")
                in_assembly = False
            continue
        if match := _FIXIT.match(raw):
            if in_error and (inside := _relative(_unescaped(match[1]), tree)) is not None:
                line, column, end_line, end_column = map(int, match.groups()[1:5])
                attach(fixit=FixIt(inside, line, column, end_line, end_column, _unescaped(match[6])))
            continue
        in_assembly = raw.startswith("<inline asm>")
        if match := _INCLUDED.match(raw):
            # The compiler prints the stack only when it differs from that of the message before.
            if not in_stack:
                included = []
            included.append((match[1], int(match[2])))
            in_stack = True
            continue
        in_stack = False
        if match := _LINE.match(raw):
            place, line, column, kind, message = match[1], int(match[2]), int(match[3]), match[4], match[5]
            inside = _relative(place, tree)
            if kind != "note":
                in_error = kind != "warning"
            if kind in ("error", "fatal error"):
                if pending is not None:
                    found.append(pending)
                    pending = None
                if inside is not None:
                    found.append(Diagnostic(inside, line, column, message))
                else:
                    chain = [(_relative(file, tree), file, number) for file, number in included]
                    at = max((n for n, (path, _, _) in enumerate(chain) if path), default=-1)
                    above = (chain[at][0] or unit, chain[at][2]) if at >= 0 else (unit, 0)
                    led = _short(chain[at + 1][1] if at + 1 < len(chain) else place)
                    pending = Diagnostic(*above, 0, message, within=_short(place), included=led)
            elif kind == "note" and in_error:
                if pending is not None and inside is not None:
                    # The first note in the tree says which of our lines asked for it.
                    found.append(replace(pending, path=inside, line=line, column=column))
                    pending = None
                attach(Note(inside or "", line, column, message))
            continue
        if match := _UNPLACED.match(raw):
            message = match[1]
            if "command failed" in message or message.startswith("linker command"):
                continue
            if pending is not None:
                found.append(pending)
                pending = None
            found.append(Diagnostic(unit, 0, 0, message))
    if pending is not None:
        found.append(pending)
    unique = list(dict.fromkeys(found))[:limit]
    return tuple(_complete(diagnostic, origins) for diagnostic in unique)


def _unescaped(text: str) -> str:
    """Text of a fix-it as it is in the file: clang escapes quotes, backslashes and what is not printable."""
    named = {"n": "\n", "t": "\t"}
    return _ESCAPED.sub(lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else named.get(m[1], m[1]), text)


_OF_CUDA = re.compile(r"'(?:__)?(?:cu|nv)[a-z]*[A-Z_]\w*'")


def name_macros(text: str, macros: Iterable[str]) -> bool:
    """Whether a compiler's errors come from a value of these macros: the line of one, or of its notes, names one of
    them, and none of the others is about a name of CUDA's, which no value would mend."""
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, macros))})\b")
    errors: list[tuple[str, list[str]]] = []
    inside = False
    for raw in text.splitlines():
        if (match := _LINE.match(raw)) and match[4] != "note":
            if inside := match[4] in ("error", "fatal error"):
                errors.append((match[5], [match[5]]))
        elif inside and not _INCLUDED.match(raw):
            errors[-1][1].append(match[5] if match else raw)
    others = [message for message, lines in errors if not word.search("\n".join(lines))]
    return len(others) < len(errors) and not any(explain(one) or _OF_CUDA.search(one) for one in others)


_DANGEROUS = re.compile(r"\[-W(?:return-type|uninitialized|sometimes-uninitialized|infinite-recursion)\]$")


def is_dangerous(line: str) -> bool:
    """True for a warning about code whose meaning is undefined: clang's optimizer relies on it not being reached."""
    match = _LINE.match(line)
    return match is not None and match[4] == "warning" and _DANGEROUS.search(match[5]) is not None


def dangerous(text: str, tree: Path) -> list[tuple[str, int, str]]:
    """(file, line, message) of such warnings, each once."""
    found = (match for line in text.splitlines() if is_dangerous(line) and (match := _LINE.match(line)) is not None)
    return list(dict.fromkeys((_relative(match[1], tree) or match[1], int(match[2]), match[5]) for match in found))


RESOURCE_REMARKS = "-Rpass-analysis=kernel-resource-usage"
"""The option with which clang's AMDGPU backend says what each kernel uses, and how many waves fit."""
_RESOURCE = re.compile(r"remark:\s+(?:Function Name: (\S+)|Occupancy \[waves/SIMD\]: (\d+)) \[-Rpass-analysis=")


def occupancy(text: str) -> dict[str, int]:
    """Symbol of a kernel -> waves a SIMD, from the remarks of RESOURCE_REMARKS."""
    found: dict[str, int] = {}
    name = ""
    for match in _RESOURCE.finditer(text):
        if match[1]:
            name = match[1]
        else:
            found[name] = int(match[2])
    return found


def missing_header(diagnostics: tuple[Diagnostic, ...]) -> str | None:
    """The header that the compiler stopped at because it is nowhere; None when the errors are others."""
    for diagnostic in diagnostics:
        if match := _MISSING_HEADER.match(diagnostic.message):
            return match[1]
    return None


def is_gpu_header(name: str) -> bool:
    """True for headers of CUDA, HIP and the ROCm libraries, PyTorch's CUDA and HIP headers, and our own.

    Composable Kernel's are a library's beside ROCm, for AMD GPUs alone: no port is to blame where they are missing.
    """
    if name.startswith(("ck/", "ck_tile/")):
        return False
    if lookup.is_gpu_header(name):
        return True
    return name.startswith(("rocport", "cute/", "cutlass/", "ATen/", "c10/", "torch/", "THC/"))


def _complete(diagnostic: Diagnostic, origins: Origins) -> Diagnostic:
    path, line = origins.of(diagnostic.path, diagnostic.line)
    return replace(diagnostic, original_path=path, original_line=line or None, explanation=explain(diagnostic.message))


@functools.lru_cache(maxsize=4096)
def explain(message: str) -> str:
    """Why this error happens and what to do, where the facts know it; empty otherwise."""
    if match := _MISSING_HEADER.match(message):
        text = _explain_header(match[1])
        if text:
            return text
    if match := _LDS.search(message):
        return (
            f"the kernel needs {match[1]} bytes of LDS, one workgroup may have {match[2]} on this target: use smaller "
            "tiles, or keep part of it in registers"
        )
    if (match := _IDENTIFIER.search(message)) and (text := _explain_name(match[1])):
        return text
    if (match := _CALL.search(message)) and (symbol := _hip_names().get(match[1])) is not None and symbol.note:
        return f"{symbol.hip} takes other parameters than CUDA's {symbol.cuda}: {symbol.note}"
    for failure, pattern in _failures():
        if match := pattern.search(message):
            return _fill(f"{failure.cause} Next: {failure.fix[0]}", match.groupdict())
    if match := _ASSEMBLY.match(message):
        return f"{match[1]} is no AMD instruction: if it is PTX, replace it under HIP by a builtin or plain C++"
    return ""


def _fill(text: str, values: Mapping[str, str]) -> str:
    """A failure's text with its `{gfx}` and the like replaced by what the compiler said."""
    return re.sub(r"\{([a-z_]+)\}", lambda match: values.get(match[1]) or match[0], text)


def _explain_header(name: str) -> str:
    symbol = _symbols().headers.get(name)
    if symbol is not None:
        return _describe(symbol)
    hip = _hip_headers().get(name)
    if hip is not None:
        return f"{name} stands for CUDA's {hip.cuda}; these HIP headers lack it{_ages(hip)}"
    return ""


def _explain_name(name: str) -> str:
    symbol = _symbols().identifiers.get(name.encode())
    if symbol is not None:
        return _describe(symbol)
    hip = _hip_names().get(name)
    if hip is not None:
        return f"{name} stands for CUDA's {hip.cuda}; these HIP headers do not declare it{_ages(hip)}"
    return ""


def _describe(symbol: Symbol) -> str:
    if not symbol.hip:
        return f"{symbol.cuda} ({symbol.library}) has no counterpart in ROCm" + (
            f": {symbol.note}" if symbol.note else ""
        )
    if symbol.hip == symbol.cuda:
        text = f"{symbol.cuda} has this name in HIP too{_ages(symbol)}; these headers do not declare it"
        return text + (f" ({symbol.note})" if symbol.note else "")
    text = f"{symbol.cuda} is {symbol.hip} in HIP{_ages(symbol)}; it was not translated here"
    return text + (f" ({symbol.note})" if symbol.note else "")


def _ages(symbol: Symbol) -> str:
    text = f", since ROCm {symbol.since.lstrip('~')}" if symbol.since else ""
    return text + (f", gone in ROCm {symbol.until.lstrip('~')}" if symbol.until else "")


@functools.cache
def _symbols() -> SymbolTable:
    return load_symbols()


@functools.cache
def _hip_names() -> dict[str, Symbol]:
    return {symbol.hip: symbol for symbol in _symbols().identifiers.values() if symbol.hip}


@functools.cache
def _hip_headers() -> dict[str, Symbol]:
    return {symbol.hip: symbol for symbol in _symbols().headers.values() if symbol.hip}


@functools.cache
def _failures() -> tuple[tuple[Failure, re.Pattern[str]], ...]:
    return tuple((failure, signature.pattern) for failure in load_failures() for signature in failure.signatures)


def _relative(place: str, tree: Path) -> str | None:
    """Path below the tree, with `/`; None for a file outside of it."""
    absolute = os.path.normpath(os.path.join(tree, place))
    prefix = f"{tree}{os.sep}"
    return absolute[len(prefix) :].replace(os.sep, "/") if absolute.startswith(prefix) else None


def _short(place: str) -> str:
    """A header of the SDK or the system as it would be spelled in an #include."""
    return re.split(r"/include/(?:c\+\+/\d+/)?", place)[-1]

"""A source tree in, findings out."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from multiprocessing import get_context
from typing import Any, TypeVar, cast

from rocport.binding import binder, candidates, collect
from rocport.binding.branches import branches
from rocport.convergence.elsewhere import BLOCK, WARP_MEETS, meets_of
from rocport.facts.symbols import in_families, load
from rocport.model import (
    Applicability,
    Context,
    Definition,
    Finding,
    LeftOut,
    Options,
    Problem,
    ProjectIndex,
    SourceFile,
    SourceTree,
    Span,
)
from rocport.model.parent import ended_with_parent
from rocport.project import pins as pinning
from rocport.project.build import BuildSource
from rocport.project.cmake import builds_for_hip, commands
from rocport.project.defines import defines_without_cuda
from rocport.project.languages import is_build_file, suffix_of
from rocport.rules import LoadedRule, discover
from rocport.rules.build.common import FOR_CUDA_ONLY, is_workflow
from rocport.rules.cuda.api_identifier import is_way_to_hip
from rocport.rules.cuda.inline_ptx import unportable
from rocport.rules.cuda.own_guard import guard_names, own_guards
from rocport.rules.cuda.warp_common import beside_amd, counts_in_wavefronts
from rocport.scan import cache as caching
from rocport.scan import suppress
from rocport.scan.cache import Cache
from rocport.syntax.amd import is_amd_path, names_amd, ported_side, ported_sides
from rocport.syntax.cuda import MARK, MARKS, CudaSource
from rocport.syntax.includes import include_names
from rocport.syntax.notebook import cells
from rocport.syntax.project import FileNames, build_index, holding_ptx, holds_ptx, names_of, vectors_of
from rocport.syntax.python import PythonSource

R = TypeVar("R")

# Words many rules ask for besides their triggers.
_STRUCTURE = frozenset(
    {b"__syncthreads", b"__global__", b"__device__", b"__host__", b"for", b"if", b"while", b"do", b"template"}
)

# Below this many bytes a second process costs more than it saves.
_PARALLEL_BYTES = 1_500_000


@cache
def _rules_for(language: str) -> tuple[LoadedRule, ...]:
    return tuple(loaded for loaded in discover() if language in loaded.rule.languages)


@cache
def known_names() -> frozenset[bytes]:
    """Names some rule over CUDA sources looks for."""
    return _STRUCTURE.union(*(loaded.rule.triggers for loaded in _rules_for("cuda")))


def looked_for(data: bytes) -> frozenset[bytes]:
    """Names to look for in one file: those of the rules, and those it spells of families without rows."""
    return _with(known_names(), in_families(data))


def _with(names: frozenset[bytes], own: frozenset[bytes]) -> frozenset[bytes]:
    """The union, which is not made anew of ten thousand names where a file adds none."""
    return names | own if own else names


_NOT_BOUND = frozenset(
    b"ATen asm __asm __asm__ c10 constexpr cub cublas cublas_api cublas_v2 cuda cooperative_groups cute cutlass do for "
    b"half if hip half2 include nvcuda operator register template thrust type while __device__ __global__ __host__ "
    b"__CUDACC__ __NVCC__ __CUDA_ARCH__ atomicMax atomicMin major".split()
)


@cache
def bound_names() -> frozenset[bytes]:
    """Names whose owner is asked for before a finding on them stands: all a rule looks for, but words of the language
    and namespaces, and the atomics whose overloads a rule of their own compares."""
    return known_names() - _NOT_BOUND


def scan_cuda(path: str, data: bytes, context: Context, failed: list[Problem] | None = None) -> list[Finding]:
    """Findings of every CUDA rule over one file, in order of place; `failed` as for `scan_file`."""
    return scan_source(parsed(path, data, context.project), context, failed)


def parsed(path: str, data: bytes, project: ProjectIndex) -> CudaSource:
    """A CUDA file as the rules read it: with the macros for execution spaces of the files it is compiled with."""
    return CudaSource(path, data, looked_for(data), {**MARKS, **project.marks_of(path)})


def scan_source(source: CudaSource, context: Context, failed: list[Problem] | None = None) -> list[Finding]:
    """Findings of every CUDA rule over one parsed file, in order of place; `failed` as for `scan_file`."""
    names = source.meant
    if context.options.warp == "logical32" and counts_in_wavefronts(source):
        context = replace(context, options=replace(context.options, warp="native"))
    findings: list[Finding] = []
    general: list[Finding] = []
    for loaded in _rules_for("cuda"):
        triggers = loaded.rule.triggers
        if triggers and triggers.isdisjoint(names):
            continue
        (general if loaded.rule.fallback else findings).extend(_found(loaded, source, context, failed))
    if general:
        findings.extend(_not_covered(general, findings))
    findings = [_of_one_branch(source, finding) for finding in _of_cuda(source, context, findings)]
    findings.sort(key=lambda item: (item.span, item.rule))
    return findings


def _found(
    loaded: LoadedRule, source: CudaSource | PythonSource | BuildSource, context: Context, failed: list[Problem] | None
) -> list[Finding]:
    """What one rule finds in one file. A rule that crashes is named in `failed`, and the others go on."""
    try:
        return list(loaded.check(source, context))
    except Exception as error:
        if failed is None:
            raise
        failed.append(
            Problem(
                source.path,
                f"the rule {loaded.rule.name} failed ({type(error).__name__}: {error}); what it looks for is neither "
                f"reported nor translated in this file: look for it by hand (rocport explain {loaded.rule.name})",
            )
        )
        return []


def _of_one_branch(source: CudaSource, finding: Finding) -> Finding:
    """What stands in CUDA's branch of a conditional that has one for AMD is settled with the others of that kind."""
    if not beside_amd(source, finding.span.start):
        return finding
    return _on_ported_side(finding, "a branch for AMD stands beside this one", "the branch for AMD")


def _of_cuda(source: CudaSource, context: Context, findings: list[Finding]) -> list[Finding]:
    """Without the findings on names that are surely the project's own at that place, or that name a macro where they
    make it `x::y`, which no macro can be."""
    wanted = _with(bound_names(), in_families(source.data))
    bound = binder(source, context, wanted)
    own = {
        source.starts[position]
        for position, binding in bound.places()
        if binding.what != "macro" or not is_way_to_hip(bound, source.at(position))
    }
    named = {source.starts[at] for at in bound.macro_names if source.at(at) in wanted}
    if not own and not named:
        return findings
    binds = {loaded.rule.name for loaded in _rules_for("cuda") if loaded.rule.binds}

    def is_own(finding: Finding) -> bool:
        start = finding.span.start
        return start in own or (start in named and any(b"::" in edit.text for edit in finding.edits))

    return [finding for finding in findings if finding.rule in binds or not is_own(finding)]


def _not_covered(general: list[Finding], special: list[Finding]) -> list[Finding]:
    """Findings of fallback rules on text no other rule speaks of. A rename inside a wider finding stays: its edit may
    still be needed, and the porter settles overlaps."""
    starts = {finding.span.start for finding in special}
    edits = sorted((edit.span.start, edit.span.end) for finding in special for edit in finding.edits)

    def covered(finding: Finding) -> bool:
        if finding.edits:
            return False
        at = bisect.bisect_right(edits, (finding.span.start, float("inf"))) - 1
        return finding.span.start in starts or (at >= 0 and edits[at][0] <= finding.span.start < edits[at][1])

    return [finding for finding in general if not covered(finding)]


def scan_python(
    path: str, data: bytes, context: Context, failed: list[Problem] | None = None
) -> list[Finding] | Problem:
    """Findings of every Python rule over one file."""
    rules = _triggered("python", data)
    if not rules:
        return []
    try:
        source = PythonSource(path, data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        return Problem(path, f"{where}no Python 3 ({what}); the Python rules did not run over it")
    findings = [finding for loaded in rules for finding in _found(loaded, source, context, failed)]
    return _ordered(findings)


def scan_notebook(
    path: str, data: bytes, context: Context, failed: list[Problem] | None = None
) -> list[Finding] | Problem:
    """Findings over the code cells of a notebook and the shell's commands in them, at the lines of the .ipynb file."""
    if not _triggered("python", data) and not _COMMAND.search(data):
        return []
    try:
        code_cells = cells(data)
    except (ValueError, RecursionError) as error:
        return Problem(path, f"no notebook ({error}); not scanned")
    starts = [0]
    for raw in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(raw))
    findings: list[Finding] = []
    for cell in code_cells:
        found = scan_python(path, cell.code, context, failed)
        # A cell in another language (R) is no Python; the other cells still are.
        placed = [(cell.lines, finding) for finding in found] if isinstance(found, list) else []
        script = "\n".join(text for _, text in cell.commands).encode()
        numbers = tuple(number for number, _ in cell.commands)
        placed += (
            [(numbers, finding) for finding in scan_build(path, script, "shell", context, failed)] if script else []
        )
        findings += [_in_notebook(finding, lines, starts) for lines, finding in placed]
    return _ordered(findings)


_COMMAND = re.compile(rb'"\s*[!%]')


def _in_notebook(finding: Finding, lines: tuple[int, ...], starts: list[int]) -> Finding:
    """A finding over a cell, at the lines of the notebook's file; nothing is edited there."""
    first, last = lines[finding.line - 1], lines[finding.end_line - 1]
    span = Span(starts[first - 1], max(starts[first - 1], starts[last] - 1))
    return replace(finding, line=first, end_line=last, span=span, edits=(), applicability=Applicability.MANUAL)


def scan_build(
    path: str, data: bytes, language: str, context: Context, failed: list[Problem] | None = None
) -> list[Finding]:
    """Findings over a build, dependency or container file."""
    rules = _triggered(language, data)
    if not rules:
        return []
    source = BuildSource(path, data, language)
    return _ordered(finding for loaded in rules for finding in _found(loaded, source, context, failed))


def scan_file(
    path: str, data: bytes, language: str, context: Context, failed: list[Problem] | None = None
) -> list[Finding] | Problem:
    """Findings over one file of any language, suppressed ones included.

    A rule that crashes is added to `failed`; without that list the exception goes on to the caller.
    """
    if language == "cuda":
        return scan_cuda(path, data, context, failed)
    if language == "python":
        return scan_python(path, data, context, failed)
    if language == "notebook":
        return scan_notebook(path, data, context, failed)
    return scan_build(path, data, language, context, failed)


def _triggered(language: str, data: bytes) -> list[LoadedRule]:
    """Rules of a language one of whose triggers stands in the bytes; most files have none and are not parsed."""
    present = {trigger for trigger in _triggers_of(language) if trigger in data}
    return [
        loaded
        for loaded in _rules_for(language)
        if not loaded.rule.triggers or not present.isdisjoint(loaded.rule.triggers)
    ]


@cache
def _triggers_of(language: str) -> frozenset[bytes]:
    return frozenset().union(*(loaded.rule.triggers for loaded in _rules_for(language)))


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda item: (item.span, item.rule))


def index_tree(tree: SourceTree, jobs: int = 1, cache: Cache | None = None) -> ProjectIndex:
    """Collect the names of the whole tree."""
    sources = [file for file in tree.files if file.language == "cuda"]
    words = ("names", caching.code_fingerprint()) if cache is not None else ()
    keys = _keys(sources, lambda file: words) if cache is not None else {}
    known = cache.get(set(keys.values())) if cache is not None else {}
    unpacked = caching.unpacked(known, caching.unpack_names)
    found: dict[str, FileNames] = {path: unpacked[mark] for path, mark in keys.items() if mark in unpacked}
    missing = [file for file in sources if file.path not in found]
    fresh = dict(zip((file.path for file in missing), parallel(_names, missing, jobs), strict=True))
    found.update(fresh)
    if cache is not None:
        cache.put({keys[path]: caching.pack_names(names) for path, names in fresh.items() if path in keys}, used=known)
    index = build_index(tree.paths, (found[file.path] for file in sources), holding_ptx(found))
    index = replace(
        index,
        **_definitions(found),
        pins=_pins(tree),
        defined=_defined(tree),
        named=_named(tree),
        extensions=_extensions(tree),
        hip_builds=_hip_builds(tree),
    )
    return _through_files(_with_names_of_vectors(index, sources), found)


def _with_names_of_vectors(index: ProjectIndex, sources: Sequence[SourceFile]) -> ProjectIndex:
    """The index in which a structure holds a vector under the name that another file of its units gives the vector."""
    vectors = dict(index.vectors)
    fresh = set(vectors)
    while aliases := [told.partition(b"/")[::2] for told in sorted(fresh) if told.partition(b"/")[2][:1].isalpha()]:
        uses = re.compile(rb"\b(?:%b)\b" % b"|".join(sorted({name for name, _ in aliases})))
        found: dict[bytes, tuple[str, ...]] = {}
        for file in sources:
            data = file.content
            used = set(uses.findall(data)) if isinstance(data, bytes) else set[bytes]()
            known = {
                name: kind
                for name, kind in aliases
                if name in used and any(index.together(file.path, path) for path in vectors[name + b"/" + kind])
            }
            for told in vectors_of(data, known) if known and isinstance(data, bytes) else ():
                if file.path not in vectors.get(told, ()):
                    found[told] = (*found.get(told, ()), file.path)
        fresh = found.keys() - vectors.keys()
        vectors |= {told: (*vectors.get(told, ()), *paths) for told, paths in found.items()}
    return replace(index, vectors=vectors)


def _through_files(index: ProjectIndex, names: Mapping[str, FileNames]) -> ProjectIndex:
    """The index in which a function that calls one of another file of its units holds what that one holds."""
    callers: dict[bytes, list[tuple[str, bytes]]] = {}
    for path, item in names.items():
        for name, called in item.calls.items():
            for call in called:
                callers.setdefault(call, []).append((path, name))
    meets = dict(index.meets)
    index = replace(index, meets=meets)
    fresh = {name for name, items in meets.items() if any(kinds & {BLOCK, WARP_MEETS} for _, kinds in items)}
    while fresh:
        found: dict[bytes, dict[str, frozenset[str]]] = {}
        for call in fresh:
            for path, name in callers.get(call, ()):
                more = index.meets_elsewhere(call, path, False) & {BLOCK, WARP_MEETS} - dict(meets[name])[path]
                if more:
                    found.setdefault(name, {})[path] = more | found.get(name, {}).get(path, frozenset())
        for name, more_of in found.items():
            meets[name] = tuple((path, kinds | more_of.get(path, frozenset())) for path, kinds in meets[name])
        fresh = set(found)
    return index


_PINNED = ("bitsandbytes",)
"""Packages whose version decides what a rule finds in other files."""


def _pins(tree: SourceTree) -> dict[str, tuple[str, ...]]:
    texts = [
        data
        for file in tree.files
        if (file.language in pinning.LANGUAGES or file.path.endswith("setup.py"))
        and isinstance(data := file.content, bytes)
    ]
    return {name: found for name in _PINNED if (found := pinning.pins(texts, name))}


_EXTENSION = re.compile(rb"Extension\(\s*(?:name\s*=\s*)?[\"']([\w.]+)[\"']")


def _extensions(tree: SourceTree) -> frozenset[str]:
    builds = (data for file in tree.files if file.path.endswith("setup.py") and isinstance(data := file.content, bytes))
    return frozenset(name.decode().rpartition(".")[2] for data in builds for name in _EXTENSION.findall(data))


def _hip_builds(tree: SourceTree) -> frozenset[str]:
    return frozenset(
        file.path
        for file in tree.files
        if file.language == "cmake"
        and isinstance(data := file.content, bytes)
        and b"hip" in data.lower()
        and builds_for_hip(commands(data))
    )


def _defined(tree: SourceTree) -> frozenset[str]:
    texts = (
        (file.path, data.decode("utf-8", "replace"))
        for file in tree.files
        if (file.language in ("cmake", "make", "python") or file.path.endswith(".in"))
        and isinstance(data := file.content, bytes)
    )
    return frozenset(define.partition("=")[0] for path, text in texts for define in defines_without_cuda(path, text))


_SAYING = (
    ".am",
    ".ac",
    ".vcxproj",
    ".props",
    ".pro",
    ".pri",
    ".in",
    ".md",
    ".rst",
    ".txt",
    ".bat",
    ".lua",
    ".gn",
    ".json",
    "",
)
"""Suffixes of the files that no rule reads and that can say which macros a build is given."""
_MOST_SAID = 1 << 20


def _named(tree: SourceTree) -> frozenset[str] | None:
    """The macros for CUDA that the tree's sources define, or that any other file of it names; None without a build."""
    if not any(is_build_file(file.path) for file in tree.files):
        return None
    found: set[bytes] = set()
    for file in tree.files:
        if file.language == "other" and (suffix_of(file.path) not in _SAYING or file.size > _MOST_SAID):
            continue
        if isinstance(data := file.content, bytes):
            found |= own_guards(data) if file.language == "cuda" else guard_names(data)
    return frozenset(name.decode() for name in found)


def _definitions(names: Mapping[str, FileNames]) -> dict[str, Any]:
    """What the files of a tree say of CUDA's names, of device functions, of templates and of vectors, by name; their
    includes."""
    found: dict[bytes, tuple[Definition, ...]] = {}
    for path, item in names.items():
        for definition in item.definitions:
            found[definition.name] = (*found.get(definition.name, ()), replace(definition, path=path))
    meets: dict[bytes, tuple[tuple[str, frozenset[str]], ...]] = {}
    for path, item in names.items():
        for name, kinds in item.meets.items():
            meets[name] = (*meets.get(name, ()), (path, kinds))
    includes = {path: item.includes for path, item in names.items()}
    templates: dict[bytes, tuple[str, ...]] = {}
    for path, item in names.items():
        for name in item.templates:
            templates[name] = (*templates.get(name, ()), path)
    vectors: dict[bytes, tuple[str, ...]] = {}
    for path, item in names.items():
        for name in item.vectors:
            vectors[name] = (*vectors.get(name, ()), path)
    return {
        "marks": _marks(names),
        "macro_bodies": _macro_bodies(names),
        "definitions": found,
        "includes": includes,
        "meets": meets,
        "templates": templates,
        "vectors": vectors,
    }


def _macro_bodies(names: Mapping[str, FileNames]) -> dict[bytes, tuple[tuple[str, bytes, bool], ...]]:
    """The macros of a tree to which its files give different bodies: the files, the body, whether it is a default."""
    found: dict[bytes, list[tuple[str, bytes, bool]]] = {}
    for path, item in names.items():
        for name, body in item.macros.items():
            found.setdefault(name, []).append((path, body, name in item.asked))
    return {name: tuple(said) for name, said in found.items() if any(body != said[0][1] for _, body, _ in said)}


def _marks(names: Mapping[str, FileNames]) -> dict[bytes, tuple[tuple[str, frozenset[bytes]], ...]]:
    """The macros for execution spaces of a tree, those among them that are made of another file's."""
    found = {(name, path): said for path, item in names.items() for name, said in item.marks.items()}
    spaces: dict[bytes, frozenset[bytes]] = {}
    for (name, _), said in found.items():
        spaces[name] = spaces.get(name, frozenset()) | said
    fresh: set[bytes] = set(spaces)
    while fresh:
        made = {
            (name, path): frozenset[bytes]().union(*(spaces[word] for word in of))
            for path, item in names.items()
            for name, body in item.macros.items()
            if name not in spaces and (of := fresh & set(body.split())) and MARK.fullmatch(body)
        }
        found |= made
        spaces |= {name: said for (name, _), said in made.items()}
        fresh = {name for name, _ in made}
    by_name: dict[bytes, tuple[tuple[str, frozenset[bytes]], ...]] = {}
    for (name, path), said in found.items():
        by_name[name] = (*by_name.get(name, ()), (path, said))
    return by_name


def _names(file: SourceFile) -> FileNames:
    data = file.content
    if not isinstance(data, bytes):
        return FileNames()
    meets, calls = meets_of(data)
    known = looked_for(data)
    asked = candidates(data, known) - _NOT_BOUND | own_guards(data) - known_names()
    source = CudaSource(file.path, data, known)
    own = collect(source, asked)
    names = names_of(data)
    # Inline PTX that the port translates stops nobody who builds the file.
    ptx = names.ptx and (holds_ptx(data) or unportable(source, 0, len(data), Context()) is not None)
    spaces = source.spaces if b"define" in data and (b"__device__" in data or b"__global__" in data) else {}
    marks = {name: said for name, said in spaces.items() if name not in said and name not in MARKS}
    return replace(
        names,
        macros={**names.macros, **_compiled(source, names.versions)},
        ptx=ptx,
        definitions=own,
        includes=tuple(include_names(data)),
        meets=meets,
        calls=calls,
        marks=marks,
        versions={},
    )


def _compiled(source: CudaSource, versions: Mapping[bytes, tuple[tuple[int, bytes], ...]]) -> dict[bytes, bytes]:
    """The body of each macro in the branches that the port compiles; empty where several are left."""
    if not versions:
        return {}
    dead = branches(source, False).dead_on_device
    found: dict[bytes, bytes] = {}
    for name, said in versions.items():
        left = {body for at, body in said if not dead(at)}
        found[name] = left.pop() if len(left) == 1 else b""
    return found


def _keys(files: Iterable[SourceFile], around: Callable[[SourceFile], tuple[str, ...]]) -> dict[str, str]:
    """Key in the cache of every file that can be read, by path."""
    return {file.path: caching.key(*around(file), file.sha256) for file in files if file.sha256}


@dataclass(frozen=True)
class Scanned:
    """What a tree, or one file of it, holds, without what comments in the source suppress."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def by_file(self) -> Iterator[tuple[str, list[Finding]]]:
        """Findings of each file that has any, in order of path."""
        for path, found in groupby(self.findings, key=lambda finding: finding.path):
            yield path, list(found)


def scan_tree(tree: SourceTree, options: Options, jobs: int = 1, cache: Cache | None = None) -> Scanned:
    """Findings over every file of the tree, in order of path and place, and the files that could not be read.

    With a cache, only files are read by the rules whose content, or whose surroundings, changed since the last scan.
    """
    scan = Scan(Context(options, index_tree(tree, jobs, cache)))
    sources = tree.sources
    keys: dict[str, str] = {}
    if cache is not None:
        code = caching.code_fingerprint()
        around = {
            of_cuda: caching.context_fingerprint(code, options, (scan.context if of_cuda else scan.outside).project)
            for of_cuda in (True, False)
        }
        keys = _keys(sources, lambda file: ("scan", around[file.language == "cuda"], file.language, file.path))
    kept = cache.get(keys.values()) if cache is not None else {}
    known = caching.unpacked(kept, lambda packed: _unpack("", packed))
    missing = [file for file in sources if keys.get(file.path) not in known]
    fresh = dict(zip((file.path for file in missing), parallel(scan, missing, jobs), strict=True))
    if cache is not None:
        cache.put({keys[path]: _pack(result) for path, result in fresh.items() if path in keys}, used=known)
    results = [
        fresh[file.path] if file.path in fresh else _unpack(file.path, kept[keys[file.path]]) for file in sources
    ]
    return Scanned(
        tuple(finding for result in results for finding in result.findings),
        (*tree.problems, *(problem for result in results for problem in result.problems)),
        tuple(item for result in results for item in result.left_out),
    )


def _pack(result: Scanned) -> list[Any]:
    return [
        [caching.pack_finding(finding) for finding in result.findings],
        [[problem.path, problem.message] for problem in result.problems],
        [[item.rule, item.line, item.by, item.reason] for item in result.left_out],
    ]


def _unpack(path: str, packed: list[Any]) -> Scanned:
    findings, problems, left_out = packed
    return Scanned(
        tuple(caching.unpack_finding(path, item) for item in findings),
        tuple(Problem(place, message) for place, message in problems),
        tuple(LeftOut(rule, path, line, by, reason) for rule, line, by, reason in left_out),
    )


class Scan:
    """Work on one file of a tree whose names are known; a class so that it travels to a worker process."""

    def __init__(self, context: Context) -> None:
        self.context = context
        # Rules over other languages than C++ know the tree by its files only, so that one changed macro does not make
        # every Python file new.
        project = context.project
        self.outside = replace(
            context,
            project=ProjectIndex(
                files=project.files,
                torch_extension=project.torch_extension,
                ptx_sources=project.ptx_sources,
                pins=project.pins,
                extensions=project.extensions,
                hip_builds=project.hip_builds,
            ),
        )

        sides = ported_sides(project.files)
        ours = f"{context.options.mirror}/" if context.options.layout == "both" else ""
        self.sides = {side: twin for side, twin in sides.items() if twin != ours}
        self.twins = {twin: side for side, twin in self.sides.items()}

    def __call__(self, file: SourceFile) -> Scanned:
        if isinstance(file.content, Problem):
            return Scanned(problems=(file.content,))
        context = self.context if file.language == "cuda" else self.outside
        failed: list[Problem] = []
        found = scan_file(file.path, file.content, file.language, context, failed)
        if isinstance(found, Problem):
            return Scanned(problems=(found,))
        return self._unsuppressed(file.path, file.content, file.language, found, failed)

    def lexed(self, source: CudaSource) -> Scanned:
        """A CUDA file that somebody else has a use for, too."""
        failed: list[Problem] = []
        found = scan_source(source, self.context, failed)
        return self._unsuppressed(source.path, source.data, "cuda", found, failed)

    def _unsuppressed(
        self, path: str, data: bytes, language: str, found: list[Finding], failed: list[Problem]
    ) -> Scanned:
        kept, left_out = suppress.apply(path, data, found)
        if is_workflow(path) and not is_amd_path(path):
            kept = [replace(finding, cause=FOR_CUDA_ONLY) for finding in kept]
        if language == "cuda" and _is_cudas(path, data):
            kept = [replace(finding, cause="copies of CUDA's own headers, where HIP has its own") for finding in kept]
        if pair := ported_side(path, self.sides):
            side, twin = pair
            said = f"{side} has a twin for AMD, {twin}, that needs no port"
            kept = [_on_ported_side(finding, said, twin) for finding in kept]
        elif pair := ported_side(path, self.twins):
            kept = [_on_ported_side(finding, f"{pair[0]} is AMD's twin of {pair[1]}", pair[0]) for finding in kept]
        elif language in _BUILT and (build := self.context.project.built_for_amd(path)):
            said = f"{build} builds for AMD GPUs already"
            kept = [
                _on_ported_side(finding, said, f"what {build} builds for HIP", known=path == build)
                if finding.phase == _BUILD_PHASE and not names_amd(_line_at(data, finding))
                else finding
                for finding in kept
            ]
        return Scanned(tuple(kept), tuple(failed), tuple(left_out))


def _is_cudas(path: str, data: bytes) -> bool:
    """True for a header of CUDA's that lies in the tree: HIP has one in its place."""
    symbol = load().header(path.rpartition("/")[2])
    return symbol is not None and bool(symbol.hip) and b"NVIDIA Corporation" in data[:_HEAD]


_HEAD = 3000
"""Bytes in which a file says whose it is."""


def _line_at(data: bytes, finding: Finding) -> str:
    start, end = data.rfind(b"\n", 0, finding.span.start) + 1, data.find(b"\n", finding.span.start)
    return data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")


_BUILD_PHASE = 4
_BUILT = frozenset({"cuda", "cmake", "make", "shell"})
"""Languages of what CMake builds, or is called beside: setup.py asks PyTorch for its own build."""


def _on_ported_side(finding: Finding, said: str, twin: str, known: bool = False) -> Finding:
    """What is CUDA's side, or AMD's, of a project that has or builds both: one thing to know, however many places, and
    none (`known`) in the very file that builds for AMD."""
    if finding.applicability is Applicability.SAFE or finding.cause == _TWIN:
        return finding
    return replace(
        finding,
        message=f"{said}; here, {finding.message}",
        applicability=Applicability.SAFE if known else finding.applicability,
        fix=f"build {twin} on ROCm; where it lacks what stands here: {finding.fix or 'as said'}",
        cause=_TWIN,
    )


_TWIN = "a twin for AMD"


def parallel(work: Callable[[SourceFile], R], files: Sequence[SourceFile], jobs: int) -> Iterator[R]:
    """Apply `work` to every file, in order, over processes when there is enough to do.

    Processes, not threads: the tree-sitter parser and the lexer hold the interpreter lock. They are forked when every
    file has been read, so that none is read twice.
    """
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1 or sum(file.size for file in files) < _PARALLEL_BYTES:
        yield from map(work, files)
        return
    discover()
    for file in files:
        file.content  # noqa: B018  # read here, before the fork
    chunks = list(_chunks(files, jobs * 8))
    context = get_context("fork")
    with ProcessPoolExecutor(jobs, context, initializer=_set_work, initargs=(work, files, ended_with_parent())) as pool:
        for results in pool.map(_run_chunk, chunks):
            yield from cast("list[R]", results)


_work: tuple[Callable[[SourceFile], object], Sequence[SourceFile]] | None = None


def _set_work(
    work: Callable[[SourceFile], object], files: Sequence[SourceFile], end_with_us: Callable[[], None]
) -> None:
    global _work
    end_with_us()
    _work = work, files


def _run_chunk(chunk: range) -> list[object]:
    assert _work is not None, "set by the pool's initializer"
    work, files = _work
    return [work(files[at]) for at in chunk]


def _chunks(files: Sequence[SourceFile], parts: int) -> Iterator[range]:
    """Contiguous runs of about equal size in bytes."""
    want = max(1, sum(file.size for file in files) // max(1, parts))
    first, size = 0, 0
    for at, file in enumerate(files):
        size += file.size
        if size >= want:
            yield range(first, at + 1)
            first, size = at + 1, 0
    if first < len(files):
        yield range(first, len(files))

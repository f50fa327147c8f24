"""Derive `facts/libraries/*/symbols.csv` from the headers of CUDA and ROCm releases.

    python tools/refresh_libraries.py --cuda 11.8=DIR --cuda 13.0=DIR --hip 6.4=DIR --stubs 10.0=DIR [--only cublas]
    python tools/refresh_libraries.py --only cublas        (only what its library.toml says: no header is read)
    python tools/refresh_libraries.py --report [--hipify-perl FILE] [--torch] ...same folders...

A folder may have any layout: headers are found by name below it. For CUDA take the toolkit's include folder and the
unpacked vendor wheels, old majors too, since programs in the wild call what later majors removed. For ROCm take the
headers of as many releases as can be had (distribution packages, the release tags of the repositories); the more, the
narrower `since` and `until`. Stubs are the `*.pyi` files of the `rocm-bindings-*` packages. `--uses DIR` names source
folders (the CUDA backends of the ROCm libraries) whose identifiers count as evidence that an old CUDA name existed.

What is looked for is said by each library's `library.toml`; what no rule can know is in its `exceptions.csv`, one
source a row. A row is written with a HIP name only if a release declares it.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from declarations import ENUM, FUNCTION, MACRO, TYPE, Declaration, Header, read, read_stub

from rocport.facts._toml import read_toml
from rocport.facts.symbols import COLUMNS, FOLDER, load
from rocport.model.versions import RocmVersion

EXCEPTION_COLUMNS = ("cuda", "hip", "kind", "note", "source")
_SUFFIX = re.compile(r"_v\d+(?=$|_64$)")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Release:
    """The headers of one release, read when first needed."""

    version: str
    folders: list[Path]
    stub: bool = False
    _files: dict[str, list[Path]] = field(default_factory=dict)
    _read: dict[Path, Header] = field(default_factory=dict)

    def files(self) -> dict[str, list[Path]]:
        if not self._files:
            for folder in self.folders:
                for path in sorted(folder.rglob("*")):
                    if path.suffix in {".h", ".hpp", ".cuh", ".pyi", ".inl", ""} and path.is_file():
                        self._files.setdefault(path.name, []).append(path)
        return self._files

    def matching(self, patterns: Iterable[str]) -> list[Path]:
        found: dict[Path, None] = {}
        for pattern in patterns:
            folder, _, name = pattern.rpartition("/")
            expression = re.compile(re.escape(name).replace(r"\*", ".*") + "$")
            for known, paths in self.files().items():
                if expression.match(known):
                    for path in paths:
                        if not folder or path.parent.as_posix().endswith("/" + folder):
                            found[path] = None
        return list(found)

    def made(self, patterns: Iterable[str], macros: Mapping[str, Sequence[str]]) -> Header:
        """Types that a header makes by calling a macro of its own: macro -> the names made of its first argument."""
        result = Header("")
        for path in self.matching(patterns) if macros else ():
            text = path.read_text(encoding="utf-8", errors="replace")
            for macro, names in macros.items():
                for argument in re.findall(rf"^\s*{macro}\((\w+),", text, re.MULTILINE):
                    result.declarations += [Declaration(n.format(argument), TYPE, path.name) for n in names]
        return result

    def headers(self, patterns: Iterable[str]) -> list[Header]:
        result = []
        for path in self.matching(patterns):
            if path not in self._read:
                inner = f"amd_detail/{path.name}" if path.parent.name == "amd_detail" else path.name
                self._read[path] = read_stub(path) if path.suffix == ".pyi" else read(path, inner)
            result.append(self._read[path])
        return result

    def has(self, spelled: str) -> bool:
        """Whether an include such as `hipblas/hipblas.h` resolves below the folders, in the installed layout."""
        folder, _, name = spelled.rpartition("/")
        return any(not folder or path.parent.as_posix().endswith("/" + folder) for path in self.files().get(name, ()))


@dataclass
class Names:
    """What one side of a library declares: name -> release -> declarations."""

    names: dict[str, dict[str, list[Declaration]]] = field(default_factory=dict)
    releases: list[str] = field(default_factory=list)
    headers: dict[str, set[str]] = field(default_factory=dict)
    """Release -> the headers read. Not every release came whole: a header that is missing proves nothing."""

    def add(self, release: str, headers: Iterable[Header]) -> None:
        empty = True
        for header in headers:
            for declaration in header.declarations:
                self.names.setdefault(declaration.name, {}).setdefault(release, []).append(declaration)
                empty = False
            self.headers.setdefault(release, set()).add(header.path)
        if not empty and release not in self.releases:
            self.releases.append(release)

    def kind(self, name: str) -> str:
        kinds = Counter(d.kind for found in self.names[name].values() for d in found)
        for kind in (FUNCTION, ENUM, TYPE):
            if kind in kinds:
                return kind
        for found in self.names[name].values():
            for declaration in found:
                target = declaration.alias and self.names.get(declaration.alias)
                if target and declaration.alias != name:
                    inner = {d.kind for ds in target.values() for d in ds}
                    if FUNCTION in inner:
                        return FUNCTION
                    if TYPE in inner:
                        return TYPE
        return MACRO

    def signatures(self, name: str, release: str, depth: int = 0) -> list[Declaration]:
        """The function declarations a name stands for in a release, through macros such as `f` -> `f_v2`."""
        result = []
        for declaration in self.names.get(name, {}).get(release, ()):
            if declaration.kind == FUNCTION:
                result.append(declaration)
            elif declaration.kind == MACRO and declaration.alias and depth < 3 and declaration.alias != name:
                result = [*self.signatures(declaration.alias, release, depth + 1), *result]
        return result


@dataclass(frozen=True)
class Row:
    cuda: str
    hip: str
    kind: str
    since: str
    until: str
    note: str
    source: str

    def fields(self) -> tuple[str, ...]:
        return (self.cuda, self.hip, self.kind, self.since, self.until, self.note, self.source)


class Refresh:
    """One library's derivation."""

    def __init__(self, folder: Path, cuda: list[Release], hip: list[Release], uses: Mapping[str, set[str]]) -> None:
        self.folder = folder
        self.config: dict[str, Any] = read_toml(folder / "library.toml")
        self.cuda_releases = cuda
        self.hip_releases = hip
        self.uses = uses
        self.cuda = Names()
        self.hip = Names()
        section = self.config.get("cuda", {})
        for release in cuda:
            self.cuda.add(release.version, release.headers(section.get("read", ())))
        # `#define cuMemAlloc cuMemAlloc_v2`: the versioned name is declared by the macro alone.
        for found in list(self.cuda.names.values()):
            for version, declarations in found.items():
                for declaration in declarations:
                    alias = declaration.alias
                    if declaration.parameters is None and _SUFFIX.sub("", alias) == declaration.name != alias:
                        self.cuda.names.setdefault(alias, {}).setdefault(version, []).extend(
                            d for d in declarations if d.kind == FUNCTION
                        )
        hip_section = self.config.get("hip", {})
        for release in hip:
            wanted = hip_section.get("stubs", ()) if release.stub else hip_section.get("read", ())
            made = release.made(wanted, hip_section.get("macros", {}))
            self.hip.add(release.version, [*release.headers(wanted), made])
        self.stub_releases = {r.version for r in hip if r.stub}
        self.api = set(hip_section.get("api", ()))
        self.squeezed: dict[str, list[str]] = {}
        if self.config.get("rename", {}).get("squeeze"):
            for name in self.hip.names:
                self.squeezed.setdefault(_squeeze(name), []).append(name)

    # -- names ---------------------------------------------------------------------------------------------------

    def wanted(self) -> list[str]:
        """The CUDA names that need a row, sorted."""
        section = self.config.get("cuda", {})
        if "names" not in section:
            return []
        include = re.compile(section["names"])
        skip = re.compile(section["skip"]) if "skip" in section else None
        names = {n for n in self.cuda.names if include.search(n)}
        for key in section.get("uses", ()):
            names |= {n for n in self.uses.get(key, ()) if include.search(n)}
        kinds = set(section.get("kinds", ()))
        return sorted(
            n
            for n in names
            if (skip is None or not skip.search(n))
            and (not kinds or (n in self.cuda.names and self.cuda.kind(n) in kinds))
        )

    def candidates(self, name: str) -> Iterable[str]:
        """HIP names the rules propose for a CUDA name, best first; none is known to exist yet."""
        spelled = [_SUFFIX.sub("", name), name]
        spelled += [d.alias for found in self.cuda.names.get(name, {}).values() for d in found if d.alias]
        rename = self.config.get("rename", {})
        handle = rename.get("types_t", "")
        for base in dict.fromkeys(spelled):
            proposals = [re.sub(p, r, base) for p, r in rename.get("rules", ()) if re.search(p, base)]
            for proposal in proposals:
                plain = re.sub(r"_(st|enum|union)$", "", proposal)
                if handle == "first":
                    yield plain + "_t"
                yield proposal
                if handle:
                    yield from (plain + "_t", plain)
            if rename.get("squeeze"):
                for proposal in proposals:
                    plain = re.sub(r"_(st|enum|union)$", "", proposal)
                    for found in (_squeeze(plain) + "t", _squeeze(plain), _squeeze(proposal)):
                        yield from self.squeezed.get(found, ())

    def match(self, name: str) -> str:
        """The HIP name the rules find declared; among several, the one whose parameters fit."""
        kind = self.cuda.kind(name) if name in self.cuda.names else ""
        found: dict[str, None] = {}
        for candidate in self.candidates(name):
            if candidate not in self.hip.names:
                continue
            other = self.hip.kind(candidate)
            if kind and kind != other and {kind, other} not in ({ENUM, MACRO}, {FUNCTION, MACRO}, {TYPE, MACRO}):
                continue
            found[candidate] = None
        return min(found, key=lambda hip: self._misfit(name, hip, kind), default="")

    def _misfit(self, name: str, hip: str, kind: str) -> tuple[bool, bool, int]:
        """Sort key of a candidate: a call that fits, a name that newer releases still have, fewer type differences."""
        note = self.note(name, hip, {}) if kind == FUNCTION else ""
        headers = [r for r in self.hip.releases if r not in self.stub_releases]
        since, until = self.versions(hip)
        current = not until and (not since or _key(since.lstrip("~")) <= (6, 0, 0))
        current = current and (not headers or headers[-1] in self.hip.names[hip])
        return note.startswith("arity"), not current, note.count("argument")

    def votes(self, matches: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        """(CUDA type, HIP type) pairs that stand at the same place of two matched functions."""
        for name, hip in matches.items():
            if not hip or hip not in self.hip.names or name not in self.cuda.names:
                continue
            for release in self.cuda.releases:
                for ours in self.cuda.signatures(name, release):
                    for version in self.hip.releases:
                        for other in self.hip.signatures(hip, version):
                            yield from _pairs(ours.parameters or (), other.parameters or ())

    def whole(self) -> list[str]:
        """The ROCm releases read for this library: those that have its main header, and the stubs."""
        main = self.config.get("hip", {}).get("api", [])[:1]
        return [
            r
            for r in self.hip.releases
            if not main or r in self.stub_releases or main[0] in self.hip.headers.get(r, set())
        ]

    # -- versions ------------------------------------------------------------------------------------------------

    def versions(self, hip: str) -> tuple[str, str]:
        """(since, until) of a HIP name over the releases read for this library."""
        found = self.hip.names.get(hip, {})
        releases = self.hip.releases
        declarations = [d for ds in found.values() for d in ds]
        # A stub names what the C API links to: not templates, types or macros, nor a name that a macro redirects.
        last = [r for r in releases if r in found and r not in self.stub_releases][-1:]
        newest = [d for r in last for d in found[r]]
        c_api = any(d.header in self.api and d.kind in (FUNCTION, ENUM) and not d.inline for d in newest)
        c_api = c_api and not any(d.kind == MACRO for d in declarations if not d.header.endswith(".pyi"))
        judged = [r for r in releases if r not in self.stub_releases or c_api or r in found]
        homes = {d.header for d in declarations if not d.header.endswith(".pyi")}
        # A name that only a stub has is not in the C API's headers of the releases before.
        homes = homes or self.api
        judged = [r for r in judged if r in found or r in self.stub_releases or homes & self.hip.headers.get(r, set())]
        present = [i for i, r in enumerate(judged) if r in found]
        if not present:
            return "", ""
        first, last = present[0], present[-1]
        since = "" if first == 0 else _bracket(judged[first - 1], judged[first])
        until = "" if last == len(judged) - 1 else _bracket(judged[last], judged[last + 1])
        return since, until

    # -- signatures ----------------------------------------------------------------------------------------------

    def note(self, name: str, hip: str, types: Mapping[str, str]) -> str:
        """How the parameter lists differ, over the releases read; empty if a rename is enough."""
        cuda = {r: self.cuda.signatures(name, r) for r in self.cuda.releases}
        cuda = {r: s for r, s in cuda.items() if s}
        modern = [r for r in self.hip.releases if _key(r) >= (6, 0, 0)]
        theirs = {r: self.hip.signatures(hip, r) for r in modern}
        theirs = {r: s for r, s in theirs.items() if s}
        if not cuda or not theirs:
            return ""
        # A stub says nothing of default arguments, so that it only speaks where no header does.
        spoken = {r: s for r, s in theirs.items() if r not in self.stub_releases} or theirs
        accepted = [_arity(d) for s in spoken.values() for d in s]
        wrong = {
            r: sorted({_arity(d) for d in s})
            for r, s in cuda.items()
            if not any(_overlap(_arity(d), other) for d in s for other in accepted)
        }
        if wrong:
            calls = "; ".join(f"{_counts(v)} in CUDA {_span(k)}" for k, v in _group(wrong))
            return f"arity: {calls}; HIP takes {_counts(sorted(set(accepted)))}"
        return self._type_note(cuda, theirs, types)

    def _type_note(
        self,
        cuda: Mapping[str, list[Declaration]],
        theirs: Mapping[str, list[Declaration]],
        types: Mapping[str, str],
    ) -> str:
        found = {r: self._differences(s, theirs, types) for r, s in cuda.items()}
        newest = max(found, key=_key)
        if not found[newest]:
            return ""
        fitting = [r for r in found if not found[r]]
        where = f"in CUDA {newest} (not in {max(fitting, key=_key)}) " if fitting else ""
        best = found[newest]
        more = f"; {len(best) - 2} more" if len(best) > 2 else ""
        return f"type: {where}" + "; ".join(best[:2]) + more

    @staticmethod
    def _differences(
        ours: Sequence[Declaration], theirs: Mapping[str, list[Declaration]], types: Mapping[str, str]
    ) -> list[str]:
        """Of all pairs of overloads with as many parameters, the fewest differences."""
        best: list[str] | None = None
        for mine in ours:
            for release in sorted(theirs, key=_key, reverse=True):
                for other in theirs[release]:
                    if mine.parameters is None or other.parameters is None:
                        return []
                    if mine.inline or other.inline or len(mine.parameters) != len(other.parameters):
                        continue
                    pairs = enumerate(zip(mine.parameters, other.parameters, strict=True), 1)
                    texts = (_difference(i, x, y, types) for i, (x, y) in pairs)
                    differences = [text for text in texts if text]
                    if best is None or len(differences) < len(best):
                        best = differences
        return best or []

    # -- rows ----------------------------------------------------------------------------------------------------

    def exceptions(self) -> dict[str, dict[str, str]]:
        path = self.folder / "exceptions.csv"
        if not path.exists():
            return {}
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle)
            if tuple(reader.fieldnames or ()) != EXCEPTION_COLUMNS:
                raise SystemExit(f"{path}:1: expected the columns {','.join(EXCEPTION_COLUMNS)}")
            rows = {}
            for number, row in enumerate(reader, 2):
                if not row["source"]:
                    raise SystemExit(f"{path}:{number}: {row['cuda']} has no source")
                if row["cuda"] in rows:
                    raise SystemExit(f"{path}:{number}: {row['cuda']} is there twice")
                rows[row["cuda"]] = row
            return rows

    def matches(self) -> dict[str, str]:
        exceptions = self.exceptions()
        result = {name: self.match(name) for name in self.wanted()}
        for name, row in exceptions.items():
            if row["hip"] != "=":
                result[name] = row["hip"]
            elif name not in result:
                raise SystemExit(f"{self.folder.name}/exceptions.csv: {name} has no rule's row to add a note to")
        return result

    def rows(self, types: Mapping[str, str], everywhere: Names) -> list[Row]:
        exceptions = self.exceptions()
        answered = "|".join(f"^(?:{family['names']})$" for family in self.config.get("families", ()))
        quiet = re.compile("|".join(filter(None, (self.config.get("cuda", {}).get("quiet"), answered))) or "$^")
        rows = []
        for name, found in self.matches().items():
            inferred = not found and name not in exceptions and name in self.cuda.names and name in types
            inferred = inferred and self.cuda.kind(name) == TYPE
            hip = types[name] if inferred else found
            row = exceptions.get(name, {"note": "", "source": "", "kind": "", "hip": ""})
            names = self.hip if hip in self.hip.names else everywhere
            if hip and hip not in names.names and hip not in _SAME.values() and row["kind"] not in ("library",):
                raise SystemExit(
                    f"{self.folder.name}/exceptions.csv: {hip} (for {name}) is declared in no release read"
                )
            since, until = self.versions(hip) if names is self.hip else ("", "")
            if row["kind"]:
                kind = row["kind"]
            elif name in self.cuda.names:
                kind = self.cuda.kind(name)
            else:
                kind = self.hip.kind(hip) if hip in self.hip.names else FUNCTION
            note = row["note"].replace(",", ";")
            if not note and hip and kind == FUNCTION and self.config.get("rename", {}).get("notes", True):
                note = self.note(name, hip, types)
            # A name seen in use only is a CUDA name because a HIP name answers it; a local variable has none.
            if not hip and not note and (quiet.search(name) or name not in self.cuda.names):
                continue
            if hip == name and not note and not until and (not since or _key(since.lstrip("~")) <= (6, 0, 0)):
                continue
            source = row["source"].replace(",", ";") or (self.where(names, hip) if hip else self.origin(name))
            rows.append(Row(name, hip, kind, since, until, note, source))
        rows += self.files()
        return sorted(rows, key=lambda r: (r.kind in ("header", "library", "namespace"), r.kind, r.cuda))

    def where(self, names: Names, hip: str) -> str:
        found = names.names[hip]
        release = max(found, key=_key)
        return f"{found[release][0].header} {release}"

    def origin(self, name: str) -> str:
        found = self.cuda.names.get(name)
        if not found:
            return "CUDA backend of the ROCm library"
        release = max(found, key=_key)
        return f"{found[release][0].header} CUDA {release}"

    def below(self) -> dict[str, str]:
        """Headers of a folder that another has by the same stem (`cub` -> `hipcub`): served by its one for all, or by
        its own in the folders named."""
        result = {}
        for cuda, (hip, whole, *own) in self.config.get("headers_below", {}).items():
            for release in self.cuda_releases:
                for paths in release.files().values():
                    for path in paths:
                        parts = path.parts
                        if cuda not in parts[:-1] or {"detail", "specializations", "agent", "dispatch"} & set(parts):
                            continue
                        inner = Path(*parts[parts.index(cuda) + 1 :])
                        theirs = f"{hip}/{inner.with_suffix('.hpp')}"
                        has = any(r.has(theirs) for r in self.hip_releases if not r.stub)
                        serves = theirs if inner.parts[0] in own else whole
                        result[f"{cuda}/{inner}"] = serves if has else ""
        return result

    def files(self) -> list[Row]:
        rows = []
        notes = self.config.get("notes", {})
        for spelled, hip in {**self.below(), **self.config.get("headers", {})}.items():
            since = until = ""
            source = "library.toml"
            if hip:
                having = [r.version for r in self.hip_releases if not r.stub and r.has(hip)]
                if not having:
                    raise SystemExit(f"{self.folder.name}/library.toml: no release has the header {hip}")
                source = f"{hip} {having[-1]}"
            rows.append(Row(spelled, hip, "header", since, until, notes.get(spelled, ""), source))
        for spelled, hip in self.config.get("link", {}).items():
            rows.append(Row(spelled, hip, "library", "", "", notes.get(spelled, ""), "library.toml"))
        for spelled, hip in self.config.get("namespaces", {}).items():
            rows.append(Row(spelled, hip, "namespace", "", "", notes.get(spelled, ""), "library.toml"))
        return rows


def _squeeze(name: str) -> str:
    return name.replace("_", "").lower()


def _key(version: str) -> tuple[int, int, int]:
    return RocmVersion.parse(version).release


def _bracket(before: str, after: str) -> str:
    """`after`, with a `~` if releases lie between the two. ROCm's minors ran 5.0-5.7, 6.0-6.4, 7.0 and on."""
    a, b = RocmVersion.parse(before), RocmVersion.parse(after)
    last = {5: 7, 6: 4}.get(a.major)
    adjacent = (a.major == b.major and b.minor - a.minor <= 1) or (
        b.major == a.major + 1 and b.minor == 0 and a.minor == last
    )
    return after if adjacent else f"~{after}"


def _arity(declaration: Declaration) -> tuple[int, int]:
    parameters = declaration.parameters or ()
    defaults = sum("=" in p or "__dv (" in p or "__dparm (" in p for p in parameters)
    return len(parameters) - defaults, len(parameters)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether every call of the first fits the second."""
    return b[0] <= a[0] and a[1] <= b[1]


def _counts(values: Iterable[tuple[int, int]]) -> str:
    return " or ".join(str(low) if low == high else f"{low}-{high}" for low, high in values) + " arguments"


def _group(wrong: Mapping[str, list[tuple[int, int]]]) -> list[tuple[list[str], list[tuple[int, int]]]]:
    grouped: list[tuple[list[str], list[tuple[int, int]]]] = []
    for release in sorted(wrong, key=_key):
        if grouped and grouped[-1][1] == wrong[release]:
            grouped[-1][0].append(release)
        else:
            grouped.append(([release], wrong[release]))
    return grouped


def _span(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]}-{releases[-1]}"


_NOISE = re.compile(
    r"\b(const|enum|struct|class|__restrict__|__restrict|restrict|volatile|register|__dv \( .*? \)|extern)\b"
)
_SAME = {
    "unsigned": "unsigned int",
    "uint32_t": "unsigned int",
    "int32_t": "int",
    "uint64_t": "unsigned long long",
    "unsigned long long int": "unsigned long long",
    "long long int": "long long",
    "int64_t": "long long",
    "cuuint64_t": "unsigned long long",
    "cuuint32_t": "unsigned int",
    "signed char": "char",
    "unsigned long": "size_t",
    "long int": "long",
    "short int": "short",
    "unsigned short int": "unsigned short",
    "cusolver_int_t": "int",
    "hipFloatComplex": "hipComplex",
    "hipblasStride": "long long",
    "hipsolverDnHandle_t": "hipsolverHandle_t",
}


def _type(parameter: str, types: Mapping[str, str]) -> str:
    text = re.sub(r"=.*$", "", parameter)
    text = re.sub(r"(__dv|__dparm) \(.*$", "", text)
    stars = text.count("*") + text.count("[") + (text.count("&"))
    text = re.sub(r"\[.*?\]", " ", text)
    text = _NOISE.sub(" ", text).replace("*", " ").replace("&", " ")
    words = _WORD.findall(text)
    words = [w for w in words if not re.fullmatch(r"CUDA_CB|CUDART_CB|CUDARTAPI", w)]
    plain = {"unsigned", "signed", "int", "long", "char", "short", "float", "double", "void", "size_t", "bool"}
    if len(words) > 1 and words[-1] not in plain:
        words = words[:-1]
    base = " ".join(types.get(w, w) for w in words)
    return f"{_SAME.get(base, base)}{' ' if stars else ''}{'*' * stars}"


_HANDLE = re.compile(r"(_t|_st)?( \**)?$")
_INTEGERS = frozenset({"int", "unsigned int", "long long", "unsigned long long", "size_t", "hipDevice_t", "bool"})
# HIP declares these as pointers or integers under another name.
_SPELLED = {"hipDeviceptr_t": "void *", "hipTexRef": "textureReference *", "hipDevice_t": "int"}


def _difference(place: int, cuda: str, hip: str, types: Mapping[str, str]) -> str:
    """How one parameter differs for a caller, or nothing."""
    a, b = _type(cuda, types), _type(hip, {})
    if a == b or _harmless(_spell(a), _spell(b)):
        read_only = "*" in cuda and re.match(r"\s*const\b", cuda) and b.count("*") == 1
        if read_only and not re.search(r"\bconst\b", hip) and not b.endswith("_t *"):
            return f"argument {place} is not const"
        return ""
    return f"argument {place} is {b} and not {a}"


def _spell(text: str) -> str:
    base, space, stars = text.partition(" *")
    base = _SPELLED.get(base, base)
    joined = f"{base}{space}{stars}"
    return re.sub(r"\* \*", "**", joined)


def _harmless(cuda: str, hip: str) -> bool:
    """Differences no caller sees: an untyped pointer taken, a C tag against its typedef, an unnamed template type."""
    if cuda == hip or (hip == "void *" and cuda.endswith(("*", "_t"))):
        return True
    if cuda.count("*") == hip.count("*") and _HANDLE.sub("", cuda) == _HANDLE.sub("", hip):
        return True
    if cuda in _INTEGERS and hip in _INTEGERS:
        return True
    return re.match(r"[A-Z]\b", cuda) is not None and re.match(r"[A-Z]\b", hip) is not None


def _pairs(cuda: Sequence[str], hip: Sequence[str]) -> Iterable[tuple[str, str]]:
    if len(cuda) != len(hip):
        return
    for ours, other in zip(cuda, hip, strict=True):
        a, _, stars = _type(ours, {}).partition(" *")
        b, _, others = _type(other, {}).partition(" *")
        if stars == others and a != b and re.match(r"(CU|cu)", a) and re.match(r"(HIP|hip)", b):
            yield a, b


def write(folder: Path, rows: Iterable[Row]) -> None:
    """Write one table. Fields with commas or quotes would need a real CSV reader at start-up, so they are refused."""
    lines = [",".join(COLUMNS)]
    seen: set[tuple[str, bool]] = set()
    for row in rows:
        bad = [f for f in row.fields() if re.search(r'[,"\r\n]', f)]
        if bad:
            raise SystemExit(f"{folder.name}: {row.cuda}: no comma or quote is allowed in {bad[0]!r}")
        key = (row.cuda, row.kind in ("header", "library", "namespace"))
        if key in seen and row.kind not in ("header", "library", "namespace"):
            raise SystemExit(f"{folder.name}: {row.cuda} has two rows")
        seen.add(key)
        lines.append(",".join(row.fields()))
    target = folder / "symbols.csv"
    scratch = target.with_suffix(".new")
    scratch.write_text("\n".join(lines) + "\n", encoding="utf-8")
    scratch.replace(target)


def _releases(specs: Iterable[str], stub: bool = False) -> list[Release]:
    grouped: dict[str, list[Path]] = {}
    for spec in specs:
        version, _, folder = spec.partition("=")
        path = Path(folder)
        if not folder or not path.is_dir():
            raise SystemExit(f"{spec}: expected VERSION=FOLDER with a folder that exists")
        grouped.setdefault(version, []).append(path)
    return [Release(v, grouped[v], stub) for v in sorted(grouped, key=_key)]


def _uses(specs: Iterable[str]) -> dict[str, set[str]]:
    """Identifiers in source folders, by key (`cusparse=DIR`)."""
    result: dict[str, set[str]] = {}
    for spec in specs:
        key, _, folder = spec.partition("=")
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in {".cpp", ".h", ".hpp"}:
                result.setdefault(key, set()).update(_WORD.findall(path.read_text(errors="replace")))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Derive the CUDA-to-HIP tables from headers.")
    parser.add_argument("--cuda", action="append", default=[], metavar="VERSION=DIR")
    parser.add_argument("--hip", action="append", default=[], metavar="VERSION=DIR")
    parser.add_argument("--stubs", action="append", default=[], metavar="VERSION=DIR")
    parser.add_argument("--uses", action="append", default=[], metavar="LIBRARY=DIR")
    parser.add_argument("--report", action="store_true", help="print coverage and comparisons; write nothing")
    parser.add_argument("--hipify-perl", type=Path, metavar="FILE", help="compare with this hipify-perl")
    parser.add_argument("--torch", action="store_true", help="compare with the installed torch.utils.hipify")
    parser.add_argument("--limit", type=int, default=20, help="names listed per kind in a comparison")
    parser.add_argument("--only", action="append", default=[], metavar="LIBRARY")
    arguments = parser.parse_args()
    cuda = _releases(arguments.cuda)
    hip = sorted([*_releases(arguments.hip), *_releases(arguments.stubs, stub=True)], key=lambda r: _key(r.version))
    if arguments.only and not cuda and not hip:
        for name in arguments.only:
            print(f"{name}: {_only_said(FOLDER / name)} rows of library.toml; no header was read for it")
        return
    if not cuda or not hip:
        parser.error("give at least one --cuda VERSION=DIR and one --hip VERSION=DIR, or --only LIBRARY alone")
    uses = _uses(arguments.uses)
    folders = sorted(p.parent for p in FOLDER.glob("*/library.toml"))
    work = [Refresh(f, cuda, hip, uses) for f in folders]
    work.sort(key=lambda r: (r.config.get("rename", {}).get("yields", 0), r.folder.name))
    everywhere = Names()
    types: dict[str, str] = {}
    votes: dict[str, Counter[str]] = {}
    for refresh in work:
        for name, found in refresh.hip.names.items():
            for release, declarations in found.items():
                everywhere.names.setdefault(name, {}).setdefault(release, []).extend(declarations)
        matches = refresh.matches()
        types.update({c: h for c, h in matches.items() if h})
        for ours, other in refresh.votes(matches):
            votes.setdefault(ours, Counter())[other] += 1
    # A type that no rule names is what stands in its place in the functions that rules do name, if they all agree.
    inferred = {c: next(iter(v)) for c, v in votes.items() if len(v) == 1 and c not in types}
    types.update({c: h for c, h in inferred.items() if h in everywhere.names})
    # A name that several headers declare (half and bfloat16 share theirs) belongs to the first library that has it.
    claimed: dict[tuple[str, bool], str] = {}
    for refresh in work:
        for row in refresh.exceptions().values():
            claimed.setdefault((row["cuda"], False), refresh.folder.name)
    if arguments.report:
        report(work, everywhere, arguments)
        return
    lines = ["# Written by tools/refresh_libraries.py: the releases whose headers or stubs were read.\n"]
    for refresh in work:
        name = refresh.folder.name
        lines.append(f"[{name}]\ncuda = {_quoted(refresh.cuda.releases)}\nrocm = {_quoted(refresh.whole())}\n")
        rows = [r for r in refresh.rows(types, everywhere) if claimed.setdefault(_key_of(r), name) == name]
        if arguments.only and name not in arguments.only:
            continue
        write(refresh.folder, rows)
        mapped = sum(bool(r.hip) for r in rows)
        print(f"{name:14} {len(rows):5} rows, {mapped:5} mapped, {len(rows) - mapped:5} without a counterpart")
    (FOLDER / "read.toml").write_text("\n".join(lines), encoding="utf-8")


def _only_said(folder: Path) -> int:
    """Write the rows of a library's headers, link names and namespaces, without headers at hand; names it has stay.

    Stops where `library.toml` gives a header a counterpart that no earlier run has seen in a release.
    """
    table = folder / "symbols.csv"
    known = [Row(*line.split(",")) for line in table.read_text().splitlines()[1:]] if table.exists() else []
    seen = {(row.cuda, row.hip): row for row in known if row.kind == "header"}
    refresh = Refresh(folder, [], [], {})
    headers = refresh.config.get("headers", {})
    refresh.config["headers"] = {spelled: hip for spelled, hip in headers.items() if (spelled, hip) not in seen}
    said = [*seen.values(), *refresh.files()]
    write(folder, [*(row for row in known if row.kind not in ("header", "library", "namespace")), *said])
    return len(said)


def report(work: Sequence[Refresh], everywhere: Names, arguments: argparse.Namespace) -> None:
    """Coverage per library of the tables as written, then the comparisons asked for."""
    import compare_translators as other

    table = load()
    head = (
        f"{'library':14}{'declared':>10}{'mapped':>8}{'same name':>11}{'settled':>9}{'not found':>11}{'uncovered':>11}"
    )
    print(head)
    totals = [0] * 6
    for refresh in work:
        wanted = refresh.wanted()
        exceptions = refresh.exceptions()
        counts = [len(wanted), 0, 0, 0, 0, 0]
        for name in wanted:
            symbol = table.identifiers.get(name.encode())
            if symbol is None:
                counts[2 if name in everywhere.names else 5] += 1
            elif symbol.hip:
                counts[1] += 1
            else:
                counts[3 if exceptions.get(name, {}).get("note") else 4] += 1
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        print(_line(refresh.folder.name, counts))
    print(_line("all", totals))
    print(
        "declared: names of the CUDA headers that follow the library's pattern; settled: no counterpart, with a reason "
        "by hand; not found: no rule finds a declared HIP name; uncovered: no row"
    )
    theirs = []
    if arguments.hipify_perl:
        theirs.append(("hipify-perl", other.hipify_perl(arguments.hipify_perl)))
    if arguments.torch:
        theirs.append(("torch.utils.hipify", other.torch_hipify()))
    for title, mapping in theirs:
        comparison = other.compare(title, mapping, table, lambda name: name in everywhere.names)
        print()
        print(other.text(comparison, arguments.limit))


def _key_of(row: Row) -> tuple[str, bool]:
    return row.cuda, row.kind in ("header", "library", "namespace")


def _line(name: str, counts: Sequence[int]) -> str:
    widths = (10, 8, 11, 9, 11, 11)
    return f"{name:14}" + "".join(f"{c:>{w}}" for c, w in zip(counts, widths, strict=True))


def _quoted(values: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{v}"' for v in values) + "]"


if __name__ == "__main__":
    main()
